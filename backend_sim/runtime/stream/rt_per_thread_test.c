/* SPDX-License-Identifier: Apache-2.0 */
/* A program that was compiled with --default-stream per-thread: stream 0 is each thread's own. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include <pthread.h>
#include <unistd.h>

#include "testing/rt_rig.h"

enum { THREADS = 64, EACH = 20 };

static struct one {
    pthread_t thread;
    unsigned long long id;
    int counted, wrong, called;
} all[THREADS];

static void add_one(void *number)
{
    *(int *)number += 1;
}

static void call_back(cudaStream_t stream, cudaError_t status, void *number)
{
    *(int *)number += !stream && status == cudaSuccess;
}

static int is_capturing(void)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(NULL, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive;
}

/* Uses only its own stream 0: work, an event, a callback, and a capture that no other thread notices. */
static void *works(void *user)
{
    struct one *one = user;
    cudaEvent_t event = NULL;
    cudaGraph_t graph = NULL;
    enum cudaStreamCaptureStatus status;
    size_t count = 0;
    unsigned flags = 9;
    int priority = 9, device = 9, captured = 0;
    one->wrong += cudaStreamGetId(NULL, &one->id) != cudaSuccess;
    one->wrong += cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess;
    for (int i = 0; i < EACH; i++) {
        one->wrong += cudaLaunchHostFunc(NULL, add_one, &one->counted) != cudaSuccess;
        one->wrong += cudaEventRecord(event, NULL) != cudaSuccess;
        one->wrong += cudaEventSynchronize(event) != cudaSuccess;
        one->wrong += one->counted != i + 1;
    }
    one->wrong += cudaStreamAddCallback(NULL, call_back, &one->called, 0) != cudaSuccess;
    one->wrong += cudaEventRecordWithFlags(event, NULL, 0) != cudaSuccess;
    one->wrong += cudaStreamWaitEvent(NULL, event, 0) != cudaSuccess;
    one->wrong += cudaStreamSynchronize(NULL) != cudaSuccess || cudaStreamQuery(NULL) != cudaSuccess;
    one->wrong += cudaStreamGetFlags(NULL, &flags) != cudaSuccess || flags != cudaStreamDefault;
    one->wrong += cudaStreamGetPriority(NULL, &priority) != cudaSuccess || priority;
    one->wrong += cudaStreamGetDevice(NULL, &device) != cudaSuccess || device;
    one->wrong += cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal) != cudaSuccess || !is_capturing();
    one->wrong += cudaLaunchHostFunc(NULL, add_one, &captured) != cudaSuccess;
    one->wrong += cudaStreamGetCaptureInfo(NULL, &status, NULL, NULL, NULL, NULL, &count) != cudaSuccess || count != 1;
    one->wrong += cudaStreamUpdateCaptureDependencies(NULL, NULL, NULL, 0, cudaStreamSetCaptureDependencies) != cudaSuccess;
    one->wrong += cudaStreamEndCapture(NULL, &graph) != cudaSuccess || is_capturing() || captured;
    one->wrong += cudaStreamBeginCaptureToGraph(NULL, graph, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal) != cudaSuccess;
    one->wrong += cudaStreamEndCapture(NULL, &graph) != cudaSuccess;
    one->wrong += cuGraphDestroy(graph) != CUDA_SUCCESS;
    one->wrong += cudaEventDestroy(event) != cudaSuccess;
    return NULL;
}

int main(void)
{
    unsigned long long legacy = 0;
    int wrong = 0, alike = 0, done = 0;
    setenv("CUVMM_SIM", "sim:h100", 1);
    alarm(60);
    OK(cudaStreamGetId(cudaStreamLegacy, &legacy));
    for (int i = 0; i < THREADS; i++)
        wrong += pthread_create(&all[i].thread, NULL, works, &all[i]) != 0;
    EQUAL(wrong, 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        wrong += all[i].wrong;
        done += all[i].counted == EACH && all[i].called == 1;
        alike += all[i].id == legacy;
    }
    EQUAL(wrong, 0);
    EQUAL(done, THREADS);
    EQUAL(alike, 0);
    IS(cudaGetLastError(), Success);
    return tap_done();
}
