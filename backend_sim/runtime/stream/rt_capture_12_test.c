/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with other names or arguments in CUDA 12: captures without edge data, and the elapsed time. */
#include <unistd.h>

#include "testing/rt_rig.h"

#undef cudaStreamGetCaptureInfo
/* The first form: the header's name stands for the second one. */
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id);
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id);

static cudaStream_t stream;

static void add_one(void *number)
{
    *(int *)number += 1;
}

static void test_forms(void)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = NULL, told = NULL;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *edges = NULL;
    unsigned long long first = 0, second = 0, third = 0;
    size_t count = 0;
    int number = 0;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(cudaLaunchHostFunc(stream, add_one, &number));
    OK(cudaStreamGetCaptureInfo(stream, &status, &first));
    OK(cudaStreamGetCaptureInfo_v2(stream, &status, &second, &told, &nodes, &count));
    tap_ok(count == 1 && status == cudaStreamCaptureStatusActive, "one node");
    OK(cudaStreamGetCaptureInfo_v3(stream, &status, &third, NULL, &nodes, &edges, &count));
    tap_ok(first && first == second && second == third, "three forms, one id");
    cudaGraphNode_t node = nodes[0];
    OK(cudaStreamUpdateCaptureDependencies(stream, NULL, 0, cudaStreamSetCaptureDependencies));
    OK(cudaStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, NULL, &count));
    EQUAL(count, 0);
    OK(cudaStreamUpdateCaptureDependencies_v2(stream, &node, NULL, 1, cudaStreamAddCaptureDependencies));
    OK(cudaStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, NULL, &count));
    EQUAL(count, 1);
    OK(cudaStreamEndCapture(stream, &graph));
    tap_ok(graph == told, "the graph that was told");
    OK(cudaStreamGetCaptureInfo_ptsz(stream, &status, NULL));
    EQUAL(status, cudaStreamCaptureStatusNone);
    REFUSED(cudaStreamGetCaptureInfo(stream, NULL, &first), ErrorInvalidValue);
    REFUSED(cudaStreamGetCaptureInfo_v3(stream, NULL, &first, NULL, NULL, NULL, NULL), ErrorInvalidValue);
    REFUSED(cudaStreamUpdateCaptureDependencies(stream, &node, 1, 0), ErrorIllegalState);
    REFUSED(cudaStreamUpdateCaptureDependencies_v2(stream, &node, NULL, 1, 0), ErrorIllegalState);
    EQUAL(cuGraphDestroy(graph), CUDA_SUCCESS);
}

static void test_elapsed(void)
{
    cudaEvent_t event = NULL;
    float one = -1, two = -1;
    OK(cudaEventCreate(&event));
    OK(cudaEventRecord(event, NULL));
    OK(cudaEventSynchronize(event));
    OK(cudaEventElapsedTime(&one, event, event));
    OK(cudaEventElapsedTime_v2(&two, event, event));
    tap_ok(one >= 0 && one <= 0 && two >= 0 && two <= 0, "no time passes between an event and itself");
    REFUSED(cudaEventElapsedTime_v2(&two, event, NULL), ErrorInvalidResourceHandle);
    OK(cudaEventDestroy(event));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    alarm(60);
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    test_forms();
    test_elapsed();
    OK(cudaStreamDestroy(stream));
    return tap_done();
}
