/* SPDX-License-Identifier: Apache-2.0 */
/* abi_graph_memory.h - how much memory a device's graphs hold (va/graph_memory.h), for which the API has no calls. */
#ifndef SIM_ABI_GRAPH_MEMORY_H
#define SIM_ABI_GRAPH_MEMORY_H

#include <stdbool.h>

#include "vmm.h"

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
