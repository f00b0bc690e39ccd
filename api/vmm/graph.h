/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - graphs and the order of their nodes. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_GRAPH_H
#define CUVMM_VMM_GRAPH_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int vmm_graph_node_type;
#define VMM_GRAPH_NODE_TYPE_KERNEL 0
#define VMM_GRAPH_NODE_TYPE_MEMCPY 1
#define VMM_GRAPH_NODE_TYPE_MEMSET 2
#define VMM_GRAPH_NODE_TYPE_HOST 3
#define VMM_GRAPH_NODE_TYPE_GRAPH 4
#define VMM_GRAPH_NODE_TYPE_EMPTY 5
#define VMM_GRAPH_NODE_TYPE_WAIT_EVENT 6
#define VMM_GRAPH_NODE_TYPE_EVENT_RECORD 7
#define VMM_GRAPH_NODE_TYPE_MEM_ALLOC 10
#define VMM_GRAPH_NODE_TYPE_MEM_FREE 11
#define VMM_GRAPH_NODE_TYPE_BATCH_MEM_OP 12

typedef int vmm_graph_mem_attribute; /* memory that a device's graphs allocate: uint64_t, bytes */
#define VMM_GRAPH_MEM_ATTR_USED_MEM_CURRENT 0
#define VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH 1 /* the maximum since it was reset to 0 */
#define VMM_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT 2
#define VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH 3 /* the most since it was set to 0 */

/* Data of a dependency between two kernels, all 0 for an ordinary one; CUgraphEdgeData. */
typedef struct vmm_graph_edge_data {
    unsigned char from_port;
    unsigned char to_port;
    unsigned char type;
    unsigned char reserved[5]; /* 0 */
} vmm_graph_edge_data;

/* ------------------------------------------------------------------------------------------- graphs and their nodes
 * A graph holds work that was not issued yet, and in which order. Each node depends on nodes of the same graph.
 *
 *   vmm_graph_add_memset_node(&f, g, NULL, 0, &fill, ctx)      f          its memory is checked now ...
 *   vmm_graph_add_host_node(&h, g, &f, 1, &host)               f > h
 *   vmm_graph_instantiate(&x, g, 0)                            x: a copy  ... and again
 *   vmm_graph_launch(x, stream)                                           ... and when the stream comes to the fill
 *
 * Only the last check matters: a launch uses the mappings and rights of its own time. Memory that was unmapped and remapped
 * after the instantiation is used without complaint; if no memory is mapped at that time, the launch faults (580).
 *
 * A list of num_dependencies nodes, which may be NULL when that is 0, gives the dependencies of a new node. All of these calls
 * refuse with INVALID_VALUE: a NULL that the call needs [VMM-GRAPH-NULL], a value that is not a graph [VMM-GRAPH-UNKNOWN] or
 * not a node of it [VMM-GRAPH-NODE], a node that is listed twice, or more nodes than the graph has [VMM-GRAPH-EDGE]. Nothing
 * has changed then. */

/* An empty graph. flags is 0. INVALID_VALUE [VMM-GRAPH-FLAGS]. cuGraphCreate. */
VMM_API vmm_result vmm_graph_create(vmm_system *sys, vmm_graph *graph, unsigned int flags);
/* Destroys the graph and its nodes; its instances remain. INVALID_VALUE [VMM-GRAPH-UNKNOWN], ILLEGAL_STATE [VMM-CAPTURE-STATE]
 * while a stream is being captured into it or into the graph of a node in it. cuGraphDestroy. */
VMM_API vmm_result vmm_graph_destroy(vmm_system *sys, vmm_graph graph);
/* A copy with nodes and dependencies of its own. cuGraphClone. */
VMM_API vmm_result vmm_graph_clone(vmm_system *sys, vmm_graph *graph_clone, vmm_graph original_graph);

/* Makes to[i] depend on from[i]. edge_data may be NULL: all 0. INVALID_VALUE [VMM-GRAPH-EDGE] for an edge from a node to
 * itself, for one that exists already, and for invalid data; the edges before one that exists already are added (580). A
 * cycle is accepted here and detected by the instantiation. cuGraphAddDependencies. */
VMM_API vmm_result vmm_graph_add_dependencies(vmm_system *sys, vmm_graph graph, const vmm_graph_node *from,
                                              const vmm_graph_node *to, const vmm_graph_edge_data *edge_data,
                                              uint64_t num_dependencies);
/* Undoes that. At a dependency that does not exist: INVALID_VALUE [VMM-GRAPH-EDGE], and the dependencies before it are removed
 * (580). Reserved bytes of edge_data are ignored (580). cuGraphRemoveDependencies. */
VMM_API vmm_result vmm_graph_remove_dependencies(vmm_system *sys, vmm_graph graph, const vmm_graph_node *from,
                                                 const vmm_graph_node *to, const vmm_graph_edge_data *edge_data,
                                                 uint64_t num_dependencies);

/* Stores VMM_GRAPH_NODE_TYPE_. INVALID_VALUE [VMM-GRAPH-NODE]. cuGraphNodeGetType. */
VMM_API vmm_result vmm_graph_node_get_type(vmm_system *sys, vmm_graph_node node, vmm_graph_node_type *type);

/* The copy, in a clone of its graph, of original_node. INVALID_VALUE [VMM-GRAPH-NULL, VMM-GRAPH-UNKNOWN, VMM-GRAPH-NODE].
 * cuGraphNodeFindInClone. */
VMM_API vmm_result vmm_graph_node_find_in_clone(vmm_system *sys, vmm_graph_node *node, vmm_graph_node original_node,
                                                vmm_graph cloned_graph);

/* Lists of a graph's nodes, in the order in which they were added, of those that depend on nothing, the latest to become such
 * first (580), and of its dependencies.
 *
 *   nodes NULL                *num_nodes becomes how many there are
 *   nodes, *num_nodes = 5     nodes [n0 n1 n2 NULL NULL], *num_nodes = 3       room that is left becomes NULL (580)
 *   nodes, *num_nodes = 2     nodes [n0 n1],              *num_nodes = 2       what does not fit is left out
 *
 * Dependency i leads from from[i] to to[i]; both lists are NULL or neither is. edge_data may be NULL where all data are 0.
 * INVALID_VALUE [VMM-GRAPH-NULL, VMM-GRAPH-UNKNOWN], for a list without room [VMM-GRAPH-LIST]; LOSSY_QUERY [VMM-GRAPH-LOSSY].
 * cuGraphGetNodes, cuGraphGetRootNodes, cuGraphGetEdges. */
VMM_API vmm_result vmm_graph_get_nodes(vmm_system *sys, vmm_graph graph, vmm_graph_node *nodes, uint64_t *num_nodes);
VMM_API vmm_result vmm_graph_get_root_nodes(vmm_system *sys, vmm_graph graph, vmm_graph_node *root_nodes,
                                            uint64_t *num_root_nodes);
VMM_API vmm_result vmm_graph_get_edges(vmm_system *sys, vmm_graph graph, vmm_graph_node *from, vmm_graph_node *to,
                                       vmm_graph_edge_data *edge_data, uint64_t *num_edges);
/* List, in the same way, the nodes that a node depends on, and those that depend on it. INVALID_VALUE [VMM-GRAPH-NULL,
 * VMM-GRAPH-NODE, VMM-GRAPH-LIST], LOSSY_QUERY [VMM-GRAPH-LOSSY]. cuGraphNodeGetDependencies, cuGraphNodeGetDependentNodes. */
VMM_API vmm_result vmm_graph_node_get_dependencies(vmm_system *sys, vmm_graph_node node, vmm_graph_node *dependencies,
                                                   vmm_graph_edge_data *edge_data, uint64_t *num_dependencies);
VMM_API vmm_result vmm_graph_node_get_dependent_nodes(vmm_system *sys, vmm_graph_node node, vmm_graph_node *dependent_nodes,
                                                      vmm_graph_edge_data *edge_data, uint64_t *num_dependent_nodes);

/* Memory that the graphs of a device allocate when they are launched: bytes in use, and bytes of the device that are kept for it.
 * A high-water mark can be set to 0, which resets it to the current value. Needs no context. INVALID_VALUE [VMM-GRAPH-NULL],
 * INVALID_DEVICE [VMM-DEVICE-ID], INVALID_VALUE [VMM-GRAPH-MEMORY-ATTRIBUTE]. cuDeviceGetGraphMemAttribute,
 * cuDeviceSetGraphMemAttribute. */
VMM_API vmm_result vmm_device_get_graph_mem_attribute(vmm_system *sys, vmm_device device, vmm_graph_mem_attribute attr,
                                                      uint64_t *value);
VMM_API vmm_result vmm_device_set_graph_mem_attribute(vmm_system *sys, vmm_device device, vmm_graph_mem_attribute attr,
                                                      const uint64_t *value);
/* Returns unused graph memory to the device. INVALID_DEVICE [VMM-DEVICE-ID]. cuDeviceGraphMemTrim. */
VMM_API vmm_result vmm_device_graph_mem_trim(vmm_system *sys, vmm_device device);

#ifdef __cplusplus
}
#endif

#endif
