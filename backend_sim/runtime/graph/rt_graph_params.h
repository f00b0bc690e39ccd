/* SPDX-License-Identifier: Apache-2.0 */
/* rt_graph_params.h - converts node parameters between the runtime's and the driver's structs.
 *
 *     fill, function, event, graph, memory     the same fields in the same places; a fill has a context in addition
 *     kernel                                   a function of the host   <->  the function of the device that it stands for
 *     copy                                     pitched pointers, kind   <->  addresses, types of memory, context
 *
 * Copies and fills use the current context, like all calls of the runtime.
 */
#ifndef SIM_RUNTIME_RT_GRAPH_PARAMS_H
#define SIM_RUNTIME_RT_GRAPH_PARAMS_H

#include "rt.h"

cudaError_t rt_graph_kernel(const struct cudaKernelNodeParams *params, CUDA_KERNEL_NODE_PARAMS *driver);

cudaError_t rt_graph_copy(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *driver);

/* The node is new; its address, if it allocates, is written into the parameters. */
cudaError_t rt_graph_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                              const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *params);

#endif
