/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_alloc.h"

#include "best_gap.h"
#include "graph_memory.h"
#include "heap.h"
#include "pool_policy.h"

/* ---- what nodes name ---- */

void graph_memory_hold(struct graph_memory *memory)
{
    memory->refs++;
}

static void drop_range(struct graph_range *range)
{
    if (--range->refs)
        return;
    sim_graph_memory_give(range->process->graph_memory[range->device], range->start);
    heap.free(range);
}

void graph_memory_drop(struct sim_graphs *all, struct graph_memory *memory)
{
    struct graph_memory **link = &all->memories;
    if (--memory->refs)
        return;
    while (*link != memory)
        link = &(*link)->next;
    *link = memory->next;
    drop_range(memory->range);
    heap.free(memory);
}

void graph_memory_set_freed(struct graph_memory *memory, const struct graph *graph, bool freed)
{
    if (memory->home == graph->value)
        memory->freed = freed;
}

uint64_t graph_planned(const struct sim_graphs *all, uint64_t address, bool even_freed)
{
    const struct graph_memory *memory = all->memories;
    while (memory && (address - memory->at >= memory->size || (memory->freed && !even_freed)))
        memory = memory->next;
    return memory ? memory->at + memory->size - address : 0;
}

uint64_t graph_planned_in(const struct sim_process *process, uint64_t address)
{
    return graph_planned(process->graphs, address, false);
}

/* ---- addresses ---- */

/* Marks what the new node depends on, in `left`; all of it is done when the node runs. */
static void mark_before(const struct graph *graph, const struct graph_ends *on, struct graph_node **list)
{
    size_t known = 0;
    for (struct graph_node *node = graph->first; node; node = node->after)
        node->left = 0;
    for (size_t i = 0; i < on->count; i++)
        if (!on->node[i]->left++)
            list[known++] = on->node[i];
    for (size_t next = 0; next < known; next++)
        for (size_t i = 0; i < list[next]->in.count; i++)
            if (!list[next]->in.edge[i].node->left++)
                list[known++] = list[next]->in.edge[i].node;
}

/* Marks the memory that is freed before the new node; returns false if there is none. */
static bool mark_freed(const struct graph *graph)
{
    bool some = false;
    for (const struct graph_node *node = graph->first; node; node = node->after)
        if (graphs_work(node)->memory)
            graphs_work(node)->memory->before = false;
    for (const struct graph_node *node = graph->first; node; node = node->after)
        if (node->left && graphs_work(node)->type == VMM_GRAPH_NODE_TYPE_MEM_FREE)
            /* analysers: clang-analyzer-core.NullDereference is wrong: a free node has the memory that it frees */
            some = graphs_work(node)->memory->before = true;
    return some;
}

/* The next range of the graph on the device, from the node on; NULL if there is only the last. */
static struct graph_range *next_range(const struct graph_node **node, int device, const struct graph_range *last)
{
    for (; *node; *node = (*node)->after) {
        if (graphs_work(*node)->type != VMM_GRAPH_NODE_TYPE_MEM_ALLOC)
            continue;
        struct graph_range *range = graphs_work(*node)->memory->range;
        if (range != last && range->device == device)
            return range;
    }
    return NULL;
}

/* As measured, the smallest gap that the graph's frees before the new node leave between its other allocations; 0: none. */
static uint64_t gap_in(const struct graph *graph, const struct graph_range *range, uint64_t span, struct gap_span *used)
{
    size_t count = 0;
    for (const struct graph_node *node = graph->first; node; node = node->after) {
        const struct graph_memory *memory = graphs_work(node)->memory;
        if (graphs_work(node)->type == VMM_GRAPH_NODE_TYPE_MEM_ALLOC && memory->range == range && !memory->before)
            used[count++] = (struct gap_span){memory->at, memory->at + memory->span};
    }
    uint64_t at = best_gap(used, count, range->start, range->until, span);
    return at < range->until ? at : 0;
}

static uint64_t whole_chunks(const struct sim_graph_memory *memory, uint64_t size)
{
    const uint64_t chunk = memory->pool->memory.chunk;
    return size + chunk - 1 - (size - 1) % chunk;
}

static bool grow(struct graph_range *range, uint64_t more)
{
    struct sim_graph_memory *memory = range->process->graph_memory[range->device];
    if (!sim_graph_memory_grow(range->process, memory, range->start, more))
        return false;
    range->size += whole_chunks(memory, more);
    return true;
}

/* After everything placed there, even if freed, as measured; 0 if there is no room. */
static uint64_t behind(struct graph_range *range, uint64_t span, bool grows)
{
    const uint64_t at = range->until, room = range->start + range->size - at;
    if (span > room && !(grows && grow(range, span - room)))
        return 0;
    range->until += span;
    return at;
}

static uint64_t place_among(const struct graph *graph, int device, uint64_t span, struct graph_range **range, struct gap_span *used)
{
    uint64_t at = 0;
    const bool freed = mark_freed(graph);
    for (int way = !freed; way < 3 && !at; way++) {
        const struct graph_node *node = graph->first;
        struct graph_range *found = NULL;
        while (!at && (found = next_range(&node, device, found)) != NULL) {
            *range = found;
            at = way ? behind(found, span, way == 2) : gap_in(graph, found, span, used);
        }
    }
    return at;
}

static vmm_result refuse_addresses(uint64_t size)
{
    return graph_refuse(VMM_RULE_GRAPH_MEMORY_FULL, 0, "no addresses are left for 0x%llx bytes", (unsigned long long)size);
}

/* A new range; NULL if that fails: result says why. */
static struct graph_range *take(struct sim_process *process, int device, uint64_t span, vmm_result *result)
{
    struct graph_range *range = heap.malloc(sizeof *range);
    struct sim_graph_memory *memory = range ? sim_graph_memory_of(process, device) : NULL;
    uint64_t start = 0;
    *result = memory && sim_graph_memory_take(process, memory, span, &start) ? VMM_SUCCESS : sim_out_of_host_memory();
    if (*result == VMM_SUCCESS && !start)
        *result = refuse_addresses(span);
    if (*result != VMM_SUCCESS) {
        heap.free(range);
        return NULL;
    }
    *range = (struct graph_range){.process = process, .device = device, .start = start, .size = whole_chunks(memory, span),
                                  .until = start + span};
    return range;
}

/* Finds addresses: first those that the graph freed earlier, if they suffice, then others. Returns 0 on failure: result says
 * why. */
static uint64_t place(struct sim_process *process, const struct graph *graph, const struct graph_ends *on, int device, uint64_t span,
                      struct graph_range **range, vmm_result *result)
{
    union {
        struct graph_node *node;
        struct gap_span span;
    } *room = heap.malloc((graph->count + 1) * sizeof *room); /* for nodes, then for spans */
    if (!room) {
        *result = sim_out_of_host_memory();
        return 0;
    }
    mark_before(graph, on, (struct graph_node **)(void *)room);
    uint64_t at = place_among(graph, device, span, range, (struct gap_span *)(void *)room);
    heap.free(room);
    if (at)
        return at;
    *range = take(process, device, span, result);
    return *range ? (*range)->start : 0;
}

static struct graph_memory *new_memory(struct sim_process *process, const struct graph *graph, const struct graph_ends *on,
                                       const struct graph_allocation *wanted, vmm_result *result)
{
    struct graph_range *range = NULL;
    uint64_t span = pool_round(wanted->size, POOL_UNIT);
    struct graph_memory *memory = heap.malloc(sizeof *memory);
    uint64_t at = 0;
    if (!memory)
        *result = sim_out_of_host_memory();
    else if (!span)
        *result = refuse_addresses(wanted->size);
    else
        at = place(process, graph, on, wanted->device, span, &range, result);
    if (!at) {
        heap.free(memory);
        return NULL;
    }
    *memory = (struct graph_memory){.at = at, .size = wanted->size, .span = span, .peers = wanted->peers, .range = range,
                                    .home = graph->value, .refs = 1, .next = process->graphs->memories};
    range->refs++;
    process->graphs->memories = memory;
    return memory;
}

/* ---- nodes ---- */

/* A child that was moved into its parent gets no more memory, as documented (cuda.h 13.0,
 * CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE). */
static bool may_grow(const struct graph *graph, vmm_result *result)
{
    if (graphs_more(graph)->inside)
        *result = graph_refuse(VMM_RULE_GRAPH_MEMORY_FIXED, graph->value, "%p is the graph of a node, which can get no more "
                                                                          "memory",
                               (void *)(uintptr_t)graph->value);
    return !graphs_more(graph)->inside;
}

static struct graph_node *add(struct graph *graph, const struct graph_ends *on, const struct graph_work *work, vmm_result *result)
{
    struct graph_node *node = graphs_add(graph, on->node, on->data, on->count, work);
    if (!node)
        *result = sim_out_of_host_memory();
    return node;
}

struct graph_node *graph_add_alloc(struct sim_process *process, struct graph *graph, const struct graph_ends *on,
                                   const struct graph_allocation *wanted, struct graph_work *work, vmm_result *result)
{
    if (!may_grow(graph, result) || !(work->memory = new_memory(process, graph, on, wanted, result)))
        return NULL;
    work->type = VMM_GRAPH_NODE_TYPE_MEM_ALLOC;
    struct graph_node *node = add(graph, on, work, result);
    graph_memory_drop(process->graphs, work->memory); /* only the node keeps it */
    return node;
}

static bool frees(const struct graph *graph, const struct graph_memory *memory)
{
    const struct graph_node *node = graph->first;
    while (node && !(graphs_work(node)->memory == memory && graphs_work(node)->type == VMM_GRAPH_NODE_TYPE_MEM_FREE))
        node = node->after;
    return node != NULL;
}

struct graph_node *graph_add_free(struct graph *graph, const struct graph_ends *on, uint64_t at, struct graph_work *work,
                                  vmm_result *result)
{
    struct graph_memory *memory = graphs_of(graph)->memories;
    if (!may_grow(graph, result))
        return NULL;
    while (memory && (memory->at != at || memory->freed || frees(graph, memory)))
        memory = memory->next;
    if (!memory) {
        *result = graph_refuse(VMM_RULE_GRAPH_MEMORY_FREE, at, "no allocation of a graph that is not yet freed begins at 0x%llx",
                               (unsigned long long)at);
        return NULL;
    }
    work->type = VMM_GRAPH_NODE_TYPE_MEM_FREE;
    work->memory = memory;
    struct graph_node *node = add(graph, on, work, result);
    if (node)
        graph_memory_set_freed(memory, graph, true);
    return node;
}
