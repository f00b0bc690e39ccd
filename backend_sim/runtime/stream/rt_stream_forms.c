/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA 12's newer name for the elapsed time; CUDA 13 has only the first name. */
#include "rt.h"

#if CUDART_VERSION < 13000
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    RT(DRIVER(cuEventElapsedTime, ms, start, end));
}
#endif
