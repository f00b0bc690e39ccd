/* SPDX-License-Identifier: Apache-2.0 */
/* abi_variables.h - the memory of the variables that plugins declare: an allocation for each, in each module, and in each library
 * and context.
 *
 *     cuModuleLoadData       ->  addresses [ table | limit | seen ]   in the current context
 *     cuLibraryGetGlobal     ->  the same for a library, in the context that first asks or launches
 *     unloading, cuCtxDestroy    their end
 */
#ifndef SIM_ABI_VARIABLES_H
#define SIM_ABI_VARIABLES_H

#include "abi_plugins.h"

/* Allocates the variables of all plugins in the current context, with their initial values: *addresses, by their index; NULL when
 * there are none. OUT_OF_MEMORY, and what vmm_mem_alloc answers: nothing is left. */
CUresult abi_variables_make(vmm_system *sys, const char *function, uint64_t **addresses);

/* Have they not ended with their context? */
bool abi_variables_live(const uint64_t *addresses);

/* Frees what abi_variables_make made, after the device's work; the context may have ended and taken the memory along. */
void abi_variables_end(vmm_system *sys, uint64_t *addresses);

/* Stores the initial value of a variable, as the other ones. */
CUresult abi_variable_fill(vmm_system *sys, uint64_t address, const void *initial, uint64_t size);

/* Allocates one variable that an image holds, in the current context; initial: its bytes, NULL for zeros. OUT_OF_MEMORY, and what
 * vmm_mem_alloc answers: nothing is left. */
CUresult abi_variable_make(vmm_system *sys, const char *function, uint64_t size, const void *initial, uint64_t *address);
/* The same in managed memory, which all contexts reach; it reads as zeros. What vmm_mem_alloc_managed answers. */
CUresult abi_variable_make_managed(vmm_system *sys, const char *function, uint64_t size, uint64_t *address);
void abi_variable_end(vmm_system *sys, uint64_t address);

#endif
