/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_graph_alloc.h"

#include "best_gap.h"
#include "heap.h"
#include "lifecycle.h"
#include "pool_policy.h"

LIFE_LOCK(lock, LIFE_LEAF, NULL)

static struct abi_memory *first; /* changed with both locks, read with either */
static vmm_system *machine;      /* NULL before the first memory, and once it is closed */

/* ---- what nodes name ---- */

void abi_memory_hold(struct abi_memory *memory)
{
    memory->refs++;
}

static void drop_range(struct abi_memory_range *range)
{
    if (--range->refs)
        return;
    if (machine)
        abi_graph_memory_give(machine, &range->taken);
    heap.free(range);
}

void abi_memory_drop(struct abi_memory *memory)
{
    struct abi_memory **link = &first;
    if (--memory->refs)
        return;
    while (*link != memory)
        link = &(*link)->next;
    life_acquire(&lock);
    *link = memory->next;
    life_release(&lock);
    drop_range(memory->range);
    heap.free(memory);
}

void abi_memory_set_freed(struct abi_memory *memory, const struct graph *graph, bool freed)
{
    if (memory->home != graph->value)
        return;
    life_acquire(&lock);
    memory->freed = freed;
    life_release(&lock);
}

void abi_memories_close(void)
{
    machine = NULL;
}

uint64_t abi_memory_planned(uint64_t address, bool even_freed)
{
    life_acquire(&lock);
    const struct abi_memory *memory = first;
    while (memory && (address - memory->at >= memory->size || (memory->freed && !even_freed)))
        memory = memory->next;
    uint64_t left = memory ? memory->at + memory->size - address : 0;
    life_release(&lock);
    return left;
}

bool abi_graph_has_memory(const struct graph *graph)
{
    for (const struct graph_node *node = graph->first; node; node = node->after)
        if (abi_work_of(node)->memory || (abi_work_of(node)->child && abi_graph_has_memory(abi_work_of(node)->child)))
            return true;
    return false;
}

CUresult abi_graph_without_memory(const char *function, const struct graph *graph, const char *what)
{
    if (!abi_graph_has_memory(graph))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_GRAPH_MEMORY_FIXED, function, "%p has nodes that allocate or free memory, and %s",
                      (void *)abi_graph_value(graph), what);
}

/* ---- addresses ---- */

/* Marks what the new node depends on, by left; everything before it has happened when it runs. */
static void mark_before(const struct graph *graph, const struct abi_dependencies *on, struct graph_node **list)
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

/* Marks the memory that is freed before the new node; false when there is none. */
static bool mark_freed(const struct graph *graph)
{
    bool some = false;
    for (const struct graph_node *node = graph->first; node; node = node->after)
        if (abi_work_of(node)->memory)
            abi_work_of(node)->memory->before = false;
    for (const struct graph_node *node = graph->first; node; node = node->after)
        if (node->left && abi_type_of(node) == CU_GRAPH_NODE_TYPE_MEM_FREE)
            some = abi_work_of(node)->memory->before = true;
    return some;
}

/* The next range of the graph on the device, from the node on; NULL: there is no other than the last. */
static struct abi_memory_range *next_range(const struct graph_node **node, int device, const struct abi_memory_range *last)
{
    for (; *node; *node = (*node)->after) {
        if (abi_type_of(*node) != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            continue;
        struct abi_memory_range *range = abi_work_of(*node)->memory->range;
        if (range != last && range->taken.device == device)
            return range;
    }
    return NULL;
}

/* As measured, the smallest gap that the graph's frees before the new node leave between its other allocations; 0: none. */
static uint64_t gap_in(const struct graph *graph, const struct abi_memory_range *range, uint64_t span, struct gap_span *used)
{
    size_t count = 0;
    for (const struct graph_node *node = graph->first; node; node = node->after) {
        const struct abi_memory *memory = abi_work_of(node)->memory;
        if (abi_type_of(node) == CU_GRAPH_NODE_TYPE_MEM_ALLOC && memory->range == range && !memory->before)
            used[count++] = (struct gap_span){memory->at, memory->at + memory->span};
    }
    uint64_t at = best_gap(used, count, range->taken.start, range->until, span);
    return at < range->until ? at : 0;
}

/* Behind all that was placed there, also where that is freed, as measured; 0: there is no room. */
static uint64_t behind(vmm_system *sys, struct abi_memory_range *range, uint64_t span, bool grows)
{
    const uint64_t at = range->until, room = range->taken.start + range->taken.size - at;
    if (span > room && !(grows && abi_graph_memory_grow(sys, &range->taken, span - room)))
        return 0;
    range->until += span;
    return at;
}

static uint64_t place_among(vmm_system *sys, const struct graph *graph, int device, uint64_t span, struct abi_memory_range **range,
                            struct gap_span *used)
{
    uint64_t at = 0;
    const bool freed = mark_freed(graph);
    for (int way = !freed; way < 3 && !at; way++) {
        const struct graph_node *node = graph->first;
        struct abi_memory_range *found = NULL;
        while (!at && (found = next_range(&node, device, found)) != NULL) {
            *range = found;
            at = way ? behind(sys, found, span, way == 2) : gap_in(graph, found, span, used);
        }
    }
    return at;
}

static CUresult refuse_addresses(const char *function, uint64_t size)
{
    return abi_refuse(VMM_RULE_GRAPH_MEMORY_FULL, function, "no addresses are left for 0x%llx bytes", (unsigned long long)size);
}

/* A new range; NULL: result says why not. */
static struct abi_memory_range *take(vmm_system *sys, const char *function, int device, uint64_t span, CUresult *result)
{
    struct abi_memory_range *range = heap.malloc(sizeof *range);
    enum abi_graph_memory answer = ABI_GRAPH_MEMORY_HOST;
    if (range) {
        *range = (struct abi_memory_range){.taken = {.device = device, .size = span}};
        answer = abi_graph_memory_take(sys, &range->taken);
        range->until = range->taken.start + span;
        machine = sys;
    }
    if (answer == ABI_GRAPH_MEMORY_DONE)
        return range;
    heap.free(range);
    *result = answer == ABI_GRAPH_MEMORY_HOST ? abi_no_memory(function) : refuse_addresses(function, span);
    return NULL;
}

/* Finds addresses: those of what the graph has freed before, if they are enough, then others. 0: result says why not. */
static uint64_t place(vmm_system *sys, const char *function, const struct graph *graph, const struct abi_dependencies *on, int device,
                      uint64_t span, struct abi_memory_range **range, CUresult *result)
{
    union {
        struct graph_node *node;
        struct gap_span span;
    } *room = heap.malloc((graph->count + 1) * sizeof *room); /* for nodes, then for spans */
    if (!room) {
        *result = abi_no_memory(function);
        return 0;
    }
    mark_before(graph, on, (struct graph_node **)(void *)room);
    uint64_t at = place_among(sys, graph, device, span, range, (struct gap_span *)(void *)room);
    heap.free(room);
    if (at)
        return at;
    *range = take(sys, function, device, span, result);
    return *range ? (*range)->taken.start : 0;
}

static struct abi_memory *new_memory(vmm_system *sys, const char *function, const struct graph *graph,
                                     const struct abi_dependencies *on, const CUDA_MEM_ALLOC_NODE_PARAMS *params, CUresult *result)
{
    struct abi_memory_range *range = NULL;
    uint64_t span = pool_round(params->bytesize, POOL_UNIT);
    struct abi_memory *memory = heap.malloc(sizeof *memory);
    uint64_t at = 0;
    if (!memory)
        *result = abi_no_memory(function);
    else if (!span)
        *result = refuse_addresses(function, params->bytesize);
    else
        at = place(sys, function, graph, on, params->poolProps.location.id, span, &range, result);
    if (!at) {
        heap.free(memory);
        return NULL;
    }
    *memory = (struct abi_memory){.at = at, .size = params->bytesize, .span = span, .range = range, .home = graph->value, .refs = 1};
    range->refs++;
    life_acquire(&lock);
    memory->next = first;
    first = memory;
    life_release(&lock);
    return memory;
}

/* ---- allocation nodes ---- */

static CUresult check_location(const vmm_system *sys, const char *function, CUmemLocation at)
{
    if (at.type == CU_MEM_LOCATION_TYPE_HOST || at.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return abi_refuse(VMM_RULE_GRAPH_MEMORY_KIND, function, "poolProps.location.type is %d: memory of graphs is a device's",
                          (int)at.type);
    if (at.type != CU_MEM_LOCATION_TYPE_DEVICE || at.id < 0 || at.id >= abi_query_profile(sys)->devices)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "poolProps.location is type %d, id %d, which is no device", (int)at.type,
                          at.id);
    return CUDA_SUCCESS;
}

static CUresult check_props(const vmm_system *sys, const char *function, const CUmemPoolProps *props)
{
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED && props->allocType != CU_MEM_ALLOCATION_TYPE_MANAGED)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "poolProps.allocType is %d", (int)props->allocType);
    for (size_t i = 0; i < sizeof props->reserved; i++)
        if (props->reserved[i])
            return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "poolProps.reserved is not 0");
    CUresult result = check_location(sys, function, props->location);
    if (result == CUDA_SUCCESS && props->handleTypes)
        result = abi_refuse(VMM_RULE_GRAPH_MEMORY_KIND, function, "poolProps.handleTypes is %d: memory of graphs cannot be exported",
                            (int)props->handleTypes);
    return result;
}

static CUresult check_access(const vmm_system *sys, const char *function, const CUmemAccessDesc *access)
{
    if (access->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        CUresult result = abi_device(sys, function, access->location.id);
        if (result != CUDA_SUCCESS)
            return result;
    }
    if (access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_GRAPH_MEMORY_KIND, function, "accessDescs: flags are %d, and memory of graphs can only be read and written",
                      (int)access->flags);
}

CUresult abi_alloc_check(const vmm_system *sys, const char *function, const CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    if (!p)
        return abi_graph_null(function, "nodeParams");
    if (!p->bytesize)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "bytesize is 0");
    CUresult result = check_props(sys, function, &p->poolProps);
    if (result == CUDA_SUCCESS && p->accessDescCount && !p->accessDescs)
        result = abi_refuse(VMM_RULE_GRAPH_MEMORY_ACCESS, function, "accessDescCount is %zu, and accessDescs is NULL",
                            p->accessDescCount);
    for (size_t i = 0; i < p->accessDescCount && result == CUDA_SUCCESS; i++)
        result = check_access(sys, function, &p->accessDescs[i]);
    return result;
}

/* A child that was moved into its parent gets no more memory, as documented (cuda.h 13.0, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE). */
static bool may_grow(const char *function, const struct graph *graph, CUresult *result)
{
    if (abi_more_of(graph)->inside)
        *result = abi_refuse(VMM_RULE_GRAPH_MEMORY_FIXED, function, "%p is the graph of a node, which gets no more memory",
                             (void *)abi_graph_value(graph));
    return !abi_more_of(graph)->inside;
}

/* Adds the node; the memory stays with it alone. */
static struct graph_node *add(const char *function, struct graph *graph, const struct abi_dependencies *on, struct abi_work *work,
                              CUresult *result)
{
    struct graph_node *node = abi_graph_add(graph, on->node, on->data, on->count, work);
    if (!node)
        *result = abi_no_memory(function);
    return node;
}

struct graph_node *abi_graph_add_alloc(vmm_system *sys, const char *function, struct graph *graph, const struct abi_dependencies *on,
                                       CUDA_MEM_ALLOC_NODE_PARAMS *params, CUresult *result)
{
    struct abi_work work = {.params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    if (!may_grow(function, graph, result) || !(work.memory = new_memory(sys, function, graph, on, params, result)))
        return NULL;
    work.params.alloc = *params;
    work.params.alloc.dptr = work.memory->at;
    struct graph_node *node = add(function, graph, on, &work, result);
    if (node)
        params->dptr = work.memory->at;
    abi_memory_drop(work.memory);
    return node;
}

/* ---- free nodes ---- */

static bool frees(const struct graph *graph, const struct abi_memory *memory)
{
    const struct graph_node *node = graph->first;
    while (node && !(abi_work_of(node)->memory == memory && abi_type_of(node) == CU_GRAPH_NODE_TYPE_MEM_FREE))
        node = node->after;
    return node != NULL;
}

struct graph_node *abi_graph_add_free(const char *function, struct graph *graph, const struct abi_dependencies *on, CUdeviceptr at,
                                      CUresult *result)
{
    struct abi_work work = {.params.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    struct abi_memory *memory = first;
    if (!may_grow(function, graph, result))
        return NULL;
    while (memory && (memory->at != at || memory->freed || frees(graph, memory)))
        memory = memory->next;
    if (!memory) {
        *result = abi_refuse(VMM_RULE_GRAPH_MEMORY_FREE, function, "at 0x%llx begins no allocation of a graph that is not freed yet",
                             (unsigned long long)at);
        return NULL;
    }
    work.memory = memory;
    work.params.free.dptr = at;
    struct graph_node *node = add(function, graph, on, &work, result);
    if (node)
        abi_memory_set_freed(memory, graph, true);
    return node;
}
