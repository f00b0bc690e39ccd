/* SPDX-License-Identifier: Apache-2.0 */
/* Work and queries on streams. Compiled for both default streams. */
#include <stdlib.h>

#include "abi.h"
#include "abi_callback.h"
#include "abi_capture.h"
#include "abi_ipc_event.h"
#include "abi_parts.h"

CUresult cuStreamQuery(CUstream hStream)
{
    ABI_NO_CAPTURE();
    ABI_NOT_CAPTURED(hStream);
    ABI(vmm_stream_query(sys, abi_stream(hStream)));
}

CUresult cuStreamSynchronize(CUstream hStream)
{
    ABI_NO_CAPTURE();
    ABI_NOT_CAPTURED(hStream);
    ABI(vmm_stream_synchronize(sys, abi_stream(hStream)));
}

static CUresult wait_event(vmm_system *sys, vmm_stream stream, CUevent event, unsigned flags)
{
    CUresult result;
    if (abi_capture_wait("cuStreamWaitEvent", stream, event, flags, &result))
        return result;
    return (CUresult)vmm_stream_wait_event(sys, stream, abi_event(event), flags);
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    ABI_NOT_IMPLICITLY(abi_stream(hStream));
    if (abi_ipc_event_is(hEvent)) {
        ABI_NOT_CAPTURED(hStream);
        ABI(vmm_stream_wait_event(sys, abi_stream(hStream), abi_event(hEvent), Flags));
    }
    ABI_WORK(wait_event(sys, abi_stream(hStream), hEvent, Flags));
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    ABI_OR_CAPTURE(hStream, abi_capture_add_host(__func__, captured_, fn, userData));
    ABI(vmm_launch_host_func(sys, abi_stream(hStream), fn, userData));
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
    if (callback && !flags)
        ABI_OR_CAPTURE(hStream, abi_captured(captured_, __func__));
    ABI_WORK(abi_add_callback(sys, abi_stream(hStream), hStream, callback, userData, flags));
}

static CUresult record(vmm_system *sys, CUevent event, vmm_stream stream)
{
    CUresult result;
    if (abi_capture_record("cuEventRecord", stream, event, 0, &result))
        return result;
    result = (CUresult)vmm_event_record(sys, abi_event(event), stream);
    if (result != CUDA_SUCCESS)
        return result;
    abi_capture_event_ends((uint64_t)(uintptr_t)event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
{
    CUresult shared = abi_ipc_event_not_captured(hEvent, abi_stream(hStream), __func__);
    if (shared != CUDA_SUCCESS)
        return shared;
    ABI_NOT_IMPLICITLY(abi_stream(hStream));
    ABI_WORK(record(sys, hEvent, abi_stream(hStream)));
}

static CUresult record_flags(vmm_system *sys, CUevent event, vmm_stream stream, unsigned flags)
{
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return abi_refuse(VMM_RULE_CALL_VALUE, "cuEventRecordWithFlags", "flags 0x%x are unknown", flags);
    CUresult result;
    if (flags && abi_capture_record("cuEventRecordWithFlags", stream, event, flags, &result))
        return result;
    if (flags)
        return abi_refuse(VMM_RULE_CAPTURE_STATE, "cuEventRecordWithFlags",
                          "flags 0x%x: CU_EVENT_RECORD_EXTERNAL is only for streams that are being captured, and this one is not",
                          flags);
    return record(sys, event, stream);
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    ABI_NOT_IMPLICITLY(abi_stream(hStream));
    ABI_WORK(record_flags(sys, hEvent, abi_stream(hStream), flags));
}

/* ---- the stream of a call ---- */

/* A default stream belongs to the current context. */
static CUresult stream_of(const vmm_system *sys, const char *function, vmm_stream stream, struct abi_query_stream *found)
{
    struct abi_query_context context;
    *found = (struct abi_query_stream){.id = stream == VMM_STREAM_PER_THREAD ? 2 : 1};
    if (!stream || stream == VMM_STREAM_LEGACY || stream == VMM_STREAM_PER_THREAD)
        return abi_current(sys, function, &found->context, &context);
    if (!abi_query_stream(sys, (uint64_t)(uintptr_t)stream, found))
        return abi_refuse(VMM_RULE_STREAM_UNKNOWN, function, "%p is not a stream", (void *)stream);
    found->id += 2;
    return CUDA_SUCCESS;
}

static CUresult flags_of(const vmm_system *sys, vmm_stream stream, unsigned *flags)
{
    struct abi_query_stream found;
    CUresult result = flags ? stream_of(sys, "cuStreamGetFlags", stream, &found)
                            : abi_null("cuStreamGetFlags", "flags");
    if (result == CUDA_SUCCESS)
        *flags = found.flags;
    return result;
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    ABI_NOT_CAPTURED(hStream);
    ABI_INITIALISED(flags_of(sys, abi_stream(hStream), flags));
}

static CUresult priority_of(const vmm_system *sys, vmm_stream stream, int *priority)
{
    struct abi_query_stream found;
    CUresult result = priority ? stream_of(sys, "cuStreamGetPriority", stream, &found)
                               : abi_null("cuStreamGetPriority", "priority");
    if (result == CUDA_SUCCESS)
        *priority = abi_note_get((uint64_t)(uintptr_t)stream).priority;
    return result;
}

CUresult cuStreamGetPriority(CUstream hStream, int *priority)
{
    ABI_INITIALISED(priority_of(sys, abi_stream(hStream), priority));
}

static CUresult stream_id(const vmm_system *sys, vmm_stream stream, unsigned long long *id)
{
    struct abi_query_stream found;
    CUresult result = id ? stream_of(sys, "cuStreamGetId", stream, &found) : abi_null("cuStreamGetId", "streamId");
    if (result == CUDA_SUCCESS)
        *id = found.id;
    return result;
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    ABI_INITIALISED(stream_id(sys, abi_stream(hStream), streamId));
}

static CUresult context_of(const vmm_system *sys, vmm_stream stream, CUcontext *context)
{
    struct abi_query_stream found;
    CUresult result = context ? stream_of(sys, "cuStreamGetCtx", stream, &found) : abi_null("cuStreamGetCtx", "pctx");
    if (result == CUDA_SUCCESS)
        *context = (CUcontext)(uintptr_t)found.context;
    return result;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    ABI_INITIALISED(context_of(sys, abi_stream(hStream), pctx));
}

static CUresult stream_device(const vmm_system *sys, vmm_stream stream, CUdevice *device)
{
    struct abi_query_stream found;
    struct abi_query_context context = {0};
    CUresult result = device ? stream_of(sys, "cuStreamGetDevice", stream, &found)
                             : abi_null("cuStreamGetDevice", "device");
    if (result == CUDA_SUCCESS) {
        abi_query_context(sys, found.context, &context); /* a stream's context is always known */
        *device = context.device;
    }
    return result;
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    ABI_INITIALISED(stream_device(sys, abi_stream(hStream), device));
}

static CUresult capturing(const vmm_system *sys, vmm_stream stream, CUstreamCaptureStatus *status)
{
    struct abi_query_stream found;
    CUresult result = status ? stream_of(sys, "cuStreamIsCapturing", stream, &found)
                             : abi_graph_null("cuStreamIsCapturing", "captureStatus");
    if (result == CUDA_SUCCESS)
        result = abi_capture_implicit_query(stream, "cuStreamIsCapturing");
    if (result == CUDA_SUCCESS)
        *status = abi_capture_status(stream);
    return result;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    ABI_INITIALISED(capturing(sys, abi_stream(hStream), captureStatus));
}

CUresult cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode)
{
    ABI_GRAPH_CALL("cuStreamBeginCapture", stream_begin_capture, abi_stream(hStream), (vmm_stream_capture_mode)mode);
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    ABI_GRAPH_CALL("cuStreamEndCapture", stream_end_capture, abi_stream(hStream), (vmm_graph *)(void *)phGraph);
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *dependencyData, size_t numDependencies, CUstreamCaptureMode mode)
{
    ABI_GRAPH_CALL("cuStreamBeginCaptureToGraph", stream_begin_capture_to_graph, abi_stream(hStream), abi_graph(hGraph),
                   abi_nodes(dependencies), (const vmm_graph_edge_data *)(const void *)dependencyData, numDependencies,
                   (vmm_stream_capture_mode)mode);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                                           size_t numDependencies, unsigned int flags)
{
    ABI_INITIALISED(abi_graphs_answer("cuStreamUpdateCaptureDependencies",
                                      capture_update(abi_graphs_lock(), abi_stream(hStream), abi_nodes(dependencies),
                                                     (const vmm_graph_edge_data *)(const void *)dependencyData, numDependencies, flags)));
}
