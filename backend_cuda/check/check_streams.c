/* SPDX-License-Identifier: Apache-2.0 */
/* The entry points that order work and have no rules of their own: streams, events, launches, waits (follow.h says how each is
 * treated). The driver handles the call; the shadow is not involved. */
#include <string.h>

#include "check_order.h"
#include "thread.h"

/* The driver's types of which only the offset of a member, or the size, matters here. */
typedef struct { char reserved[64]; } check_ipc_event;
struct check_attribute {
    int id;
    char padding[4];
    union {
        vmm_event event; /* of the two attributes below */
        char room[64];
    } value;
};
struct check_launch {
    unsigned grid[3], block[3], shared;
    vmm_stream stream;
    const struct check_attribute *attributes;
    unsigned count;
};
enum { PROGRAMMATIC_EVENT = 7, COMPLETION_EVENT = 12 }; /* CU_LAUNCH_ATTRIBUTE_ */
enum { EVENT_WAIT_NODE = 6, EVENT_RECORD_NODE, SEMAPHORES_WAIT_NODE = 9, MEM_OP_NODE = 12, CONDITIONAL_NODE }; /* CU_GRAPH_NODE_TYPE_ */
enum { EXTERNAL = 1 }; /* CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL: in a capture, a node of the graph */
enum { NON_BLOCKING = 1 };

#define DRIVER(symbol, parameters)                           \
    vmm_result (*driver) parameters = NULL;                  \
    check_function function_ = check_driver(CHECK_##symbol); \
    memcpy(&driver, &function_, sizeof driver);              \
    if (!driver)                                             \
    return VMM_ERROR_NOT_FOUND

/* The call's effect on order is noted before the driver gets the call, because other threads may see its effects before it
 * returns. The thread does not count as inside the call while the driver is: host functions, whose calls are the program's, may
 * run on it. */
#define BEFORE(symbol, parameters, arguments, meaning)        \
    vmm_result symbol parameters                              \
    {                                                         \
        DRIVER(symbol, parameters);                           \
        const bool own = check_per_thread(CHECK_##symbol);    \
        struct follow *follow = check_order_enter();          \
        (void)own;                                            \
        if (follow) {                                         \
            meaning;                                          \
            check_order_leave();                              \
        }                                                     \
        return driver arguments;                              \
    }

/* Or noted after the driver's call: what the program has waited for, and what the driver has created. */
#define BEHIND(symbol, parameters, arguments, meaning)                                     \
    vmm_result symbol parameters                                                           \
    {                                                                                      \
        DRIVER(symbol, parameters);                                                        \
        const bool own = check_per_thread(CHECK_##symbol);                                 \
        vmm_result result = driver arguments;                                              \
        struct follow *follow = result == VMM_SUCCESS ? check_order_enter() : NULL;        \
        (void)own;                                                                         \
        if (follow) {                                                                      \
            meaning;                                                                       \
            check_order_leave();                                                           \
        }                                                                                  \
        return result;                                                                     \
    }

static uint64_t value(const void *object)
{
    return (uint64_t)(uintptr_t)object;
}

#pragma GCC visibility push(default)
vmm_result cuStreamCreate(vmm_stream *made, unsigned flags);
vmm_result cuStreamCreateWithPriority(vmm_stream *made, unsigned flags, int priority);
vmm_result cuStreamDestroy(vmm_stream stream);
vmm_result cuStreamDestroy_v2(vmm_stream stream);
vmm_result cuStreamSynchronize(vmm_stream stream);
vmm_result cuStreamSynchronize_ptsz(vmm_stream stream);
vmm_result cuStreamQuery(vmm_stream stream);
vmm_result cuStreamQuery_ptsz(vmm_stream stream);
vmm_result cuStreamWaitEvent(vmm_stream stream, vmm_event event, unsigned flags);
vmm_result cuStreamWaitEvent_ptsz(vmm_stream stream, vmm_event event, unsigned flags);
vmm_result cuStreamAddCallback(vmm_stream stream, check_function call, void *user, unsigned flags);
vmm_result cuStreamAddCallback_ptsz(vmm_stream stream, check_function call, void *user, unsigned flags);
vmm_result cuLaunchHostFunc(vmm_stream stream, check_function call, void *user);
vmm_result cuLaunchHostFunc_ptsz(vmm_stream stream, check_function call, void *user);
vmm_result cuStreamBeginCapture(vmm_stream stream);
vmm_result cuStreamBeginCapture_ptsz(vmm_stream stream);
vmm_result cuStreamBeginCapture_v2(vmm_stream stream, int mode);
vmm_result cuStreamBeginCapture_v2_ptsz(vmm_stream stream, int mode);
vmm_result cuStreamBeginCaptureToGraph(vmm_stream stream, void *graph, const void *nodes, const void *edges, size_t count, int mode);
vmm_result cuStreamBeginCaptureToGraph_ptsz(vmm_stream stream, void *graph, const void *nodes, const void *edges, size_t count, int mode);
vmm_result cuStreamEndCapture(vmm_stream stream, void **graph);
vmm_result cuStreamEndCapture_ptsz(vmm_stream stream, void **graph);
vmm_result cuStreamWaitValue32(vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags);
vmm_result cuStreamWaitValue32_ptsz(vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags);
vmm_result cuStreamWaitValue32_v2(vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags);
vmm_result cuStreamWaitValue32_v2_ptsz(vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags);
vmm_result cuStreamWaitValue64(vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags);
vmm_result cuStreamWaitValue64_ptsz(vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags);
vmm_result cuStreamWaitValue64_v2(vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags);
vmm_result cuStreamWaitValue64_v2_ptsz(vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags);
vmm_result cuStreamWriteValue32(vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags);
vmm_result cuStreamWriteValue32_ptsz(vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags);
vmm_result cuStreamWriteValue32_v2(vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags);
vmm_result cuStreamWriteValue32_v2_ptsz(vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags);
vmm_result cuStreamWriteValue64(vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags);
vmm_result cuStreamWriteValue64_ptsz(vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags);
vmm_result cuStreamWriteValue64_v2(vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags);
vmm_result cuStreamWriteValue64_v2_ptsz(vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags);
vmm_result cuStreamBatchMemOp(vmm_stream stream, unsigned count, void *ops, unsigned flags);
vmm_result cuStreamBatchMemOp_ptsz(vmm_stream stream, unsigned count, void *ops, unsigned flags);
vmm_result cuStreamBatchMemOp_v2(vmm_stream stream, unsigned count, void *ops, unsigned flags);
vmm_result cuStreamBatchMemOp_v2_ptsz(vmm_stream stream, unsigned count, void *ops, unsigned flags);
vmm_result cuSignalExternalSemaphoresAsync(const void *semaphores, const void *params, unsigned count, vmm_stream stream);
vmm_result cuSignalExternalSemaphoresAsync_ptsz(const void *semaphores, const void *params, unsigned count, vmm_stream stream);
vmm_result cuWaitExternalSemaphoresAsync(const void *semaphores, const void *params, unsigned count, vmm_stream stream);
vmm_result cuWaitExternalSemaphoresAsync_ptsz(const void *semaphores, const void *params, unsigned count, vmm_stream stream);
vmm_result cuGraphicsMapResources(unsigned count, void *resources, vmm_stream stream);
vmm_result cuGraphicsMapResources_ptsz(unsigned count, void *resources, vmm_stream stream);
vmm_result cuGraphicsUnmapResources(unsigned count, void *resources, vmm_stream stream);
vmm_result cuGraphicsUnmapResources_ptsz(unsigned count, void *resources, vmm_stream stream);
vmm_result cuStreamAttachMemAsync(vmm_stream stream, vmm_deviceptr at, size_t length, unsigned flags);
vmm_result cuStreamAttachMemAsync_ptsz(vmm_stream stream, vmm_deviceptr at, size_t length, unsigned flags);
vmm_result cuEventCreate(vmm_event *made, unsigned flags);
vmm_result cuEventDestroy(vmm_event event);
vmm_result cuEventDestroy_v2(vmm_event event);
vmm_result cuEventRecord(vmm_event event, vmm_stream stream);
vmm_result cuEventRecord_ptsz(vmm_event event, vmm_stream stream);
vmm_result cuEventRecordWithFlags(vmm_event event, vmm_stream stream, unsigned flags);
vmm_result cuEventRecordWithFlags_ptsz(vmm_event event, vmm_stream stream, unsigned flags);
vmm_result cuEventSynchronize(vmm_event event);
vmm_result cuEventQuery(vmm_event event);
vmm_result cuEventElapsedTime(float *time, vmm_event start, vmm_event end);
vmm_result cuEventElapsedTime_v2(float *time, vmm_event start, vmm_event end);
vmm_result cuIpcGetEventHandle(void *handle, vmm_event event);
vmm_result cuIpcOpenEventHandle(vmm_event *made, check_ipc_event handle);
vmm_result cuCtxRecordEvent(void *context, vmm_event event);
vmm_result cuCtxWaitEvent(void *context, vmm_event event);
vmm_result cuGreenCtxRecordEvent(void *context, vmm_event event);
vmm_result cuGreenCtxWaitEvent(void *context, vmm_event event);
vmm_result cuCtxFromGreenCtx(vmm_context *context, void *green);
vmm_result cuCtxSynchronize(void);
vmm_result cuCtxSynchronize_v2(vmm_context context);
vmm_result cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, vmm_stream stream, void **params, void **extra);
vmm_result cuLaunchKernel_ptsz(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, vmm_stream stream, void **params, void **extra);
vmm_result cuLaunchCooperativeKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, vmm_stream stream, void **params);
vmm_result cuLaunchCooperativeKernel_ptsz(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, vmm_stream stream, void **params);
vmm_result cuLaunchKernelEx(const struct check_launch *how, void *kernel, void **params, void **extra);
vmm_result cuLaunchKernelEx_ptsz(const struct check_launch *how, void *kernel, void **params, void **extra);
vmm_result cuLaunchCooperativeKernelMultiDevice(void *list, unsigned count, unsigned flags);
vmm_result cuLaunch(void *kernel);
vmm_result cuLaunchGrid(void *kernel, int width, int height);
vmm_result cuLaunchGridAsync(void *kernel, int width, int height, vmm_stream stream);
vmm_result cuGraphLaunch(void *graph, vmm_stream stream);
vmm_result cuGraphLaunch_ptsz(void *graph, vmm_stream stream);
vmm_result cuGraphAddEventRecordNode(void **node, void *graph, const void *after, size_t count, vmm_event event);
vmm_result cuGraphAddEventWaitNode(void **node, void *graph, const void *after, size_t count, vmm_event event);
vmm_result cuGraphAddBatchMemOpNode(void **node, void *graph, const void *after, size_t count, const void *params);
vmm_result cuGraphAddExternalSemaphoresWaitNode(void **node, void *graph, const void *after, size_t count, const void *params);
vmm_result cuGraphEventRecordNodeSetEvent(void *node, vmm_event event);
vmm_result cuGraphExecEventRecordNodeSetEvent(void *graph, void *node, vmm_event event);
vmm_result cuGraphAddNode(void **node, void *graph, const void *after, size_t count, void *params);
vmm_result cuGraphAddNode_v2(void **node, void *graph, const void *after, const void *edges, size_t count, void *params);
vmm_result cuMemcpyPeerAsync(vmm_deviceptr dst, vmm_context to, vmm_deviceptr src, vmm_context from, size_t size, vmm_stream stream);
vmm_result cuMemcpyPeerAsync_ptsz(vmm_deviceptr dst, vmm_context to, vmm_deviceptr src, vmm_context from, size_t size, vmm_stream stream);
vmm_result cuMemcpy3DPeerAsync(const vmm_memcpy3d_peer *box, vmm_stream stream);
vmm_result cuMemcpy3DPeerAsync_ptsz(const vmm_memcpy3d_peer *box, vmm_stream stream);
vmm_result cuMemcpyPeer(vmm_deviceptr dst, vmm_context to, vmm_deviceptr src, vmm_context from, size_t size);
vmm_result cuMemcpyPeer_ptds(vmm_deviceptr dst, vmm_context to, vmm_deviceptr src, vmm_context from, size_t size);
vmm_result cuMemcpy3DPeer(const vmm_memcpy3d_peer *box);
vmm_result cuMemcpy3DPeer_ptds(const vmm_memcpy3d_peer *box);
vmm_result cuMemsetD2D8_v2(vmm_deviceptr dst, size_t pitch, unsigned char word, size_t width, size_t height);
vmm_result cuMemsetD2D8_v2_ptds(vmm_deviceptr dst, size_t pitch, unsigned char word, size_t width, size_t height);
vmm_result cuMemsetD2D8Async(vmm_deviceptr dst, size_t pitch, unsigned char word, size_t width, size_t height, vmm_stream stream);
vmm_result cuMemsetD2D8Async_ptsz(vmm_deviceptr dst, size_t pitch, unsigned char word, size_t width, size_t height, vmm_stream stream);
vmm_result cuMemsetD2D16_v2(vmm_deviceptr dst, size_t pitch, unsigned short word, size_t width, size_t height);
vmm_result cuMemsetD2D16_v2_ptds(vmm_deviceptr dst, size_t pitch, unsigned short word, size_t width, size_t height);
vmm_result cuMemsetD2D16Async(vmm_deviceptr dst, size_t pitch, unsigned short word, size_t width, size_t height, vmm_stream stream);
vmm_result cuMemsetD2D16Async_ptsz(vmm_deviceptr dst, size_t pitch, unsigned short word, size_t width, size_t height, vmm_stream stream);
vmm_result cuMemsetD2D32_v2(vmm_deviceptr dst, size_t pitch, unsigned word, size_t width, size_t height);
vmm_result cuMemsetD2D32_v2_ptds(vmm_deviceptr dst, size_t pitch, unsigned word, size_t width, size_t height);
vmm_result cuMemsetD2D32Async(vmm_deviceptr dst, size_t pitch, unsigned word, size_t width, size_t height, vmm_stream stream);
vmm_result cuMemsetD2D32Async_ptsz(vmm_deviceptr dst, size_t pitch, unsigned word, size_t width, size_t height, vmm_stream stream);
vmm_result cuMemHostRegister(void *at, size_t size, unsigned flags);
vmm_result cuMemHostRegister_v2(void *at, size_t size, unsigned flags);
vmm_result cuMemHostUnregister(void *at);
#pragma GCC visibility pop

/* ---- streams ---- */

BEHIND(cuStreamCreate, (vmm_stream *made, unsigned flags), (made, flags), follow_stream_made(follow, value(*made), flags & NON_BLOCKING))
BEHIND(cuStreamCreateWithPriority, (vmm_stream *made, unsigned flags, int priority), (made, flags, priority), follow_stream_made(follow, value(*made), flags & NON_BLOCKING))
BEFORE(cuStreamDestroy, (vmm_stream stream), (stream), follow_stream_ends(follow, value(stream)))
BEFORE(cuStreamDestroy_v2, (vmm_stream stream), (stream), follow_stream_ends(follow, value(stream)))
BEHIND(cuStreamSynchronize, (vmm_stream stream), (stream), follow_stream_done(follow, value(stream), own))
BEHIND(cuStreamSynchronize_ptsz, (vmm_stream stream), (stream), follow_stream_done(follow, value(stream), own))
BEHIND(cuStreamQuery, (vmm_stream stream), (stream), follow_stream_done(follow, value(stream), own))
BEHIND(cuStreamQuery_ptsz, (vmm_stream stream), (stream), follow_stream_done(follow, value(stream), own))

static void wait_for(struct follow *follow, vmm_event event, vmm_stream stream, bool own, unsigned flags)
{
    if (flags & EXTERNAL)
        follow_graphs_order(follow);
    follow_wait(follow, value(event), value(stream), own);
}

BEHIND(cuStreamWaitEvent, (vmm_stream stream, vmm_event event, unsigned flags), (stream, event, flags), wait_for(follow, event, stream, own, flags))
BEHIND(cuStreamWaitEvent_ptsz, (vmm_stream stream, vmm_event event, unsigned flags), (stream, event, flags), wait_for(follow, event, stream, own, flags))
BEFORE(cuStreamAddCallback, (vmm_stream stream, check_function call, void *user, unsigned flags), (stream, call, user, flags), follow_tells(follow, value(stream), own))
BEFORE(cuStreamAddCallback_ptsz, (vmm_stream stream, check_function call, void *user, unsigned flags), (stream, call, user, flags), follow_tells(follow, value(stream), own))
BEFORE(cuLaunchHostFunc, (vmm_stream stream, check_function call, void *user), (stream, call, user), follow_tells(follow, value(stream), own))
BEFORE(cuLaunchHostFunc_ptsz, (vmm_stream stream, check_function call, void *user), (stream, call, user), follow_tells(follow, value(stream), own))

/* ---- captures: calls on a captured stream issue no work ---- */

BEFORE(cuStreamBeginCapture, (vmm_stream stream), (stream), follow_captures(follow))
BEFORE(cuStreamBeginCapture_ptsz, (vmm_stream stream), (stream), follow_captures(follow))
BEFORE(cuStreamBeginCapture_v2, (vmm_stream stream, int mode), (stream, mode), follow_captures(follow))
BEFORE(cuStreamBeginCapture_v2_ptsz, (vmm_stream stream, int mode), (stream, mode), follow_captures(follow))
BEFORE(cuStreamBeginCaptureToGraph, (vmm_stream stream, void *graph, const void *nodes, const void *edges, size_t count, int mode), (stream, graph, nodes, edges, count, mode), follow_captures(follow))
BEFORE(cuStreamBeginCaptureToGraph_ptsz, (vmm_stream stream, void *graph, const void *nodes, const void *edges, size_t count, int mode), (stream, graph, nodes, edges, count, mode), follow_captures(follow))
BEHIND(cuStreamEndCapture, (vmm_stream stream, void **graph), (stream, graph), follow_all_done(follow))
BEHIND(cuStreamEndCapture_ptsz, (vmm_stream stream, void **graph), (stream, graph), follow_all_done(follow))

/* ---- values in memory, and what other interfaces order ---- */

BEHIND(cuStreamWaitValue32, (vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags), (stream, at, word, flags), follow_stream_waits(follow, value(stream), own))
BEHIND(cuStreamWaitValue32_ptsz, (vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags), (stream, at, word, flags), follow_stream_waits(follow, value(stream), own))
BEHIND(cuStreamWaitValue32_v2, (vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags), (stream, at, word, flags), follow_stream_waits(follow, value(stream), own))
BEHIND(cuStreamWaitValue32_v2_ptsz, (vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags), (stream, at, word, flags), follow_stream_waits(follow, value(stream), own))
BEHIND(cuStreamWaitValue64, (vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags), (stream, at, word, flags), follow_stream_waits(follow, value(stream), own))
BEHIND(cuStreamWaitValue64_ptsz, (vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags), (stream, at, word, flags), follow_stream_waits(follow, value(stream), own))
BEHIND(cuStreamWaitValue64_v2, (vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags), (stream, at, word, flags), follow_stream_waits(follow, value(stream), own))
BEHIND(cuStreamWaitValue64_v2_ptsz, (vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags), (stream, at, word, flags), follow_stream_waits(follow, value(stream), own))
BEFORE(cuStreamWriteValue32, (vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags), (stream, at, word, flags), follow_tells(follow, value(stream), own))
BEFORE(cuStreamWriteValue32_ptsz, (vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags), (stream, at, word, flags), follow_tells(follow, value(stream), own))
BEFORE(cuStreamWriteValue32_v2, (vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags), (stream, at, word, flags), follow_tells(follow, value(stream), own))
BEFORE(cuStreamWriteValue32_v2_ptsz, (vmm_stream stream, vmm_deviceptr at, uint32_t word, unsigned flags), (stream, at, word, flags), follow_tells(follow, value(stream), own))
BEFORE(cuStreamWriteValue64, (vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags), (stream, at, word, flags), follow_tells(follow, value(stream), own))
BEFORE(cuStreamWriteValue64_ptsz, (vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags), (stream, at, word, flags), follow_tells(follow, value(stream), own))
BEFORE(cuStreamWriteValue64_v2, (vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags), (stream, at, word, flags), follow_tells(follow, value(stream), own))
BEFORE(cuStreamWriteValue64_v2_ptsz, (vmm_stream stream, vmm_deviceptr at, uint64_t word, unsigned flags), (stream, at, word, flags), follow_tells(follow, value(stream), own))

/* Its operations may be of either kind: it may signal before it waits. */
#define MEM_OPS(symbol)                                                                                  \
    vmm_result symbol(vmm_stream stream, unsigned count, void *ops, unsigned flags)                      \
    {                                                                                                    \
        DRIVER(symbol, (vmm_stream, unsigned, void *, unsigned));                                        \
        const bool own = check_per_thread(CHECK_##symbol);                                               \
        struct follow *follow = check_order_enter();                                                     \
        if (follow) {                                                                                    \
            follow_tells(follow, value(stream), own);                                                    \
            check_order_leave();                                                                         \
        }                                                                                                \
        vmm_result result = driver(stream, count, ops, flags);                                           \
        follow = check_order_enter();                                                                    \
        if (follow) {                                                                                    \
            follow_stream_waits(follow, value(stream), own);                                             \
            check_order_leave();                                                                         \
        }                                                                                                \
        return result;                                                                                   \
    }
MEM_OPS(cuStreamBatchMemOp)
MEM_OPS(cuStreamBatchMemOp_ptsz)
MEM_OPS(cuStreamBatchMemOp_v2)
MEM_OPS(cuStreamBatchMemOp_v2_ptsz)
BEFORE(cuSignalExternalSemaphoresAsync, (const void *semaphores, const void *params, unsigned count, vmm_stream stream), (semaphores, params, count, stream), follow_tells(follow, value(stream), own))
BEFORE(cuSignalExternalSemaphoresAsync_ptsz, (const void *semaphores, const void *params, unsigned count, vmm_stream stream), (semaphores, params, count, stream), follow_tells(follow, value(stream), own))
BEHIND(cuWaitExternalSemaphoresAsync, (const void *semaphores, const void *params, unsigned count, vmm_stream stream), (semaphores, params, count, stream), follow_stream_waits(follow, value(stream), own))
BEHIND(cuWaitExternalSemaphoresAsync_ptsz, (const void *semaphores, const void *params, unsigned count, vmm_stream stream), (semaphores, params, count, stream), follow_stream_waits(follow, value(stream), own))
BEFORE(cuGraphicsMapResources, (unsigned count, void *resources, vmm_stream stream), (count, resources, stream), follow_all_done(follow))
BEFORE(cuGraphicsMapResources_ptsz, (unsigned count, void *resources, vmm_stream stream), (count, resources, stream), follow_all_done(follow))
BEFORE(cuGraphicsUnmapResources, (unsigned count, void *resources, vmm_stream stream), (count, resources, stream), follow_all_done(follow))
BEFORE(cuGraphicsUnmapResources_ptsz, (unsigned count, void *resources, vmm_stream stream), (count, resources, stream), follow_all_done(follow))
BEFORE(cuStreamAttachMemAsync, (vmm_stream stream, vmm_deviceptr at, size_t length, unsigned flags), (stream, at, length, flags), follow_all_done(follow))
BEFORE(cuStreamAttachMemAsync_ptsz, (vmm_stream stream, vmm_deviceptr at, size_t length, unsigned flags), (stream, at, length, flags), follow_all_done(follow))

/* ---- events ---- */

BEHIND(cuEventCreate, (vmm_event *made, unsigned flags), (made, flags), follow_event_made(follow, value(*made)))
BEFORE(cuEventDestroy, (vmm_event event), (event), follow_event_ends(follow, value(event)))
BEFORE(cuEventDestroy_v2, (vmm_event event), (event), follow_event_ends(follow, value(event)))
BEFORE(cuEventRecord, (vmm_event event, vmm_stream stream), (event, stream), follow_record(follow, value(event), value(stream), own))
BEFORE(cuEventRecord_ptsz, (vmm_event event, vmm_stream stream), (event, stream), follow_record(follow, value(event), value(stream), own))

static void record(struct follow *follow, vmm_event event, vmm_stream stream, bool own, unsigned flags)
{
    if (flags & EXTERNAL)
        follow_graphs_order(follow);
    follow_record(follow, value(event), value(stream), own);
}

BEFORE(cuEventRecordWithFlags, (vmm_event event, vmm_stream stream, unsigned flags), (event, stream, flags), record(follow, event, stream, own, flags))
BEFORE(cuEventRecordWithFlags_ptsz, (vmm_event event, vmm_stream stream, unsigned flags), (event, stream, flags), record(follow, event, stream, own, flags))
BEHIND(cuEventSynchronize, (vmm_event event), (event), follow_event_done(follow, value(event)))
BEHIND(cuEventQuery, (vmm_event event), (event), follow_event_done(follow, value(event)))

/* The time between them is known once both are done. */
static void both_done(struct follow *follow, vmm_event start, vmm_event end)
{
    follow_event_done(follow, value(start));
    follow_event_done(follow, value(end));
}

BEHIND(cuEventElapsedTime, (float *time, vmm_event start, vmm_event end), (time, start, end), both_done(follow, start, end))
BEHIND(cuEventElapsedTime_v2, (float *time, vmm_event start, vmm_event end), (time, start, end), both_done(follow, start, end))
BEFORE(cuIpcGetEventHandle, (void *handle, vmm_event event), (handle, event), follow_event_shared(follow, value(event)))
BEHIND(cuIpcOpenEventHandle, (vmm_event *made, check_ipc_event handle), (made, handle), follow_event_shared(follow, value(*made)))

/* An event after all work of a context, or a context that waits for one. */
static void of_context(struct follow *follow, vmm_event event)
{
    follow_event_shared(follow, value(event));
    follow_all_done(follow);
}

BEFORE(cuCtxRecordEvent, (void *context, vmm_event event), (context, event), of_context(follow, event))
BEFORE(cuCtxWaitEvent, (void *context, vmm_event event), (context, event), of_context(follow, event))
BEFORE(cuGreenCtxRecordEvent, (void *context, vmm_event event), (context, event), of_context(follow, event))
BEFORE(cuGreenCtxWaitEvent, (void *context, vmm_event event), (context, event), of_context(follow, event))
BEHIND(cuCtxFromGreenCtx, (vmm_context *context, void *green), (context, green), follow_stop(follow))
BEHIND(cuCtxSynchronize, (void), (), follow_context_done(follow, 0))
BEHIND(cuCtxSynchronize_v2, (vmm_context context), (context), follow_context_done(follow, value(context)))

/* ---- kernels and graphs ---- */

BEFORE(cuLaunchKernel, (void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, vmm_stream stream, void **params, void **extra), (kernel, gx, gy, gz, bx, by, bz, shared, stream, params, extra), follow_tells(follow, value(stream), own))
BEFORE(cuLaunchKernel_ptsz, (void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, vmm_stream stream, void **params, void **extra), (kernel, gx, gy, gz, bx, by, bz, shared, stream, params, extra), follow_tells(follow, value(stream), own))
BEFORE(cuLaunchCooperativeKernel, (void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, vmm_stream stream, void **params), (kernel, gx, gy, gz, bx, by, bz, shared, stream, params), follow_tells(follow, value(stream), own))
BEFORE(cuLaunchCooperativeKernel_ptsz, (void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, vmm_stream stream, void **params), (kernel, gx, gy, gz, bx, by, bz, shared, stream, params), follow_tells(follow, value(stream), own))

/* A launch may record an event before the kernel is done. */
static void launch(struct follow *follow, const struct check_launch *how, bool own)
{
    for (unsigned i = 0; how && how->attributes && i < how->count; i++)
        if (how->attributes[i].id == PROGRAMMATIC_EVENT || how->attributes[i].id == COMPLETION_EVENT)
            follow_event_shared(follow, value(how->attributes[i].value.event));
    if (how)
        follow_tells(follow, value(how->stream), own);
}

BEFORE(cuLaunchKernelEx, (const struct check_launch *how, void *kernel, void **params, void **extra), (how, kernel, params, extra), launch(follow, how, own))
BEFORE(cuLaunchKernelEx_ptsz, (const struct check_launch *how, void *kernel, void **params, void **extra), (how, kernel, params, extra), launch(follow, how, own))
BEFORE(cuLaunchCooperativeKernelMultiDevice, (void *list, unsigned count, unsigned flags), (list, count, flags), follow_all_done(follow))
BEFORE(cuLaunch, (void *kernel), (kernel), follow_tells(follow, 0, own))
BEFORE(cuLaunchGrid, (void *kernel, int width, int height), (kernel, width, height), follow_tells(follow, 0, own))
BEFORE(cuLaunchGridAsync, (void *kernel, int width, int height, vmm_stream stream), (kernel, width, height, stream), follow_tells(follow, value(stream), own))
BEFORE(cuGraphLaunch, (void *graph, vmm_stream stream), (graph, stream), follow_graph(follow, value(stream), own))
BEFORE(cuGraphLaunch_ptsz, (void *graph, vmm_stream stream), (graph, stream), follow_graph(follow, value(stream), own))
BEFORE(cuGraphAddEventRecordNode, (void **node, void *graph, const void *after, size_t count, vmm_event event), (node, graph, after, count, event), follow_graphs_order(follow))
BEFORE(cuGraphAddEventWaitNode, (void **node, void *graph, const void *after, size_t count, vmm_event event), (node, graph, after, count, event), follow_graphs_order(follow))
BEFORE(cuGraphAddBatchMemOpNode, (void **node, void *graph, const void *after, size_t count, const void *params), (node, graph, after, count, params), follow_graphs_order(follow))
BEFORE(cuGraphAddExternalSemaphoresWaitNode, (void **node, void *graph, const void *after, size_t count, const void *params), (node, graph, after, count, params), follow_graphs_order(follow))
BEFORE(cuGraphEventRecordNodeSetEvent, (void *node, vmm_event event), (node, event), follow_graphs_order(follow))
BEFORE(cuGraphExecEventRecordNodeSetEvent, (void *graph, void *node, vmm_event event), (graph, node, event), follow_graphs_order(follow))

/* Nodes whose bodies are other graphs may have such nodes in them. */
static void add_node(struct follow *follow, const int *type)
{
    if (type && (*type == EVENT_WAIT_NODE || *type == EVENT_RECORD_NODE || *type == SEMAPHORES_WAIT_NODE || *type == MEM_OP_NODE ||
                 *type == CONDITIONAL_NODE))
        follow_graphs_order(follow);
}

BEFORE(cuGraphAddNode, (void **node, void *graph, const void *after, size_t count, void *params), (node, graph, after, count, params), add_node(follow, params))
BEFORE(cuGraphAddNode_v2, (void **node, void *graph, const void *after, const void *edges, size_t count, void *params), (node, graph, after, edges, count, params), add_node(follow, params))

/* ---- copies between devices, and fills of rows: work with a number and a stack ---- */

/* The steps of a call that the shadow does not get. */
#define STEPPED(symbol, begin, arguments)                          \
    do {                                                           \
        VMM_ENTRY_POINT(entry_);                                   \
        struct check_step step_;                                   \
        if (!check_order_enter())                                  \
            return driver arguments;                               \
        vmm_within_begin(&vmm_this_thread()->within, &entry_);     \
        begin;                                                     \
        vmm_result result_ = driver arguments;                     \
        check_step_end(&step_, result_);                           \
        vmm_within_end(&vmm_this_thread()->within);                \
        check_order_leave();                                       \
        return result_;                                            \
    } while (0)

#define PEER_ASYNC(symbol)                                                                                                       \
    vmm_result symbol(vmm_deviceptr dst, vmm_context to, vmm_deviceptr src, vmm_context from, size_t size, vmm_stream stream)    \
    {                                                                                                                            \
        DRIVER(symbol, (vmm_deviceptr, vmm_context, vmm_deviceptr, vmm_context, size_t, vmm_stream));                            \
        const struct vmm_call_memcpy_dtod_async copy = {{VMM_CALL_memcpy_dtod_async, 0}, dst, src, size, stream};                \
        STEPPED(symbol, check_step_begin(&step_, CHECK_##symbol, &copy.head), (dst, to, src, from, size, stream));               \
    }
PEER_ASYNC(cuMemcpyPeerAsync)
PEER_ASYNC(cuMemcpyPeerAsync_ptsz)

#define BOX_PEER_ASYNC(symbol)                                                                                                    \
    vmm_result symbol(const vmm_memcpy3d_peer *box, vmm_stream stream)                                                            \
    {                                                                                                                             \
        DRIVER(symbol, (const vmm_memcpy3d_peer *, vmm_stream));                                                                  \
        const struct vmm_call_memcpy_3d_peer_async copy = {{VMM_CALL_memcpy_3d_peer_async, 0}, box, stream};                      \
        STEPPED(symbol, check_step_begin(&step_, CHECK_##symbol, &copy.head), (box, stream));                                     \
    }
BOX_PEER_ASYNC(cuMemcpy3DPeerAsync)
BOX_PEER_ASYNC(cuMemcpy3DPeerAsync_ptsz)

/* Documented to be in order with all work of both contexts. */
BEHIND(cuMemcpyPeer, (vmm_deviceptr dst, vmm_context to, vmm_deviceptr src, vmm_context from, size_t size), (dst, to, src, from, size), follow_all_done(follow))
BEHIND(cuMemcpyPeer_ptds, (vmm_deviceptr dst, vmm_context to, vmm_deviceptr src, vmm_context from, size_t size), (dst, to, src, from, size), follow_all_done(follow))
BEHIND(cuMemcpy3DPeer, (const vmm_memcpy3d_peer *box), (box), follow_all_done(follow))
BEHIND(cuMemcpy3DPeer_ptds, (const vmm_memcpy3d_peer *box), (box), follow_all_done(follow))

#define FILL(symbol, bytes, type)                                                                                                 \
    vmm_result symbol(vmm_deviceptr dst, size_t pitch, type word, size_t width, size_t height)                                    \
    {                                                                                                                             \
        DRIVER(symbol, (vmm_deviceptr, size_t, type, size_t, size_t));                                                            \
        const struct check_fill fill = {dst, pitch, (bytes) * width, height, NULL, true};                                         \
        STEPPED(symbol, check_step_fill(&step_, CHECK_##symbol, &fill), (dst, pitch, word, width, height));                       \
    }
#define FILL_ASYNC(symbol, bytes, type)                                                                                           \
    vmm_result symbol(vmm_deviceptr dst, size_t pitch, type word, size_t width, size_t height, vmm_stream stream)                 \
    {                                                                                                                             \
        DRIVER(symbol, (vmm_deviceptr, size_t, type, size_t, size_t, vmm_stream));                                                \
        const struct check_fill fill = {dst, pitch, (bytes) * width, height, stream, false};                                      \
        STEPPED(symbol, check_step_fill(&step_, CHECK_##symbol, &fill), (dst, pitch, word, width, height, stream));               \
    }
FILL(cuMemsetD2D8_v2, 1, unsigned char)
FILL(cuMemsetD2D8_v2_ptds, 1, unsigned char)
FILL_ASYNC(cuMemsetD2D8Async, 1, unsigned char)
FILL_ASYNC(cuMemsetD2D8Async_ptsz, 1, unsigned char)
FILL(cuMemsetD2D16_v2, 2, unsigned short)
FILL(cuMemsetD2D16_v2_ptds, 2, unsigned short)
FILL_ASYNC(cuMemsetD2D16Async, 2, unsigned short)
FILL_ASYNC(cuMemsetD2D16Async_ptsz, 2, unsigned short)
FILL(cuMemsetD2D32_v2, 4, unsigned)
FILL(cuMemsetD2D32_v2_ptds, 4, unsigned)
FILL_ASYNC(cuMemsetD2D32Async, 4, unsigned)
FILL_ASYNC(cuMemsetD2D32Async_ptsz, 4, unsigned)

/* ---- memory of the host ---- */

BEHIND(cuMemHostRegister, (void *at, size_t size, unsigned flags), (at, size, flags), follow_registered(follow, value(at), size))
BEHIND(cuMemHostRegister_v2, (void *at, size_t size, unsigned flags), (at, size, flags), follow_registered(follow, value(at), size))
BEFORE(cuMemHostUnregister, (void *at), (at), follow_unregistered(follow, value(at)))
