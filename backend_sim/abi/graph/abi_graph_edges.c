/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies, and lists of nodes and edges. */
#include <string.h>

#include "abi_graph.h"
#include "abi_graph_alloc.h"
#include "heap.h"

/* ---- the data of an edge, as a number ---- */

static uint64_t number_of(const CUgraphEdgeData *data)
{
    uint64_t number = 0;
    if (data)
        memcpy(&number, data, sizeof *data);
    return number;
}

/* Ports of a kernel node are 0 to 2, and other edges have none. */
static bool is_valid(const CUgraphEdgeData *data)
{
    static const unsigned char zeros[sizeof data->reserved];
    return !data || (data->type <= CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && data->from_port <= 2 && !data->to_port &&
                     memcmp(data->reserved, zeros, sizeof zeros) == 0);
}

/* ---- nodes as the program passes them ---- */

/* All the nodes of a list, which must be the graph's. */
static CUresult find_nodes(const char *function, const struct graph *graph, const CUgraphNode *values, size_t count,
                           const char *argument, struct graph_node **nodes)
{
    if (count && !values)
        return abi_graph_null(function, argument);
    for (size_t i = 0; i < count; i++) {
        nodes[i] = abi_node_of(values[i]);
        if (!nodes[i] || nodes[i]->graph != graph)
            return abi_refuse(VMM_RULE_GRAPH_NODE, function, "%s[%zu], %p, is not a node of that graph", argument, i,
                              (void *)values[i]);
    }
    return CUDA_SUCCESS;
}

static CUresult refuse_data(const char *function, size_t at)
{
    return abi_refuse(VMM_RULE_GRAPH_EDGE, function, "the data of edge %zu is not valid", at);
}

CUresult abi_find_ends(const char *function, const struct graph *graph, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                       size_t count, struct abi_ends *ends)
{
    if (count > graph->count)
        return abi_refuse(VMM_RULE_GRAPH_EDGE, function, "%zu dependencies: the graph has %zu nodes", count, graph->count);
    ends->node = heap.malloc((count + 1) * sizeof *ends->node);
    ends->data = heap.malloc((count + 1) * sizeof *ends->data);
    if (!ends->node || !ends->data)
        return abi_no_memory(function);
    CUresult result = find_nodes(function, graph, nodes, count, "dependencies", ends->node);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        ends->data[i] = number_of(data ? &data[i] : NULL);
        if (!is_valid(data ? &data[i] : NULL))
            result = refuse_data(function, i);
        for (size_t k = 0; k < i && result == CUDA_SUCCESS; k++)
            if (ends->node[k] == ends->node[i])
                result = abi_refuse(VMM_RULE_GRAPH_EDGE, function, "dependencies %zu and %zu are the same node", k, i);
    }
    return result;
}

void abi_ends_drop(struct abi_ends *ends)
{
    heap.free(ends->node);
    heap.free(ends->data);
}

/* ---- adding and removing ---- */

/* The ends of many edges. */
struct edges {
    struct graph_node **from, **to;
};

static CUresult find_edges(const char *function, const struct graph *graph, const CUgraphNode *from, const CUgraphNode *to,
                           const CUgraphEdgeData *data, size_t count, struct edges *edges)
{
    if (count && (!from || !to))
        return abi_graph_null(function, from ? "to" : "from");
    edges->from = heap.malloc((count + 1) * sizeof *edges->from);
    edges->to = heap.malloc((count + 1) * sizeof *edges->to);
    if (!edges->from || !edges->to)
        return abi_no_memory(function);
    CUresult result = find_nodes(function, graph, from, count, "from", edges->from);
    if (result == CUDA_SUCCESS)
        result = find_nodes(function, graph, to, count, "to", edges->to);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (!is_valid(data ? &data[i] : NULL))
            result = refuse_data(function, i);
    return result;
}

static void drop_edges(struct edges *edges)
{
    heap.free(edges->from);
    heap.free(edges->to);
}

static CUresult check_ends(const char *function, const struct edges *edges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        /* analysers: null-dereference is wrong: the edges that are counted were found */
        if (edges->from[i] == edges->to[i])
            return abi_refuse(VMM_RULE_GRAPH_EDGE, function, "edge %zu leads from a node to itself", i);
    return CUDA_SUCCESS;
}

/* As measured, the edges before the first one that is there already are added. Without memory none is. */
static CUresult connect(const char *function, const struct edges *edges, const CUgraphEdgeData *data, size_t count)
{
    for (size_t made = 0; made < count; made++) {
        if (graph_edge_between(edges->from[made], edges->to[made]))
            return abi_refuse(VMM_RULE_GRAPH_EDGE, function, "edge %zu is there already", made);
        if (graph_connect(edges->from[made], edges->to[made], number_of(data ? &data[made] : NULL)))
            continue;
        while (made--)
            graph_disconnect(edges->from[made], edges->to[made], number_of(data ? &data[made] : NULL));
        return abi_no_memory(function);
    }
    return CUDA_SUCCESS;
}

static CUresult add(const char *function, CUgraph value, const CUgraphNode *from, const CUgraphNode *to,
                    const CUgraphEdgeData *data, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    struct edges edges = {NULL, NULL};
    abi_graphs_lock();
    const struct graph *graph = abi_need_graph(function, value, &result);
    if (graph)
        result = find_edges(function, graph, from, to, data, count, &edges);
    if (result == CUDA_SUCCESS)
        result = check_ends(function, &edges, count);
    if (result == CUDA_SUCCESS)
        result = connect(function, &edges, data, count);
    drop_edges(&edges);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                   size_t numDependencies)
{
    ABI_INITIALISED(add("cuGraphAddDependencies", hGraph, from, to, edgeData, numDependencies));
}

/* Without data an edge is removed whatever its data. */
static bool remove_one(struct graph_node *from, struct graph_node *to, const CUgraphEdgeData *data)
{
    const struct graph_edge *edge = graph_edge_between(from, to);
    return edge && graph_disconnect(from, to, data ? number_of(data) : edge->data);
}

/* As measured, the edges before the first one that is not there are removed. */
static CUresult remove_edges(const char *function, CUgraph value, const CUgraphNode *from, const CUgraphNode *to,
                             const CUgraphEdgeData *data, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    struct edges edges = {NULL, NULL};
    abi_graphs_lock();
    const struct graph *graph = abi_need_graph(function, value, &result);
    if (graph)
        result = abi_graph_without_memory(function, graph, "keeps its edges");
    if (graph && result == CUDA_SUCCESS)
        result = find_edges(function, graph, from, to, NULL, count, &edges);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        /* analysers: null-dereference is wrong: the edges that are counted were found */
        if (!remove_one(edges.from[i], edges.to[i], data ? &data[i] : NULL))
            result = abi_refuse(VMM_RULE_GRAPH_EDGE, function, "edge %zu is not there", i);
    drop_edges(&edges);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    ABI_INITIALISED(remove_edges("cuGraphRemoveDependencies", hGraph, from, to, edgeData, numDependencies));
}

/* ---- lists ----
 *
 * A list has room for *count entries: what fits is written, the rest of the room becomes NULL, and *count the number of entries
 * written. Without a list *count becomes the number that there are. */

struct list {
    CUgraphNode *node, *other; /* of edges: both ends */
    CUgraphEdgeData *data;
    size_t room, count, there;
};

static void put(struct list *list, const struct graph_node *node, const struct graph_node *other, uint64_t data)
{
    list->there++;
    if (!list->node || list->count == list->room)
        return;
    list->node[list->count] = abi_node_value(node);
    if (list->other)
        list->other[list->count] = abi_node_value(other);
    if (list->data)
        memcpy(&list->data[list->count], &data, sizeof data);
    list->count++;
}

static void finish(struct list *list, size_t *count, bool of_edges)
{
    for (size_t i = list->count; list->node && i < list->room; i++) {
        list->node[i] = NULL;
        if (list->other)
            list->other[i] = NULL;
        if (list->data && of_edges)
            memset(&list->data[i], 0, sizeof list->data[i]);
    }
    *count = list->node ? list->count : list->there;
}

static CUresult no_room(const char *function)
{
    return abi_refuse(VMM_RULE_CALL_VALUE, function, "there is a list, and its length is 0");
}

static CUresult nodes(const char *function, CUgraph value, CUgraphNode *out, size_t *count, bool roots)
{
    CUresult result = CUDA_SUCCESS;
    if (!count)
        return abi_graph_null(function, roots ? "numRootNodes" : "numNodes");
    abi_graphs_lock();
    const struct graph *graph = abi_need_graph(function, value, &result);
    struct list list = {.node = out, .room = out ? *count : 0};
    if (graph && out && !list.room)
        result = no_room(function);
    for (const struct graph_node *node = graph ? graph->first : NULL; node && result == CUDA_SUCCESS; node = node->after)
        if (!roots || !node->in.count)
            put(&list, node, NULL, 0);
    if (result == CUDA_SUCCESS)
        finish(&list, count, false);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes_, size_t *numNodes)
{
    ABI_INITIALISED(nodes(__func__, hGraph, nodes_, numNodes, false));
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    ABI_INITIALISED(nodes(__func__, hGraph, rootNodes, numRootNodes, true));
}

/* Would the list lose the data of an edge? */
static bool loses(const struct list *list, const struct graph_edges *edges)
{
    for (size_t i = 0; list->node && !list->data && i < edges->count; i++)
        if (edges->edge[i].data)
            return true;
    return false;
}

static CUresult lossy(const char *function)
{
    return abi_refuse(VMM_RULE_GRAPH_LOSSY, function, "an edge has data, and edgeData is NULL");
}

static CUresult edges(const char *function, CUgraph value, struct list list, size_t *count)
{
    CUresult result = CUDA_SUCCESS;
    if (!count || !list.node != !list.other || (list.data && !list.node))
        return abi_graph_null(function, count ? "from or to" : "numEdges");
    abi_graphs_lock();
    const struct graph *graph = abi_need_graph(function, value, &result);
    list.room = list.node ? *count : 0;
    if (graph && list.node && !list.room)
        result = no_room(function);
    for (const struct graph_node *node = graph ? graph->first : NULL; node && result == CUDA_SUCCESS; node = node->after) {
        if (loses(&list, &node->out))
            result = lossy(function);
        for (size_t i = 0; i < node->out.count && result == CUDA_SUCCESS; i++)
            put(&list, node, node->out.edge[i].node, node->out.edge[i].data);
    }
    if (result == CUDA_SUCCESS)
        finish(&list, count, true);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData, size_t *numEdges)
{
    ABI_INITIALISED(edges("cuGraphGetEdges", hGraph, (struct list){.node = from, .other = to, .data = edgeData}, numEdges));
}

static CUresult neighbours(const char *function, CUgraphNode value, bool in, struct list list, size_t *count)
{
    CUresult result = CUDA_SUCCESS;
    if (!count || (list.data && !list.node))
        return abi_graph_null(function, count ? "the list of nodes" : "the number of nodes");
    abi_graphs_lock();
    const struct graph_node *node = abi_need_node(function, value, &result);
    const struct graph_edges *there = !node ? NULL : in ? &node->in : &node->out;
    list.room = list.node ? *count : 0;
    if (node && list.node && !list.room)
        result = no_room(function);
    else if (node && loses(&list, there))
        result = lossy(function);
    /* analysers: null-dereference is wrong: without a node the call was refused */
    for (size_t i = 0; result == CUDA_SUCCESS && i < there->count; i++)
        put(&list, there->edge[i].node, NULL, there->edge[i].data);
    if (result == CUDA_SUCCESS)
        finish(&list, count, false);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
                                       size_t *numDependencies)
{
    ABI_INITIALISED(neighbours("cuGraphNodeGetDependencies", hNode, true, (struct list){.node = dependencies, .data = edgeData},
                               numDependencies));
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,
                                         size_t *numDependentNodes)
{
    ABI_INITIALISED(neighbours("cuGraphNodeGetDependentNodes", hNode, false,
                               (struct list){.node = dependentNodes, .data = edgeData}, numDependentNodes));
}

/* ---- earlier versions: without data ---- */

#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#pragma GCC visibility push(default)
CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies);
CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies);
CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges);
CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies);
CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes);
#pragma GCC visibility pop

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies)
{
    ABI_INITIALISED(add(__func__, hGraph, from, to, NULL, numDependencies));
}

CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies)
{
    ABI_INITIALISED(remove_edges(__func__, hGraph, from, to, NULL, numDependencies));
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    ABI_INITIALISED(edges(__func__, hGraph, (struct list){.node = from, .other = to}, numEdges));
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies)
{
    ABI_INITIALISED(neighbours(__func__, hNode, true, (struct list){.node = dependencies}, numDependencies));
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes)
{
    ABI_INITIALISED(neighbours(__func__, hNode, false, (struct list){.node = dependentNodes}, numDependentNodes));
}
