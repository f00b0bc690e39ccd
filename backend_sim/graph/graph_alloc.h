/* SPDX-License-Identifier: Apache-2.0 */
/* graph_alloc.h - allocation and free nodes: what a graph's addresses are, and which nodes name them.
 *
 *     a = alloc node of G    a memory, with addresses from one of G's ranges         nothing is allocated
 *     f = free node of G     G has freed it: a node that depends on f may get the same addresses
 *     instance of G          the same memories
 *     launch                 allocates and frees (graph_launch_memory.h)
 *
 * A memory ends with the last node that names it, and its addresses with the last memory in their range. Under the machine's
 * lock.
 */
#ifndef SIM_GRAPH_ALLOC_H
#define SIM_GRAPH_ALLOC_H

#include "call_graph.h"

/* Addresses of one device, whole chunks of them. */
struct graph_range {
    struct sim_process *process;
    int device;
    uint64_t start, size;
    uint64_t until;   /* the end of everything placed in it so far */
    uint64_t reached; /* in a launch: how much of it the launched nodes use */
    size_t refs;      /* memories in it */
};

struct graph_memory {
    uint64_t at, size, span;   /* span: of addresses */
    uint32_t peers;            /* a bit for each device that the node gives rights to */
    struct graph_range *range;
    uint64_t home;             /* the graph that allocates it */
    size_t refs;               /* nodes */
    bool freed;                /* its own graph has a free node for it */
    bool live;                 /* a launch has allocated it, and no free node has freed it yet */
    bool postponed;            /* in a launch: its free node came before it */
    bool before;               /* while a node is added: freed before that */
    struct graph_memory *next; /* of all */
};

/* What an allocation node allocates. */
struct graph_allocation {
    int device;
    uint64_t size;
    uint32_t peers;
};

/* Adds an allocation node to the graph, with a copy of the work, which gets its memory. NULL: result says why not. */
struct graph_node *graph_add_alloc(struct sim_process *process, struct graph *graph, const struct graph_ends *on,
                                   const struct graph_allocation *wanted, struct graph_work *work, vmm_result *result);
/* Adds a free node alike. */
struct graph_node *graph_add_free(struct graph *graph, const struct graph_ends *on, uint64_t at, struct graph_work *work,
                                  vmm_result *result);

/* The bytes from an address to the end of the memory that a graph will allocate there, and whose own graph does not free it, or
 * may have freed it; 0: none. */
uint64_t graph_planned(const struct sim_graphs *all, uint64_t address, bool even_freed);
/* The same, as needed by rows.h: only memory that is not freed. */
uint64_t graph_planned_in(const struct sim_process *process, uint64_t address);

void graph_memory_hold(struct graph_memory *memory);
void graph_memory_drop(struct sim_graphs *all, struct graph_memory *memory);
/* The graph has a free node for it, or no longer has. */
void graph_memory_set_freed(struct graph_memory *memory, const struct graph *graph, bool freed);

#endif
