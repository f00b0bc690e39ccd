/* SPDX-License-Identifier: Apache-2.0 */
/* model_graph.c - graphs, their nodes and what those hold, and dependencies. */
#include "model_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INVALID VMM_ERROR_INVALID_VALUE

enum { KERNELS = 15, FILL_ARGUMENTS = 3, MOST_THREADS = 1024 };

void *model_new(size_t size)
{
    void *made = calloc(1, size);
    if (made)
        return made;
    fputs("model: the host has no memory left\n", stderr);
    exit(255);
}

void model_graphs_open(struct model *model)
{
    model->graphs = model_new(sizeof *model->graphs);
    model->graphs->ids = 1;
    model->graphs->value = model_new(sizeof *model->graphs->value);
    model->graphs->id_room = 1;
}

static void free_node(struct model_node *node)
{
    if (node->work.child)
        model_graph_free(node->work.child);
    free(node->link);
    free(node);
}

void model_graph_free(struct model_graph *graph)
{
    model_objects_drop(graph);
    for (size_t i = 0; i < graph->count; i++)
        free_node(graph->node[i]);
    free(graph->node);
    free(graph);
}

void model_graphs_close(struct model *model)
{
    struct model_graphs *all = model->graphs;
    if (!all)
        return;
    for (size_t i = 0; i < all->count; i++)
        model_graph_free(all->graph[i]);
    for (size_t i = 0; i < all->execs; i++) {
        model_graph_free(all->exec[i]->graph);
        free(all->exec[i]);
    }
    for (int i = 0; i < MODEL_LANES; i++) {
        if (all->capture[i] && !all->capture[i]->given)
            model_graph_free(all->capture[i]->graph);
        free(all->capture[i]);
        free(all->lane[i].reached.node);
    }
    for (int i = 0; i < 2; i++)
        free(all->event[i].reached.node);
    free(all->graph);
    free(all->exec);
    model_objects_close(all);
    free(all->value);
    free(all);
}

/* ---- looking up ---- */

static struct model_graph *graph_in(struct model_graph *graph, uint64_t value)
{
    struct model_graph *found = graph->value == value ? graph : NULL;
    for (size_t i = 0; !found && i < graph->count; i++)
        if (graph->node[i]->work.child)
            found = graph_in(graph->node[i]->work.child, value);
    return found;
}

static struct model_node *node_in(const struct model_graph *graph, uint64_t value)
{
    struct model_node *found = NULL;
    for (size_t i = 0; !found && i < graph->count; i++) {
        if (graph->node[i]->value == value)
            return graph->node[i];
        if (graph->node[i]->work.child)
            found = node_in(graph->node[i]->work.child, value);
    }
    return found;
}

struct model_graph *model_graph_of(const struct model *model, vmm_graph value)
{
    struct model_graph *found = NULL;
    for (size_t i = 0; value && !found && i < model->graphs->count; i++)
        found = graph_in(model->graphs->graph[i], (uint64_t)(uintptr_t)value);
    return found;
}

struct model_node *model_node_of(const struct model *model, vmm_graph_node value)
{
    struct model_node *found = NULL;
    for (size_t i = 0; value && !found && i < model->graphs->count; i++)
        found = node_in(model->graphs->graph[i], (uint64_t)(uintptr_t)value);
    return found;
}

struct model_exec *model_exec_of(const struct model *model, vmm_graph_exec value)
{
    for (size_t i = 0; i < model->graphs->execs; i++)
        if (value && model->graphs->exec[i]->value == (uint64_t)(uintptr_t)value)
            return model->graphs->exec[i];
    return NULL;
}

/* The copy of a node in a graph; deep: in graphs of its nodes, too. NULL for none. */
static struct model_node *model_copy_of(const struct model *model, const struct model_graph *graph, uint64_t value, bool deep)
{
    struct model_node *found = NULL;
    for (size_t i = 0; value && i < graph->count; i++)
        if (model->graphs->value[graph->node[i]->origin] == value)
            return graph->node[i];
    for (size_t i = 0; value && deep && !found && i < graph->count; i++)
        if (graph->node[i]->work.child)
            found = model_copy_of(model, graph->node[i]->work.child, value, true);
    return found;
}

struct model_graph *model_need_graph(struct model *m, vmm_graph value, struct model_answer *a)
{
    struct model_graph *graph = model_graph_of(m, value);
    if (!graph)
        model_refuse(a, INVALID, "VMM-GRAPH-UNKNOWN");
    return graph;
}

struct model_node *model_need_node(struct model *m, vmm_graph_node value, struct model_answer *a)
{
    struct model_node *node = model_node_of(m, value);
    if (!node)
        model_refuse(a, INVALID, "VMM-GRAPH-NODE");
    return node;
}

#define need_graph model_need_graph
#define need_node model_need_node

static bool null(const void *pointer, struct model_answer *a)
{
    return !pointer && !model_refuse(a, INVALID, "VMM-GRAPH-NULL");
}

/* ---- making and ending ---- */

struct model_graph *model_graph_new(void)
{
    return model_new(sizeof(struct model_graph));
}

/* The system reported the value of a node. */
static void know(struct model *m, struct model_node *node, uint64_t value, struct model_answer *a)
{
    if (!node->value)
        model_expect(a, "node equals another one", model_node_of(m, (vmm_graph_node)(uintptr_t)value) || !value, false);
    else
        model_expect(a, "node", value, node->value);
    node->value = m->graphs->value[node->id] = value;
    node->tag = node->tag ? node->tag : m->tag;
}

void model_graph_keep(struct model *model, struct model_graph *graph, uint64_t value, struct model_answer *answer)
{
    struct model_graphs *all = model->graphs;
    model_expect(answer, "graph equals another one", model_graph_of(model, (vmm_graph)(uintptr_t)value) || !value, false);
    graph->value = value;
    graph->tag = model->tag;
    all->graph = model_room(all->graph, &all->room, all->count, sizeof(struct model_graph *));
    all->graph[all->count++] = graph;
}

void model_reach(struct model_reached *reached, struct model_node *node)
{
    for (size_t i = 0; i < reached->count; i++)
        if (reached->node[i] == node)
            return;
    reached->node = model_room(reached->node, &reached->room, reached->count, sizeof(struct model_node *));
    reached->node[reached->count++] = node;
}

static void forget_in(struct model_reached *reached, const struct model_node *node)
{
    for (size_t i = 0; i < reached->count; i++)
        if (reached->node[i] == node) {
            reached->node[i] = reached->node[--reached->count];
            return;
        }
}

static bool unlink_from(struct model_node *node, const struct model_node *on)
{
    const size_t before = node->links;
    for (size_t i = 0; i < node->links; i++)
        if (node->link[i].on == on)
            node->link[i--] = node->link[--node->links];
    if (before && !node->links)
        node->rooted = ++node->graph->turns;
    return before && !node->links;
}

/* The latest link to the node, of any other node; NULL: none. */
static struct model_node *latest_on(const struct model_graph *graph, const struct model_node *on)
{
    struct model_node *found = NULL;
    uint64_t made = 0;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->node[i]->links; k++)
            if (graph->node[i]->link[k].on == on && graph->node[i]->link[k].made >= made) {
                found = graph->node[i];
                made = found->link[k].made;
            }
    return found;
}

static void end_node(struct model *m, struct model_node *node)
{
    struct model_graph *graph = node->graph;
    size_t at = 0, roots = 0;
    for (size_t i = 0; i < graph->count; i++)
        at = graph->node[i] == node ? i : at;
    for (struct model_node *next = latest_on(graph, node); next; next = latest_on(graph, node))
        roots += unlink_from(next, node);
    graph->vague |= roots > 1;
    for (size_t i = at + 1; i < graph->count; i++)
        graph->node[i - 1] = graph->node[i];
    graph->count--;
    graph->edits++;
    for (int i = 0; i < MODEL_LANES; i++)
        forget_in(&m->graphs->lane[i].reached, node);
    for (int i = 0; i < 2; i++)
        forget_in(&m->graphs->event[i].reached, node);
    free_node(node);
}

void model_graph_end(struct model *model, struct model_graph *graph)
{
    struct model_graphs *all = model->graphs;
    for (size_t i = 0; i < all->count; i++)
        if (all->graph[i] == graph)
            all->graph[i] = all->graph[--all->count];
    model_graph_free(graph);
}

static void link_to(struct model *m, struct model_node *node, struct model_node *on, uint64_t data)
{
    node->link = model_room(node->link, &node->link_room, node->links, sizeof *node->link);
    node->link[node->links++] = (struct model_link){on, data, ++m->graphs->links};
}

struct model_node *model_node_add(struct model *model, struct model_graph *graph, struct model_node *const *on, size_t count,
                                  const struct model_work *work)
{
    struct model_graphs *all = model->graphs;
    struct model_node *node = model_new(sizeof *node);
    node->graph = graph;
    node->work = *work;
    node->id = all->ids++;
    all->value = model_room(all->value, &all->id_room, node->id, sizeof *all->value);
    all->value[node->id] = 0;
    for (size_t i = 0; i < count; i++)
        link_to(model, node, on[i], 0);
    node->rooted = ++graph->turns;
    if (work->child) {
        node->work.child = model_graph_copy(model, work->child);
        node->work.child->inside = node;
    }
    graph->node = model_room(graph->node, &graph->room, graph->count, sizeof(struct model_node *));
    graph->node[graph->count++] = node;
    return node;
}

struct model_graph *model_graph_copy(struct model *model, const struct model_graph *graph)
{
    struct model_graph *copy = model_graph_new();
    size_t roots = 0;
    model_objects_copy(copy, graph);
    for (size_t i = 0; i < graph->count; i++)
        model_node_add(model, copy, NULL, 0, &graph->node[i]->work)->origin = graph->node[i]->id;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->node[i]->links; k++)
            for (size_t to = 0; to < graph->count; to++)
                if (graph->node[to] == graph->node[i]->link[k].on) {
                    link_to(model, copy->node[i], copy->node[to], graph->node[i]->link[k].data);
                    copy->node[i]->link[copy->node[i]->links - 1].made = graph->node[i]->link[k].made;
                }
    for (size_t i = 0; i < graph->count; i++)
        roots += !graph->node[i]->links;
    copy->vague = roots > 1;
    return copy;
}

static bool finds(struct model_node *from, const struct model_node *wanted)
{
    bool found = from == wanted;
    from->seen = true;
    for (size_t i = 0; !found && i < from->links; i++)
        found = !from->link[i].on->seen && finds(from->link[i].on, wanted);
    return found;
}

bool model_comes_after(const struct model_node *a, const struct model_node *b)
{
    struct model_graph *graph = a->graph;
    struct model_node *from = NULL;
    for (size_t i = 0; i < graph->count; i++) {
        graph->node[i]->seen = false;
        from = graph->node[i] == a ? graph->node[i] : from;
    }
    return from && finds(from, b);
}

MODEL_ON(graph_create)
{
    if (c->flags)
        model_refuse(a, INVALID, "VMM-GRAPH-FLAGS");
    else if (!null(c->graph, a) && model_succeeded(a))
        model_graph_keep(m, model_graph_new(), (uint64_t)(uintptr_t)*c->graph, a);
}

MODEL_ON(graph_destroy)
{
    struct model_graph *graph = need_graph(m, c->graph, a);
    if (graph && (graph->inside || model_is_captured_into(m, graph)))
        graph->inside ? model_refuse(a, INVALID, "VMM-GRAPH-UNKNOWN")
                      : model_refuse(a, VMM_ERROR_ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    else if (graph && model_succeeded(a))
        model_graph_end(m, graph);
}

MODEL_ON(graph_clone)
{
    const struct model_graph *graph = null(c->graph_clone, a) ? NULL : need_graph(m, c->original_graph, a);
    a->foreseen &= !graph || !graph->inside || !m->driver;
    if (graph && model_succeeded(a))
        model_graph_keep(m, model_graph_copy(m, graph), (uint64_t)(uintptr_t)*c->graph_clone, a);
}

/* ---- what nodes hold ---- */

static int device_of(const struct model *m, vmm_context context)
{
    for (size_t i = 0; i < m->context_count; i++)
        if (m->contexts[i].value == context)
            return m->contexts[i].device;
    return -1;
}

bool model_fill_allowed(struct model *model, const struct model_work *work, struct model_answer *answer)
{
    const vmm_memset_node_params *p = &work->fill;
    const uint64_t row = p->width * p->element_size;
    const struct model_transfer all = {
        .kind = MODEL_FILL, .to = p->dst, .size = (p->height - 1) * (p->height > 1 ? p->pitch : 0) + row};
    if (p->dst % p->element_size)
        return model_refuse(answer, INVALID, "VMM-SET-ALIGNMENT");
    if (p->height > 1 && (p->pitch % p->element_size || p->pitch < row))
        return model_refuse(answer, INVALID, "VMM-GRAPH-PARAMS");
    if (model_outside_blocks(model, all.to, all.size))
        answer->foreseen = false; /* what a pool has of freed memory is not followed */
    return answer->foreseen && model_transfer_allowed(model, work->device, &all, answer);
}

/* The context that the call gives a fill; NULL is none for mapped memory of a device. */
static bool context_given(struct model *m, const vmm_memset_node_params *p, vmm_context context, struct model_answer *a)
{
    const struct model_mapping *mapping = p && !context ? model_mapping_at(m, p->dst) : NULL;
    return !mapping || !mapping->handle || !model_in_device(m, mapping) || model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
}

static bool fill_work(struct model *m, const vmm_memset_node_params *p, vmm_context context, struct model_work *work,
                      struct model_answer *a)
{
    if (null(p, a))
        return false;
    if (p->element_size != 1 && p->element_size != 2 && p->element_size != 4)
        return model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    if (!p->width || !p->height)
        return model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    *work = (struct model_work){.type = VMM_GRAPH_NODE_TYPE_MEMSET, .fill = *p};
    work->context = context || m->current < 0 ? context : m->contexts[m->current].value;
    work->device = device_of(m, work->context);
    a->foreseen = work->device >= 0; /* not observed: a node without a context */
    return a->foreseen && model_fill_allowed(m, work, a);
}

/* Something is to be copied, and the context lives; NULL is the current one. */
static bool copy_work(struct model *m, const vmm_memcpy3d *p, vmm_context context, struct model_work *work, struct model_answer *a)
{
    if (null(p, a))
        return false;
    if (!p->width_in_bytes || !p->height || !p->depth)
        return model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    *work = (struct model_work){.type = VMM_GRAPH_NODE_TYPE_MEMCPY};
    work->context = context || m->current < 0 ? context : m->contexts[m->current].value;
    work->device = device_of(m, work->context);
    a->foreseen = work->device >= 0; /* as of a fill */
    return a->foreseen && model_box_allowed(m, work->device, p, &work->copy, a);
}

static bool host_work(const vmm_host_node_params *p, struct model_work *work, struct model_answer *a)
{
    *work = (struct model_work){.type = VMM_GRAPH_NODE_TYPE_HOST};
    return !null(p, a) && (p->fn || model_refuse(a, INVALID, "VMM-HOSTFUNC-NULL"));
}

static bool kernel_work(const struct model *m, const vmm_kernel_node_params *p, struct model_work *work, struct model_answer *a)
{
    if (null(p, a))
        return false;
    if (p->kernel < 0 || p->kernel >= KERNELS)
        return model_refuse(a, INVALID, "VMM-LAUNCH-KERNEL");
    if (!p->grid_dim || p->grid_dim > INT32_MAX || !p->block_dim || p->block_dim > MOST_THREADS)
        return model_refuse(a, INVALID, "VMM-LAUNCH-DIMENSIONS");
    a->foreseen = p->kernel == VMM_KERNEL_FILL;
    if (a->foreseen && p->count != FILL_ARGUMENTS)
        return model_refuse(a, INVALID, "VMM-LAUNCH-ARGUMENTS");
    *work = (struct model_work){.type = VMM_GRAPH_NODE_TYPE_KERNEL, .device = model_current_device(m)};
    if (a->foreseen)
        work->kernel = (struct model_access){.start = p->args[0], .size = p->args[1], .writes = true, .value = (uint8_t)p->args[2]};
    return a->foreseen;
}

static bool event_work(const struct model *m, int type, vmm_event event, struct model_work *work, struct model_answer *a)
{
    *work = (struct model_work){.type = type, .event = (uint64_t)(uintptr_t)event};
    for (int i = 0; i < m->events; i++)
        if (m->event[i].value == work->event)
            return true;
    return event ? model_refuse(a, VMM_ERROR_INVALID_HANDLE, "VMM-EVENT-UNKNOWN") : !null(event, a);
}

/* ---- adding nodes ---- */

struct add {
    vmm_graph_node *out;
    vmm_graph graph;
    const vmm_graph_node *on;
    uint64_t count;
};

#define ADD (&(const struct add){c->graph_node, c->graph, c->dependencies, c->num_dependencies})

/* The nodes of a list; false, with a refusal, where one is none of the graph. */
static bool find_nodes(struct model *m, const struct model_graph *graph, const vmm_graph_node *list, uint64_t count,
                       struct model_node **nodes, struct model_answer *a)
{
    for (uint64_t i = 0; i < count; i++) {
        nodes[i] = model_node_of(m, list[i]);
        if (!nodes[i] || nodes[i]->graph != graph)
            return model_refuse(a, INVALID, "VMM-GRAPH-NODE");
    }
    return true;
}

static bool find_ends(struct model *m, const struct model_graph *graph, const struct add *add, struct model_node **ends,
                      struct model_answer *a)
{
    if (!find_nodes(m, graph, add->on, add->count, ends, a))
        return false;
    for (uint64_t i = 0; i < add->count; i++)
        for (uint64_t k = 0; k < i; k++)
            if (ends[k] == ends[i])
                return model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
    return true;
}

static void add_node(struct model *m, const struct add *add, const struct model_work *work, struct model_answer *a)
{
    struct model_graph *graph = null(add->out, a) ? NULL : need_graph(m, add->graph, a);
    if (!graph)
        return;
    if (add->count > graph->count) {
        model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
        return;
    }
    if (add->count && null(add->on, a))
        return;
    struct model_node **ends = model_new((add->count + 1) * sizeof *ends);
    if (find_ends(m, graph, add, ends, a) && model_succeeded(a))
        know(m, model_node_add(m, graph, ends, add->count, work), (uint64_t)(uintptr_t)*add->out, a);
    free(ends);
}

MODEL_ON(graph_add_empty_node)
{
    add_node(m, ADD, &(struct model_work){.type = VMM_GRAPH_NODE_TYPE_EMPTY}, a);
}

#define ADDS(name, of)                                \
    MODEL_ON(graph_add_##name)                        \
    {                                                 \
        struct model_work work = {0};                 \
        if (of)                                       \
            add_node(m, ADD, &work, a);               \
    }

ADDS(memset_node, context_given(m, c->memset_params, c->ctx, a) && fill_work(m, c->memset_params, c->ctx, &work, a))
ADDS(memcpy_node, copy_work(m, c->copy_params, c->ctx, &work, a))
ADDS(host_node, host_work(c->node_params, &work, a))
ADDS(kernel_node, kernel_work(m, c->node_params, &work, a))
ADDS(event_record_node, event_work(m, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, c->event, &work, a))
ADDS(event_wait_node, event_work(m, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, c->event, &work, a))

static bool lies_in(const struct model_graph *graph, const struct model_graph *outer)
{
    for (; graph && graph != outer; graph = graph->inside ? graph->inside->graph : NULL)
        continue;
    return graph != NULL;
}

/* A driver crashed on a graph within itself; within the graph of one of its nodes was not observed, and is refused alike. */
MODEL_ON(graph_add_child_graph_node)
{
    const struct model_work work = {.type = VMM_GRAPH_NODE_TYPE_GRAPH, .child = need_graph(m, c->child_graph, a)};
    const bool within = work.child && lies_in(model_graph_of(m, c->graph), work.child);
    a->foreseen = (!within && !(work.child && work.child->inside)) || !m->driver;
    if (within)
        model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    else if (work.child)
        add_node(m, ADD, &work, a);
}

MODEL_ON(graph_destroy_node)
{
    struct model_node *node = need_node(m, c->node, a);
    if (node && model_is_captured_into(m, node->graph))
        model_refuse(a, VMM_ERROR_ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    else if (node && model_succeeded(a))
        end_node(m, node);
}

/* ---- dependencies ---- */

struct ends {
    struct model_node **from, **to;
    uint64_t count;
    const vmm_graph_edge_data *data;
};

static uint64_t data_of(const struct ends *ends, uint64_t i)
{
    uint64_t data = 0;
    if (ends->data)
        memcpy(&data, &ends->data[i], sizeof data);
    return data;
}

/* A type of 0 or 1, a port of 0 to 2 where it comes from, and nothing else. */
static bool is_data(const struct ends *ends, uint64_t i)
{
    const vmm_graph_edge_data *d = ends->data ? &ends->data[i] : NULL;
    bool zero = true;
    for (size_t k = 0; d && k < sizeof d->reserved; k++)
        zero &= !d->reserved[k];
    return !d || (zero && d->type <= 1 && d->from_port <= 2 && !d->to_port);
}

static struct model_link *link_between(const struct model_node *from, const struct model_node *to)
{
    for (size_t i = 0; i < to->links; i++)
        if (to->link[i].on == from)
            return &to->link[i];
    return NULL;
}

/* False, with a refusal, where the lists are wrong. */
static bool find_both(struct model *m, vmm_graph value, const vmm_graph_node *from, const vmm_graph_node *to,
                      const vmm_graph_edge_data *data, struct ends *ends, struct model_answer *a)
{
    const struct model_graph *graph = need_graph(m, value, a);
    ends->data = data;
    if (graph && ends->count > UINT32_MAX) {
        model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
        return false;
    }
    if (!graph || (ends->count && (null(from, a) || null(to, a))))
        return false;
    ends->from = model_new((ends->count + 1) * sizeof *ends->from);
    ends->to = model_new((ends->count + 1) * sizeof *ends->to);
    if (!find_nodes(m, graph, from, ends->count, ends->from, a) || !find_nodes(m, graph, to, ends->count, ends->to, a))
        return false;
    for (uint64_t i = 0; i < ends->count; i++)
        if (!is_data(ends, i))
            return model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
    return true;
}

/* How many edges come before the first that is there already, or named before. */
static uint64_t count_new(const struct ends *ends)
{
    for (uint64_t i = 0; i < ends->count; i++) {
        bool twice = link_between(ends->from[i], ends->to[i]);
        for (uint64_t k = 0; k < i; k++)
            twice |= ends->from[k] == ends->from[i] && ends->to[k] == ends->to[i];
        if (twice)
            return i;
    }
    return ends->count;
}

/* Those before the first one that is there already are added all the same, unless a node is to come after itself. */
MODEL_ON(graph_add_dependencies)
{
    struct ends ends = {.count = c->num_dependencies};
    if (find_both(m, c->graph, c->from, c->to, c->edge_data, &ends, a)) {
        uint64_t added = count_new(&ends);
        for (uint64_t i = 0; i < ends.count; i++)
            added = ends.from[i] == ends.to[i] ? 0 : added;
        if (added < ends.count)
            model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
        for (uint64_t i = 0; !a->asked && a->actual == a->result && i < added; i++)
            link_to(m, ends.to[i], ends.from[i], data_of(&ends, i));
    }
    free(ends.from);
    free(ends.to);
}

/* Those before the first one that is not there are removed all the same. */
MODEL_ON(graph_remove_dependencies)
{
    struct ends ends = {.count = c->num_dependencies};
    if (find_both(m, c->graph, c->from, c->to, NULL, &ends, a)) {
        uint64_t i = 0, before = 0;
        ends.data = c->edge_data;
        for (; i < ends.count; i++) {
            const struct model_link *link = link_between(ends.from[i], ends.to[i]);
            bool again = false;
            for (uint64_t k = 0; k < i; k++)
                again |= ends.from[k] == ends.from[i] && ends.to[k] == ends.to[i];
            if (!link || again || (ends.data && link->data != data_of(&ends, i)))
                break;
        }
        if (i < ends.count)
            model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
        for (before = 0; !a->asked && a->actual == a->result && before < i; before++)
            unlink_from(ends.to[before], ends.from[before]);
        if (before)
            ends.to[0]->graph->edits++;
    }
    free(ends.from);
    free(ends.to);
}

/* ---- asking nodes ---- */

static struct model_node *of_type(struct model_node *node, int type, struct model_answer *a)
{
    if (node && node->work.type != type)
        model_refuse(a, INVALID, "VMM-GRAPH-NODE-TYPE");
    return node && node->work.type == type ? node : NULL;
}

MODEL_ON(graph_node_get_type)
{
    const struct model_node *node = null(c->type, a) ? NULL : need_node(m, c->node, a);
    if (node && model_succeeded(a))
        model_expect(a, "type", (uint64_t)*c->type, (uint64_t)node->work.type);
}

MODEL_ON(graph_node_find_in_clone)
{
    if (null(c->node, a) || null(c->original_node, a))
        return;
    const struct model_graph *graph = need_graph(m, c->cloned_graph, a);
    struct model_node *node = graph ? model_copy_of(m, graph, (uint64_t)(uintptr_t)c->original_node, false) : NULL;
    if (graph && !node)
        a->writes_zero = !model_refuse(a, INVALID, "VMM-GRAPH-NODE");
    else if (graph && model_succeeded(a))
        know(m, node, (uint64_t)(uintptr_t)*c->node, a);
}

MODEL_ON(graph_child_graph_node_get_graph)
{
    struct model_node *node = null(c->graph, a) ? NULL : of_type(need_node(m, c->node, a), VMM_GRAPH_NODE_TYPE_GRAPH, a);
    if (!node || !model_succeeded(a))
        return;
    struct model_graph *child = node->work.child;
    if (!child->value)
        model_expect(a, "graph equals another one", model_graph_of(m, *c->graph) || !*c->graph, false);
    else
        model_expect(a, "graph", (uint64_t)(uintptr_t)*c->graph, child->value);
    child->value = (uint64_t)(uintptr_t)*c->graph;
    child->tag = child->tag ? child->tag : m->tag;
}

static void get_event(struct model *m, vmm_graph_node value, int type, const vmm_event *out, struct model_answer *a)
{
    const struct model_node *node = null(out, a) ? NULL : of_type(need_node(m, value, a), type, a);
    if (node && model_succeeded(a))
        model_expect(a, "event_out", (uint64_t)(uintptr_t)*out, node->work.event);
}

MODEL_ON(graph_event_record_node_get_event)
{
    get_event(m, c->node, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, c->event_out, a);
}

MODEL_ON(graph_event_wait_node_get_event)
{
    get_event(m, c->node, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, c->event_out, a);
}

MODEL_ON(graph_memcpy_node_get_params)
{
    const struct model_node *node = null(c->node_params, a) ? NULL : of_type(need_node(m, c->node, a), VMM_GRAPH_NODE_TYPE_MEMCPY, a);
    if (!node || !model_succeeded(a))
        return;
    const vmm_memcpy3d *is = &node->work.copy.asked;
    for (int i = 0; i < VMM_BOX_SIZES; i++)
        model_expect(a, vmm_box_sizes[i].name, *vmm_box_size_at(c->node_params, &vmm_box_sizes[i]), *vmm_box_size_at(is, &vmm_box_sizes[i]));
    model_expect(a, "src_memory_type", (uint64_t)c->node_params->src_memory_type, (uint64_t)is->src_memory_type);
    model_expect(a, "dst_memory_type", (uint64_t)c->node_params->dst_memory_type, (uint64_t)is->dst_memory_type);
    model_expect(a, "src", vmm_box_src(c->node_params), vmm_box_src(is));
    model_expect(a, "dst", vmm_box_dst(c->node_params), vmm_box_dst(is));
}

/* ---- changing nodes ---- */

static void set(struct model *m, vmm_graph_node value, const struct model_work *work, struct model_answer *a)
{
    struct model_node *node = of_type(need_node(m, value, a), work->type, a);
    if (node && model_succeeded(a))
        node->work = *work;
}

/* The context of a fill stays. */
MODEL_ON(graph_memset_node_set_params)
{
    struct model_work work = {0};
    const struct model_node *node = model_node_of(m, c->node);
    if (node && node->work.type < VMM_GRAPH_NODE_TYPE_MEMSET)
        a->foreseen = false; /* not observed: whose rights count for a kernel or copy, which is refused for its type */
    else if (fill_work(m, c->node_params, node ? node->work.context : NULL, &work, a))
        set(m, c->node, &work, a);
}

MODEL_ON(graph_memcpy_node_set_params)
{
    struct model_work work = {0};
    const struct model_node *node = model_node_of(m, c->node);
    if (node && node->work.type == VMM_GRAPH_NODE_TYPE_KERNEL)
        a->foreseen = false; /* as above */
    else if (copy_work(m, c->node_params, node ? node->work.context : NULL, &work, a))
        set(m, c->node, &work, a);
}

MODEL_ON(graph_kernel_node_set_params)
{
    struct model_work work = {0};
    if (kernel_work(m, c->node_params, &work, a))
        set(m, c->node, &work, a);
}

MODEL_ON(graph_host_node_set_params)
{
    struct model_work work = {0};
    if (host_work(c->node_params, &work, a))
        set(m, c->node, &work, a);
}

MODEL_ON(graph_event_record_node_set_event)
{
    struct model_work work = {0};
    if (event_work(m, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, c->event, &work, a))
        set(m, c->node, &work, a);
}

MODEL_ON(graph_event_wait_node_set_event)
{
    struct model_work work = {0};
    if (event_work(m, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, c->event, &work, a))
        set(m, c->node, &work, a);
}

/* ---- the nodes of an instance ---- */

static struct model_node *node_of_exec(const struct model *m, vmm_graph_exec exec, vmm_graph_node value, struct model_answer *a)
{
    const struct model_exec *found = model_exec_of(m, exec);
    struct model_node *node = found ? model_copy_of(m, found->graph, (uint64_t)(uintptr_t)value, true) : NULL;
    if (!node)
        model_refuse(a, INVALID, found ? "VMM-GRAPH-NODE" : "VMM-GRAPH-EXEC");
    return node;
}

static void set_in(struct model_node *node, struct model_work *work, struct model_answer *a)
{
    node = of_type(node, work->type, a);
    if (!node || !model_succeeded(a))
        return;
    work->disabled = node->work.disabled;
    node->work = *work;
}

static bool has_rows(const vmm_memcpy3d *p)
{
    return p->height > 1 || p->depth > 1;
}

static bool has_same_places(const vmm_memcpy3d *is, const vmm_memcpy3d *next)
{
    const uint64_t from[][2] = {{(uintptr_t)is->src_host, (uintptr_t)next->src_host}, {is->src_device, next->src_device},
                                {is->src_x_in_bytes, next->src_x_in_bytes}, {is->src_y, next->src_y}, {is->src_z, next->src_z},
                                {is->src_height, next->src_height}, {(uintptr_t)is->dst_host, (uintptr_t)next->dst_host},
                                {is->dst_device, next->dst_device}, {is->dst_x_in_bytes, next->dst_x_in_bytes}, {is->dst_y, next->dst_y},
                                {is->dst_z, next->dst_z}, {is->dst_height, next->dst_height}};
    bool same = true;
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++)
        same &= from[i][0] == from[i][1];
    return same;
}

/* A fill keeps its context, a copy the types of its memory; one of several rows keeps its shape, and a copy of them stays as it is. */
bool model_work_fits(const struct model_work *now, const struct model_work *then)
{
    const vmm_memset_node_params *a = &now->fill, *b = &then->fill;
    const vmm_memcpy3d *is = &now->copy.asked, *next = &then->copy.asked;
    if (now->type == VMM_GRAPH_NODE_TYPE_MEMSET)
        return now->context == then->context &&
               ((a->height <= 1 && b->height <= 1) || (a->width == b->width && a->height == b->height && a->pitch == b->pitch &&
                                                       a->element_size == b->element_size));
    if (now->type != VMM_GRAPH_NODE_TYPE_MEMCPY)
        return true;
    const bool types = is->src_memory_type == next->src_memory_type && is->dst_memory_type == next->dst_memory_type;
    const bool same = is->width_in_bytes == next->width_in_bytes && is->height == next->height && is->depth == next->depth &&
                      is->src_pitch == next->src_pitch && is->dst_pitch == next->dst_pitch && has_same_places(is, next);
    return types && ((!has_rows(is) && !has_rows(next)) || same);
}

static void set_fitting(struct model_node *node, struct model_work *work, struct model_answer *a)
{
    if (node && !model_work_fits(&node->work, work))
        model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    else if (node)
        set_in(node, work, a);
}

MODEL_ON(graph_exec_memset_node_set_params)
{
    struct model_work work = {0};
    bool fits = context_given(m, c->memset_params, c->ctx, a) && fill_work(m, c->memset_params, c->ctx, &work, a);
    struct model_node *node = fits ? node_of_exec(m, c->graph_exec, c->node, a) : NULL;
    set_fitting(of_type(node, VMM_GRAPH_NODE_TYPE_MEMSET, a), &work, a);
}

MODEL_ON(graph_exec_memcpy_node_set_params)
{
    struct model_work work = {0};
    struct model_node *node = copy_work(m, c->copy_params, c->ctx, &work, a) ? node_of_exec(m, c->graph_exec, c->node, a) : NULL;
    set_fitting(of_type(node, VMM_GRAPH_NODE_TYPE_MEMCPY, a), &work, a);
}

MODEL_ON(graph_exec_kernel_node_set_params)
{
    struct model_work work = {0};
    struct model_node *node = kernel_work(m, c->node_params, &work, a) ? node_of_exec(m, c->graph_exec, c->node, a) : NULL;
    if (node)
        set_in(node, &work, a);
}

static void set_event_in(struct model *m, vmm_graph_exec exec, vmm_graph_node value, int type, vmm_event event, struct model_answer *a)
{
    struct model_work work = {0};
    struct model_node *node = event_work(m, type, event, &work, a) ? node_of_exec(m, exec, value, a) : NULL;
    if (node)
        set_in(node, &work, a);
}

MODEL_ON(graph_exec_event_record_node_set_event)
{
    set_event_in(m, c->graph_exec, c->node, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, c->event, a);
}

MODEL_ON(graph_exec_event_wait_node_set_event)
{
    set_event_in(m, c->graph_exec, c->node, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, c->event, a);
}

MODEL_ON(graph_exec_host_node_set_params)
{
    struct model_work work = {0};
    struct model_node *node = host_work(c->node_params, &work, a) ? node_of_exec(m, c->graph_exec, c->node, a) : NULL;
    if (node)
        set_in(node, &work, a);
}

/* Kernels, copies and fills can be left out. */
static struct model_node *switchable(struct model *m, vmm_graph_exec exec, vmm_graph_node value, struct model_answer *a)
{
    struct model_node *node = node_of_exec(m, exec, value, a);
    if (node && node->work.type > VMM_GRAPH_NODE_TYPE_MEMSET)
        model_refuse(a, INVALID, "VMM-GRAPH-NODE-TYPE");
    return node && node->work.type <= VMM_GRAPH_NODE_TYPE_MEMSET ? node : NULL;
}

MODEL_ON(graph_node_set_enabled)
{
    struct model_node *node = switchable(m, c->graph_exec, c->node, a);
    if (node && model_succeeded(a))
        node->work.disabled = !c->is_enabled;
}

MODEL_ON(graph_node_get_enabled)
{
    const struct model_node *node = null(c->is_enabled, a) ? NULL : switchable(m, c->graph_exec, c->node, a);
    if (node && model_succeeded(a))
        model_expect(a, "is_enabled", *c->is_enabled, !node->work.disabled);
}
