/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture by the runtime: a stream's work becomes a graph. */
#include <unistd.h>

#include "testing/rt_rig.h"

static cudaStream_t stream;

static void add_one(void *number)
{
    *(int *)number += 1;
}

static cudaStream_t new_stream(void)
{
    cudaStream_t made = NULL;
    OK(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    return made;
}

static enum cudaStreamCaptureStatus status_of(cudaStream_t asked)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    OK(cudaStreamIsCapturing(asked, &status));
    return status;
}

/* The nodes of a graph, through the driver's API: both share the graphs. */
static size_t nodes_in(cudaGraph_t graph)
{
    size_t count = 0;
    EQUAL(cuGraphGetNodes(graph, NULL, &count), CUDA_SUCCESS);
    return count;
}

static void test_captured(void)
{
    cudaGraph_t graph = NULL, told = NULL;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *edges = NULL;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    size_t count = 9;
    int number = 0;
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &told, &nodes, &edges, &count));
    tap_ok(status == cudaStreamCaptureStatusNone && id == 0 && !told, "no capture");
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EQUAL(status_of(stream), cudaStreamCaptureStatusActive);
    OK(cudaLaunchHostFunc(stream, add_one, &number));
    OK(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, NULL, NULL, NULL));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &told, &nodes, &edges, &count));
    tap_ok(status == cudaStreamCaptureStatusActive && id != 0 && told, "a capture has an id and a graph");
    EQUAL(count, 1);
    cudaGraphNode_t node = nodes[0];
    REFUSED(cudaStreamSynchronize(stream), ErrorStreamCaptureUnsupported);
    EQUAL(status_of(stream), cudaStreamCaptureStatusInvalidated);
    REFUSED(cudaStreamEndCapture(stream, &graph), ErrorStreamCaptureInvalidated);
    tap_ok(!graph && node, "what was refused ends the capture without a graph");
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaLaunchHostFunc(stream, add_one, &number));
    OK(cudaStreamEndCapture(stream, &graph));
    EQUAL(nodes_in(graph), 1);
    EQUAL(number, 0);
    EQUAL(cuGraphDestroy(graph), CUDA_SUCCESS);
}

/* Two streams in one capture, joined by events. */
static void test_joined(void)
{
    cudaStream_t other = new_stream();
    cudaEvent_t fork = NULL, join = NULL;
    cudaGraph_t graph = NULL;
    int number = 0;
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(other, fork, 0));
    EQUAL(status_of(other), cudaStreamCaptureStatusActive);
    OK(cudaLaunchHostFunc(other, add_one, &number));
    OK(cudaEventRecord(join, other));
    REFUSED(cudaEventQuery(join), ErrorCapturedEvent);
    REFUSED(cudaStreamEndCapture(stream, &graph), ErrorStreamCaptureInvalidated);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(other, fork, 0));
    OK(cudaLaunchHostFunc(other, add_one, &number));
    REFUSED(cudaStreamEndCapture(stream, &graph), ErrorStreamCaptureUnjoined);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(other, fork, 0));
    OK(cudaLaunchHostFunc(other, add_one, &number));
    OK(cudaEventRecord(join, other));
    OK(cudaStreamWaitEvent(stream, join, 0));
    OK(cudaStreamEndCapture(stream, &graph));
    EQUAL(nodes_in(graph), 1);
    EQUAL(cuGraphDestroy(graph), CUDA_SUCCESS);
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(other));
}

static void test_to_graph(void)
{
    cudaGraph_t graph = NULL, same = NULL;
    const cudaGraphNode_t *nodes = NULL;
    enum cudaStreamCaptureStatus status;
    size_t count = 0;
    int number = 0;
    EQUAL(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    OK(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    OK(cudaLaunchHostFunc(stream, add_one, &number));
    OK(cudaStreamGetCaptureInfo(stream, &status, NULL, &same, &nodes, NULL, &count));
    tap_ok(same == graph && count == 1, "the capture is into that graph");
    cudaGraphNode_t first = nodes[0];
    OK(cudaLaunchHostFunc(stream, add_one, &number));
    OK(cudaStreamUpdateCaptureDependencies(stream, &first, NULL, 1, cudaStreamSetCaptureDependencies));
    OK(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, NULL, &count));
    tap_ok(count == 1 && nodes[0] == first, "the next work waits only for the first node");
    REFUSED(cudaStreamUpdateCaptureDependencies(stream, &first, NULL, 1, 7), ErrorInvalidValue);
    OK(cudaStreamEndCapture(stream, &same));
    EQUAL(nodes_in(graph), 2);
    REFUSED(cudaStreamUpdateCaptureDependencies(stream, &first, NULL, 1, 0), ErrorIllegalState);
    REFUSED(cudaStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, cudaStreamCaptureModeRelaxed), ErrorInvalidValue);
    EQUAL(cuGraphDestroy(graph), CUDA_SUCCESS);
}

static void test_wrong(void)
{
    cudaStream_t none = (cudaStream_t)(uintptr_t)0x1234;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
    cudaGraph_t graph = NULL;
    unsigned long long id = 9;
    REFUSED(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeRelaxed), ErrorStreamCaptureUnsupported);
    REFUSED(cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)7), ErrorInvalidValue);
    REFUSED(cudaStreamBeginCapture(none, cudaStreamCaptureModeRelaxed), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamEndCapture(stream, &graph), ErrorIllegalState);
    REFUSED(cudaStreamIsCapturing(stream, NULL), ErrorInvalidValue);
    REFUSED(cudaStreamIsCapturing(none, &status), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamGetCaptureInfo(stream, NULL, &id, NULL, NULL, NULL, NULL), ErrorInvalidValue);
    REFUSED(cudaStreamGetCaptureInfo(none, &status, &id, NULL, NULL, NULL, NULL), ErrorInvalidResourceHandle);
    EQUAL(status, cudaStreamCaptureStatusInvalidated);
    EQUAL(id, 9);
}

/* A thread's mode decides which calls a capture forbids. */
static void test_mode(void)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaGraph_t graph = NULL;
    void *memory = NULL;
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    EQUAL(mode, cudaStreamCaptureModeGlobal);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMalloc(&memory, 64));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    EQUAL(mode, cudaStreamCaptureModeRelaxed);
    REFUSED(cudaFree(memory), ErrorStreamCaptureUnsupported);
    REFUSED(cudaStreamEndCapture(stream, &graph), ErrorStreamCaptureInvalidated);
    REFUSED(cudaThreadExchangeStreamCaptureMode(NULL), ErrorInvalidValue);
    OK(cudaFree(memory));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    alarm(60);
    stream = new_stream();
    test_captured();
    test_joined();
    test_to_graph();
    test_wrong();
    test_mode();
    OK(cudaStreamDestroy(stream));
    return tap_done();
}
