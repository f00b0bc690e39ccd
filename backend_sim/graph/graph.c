/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include <string.h>

#include "heap.h"

struct graph *graph_new(const struct graph_owner *owner)
{
    struct graph *graph = heap.calloc(1, sizeof *graph);
    if (graph)
        graph->owner = owner;
    return graph;
}

static void free_node(struct graph_node *node)
{
    node->graph->owner->drop(node);
    heap.free(node->in.edge);
    heap.free(node->out.edge);
    heap.free(node);
}

void graph_free(struct graph *graph)
{
    while (graph->first) {
        struct graph_node *next = graph->first->after;
        free_node(graph->first);
        graph->first = next;
    }
    heap.free(graph);
}

/* ---- edges ---- */

static bool make_room(struct graph_edges *edges)
{
    if (edges->count < edges->room)
        return true;
    struct graph_edge *more = heap_grow(edges->edge, &edges->room, 2, sizeof *more);
    if (!more)
        return false;
    edges->edge = more;
    return true;
}

static void become_root(struct graph_node *node)
{
    struct graph *graph = node->graph;
    node->root_before = NULL;
    node->root_after = graph->first_root;
    if (graph->first_root)
        graph->first_root->root_before = node;
    graph->first_root = node;
}

static void stop_being_root(struct graph_node *node)
{
    if (node->root_before)
        node->root_before->root_after = node->root_after;
    else
        node->graph->first_root = node->root_after;
    if (node->root_after)
        node->root_after->root_before = node->root_before;
    node->root_before = node->root_after = NULL;
}

static void become_leaf(struct graph_node *node)
{
    struct graph *graph = node->graph;
    node->leaf_before = graph->last_leaf;
    node->leaf_after = NULL;
    if (graph->last_leaf)
        graph->last_leaf->leaf_after = node;
    else
        graph->first_leaf = node;
    graph->last_leaf = node;
}

static void stop_being_leaf(struct graph_node *node)
{
    struct graph *graph = node->graph;
    if (node->leaf_before)
        node->leaf_before->leaf_after = node->leaf_after;
    else
        graph->first_leaf = node->leaf_after;
    if (node->leaf_after)
        node->leaf_after->leaf_before = node->leaf_before;
    else
        graph->last_leaf = node->leaf_before;
    node->leaf_before = node->leaf_after = NULL;
}

void graph_last_leaf(struct graph_node *node)
{
    if (node->out.count)
        return;
    stop_being_leaf(node);
    become_leaf(node);
}

bool graph_connect(struct graph_node *from, struct graph_node *to, uint64_t data)
{
    if (!make_room(&from->out) || !make_room(&to->in))
        return false;
    if (!to->in.count)
        stop_being_root(to);
    if (!from->out.count)
        stop_being_leaf(from);
    from->out.edge[from->out.count++] = (struct graph_edge){to, data};
    to->in.edge[to->in.count++] = (struct graph_edge){from, data};
    from->graph->edges++;
    return true;
}

/* Removes the first edge to the node with this data from the list, as measured: the last one takes its place. */
static bool take_out(struct graph_edges *edges, const struct graph_node *node, uint64_t data)
{
    size_t i = 0;
    while (i < edges->count && !(edges->edge[i].node == node && edges->edge[i].data == data))
        i++;
    if (i == edges->count)
        return false;
    edges->edge[i] = edges->edge[--edges->count];
    return true;
}

bool graph_disconnect(struct graph_node *from, struct graph_node *to, uint64_t data)
{
    if (!take_out(&from->out, to, data))
        return false;
    take_out(&to->in, from, data);
    if (!to->in.count)
        become_root(to);
    if (!from->out.count)
        become_leaf(from);
    from->graph->edges--;
    return true;
}

const struct graph_edge *graph_edge_between(const struct graph_node *from, const struct graph_node *to)
{
    for (size_t i = 0; i < to->in.count; i++)
        if (to->in.edge[i].node == from)
            return &to->in.edge[i];
    return NULL;
}

/* ---- nodes ---- */

static void link_in(struct graph *graph, struct graph_node *node)
{
    node->before = graph->last;
    if (graph->last)
        graph->last->after = node;
    else
        graph->first = node;
    graph->last = node;
    graph->count++;
}

/* It has no edges left. */
static void unlink_node(struct graph_node *node)
{
    struct graph *graph = node->graph;
    stop_being_root(node);
    stop_being_leaf(node);
    if (node->before)
        node->before->after = node->after;
    else
        graph->first = node->after;
    if (node->after)
        node->after->before = node->before;
    else
        graph->last = node->before;
    graph->count--;
}

/* From the front, as measured by the order in which the others become roots. */
static void cut_edges(struct graph_node *node)
{
    while (node->in.count) {
        const struct graph_edge edge = node->in.edge[0];
        graph_disconnect(edge.node, node, edge.data);
    }
    while (node->out.count) {
        const struct graph_edge edge = node->out.edge[0];
        graph_disconnect(node, edge.node, edge.data);
    }
}

void graph_remove(struct graph_node *node)
{
    cut_edges(node);
    unlink_node(node);
    free_node(node);
}

struct graph_node *graph_add(struct graph *graph, struct graph_node *const *on, const uint64_t *data, size_t count)
{
    struct graph_node *node = heap.calloc(1, sizeof *node);
    if (!node)
        return NULL;
    node->graph = graph;
    link_in(graph, node);
    become_root(node);
    become_leaf(node);
    for (size_t i = 0; i < count; i++)
        if (!graph_connect(on[i], node, data ? data[i] : 0)) {
            graph_remove(node);
            return NULL;
        }
    return node;
}

/* ---- order ---- */

void graph_number(const struct graph *graph)
{
    size_t index = 0;
    for (struct graph_node *node = graph->first; node; node = node->after)
        node->index = index++;
}

size_t graph_order(const struct graph *graph, struct graph_node **order)
{
    size_t known = 0;
    for (struct graph_node *node = graph->first; node; node = node->after) {
        node->left = node->in.count;
        if (!node->left)
            order[known++] = node;
    }
    for (size_t next = 0; next < known; next++) {
        const struct graph_edges *out = &order[next]->out;
        for (size_t i = 0; i < out->count; i++)
            if (--out->edge[i].node->left == 0)
                order[known++] = out->edge[i].node;
    }
    return known;
}

/* ---- clones ---- */

static bool clone_nodes(const struct graph *graph, struct graph *clone, struct graph_node **nodes)
{
    size_t index = 0;
    for (const struct graph_node *node = graph->first; node; node = node->after) {
        struct graph_node *copy = graph_add(clone, NULL, NULL, 0);
        if (!copy)
            return false;
        nodes[index++] = copy;
        copy->origin = node->value;
        if (!clone->owner->copy(copy, node))
            return false;
    }
    return true;
}

/* The lists of dependencies keep their orders; dependents are listed in the order of the nodes, as measured. */
static bool clone_edges(const struct graph_node *from, struct graph_node *to, struct graph_node *const *nodes)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->in.count; i++)
        ok = graph_connect(nodes[from->in.edge[i].node->index], to, from->in.edge[i].data);
    return ok;
}

static bool clone_into(const struct graph *graph, struct graph *clone, struct graph_node **nodes)
{
    graph_number(graph);
    bool ok = clone_nodes(graph, clone, nodes);
    for (const struct graph_node *node = graph->first; ok && node; node = node->after)
        ok = clone_edges(node, nodes[node->index], nodes);
    for (const struct graph_node *leaf = graph->first_leaf; ok && leaf; leaf = leaf->leaf_after)
        graph_last_leaf(nodes[leaf->index]);
    return ok;
}

struct graph *graph_clone(const struct graph *graph)
{
    struct graph *clone = graph_new(graph->owner);
    struct graph_node **nodes = heap.malloc((graph->count + 1) * sizeof(struct graph_node *));
    bool ok = clone && nodes && clone_into(graph, clone, nodes);
    heap.free(nodes);
    if (ok)
        return clone;
    if (clone)
        graph_free(clone);
    return NULL;
}

struct graph_node *graph_find_origin(const struct graph *graph, uint64_t origin)
{
    struct graph_node *node = graph->first;
    while (node && node->origin != origin)
        node = node->after;
    return node;
}
