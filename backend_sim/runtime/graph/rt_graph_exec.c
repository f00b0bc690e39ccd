/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of graphs: creating, updating and destroying them. rt_graph_launch.c has the calls that take a stream. */
#include "rt.h"

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags)
{
    RT(DRIVER(cuGraphInstantiate, pGraphExec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags)
{
    RT(DRIVER(cuGraphInstantiate, pGraphExec, graph, flags));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    RT(DRIVER(cuGraphExecDestroy, graphExec));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled)
{
    RT(DRIVER(cuGraphNodeSetEnabled, hGraphExec, hNode, isEnabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int *isEnabled)
{
    RT(DRIVER(cuGraphNodeGetEnabled, hGraphExec, hNode, isEnabled));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, cudaGraph_t childGraph)
{
    RT(DRIVER(cuGraphExecChildGraphNodeSetParams, hGraphExec, node, childGraph));
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event)
{
    RT(DRIVER(cuGraphExecEventRecordNodeSetEvent, hGraphExec, hNode, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event)
{
    RT(DRIVER(cuGraphExecEventWaitNodeSetEvent, hGraphExec, hNode, event));
}

static cudaError_t flags_of(cudaGraphExec_t exec, unsigned long long *flags)
{
    cuuint64_t found = 0;
    if (!flags)
        return cudaErrorInvalidValue;
    cudaError_t result = DRIVER(cuGraphExecGetFlags, exec, &found);
    if (result == cudaSuccess)
        *flags = found;
    return result;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags)
{
    RT(flags_of(graphExec, flags));
}

/* The result of an update is written even if it failed. */
static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    CUgraphExecUpdateResultInfo found = {.errorNode = NULL};
    if (info)
        found = (CUgraphExecUpdateResultInfo){(CUgraphExecUpdateResult)info->result, info->errorNode, info->errorFromNode};
    cudaError_t result = DRIVER(cuGraphExecUpdate, exec, graph, &found);
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){(enum cudaGraphExecUpdateResult)found.result, found.errorNode, found.errorFromNode};
    return result;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph, cudaGraphExecUpdateResultInfo *resultInfo)
{
    RT(update(hGraphExec, hGraph, resultInfo));
}
