/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_graph_launch_memory.h"

#include "abi_graph_alloc.h"
#include "heap.h"

/* Calls visit for each node that allocates or frees, in children too, as long as that returns true. */
static bool each(const struct graph *graph, bool (*visit)(void *user, const struct abi_work *work), void *user)
{
    for (const struct graph_node *node = graph->first; node; node = node->after) {
        const struct abi_work *work = abi_work_of(node);
        if ((work->memory && !visit(user, work)) || (work->child && !each(work->child, visit, user)))
            return false;
    }
    return true;
}

struct launch {
    vmm_system *sys;
    const char *function;
    const struct graph *graph;
    bool frees_first; /* what an earlier launch has left */
    struct abi_launch_memory *memory;
    const struct abi_memory *found;
    CUresult result;
};

static bool allocates(const struct abi_work *work)
{
    return work->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
}

static bool is_not_allocation(void *user, const struct abi_work *work)
{
    const struct launch *launch = user;
    return !allocates(work) || work->memory != launch->found;
}

/* ---- checks ---- */

static bool check(void *user, const struct abi_work *work)
{
    struct launch *launch = user;
    const unsigned long long at = work->memory->at;
    bool live = abi_graph_memory_is_live(launch->sys, at);
    launch->found = work->memory;
    work->memory->live = live;
    if (allocates(work) && live && !launch->frees_first)
        launch->result = abi_refuse(VMM_RULE_GRAPH_MEMORY_LIVE, launch->function, "0x%llx, which an earlier launch has allocated, is not "
                                    "freed yet", at);
    else if (!allocates(work) && !live && each(launch->graph, is_not_allocation, launch))
        launch->result = abi_refuse(VMM_RULE_GRAPH_MEMORY_FREE, launch->function, "a node frees 0x%llx, which is not allocated", at);
    return launch->result == CUDA_SUCCESS;
}

/* ---- memory ---- */

static bool count(void *user, const struct abi_work *work)
{
    struct launch *launch = user;
    launch->memory->count += allocates(work);
    return true;
}

/* Each range once, as far as the graph uses it. */
static bool collect(void *user, const struct abi_work *work)
{
    struct abi_launch_memory *memory = ((struct launch *)user)->memory;
    const struct abi_graph_range *range = &work->memory->range->taken;
    const uint64_t size = work->memory->at + work->memory->span - range->start;
    size_t i = 0;
    while (i < memory->count && memory->ranges[i].start != range->start)
        i++;
    if (allocates(work) && i == memory->count)
        memory->ranges[memory->count++] = (struct abi_graph_range){range->device, range->start, 0};
    if (allocates(work) && memory->ranges[i].size < size)
        memory->ranges[i].size = size;
    return true;
}

static CUresult back(struct launch *launch)
{
    uint64_t lacks[2] = {0, 0};
    struct abi_launch_memory *memory = launch->memory;
    each(launch->graph, count, launch);
    if (!memory->count)
        return CUDA_SUCCESS;
    memory->ranges = heap.malloc(memory->count * sizeof *memory->ranges);
    memory->count = 0;
    if (!memory->ranges)
        return abi_no_memory(launch->function);
    each(launch->graph, collect, launch);
    enum abi_graph_memory answer = abi_graph_memory_back(launch->sys, memory->ranges, memory->count, lacks);
    if (answer == ABI_GRAPH_MEMORY_DONE)
        return CUDA_SUCCESS;
    heap.free(memory->ranges);
    memory->ranges = NULL;
    return answer == ABI_GRAPH_MEMORY_HOST
               ? abi_no_memory(launch->function)
               : abi_refuse(VMM_RULE_GRAPH_MEMORY_FULL, launch->function, "the launch needs 0x%llx more bytes, and 0x%llx are left",
                            (unsigned long long)lacks[0], (unsigned long long)lacks[1]);
}

static bool free_left(void *user, const struct abi_work *work)
{
    const struct launch *launch = user;
    if (allocates(work) && work->memory->live)
        abi_graph_memory_end(launch->sys, work->memory->at);
    work->memory->live = false;
    return true;
}

CUresult abi_launch_memory_begin(vmm_system *sys, const char *function, const struct abi_exec *exec, bool uploads,
                                 struct abi_launch_memory *memory)
{
    struct launch launch = {sys, function, exec->graph, exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, memory,
                            NULL, CUDA_SUCCESS};
    *memory = (struct abi_launch_memory){NULL, 0};
    if (!uploads)
        each(exec->graph, check, &launch);
    if (launch.result == CUDA_SUCCESS)
        launch.result = back(&launch);
    if (launch.result == CUDA_SUCCESS && !uploads && launch.frees_first)
        each(exec->graph, free_left, &launch);
    return launch.result;
}

/* ---- nodes ---- */

/* A bit for each device that the parameters give rights to. */
static uint32_t peers_of(const CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    uint32_t peers = 0;
    for (size_t i = 0; i < params->accessDescCount; i++)
        if (params->accessDescs[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            peers |= UINT32_C(1) << params->accessDescs[i].location.id;
    return peers;
}

CUresult abi_launch_alloc(vmm_system *sys, const struct abi_work *work, vmm_stream stream)
{
    struct abi_memory *memory = work->memory;
    memory->live = abi_graph_memory_begin(sys, memory->range->taken.device, memory->at, memory->size,
                                          peers_of(&work->params.alloc), stream);
    return memory->live ? CUDA_SUCCESS : abi_no_memory("cuGraphLaunch");
}

void abi_launch_free(vmm_system *sys, const struct abi_work *work)
{
    struct abi_memory *memory = work->memory;
    memory->postponed = !memory->live;
    if (memory->live)
        abi_graph_memory_end(sys, memory->at);
    memory->live = false;
}

static bool free_postponed(void *user, const struct abi_work *work)
{
    const struct launch *launch = user;
    if (!allocates(work) && work->memory->postponed)
        abi_launch_free(launch->sys, work);
    return true;
}

void abi_launch_memory_end(vmm_system *sys, const struct abi_exec *exec, vmm_stream stream, bool whole,
                           struct abi_launch_memory *memory)
{
    struct launch launch = {.sys = sys};
    each(exec->graph, whole ? free_postponed : free_left, &launch);
    if (memory->ranges)
        abi_graph_memory_issued(sys, memory->ranges, memory->count, stream);
    heap.free(memory->ranges);
}
