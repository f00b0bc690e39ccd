/* SPDX-License-Identifier: Apache-2.0 */
/* Edges, and nodes of any type. CUDA 12 has forms without edge data, CUDA 13 does not. */
#include "rt_graph_params.h"

#if CUDART_VERSION >= 13000

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edgeData,
                              size_t *numEdges)
{
    RT(DRIVER(cuGraphGetEdges, graph, from, to, edgeData, numEdges));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies, cudaGraphEdgeData *edgeData,
                                         size_t *pNumDependencies)
{
    RT(DRIVER(cuGraphNodeGetDependencies, node, pDependencies, edgeData, pNumDependencies));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes, cudaGraphEdgeData *edgeData,
                                           size_t *pNumDependentNodes)
{
    RT(DRIVER(cuGraphNodeGetDependentNodes, node, pDependentNodes, edgeData, pNumDependentNodes));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    RT(DRIVER(cuGraphAddDependencies, graph, from, to, edgeData, numDependencies));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    RT(DRIVER(cuGraphRemoveDependencies, graph, from, to, edgeData, numDependencies));
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                             const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                             struct cudaGraphNodeParams *nodeParams)
{
    RT(rt_graph_add_node(pGraphNode, graph, pDependencies, dependencyData, numDependencies, nodeParams));
}

#else

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *numEdges)
{
    RT(DRIVER(cuGraphGetEdges, graph, from, to, NULL, numEdges));
}

cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edgeData,
                                 size_t *numEdges)
{
    RT(DRIVER(cuGraphGetEdges, graph, from, to, edgeData, numEdges));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies, size_t *pNumDependencies)
{
    RT(DRIVER(cuGraphNodeGetDependencies, node, pDependencies, NULL, pNumDependencies));
}

cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *pDependencies, cudaGraphEdgeData *edgeData,
                                            size_t *pNumDependencies)
{
    RT(DRIVER(cuGraphNodeGetDependencies, node, pDependencies, edgeData, pNumDependencies));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes, size_t *pNumDependentNodes)
{
    RT(DRIVER(cuGraphNodeGetDependentNodes, node, pDependentNodes, NULL, pNumDependentNodes));
}

cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes, cudaGraphEdgeData *edgeData,
                                              size_t *pNumDependentNodes)
{
    RT(DRIVER(cuGraphNodeGetDependentNodes, node, pDependentNodes, edgeData, pNumDependentNodes));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     size_t numDependencies)
{
    RT(DRIVER(cuGraphAddDependencies, graph, from, to, NULL, numDependencies));
}

cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    RT(DRIVER(cuGraphAddDependencies, graph, from, to, edgeData, numDependencies));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        size_t numDependencies)
{
    RT(DRIVER(cuGraphRemoveDependencies, graph, from, to, NULL, numDependencies));
}

cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                           const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    RT(DRIVER(cuGraphRemoveDependencies, graph, from, to, edgeData, numDependencies));
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                             size_t numDependencies, struct cudaGraphNodeParams *nodeParams)
{
    RT(rt_graph_add_node(pGraphNode, graph, pDependencies, NULL, numDependencies, nodeParams));
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                struct cudaGraphNodeParams *nodeParams)
{
    RT(rt_graph_add_node(pGraphNode, graph, pDependencies, dependencyData, numDependencies, nodeParams));
}

#endif
