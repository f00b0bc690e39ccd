/* SPDX-License-Identifier: Apache-2.0 */
/* model_graph.c - graphs, their nodes and dependencies. */
#include "model_graph_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    free(node->next);
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

struct model_node *model_copy_of(const struct model *model, const struct model_graph *graph, uint64_t value, bool deep)
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

bool model_graph_null(const void *pointer, struct model_answer *a)
{
    return !pointer && !model_refuse(a, INVALID, "VMM-GRAPH-NULL");
}

bool model_find_nodes(struct model *m, const struct model_graph *graph, const vmm_graph_node *list, uint64_t count,
                      struct model_node **nodes, struct model_answer *a)
{
    for (uint64_t i = 0; i < count; i++) {
        nodes[i] = model_node_of(m, list[i]);
        if (!nodes[i] || nodes[i]->graph != graph)
            return model_refuse(a, INVALID, "VMM-GRAPH-NODE");
    }
    return true;
}

/* ---- making and ending ---- */

struct model_graph *model_graph_new(void)
{
    return model_new(sizeof(struct model_graph));
}

void model_node_know(struct model *m, struct model_node *node, uint64_t value, struct model_answer *a)
{
    if (!node->value)
        model_expect(a, "node equals another one", model_node_of(m, (vmm_graph_node)(uintptr_t)value) || !value, false);
    else
        model_expect(a, "node", value, node->value);
    for (size_t id = 0; id < m->graphs->ids; id++) /* one that was, and had this value, is named no more */
        m->graphs->value[id] = m->graphs->value[id] == value ? 0 : m->graphs->value[id];
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

void model_node_last(struct model_node *node)
{
    if (!node->nexts)
        node->leafed = ++node->graph->turns;
}

static void unlink_from(struct model_node *node, struct model_node *on)
{
    size_t i = 0, k = 0;
    while (i < node->links && node->link[i].on != on)
        i++;
    while (k < on->nexts && on->next[k] != node)
        k++;
    if (i == node->links)
        return;
    node->link[i] = node->link[--node->links];
    on->next[k] = on->next[--on->nexts];
    if (!node->links)
        node->rooted = ++node->graph->turns;
    model_node_last(on);
}

void model_node_end(struct model *m, struct model_node *node)
{
    struct model_graph *graph = node->graph;
    size_t at = 0;
    for (size_t i = 0; i < graph->count; i++)
        at = graph->node[i] == node ? i : at;
    while (node->links)
        unlink_from(node, node->link[0].on);
    while (node->nexts)
        unlink_from(node->next[0], node);
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

static void link_to(struct model_node *node, struct model_node *on, uint64_t data)
{
    node->link = model_room(node->link, &node->link_room, node->links, sizeof *node->link);
    node->link[node->links++] = (struct model_link){on, data};
    on->next = model_room(on->next, &on->next_room, on->nexts, sizeof(struct model_node *));
    on->next[on->nexts++] = node;
}

static struct model_node *node_add(struct model *model, struct model_graph *graph, struct model_node *const *on, size_t count,
                                   const struct model_work *work, bool instance)
{
    struct model_graphs *all = model->graphs;
    struct model_node *node = model_new(sizeof *node);
    node->graph = graph;
    node->work = *work;
    node->id = all->ids++;
    all->value = model_room(all->value, &all->id_room, node->id, sizeof *all->value);
    all->value[node->id] = 0;
    for (size_t i = 0; i < count; i++)
        link_to(node, on[i], 0);
    node->rooted = ++graph->turns;
    node->leafed = graph->turns;
    if (work->child) {
        node->work.child = model_graph_copy(model, work->child, instance);
        node->work.child->inside = node;
    }
    graph->node = model_room(graph->node, &graph->room, graph->count, sizeof(struct model_node *));
    graph->node[graph->count++] = node;
    return node;
}

struct model_node *model_node_add(struct model *model, struct model_graph *graph, struct model_node *const *on, size_t count,
                                  const struct model_work *work)
{
    model->may_take += model->driver && !model->may_take; /* a driver took 2 MiB twice before there was an instance */
    return node_add(model, graph, on, count, work, false);
}

struct model_graph *model_graph_copy(struct model *model, const struct model_graph *graph, bool instance)
{
    struct model_graph *copy = model_graph_new();
    for (size_t i = 0; i < graph->count; i++)
        node_add(model, copy, NULL, 0, &graph->node[i]->work, instance)->origin = graph->node[i]->id;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->node[i]->links; k++)
            for (size_t to = 0; to < graph->count; to++)
                if (graph->node[to] == graph->node[i]->link[k].on)
                    link_to(copy->node[i], copy->node[to], graph->node[i]->link[k].data);
    for (size_t i = 0; i < graph->count; i++)
        copy->node[i]->leafed = graph->node[i]->leafed;
    copy->turns = copy->turns > graph->turns ? copy->turns : graph->turns;
    model_objects_copy(copy, graph, instance); /* after those of child graphs. Ours: it counts where a graph owes references */
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
    else if (!model_graph_null(c->graph, a) && model_succeeded(a))
        model_graph_keep(m, model_graph_new(), (uint64_t)(uintptr_t)*c->graph, a);
}

MODEL_ON(graph_destroy)
{
    struct model_graph *graph = need_graph(m, c->graph, a);
    a->foreseen &= !m->driver || !graph || model_is_captured_into(m, graph, false) == model_is_captured_into(m, graph, true);
    if (graph && (graph->inside || model_is_captured_into(m, graph, true)))
        graph->inside && !model_is_captured_into(m, graph, true)
            ? model_refuse(a, INVALID, "VMM-GRAPH-UNKNOWN")
            : model_refuse(a, VMM_ERROR_ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    else if (graph && model_succeeded(a))
        model_graph_end(m, graph);
}

MODEL_ON(graph_clone)
{
    const struct model_graph *graph = model_graph_null(c->graph_clone, a) ? NULL : need_graph(m, c->original_graph, a);
    if (graph && model_succeeded(a))
        model_graph_keep(m, model_graph_copy(m, graph, false), (uint64_t)(uintptr_t)*c->graph_clone, a);
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

/* What counts when an edge is removed: the reserved bytes do not, nor where one of type 0 comes from (seen once). */
static uint64_t named_data(const struct ends *ends, uint64_t i)
{
    struct ends one = *ends;
    const uint8_t from_port = ends->data[i].type ? ends->data[i].from_port : 0;
    vmm_graph_edge_data data = {.from_port = from_port, .to_port = ends->data[i].to_port, .type = ends->data[i].type};
    one.data = &data;
    return data_of(&one, 0);
}

/* A type of 0 or 1, a port of 0 to 2 where it comes from, and nothing else. */
static bool is_data(const vmm_graph_edge_data *d)
{
    bool zero = true;
    for (size_t k = 0; k < sizeof d->reserved; k++)
        zero &= !d->reserved[k];
    return zero && d->type <= 1 && d->from_port <= 2 && !d->to_port;
}

/* The type 1 is for two kernels, and from a port that is not 0, which only kernels have. */
static bool may_lead(const vmm_graph_edge_data *d, const struct model_node *from, const struct model_node *to)
{
    if (d->from_port && from->work.type != VMM_GRAPH_NODE_TYPE_KERNEL)
        return false;
    return d->type != 1 || (d->from_port && from->work.type == VMM_GRAPH_NODE_TYPE_KERNEL && to->work.type == VMM_GRAPH_NODE_TYPE_KERNEL);
}

bool model_edge_data_allowed(const struct model *m, const vmm_graph_edge_data *data, uint64_t count, struct model_answer *a)
{
    static const vmm_graph_edge_data none;
    for (uint64_t i = 0; data && i < count; i++) {
        if (!is_data(&data[i]))
            return model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
        a->foreseen &= !m->driver || !memcmp(&data[i], &none, sizeof none); /* what becomes of it was not observed */
    }
    return true;
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
    if (!graph || (ends->count && (model_graph_null(from, a) || model_graph_null(to, a))))
        return false;
    ends->from = model_new((ends->count + 1) * sizeof *ends->from);
    ends->to = model_new((ends->count + 1) * sizeof *ends->to);
    if (!model_find_nodes(m, graph, from, ends->count, ends->from, a) || !model_find_nodes(m, graph, to, ends->count, ends->to, a))
        return false;
    for (uint64_t i = 0; i < ends->count; i++)
        if (ends->data && (!is_data(&ends->data[i]) || !may_lead(&ends->data[i], ends->from[i], ends->to[i])))
            return model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
    return true;
}

/* The number of edges before the first one that already exists or is repeated. */
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

/* Those before the first existing one are still added, unless a node would depend on itself. */
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
            link_to(ends.to[i], ends.from[i], data_of(&ends, i));
    }
    free(ends.from);
    free(ends.to);
}

/* Those before the first missing one are still removed. */
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
            if (!link || again || (ends.data && link->data != named_data(&ends, i)))
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
