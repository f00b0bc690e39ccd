/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that launch kernels. A program identifies a kernel by its host stub. */
#include "rt_code.h"
#include "rt_graph_params.h"

cudaError_t rt_graph_kernel(const struct cudaKernelNodeParams *params, CUDA_KERNEL_NODE_PARAMS *driver)
{
    CUfunction function = NULL;
    if (!params)
        return cudaErrorInvalidValue;
    cudaError_t result = rt_function(params->func, &function);
    if (result == cudaSuccess)
        *driver = (CUDA_KERNEL_NODE_PARAMS){
            .func = function, .gridDimX = params->gridDim.x, .gridDimY = params->gridDim.y, .gridDimZ = params->gridDim.z,
            .blockDimX = params->blockDim.x, .blockDimY = params->blockDim.y, .blockDimZ = params->blockDim.z,
            .sharedMemBytes = params->sharedMemBytes, .kernelParams = params->kernelParams, .extra = params->extra};
    return result;
}

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                       const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    cudaError_t result = rt_graph_kernel(params, &driver);
    return result == cudaSuccess ? DRIVER(cuGraphAddKernelNode, node, graph, dependencies, count, &driver) : result;
}

static cudaError_t get(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    if (!params)
        return cudaErrorInvalidValue;
    cudaError_t result = DRIVER(cuGraphKernelNodeGetParams, node, &driver);
    if (result == cudaSuccess)
        *params = (struct cudaKernelNodeParams){
            .func = (void *)(uintptr_t)rt_host_of(driver.func), .gridDim = {driver.gridDimX, driver.gridDimY, driver.gridDimZ},
            .blockDim = {driver.blockDimX, driver.blockDimY, driver.blockDimZ}, .sharedMemBytes = driver.sharedMemBytes,
            .kernelParams = driver.kernelParams, .extra = driver.extra};
    return result;
}

static cudaError_t set(cudaGraphNode_t node, const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    cudaError_t result = rt_graph_kernel(params, &driver);
    return result == cudaSuccess ? DRIVER(cuGraphKernelNodeSetParams, node, &driver) : result;
}

static cudaError_t set_in(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    cudaError_t result = rt_graph_kernel(params, &driver);
    return result == cudaSuccess ? DRIVER(cuGraphExecKernelNodeSetParams, exec, node, &driver) : result;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaKernelNodeParams *pNodeParams)
{
    RT(add(pGraphNode, graph, pDependencies, numDependencies, pNodeParams));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams)
{
    RT(get(node, pNodeParams));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams)
{
    RT(set(node, pNodeParams));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *pNodeParams)
{
    RT(set_in(hGraphExec, node, pNodeParams));
}
