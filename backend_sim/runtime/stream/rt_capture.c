/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's capture mode, which no stream has a part in. rt_ordered.c has the captures of streams. */
#include "rt.h"

static cudaError_t exchange(enum cudaStreamCaptureMode *mode)
{
    CUstreamCaptureMode now = mode ? (CUstreamCaptureMode)*mode : CU_STREAM_CAPTURE_MODE_GLOBAL;
    cudaError_t result = DRIVER(cuThreadExchangeStreamCaptureMode, mode ? &now : NULL);
    if (result == cudaSuccess)
        *mode = (enum cudaStreamCaptureMode)now;
    return result;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    RT_ANYWHERE(exchange(mode));
}
