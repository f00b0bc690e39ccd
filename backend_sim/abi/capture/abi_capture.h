/* SPDX-License-Identifier: Apache-2.0 */
/* abi_capture.h - captured streams in entry points: which calls concern a capture, and how the engine handles them
 * (backend_sim/graph/call_capture.h). An entry point checks here before it makes calls of the API, so those are never captured
 * twice.
 */
#ifndef SIM_ABI_CAPTURE_H
#define SIM_ABI_CAPTURE_H

#include "abi_graphs.h"
#include "call_capture.h"

/* The status that cuStreamIsCapturing returns. */
CUstreamCaptureStatus abi_capture_status(vmm_stream stream);

/* What a capture tells about itself. */
struct capture_info abi_capture_info(vmm_stream stream);

/* Adds a node to the stream's capture. */
CUresult abi_capture_add(const char *function, vmm_stream stream, const struct graph_work *work);
CUresult abi_capture_add_fill(const char *function, vmm_stream stream, const vmm_memset_node_params *fill);
CUresult abi_capture_add_copy(const char *function, vmm_stream stream, const vmm_memcpy3d *copy);
CUresult abi_capture_add_host(const char *function, vmm_stream stream, CUhostFn fn, void *data);
/* One of the five calls of memory operations. */
CUresult abi_capture_add_mem_op(const char *function, vmm_stream stream, const struct vmm_call *call);
/* cuMemAllocAsync, or cuMemAllocFromPoolAsync with its pool, and cuMemFreeAsync. */
CUresult abi_capture_add_alloc(const char *function, vmm_stream stream, CUdeviceptr *dptr, size_t size, const CUmemoryPool *pool);
CUresult abi_capture_add_free(const char *function, vmm_stream stream, CUdeviceptr dptr);

/* SUCCESS if the stream is being captured and the capture is valid; this is checked before the arguments. */
CUresult abi_capture_goes_on(const char *function, vmm_stream stream);

/* A refused call has invalidated the stream's capture. */
void abi_capture_spoil(vmm_stream stream);

/* The event calls, if the stream is being captured or the event was recorded in a captured stream; false if the call
 * does not concern a capture. */
bool abi_capture_record(const char *function, vmm_stream stream, CUevent event, unsigned flags, CUresult *result);
bool abi_capture_wait(const char *function, vmm_stream stream, CUevent event, unsigned flags, CUresult *result);
/* SUCCESS if the event was not recorded in a captured stream; otherwise the refusal, which invalidates a capture in progress. */
CUresult abi_capture_event(const char *function, CUevent event);

/* The stream or event ends. */
void abi_capture_stream_ends(vmm_stream stream);
void abi_capture_event_ends(uint64_t event);

/* SUCCESS if the stream is not being captured. A wait or query of one that is invalidates its capture. */
CUresult abi_captured(vmm_stream stream, const char *function);

/* For calls that a graph cannot hold: refuses the call and invalidates captures that forbid it; always: all captures. */
CUresult abi_capture_forbids(const char *function, bool always);

/* The same for a call that needs a current context: without one it does not come to the captures, as measured. */
CUresult abi_capture_forbids_current(const char *function);

/* Put this first in the entry point of such a call. */
#define ABI_NO_CAPTURE()                                               \
    do {                                                               \
        CUresult captured_ = abi_capture_forbids(__func__, false);     \
        if (captured_ != CUDA_SUCCESS)                                 \
            return captured_;                                          \
    } while (0)

#define ABI_NO_CAPTURE_CURRENT()                                       \
    do {                                                               \
        CUresult captured_ = abi_capture_forbids_current(__func__);    \
        if (captured_ != CUDA_SUCCESS)                                 \
            return captured_;                                          \
    } while (0)

/* The body of an entry point that a capture forbids, as measured for arrays and pools, except for calls that query a device's
 * pool. */
#define ABI_FORBIDDEN(name, ...)    \
    do {                            \
        ABI_NO_CAPTURE();           \
        ABI_ONE(name, __VA_ARGS__); \
    } while (0)

/* The same for an allocation, whose output is 0 in that case as well, as measured. */
#define ABI_NO_CAPTURE_FOR(dptr)                                       \
    do {                                                               \
        CUresult captured_ = abi_capture_forbids(__func__, false);     \
        if (captured_ != CUDA_SUCCESS && (dptr))                       \
            *(dptr) = 0;                                               \
        if (captured_ != CUDA_SUCCESS)                                 \
            return captured_;                                          \
    } while (0)

/* Put this first in an entry point that waits for or queries a stream, or whose work a graph cannot hold. */
#define ABI_NOT_CAPTURED(stream)                                                \
    do {                                                                        \
        CUresult captured_ = abi_captured(abi_stream(stream), __func__);        \
        if (captured_ != CUDA_SUCCESS)                                          \
            return captured_;                                                   \
    } while (0)

/* Put this first in an entry point that waits for or queries an event. */
#define ABI_NOT_CAPTURED_EVENT(event)                                           \
    do {                                                                        \
        CUresult captured_ = abi_capture_event(__func__, (event));              \
        if (captured_ != CUDA_SUCCESS)                                          \
            return captured_;                                                   \
    } while (0)

/* The legacy default stream waits for blocking streams, so a call on it is refused while one of them is captured. */
CUresult abi_capture_implicit(vmm_stream stream, const char *function);
/* The same for a call that queries whether the stream is being captured: it leaves captures as they are. */
CUresult abi_capture_implicit_query(vmm_stream stream, const char *function);

/* Enters a call that issues work to the stream, if the stream is being captured. Returns false if the call does not concern a
 * capture, or is refused with `result`. */
bool abi_capture_enter(vmm_stream stream, struct vmm_entry_point *entry, struct abi_call *call, CUresult *result);

static inline bool abi_capture_takes(vmm_stream stream, struct vmm_entry_point *entry, struct abi_call *call, CUresult *result)
{
    return abi_capture_any() && abi_capture_enter(stream, entry, call, result);
}

/* Put this first in an entry point that issues work to a stream: `add` is what a capture does instead; it may use captured_,
 * the stream. */
#define ABI_OR_CAPTURE(stream, add)                                                                 \
    do {                                                                                            \
        VMM_ENTRY_POINT(entry_);                                                                    \
        const vmm_stream captured_ = abi_stream(stream);                                            \
        struct abi_call call_;                                                                      \
        CUresult result_ = CUDA_SUCCESS;                                                            \
        if (abi_capture_takes(captured_, &entry_, &call_, &result_)) {                              \
            vmm_system *sys = call_.sys;                                                            \
            (void)sys;                                                                              \
            result_ = (add);                                                                        \
            abi_leave(&call_);                                                                      \
            return result_;                                                                         \
        }                                                                                           \
        if (result_ != CUDA_SUCCESS)                                                                \
            return result_;                                                                         \
    } while (0)

static inline CUresult abi_capture_refuses(vmm_stream stream, const char *function)
{
    return abi_capture_any() ? abi_capture_implicit(stream, function) : CUDA_SUCCESS;
}

/* Put this first in an entry point that uses that stream without naming it. */
#define ABI_NOT_IMPLICITLY(stream)                                                                  \
    do {                                                                                            \
        CUresult implicit_ = abi_capture_refuses((stream), __func__);                               \
        if (implicit_ != CUDA_SUCCESS)                                                              \
            return implicit_;                                                                       \
    } while (0)

#endif
