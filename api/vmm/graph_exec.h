/* SPDX-License-Identifier: Apache-2.0 */
/* graph_exec.h - instances of graphs, and their launches. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_GRAPH_EXEC_H
#define CUVMM_VMM_GRAPH_EXEC_H

#include "graph_node.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH 1
#define VMM_GRAPH_INSTANTIATE_FLAG_UPLOAD 2
#define VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH 4
#define VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY 8

typedef int vmm_graph_exec_update_result; /* how an update ended */
#define VMM_GRAPH_EXEC_UPDATE_SUCCESS 0
#define VMM_GRAPH_EXEC_UPDATE_ERROR 1            /* for a reason that the call's result gives */
#define VMM_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED 2
#define VMM_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED 3
#define VMM_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED 4
#define VMM_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED 5
#define VMM_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED 6

/* What an update met; CUgraphExecUpdateResultInfo. */
typedef struct vmm_graph_exec_update_result_info {
    vmm_graph_exec_update_result result;
    vmm_graph_node error_node;      /* the node of the graph that differs; NULL if no node is to blame */
    vmm_graph_node error_from_node; /* NULL on the simulator */
} vmm_graph_exec_update_result_info;

/* Creates an instance: a copy of the graph that can be launched and that later changes of the graph do not affect.
 * flags are VMM_GRAPH_INSTANTIATE_FLAG_ except UPLOAD. Checks the memory of fills, and events, again. Checked in this order:
 * INVALID_VALUE for unknown flags [VMM-GRAPH-FLAGS], INVALID_CONTEXT [VMM-CTX-CURRENT], the fault of the device,
 * INVALID_VALUE for incompatible flags [VMM-GRAPH-FLAGS], [VMM-GRAPH-NULL, VMM-GRAPH-UNKNOWN], NOT_SUPPORTED for the graph of a
 * node [VMM-GRAPH-OF-NODE], INVALID_VALUE [VMM-GRAPH-CYCLE]. cuGraphInstantiate. */
VMM_API vmm_result vmm_graph_instantiate(vmm_system *sys, vmm_graph_exec *graph_exec, vmm_graph graph, uint64_t flags);
/* The flags that it was created with, except USE_NODE_PRIORITY (580). INVALID_VALUE [VMM-GRAPH-EXEC]. cuGraphExecGetFlags. */
VMM_API vmm_result vmm_graph_exec_get_flags(vmm_system *sys, vmm_graph_exec graph_exec, uint64_t *flags);
/* Destroys the instance; launches in progress continue. INVALID_VALUE [VMM-GRAPH-EXEC]. cuGraphExecDestroy. */
VMM_API vmm_result vmm_graph_exec_destroy(vmm_system *sys, vmm_graph_exec graph_exec);

/* Sets the parameters of the instance's copy of a node of its graph, for future launches. A fill keeps its context; a copy
 * keeps the types of its memory and whether that belongs to the program or a device; a copy of several rows keeps its
 * shape. INVALID_VALUE
 * [VMM-GRAPH-EXEC], for a node of another graph [VMM-GRAPH-NODE] or type [VMM-GRAPH-NODE-TYPE], [VMM-GRAPH-PARAMS].
 * cuGraphExecMemsetNodeSetParams, cuGraphExecMemcpyNodeSetParams, cuGraphExecKernelNodeSetParams, cuGraphExecHostNodeSetParams,
 * cuGraphExecEventRecordNodeSetEvent, cuGraphExecEventWaitNodeSetEvent. */
VMM_API vmm_result vmm_graph_exec_memset_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                         const vmm_memset_node_params *memset_params, vmm_context ctx);
VMM_API vmm_result vmm_graph_exec_memcpy_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                         const vmm_memcpy3d *copy_params, vmm_context ctx);
VMM_API vmm_result vmm_graph_exec_kernel_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                         const vmm_kernel_node_params *node_params);
VMM_API vmm_result vmm_graph_exec_host_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                       const vmm_host_node_params *node_params);
VMM_API vmm_result vmm_graph_exec_event_record_node_set_event(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                              vmm_event event);
VMM_API vmm_result vmm_graph_exec_event_wait_node_set_event(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                            vmm_event event);
/* Replaces the work of the nodes in the instance's child graph with that of another graph with the same nodes and dependencies;
 * all or none. INVALID_VALUE [VMM-GRAPH-UNKNOWN, VMM-GRAPH-EXEC, VMM-GRAPH-NODE, VMM-GRAPH-NODE-TYPE], GRAPH_EXEC_UPDATE_FAILURE
 * [VMM-GRAPH-UPDATE]. cuGraphExecChildGraphNodeSetParams. */
VMM_API vmm_result vmm_graph_exec_child_graph_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                              vmm_graph child_graph);
/* Replaces the work of the instance's nodes with that of graph, which must have the same nodes and dependencies; all or none.
 * *result_info may be NULL, and is written in any case (580): what differs, and where. INVALID_VALUE [VMM-GRAPH-EXEC], and
 * for a value that is not a graph, or the graph of a node [VMM-GRAPH-UNKNOWN], GRAPH_EXEC_UPDATE_FAILURE [VMM-GRAPH-UPDATE].
 * cuGraphExecUpdate. */
VMM_API vmm_result vmm_graph_exec_update(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph graph,
                                         vmm_graph_exec_update_result_info *result_info);
/* Whether launches execute a kernel, copy or fill node (1) or skip it (0). INVALID_VALUE [VMM-GRAPH-EXEC, VMM-GRAPH-NODE],
 * for other nodes [VMM-GRAPH-NODE-TYPE]. cuGraphNodeSetEnabled, cuGraphNodeGetEnabled. */
VMM_API vmm_result vmm_graph_node_set_enabled(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                              unsigned int is_enabled);
VMM_API vmm_result vmm_graph_node_get_enabled(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                              unsigned int *is_enabled);

/* Issues the work of the instance's nodes to the stream, each node after its dependencies, with the mappings and rights at the
 * time the stream reaches it; such work faults as a kernel, copy or fill does. INVALID_VALUE [VMM-GRAPH-EXEC],
 * INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN], the fault of the device. A graph launch cannot
 * become a node of a captured stream. cuGraphLaunch. */
VMM_API vmm_result vmm_graph_launch(vmm_system *sys, vmm_graph_exec graph_exec, vmm_stream stream);
/* Prepares the next launch. Refused like a launch, but for a default stream without a context first [VMM-CTX-CURRENT] (580).
 * cuGraphUpload. */
VMM_API vmm_result vmm_graph_upload(vmm_system *sys, vmm_graph_exec graph_exec, vmm_stream stream);

#ifdef __cplusplus
}
#endif

#endif
