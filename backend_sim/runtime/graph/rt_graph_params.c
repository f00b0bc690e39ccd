/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of any type: one struct, whose member depends on the type. */
#include "rt_graph_params.h"

#include <string.h>

#include "rt_address.h"

_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams), "both structs have the same size");

static cudaError_t kernel_to_driver(const struct cudaKernelNodeParamsV2 *params, CUDA_KERNEL_NODE_PARAMS_v3 *driver)
{
    const struct cudaKernelNodeParams same = {params->func, params->gridDim, params->blockDim, params->sharedMemBytes,
                                              params->kernelParams, params->extra};
    return rt_graph_kernel(&same, driver);
}

static cudaError_t copy_to_driver(const struct cudaMemcpyNodeParams *params, CUcontext context, CUgraphNodeParams *driver)
{
    memset(driver->reserved1, 0, sizeof driver->reserved1);
    if (params->reserved[0] || params->reserved[1] || params->reserved[2])
        return cudaErrorInvalidValue;
    driver->memcpy.flags = params->flags;
    driver->memcpy.copyCtx = context;
    return rt_graph_copy(&params->copyParams, &driver->memcpy.copyParams);
}

/* Bytes at the same offset in the runtime's struct are copied unchanged, so that the driver sees bytes that should be 0. */
static cudaError_t to_driver(const struct cudaGraphNodeParams *params, CUgraphNodeParams *driver)
{
    CUcontext context = NULL;
    if (!params)
        return cudaErrorInvalidValue;
    cudaError_t result = DRIVER_CORE(cuCtxGetCurrent, &context);
    if (result != cudaSuccess)
        return result;
    memcpy(driver, params, sizeof *driver);
    switch (params->type) {
    case cudaGraphNodeTypeKernel: return kernel_to_driver(&params->kernel, &driver->kernel);
    case cudaGraphNodeTypeMemcpy: return copy_to_driver(&params->memcpy, context, driver);
    case cudaGraphNodeTypeMemset: driver->memset.ctx = context; return cudaSuccess;
    default: return cudaSuccess;
    }
}

cudaError_t rt_graph_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                              const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver;
    cudaError_t result = to_driver(params, &driver);
    if (result == cudaSuccess)
        result = DRIVER(cuGraphAddNode, node, graph, dependencies, edges, count, &driver);
    if (result == cudaSuccess && params->type == cudaGraphNodeTypeMemAlloc)
        params->alloc.dptr = rt_pointer(driver.alloc.dptr);
    return result;
}

static cudaError_t set(cudaGraphNode_t node, const struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver;
    cudaError_t result = to_driver(params, &driver);
    return result == cudaSuccess ? DRIVER(cuGraphNodeSetParams, node, &driver) : result;
}

static cudaError_t set_in(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver;
    cudaError_t result = to_driver(params, &driver);
    return result == cudaSuccess ? DRIVER(cuGraphExecNodeSetParams, exec, node, &driver) : result;
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    RT(set(node, nodeParams));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    RT(set_in(graphExec, node, nodeParams));
}
