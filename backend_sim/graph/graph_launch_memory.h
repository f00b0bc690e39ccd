/* SPDX-License-Identifier: Apache-2.0 */
/* graph_launch_memory.h - the memory of a launch: checked and given to it before its first node, then allocated and freed by its
 * nodes.
 *
 *     begin    every allocation is free, every free node finds one        memory behind all ranges of the instance
 *     issue    alloc: an allocation     free: none
 *     end      frees whose allocation came after them in the order        the memory stays until the work is done
 */
#ifndef SIM_GRAPH_LAUNCH_MEMORY_H
#define SIM_GRAPH_LAUNCH_MEMORY_H

#include "graph_alloc.h"

struct graph_launch_memory {
    struct graph_range **ranges; /* NULL: the graph allocates nothing */
    size_t count;
};

/* uploads: the nodes will not run. After a refusal nothing is changed; otherwise graph_launch_memory_end must follow. */
vmm_result graph_launch_memory_begin(struct sim_process *process, const struct vmm_call *call, const struct graph_exec *exec,
                                     bool uploads, struct graph_launch_memory *memory);
/* whole: all nodes were issued; otherwise none of the allocations stays. */
void graph_launch_memory_end(struct sim_process *process, const struct vmm_call *call, const struct graph_exec *exec,
                             vmm_stream stream, bool whole, struct graph_launch_memory *memory);

/* What an allocation node and a free node do. */
vmm_result graph_launch_alloc(struct sim_process *process, const struct vmm_call *call, struct graph_memory *memory,
                              vmm_stream stream);
void graph_launch_free(struct sim_process *process, const struct vmm_call *call, struct graph_memory *memory);

#endif
