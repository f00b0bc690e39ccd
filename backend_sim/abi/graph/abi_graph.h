/* SPDX-License-Identifier: Apache-2.0 */
/* abi_graph.h - what the entry points of graphs share: parameters of nodes, as the engine takes them and as they are shown. */
#ifndef SIM_ABI_GRAPH_H
#define SIM_ABI_GRAPH_H

#include "abi_graphs.h"

/* Checks parameters, and makes a node's work from them. Call the first without the lock, and free its work with
 * abi_work_drop; call the others with the lock: their work points into the arguments. */
CUresult abi_kernel_work(vmm_system *sys, const char *function, const CUDA_KERNEL_NODE_PARAMS *params, struct abi_work *work);
vmm_result abi_mem_op_work(const struct sim_process *process, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct mem_ops *ops,
                           struct graph_work *work);
/* For any type except a kernel, a child graph, an allocation and a free. */
vmm_result abi_any_work(struct sim_process *process, const CUgraphNodeParams *params, struct mem_ops *ops, struct graph_work *work);

/* What the node shows. As on a driver, the node gets its own copies of lists. With the lock. */
void abi_params_of(const struct graph_work *work, CUgraphNodeParams *params);

/* Checks what all types have in common: the reserved parts are 0, and the type is simulated. */
CUresult abi_params_whole(const char *function, const CUgraphNodeParams *params);

#endif
