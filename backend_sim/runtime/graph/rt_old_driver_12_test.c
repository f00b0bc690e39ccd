/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA 12's own calls for streams, graphs and managed memory, on a driver without contexts, and on one that lacks
 * needed functions. */
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rt_rig.h"

#undef cudaStreamGetCaptureInfo
/* The first form: the header's name stands for the second one. */
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id);

#define LACKS(call) wrong += (call) != cudaErrorCallRequiresNewerDriver

static int every_call(void)
{
    int wrong = 0;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const struct cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeEmpty};
    unsigned long long id = 0;
    cudaGraphNode_t node = NULL;
    size_t count = 0;
    float ms = 0;
    LACKS(cudaEventElapsedTime_v2(&ms, NULL, NULL));
    LACKS(cudaStreamGetCaptureInfo(NULL, &status, &id));
    LACKS(cudaStreamGetCaptureInfo_v2(NULL, &status, &id, NULL, NULL, NULL));
    LACKS(cudaStreamGetCaptureInfo_v3(NULL, &status, &id, NULL, NULL, NULL, NULL));
    LACKS(cudaStreamUpdateCaptureDependencies(NULL, NULL, 0, 0));
    LACKS(cudaStreamUpdateCaptureDependencies_v2(NULL, NULL, NULL, 0, 0));
    LACKS(cudaStreamAttachMemAsync(NULL, &ms, 4, cudaMemAttachGlobal));
    LACKS(cudaMemPrefetchAsync(&ms, 4, 0, NULL));
    LACKS(cudaMemPrefetchAsync_v2(&ms, 4, place, 0, NULL));
    LACKS(cudaMemAdvise(&ms, 4, cudaMemAdviseSetReadMostly, 0));
    LACKS(cudaMemAdvise_v2(&ms, 4, cudaMemAdviseSetReadMostly, place));
    LACKS(cudaMemRangeGetAttribute(&status, 4, cudaMemRangeAttributeReadMostly, &ms, 4));
    LACKS(cudaMemRangeGetAttributes(NULL, NULL, NULL, 0, &ms, 4));
    LACKS(cudaGraphGetEdges(NULL, NULL, NULL, &count));
    LACKS(cudaGraphGetEdges_v2(NULL, NULL, NULL, NULL, &count));
    LACKS(cudaGraphNodeGetDependencies(NULL, NULL, &count));
    LACKS(cudaGraphNodeGetDependencies_v2(NULL, NULL, NULL, &count));
    LACKS(cudaGraphNodeGetDependentNodes(NULL, NULL, &count));
    LACKS(cudaGraphNodeGetDependentNodes_v2(NULL, NULL, NULL, &count));
    LACKS(cudaGraphAddDependencies(NULL, NULL, NULL, 0));
    LACKS(cudaGraphAddDependencies_v2(NULL, NULL, NULL, NULL, 0));
    LACKS(cudaGraphRemoveDependencies(NULL, NULL, NULL, 0));
    LACKS(cudaGraphRemoveDependencies_v2(NULL, NULL, NULL, NULL, 0));
    LACKS(cudaGraphAddNode(&node, NULL, NULL, 0, &params));
    LACKS(cudaGraphAddNode_v2(&node, NULL, NULL, NULL, 0, &params));
    return wrong + (node || count || id);
}

/* In a separate process, because a process looks for its driver only once. */
static int wrong_with(const char *contexts)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        setenv("CUVMM_LIBCUDA", RT_FAKE_DRIVER, 1);
        setenv("FAKE_VERSION", "12090", 1);
        setenv("FAKE_CONTEXT", contexts, 1);
        exit(every_call());
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    EQUAL(wrong_with("0"), 0);
    EQUAL(wrong_with("1"), 0);
    return tap_done();
}
