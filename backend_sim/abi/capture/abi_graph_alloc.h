/* SPDX-License-Identifier: Apache-2.0 */
/* abi_graph_alloc.h - allocation and free nodes: what a graph's addresses are, and which nodes name them.
 *
 *     a = alloc node of G    a memory, with addresses from one of G's ranges         nothing is allocated
 *     f = free node of G     G has freed it: a node that depends on f may get the same addresses
 *     instance of G          the same memories
 *     launch                 allocates and frees (abi_graph_launch_memory.c)
 *
 * A memory ends with the last node that names it, and its addresses with the last memory in their range. With the lock of abi_graphs.h,
 * but for abi_memory_planned.
 */
#ifndef SIM_ABI_GRAPH_ALLOC_H
#define SIM_ABI_GRAPH_ALLOC_H

#include "abi_graph_memory.h"
#include "abi_graphs.h"

struct abi_memory_range {
    struct abi_graph_range taken;
    uint64_t until; /* the end of all that was placed in it so far */
    size_t refs;    /* memories in it */
};

struct abi_memory {
    uint64_t at, size, span; /* span: of addresses */
    struct abi_memory_range *range;
    uint64_t home;           /* the graph that allocates it */
    size_t refs;             /* nodes */
    bool freed;              /* its own graph has a free node for it */
    bool live;               /* a launch has allocated it, and no free node has freed it since */
    bool postponed;          /* in a launch: its free node came before it */
    bool before;             /* while a node is added: freed before that */
    struct abi_memory *next; /* of all */
};

/* Adds an allocation node to the graph; the parameters get its address. */
struct graph_node *abi_graph_add_alloc(vmm_system *sys, const char *function, struct graph *graph, const struct abi_dependencies *on,
                                       CUDA_MEM_ALLOC_NODE_PARAMS *params, CUresult *result);
/* Adds a free node. */
struct graph_node *abi_graph_add_free(const char *function, struct graph *graph, const struct abi_dependencies *on, CUdeviceptr at,
                                      CUresult *result);

/* Checks the parameters of an allocation node. */
CUresult abi_alloc_check(const vmm_system *sys, const char *function, const CUDA_MEM_ALLOC_NODE_PARAMS *params);

/* Does the graph, or a child of it, allocate or free memory? Such a graph is limited in what may be done with it. */
bool abi_graph_has_memory(const struct graph *graph);
/* Refuses what such a graph does not allow: what says what that is. SUCCESS for other graphs. */
CUresult abi_graph_without_memory(const char *function, const struct graph *graph, const char *what);

/* The bytes from an address to the end of the memory that a graph will allocate there, and whose own graph does not free it, or may
 * have freed it; 0: none. Takes a lock of its own. */
uint64_t abi_memory_planned(uint64_t address, bool even_freed);

void abi_memory_hold(struct abi_memory *memory);
void abi_memory_drop(struct abi_memory *memory);
/* The graph has a free node for it, or no longer has. */
void abi_memory_set_freed(struct abi_memory *memory, const struct graph *graph, bool freed);

/* The machine is closed: addresses are not given back any more. */
void abi_memories_close(void);

#endif
