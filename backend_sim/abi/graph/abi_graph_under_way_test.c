/* SPDX-License-Identifier: Apache-2.0 */
/* Two launches in progress at a time: each keeps the memory of its own graph until it ends. Under schedule=eager a launch
 * does its work itself, so it is in progress as long as its host function runs.
 *
 *     small    [ 32 MiB ] allocated, freed, host function ......... ends          its memory is idle
 *     large         [ 64 MiB ] allocated, freed, ... host function ......... ends  its memory is in use until here
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "testing/rig.h"

#define CHUNK (UINT64_C(32) << 20)

struct launch {
    size_t size;
    atomic_int running, end; /* its host function runs, and may end */
    CUresult result;
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream;
    pthread_t thread;
};

static CUcontext context;

static void CUDA_CB hold(void *user)
{
    struct launch *launch = user;
    atomic_store(&launch->running, 1);
    while (!atomic_load(&launch->end))
        sched_yield();
}

static void *launch_it(void *user)
{
    struct launch *launch = user;
    launch->result = cuCtxSetCurrent(context);
    if (launch->result == CUDA_SUCCESS)
        launch->result = cuGraphLaunch(launch->exec, launch->stream);
    return NULL;
}

static void begin_launch(struct launch *launch)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                         .bytesize = launch->size};
    const CUDA_HOST_NODE_PARAMS function = {hold, launch};
    CUgraphNode node = NULL, freed = NULL;
    OK(cuStreamCreate(&launch->stream, CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&launch->graph, 0));
    OK(cuGraphAddMemAllocNode(&node, launch->graph, NULL, 0, &params));
    OK(cuGraphAddMemFreeNode(&freed, launch->graph, &node, 1, params.dptr));
    OK(cuGraphAddHostNode(&node, launch->graph, &freed, 1, &function));
    OK(cuGraphInstantiate(&launch->exec, launch->graph, 0));
    if (pthread_create(&launch->thread, NULL, launch_it, launch))
        tap_bail("no thread");
}

static void end_launch(struct launch *launch)
{
    atomic_store(&launch->end, 1);
    pthread_join(launch->thread, NULL);
    EQUAL(launch->result, CUDA_SUCCESS);
}

static uint64_t reserved(void)
{
    cuuint64_t value = 0;
    if (cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &value) != CUDA_SUCCESS)
        tap_bail("the memory of graphs cannot be read");
    return value;
}

static void await_reserved(uint64_t size)
{
    while (reserved() != size)
        sched_yield();
}

int main(void)
{
    static struct launch small = {.size = CHUNK}, large = {.size = 2 * CHUNK};
    setenv("CUVMM_SIM", "sim:h100,schedule=eager", 1);
    context = begin();
    begin_launch(&small);
    while (!atomic_load(&small.running))
        sched_yield();
    begin_launch(&large);
    await_reserved(3 * CHUNK); /* it is in progress, and holds its memory */
    end_launch(&small);
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(reserved(), 2 * CHUNK);
    end_launch(&large);
    tap_ok(atomic_load(&large.running), "both host functions have run");
    OK(cuCtxSynchronize());
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(reserved(), 0);
    OK(cuGraphExecDestroy(small.exec));
    OK(cuGraphExecDestroy(large.exec));
    OK(cuGraphDestroy(small.graph));
    OK(cuGraphDestroy(large.graph));
    OK(cuStreamDestroy(small.stream));
    OK(cuStreamDestroy(large.stream));
    return tap_done();
}
