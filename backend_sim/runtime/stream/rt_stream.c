/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events: creation, destruction, and waits for events. rt_ordered.c has the work on streams. */
#include "rt.h"

cudaError_t cudaStreamCreate(cudaStream_t *pStream)
{
    RT(DRIVER(cuStreamCreate, pStream, CU_STREAM_DEFAULT));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    RT(DRIVER(cuStreamCreate, pStream, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    RT(DRIVER(cuStreamCreateWithPriority, pStream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    RT(DRIVER(cuStreamDestroy, stream));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    RT(DRIVER(cuEventCreate, event, CU_EVENT_DEFAULT));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    RT(DRIVER(cuEventCreate, event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    RT(DRIVER(cuEventDestroy, event));
}

/* cudaErrorNotReady is a regular result, but becomes the last error like every other code. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    RT(DRIVER(cuEventQuery, event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    RT(DRIVER(cuEventSynchronize, event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    RT(ms ? DRIVER(cuEventElapsedTime, ms, start, end) : cudaErrorInvalidValue);
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    RT(DRIVER(cuIpcGetEventHandle, handle, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    RT(DRIVER(cuIpcOpenEventHandle, event, handle));
}
