/* SPDX-License-Identifier: Apache-2.0 */
/* abi_graph.h - what the entry points of graphs share: looking up arguments, checking parameters, and issuing a node's work. */
#ifndef SIM_ABI_GRAPH_H
#define SIM_ABI_GRAPH_H

#include "abi_graphs.h"

/* With the lock of abi_graphs.h: the object, or NULL after a refusal. */
struct graph *abi_need_graph(const char *function, CUgraph value, CUresult *result);
struct graph_node *abi_need_node(const char *function, CUgraphNode value, CUresult *result);
/* Also of that type. */
struct graph_node *abi_need_type(const char *function, CUgraphNode value, CUgraphNodeType type, CUresult *result);
struct abi_exec *abi_need_exec(const char *function, CUgraphExec value, CUresult *result);
/* The node of the instance that was made from that one. */
struct graph_node *abi_need_node_in(const char *function, const struct abi_exec *exec, CUgraphNode value, CUresult *result);

/* The nodes and data of edges, looked up. */
struct abi_ends {
    struct graph_node **node;
    uint64_t *data; /* NULL: zeros */
};

/* Finds what a new node of the graph depends on; abi_ends_drop frees it. With the lock. */
CUresult abi_find_ends(const char *function, const struct graph *graph, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                       size_t count, struct abi_ends *ends);
void abi_ends_drop(struct abi_ends *ends);

/* ---- work of each type: checks parameters, and makes of them what a node holds, to be freed with abi_work_drop ---- */

/* The context that the program gives a copy, or a fill. As measured, NULL is none for a fill of mapped memory. */
CUresult abi_context_check(const vmm_system *sys, const char *function, CUcontext context);
CUresult abi_fill_context_check(const vmm_system *sys, const char *function, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context);
/* NULL stands for the current context. */
CUresult abi_fill_work(vmm_system *sys, const char *function, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context,
                       struct abi_work *work);
CUresult abi_copy_work(vmm_system *sys, const char *function, const CUDA_MEMCPY3D *params, CUcontext context,
                       struct abi_work *work);
CUresult abi_kernel_work(vmm_system *sys, const char *function, const CUDA_KERNEL_NODE_PARAMS *params, struct abi_work *work);
CUresult abi_host_work(const char *function, const CUDA_HOST_NODE_PARAMS *params, struct abi_work *work);
CUresult abi_event_work(const vmm_system *sys, const char *function, CUgraphNodeType type, CUevent event, struct abi_work *work);
CUresult abi_mem_op_work(const vmm_system *sys, const char *function, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params,
                         struct abi_work *work);
/* Of any type but a child graph. */
CUresult abi_any_work(vmm_system *sys, const char *function, const CUgraphNodeParams *params, struct abi_work *work);
/* Checks what all types have in common: the reserved parts are 0, and the type is one that is simulated. */
CUresult abi_params_whole(const char *function, const CUgraphNodeParams *params);
/* The context of a fill or copy; NULL for any other node. */
CUcontext abi_context_of_node(CUgraphNode node);

/* A fill is checked again when its graph is instantiated, as measured. */
CUresult abi_fill_check(const vmm_system *sys, const char *function, const CUDA_MEMSET_NODE_PARAMS_v2 *fill);

/* ---- instances ---- */

/* A node's operations as a call on the stream. */
struct vmm_call_stream_batch_mem_op abi_mem_op_call(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, vmm_stream stream);

/* Checks what a driver checks of nodes before it launches any: the memory of memory operations. */
CUresult abi_graph_check_launch(const vmm_system *sys, const char *function, const struct graph *graph);

/* Issues the work of the graph's nodes, in the order of their dependencies, after the stream's work and before what comes to it next.
 * Nodes that do not depend on each other may run beside each other (branches.h). */
CUresult abi_graph_issue(vmm_system *sys, const struct graph *graph, vmm_stream stream);

/* Why an instance's node cannot have this work instead of its own; NULL: it can. */
const char *abi_update_forbids(const struct abi_work *now, const struct abi_work *next);

/* Gives the nodes of the instance's graph the work of the other graph's, all of them or none. With the lock. */
CUresult abi_update(const vmm_system *sys, const char *function, struct graph *instance, const struct graph *graph,
                    CUgraphExecUpdateResultInfo *info);

#endif
