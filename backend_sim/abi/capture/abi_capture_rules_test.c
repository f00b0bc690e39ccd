/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of events and captures (rule_tests.h). */
#include <pthread.h>

#include "testing/rule_tests.h"

/* ---- events and captures ---- */

TEST_BREAKS(EVENT_ELAPSED, event_elapsed_broken)
{
    CUevent untimed, unused, event;
    float time = 0;
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&unused, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(untimed, stream));
    OK(cuEventRecord(event, stream));
    OK(cuStreamSynchronize(stream));
    REFUSED(cuEventElapsedTime(&time, untimed, event), ERROR_INVALID_HANDLE);
    REFUSED(cuEventElapsedTime(&time, event, unused), ERROR_INVALID_HANDLE);
    REFUSED(cuEventElapsedTime(NULL, event, event), ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(untimed));
    OK(cuEventDestroy(unused));
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(EVENT_ELAPSED, event_elapsed_kept)
{
    CUevent event;
    float time = -1;
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(event, stream));
    OK(cuStreamSynchronize(stream));
    ACCEPTED(cuEventElapsedTime(&time, event, event));
    OK(cuEventDestroy(event));
}

/* Ends the capture of `stream`, expecting this result, and destroys the graph, which exists only on success. */
static void end_captured(CUresult answer)
{
    CUgraph graph = NULL;
    CUresult result = cuStreamEndCapture(stream, &graph);
    answers(__FILE__, __LINE__, "cuStreamEndCapture(stream, &graph)", result, answer);
    EQUAL(graph != NULL, answer == CUDA_SUCCESS);
    if (graph)
        OK(cuGraphDestroy(graph));
}

/* Does something while `stream` is being captured; then ends the capture, expecting that result. */
#define CAPTURING(mode, ends, something)                                          \
    do {                                                                          \
        OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_##mode));          \
        something;                                                                \
        end_captured(CUDA_##ends);                                                \
    } while (0)
#define CAPTURED(something) CAPTURING(RELAXED, SUCCESS, something)
#define INVALIDATED(mode, something) CAPTURING(mode, ERROR_STREAM_CAPTURE_INVALIDATED, something)

TEST_BREAKS(CAPTURE_FORBIDS, capture_forbids_broken)
{
    CUdeviceptr more = 0;
    INVALIDATED(GLOBAL, REFUSED(cuMemAlloc(&more, 64), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(RELAXED, REFUSED(cuStreamSynchronize(stream), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(THREAD_LOCAL, REFUSED(cuProfilerStart(), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(GLOBAL, REFUSED(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(GLOBAL, REFUSED(cuModuleUnload(NULL), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(GLOBAL, REFUSED(cuLibraryUnload(NULL), ERROR_STREAM_CAPTURE_UNSUPPORTED));
}

TEST_NEAR_MISS(CAPTURE_FORBIDS, capture_forbids_kept)
{
    CUdeviceptr more = 0;
    CAPTURED(ACCEPTED(cuMemAlloc(&more, 64)));
    OK(cuMemFree(more));
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CAPTURING(GLOBAL, SUCCESS, ACCEPTED(cuMemAlloc(&more, 64)));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuMemFree(more));
    CAPTURING(GLOBAL, SUCCESS, ACCEPTED(cuCtxResetPersistingL2Cache()));
}

TEST_BREAKS(CAPTURE_INVALIDATED, capture_invalidated_broken)
{
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuStreamQuery(stream), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REFUSED(cuMemsetD8Async(memory, 1, 4, stream), ERROR_STREAM_CAPTURE_INVALIDATED);
    REFUSED(cuStreamEndCapture(stream, &graph), ERROR_STREAM_CAPTURE_INVALIDATED);
    tap_ok(!graph, "and no graph exists");
}

TEST_NEAR_MISS(CAPTURE_INVALIDATED, capture_invalidated_kept)
{
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(CAPTURE_DEFAULT, capture_default_broken)
{
    REFUSED(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED), ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_NEAR_MISS(CAPTURE_DEFAULT, capture_default_kept)
{
    ACCEPTED(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamEndCapture(CU_STREAM_PER_THREAD, NULL));
}

TEST_BREAKS(CAPTURE_STATE, capture_state_broken)
{
    CUevent event;
    REFUSED(cuStreamEndCapture(stream, NULL), ERROR_ILLEGAL_STATE);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), ERROR_ILLEGAL_STATE);
    OK(cuStreamEndCapture(stream, NULL));
    OK(cuEventCreate(&event, 0));
    REFUSED(cuEventRecordWithFlags(event, stream, 1), ERROR_ILLEGAL_STATE);
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(CAPTURE_STATE, capture_state_kept)
{
    CUevent event;
    OK(cuEventCreate(&event, 0));
    ACCEPTED(cuEventRecordWithFlags(event, stream, 0));
    ACCEPTED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(cuStreamEndCapture(stream, NULL));
    OK(cuEventDestroy(event));
}

static void *end_capture(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(first));
    lines = 0;
    return (void *)(uintptr_t)cuStreamEndCapture(stream, NULL);
}

static CUresult end_on_another_thread(void)
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, end_capture, NULL))
        abort();
    pthread_join(thread, &result);
    return (CUresult)(uintptr_t)result;
}

TEST_BREAKS(CAPTURE_THREAD, capture_thread_broken)
{
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    REFUSED(end_on_another_thread(), ERROR_STREAM_CAPTURE_WRONG_THREAD);
    IS(cuStreamEndCapture(stream, NULL), ERROR_ILLEGAL_STATE); /* it has ended */
}

TEST_NEAR_MISS(CAPTURE_THREAD, capture_thread_kept)
{
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(end_on_another_thread());
}

static CUgraph empty_graph(void)
{
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamEndCapture(stream, &graph));
    return graph;
}

TEST_BREAKS(GRAPH_UNKNOWN, graph_unknown_broken)
{
    CUgraph graph = empty_graph();
    OK(cuGraphDestroy(graph));
    REFUSED(cuGraphDestroy(graph), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(GRAPH_UNKNOWN, graph_unknown_kept)
{
    ACCEPTED(cuGraphDestroy(empty_graph()));
}

/* ---- captures of several streams ---- */

static CUstream new_stream(void)
{
    CUstream made = NULL;
    OK(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
    return made;
}

static CUevent new_event(void)
{
    CUevent made = NULL;
    OK(cuEventCreate(&made, 0));
    return made;
}

static void begin_capture(CUstream of)
{
    OK(cuStreamBeginCapture(of, CU_STREAM_CAPTURE_MODE_RELAXED));
}

/* The second stream waits for the first one's work. */
static void follow(CUstream after, CUstream before)
{
    CUevent event = new_event();
    OK(cuEventRecord(event, before));
    OK(cuStreamWaitEvent(after, event, 0));
    OK(cuEventDestroy(event));
}

static void forked(CUstream fork)
{
    begin_capture(stream);
    follow(fork, stream);
    OK(cuMemsetD8Async(memory, 1, 4, fork));
}

TEST_BREAKS(CAPTURE_UNJOINED, capture_unjoined_broken)
{
    CUstream fork = new_stream();
    forked(fork);
    REFUSED(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_UNJOINED);
    OK(cuStreamDestroy(fork));
}

TEST_NEAR_MISS(CAPTURE_UNJOINED, capture_unjoined_kept)
{
    CUstream fork = new_stream();
    forked(fork);
    follow(stream, fork);
    ACCEPTED(cuStreamEndCapture(stream, NULL));
    OK(cuStreamDestroy(fork));
}

TEST_BREAKS(CAPTURE_UNMATCHED, capture_unmatched_broken)
{
    CUstream fork = new_stream();
    forked(fork);
    REFUSED(cuStreamEndCapture(fork, NULL), ERROR_STREAM_CAPTURE_UNMATCHED);
    IS(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamDestroy(fork));
}

TEST_NEAR_MISS(CAPTURE_UNMATCHED, capture_unmatched_kept)
{
    begin_capture(stream);
    ACCEPTED(cuStreamEndCapture(stream, NULL));
}

TEST_BREAKS(CAPTURE_MERGE, capture_merge_broken)
{
    CUstream other = new_stream();
    CUevent event = new_event();
    begin_capture(stream);
    begin_capture(other);
    OK(cuEventRecord(event, other));
    REFUSED(cuStreamWaitEvent(stream, event, 0), ERROR_STREAM_CAPTURE_MERGE);
    IS(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    IS(cuStreamEndCapture(other, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(other));
}

TEST_NEAR_MISS(CAPTURE_MERGE, capture_merge_kept)
{
    CUstream other = new_stream();
    CUevent event = new_event();
    begin_capture(stream);
    OK(cuEventRecord(event, stream));
    ACCEPTED(cuStreamWaitEvent(other, event, 0));
    OK(cuStreamEndCapture(stream, NULL));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(other));
}

TEST_BREAKS(CAPTURE_ISOLATION, capture_isolation_broken)
{
    CUevent event = new_event();
    OK(cuEventRecord(event, NULL));
    INVALIDATED(RELAXED, REFUSED(cuStreamWaitEvent(stream, event, 0), ERROR_STREAM_CAPTURE_ISOLATION));
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(CAPTURE_ISOLATION, capture_isolation_kept)
{
    CUevent event = new_event();
    OK(cuEventRecord(event, NULL));
    CAPTURED(ACCEPTED(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL)));
    OK(cuEventDestroy(event));
}

TEST_BREAKS(CAPTURE_IMPLICIT, capture_implicit_broken)
{
    CUstream blocking = NULL;
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    begin_capture(blocking);
    REFUSED(cuMemsetD8(memory, 1, 4), ERROR_STREAM_CAPTURE_IMPLICIT);
    IS(cuStreamEndCapture(blocking, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    CUstreamCaptureStatus status;
    begin_capture(blocking);
    REFUSED(cuStreamIsCapturing(NULL, &status), ERROR_STREAM_CAPTURE_IMPLICIT);
    REFUSED(cuStreamGetCaptureInfo(CU_STREAM_LEGACY, &status, NULL, NULL, NULL, NULL, NULL), ERROR_STREAM_CAPTURE_IMPLICIT);
    OK(cuStreamEndCapture(blocking, NULL));
    OK(cuStreamDestroy(blocking));
}

/* Copies from and to arrays that the host waits for. */
TEST_BREAKS(CAPTURE_IMPLICIT, capture_implicit_broken_by_arrays)
{
    const CUDA_ARRAY3D_DESCRIPTOR is = {.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    unsigned char bytes[16] = {0};
    CUarray array = NULL, other = NULL;
    CUstream blocking = NULL;
    OK(cuArray3DCreate(&array, &is));
    OK(cuArray3DCreate(&other, &is));
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
#define SPOILS(call)                                                                       \
    begin_capture(blocking);                                                               \
    REFUSED(call, ERROR_STREAM_CAPTURE_IMPLICIT);                                          \
    IS(cuStreamEndCapture(blocking, NULL), ERROR_STREAM_CAPTURE_INVALIDATED)
    SPOILS(cuMemcpyHtoA(array, 0, bytes, sizeof bytes));
    SPOILS(cuMemcpyAtoH(bytes, array, 0, sizeof bytes));
    SPOILS(cuMemcpyDtoA(array, 0, memory, sizeof bytes));
    SPOILS(cuMemcpyAtoD(memory, array, 0, sizeof bytes));
    SPOILS(cuMemcpyAtoA(array, 0, other, 0, sizeof bytes));
#undef SPOILS
    OK(cuStreamDestroy(blocking));
    OK(cuArrayDestroy(other));
    OK(cuArrayDestroy(array));
}

TEST_NEAR_MISS(CAPTURE_IMPLICIT, capture_implicit_kept)
{
    CUstream beside = new_stream();
    begin_capture(beside);
    CUstreamCaptureStatus status;
    ACCEPTED(cuMemsetD8(memory, 1, 4));
    ACCEPTED(cuStreamIsCapturing(NULL, &status));
    OK(cuStreamEndCapture(beside, NULL));
    OK(cuStreamDestroy(beside));
}

TEST_BREAKS(CAPTURED_EVENT, captured_event_broken)
{
    CUevent event = new_event();
    INVALIDATED(RELAXED, {
        OK(cuEventRecord(event, stream));
        REFUSED(cuEventQuery(event), ERROR_CAPTURED_EVENT);
    });
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(CAPTURED_EVENT, captured_event_kept)
{
    CUevent event = new_event();
    OK(cuEventRecord(event, NULL));
    CAPTURED(ACCEPTED(cuEventSynchronize(event)));
    OK(cuEventDestroy(event));
}

TEST_BREAKS(CAPTURED_EVENT_OVER, captured_event_over_broken)
{
    CUevent event = new_event();
    CAPTURED(OK(cuEventRecord(event, stream)));
    REFUSED(cuEventQuery(event), ERROR_INVALID_VALUE);
    REFUSED(cuStreamWaitEvent(stream, event, 0), ERROR_INVALID_VALUE);
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(CAPTURED_EVENT_OVER, captured_event_over_kept)
{
    CUevent event = new_event();
    CAPTURED(OK(cuEventRecord(event, stream)));
    OK(cuEventRecord(event, stream));
    ACCEPTED(cuEventSynchronize(event));
    OK(cuEventDestroy(event));
}

int main(void)
{
    return rule_tests();
}
