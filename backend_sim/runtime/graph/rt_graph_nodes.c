/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that fill memory or call a host function. Their structs match the driver's field by field. */
#include "rt.h"

static const CUDA_MEMSET_NODE_PARAMS *fill(const struct cudaMemsetParams *params)
{
    return (const void *)params;
}

static const CUDA_HOST_NODE_PARAMS *host(const struct cudaHostNodeParams *params)
{
    return (const void *)params;
}

static cudaError_t add_fill(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                            const struct cudaMemsetParams *params)
{
    CUcontext context = NULL;
    cudaError_t result = DRIVER_CORE(cuCtxGetCurrent, &context);
    return result == cudaSuccess ? DRIVER(cuGraphAddMemsetNode, node, graph, dependencies, count, fill(params), context) : result;
}

static cudaError_t set_fill(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *params)
{
    CUcontext context = NULL;
    cudaError_t result = DRIVER_CORE(cuCtxGetCurrent, &context);
    return result == cudaSuccess ? DRIVER(cuGraphExecMemsetNodeSetParams, exec, node, fill(params), context) : result;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaMemsetParams *pMemsetParams)
{
    RT(add_fill(pGraphNode, graph, pDependencies, numDependencies, pMemsetParams));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams)
{
    RT(DRIVER(cuGraphMemsetNodeGetParams, node, (CUDA_MEMSET_NODE_PARAMS *)(void *)pNodeParams));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *pNodeParams)
{
    RT(DRIVER(cuGraphMemsetNodeSetParams, node, fill(pNodeParams)));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *pNodeParams)
{
    RT(set_fill(hGraphExec, node, pNodeParams));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                 size_t numDependencies, const struct cudaHostNodeParams *pNodeParams)
{
    RT(DRIVER(cuGraphAddHostNode, pGraphNode, graph, pDependencies, numDependencies, host(pNodeParams)));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams)
{
    RT(DRIVER(cuGraphHostNodeGetParams, node, (CUDA_HOST_NODE_PARAMS *)(void *)pNodeParams));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams)
{
    RT(DRIVER(cuGraphHostNodeSetParams, node, host(pNodeParams)));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *pNodeParams)
{
    RT(DRIVER(cuGraphExecHostNodeSetParams, hGraphExec, node, host(pNodeParams)));
}
