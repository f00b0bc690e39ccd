/* SPDX-License-Identifier: Apache-2.0 */
/* The order of work: each form of a copy and of a fill beside work that nothing orders it with, and each way to order it. */
#define _GNU_SOURCE /* RTLD_DEFAULT; before any header */
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>

#include "program.h"

enum { PAGE = 4096, PAGES = 128, BYTES = 256, PITCH = 16, ROWS = 8 };

static CUstream s, t;
static CUdeviceptr at; /* the page of the next two accesses */
static CUevent event;
static unsigned char *pinned_bytes;

static void open_streams(void)
{
    void *bytes;
    begin();
    DO(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    DO(cuStreamCreateWithPriority(&t, CU_STREAM_NON_BLOCKING, 0));
    DO(cuEventCreate(&event, 0));
    DO(cuMemAlloc(&at, PAGES * PAGE));
    DO(cuMemHostAlloc(&bytes, PAGE, 0));
    pinned_bytes = bytes;
}

static void close_streams(CUdeviceptr base)
{
    DO(cuCtxSynchronize());
    DO(cuStreamDestroy(s));
    DO(cuStreamDestroy(t));
    DO(cuEventDestroy(event));
    DO(cuMemFree(base));
    DO(cuMemFreeHost(pinned_bytes));
}

static const CUDA_MEMCPY2D *rows(void)
{
    static CUDA_MEMCPY2D made;
    made = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at, .srcPitch = PITCH, .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = at + PAGE / 2, .dstPitch = 2 * PITCH, .WidthInBytes = PITCH / 2, .Height = ROWS};
    return &made;
}

static const CUDA_MEMCPY3D *box(void)
{
    static CUDA_MEMCPY3D made;
    made = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at, .srcPitch = PITCH, .srcHeight = 2, .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = pinned_bytes, .dstPitch = PITCH, .dstHeight = 2, .WidthInBytes = PITCH / 2, .Height = 2, .Depth = 2};
    return &made;
}

static const CUDA_MEMCPY3D_PEER *peer_box(CUcontext context)
{
    static CUDA_MEMCPY3D_PEER made;
    made = (CUDA_MEMCPY3D_PEER){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at, .srcContext = context, .srcPitch = PITCH, .srcHeight = 2,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = at + PAGE / 2, .dstContext = context, .dstPitch = PITCH,
                                .dstHeight = 2, .WidthInBytes = PITCH / 2, .Height = 2, .Depth = 2};
    return &made;
}

/* Each of them on a separate page, with a fill in another stream: as many findings as lines. */
#define BESIDE(call)                                      \
    do {                                                  \
        DO(cuMemsetD8Async(at, 1, BYTES, s));             \
        DO(call);                                         \
        at += PAGE;                                       \
    } while (0)

PROGRAM(unordered_forms, "VMM-ORDER-HOST VMM-ORDER-STREAMS", SAME, DEVICE)
{
    CUcontext context;
    open_streams();
    const CUdeviceptr base = at;
    DO(cuCtxGetCurrent(&context));
    BESIDE(cuMemcpyHtoDAsync(at, pinned_bytes, BYTES, t));
    BESIDE(cuMemcpyDtoHAsync(pinned_bytes + BYTES, at, BYTES, t));
    BESIDE(cuMemcpyDtoDAsync(at + PAGE / 2, at, BYTES, t));
    BESIDE(cuMemcpyAsync(at + PAGE / 2, at, BYTES, t));
    BESIDE(cuMemsetD8Async(at, 2, BYTES, t));
    BESIDE(cuMemsetD16Async(at, 2, BYTES / 2, t));
    BESIDE(cuMemsetD32Async(at, 2, BYTES / 4, t));
    BESIDE(cuMemsetD2D8Async(at, PITCH, 2, PITCH / 2, ROWS, t));
    BESIDE(cuMemsetD2D16Async(at, PITCH, 2, PITCH / 4, ROWS, t));
    BESIDE(cuMemsetD2D32Async(at, PITCH, 2, PITCH / 8, ROWS, t));
    BESIDE(cuMemcpy2DAsync(rows(), t));
    BESIDE(cuMemcpy3DAsync(box(), t));
    BESIDE(cuMemcpyPeerAsync(at + PAGE / 2, context, at, context, BYTES, t));
    BESIDE(cuMemcpy3DPeerAsync(peer_box(context), t));
    BESIDE(cuMemsetD8(at, 2, BYTES));
    BESIDE(cuMemsetD16(at, 2, BYTES / 2));
    BESIDE(cuMemsetD32(at, 2, BYTES / 4));
    BESIDE(cuMemsetD2D8(at, PITCH, 2, PITCH / 2, ROWS));
    BESIDE(cuMemsetD2D16(at, PITCH, 2, PITCH / 4, ROWS));
    BESIDE(cuMemsetD2D32(at, PITCH, 2, PITCH / 8, ROWS));
    BESIDE(cuMemcpyDtoD(at + PAGE / 2, at, BYTES));
    BESIDE(cuMemcpy(at + PAGE / 2, at, BYTES));
    BESIDE(cuMemcpy2D(rows()));
    BESIDE(cuMemcpyDtoH(pinned_bytes + 2 * BYTES, at, BYTES));
    BESIDE(cuMemcpyHtoD(at, pinned_bytes + 3 * BYTES, BYTES));
    close_streams(base);
}

/* The driver's function of that name, which cuda.h may not declare. */
static uintptr_t named(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found) {
        fprintf(stderr, "there is no %s\n", name);
        exit(4);
    }
    return (uintptr_t)found;
}
#define TYPED(name, ...) ((CUresult(*)(__VA_ARGS__))named(#name))

/* The same page for both, with something between them that orders the two streams. */
#define ORDERED(...)                                      \
    do {                                                  \
        DO(cuMemsetD8Async(at, 1, BYTES, s));             \
        __VA_ARGS__;                                      \
        DO(cuMemsetD8Async(at, 2, BYTES, t));             \
        at += PAGE;                                       \
    } while (0)

PROGRAM(right_waits, "", SAME, DEVICE)
{
    CUevent later;
    CUcontext context;
    float time;
    open_streams();
    const CUdeviceptr base = at;
    DO(cuEventCreate(&later, 0));
    DO(cuCtxGetCurrent(&context));
    ORDERED(DO(cuStreamSynchronize(s)));
    ORDERED(DO(TYPED(cuStreamSynchronize_ptsz, CUstream)(s)));
    ORDERED(DO(cuCtxSynchronize()));
    ORDERED(DO(cuEventRecord(event, s)); DO(cuEventSynchronize(event)));
    ORDERED(DO(TYPED(cuEventRecord_ptsz, CUevent, CUstream)(event, s)); DO(cuStreamWaitEvent(t, event, 0)));
    ORDERED(DO(cuEventRecordWithFlags(event, s, 0)); DO(TYPED(cuStreamWaitEvent_ptsz, CUstream, CUevent, unsigned)(t, event, 0)));
    ORDERED(DO(TYPED(cuEventRecordWithFlags_ptsz, CUevent, CUstream, unsigned)(event, s, 0)); DO(cuStreamWaitEvent(t, event, 0)));
    ORDERED(DO(cuEventRecord(event, s)); DO(cuEventRecord(later, s)); DO(cuEventSynchronize(later)); DO(cuEventElapsedTime(&time, event, later)));
    ORDERED(DO(cuStreamSynchronize(s)); DO(cuMemcpyPeer(at + PAGE / 2, context, at, context, 16)); DO(cuCtxSynchronize()));
    ORDERED(DO(cuStreamSynchronize(s)); DO(cuMemcpy3DPeer(peer_box(context))); DO(cuCtxSynchronize()));
    ORDERED(DO(cuEventRecord(event, s)); DO(cuStreamWaitEvent(NULL, event, 0)); DO(cuEventRecord(event, NULL)); DO(cuStreamWaitEvent(t, event, 0)));
    DO(cuEventDestroy(later));
    close_streams(base);
}

PROGRAM(right_polls, "", SAME, UNASKED)
{
    open_streams();
    const CUdeviceptr base = at;
    ORDERED(while (cuStreamQuery(s) == CUDA_ERROR_NOT_READY) sched_yield());
    ORDERED(while (TYPED(cuStreamQuery_ptsz, CUstream)(s) == CUDA_ERROR_NOT_READY) sched_yield());
    ORDERED(DO(cuEventRecord(event, s)); while (cuEventQuery(event) == CUDA_ERROR_NOT_READY) sched_yield());
    close_streams(base);
}

static void CUDA_CB function(void *user)
{
    (void)user;
}

static void CUDA_CB callback(CUstream stream, CUresult result, void *user)
{
    (void)stream, (void)result, (void)user;
}

/* What a driver shows no more than this of may have told something to the host, in memory: nothing is reported. The simulator knows
 * that it has not. */
PROGRAM(told_in_memory, "", "VMM-ORDER-STREAMS", DEVICE)
{
    CUdeviceptr flag;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    open_streams();
    const CUdeviceptr base = at;
    DO(cuMemAlloc(&flag, 16));
    DO(cuMemsetD32(flag, 0, 4));
    DO(cuGraphCreate(&graph, 0));
    DO(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    DO(cuGraphInstantiate(&exec, graph, 0));
    DO(cuCtxSynchronize());
    ORDERED(DO(cuLaunchHostFunc(s, function, NULL)));
    ORDERED(DO(TYPED(cuLaunchHostFunc_ptsz, CUstream, void (*)(void *), void *)(s, function, NULL)));
    ORDERED(DO(cuStreamAddCallback(s, callback, NULL, 0)));
    ORDERED(DO(TYPED(cuStreamAddCallback_ptsz, CUstream, void (*)(CUstream, CUresult, void *), void *, unsigned)(s, callback, NULL, 0)));
    ORDERED(DO(cuGraphLaunch(exec, s)));
    ORDERED(DO(TYPED(cuGraphLaunch_ptsz, CUgraphExec, CUstream)(exec, s)));
    ORDERED(DO(cuStreamWriteValue32(s, flag, 1, 0)));
    ORDERED(DO(TYPED(cuStreamWriteValue32_v2_ptsz, CUstream, CUdeviceptr, uint32_t, unsigned)(s, flag, 1, 0)));
    ORDERED(DO(cuStreamWriteValue64(s, flag + 8, 1, 0)));
    ORDERED(DO(cuStreamWaitValue32(t, flag, 0, CU_STREAM_WAIT_VALUE_GEQ)));
    DO(cuCtxSynchronize());
    ORDERED(DO(TYPED(cuStreamWaitValue64_v2_ptsz, CUstream, CUdeviceptr, uint64_t, unsigned)(t, flag + 8, 0, CU_STREAM_WAIT_VALUE_GEQ)));
    DO(cuCtxSynchronize());
    CUstreamBatchMemOpParams ops[2] = {{.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = flag, .value = 2}},
                                       {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, .address = flag, .value = 2}}};
    ORDERED(DO(cuStreamBatchMemOp(s, 2, ops, 0)));
    DO(cuCtxSynchronize());
    DO(cuGraphExecDestroy(exec));
    DO(cuGraphDestroy(graph));
    DO(cuMemFree(flag));
    close_streams(base);
}

/* A captured stream is given nodes, and no work. */
PROGRAM(right_captures, "", SAME, DEVICE)
{
    CUgraph graph;
    open_streams();
    const CUdeviceptr base = at;
    DO(cuMemsetD8Async(at, 1, BYTES, s));
    DO(cuStreamBeginCapture(t, CU_STREAM_CAPTURE_MODE_RELAXED));
    DO(cuMemsetD8Async(at, 2, BYTES, t));
    DO(cuStreamEndCapture(t, &graph));
    DO(cuGraphDestroy(graph));
    close_streams(base);
}

/* Streams of threads, by the forms for them; and memory of the host that is registered. */
PROGRAM(right_forms_for_threads, "", SAME, DEVICE)
{
    static unsigned char host[2 * PAGE];
    void *page = (void *)(((uintptr_t)host + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    CUcontext context;
    open_streams();
    const CUdeviceptr base = at;
    DO(cuCtxGetCurrent(&context));
    DO(cuMemHostRegister(page, PAGE, 0));
    DO(cuMemcpyHtoDAsync(at, page, BYTES, s));
    DO(cuStreamSynchronize(s));
    DO(cuMemHostUnregister(page));
    DO(TYPED(cuMemsetD2D8_v2_ptds, CUdeviceptr, size_t, unsigned char, size_t, size_t)(at, PITCH, 1, PITCH / 2, ROWS));
    DO(TYPED(cuMemsetD2D16_v2_ptds, CUdeviceptr, size_t, unsigned short, size_t, size_t)(at, PITCH, 1, PITCH / 4, ROWS));
    DO(TYPED(cuMemsetD2D32_v2_ptds, CUdeviceptr, size_t, unsigned, size_t, size_t)(at, PITCH, 1, PITCH / 8, ROWS));
    DO(TYPED(cuMemsetD2D8Async_ptsz, CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream)(at, PITCH, 1, PITCH / 2, ROWS, NULL));
    DO(TYPED(cuMemsetD2D16Async_ptsz, CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream)(at, PITCH, 1, PITCH / 4, ROWS, NULL));
    DO(TYPED(cuMemsetD2D32Async_ptsz, CUdeviceptr, size_t, unsigned, size_t, size_t, CUstream)(at, PITCH, 1, PITCH / 8, ROWS, NULL));
    DO(TYPED(cuMemsetD8Async_ptsz, CUdeviceptr, unsigned char, size_t, CUstream)(at, 1, BYTES, CU_STREAM_PER_THREAD));
    DO(TYPED(cuMemcpyPeerAsync_ptsz, CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream)(at + PAGE, context, at, context, BYTES, NULL));
    DO(TYPED(cuMemcpy3DPeerAsync_ptsz, const CUDA_MEMCPY3D_PEER *, CUstream)(peer_box(context), NULL));
    DO(TYPED(cuStreamSynchronize_ptsz, CUstream)(NULL));
    DO(cuMemsetD8Async(at, 1, BYTES, s));
    close_streams(base);
}

#define REFUSED(name, types, arguments) (void)((CUresult(*) types)named(#name)) arguments

/* Other interfaces that may order work: the simulator lacks them, so they are refused. */
PROGRAM(other_interfaces, "VMM-SET-ALIGNMENT", "VMM-MANAGED-NULL VMM-ORDER-STREAMS VMM-SET-ALIGNMENT", SIM)
{
    open_streams();
    const CUdeviceptr base = at;
    REFUSED(cuSignalExternalSemaphoresAsync, (const void *, const void *, unsigned, CUstream), (NULL, NULL, 0, s));
    REFUSED(cuSignalExternalSemaphoresAsync_ptsz, (const void *, const void *, unsigned, CUstream), (NULL, NULL, 0, s));
    REFUSED(cuWaitExternalSemaphoresAsync, (const void *, const void *, unsigned, CUstream), (NULL, NULL, 0, s));
    REFUSED(cuWaitExternalSemaphoresAsync_ptsz, (const void *, const void *, unsigned, CUstream), (NULL, NULL, 0, s));
    REFUSED(cuGraphicsMapResources, (unsigned, void *, CUstream), (0, NULL, s));
    REFUSED(cuGraphicsUnmapResources_ptsz, (unsigned, void *, CUstream), (0, NULL, s));
    REFUSED(cuStreamAttachMemAsync, (CUstream, CUdeviceptr, size_t, unsigned), (s, 0, 0, 0));
    REFUSED(cuCtxRecordEvent, (CUcontext, CUevent), (NULL, event));
    REFUSED(cuGreenCtxWaitEvent, (void *, CUevent), (NULL, event));
    REFUSED(cuCtxFromGreenCtx, (CUcontext *, void *), (NULL, NULL));
    REFUSED(cuLaunch, (CUfunction), (NULL));
    REFUSED(cuLaunchGrid, (CUfunction, int, int), (NULL, 0, 0));
    REFUSED(cuLaunchGridAsync, (CUfunction, int, int, CUstream), (NULL, 0, 0, s));
    REFUSED(cuLaunchCooperativeKernelMultiDevice, (void *, unsigned, unsigned), (NULL, 0, 0));
    REFUSED(cuGraphAddExternalSemaphoresWaitNode, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const void *), (NULL, NULL, NULL, 0, NULL));
    REFUSED(cuStreamBeginCapture, (CUstream), (s));
    REFUSED(cuMemHostRegister, (void *, size_t, unsigned), (NULL, 0, 0));
    /* The refused fill orders nothing; with a driver it orders everything. */
    DO(cuMemsetD8Async(at, 1, BYTES, s));
    NO(cuMemsetD32Async(at + 1, 1, 1, t));
    DO(cuMemsetD8Async(at, 1, BYTES, t));
    close_streams(base);
}

/* The old forms and those for threads, each in a place where it is right. */
PROGRAM(right_other_forms, "", SAME, SIM)
{
    static const char *const words[] = {"cuStreamWriteValue32", "cuStreamWriteValue32_ptsz", "cuStreamWriteValue32_v2", "cuStreamWriteValue32_v2_ptsz",
                                        "cuStreamWaitValue32", "cuStreamWaitValue32_ptsz", "cuStreamWaitValue32_v2", "cuStreamWaitValue32_v2_ptsz"};
    static const char *const pairs[] = {"cuStreamWriteValue64", "cuStreamWriteValue64_ptsz", "cuStreamWriteValue64_v2", "cuStreamWriteValue64_v2_ptsz",
                                        "cuStreamWaitValue64", "cuStreamWaitValue64_ptsz", "cuStreamWaitValue64_v2", "cuStreamWaitValue64_v2_ptsz"};
    static const char *const batches[] = {"cuStreamBatchMemOp", "cuStreamBatchMemOp_ptsz", "cuStreamBatchMemOp_v2", "cuStreamBatchMemOp_v2_ptsz"};
    static const char *const captures[] = {"cuStreamBeginCapture_v2", "cuStreamBeginCapture_v2_ptsz"};
    static const char *const ends[] = {"cuStreamEndCapture", "cuStreamEndCapture_ptsz"};
    CUevent old;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUcontext context;
    open_streams();
    const CUdeviceptr base = at;
    DO(cuCtxGetCurrent(&context));
    DO(cuMemsetD8(at, 0, PAGE));
    DO(cuCtxSynchronize());
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        /* a driver may have left out the first form */
        (void)((CUresult(*)(CUstream, CUdeviceptr, uint32_t, unsigned))named(words[i]))(s, at, 0, 0);
        (void)((CUresult(*)(CUstream, CUdeviceptr, uint64_t, unsigned))named(pairs[i]))(s, at, 0, 0);
    }
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        CUstreamBatchMemOpParams op = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = at, .value = 2}};
        (void)((CUresult(*)(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned))named(batches[i]))(s, 1, &op, 0);
    }
    for (size_t i = 0; i < 2; i++) {
        DO(((CUresult(*)(CUstream, int))named(captures[i]))(t, CU_STREAM_CAPTURE_MODE_RELAXED));
        DO(cuEventRecordWithFlags(event, t, CU_EVENT_RECORD_EXTERNAL));
        DO(cuStreamWaitEvent(t, event, CU_EVENT_WAIT_EXTERNAL));
        DO(((CUresult(*)(CUstream, CUgraph *))named(ends[i]))(t, &graph));
        DO(cuGraphDestroy(graph));
    }
    DO(cuGraphCreate(&graph, 0));
    DO(TYPED(cuStreamBeginCaptureToGraph_ptsz, CUstream, CUgraph, const void *, const void *, size_t, int)(t, graph, NULL, NULL, 0,
                                                                                                       CU_STREAM_CAPTURE_MODE_RELAXED));
    DO(cuStreamEndCapture(t, &graph));
    DO(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    DO(cuGraphEventRecordNodeSetEvent(node, event));
    DO(cuGraphAddEventWaitNode(&node, graph, &node, 1, event));
    DO(cuGraphInstantiate(&exec, graph, 0));
    DO(cuGraphLaunch(exec, s));
    DO(cuCtxSynchronize());
    DO(cuGraphExecDestroy(exec));
    DO(cuGraphDestroy(graph));
    DO(cuEventCreate(&old, CU_EVENT_DISABLE_TIMING));
    DO(TYPED(cuEventDestroy, CUevent)(old));
    DO(cuStreamCreate(&stream, 0));
    DO(TYPED(cuStreamDestroy, CUstream)(stream));
    DO(TYPED(cuMemcpyPeer_ptds, CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t)(at + PAGE, context, at, context, BYTES));
    DO(TYPED(cuMemcpy3DPeer_ptds, const CUDA_MEMCPY3D_PEER *)(peer_box(context)));
    DO(TYPED(cuCtxSynchronize_v2, CUcontext)(context));
    close_streams(base);
}
