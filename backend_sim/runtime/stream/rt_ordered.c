/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that take a stream: queries, ordering, host functions, captures. Compiled for both default streams. */
#include "rt_callback.h"

cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
    RT(DRIVER(cuStreamGetPriority, hStream, priority));
}

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
    RT(DRIVER(cuStreamGetFlags, hStream, flags));
}

cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
    RT(DRIVER(cuStreamGetId, hStream, streamId));
}

cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
    RT(DRIVER(cuStreamGetDevice, hStream, device));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    RT(DRIVER(cuStreamQuery, stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    RT(DRIVER(cuStreamSynchronize, stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    RT(DRIVER(cuStreamWaitEvent, stream, event, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    RT(DRIVER(cuEventRecord, event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    RT(DRIVER(cuEventRecordWithFlags, event, stream, flags));
}

static cudaError_t add_callback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned flags)
{
    if (!function)
        return cudaErrorInvalidValue;
    struct rt_callback *kept = rt_callback_keep(function, data);
    if (!kept)
        return cudaErrorMemoryAllocation;
    cudaError_t result = DRIVER(cuStreamAddCallback, stream, rt_callback_run, kept, flags);
    if (result != cudaSuccess)
        rt_callback_drop(kept);
    return result;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData, unsigned int flags)
{
    RT(add_callback(stream, callback, userData, flags));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    RT(DRIVER(cuLaunchHostFunc, stream, fn, userData));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    RT(DRIVER(cuStreamBeginCapture, stream, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                          enum cudaStreamCaptureMode mode)
{
    RT(DRIVER(cuStreamBeginCaptureToGraph, stream, graph, dependencies, dependencyData, numDependencies,
              (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    RT(DRIVER(cuStreamEndCapture, stream, pGraph));
}

static cudaError_t is_capturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!status)
        return cudaErrorInvalidValue;
    cudaError_t result = DRIVER(cuStreamIsCapturing, stream, &found);
    if (result == cudaSuccess)
        *status = (enum cudaStreamCaptureStatus)found;
    return result;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    RT(is_capturing(stream, pCaptureStatus));
}
