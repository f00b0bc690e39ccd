/* SPDX-License-Identifier: Apache-2.0 */
/* abi_graph_memory.h - what libcuda.so.1 asks of the memory of graphs (va/graph_memory.h), for which the API has no calls.
 *
 *     a node is added        take: addresses
 *     launch                 back: memory behind the addresses of all its nodes, or none of them
 *                            begin, end: allocations, each in its node's turn
 *                            issued: the memory stays until the work issued so far is done
 *     the graph has ended    give
 */
#ifndef SIM_ABI_GRAPH_MEMORY_H
#define SIM_ABI_GRAPH_MEMORY_H

#include <stdbool.h>

#include "vmm.h"

enum abi_graph_memory {
    ABI_GRAPH_MEMORY_DONE,
    ABI_GRAPH_MEMORY_ADDRESSES, /* none are left */
    ABI_GRAPH_MEMORY_FULL,      /* the device has too little memory */
    ABI_GRAPH_MEMORY_HOST       /* the host's memory is out */
};

/* A range of addresses, taken as a whole. */
struct abi_graph_range {
    int device;
    uint64_t start, size;
};

/* Takes addresses for range->size bytes on range->device; start and size are what was taken. */
enum abi_graph_memory abi_graph_memory_take(vmm_system *sys, struct abi_graph_range *range);
/* Adds at least so many bytes behind it; false when the addresses there are not free. */
bool abi_graph_memory_grow(vmm_system *sys, struct abi_graph_range *range, uint64_t more);
void abi_graph_memory_give(vmm_system *sys, const struct abi_graph_range *range);

/* A launch: all ranges get memory, or none has changed. abi_graph_memory_issued ends what a successful one began. */
enum abi_graph_memory abi_graph_memory_back(vmm_system *sys, const struct abi_graph_range *ranges, size_t count, uint64_t lacks[2]);
void abi_graph_memory_issued(vmm_system *sys, const struct abi_graph_range *ranges, size_t count, vmm_stream stream);

/* An allocation in a range with memory, as work in the stream; also peers have access to it, by the bits of their numbers. False
 * when the host's memory is out. */
bool abi_graph_memory_begin(vmm_system *sys, int device, uint64_t start, uint64_t size, uint32_t peers, vmm_stream stream);
/* Ends it, in a launch; unless it has been freed already. */
void abi_graph_memory_end(vmm_system *sys, uint64_t start);
/* Does an allocation of a graph begin there? */
bool abi_graph_memory_is_live(const vmm_system *sys, uint64_t start);

/* The four numbers of CUgraphMem_attribute. */
struct abi_graph_memory_use {
    uint64_t used, used_high, reserved, reserved_high;
};
struct abi_graph_memory_use abi_graph_memory_use(vmm_system *sys, int device);
/* Sets the high mark of the memory in use, or that of the memory that is there, to what it is now. */
void abi_graph_memory_reset_high(vmm_system *sys, int device, bool used);
/* Gives idle memory back to the device. */
void abi_graph_memory_trim(vmm_system *sys, int device);

#endif
