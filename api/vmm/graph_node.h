/* SPDX-License-Identifier: Apache-2.0 */
/* graph_node.h - nodes of graphs and their parameters. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_GRAPH_NODE_H
#define CUVMM_VMM_GRAPH_NODE_H

#include "graph.h"
#include "box.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A fill as a node of a graph; CUDA_MEMSET_NODE_PARAMS. */
typedef struct vmm_memset_node_params {
    vmm_deviceptr dst;         /* a multiple of element_size */
    uint64_t pitch;            /* bytes between rows; ignored for a single row */
    unsigned int value;        /* its lowest element_size bytes */
    unsigned int element_size; /* 1, 2 or 4 */
    uint64_t width;            /* elements in a row, 1 or more */
    uint64_t height;           /* rows, 1 or more */
} vmm_memset_node_params;

/* A host function as a node of a graph; CUDA_HOST_NODE_PARAMS. */
typedef struct vmm_host_node_params {
    vmm_host_fn fn;
    void *user_data;
} vmm_host_node_params;

/* A kernel as a node of a graph: the arguments of vmm_launch without the stream. Replaces CUDA_KERNEL_NODE_PARAMS, whose
 * kernels are functions of modules. */
typedef struct vmm_kernel_node_params {
    vmm_kernel kernel;
    unsigned int grid_dim;
    unsigned int block_dim;
    const uint64_t *args; /* they are read before the call returns */
    uint64_t count;
} vmm_kernel_node_params;

/* A node that does nothing but that other nodes may depend on. cuGraphAddEmptyNode. */
VMM_API vmm_result vmm_graph_add_empty_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                            const vmm_graph_node *dependencies, uint64_t num_dependencies);
/* A fill in context ctx or, if that is NULL, the current one; because mapped device memory belongs to no context, a fill of it
 * must name one: INVALID_VALUE [VMM-GRAPH-PARAMS], whatever context is current (580). CONTEXT_IS_DESTROYED [VMM-CTX-ENDED];
 * if the context ends later, a launch still runs, but an H100 once hung in that case. The fault of the current context's
 * device. INVALID_VALUE [VMM-GRAPH-PARAMS, VMM-SET-ALIGNMENT], and like vmm_memset_d8 for the memory. cuGraphAddMemsetNode. */
VMM_API vmm_result vmm_graph_add_memset_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                             const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                             const vmm_memset_node_params *memset_params, vmm_context ctx);
/* A copy of a box in context ctx or, if that is NULL, the current one. INVALID_VALUE [VMM-GRAPH-NULL, VMM-GRAPH-PARAMS]:
 * the extent must not be empty; CONTEXT_IS_DESTROYED [VMM-CTX-ENDED], the fault of the current context's device, and like
 * vmm_memcpy_3d for the memory, where host memory is read and written when a launch reaches the node. cuGraphAddMemcpyNode. */
VMM_API vmm_result vmm_graph_add_memcpy_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                             const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                             const vmm_memcpy3d *copy_params, vmm_context ctx);
/* A host function, called as by vmm_launch_host_func. INVALID_VALUE [VMM-HOSTFUNC-NULL]. cuGraphAddHostNode. */
VMM_API vmm_result vmm_graph_add_host_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                           const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                           const vmm_host_node_params *node_params);
/* A kernel of this library; refused like vmm_launch. cuGraphAddKernelNode. */
VMM_API vmm_result vmm_graph_add_kernel_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                             const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                             const vmm_kernel_node_params *node_params);
/* A copy of child_graph as one node. INVALID_VALUE [VMM-GRAPH-PARAMS] for the graph itself and for one that contains it;
 * NOT_SUPPORTED for the graph of a node [VMM-GRAPH-OF-NODE]. cuGraphAddChildGraphNode. */
VMM_API vmm_result vmm_graph_add_child_graph_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                                  const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                                  vmm_graph child_graph);
/* Records the event, or waits for what it stands for, when a launch reaches the node; an event that was destroyed meanwhile is
 * skipped (580). INVALID_HANDLE [VMM-EVENT-UNKNOWN]. cuGraphAddEventRecordNode, cuGraphAddEventWaitNode. */
VMM_API vmm_result vmm_graph_add_event_record_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                                   const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                                   vmm_event event);
VMM_API vmm_result vmm_graph_add_event_wait_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                                 const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                                 vmm_event event);
/* Removes the node and its dependencies. INVALID_VALUE [VMM-GRAPH-NODE], ILLEGAL_STATE [VMM-CAPTURE-STATE] while a stream is
 * being captured into its graph or that of the node. cuGraphDestroyNode. */
VMM_API vmm_result vmm_graph_destroy_node(vmm_system *sys, vmm_graph_node node);

/* Get and set a node's parameters; new ones are checked as when the node was added, and do not affect existing instances.
 * The graph of a child graph node belongs to the node: it may be changed, copied and captured into, but not
 * instantiated, and it ends with the node. The context of a fill or copy stays. INVALID_VALUE [VMM-GRAPH-NODE], for a node of
 * another type [VMM-GRAPH-NODE-TYPE]. cuGraphChildGraphNodeGetGraph, cuGraphEventRecordNodeGetEvent,
 * cuGraphEventWaitNodeGetEvent, cuGraphMemsetNodeGetParams, cuGraphMemcpyNodeGetParams, cuGraphHostNodeGetParams,
 * cuGraphMemsetNodeSetParams, cuGraphMemcpyNodeSetParams, cuGraphKernelNodeSetParams, cuGraphHostNodeSetParams,
 * cuGraphEventRecordNodeSetEvent, cuGraphEventWaitNodeSetEvent. */
VMM_API vmm_result vmm_graph_child_graph_node_get_graph(vmm_system *sys, vmm_graph_node node, vmm_graph *graph);
VMM_API vmm_result vmm_graph_event_record_node_get_event(vmm_system *sys, vmm_graph_node node, vmm_event *event_out);
VMM_API vmm_result vmm_graph_event_wait_node_get_event(vmm_system *sys, vmm_graph_node node, vmm_event *event_out);
VMM_API vmm_result vmm_graph_memset_node_get_params(vmm_system *sys, vmm_graph_node node, vmm_memset_node_params *node_params);
VMM_API vmm_result vmm_graph_host_node_get_params(vmm_system *sys, vmm_graph_node node, vmm_host_node_params *node_params);
VMM_API vmm_result vmm_graph_memset_node_set_params(vmm_system *sys, vmm_graph_node node, const vmm_memset_node_params *node_params);
VMM_API vmm_result vmm_graph_memcpy_node_get_params(vmm_system *sys, vmm_graph_node node, vmm_memcpy3d *node_params);
VMM_API vmm_result vmm_graph_memcpy_node_set_params(vmm_system *sys, vmm_graph_node node, const vmm_memcpy3d *node_params);
VMM_API vmm_result vmm_graph_kernel_node_set_params(vmm_system *sys, vmm_graph_node node, const vmm_kernel_node_params *node_params);
VMM_API vmm_result vmm_graph_host_node_set_params(vmm_system *sys, vmm_graph_node node, const vmm_host_node_params *node_params);
VMM_API vmm_result vmm_graph_event_record_node_set_event(vmm_system *sys, vmm_graph_node node, vmm_event event);
VMM_API vmm_result vmm_graph_event_wait_node_set_event(vmm_system *sys, vmm_graph_node node, vmm_event event);

#ifdef __cplusplus
}
#endif

#endif
