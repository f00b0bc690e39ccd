/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies, and lists of nodes and edges. */
#include "abi_graph.h"

static vmm_graph_node *list_of(CUgraphNode *nodes)
{
    return (vmm_graph_node *)(void *)nodes;
}

static vmm_graph_edge_data *data_of(const CUgraphEdgeData *data)
{
    return (vmm_graph_edge_data *)(uintptr_t)data;
}

#define EDGES(function, name, data) \
    ABI_GRAPH_CALL(function, name, abi_graph(hGraph), abi_nodes(from), abi_nodes(to), data_of(data), numDependencies)
/* A list of the engine. */
#define LIST(function, list, ...) ABI_INITIALISED(abi_graphs_answer(function, list(abi_graphs_lock()->graphs, __VA_ARGS__)))

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                   size_t numDependencies)
{
    EDGES("cuGraphAddDependencies", graph_add_dependencies, edgeData);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    EDGES("cuGraphRemoveDependencies", graph_remove_dependencies, edgeData);
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes_, size_t *numNodes)
{
    LIST(__func__, graph_list_nodes, abi_graph(hGraph), list_of(nodes_), numNodes, false);
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    LIST(__func__, graph_list_nodes, abi_graph(hGraph), list_of(rootNodes), numRootNodes, true);
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData, size_t *numEdges)
{
    LIST("cuGraphGetEdges", graph_list_edges, abi_graph(hGraph), list_of(from), list_of(to), data_of(edgeData), numEdges);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
                                       size_t *numDependencies)
{
    LIST("cuGraphNodeGetDependencies", graph_list_ends, abi_node(hNode), true, list_of(dependencies), data_of(edgeData),
         numDependencies);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,
                                         size_t *numDependentNodes)
{
    LIST("cuGraphNodeGetDependentNodes", graph_list_ends, abi_node(hNode), false, list_of(dependentNodes), data_of(edgeData),
         numDependentNodes);
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
    EDGES(__func__, graph_add_dependencies, NULL);
}

CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies)
{
    EDGES(__func__, graph_remove_dependencies, NULL);
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    LIST(__func__, graph_list_edges, abi_graph(hGraph), list_of(from), list_of(to), NULL, numEdges);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies)
{
    LIST(__func__, graph_list_ends, abi_node(hNode), true, list_of(dependencies), NULL, numDependencies);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes)
{
    LIST(__func__, graph_list_ends, abi_node(hNode), false, list_of(dependentNodes), NULL, numDependentNodes);
}
