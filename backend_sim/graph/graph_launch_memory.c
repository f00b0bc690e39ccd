/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_launch_memory.h"

#include "graph_alloc.h"
#include "graph_pins.h"
#include "heap.h"
#include "in_flight.h"
#include "objects.h"
#include "order_feed.h"

/* Calls visit for each node that allocates or frees, in children too, as long as that returns true. */
static bool each(const struct graph *graph, bool (*visit)(void *user, const struct graph_work *work), void *user)
{
    for (const struct graph_node *node = graph->first; node; node = node->after) {
        const struct graph_work *work = graphs_work(node);
        if ((work->memory && !visit(user, work)) || (work->child && !each(work->child, visit, user)))
            return false;
    }
    return true;
}

struct launch {
    struct sim_process *process;
    const struct vmm_call *call;
    const struct graph *graph;
    bool frees_first; /* memory left by an earlier launch */
    struct graph_launch_memory *memory;
    const struct graph_memory *found;
    vmm_result result;
};

static bool allocates(const struct graph_work *work)
{
    return work->type == VMM_GRAPH_NODE_TYPE_MEM_ALLOC;
}

static bool is_not_allocation(void *user, const struct graph_work *work)
{
    const struct launch *launch = user;
    return !allocates(work) || work->memory != launch->found;
}

/* ---- checks ---- */

static bool check(void *user, const struct graph_work *work)
{
    struct launch *launch = user;
    const unsigned long long at = work->memory->at;
    const struct sim_allocation *allocation = sim_allocation_at(launch->process, at);
    bool live = allocation && allocation->start == at;
    launch->found = work->memory;
    work->memory->live = live;
    if (allocates(work) && live && !launch->frees_first)
        launch->result = graph_refuse(VMM_RULE_GRAPH_MEMORY_LIVE, at, "0x%llx, which an earlier launch allocated, has "
                                      "not been freed yet", at);
    else if (!allocates(work) && !live && each(launch->graph, is_not_allocation, launch))
        launch->result = graph_refuse(VMM_RULE_GRAPH_MEMORY_FREE, at, "a node frees 0x%llx, which is not allocated", at);
    return launch->result == VMM_SUCCESS;
}

/* ---- memory ---- */

static bool count(void *user, const struct graph_work *work)
{
    struct launch *launch = user;
    launch->memory->count += allocates(work);
    return true;
}

/* Each range once, as far as the graph uses it. */
static bool collect(void *user, const struct graph_work *work)
{
    struct graph_launch_memory *memory = ((struct launch *)user)->memory;
    struct graph_range *range = work->memory->range;
    const uint64_t reached = work->memory->at + work->memory->span - range->start;
    size_t i = 0;
    if (!allocates(work))
        return true;
    while (i < memory->count && memory->ranges[i] != range)
        i++;
    if (i == memory->count) {
        memory->ranges[memory->count++] = range;
        range->reached = 0;
    }
    if (range->reached < reached)
        range->reached = reached;
    return true;
}

enum answer { DONE, FULL, HOST };

/* The pin that a launch in progress has on the range. */
static struct sim_graph_pin *held(const struct sim_process *process, const struct graph_range *range)
{
    struct sim_graph_pin *pin = process->graph_memory[range->device]->pins;
    while (!pin->held || pin->start != range->start)
        pin = pin->next;
    return pin;
}

static enum answer back_one(struct sim_process *process, const struct graph_range *range, uint64_t lacks[2])
{
    struct sim_graph_memory *memory = process->graph_memory[range->device];
    graph_pins_settle(process, memory);
    if (sim_graph_memory_back(process, memory, range->start, range->reached, &lacks[0], &lacks[1]))
        return DONE;
    return lacks[0] > lacks[1] ? FULL : HOST;
}

/* The state that a refused launch must restore. */
struct before {
    uint64_t reserved, reserved_high, used_high;
};

static void remember(const struct sim_process *process, struct before *before)
{
    for (int i = 0; i < VMM_MAX_DEVICES; i++) {
        const struct sim_graph_memory *memory = process->graph_memory[i];
        if (memory)
            before[i] = (struct before){memory->pool->memory.reserved, memory->pool->memory.reserved_high, memory->used_high};
    }
}

static void take_back(struct sim_process *process, const struct before *before)
{
    for (int i = 0; i < VMM_MAX_DEVICES; i++) {
        struct sim_graph_memory *memory = process->graph_memory[i];
        if (!memory)
            continue;
        sim_pool_trim(process, memory->pool, before[i].reserved);
        memory->pool->memory.reserved_high = before[i].reserved_high;
        memory->used_high = before[i].used_high;
    }
}

static enum answer back_all(struct sim_process *process, struct graph_range *const *ranges, size_t count, uint64_t lacks[2])
{
    struct before before[VMM_MAX_DEVICES];
    enum answer answer = DONE;
    size_t done = 0;
    remember(process, before);
    while (done < count && (answer = back_one(process, ranges[done], lacks)) == DONE)
        done++;
    if (answer == DONE)
        return answer;
    while (done--)
        sim_graph_pin_end(process->graph_memory[ranges[done]->device], held(process, ranges[done]));
    take_back(process, before);
    return answer;
}

static vmm_result back(struct launch *launch)
{
    uint64_t lacks[2] = {0, 0};
    struct graph_launch_memory *memory = launch->memory;
    enum answer answer = HOST;
    each(launch->graph, count, launch);
    if (!memory->count)
        return VMM_SUCCESS;
    memory->ranges = heap.malloc(memory->count * sizeof(struct graph_range *));
    memory->count = 0;
    if (!memory->ranges)
        return sim_out_of_host_memory();
    each(launch->graph, collect, launch);
    if (sim_machine_begin(launch->process->machine)) {
        answer = back_all(launch->process, memory->ranges, memory->count, lacks);
        sim_machine_end(launch->process->machine);
    }
    if (answer == DONE)
        return VMM_SUCCESS;
    heap.free(memory->ranges);
    memory->ranges = NULL;
    return answer == HOST ? sim_out_of_host_memory()
                          : graph_refuse(VMM_RULE_GRAPH_MEMORY_FULL, lacks[0], "the launch needs 0x%llx more bytes, and 0x%llx are left",
                                         (unsigned long long)lacks[0], (unsigned long long)lacks[1]);
}

/* Ends the allocation, unless it has been freed already. */
static void end_one(struct sim_process *process, const struct vmm_call *call, uint64_t start)
{
    const struct vmm_call by = {VMM_CALL_mem_free_async, call->number};
    struct sim_allocation *allocation = sim_allocation_at(process, start);
    if (allocation)
        sim_graph_piece_free(process, (struct sim_piece *)allocation, sim_origin(&by));
}

static bool free_left(void *user, const struct graph_work *work)
{
    const struct launch *launch = user;
    if (allocates(work) && work->memory->live) {
        end_one(launch->process, launch->call, work->memory->at);
        work->memory->live = false;
    }
    return true;
}

vmm_result graph_launch_memory_begin(struct sim_process *process, const struct vmm_call *call, const struct graph_exec *exec,
                                     bool uploads, struct graph_launch_memory *memory)
{
    struct launch launch = {process, call, exec->graph, exec->flags & VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, memory, NULL,
                            VMM_SUCCESS};
    *memory = (struct graph_launch_memory){NULL, 0};
    if (!uploads)
        each(exec->graph, check, &launch);
    if (launch.result == VMM_SUCCESS)
        launch.result = back(&launch);
    if (launch.result == VMM_SUCCESS && !uploads && launch.frees_first)
        each(exec->graph, free_left, &launch);
    return launch.result;
}

/* ---- nodes ---- */

/* The place of the stream that a launch goes to. */
static struct queue_place place_of(struct sim_process *process, vmm_stream stream)
{
    struct sim_context *context = NULL;
    bool there = sim_stream_context(process, stream, &context) == VMM_SUCCESS;
    struct queue_place place = {0};
    if (there) /* LCOV_EXCL_BR_LINE: unless another thread has just destroyed it */
        place = in_flight_place(process, context, stream);
    return place;
}

vmm_result graph_launch_alloc(struct sim_process *process, const struct vmm_call *call, struct graph_memory *memory,
                              vmm_stream stream)
{
    struct sim_graph_memory *of = process->graph_memory[memory->range->device];
    const struct queue_place place = place_of(process, stream);
    const struct vmm_call by = {VMM_CALL_mem_alloc_async, call->number};
    struct sim_piece *piece = sim_graph_piece_new(process, of, memory->at, memory->size, &place, sim_origin(&by));
    memory->live = piece != NULL;
    if (!piece)
        return sim_out_of_host_memory();
    for (unsigned i = 0; i < VMM_MAX_DEVICES; i++)
        if (memory->peers >> i & 1)
            of->pool->access = sim_access_with(of->pool->access, i, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    piece->orders = process->in_flight->orders;
    if (process->in_flight->order)
        order_feed_renew(process, memory->at, memory->size);
    return VMM_SUCCESS;
}

void graph_launch_free(struct sim_process *process, const struct vmm_call *call, struct graph_memory *memory)
{
    memory->postponed = !memory->live;
    if (memory->live)
        end_one(process, call, memory->at);
    memory->live = false;
}

static bool free_postponed(void *user, const struct graph_work *work)
{
    const struct launch *launch = user;
    if (!allocates(work) && work->memory->postponed)
        graph_launch_free(launch->process, launch->call, work->memory);
    return true;
}

void graph_launch_memory_end(struct sim_process *process, const struct vmm_call *call, const struct graph_exec *exec,
                             vmm_stream stream, bool whole, struct graph_launch_memory *memory)
{
    struct launch launch = {.process = process, .call = call};
    each(exec->graph, whole ? free_postponed : free_left, &launch);
    const struct queue_place place = memory->ranges ? place_of(process, stream) : (struct queue_place){0};
    for (size_t i = 0; memory->ranges && i < memory->count; i++)
        graph_pin_await(process, held(process, memory->ranges[i]), &place);
    heap.free(memory->ranges);
}
