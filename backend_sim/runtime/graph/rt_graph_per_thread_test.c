/* SPDX-License-Identifier: Apache-2.0 */
/* Launches on per-thread default streams. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "testing/rt_rig.h"

enum { THREADS = 8, EACH = 10 };

static void add_one(void *number)
{
    *(int *)number += 1;
}

static atomic_int wrong;

/* A separate graph, launched and waited for on stream 0. */
static void *works(void *unused)
{
    int number = 0;
    const struct cudaHostNodeParams params = {add_one, &number};
    cudaGraphInstantiateParams how = {.flags = cudaGraphInstantiateFlagUpload};
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec = NULL;
    (void)unused;
    wrong += cudaGraphCreate(&graph, 0) != cudaSuccess;
    wrong += cudaGraphAddHostNode(&node, graph, NULL, 0, &params) != cudaSuccess;
    wrong += cudaGraphInstantiateWithParams(&exec, graph, &how) != cudaSuccess;
    for (int i = 0; i < EACH; i++) {
        wrong += cudaGraphUpload(exec, NULL) != cudaSuccess || cudaGraphLaunch(exec, NULL) != cudaSuccess;
        wrong += cudaStreamSynchronize(NULL) != cudaSuccess || cudaStreamQuery(NULL) != cudaSuccess;
        wrong += number != i + 1;
    }
    wrong += cudaGraphExecDestroy(exec) != cudaSuccess || cudaGraphDestroy(graph) != cudaSuccess;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    setenv("CUVMM_SIM", "sim:h100", 1);
    alarm(60);
    for (int i = 0; i < THREADS; i++)
        wrong += pthread_create(&threads[i], NULL, works, NULL) != 0;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EQUAL(wrong, 0);
    return tap_done();
}
