/* SPDX-License-Identifier: Apache-2.0 */
/* abi_variable_memory.h - which allocations are variables of modules and libraries. As recorded, such memory cannot be freed by
 * cuMemFree, and supports neither legacy IPC nor direct access by other devices. */
#ifndef SIM_ABI_VARIABLE_MEMORY_H
#define SIM_ABI_VARIABLE_MEMORY_H

#include "abi.h"

/* False when memory is out. */
bool abi_variable_memory_add(uint64_t start, uint64_t size);
/* Returns false if it no longer exists: its context has ended. */
bool abi_variable_memory_drop(uint64_t start);

/* Call it when a context may have ended: drops the variables that ended with it. */
void abi_variable_memory_sweep(const vmm_system *sys);

/* Is the address within a variable? */
bool abi_variable_memory(uint64_t address);

/* The value of a pointer attribute for which variables differ from cuMemAlloc memory; returns false for other attributes. */
bool abi_variable_attribute(CUdeviceptr address, CUpointer_attribute attribute, uint64_t *value);

#endif
