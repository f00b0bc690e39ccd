/* SPDX-License-Identifier: Apache-2.0 */
/* model_list.c - what graphs tell: lists of nodes and of dependencies, what nodes hold, memory; and updates of instances. The system
 * tells the values of a copy's nodes here first, in the order in which the nodes were added; of roots, the latest first.
 */
#include <string.h>

#include "model_graph.h"

#define INVALID VMM_ERROR_INVALID_VALUE

static uint64_t number_of(const void *value)
{
    return (uint64_t)(uintptr_t)value;
}

static bool null(const void *pointer, struct model_answer *a)
{
    return !pointer && !model_refuse(a, INVALID, "VMM-GRAPH-NULL");
}

/* The room of a list, which was read before the call wrote to it. False, with a refusal, for a list without any. */
static bool has_room(const struct model *m, const void *list, struct model_answer *a)
{
    return !list || m->before || model_refuse(a, INVALID, "VMM-GRAPH-LIST");
}

/* How many entries of a list there are, and that the room behind them is empty. */
static uint64_t check_length(const struct model *m, const vmm_graph_node *list, uint64_t told, uint64_t there, struct model_answer *a)
{
    const uint64_t fit = m->before < there ? m->before : there;
    model_expect(a, "the number of entries", told, list ? fit : there);
    for (uint64_t i = fit; list && i < m->before; i++)
        model_expect(a, "an entry behind the last", number_of(list[i]), 0);
    return list ? fit : 0;
}

/* The system reports a node; an unreported value is identified with it. */
static void check_node(struct model *m, struct model_node *node, vmm_graph_node told, struct model_answer *a)
{
    if (node->value) {
        model_expect(a, "a node of the list", number_of(told), node->value);
        return;
    }
    model_expect(a, "a node of the list equals another one", model_node_of(m, told) || !told, false);
    node->value = m->graphs->value[node->id] = number_of(told);
}

/* The root that became one last before another one; NULL: of all. */
static struct model_node *next_root(const struct model_graph *graph, const struct model_node *after)
{
    struct model_node *found = NULL;
    for (size_t i = 0; i < graph->count; i++)
        if (!graph->node[i]->links && (!after || graph->node[i]->rooted < after->rooted) && (!found || graph->node[i]->rooted > found->rooted))
            found = graph->node[i];
    return found;
}

static void list_nodes(struct model *m, vmm_graph value, const vmm_graph_node *list, const uint64_t *count, bool roots,
                       struct model_answer *a)
{
    const struct model_graph *graph = null(count, a) ? NULL : model_need_graph(m, value, a);
    uint64_t there = 0, at = 0;
    if (!graph || !has_room(m, list, a) || !model_succeeded(a))
        return;
    for (size_t i = 0; i < graph->count; i++)
        there += !roots || !graph->node[i]->links;
    const uint64_t listed = check_length(m, list, *count, there, a);
    for (const struct model_node *last = NULL; roots && at < listed;) {
        struct model_node *next = next_root(graph, last);
        check_node(m, next, list[at++], a);
        last = next;
    }
    for (size_t i = 0; i < graph->count && at < listed; i++)
        check_node(m, graph->node[i], list[at++], a);
}

MODEL_ON(graph_get_nodes)
{
    list_nodes(m, c->graph, c->nodes, c->num_nodes, false, a);
}

MODEL_ON(graph_get_root_nodes)
{
    list_nodes(m, c->graph, c->root_nodes, c->num_root_nodes, true, a);
}

/* ---- dependencies ---- */

/* Is there one between nodes of these values, with that data? One of a node whose value is not known may be it. */
static bool is_link(const struct model_graph *graph, uint64_t from, uint64_t to, const vmm_graph_edge_data *data)
{
    uint64_t number = 0;
    if (data)
        memcpy(&number, data, sizeof number);
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->node[i]->links; k++) {
            const struct model_node *on = graph->node[i]->link[k].on;
            const bool same = (!on->value || on->value == from) && (!graph->node[i]->value || graph->node[i]->value == to);
            if (same && (!data || graph->node[i]->link[k].data == number))
                return true;
        }
    return false;
}

/* Refuses what would lose the data of a dependency of that node; NULL: of any. */
static bool loses(const struct model_graph *graph, const struct model_node *from, const struct model_node *to)
{
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->node[i]->links; k++)
            if (graph->node[i]->link[k].data && (!from || graph->node[i]->link[k].on == from) && (!to || graph->node[i] == to))
                return true;
    return false;
}

MODEL_ON(graph_get_edges)
{
    uint64_t there = 0;
    if (!c->num_edges || !c->from != !c->to || (c->edge_data && !c->from)) {
        model_refuse(a, INVALID, "VMM-GRAPH-NULL");
        return;
    }
    const struct model_graph *graph = model_need_graph(m, c->graph, a);
    if (!graph || !has_room(m, c->from, a))
        return;
    if (c->from && !c->edge_data && loses(graph, NULL, NULL))
        model_refuse(a, VMM_ERROR_LOSSY_QUERY, "VMM-GRAPH-LOSSY");
    if (!model_succeeded(a))
        return;
    for (size_t i = 0; i < graph->count; i++)
        there += graph->node[i]->links;
    const uint64_t listed = check_length(m, c->from, *c->num_edges, there, a);
    check_length(m, c->to, *c->num_edges, there, a);
    for (uint64_t i = 0; i < listed; i++) {
        const vmm_graph_edge_data *data = c->edge_data ? &c->edge_data[i] : NULL;
        model_expect(a, "a dependency of the list", is_link(graph, number_of(c->from[i]), number_of(c->to[i]), data), true);
        for (uint64_t k = 0; k < i; k++)
            model_expect(a, "a dependency that is listed twice", c->from[k] == c->from[i] && c->to[k] == c->to[i], false);
    }
}

static void list_ends(struct model *m, vmm_graph_node value, bool in, const vmm_graph_node *list, const vmm_graph_edge_data *data,
                      const uint64_t *count, struct model_answer *a)
{
    uint64_t there = 0;
    if (!count || (data && !list)) {
        model_refuse(a, INVALID, "VMM-GRAPH-NULL");
        return;
    }
    const struct model_node *node = model_need_node(m, value, a);
    if (!node || !has_room(m, list, a))
        return;
    const struct model_graph *graph = node->graph;
    if (list && !data && loses(graph, in ? NULL : node, in ? node : NULL))
        model_refuse(a, VMM_ERROR_LOSSY_QUERY, "VMM-GRAPH-LOSSY");
    if (!model_succeeded(a))
        return;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->node[i]->links; k++)
            there += in ? graph->node[i] == node : graph->node[i]->link[k].on == node;
    const uint64_t listed = check_length(m, list, *count, there, a), self = node->value;
    for (uint64_t i = 0; i < listed; i++) {
        const uint64_t other = number_of(list[i]);
        model_expect(a, "a node of the list", is_link(graph, in ? other : self, in ? self : other, data ? &data[i] : NULL), true);
        for (uint64_t k = 0; k < i; k++)
            model_expect(a, "a node that is listed twice", list[k] == list[i], false);
    }
}

MODEL_ON(graph_node_get_dependencies)
{
    list_ends(m, c->node, true, c->dependencies, c->edge_data, c->num_dependencies, a);
}

MODEL_ON(graph_node_get_dependent_nodes)
{
    list_ends(m, c->node, false, c->dependent_nodes, c->edge_data, c->num_dependent_nodes, a);
}

/* ---- what nodes hold ---- */

static const struct model_node *of_type(struct model *m, vmm_graph_node value, int type, struct model_answer *a)
{
    const struct model_node *node = model_need_node(m, value, a);
    if (node && node->work.type != type)
        model_refuse(a, INVALID, "VMM-GRAPH-NODE-TYPE");
    return node && model_succeeded(a) ? node : NULL;
}

MODEL_ON(graph_memset_node_get_params)
{
    const struct model_node *node = null(c->node_params, a) ? NULL : of_type(m, c->node, VMM_GRAPH_NODE_TYPE_MEMSET, a);
    if (!node)
        return;
    const vmm_memset_node_params *is = &node->work.fill, *told = c->node_params;
    model_expect(a, "dst", told->dst, is->dst);
    model_expect(a, "value", told->value, is->value);
    model_expect(a, "element_size", told->element_size, is->element_size);
    model_expect(a, "width", told->width, is->width);
    model_expect(a, "height", told->height, is->height);
    if (is->height > 1)
        model_expect(a, "pitch", told->pitch, is->pitch);
}

MODEL_ON(graph_host_node_get_params)
{
    const struct model_node *node = null(c->node_params, a) ? NULL : of_type(m, c->node, VMM_GRAPH_NODE_TYPE_HOST, a);
    if (node)
        model_expect(a, "fn is NULL", !c->node_params->fn, false);
}

/* ---- memory of graphs: no graph here allocates any ---- */

static bool is_device(const struct model *m, vmm_device device, struct model_answer *a)
{
    return (device >= 0 && device < m->profile->devices) || model_refuse(a, VMM_ERROR_INVALID_DEVICE, "VMM-DEVICE-ID");
}

MODEL_ON(device_get_graph_mem_attribute)
{
    if (!is_device(m, c->device, a) || null(c->value, a))
        return;
    if (c->attr < VMM_GRAPH_MEM_ATTR_USED_MEM_CURRENT || c->attr > VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        model_refuse(a, INVALID, "VMM-GRAPH-MEMORY-ATTRIBUTE");
    else if (model_succeeded(a))
        model_expect(a, "value", *c->value, 0);
}

MODEL_ON(device_set_graph_mem_attribute)
{
    a->foreseen = c->value || !m->driver || (c->device >= 0 && c->device < m->profile->devices); /* not observed: which counts */
    if (null(c->value, a) || !is_device(m, c->device, a))
        return;
    if ((c->attr != VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH && c->attr != VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) || *c->value)
        model_refuse(a, INVALID, "VMM-GRAPH-MEMORY-ATTRIBUTE");
}

MODEL_ON(device_graph_mem_trim)
{
    is_device(m, c->device, a);
}

/* ---- updates ---- */

static size_t count_links(const struct model_graph *graph)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->count; i++)
        count += graph->node[i]->links;
    return count;
}

/* Is the instance's graph a copy of that one, which is unchanged except for its nodes' parameters? */
static bool is_copy(const struct model_exec *exec, const struct model_graph *graph)
{
    bool copy = exec->graph->count == graph->count && exec->edits == graph->edits;
    for (size_t i = 0; copy && i < graph->count; i++)
        copy = exec->graph->node[i]->origin == graph->node[i]->id && exec->graph->node[i]->links == graph->node[i]->links &&
               !graph->node[i]->work.child;
    return copy && graph->count;
}

/* The leaf with that place among the graph's, by when they became leaves; NULL: there are not so many. */
static struct model_node *leaf(const struct model_graph *graph, size_t place)
{
    for (size_t i = 0; i < graph->count; i++) {
        size_t before = 0;
        for (size_t k = 0; k < graph->count; k++)
            before += !graph->node[k]->nexts && graph->node[k]->leafed < graph->node[i]->leafed;
        if (!graph->node[i]->nexts && before == place)
            return graph->node[i];
    }
    return NULL;
}

/* Do the leaves, which are paired by their places, have their copies as partners? Otherwise the nodes may still be alike, which is
 * not followed where the partners have as many links. */
static bool has_other_leaves(const struct model_exec *exec, const struct model_graph *graph, struct model_answer *a)
{
    bool other = false, alike = true;
    for (size_t i = 0; i < graph->count; i++) {
        const struct model_node *now = leaf(exec->graph, i), *then = leaf(graph, i);
        const bool moved = now && then && now->origin != then->id;
        other |= moved;
        alike &= !moved || now->links == then->links;
    }
    a->foreseen &= !other || !alike;
    return other;
}

/* Why the instance's nodes cannot take over the work of the graph's: VMM_GRAPH_EXEC_UPDATE_; 0: they can. The latest node is asked
 * first, as three updates on two H200 showed in which two nodes did not fit. */
static int why_not(struct model *m, const struct model_exec *exec, const struct model_graph *graph, size_t *at, struct model_answer *a)
{
    for (*at = graph->count; (*at)-- > 0;) {
        const struct model_work *now = &exec->graph->node[*at]->work, *then = &graph->node[*at]->work;
        struct model_answer allowed = *a;
        if (!model_work_fits(now, then))
            return VMM_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
        if (then->type != VMM_GRAPH_NODE_TYPE_MEMSET)
            continue;
        const bool good = model_fill_allowed(m, then, &allowed);
        a->foreseen &= allowed.foreseen && (good || !m->driver); /* seen to succeed, and seen to fail as another topology */
        if (!good && memcmp(&now->fill, &then->fill, sizeof now->fill) != 0)
            return VMM_GRAPH_EXEC_UPDATE_ERROR;
    }
    return VMM_GRAPH_EXEC_UPDATE_SUCCESS;
}

static void update(struct model *m, struct model_exec *exec, const struct model_graph *graph,
                   const vmm_graph_exec_update_result_info *told, struct model_answer *a)
{
    size_t at = 0;
    int how = VMM_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    const bool differs = exec->graph->count != graph->count || count_links(exec->graph) != count_links(graph);
    /* With other links, too, a node may differ in what it does: which of the two counts, a driver's order of nodes decides. */
    const bool unsure = m->driver && differs && exec->graph->count == graph->count;
    a->foreseen = differs || is_copy(exec, graph); /* whether other graphs are alike is not followed */
    if (!a->foreseen)
        return;
    for (size_t i = 0; m->driver && i < exec->graph->count; i++)
        a->foreseen &= !model_has_other_memory(m, &exec->graph->node[i]->work); /* refused once */
    const bool copy = !differs && !has_other_leaves(exec, graph, a);
    if (copy)
        how = why_not(m, exec, graph, &at, a);
    if (how)
        exec->torn |= !model_refuse(a, VMM_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "VMM-GRAPH-UPDATE") && !a->asked;
    if (!a->asked && a->actual == a->result && told && !unsure) {
        model_expect(a, "result_info.result", (uint64_t)told->result, (uint64_t)how);
        if (copy && how && graph->node[at]->value)
            model_expect(a, "result_info.error_node", number_of(told->error_node), graph->node[at]->value);
    }
    for (size_t i = 0; model_succeeded(a) && i < graph->count; i++) {
        struct model_work *work = &exec->graph->node[i]->work;
        const bool disabled = work->disabled;
        *work = graph->node[i]->work;
        work->disabled = disabled;
        work->crashes = m->driver && work->unnamed && work->copy.row.kind != MODEL_BETWEEN;
    }
    if (model_succeeded(a)) {
        model_objects_update(exec->graph, graph);
        model_note_memory(m, exec->graph);
    }
}

MODEL_ON(graph_exec_update)
{
    struct model_exec *exec = model_exec_of(m, c->graph_exec);
    const struct model_graph *graph = exec ? model_graph_of(m, c->graph) : NULL;
    if (graph && graph->inside)
        graph = NULL; /* a node's: as none */
    if (graph)
        update(m, exec, graph, c->result_info, a);
    else
        model_refuse(a, INVALID, exec ? "VMM-GRAPH-UNKNOWN" : "VMM-GRAPH-EXEC");
}
