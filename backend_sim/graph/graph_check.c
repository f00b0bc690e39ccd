/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of graph.h. */
#include "graph.h"

static const char *check_edges(const struct graph_node *node)
{
    for (size_t i = 0; i < node->out.count; i++) {
        const struct graph_edge *edge = &node->out.edge[i];
        size_t there = 0, here = 0;
        if (edge->node->graph != node->graph)
            return "an edge leaves its graph";
        for (size_t k = 0; k < edge->node->in.count; k++)
            there += edge->node->in.edge[k].node == node && edge->node->in.edge[k].data == edge->data;
        for (size_t k = 0; k < node->out.count; k++)
            here += node->out.edge[k].node == edge->node && node->out.edge[k].data == edge->data;
        if (here != there)
            return "an edge is in the list of one end but not of the other";
    }
    return NULL;
}

static const char *check_roots(const struct graph *graph)
{
    size_t roots = 0, listed = 0;
    const struct graph_node *before = NULL;
    for (const struct graph_node *node = graph->first; node; node = node->after)
        roots += !node->in.count;
    for (const struct graph_node *node = graph->first_root; node && listed <= roots; before = node, node = node->root_after, listed++)
        if (node->graph != graph || node->in.count || node->root_before != before)
            return "a node in the list of roots is not a root, or is not linked with the one before";
    return listed == roots ? NULL : "the list of roots does not have each of them once";
}

static const char *check_leaves(const struct graph *graph)
{
    size_t leaves = 0, listed = 0;
    const struct graph_node *before = NULL;
    for (const struct graph_node *node = graph->first; node; node = node->after)
        leaves += !node->out.count;
    for (const struct graph_node *node = graph->first_leaf; node && listed <= leaves; before = node, node = node->leaf_after, listed++)
        if (node->graph != graph || node->out.count || node->leaf_before != before)
            return "a node in the list of leaves is not a leaf, or is not linked with the one before";
    return listed == leaves && before == graph->last_leaf ? NULL : "the list of leaves does not have each of them once";
}

static const char *check_ends(const struct graph *graph)
{
    const char *wrong = check_roots(graph);
    return wrong ? wrong : check_leaves(graph);
}

const char *graph_check(const struct graph *graph)
{
    size_t count = 0, in = 0, out = 0;
    const struct graph_node *before = NULL;
    for (const struct graph_node *node = graph->first; node && count <= graph->count; before = node, node = node->after) {
        const char *wrong = check_edges(node);
        if (wrong)
            return wrong;
        if (node->graph != graph || node->before != before)
            return "a node is not linked with the one before";
        count++;
        in += node->in.count;
        out += node->out.count;
    }
    if (count != graph->count || before != graph->last)
        return "count is not the number of nodes";
    return in != graph->edges || out != graph->edges ? "edges is not the number of edges" : check_ends(graph);
}
