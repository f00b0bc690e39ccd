/* SPDX-License-Identifier: Apache-2.0 */
/* Instances and streams. Compiled for both default streams. */
#include "rt.h"

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    RT(DRIVER(cuGraphLaunch, graphExec, stream));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    RT(DRIVER(cuGraphUpload, graphExec, stream));
}

/* The reason for a failed instantiation is written, too. */
static cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params)
{
    if (!params)
        return cudaErrorInvalidValue;
    CUDA_GRAPH_INSTANTIATE_PARAMS driver = {params->flags, params->uploadStream, params->errNode_out,
                                            (CUgraphInstantiateResult)params->result_out};
    cudaError_t result = DRIVER(cuGraphInstantiateWithParams, exec, graph, &driver);
    params->errNode_out = driver.hErrNode_out;
    params->result_out = (cudaGraphInstantiateResult)driver.result_out;
    return result;
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *instantiateParams)
{
    RT(instantiate(pGraphExec, graph, instantiateParams));
}
