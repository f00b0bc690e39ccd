/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and host functions through libcuda.so.1. */
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "testing/rig.h"

struct seen {
    int calls;
    CUstream stream;
    CUresult status;
    void *user;
};

static struct seen seen;

static void callback(CUstream stream, CUresult status, void *user)
{
    seen = (struct seen){seen.calls + 1, stream, status, user};
}

static void host_function(void *user)
{
    *(int *)user += 1;
}

static void test_created(CUcontext context)
{
    CUstream stream = NULL, fast = NULL;
    CUcontext of = NULL;
    CUdevice device = -1;
    CUstreamCaptureStatus capture;
    unsigned flags = 9;
    int priority = 9;
    unsigned long long first = 0, second = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreateWithPriority(&fast, CU_STREAM_DEFAULT, -100));
    OK(cuStreamGetFlags(stream, &flags));
    EQUAL(flags, CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetPriority(fast, &priority));
    tap_ok(priority == -5, "a priority is clamped to the range");
    OK(cuStreamGetPriority(stream, &priority));
    EQUAL(priority, 0);
    OK(cuStreamGetCtx(fast, &of));
    tap_ok(of == context, "a stream belongs to its context");
    OK(cuStreamGetCtx(NULL, &of));
    tap_ok(of == context, "the default stream belongs to the current context");
    OK(cuStreamGetDevice(fast, &device));
    EQUAL(device, 0);
    OK(cuStreamGetId(stream, &first));
    OK(cuStreamGetId(fast, &second));
    tap_ok(first != second, "streams have different ids");
    OK(cuStreamIsCapturing(fast, &capture));
    EQUAL(capture, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamDestroy(stream));
    IS(cuStreamGetFlags(stream, &flags), ERROR_INVALID_HANDLE);
    IS(cuStreamGetFlags(fast, NULL), ERROR_INVALID_VALUE);
    OK(cuStreamDestroy(fast));
    IS(cuStreamDestroy(fast), ERROR_INVALID_HANDLE);
}

static void test_functions(void)
{
    CUstream stream = NULL;
    int count = 0;
    OK(cuStreamCreate(&stream, 0));
    OK(cuLaunchHostFunc(stream, host_function, &count));
    OK(cuStreamAddCallback(stream, callback, &count, 0));
    IS(cuStreamAddCallback(stream, callback, &count, 1), ERROR_INVALID_VALUE);
    IS(cuStreamAddCallback(stream, NULL, &count, 0), ERROR_INVALID_VALUE);
    EQUAL(seen.calls, 0);
    OK(cuStreamSynchronize(stream));
    EQUAL(count, 1);
    tap_ok(seen.calls == 1 && seen.stream == stream && seen.status == CUDA_SUCCESS && seen.user == &count,
           "the callback receives its stream and its data");
    OK(cuStreamDestroy(stream));
    IS(cuStreamAddCallback(stream, callback, &count, 0), ERROR_INVALID_HANDLE);
}

static void test_events(void)
{
    CUevent start = NULL, end = NULL, untimed = NULL;
    float milliseconds = -1;
    CUdeviceptr at = 0;
    OK(cuMemAlloc(&at, 64));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    IS(cuEventElapsedTime(&milliseconds, start, end), ERROR_INVALID_HANDLE);
    OK(cuEventRecord(start, NULL));
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    OK(cuMemsetD8Async(at, 1, 64, NULL));
    OK(cuEventRecordWithFlags(end, NULL, 0));
    IS(cuEventElapsedTime(&milliseconds, start, end), ERROR_NOT_READY);
    OK(cuStreamWaitEvent(NULL, end, 0));
    OK(cuEventSynchronize(end));
    OK(cuEventQuery(end));
    OK(cuEventElapsedTime(&milliseconds, start, end));
    tap_ok(milliseconds >= 1, "a stream that is idle comes to an event at once: %.3f ms", (double)milliseconds);
    OK(cuEventRecord(untimed, NULL));
    IS(cuEventElapsedTime(&milliseconds, start, untimed), ERROR_INVALID_HANDLE);
    IS(cuEventElapsedTime(&milliseconds, start, (CUevent)(uintptr_t)0x99), ERROR_INVALID_HANDLE);
    IS(cuEventElapsedTime(NULL, start, end), ERROR_INVALID_HANDLE);
    IS(cuEventRecordWithFlags(end, NULL, CU_EVENT_RECORD_EXTERNAL), ERROR_ILLEGAL_STATE);
    IS(cuEventRecordWithFlags(end, NULL, 2), ERROR_INVALID_VALUE);
    OK(cuEventDestroy(start));
    OK(cuEventDestroy(end));
    IS(cuEventDestroy(end), ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(untimed));
    OK(cuMemFree(at));
}

/* Takes 2 ms. */
static void work(void *user)
{
    struct timespec now, began;
    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        *(int *)user += 1;
    } while ((now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec < 2000000);
}

static float between(CUevent start, CUevent end)
{
    float milliseconds = -1e9f;
    OK(cuEventElapsedTime(&milliseconds, start, end));
    return milliseconds;
}

/* The time at which the stream reached the events counts, not when the program recorded them. */
static void test_elapsed(void)
{
    CUstream stream = NULL;
    CUevent start = NULL, middle = NULL, end = NULL;
    float whole, again, milliseconds = 77;
    int turns = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&middle, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventRecord(start, stream));
    OK(cuLaunchHostFunc(stream, work, &turns));
    OK(cuEventRecord(middle, stream));
    OK(cuLaunchHostFunc(stream, work, &turns));
    OK(cuEventRecord(end, stream));
    IS(cuEventElapsedTime(&milliseconds, start, end), ERROR_NOT_READY);
    OK(cuEventSynchronize(middle));
    IS(cuEventElapsedTime(&milliseconds, start, end), ERROR_NOT_READY);
    tap_ok(milliseconds == 77, "nothing is written while an event is not reached");
    OK(cuStreamSynchronize(stream));
    tap_ok(between(start, middle) >= 2 && between(middle, end) >= 2 && between(start, end) >= 4,
           "the work between two events takes its time: %.4f ms, %.4f ms",
           (double)between(start, middle),
           (double)between(middle, end));
    whole = between(start, end);
    tap_ok(between(end, start) == -whole && between(start, start) == 0, "the time has a sign");
    double units = (double)whole * 1e6 / 500;
    tap_ok(units - (double)(uint64_t)(units + 0.5) < 0.01, "the resolution is half a microsecond: %.3f units", units);

    /* recorded once more: the old time no longer counts, whether the event is waited for or not */
    OK(cuEventRecord(start, stream));
    OK(cuLaunchHostFunc(stream, work, &turns));
    OK(cuEventRecord(start, stream));
    IS(cuEventElapsedTime(&milliseconds, start, end), ERROR_NOT_READY);
    OK(cuStreamSynchronize(stream));
    again = between(end, start);
    tap_ok(again >= 2, "an event that was recorded twice has the time of the second: %.3f ms", (double)again);
    OK(cuEventRecord(end, stream));
    tap_ok(between(start, end) >= 0, "an event on an idle stream is reached at once");
    OK(cuEventDestroy(start));
    OK(cuEventRecord(middle, stream));
    OK(cuLaunchHostFunc(stream, work, &turns));
    OK(cuEventRecord(middle, stream));
    OK(cuEventDestroy(middle));
    OK(cuStreamSynchronize(stream)); /* which no measurement counts */
    OK(cuEventDestroy(end));
    OK(cuStreamDestroy(stream));
}

/* Events that are nodes of a graph have the times of its launch. */
static void test_elapsed_in_graph(void)
{
    CUstream stream = NULL;
    CUevent start = NULL, end = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node[3];
    float first, second;
    int turns = 0;
    const CUDA_HOST_NODE_PARAMS host = {.fn = work, .userData = &turns};
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEventRecordNode(&node[0], graph, NULL, 0, start));
    OK(cuGraphAddHostNode(&node[1], graph, &node[0], 1, &host));
    OK(cuGraphAddEventRecordNode(&node[2], graph, &node[1], 1, end));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    first = between(start, end);
    OK(cuGraphLaunch(exec, stream));
    OK(cuEventSynchronize(end));
    second = between(start, end);
    tap_ok(first >= 2 && second >= 2, "events in a graph measure how long its work took: %.3f and %.3f ms", (double)first, (double)second);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(start));
    OK(cuEventDestroy(end));
    OK(cuStreamDestroy(stream));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { KEEPS_WHAT_IS_FREED = 1 };
#else
enum { KEEPS_WHAT_IS_FREED = 0 };
#endif

/* The notes of an event are freed with it, however many events there are. */
static void test_many_events(void)
{
    if (KEEPS_WHAT_IS_FREED || getenv("CUVMM_RUN")) { /* so does valgrind, which CUVMM_RUN may name */
        tap_skip("a tool delays frees", "the growth of the process");
        return;
    }
    enum { EVENTS = 300000, MOST_KB = 64 << 10 };
    struct rusage before, after;
    int wrong = 0;
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < EVENTS; i++) {
        CUevent event = NULL;
        wrong += cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS;
        wrong += cuEventDestroy(event) != CUDA_SUCCESS;
    }
    getrusage(RUSAGE_SELF, &after);
    EQUAL(wrong, 0);
    tap_ok(after.ru_maxrss - before.ru_maxrss < MOST_KB, "after %d events, one at a time, the process has grown by %ld KiB",
           EVENTS,
           after.ru_maxrss - before.ru_maxrss);
}

/* More events at once than the first table of notes holds. */
static void test_events_at_once(void)
{
    enum { EVENTS = 200 };
    CUevent event[EVENTS];
    unsigned wrong = 0;
    float passed = 0;
    for (int i = 0; i < EVENTS; i++)
        wrong += cuEventCreate(&event[i], 0) != CUDA_SUCCESS || cuEventRecord(event[i], NULL) != CUDA_SUCCESS;
    OK(cuCtxSynchronize());
    for (int i = 1; i < EVENTS; i++)
        wrong += cuEventElapsedTime(&passed, event[i - 1], event[i]) != CUDA_SUCCESS || passed < 0;
    for (int i = 0; i < EVENTS; i++)
        wrong += cuEventDestroy(event[i]) != CUDA_SUCCESS;
    EQUAL(wrong, 0);
}

static unsigned called;

static void call_back(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    called = 10 * called + (status == CUDA_SUCCESS ? *(unsigned *)user : 9);
}

/* Two callbacks are pending; the later one runs first. */
static void test_callbacks(void)
{
    CUstream first = NULL, second = NULL;
    unsigned one = 1, two = 2, three = 3;
    OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cuStreamAddCallback(first, call_back, &one, 0));
    OK(cuStreamAddCallback(second, call_back, &two, 0));
    OK(cuStreamAddCallback(first, call_back, &three, 0));
    OK(cuStreamSynchronize(second));
    EQUAL(called, 2);
    OK(cuStreamSynchronize(first));
    EQUAL(called, 213);
    OK(cuStreamDestroy(first));
    OK(cuStreamDestroy(second));
}

static void too_late(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    (void)status;
    (void)user;
    _exit(1); /* after the plan, only the exit status can report an error */
}

/* No call waits for these callbacks: at the end of the program they are freed without being called. */
static void leave_two_behind(void)
{
    OK(cuStreamAddCallback(NULL, too_late, NULL, 0));
    OK(cuStreamAddCallback(NULL, too_late, NULL, 0));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100,schedule=late", 1); /* work that no call waits for does not run */
    CUcontext context = begin();
    test_created(context);
    test_events();
    test_elapsed();
    test_elapsed_in_graph();
    test_functions();
    test_callbacks();
    test_events_at_once();
    test_many_events();
    leave_two_behind();
    return tap_done();
}
