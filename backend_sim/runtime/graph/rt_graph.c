/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: creating, copying and querying them; nodes whose only parameter is a handle. */
#include "rt.h"

cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
    RT(DRIVER(cuGraphCreate, pGraph, flags));
}

cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    RT(DRIVER(cuGraphClone, pGraphClone, originalGraph));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    RT(DRIVER(cuGraphDestroy, graph));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    RT(DRIVER(cuGraphGetNodes, graph, nodes, numNodes));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes)
{
    RT(DRIVER(cuGraphGetRootNodes, graph, pRootNodes, pNumRootNodes));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    RT(DRIVER(cuGraphDestroyNode, node));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph)
{
    RT(DRIVER(cuGraphNodeFindInClone, pNode, originalNode, clonedGraph));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                  size_t numDependencies)
{
    RT(DRIVER(cuGraphAddEmptyNode, pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                       size_t numDependencies, cudaGraph_t childGraph)
{
    RT(DRIVER(cuGraphAddChildGraphNode, pGraphNode, graph, pDependencies, numDependencies, childGraph));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph)
{
    RT(DRIVER(cuGraphChildGraphNodeGetGraph, node, pGraph));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                        size_t numDependencies, cudaEvent_t event)
{
    RT(DRIVER(cuGraphAddEventRecordNode, pGraphNode, graph, pDependencies, numDependencies, event));
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)
{
    RT(DRIVER(cuGraphEventRecordNodeGetEvent, node, event_out));
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    RT(DRIVER(cuGraphEventRecordNodeSetEvent, node, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                      size_t numDependencies, cudaEvent_t event)
{
    RT(DRIVER(cuGraphAddEventWaitNode, pGraphNode, graph, pDependencies, numDependencies, event));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)
{
    RT(DRIVER(cuGraphEventWaitNodeGetEvent, node, event_out));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    RT(DRIVER(cuGraphEventWaitNodeSetEvent, node, event));
}

static cudaError_t type_of(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    CUgraphNodeType found;
    if (!type)
        return cudaErrorInvalidValue;
    cudaError_t result = DRIVER(cuGraphNodeGetType, node, &found);
    if (result == cudaSuccess)
        *type = (enum cudaGraphNodeType)found;
    return result;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
    RT(type_of(node, pType));
}

/* The picture uses the runtime's terms. */
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags)
{
    RT(DRIVER(cuGraphDebugDotPrint, graph, path, flags | CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES));
}
