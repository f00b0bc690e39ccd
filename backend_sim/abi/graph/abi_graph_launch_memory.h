/* SPDX-License-Identifier: Apache-2.0 */
/* abi_graph_launch_memory.h - the memory of a launch: checked and given to it before its first node, then allocated and freed by its
 * nodes.
 *
 *     begin    every allocation is free, every free node finds one        memory behind all ranges of the instance
 *     issue    alloc: an allocation     free: none
 *     end      frees whose allocation came after them in the order        the memory stays until the work is done
 */
#ifndef SIM_ABI_GRAPH_LAUNCH_MEMORY_H
#define SIM_ABI_GRAPH_LAUNCH_MEMORY_H

#include "abi_graph.h"

struct abi_launch_memory {
    struct abi_graph_range *ranges; /* NULL: the graph allocates nothing */
    size_t count;
};

/* uploads: the nodes are not going to run. After a refusal nothing has changed; otherwise abi_launch_memory_end must follow. */
CUresult abi_launch_memory_begin(vmm_system *sys, const char *function, const struct abi_exec *exec, bool uploads,
                                 struct abi_launch_memory *memory);
/* whole: all nodes were issued; otherwise nothing of what was allocated stays. */
void abi_launch_memory_end(vmm_system *sys, const struct abi_exec *exec, vmm_stream stream, bool whole,
                           struct abi_launch_memory *memory);

/* What an allocation node and a free node do. */
CUresult abi_launch_alloc(vmm_system *sys, const struct abi_work *work, vmm_stream stream);
void abi_launch_free(vmm_system *sys, const struct abi_work *work);

#endif
