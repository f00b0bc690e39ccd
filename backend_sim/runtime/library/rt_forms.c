/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the two libraries this is. */
#include "rt.h"

int rt_major(void)
{
    return CUDART_VERSION / 1000;
}

unsigned rt_version(void)
{
    return CUDART_VERSION;
}

/* Like the toolkit's, it works without a driver. */
cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (!runtimeVersion)
        return rt_leave(cudaErrorInvalidValue);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}
