/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture through libcuda.so.1: which calls become nodes, which are refused, and the result of the capture. */
#include <pthread.h>

#include "testing/heard.h"

static CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    OK(cuStreamIsCapturing(stream, &status));
    return status;
}

static void test_nothing_in_it(CUstream stream, CUstreamCaptureMode mode)
{
    CUgraph graph = NULL;
    CUdeviceptr p = 0;
    OK(cuStreamBeginCapture(stream, mode));
    EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemAddressReserve(&p, 2 << 20, 0, 0, 0)); /* as measured */
    OK(cuMemAddressFree(p, 2 << 20));
    IS(cuStreamBeginCapture(stream, mode), ERROR_ILLEGAL_STATE);
    OK(cuStreamEndCapture(stream, &graph));
    EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuGraphDestroy(graph));
    IS(cuGraphDestroy(graph), ERROR_INVALID_VALUE);
    IS(cuStreamEndCapture(stream, &graph), ERROR_ILLEGAL_STATE);
    tap_ok(graph == NULL, "no graph is returned during the capture");
    OK(cuStreamBeginCapture(stream, mode));
    OK(cuStreamEndCapture(stream, NULL)); /* the caller wants no graph */
    OK(cuStreamSynchronize(stream));
}

/* The call is refused with `code` and ends the capture; memory at p is unchanged. */
static void test_invalidated(CUstream stream, CUdeviceptr p, CUresult (*call)(CUstream, CUdeviceptr), CUresult code)
{
    CUgraph graph = (CUgraph)8;
    OK(cuMemsetD8(p, 0x11, 64));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EQUAL(call(stream, p), code);
    EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    IS(cuMemsetD8Async(p, 0, 1, stream), ERROR_STREAM_CAPTURE_INVALIDATED);
    IS(cuStreamEndCapture(stream, &graph), ERROR_STREAM_CAPTURE_INVALIDATED);
    tap_ok(!graph, "the capture yields no graph");
    OK(cuStreamSynchronize(stream));
    EQUAL(byte_at(p), 0x11);
}

static CUresult fill(CUstream stream, CUdeviceptr p)
{
    return cuMemsetD8Async(p, 0x22, 64, stream);
}

static CUresult copy(CUstream stream, CUdeviceptr p)
{
    static const char bytes[64] = {0x33};
    return cuMemcpyHtoDAsync(p, bytes, sizeof bytes, stream);
}

static char bytes[64];

static CUresult copy_any(CUstream stream, CUdeviceptr p)
{
    return cuMemcpyAsync(p, (CUdeviceptr)(uintptr_t)bytes, sizeof bytes, stream);
}

static CUresult copy_back(CUstream stream, CUdeviceptr p)
{
    return cuMemcpyDtoHAsync(bytes, p, sizeof bytes, stream);
}

static CUresult copy_within(CUstream stream, CUdeviceptr p)
{
    return cuMemcpyDtoDAsync(p, p + 32, 32, stream);
}

static CUresult copy_peer(CUstream stream, CUdeviceptr p)
{
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    return cuMemcpyPeerAsync(p, context, p + 32, context, 32, stream);
}

static CUresult copy_rows(CUstream stream, CUdeviceptr p)
{
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = bytes, .srcPitch = 8,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = p, .dstPitch = 8,
                                .WidthInBytes = 8, .Height = 8};
    return cuMemcpy2DAsync(&copy, stream);
}

static CUresult fill_words(CUstream stream, CUdeviceptr p)
{
    return cuMemsetD32Async(p, 0x22222222, 16, stream);
}

static CUresult fill_halves(CUstream stream, CUdeviceptr p)
{
    return cuMemsetD16Async(p, 0x2222, 32, stream);
}

static CUresult fill_rows(CUstream stream, CUdeviceptr p)
{
    return cuMemsetD2D8Async(p, 8, 0x22, 8, 8, stream);
}

static CUresult fill_rows_of_halves(CUstream stream, CUdeviceptr p)
{
    return cuMemsetD2D16Async(p, 8, 0x2222, 4, 8, stream);
}

static CUresult fill_rows_of_words(CUstream stream, CUdeviceptr p)
{
    return cuMemsetD2D32Async(p, 8, 0x22222222, 2, 8, stream);
}

static int calls;

static void count_call(void *user)
{
    (void)user;
    calls++;
}

static CUresult call_host(CUstream stream, CUdeviceptr p)
{
    (void)p;
    return cuLaunchHostFunc(stream, count_call, NULL);
}

static void never_called(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    (void)status;
    (void)user;
    tap_ok(false, "the callback is not called");
}

static CUresult call_back(CUstream stream, CUdeviceptr p)
{
    (void)p;
    return cuStreamAddCallback(stream, never_called, NULL, 0);
}

static CUevent event;

static CUresult wait_event(CUstream stream, CUdeviceptr p)
{
    (void)p;
    return cuStreamWaitEvent(stream, event, 0);
}

static CUresult record(CUstream stream, CUdeviceptr p)
{
    (void)p;
    return cuEventRecord(event, stream);
}

static CUresult record_with_flags(CUstream stream, CUdeviceptr p)
{
    (void)p;
    return cuEventRecordWithFlags(event, stream, 0);
}

static CUresult record_outside(CUstream stream, CUdeviceptr p)
{
    (void)p;
    return cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL);
}

static CUresult wait_outside(CUstream stream, CUdeviceptr p)
{
    (void)p;
    return cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL);
}

/* The call becomes that many nodes, and nothing happens until the graph is launched; then the first byte changes. */
static void test_captured(CUstream stream, CUdeviceptr p, CUresult (*call)(CUstream, CUdeviceptr), size_t nodes, int byte)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    size_t count = 77;
    calls = 0;
    OK(cuMemsetD8(p, 0x11, 64));
    OK(cuMemsetD8(p + 32, 0x44, 32));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(call(stream, p));
    EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuStreamEndCapture(stream, &graph));
    EQUAL(byte_at(p), 0x11);
    OK(cuGraphGetNodes(graph, NULL, &count));
    EQUAL(count, nodes);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(byte_at(p), byte);
    EQUAL(calls, call == call_host);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventRecord(event, stream)); /* which a captured record may have left without a stream */
}

static CUresult query(CUstream stream, CUdeviceptr p)
{
    (void)p;
    return cuStreamQuery(stream);
}

static CUresult synchronize(CUstream stream, CUdeviceptr p)
{
    (void)p;
    return cuStreamSynchronize(stream);
}

static void *end_elsewhere(void *stream)
{
    CUgraph graph = NULL;
    CUresult result = cuStreamEndCapture(stream, &graph);
    if (result == CUDA_SUCCESS)
        cuGraphDestroy(graph);
    return (void *)(uintptr_t)result;
}

static void test_threads(CUstream stream, CUstreamCaptureMode mode, CUresult code)
{
    pthread_t thread;
    void *result;
    CUgraph graph;
    OK(cuStreamBeginCapture(stream, mode));
    pthread_create(&thread, NULL, end_elsewhere, stream);
    pthread_join(thread, &result);
    EQUAL((uintptr_t)result, code);
    if (code != CUDA_SUCCESS && cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS)
        OK(cuGraphDestroy(graph));
}

static void test_streams(void)
{
    CUgraph graph = NULL;
    IS(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuStreamBeginCapture((CUstream)(uintptr_t)0x99, CU_STREAM_CAPTURE_MODE_RELAXED), ERROR_INVALID_HANDLE);
    OK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EQUAL(status_of(CU_STREAM_PER_THREAD), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    IS(cuStreamIsCapturing(NULL, &status), ERROR_STREAM_CAPTURE_IMPLICIT); /* and the capture continues */
    EQUAL(status, 9);
    OK(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    OK(cuGraphDestroy(graph));
}

/* Graphs can be destroyed in any order; one that is never destroyed is freed with the library. */
/* The legacy stream is never captured, and an invalid stream has no capture to end. */
static void test_not_captured(void)
{
    CUstream legacy[] = {NULL, (CUstream)(uintptr_t)1}, none = (CUstream)(uintptr_t)0x1230;
    for (int i = 0; i < 2; i++) {
        CUgraph graph = (CUgraph)(uintptr_t)7;
        IS(cuStreamBeginCapture(legacy[i], CU_STREAM_CAPTURE_MODE_RELAXED), ERROR_STREAM_CAPTURE_UNSUPPORTED);
        IS(cuStreamEndCapture(legacy[i], &graph), ERROR_ILLEGAL_STATE);
        tap_ok(!graph, "no graph is returned");
    }
    CUgraph graph = (CUgraph)(uintptr_t)7;
    IS(cuStreamEndCapture(none, &graph), ERROR_INVALID_HANDLE);
    tap_ok(!graph, "an invalid stream yields no graph either");
}

static void test_graphs(CUstream stream)
{
    CUgraph graph[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        OK(cuStreamEndCapture(stream, &graph[i]));
    }
    OK(cuGraphDestroy(graph[0]));
    IS(cuGraphDestroy(graph[0]), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph[1]));
}

static void ends_invalid(CUstream stream)
{
    CUgraph graph = NULL;
    EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    IS(cuStreamEndCapture(stream, &graph), ERROR_STREAM_CAPTURE_INVALIDATED);
    tap_ok(!graph, "no graph");
}

/* Waits for events of captures that are active, invalid or ended. */
static void test_events(CUstream stream)
{
    const CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUstream other = NULL;
    CUevent captured = NULL, plain = NULL;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&captured, 0));
    OK(cuEventCreate(&plain, 0));
    OK(cuEventRecord(plain, other));

    OK(cuStreamBeginCapture(stream, relaxed));
    IS(cuStreamWaitEvent(other, NULL, 0), ERROR_INVALID_HANDLE);
    OK(cuStreamWaitEvent(other, plain, 0));
    EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE); /* the other stream's concern */
    IS(cuEventRecord(NULL, stream), ERROR_INVALID_HANDLE);
    IS(cuStreamWaitEvent(stream, NULL, 0), ERROR_INVALID_HANDLE);
    ends_invalid(stream);

    OK(cuStreamBeginCapture(stream, relaxed));
    IS(cuStreamWaitEvent(stream, plain, 6), ERROR_INVALID_VALUE);
    OK(cuEventRecord(captured, stream));
    IS(cuStreamWaitEvent(other, captured, 6), ERROR_INVALID_VALUE);
    IS(cuStreamWaitEvent(other, plain, 6), ERROR_INVALID_VALUE);
    IS(cuStreamWaitEvent(CU_STREAM_LEGACY, captured, 0), ERROR_STREAM_CAPTURE_IMPLICIT);
    IS(cuStreamWaitEvent(other, captured, 0), ERROR_INVALID_VALUE); /* as if the capture had ended */
    ends_invalid(stream);

    OK(cuStreamBeginCapture(stream, relaxed));
    OK(cuEventRecord(captured, stream));
    IS(cuStreamWaitEvent(NULL, captured, 0), ERROR_STREAM_CAPTURE_IMPLICIT);
    ends_invalid(stream);

    OK(cuStreamBeginCapture(stream, relaxed));
    OK(cuEventRecord(captured, stream));
    OK(cuStreamWaitEvent(CU_STREAM_PER_THREAD, captured, 0)); /* which joins */
    EQUAL(status_of(CU_STREAM_PER_THREAD), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuStreamEndCapture(stream, NULL));

    float time = 7;
    CUevent gone = NULL;
    OK(cuEventCreate(&gone, 0));
    OK(cuEventDestroy(gone));
    OK(cuStreamBeginCapture(stream, relaxed));
    REFUSED(cuEventRecord(gone, stream), ERROR_INVALID_HANDLE, "VMM-EVENT-UNKNOWN");
    EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuStreamEndCapture(stream, NULL));
    OK(cuStreamBeginCapture(stream, relaxed));
    OK(cuEventRecord(captured, stream));
    IS(cuEventElapsedTime(&time, plain, captured), ERROR_CAPTURED_EVENT);
    tap_ok(time > 6 && time < 8, "no time is returned");
    ends_invalid(stream);

    IS(cuStreamWaitEvent(other, captured, CU_EVENT_WAIT_EXTERNAL), ERROR_INVALID_VALUE);
    IS(cuStreamWaitEvent(other, captured, 0), ERROR_INVALID_VALUE);
    OK(cuStreamBeginCapture(stream, relaxed));
    IS(cuStreamWaitEvent(stream, captured, 0), ERROR_INVALID_VALUE);
    ends_invalid(stream);
    OK(cuEventDestroy(plain));
    OK(cuEventDestroy(captured));
    OK(cuStreamDestroy(other));
}

/* A stream is reported to have reached nodes of its own graph only. */
static void test_update(CUstream stream)
{
    const unsigned set = CU_STREAM_SET_CAPTURE_DEPENDENCIES;
    CUgraph other = NULL;
    CUgraphNode foreign = NULL, none = (CUgraphNode)(uintptr_t)0x1230;
    OK(cuGraphCreate(&other, 0));
    OK(cuGraphAddEmptyNode(&foreign, other, NULL, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuStreamUpdateCaptureDependencies(stream, &foreign, NULL, 1, set), ERROR_INVALID_VALUE);
    IS(cuStreamUpdateCaptureDependencies(stream, &none, NULL, 1, set), ERROR_INVALID_VALUE);
    IS(cuStreamUpdateCaptureDependencies((CUstream)none, NULL, NULL, 0, set), ERROR_INVALID_HANDLE);
    IS(cuStreamUpdateCaptureDependencies(NULL, NULL, NULL, 0, set), ERROR_ILLEGAL_STATE);
    IS(cuStreamUpdateCaptureDependencies(CU_STREAM_LEGACY, NULL, NULL, 0, set), ERROR_ILLEGAL_STATE);
    OK(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, set));
    OK(cuStreamEndCapture(stream, NULL));
    OK(cuGraphDestroy(other));
}

/* Work without bytes is not a node; a pitch that no fill could have is refused; and so is all work of an invalid capture. */
static void test_extents(CUstream stream, CUdeviceptr p)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = p, .srcPitch = 8,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = p + 32, .dstPitch = 8, .WidthInBytes = 8};
    CUgraph graph = NULL;
    size_t count = 7;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemsetD8Async(p, 1, 0, stream));
    OK(cuMemsetD2D8Async(p, 8, 1, 8, 0, stream));
    OK(cuMemcpy2DAsync(&copy, stream));
    copy.Height = 1;
    copy.WidthInBytes = 0;
    OK(cuMemcpy2DAsync(&copy, stream));
    IS(cuMemsetD2D16Async(p, 9, 1, 4, 2, stream), ERROR_INVALID_VALUE);
    IS(cuMemsetD2D16Async(p, 4, 1, 4, 2, stream), ERROR_INVALID_VALUE);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &count));
    EQUAL(count, 0);
    OK(cuGraphDestroy(graph));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuStreamQuery(stream), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuLaunchHostFunc(stream, count_call, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    ends_invalid(stream);
}

int main(void)
{
    begin();
    CUstream stream = NULL;
    CUdeviceptr p = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, 64));
    listen();
    REFUSED(cuStreamBeginCapture(stream, (CUstreamCaptureMode)3), ERROR_INVALID_VALUE, "VMM-CAPTURE-MODE");
    REFUSED(cuStreamIsCapturing(stream, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    REFUSED(cuStreamGetCaptureInfo(stream, NULL, NULL, NULL, NULL, NULL, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    for (int mode = 0; mode < 3; mode++)
        test_nothing_in_it(stream, (CUstreamCaptureMode)mode);
    OK(cuEventCreate(&event, 0));
    OK(cuStreamSynchronize(stream));
    static const struct {
        CUresult (*call)(CUstream stream, CUdeviceptr p);
        size_t nodes;
        int byte;
    } works[] = {{fill, 1, 0x22}, {fill_halves, 1, 0x22}, {fill_words, 1, 0x22}, {fill_rows, 1, 0x22},
                 {fill_rows_of_halves, 1, 0x22}, {fill_rows_of_words, 1, 0x22}, {copy, 1, 0x33}, {copy_any, 1, 0x55},
                 {copy_back, 1, 0x11}, {copy_within, 1, 0x44}, {copy_rows, 1, 0x55}, {call_host, 1, 0x11}, {record, 0, 0x11},
                 {record_with_flags, 0, 0x11}, {record_outside, 1, 0x11}, {wait_outside, 1, 0x11}};
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        memset(bytes, 0x55, sizeof bytes);
        test_captured(stream, p, works[i].call, works[i].nodes, works[i].byte);
    }
    test_invalidated(stream, p, copy_peer, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    test_invalidated(stream, p, call_back, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    OK(cuEventRecord(event, stream));
    test_invalidated(stream, p, wait_event, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    test_invalidated(stream, p, query, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    test_invalidated(stream, p, synchronize, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    test_threads(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    test_threads(stream, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS);
    test_streams();
    test_graphs(stream);
    test_not_captured();
    test_events(stream);
    test_update(stream);
    test_extents(stream, p);
    OK(cuEventDestroy(event));
    OK(cuMemFree(p));
    OK(cuStreamDestroy(stream));
    return tap_done();
}
