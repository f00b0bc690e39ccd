/* SPDX-License-Identifier: Apache-2.0 */
/* abi_variable_memory.h - which allocations are variables of modules and libraries. As recorded, such memory cannot be freed by
 * cuMemFree, and is fit neither for IPC of the old kind nor for direct access by other devices. */
#ifndef SIM_ABI_VARIABLE_MEMORY_H
#define SIM_ABI_VARIABLE_MEMORY_H

#include "abi.h"

/* False when memory is out. */
bool abi_variable_memory_add(uint64_t start, uint64_t size);
/* False when it is there no longer: a context has ended with it. */
bool abi_variable_memory_drop(uint64_t start);

/* Call it when a context may have ended: drops the variables that ended with it. */
void abi_variable_memory_sweep(const vmm_system *sys);

/* Is the address within a variable? */
bool abi_variable_memory(uint64_t address);

/* The value of a pointer attribute that variables have another one of than memory of cuMemAlloc; false for the others. */
bool abi_variable_attribute(CUdeviceptr address, CUpointer_attribute attribute, uint64_t *value);

#endif
