/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that allocate and free memory, and the graphs' memory on a device. */
#include "rt_address.h"

#include <string.h>

/* The driver chooses the address when the node is created. */
static cudaError_t add_alloc(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                             struct cudaMemAllocNodeParams *params)
{
    CUDA_MEM_ALLOC_NODE_PARAMS driver;
    if (!params)
        return cudaErrorInvalidValue;
    memcpy(&driver, params, sizeof driver);
    cudaError_t result = DRIVER(cuGraphAddMemAllocNode, node, graph, dependencies, count, &driver);
    memcpy(params, &driver, sizeof *params);
    return result;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                     size_t numDependencies, struct cudaMemAllocNodeParams *nodeParams)
{
    RT(add_alloc(pGraphNode, graph, pDependencies, numDependencies, nodeParams));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params_out)
{
    RT(DRIVER(cuGraphMemAllocNodeGetParams, node, (CUDA_MEM_ALLOC_NODE_PARAMS *)(void *)params_out));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                    size_t numDependencies, void *dptr)
{
    RT(DRIVER(cuGraphAddMemFreeNode, pGraphNode, graph, pDependencies, numDependencies, rt_address(dptr)));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out)
{
    RT(DRIVER(cuGraphMemFreeNodeGetParams, node, dptr_out));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value)
{
    RT(DRIVER(cuDeviceGetGraphMemAttribute, device, (CUgraphMem_attribute)attr, value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value)
{
    RT(DRIVER(cuDeviceSetGraphMemAttribute, device, (CUgraphMem_attribute)attr, value));
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    RT(DRIVER(cuDeviceGraphMemTrim, device));
}
