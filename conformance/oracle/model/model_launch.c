/* SPDX-License-Identifier: Apache-2.0 */
/* model_launch.c - instances of graphs: what a launch does, node by node.
 *
 * Not foreseen: nodes of a device other than the stream's, events of another context or of a capture, two nodes with events of which
 * neither comes after the other, and memory that a pool has got back.
 */
#include <stdlib.h>

#include "model_graph.h"

#define INVALID VMM_ERROR_INVALID_VALUE

enum { MOST_ITEMS = 256 };

/* ---- making ---- */

static bool null(const void *pointer, struct model_answer *a)
{
    return !pointer && !model_refuse(a, INVALID, "VMM-GRAPH-NULL");
}

static bool has_cycle(const struct model_graph *graph)
{
    size_t left = graph->count;
    bool *done = model_new(graph->count + 1), any = true, cycle;
    while (any) {
        any = false;
        for (size_t i = 0; i < graph->count; i++) {
            bool ready = !done[i];
            for (size_t k = 0; ready && k < graph->node[i]->links; k++)
                for (size_t on = 0; on < graph->count; on++)
                    ready &= graph->node[on] != graph->node[i]->link[k].on || done[on];
            if (!ready)
                continue;
            done[i] = any = true;
            left--;
        }
    }
    free(done);
    cycle = left != 0;
    for (size_t i = 0; !cycle && i < graph->count; i++)
        cycle = graph->node[i]->work.child && has_cycle(graph->node[i]->work.child);
    return cycle;
}

/* Had the device rights to that side of a copy when it was made? Memory of no device does not count. */
static bool had_rights(uint64_t place, int device)
{
    return !place || place >> (8 + device) & 1;
}

/* The memory of fills is looked at again, in the order in which nodes were made, and copies without a context are of the current one. */
static bool nodes_allowed(struct model *m, const struct model_graph *graph, struct model_answer *a)
{
    bool good = true;
    for (size_t i = 0; good && i < graph->count; i++) {
        const struct model_work *work = &graph->node[i]->work;
        if (work->type == VMM_GRAPH_NODE_TYPE_MEMSET)
            good = model_fill_allowed(m, work, a);
        else if (work->type == VMM_GRAPH_NODE_TYPE_MEMCPY)
            good = !work->unnamed || (had_rights(work->from, model_current_device(m)) && had_rights(work->to, model_current_device(m))) ||
                   model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
        else if (work->child)
            good = nodes_allowed(m, work->child, a);
    }
    return good;
}

/* What a device may launch: kernels, copies and fills, and at least one of them. */
static bool suits_device(const struct model_graph *graph)
{
    bool suits = graph->count;
    for (size_t i = 0; suits && i < graph->count; i++) {
        const struct model_work *work = &graph->node[i]->work;
        suits = work->type == VMM_GRAPH_NODE_TYPE_KERNEL || work->type == VMM_GRAPH_NODE_TYPE_MEMCPY || work->type == VMM_GRAPH_NODE_TYPE_MEMSET ||
                (work->child && suits_device(work->child));
    }
    return suits;
}

bool model_known_flags(uint64_t flags)
{
    return !(flags & ~(uint64_t)(VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                 VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
}

MODEL_ON(graph_instantiate)
{
    const uint64_t frees = VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, by_device = VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    if (!model_known_flags(c->flags)) {
        a->foreseen &= m->current >= 0 || !m->driver; /* which counts was not observed */
        model_refuse(a, INVALID, "VMM-GRAPH-FLAGS");
        return;
    }
    const struct model_graph *graph = model_graph_of(m, c->graph);
    if (m->current < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    else if (c->flags & frees && c->flags & by_device)
        model_refuse(a, INVALID, "VMM-GRAPH-FLAGS");
    else if (graph && graph->inside)
        model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-GRAPH-OF-NODE");
    else if (null(c->graph_exec, a))
        return;
    else if (!graph || has_cycle(graph))
        model_refuse(a, INVALID, graph ? "VMM-GRAPH-CYCLE" : "VMM-GRAPH-UNKNOWN");
    else if (c->flags & by_device && !suits_device(graph))
        model_refuse(a, INVALID, "VMM-GRAPH-FLAGS");
    else if (nodes_allowed(m, graph, a) && model_succeeded(a)) {
        struct model_graphs *all = m->graphs;
        struct model_exec *exec = model_new(sizeof *exec);
        *exec = (struct model_exec){.value = (uint64_t)(uintptr_t)*c->graph_exec, .flags = c->flags, .tag = m->tag,
                                    .graph = model_graph_copy(m, graph, true), .edits = graph->edits};
        model_note_memory(m, exec->graph);
        m->may_take++;
        m->instances++;
        model_expect(a, "instance equals another one", model_exec_of(m, *c->graph_exec) || !exec->value, false);
        all->exec = model_room(all->exec, &all->exec_room, all->execs, sizeof(struct model_exec *));
        all->exec[all->execs++] = exec;
    }
}

static struct model_exec *need(struct model *m, vmm_graph_exec value, struct model_answer *a)
{
    struct model_exec *exec = model_exec_of(m, value);
    if (!exec)
        model_refuse(a, INVALID, "VMM-GRAPH-EXEC");
    return exec;
}

MODEL_ON(graph_exec_get_flags)
{
    const struct model_exec *exec = null(c->flags, a) ? NULL : need(m, c->graph_exec, a);
    if (exec && model_succeeded(a))
        model_expect(a, "flags", *c->flags, exec->flags & ~(uint64_t)VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
}

/* A driver ends an instance, and what only that refers to, when its launches have ended. */
static void release_late(const struct model_graph *graph)
{
    for (size_t i = 0; i < graph->references; i++)
        graph->held[i].object->late = true;
    for (size_t i = 0; i < graph->count; i++)
        if (graph->node[i]->work.child)
            release_late(graph->node[i]->work.child);
}

MODEL_ON(graph_exec_destroy)
{
    struct model_exec *exec = need(m, c->graph_exec, a);
    struct model_graphs *all = m->graphs;
    if (!exec || !model_succeeded(a))
        return;
    if (exec->launched)
        release_late(exec->graph);
    for (size_t i = 0; i < all->execs; i++)
        if (all->exec[i] == exec)
            all->exec[i] = all->exec[--all->execs];
    model_graph_free(exec->graph);
    free(exec);
}

/* ---- what a launch does, in an order ---- */

struct mask {
    uint64_t bit[MOST_ITEMS / 64];
};

static void unite(struct mask *to, const struct mask *from)
{
    for (size_t i = 0; i < MOST_ITEMS / 64; i++)
        to->bit[i] |= from->bit[i];
}

/* A node's work, and what comes before it. */
struct item {
    const struct model_work *work;
    struct mask before;
    bool own; /* of the stream itself */
};

struct items {
    struct item item[MOST_ITEMS];
    size_t count;
    bool full;
};

static struct mask flatten(struct items *items, const struct model_graph *graph, const struct mask *start, bool own);

/* An empty node, or a child whose graph has no other ones. */
static bool is_void(const struct model_node *node)
{
    const struct model_graph *child = node->work.child;
    bool none = child || node->work.type == VMM_GRAPH_NODE_TYPE_EMPTY;
    for (size_t i = 0; none && child && i < child->count; i++)
        none = is_void(child->node[i]);
    return none;
}

static void seek(const struct model_graph *graph, const struct model_node *node, bool *seen, const struct model_node **oldest)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct model_node *next = graph->node[i];
        bool on = !node && !next->links;
        for (size_t k = 0; k < next->links; k++)
            on |= next->link[k].on == node;
        if (!on || seen[i])
            continue;
        seen[i] = true;
        if (is_void(next))
            seek(graph, next, seen, oldest);
        else if (!*oldest || next->id < (*oldest)->id)
            *oldest = next;
    }
}

/* The oldest node with work that depends on this one, also through nodes without; of NULL, that depends on none. */
static const struct model_node *oldest_after(const struct model_graph *graph, const struct model_node *node)
{
    const struct model_node *oldest = NULL;
    bool *seen = model_new(graph->count + 1);
    seek(graph, node, seen, &oldest);
    free(seen);
    return oldest;
}

/* What is done once the node is. */
static struct mask flatten_node(struct items *items, const struct model_node *node, struct mask before, bool own)
{
    struct mask done = before;
    if (node->work.child) {
        struct mask inside = flatten(items, node->work.child, &before, own);
        unite(&done, &inside);
    } else if (items->count == MOST_ITEMS) {
        items->full = true;
    } else if (!node->work.disabled) {
        done.bit[items->count / 64] |= UINT64_C(1) << items->count % 64;
        items->item[items->count++] = (struct item){&node->work, before, own};
    }
    return done;
}

/* All items of an acyclic graph: each node follows as soon as its dependencies are listed. Of the stream itself are
 * the oldest that depends on none, the oldest that depends on that, and so on. */
static struct mask flatten(struct items *items, const struct model_graph *graph, const struct mask *start, bool own)
{
    const struct model_node *next = oldest_after(graph, NULL);
    struct mask all = *start, *done = model_new((graph->count + 1) * sizeof *done);
    bool *there = model_new(graph->count + 1);
    for (size_t left = graph->count; left;)
        for (size_t i = 0; i < graph->count; i++) {
            struct mask before = *start;
            bool ready = !there[i];
            for (size_t k = 0; ready && k < graph->node[i]->links; k++)
                for (size_t on = 0; on < graph->count; on++)
                    if (graph->node[on] == graph->node[i]->link[k].on) {
                        ready &= there[on];
                        if (there[on])
                            unite(&before, &done[on]);
                    }
            if (!ready)
                continue;
            const bool mine = graph->node[i] == next;
            done[i] = flatten_node(items, graph->node[i], before, own && mine);
            next = mine ? oldest_after(graph, next) : next;
            unite(&all, &done[i]);
            there[i] = true;
            left--;
        }
    free(done);
    free(there);
    return all;
}

static bool ordered(const struct items *items, size_t i, size_t k)
{
    return items->item[i].before.bit[k / 64] >> k % 64 & 1 || items->item[k].before.bit[i / 64] >> i % 64 & 1;
}

/* ---- the memory of work ---- */

/* Whole rows, which lie in [start, + size). */
static struct model_access writes_of(const struct model_work *work)
{
    const vmm_memset_node_params *p = &work->fill;
    if (work->type == VMM_GRAPH_NODE_TYPE_KERNEL)
        return work->kernel;
    if (work->type == VMM_GRAPH_NODE_TYPE_MEMCPY)
        return model_box_writes(&work->copy);
    if (work->type == VMM_GRAPH_NODE_TYPE_MEMSET)
        return (struct model_access){.start = p->dst, .size = (p->height - 1) * (p->height > 1 ? p->pitch : 0) + p->width * p->element_size};
    return (struct model_access){.size = 0};
}

static struct model_access reads_of(const struct model_work *work)
{
    return work->type == VMM_GRAPH_NODE_TYPE_MEMCPY ? model_box_reads(&work->copy) : (struct model_access){.size = 0};
}

static bool share(struct model *m, struct model_access a, struct model_access b)
{
    if (!a.size || !b.size)
        return false;
    return model_overlap(a.start, a.size, b.start, b.size) || model_aliased(m, a.start, a.size, b.start, b.size);
}

/* Does work that comes neither before nor after it change what it reads, or write where it writes? */
static bool is_raced(struct model *m, const struct items *items, size_t i)
{
    const struct model_work *work = items->item[i].work;
    for (size_t k = 0; k < items->count; k++)
        if (k != i && !ordered(items, i, k)) {
            const struct model_access other = writes_of(items->item[k].work);
            if (share(m, writes_of(work), other) || share(m, reads_of(work), other))
                return true;
        }
    return false;
}

static bool kernel_may(struct model *m, const struct model_access *k, int device)
{
    for (uint64_t at = k->start; at - k->start < k->size;) {
        const struct model_mapping *here = model_memory_at(m, at);
        if (!here || model_device_rights(here, device) != VMM_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return false;
        at = here->start + here->size;
    }
    return true;
}

static struct model_event *event_of(struct model *m, uint64_t value, size_t *which)
{
    for (*which = 0; *which < (size_t)m->events; ++*which)
        if (m->event[*which].value == value)
            return &m->event[*which];
    return NULL;
}

static bool is_of_event(const struct model_work *work)
{
    return work->type == VMM_GRAPH_NODE_TYPE_EVENT_RECORD || work->type == VMM_GRAPH_NODE_TYPE_WAIT_EVENT;
}

/* Memory of the host to which the device has no rights: a driver copied there, and lost the device once. */
static bool is_hosts(struct model *m, struct model_access access, int device)
{
    const struct model_mapping *at = access.size ? model_memory_at(m, access.start) : NULL;
    return at && !model_in_device(m, at) && !model_device_rights(at, device);
}

/* Is what the work does known, and does its turn come without a fault? */
static void look(struct model *m, const struct items *items, size_t i, int device, struct model_answer *a)
{
    const struct model_work *work = items->item[i].work;
    const struct model_access to = writes_of(work), from = reads_of(work);
    struct model_answer turn = {.foreseen = true};
    size_t which;
    if (work->type <= VMM_GRAPH_NODE_TYPE_MEMSET && work->device != device)
        a->foreseen = false;
    if (m->driver && (model_has_other_memory(m, work) || is_hosts(m, to, device) || is_hosts(m, from, device)))
        a->foreseen = false;
    a->ends |= work->crashes; /* 7 of 7 times */
    a->ends |= m->driver && work->by_host; /* seen once: the addresses were a device's since, where the processor has nothing */
    if (model_outside_blocks(m, to.start, to.size) || model_outside_blocks(m, from.start, from.size))
        a->foreseen = false;
    if (work->type == VMM_GRAPH_NODE_TYPE_KERNEL)
        a->loses |= !kernel_may(m, &work->kernel, device);
    else if (work->type == VMM_GRAPH_NODE_TYPE_MEMCPY)
        a->loses |= !model_box_usable(m, device, &work->copy);
    else if (work->type == VMM_GRAPH_NODE_TYPE_MEMSET)
        a->loses |= !model_fill_allowed(m, work, &turn) || turn.loses;
    for (size_t k = 0; is_of_event(work) && k < i; k++)
        a->foreseen &= !is_of_event(items->item[k].work) || ordered(items, i, k);
    const struct model_event *event = is_of_event(work) ? event_of(m, work->event, &which) : NULL;
    if (is_of_event(work)) /* one that is gone is not foreseen */
        a->foreseen &= event && event->device == device && !m->graphs->event[which].capture &&
                       !m->graphs->event[which].over;
}

/* ---- doing it ---- */

static void fill(struct model *m, const vmm_memset_node_params *p)
{
    const uint8_t pattern[4] = {(uint8_t)p->value, (uint8_t)(p->value >> 8), (uint8_t)(p->value >> 16), (uint8_t)(p->value >> 24)};
    for (size_t row = 0; row < p->height; row++)
        model_write(m, p->dst + row * p->pitch, p->width * p->element_size, pattern, p->element_size);
}

static void do_work(struct model *m, const struct model_work *work, int lane, bool own)
{
    size_t which;
    switch (work->type) {
    case VMM_GRAPH_NODE_TYPE_KERNEL: model_write(m, work->kernel.start, work->kernel.size, &work->kernel.value, 1); break;
    case VMM_GRAPH_NODE_TYPE_MEMSET: fill(m, &work->fill); break;
    case VMM_GRAPH_NODE_TYPE_MEMCPY: model_box_move(m, &work->copy); break;
    case VMM_GRAPH_NODE_TYPE_HOST: m->graphs->host_calls++; break;
    case VMM_GRAPH_NODE_TYPE_EVENT_RECORD:
        model_record(m, event_of(m, work->event, &which), own ? lane : -1);
        break;
    case VMM_GRAPH_NODE_TYPE_WAIT_EVENT: /* pools see those of the stream itself */
        if (own)
            model_wait(m, lane, event_of(m, work->event, &which));
        else
            m->orders += event_of(m, work->event, &which)->recorded;
        break;
    default: break;
    }
}

static void launch(struct model *m, const struct model_graph *graph, int lane, struct model_answer *a)
{
    static struct items items;
    items.count = 0;
    items.full = false;
    flatten(&items, graph, &(struct mask){{0}}, true);
    a->foreseen = !items.full;
    for (size_t i = 0; i < items.count; i++)
        look(m, &items, i, m->lane[lane].device, a);
    for (size_t i = 0; model_succeeded(a) && a->foreseen && i < items.count; i++) {
        const struct model_access to = writes_of(items.item[i].work);
        do_work(m, items.item[i].work, lane, items.item[i].own);
        if (is_raced(m, &items, i))
            model_forget_range(m, to.start, to.size);
    }
}

MODEL_ON(graph_launch)
{
    struct model_exec *exec = need(m, c->graph_exec, a);
    const int lane = exec ? model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a) : -1;
    if (lane >= 0)
        launch(m, exec->graph, lane, a);
    a->ends |= m->driver && exec && exec->torn; /* a process ended so, once in 357 such launches */
    if (!exec)
        a->foreseen &= !m->driver || c->stream || model_current_device(m) >= 0; /* not observed: which of both mistakes counts */
    else
        exec->launched |= model_succeeded(a);
    m->may_take += exec && model_succeeded(a);
}

/* The default stream's context is checked before the instance. */
MODEL_ON(graph_upload)
{
    if (!c->stream && model_current_device(m) < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    struct model_exec *exec = a->result == VMM_SUCCESS ? need(m, c->graph_exec, a) : NULL;
    if (!exec || model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a) < 0 || !model_succeeded(a))
        return;
    exec->launched = true; /* seen to end as late as one that was launched */
    m->may_take++;
}
