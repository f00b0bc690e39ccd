/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_capture.h"

CUstreamCaptureStatus abi_capture_status(vmm_stream stream)
{
    if (!abi_capture_any())
        return CU_STREAM_CAPTURE_STATUS_NONE;
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)capture_status(abi_graphs_lock(), stream);
    abi_graphs_unlock();
    return status;
}

struct capture_info abi_capture_info(vmm_stream stream)
{
    const struct capture_info info = capture_info(abi_graphs_lock(), stream);
    abi_graphs_unlock();
    return info;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    ABI_GRAPH_CALL(__func__, thread_exchange_stream_capture_mode, (vmm_stream_capture_mode *)(void *)mode);
}

/* ---- refusals ---- */

CUresult abi_capture_forbids(const char *function, bool always)
{
    return abi_capture_any() ? abi_graphs_answer(function, capture_forbids(abi_graphs_lock(), always)) : CUDA_SUCCESS;
}

CUresult abi_capture_forbids_current(const char *function)
{
    if (!abi_capture_any())
        return CUDA_SUCCESS;
    struct sim_process *process = abi_graphs_lock();
    return abi_graphs_answer(function, sim_current(process) ? capture_forbids(process, false) : VMM_SUCCESS);
}

void abi_capture_spoil(vmm_stream stream)
{
    capture_spoil(abi_graphs_lock(), stream);
    abi_graphs_unlock();
}

CUresult abi_captured(vmm_stream stream, const char *function)
{
    return abi_capture_any() ? abi_graphs_answer(function, capture_asks_stream(abi_graphs_lock(), stream)) : CUDA_SUCCESS;
}

CUresult abi_capture_event(const char *function, CUevent event)
{
    return abi_capture_any() ? abi_graphs_answer(function, capture_asks_event(abi_graphs_lock(), abi_event(event))) : CUDA_SUCCESS;
}

CUresult abi_capture_implicit(vmm_stream stream, const char *function)
{
    return abi_graphs_answer(function, capture_implicit(abi_graphs_lock(), stream, false));
}

CUresult abi_capture_implicit_query(vmm_stream stream, const char *function)
{
    return abi_graphs_answer(function, capture_implicit(abi_graphs_lock(), stream, true));
}

bool abi_capture_enter(vmm_stream stream, struct vmm_entry_point *entry, struct abi_call *call, CUresult *result)
{
    bool captured = abi_capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE;
    *result = captured ? abi_enter_initialised(entry, call) : abi_capture_implicit(stream, entry->name);
    return captured && *result == CUDA_SUCCESS;
}

CUresult abi_capture_goes_on(const char *function, vmm_stream stream)
{
    return abi_graphs_answer(function, capture_goes_on(abi_graphs_lock(), stream));
}

/* ---- work ---- */

/* Calls `add`, if the capture is valid: ADD(capture_add_fill, fill). */
#define ADD(add, ...)                                                                    \
    struct sim_process *process = abi_graphs_lock();                                     \
    vmm_result result = capture_goes_on(process, stream);                                \
    return abi_graphs_answer(function, result == VMM_SUCCESS ? add(process, stream, __VA_ARGS__) : result)

CUresult abi_capture_add(const char *function, vmm_stream stream, const struct graph_work *work)
{
    ADD(capture_add, work);
}

CUresult abi_capture_add_fill(const char *function, vmm_stream stream, const vmm_memset_node_params *fill)
{
    ADD(capture_add_fill, fill);
}

CUresult abi_capture_add_copy(const char *function, vmm_stream stream, const vmm_memcpy3d *copy)
{
    ADD(capture_add_copy, copy);
}

CUresult abi_capture_add_host(const char *function, vmm_stream stream, CUhostFn fn, void *data)
{
    return abi_graphs_answer(function, capture_add_host(abi_graphs_lock(), stream, fn, data));
}

CUresult abi_capture_add_mem_op(const char *function, vmm_stream stream, const struct vmm_call *call)
{
    ADD(capture_add_mem_op, call);
}

/* As measured, the address is 0 even if the capture is no longer valid. */
CUresult abi_capture_add_alloc(const char *function, vmm_stream stream, CUdeviceptr *dptr, size_t size, const CUmemoryPool *pool)
{
    vmm_deviceptr at = 0;
    const vmm_memory_pool from = pool ? (vmm_memory_pool)(void *)*pool : NULL;
    if (dptr)
        *dptr = 0;
    struct sim_process *process = abi_graphs_lock();
    vmm_result result = capture_goes_on(process, stream);
    if (result == VMM_SUCCESS)
        result = capture_add_alloc(process, stream, dptr ? &at : NULL, size, pool ? &from : NULL);
    if (dptr)
        *dptr = at;
    return abi_graphs_answer(function, result);
}

CUresult abi_capture_add_free(const char *function, vmm_stream stream, CUdeviceptr dptr)
{
    ADD(capture_add_free, dptr);
}

/* ---- events ---- */

bool abi_capture_record(const char *function, vmm_stream stream, CUevent event, unsigned flags, CUresult *result)
{
    if (abi_capture_status(stream) == CU_STREAM_CAPTURE_STATUS_NONE)
        return false;
    *result = abi_graphs_answer(function, capture_records(abi_graphs_lock(), stream, abi_event(event), flags & CU_EVENT_RECORD_EXTERNAL));
    return true;
}

bool abi_capture_wait(const char *function, vmm_stream stream, CUevent event, unsigned flags, CUresult *result)
{
    const struct vmm_call_stream_wait_event call = {{VMM_CALL_stream_wait_event, 0}, stream, abi_event(event), flags};
    vmm_result answer = VMM_SUCCESS;
    if (!abi_capture_any())
        return false;
    bool takes = capture_waits(abi_graphs_lock(), &call, &answer);
    *result = abi_graphs_answer(function, answer);
    return takes;
}

/* ---- what ends ---- */

void abi_capture_stream_ends(vmm_stream stream)
{
    if (!abi_capture_any())
        return;
    capture_stream_ends(abi_graphs_lock(), stream);
    abi_graphs_unlock();
}

void abi_capture_event_ends(uint64_t event)
{
    if (!abi_capture_any())
        return;
    capture_event_ends(abi_graphs_lock(), (vmm_event)(uintptr_t)event);
    abi_graphs_unlock();
}
