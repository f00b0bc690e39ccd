/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's capture mode, which involves no stream. rt_ordered.c has stream capture. */
#include "rt.h"

static cudaError_t exchange(enum cudaStreamCaptureMode *mode)
{
    if (!mode)
        return cudaErrorInvalidValue;
    CUstreamCaptureMode now = (CUstreamCaptureMode)*mode;
    cudaError_t result = DRIVER(cuThreadExchangeStreamCaptureMode, &now);
    if (result == cudaSuccess)
        *mode = (enum cudaStreamCaptureMode)now;
    return result;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    RT_ANYWHERE(exchange(mode));
}
