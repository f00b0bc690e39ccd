/* SPDX-License-Identifier: Apache-2.0 */
/* abi_graph.h - what the entry points of graphs share: parameters of nodes, as the engine takes them and as they are shown. */
#ifndef SIM_ABI_GRAPH_H
#define SIM_ABI_GRAPH_H

#include "abi_graphs.h"

/* Checks parameters, and makes of them what a node holds. The first without the lock, to be freed with abi_work_drop; the others with
 * it, and the work leads into what was given. */
CUresult abi_kernel_work(vmm_system *sys, const char *function, const CUDA_KERNEL_NODE_PARAMS *params, struct abi_work *work);
vmm_result abi_mem_op_work(const struct sim_process *process, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct mem_ops *ops,
                           struct graph_work *work);
/* Of any type but a kernel, a child graph, an allocation and a free. */
vmm_result abi_any_work(struct sim_process *process, const CUgraphNodeParams *params, struct mem_ops *ops, struct graph_work *work);

/* What the node shows. As on a driver, lists are the node's own. With the lock. */
void abi_params_of(const struct graph_work *work, CUgraphNodeParams *params);

/* Checks what all types have in common: the reserved parts are 0, and the type is one that is simulated. */
CUresult abi_params_whole(const char *function, const CUgraphNodeParams *params);

#endif
