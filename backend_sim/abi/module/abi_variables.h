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
 * there are none. Returns OUT_OF_MEMORY, or the result of vmm_mem_alloc, and leaves nothing behind. */
CUresult abi_variables_make(vmm_system *sys, const char *function, uint64_t **addresses);

/* Do they still exist, that is, has their context not ended? */
bool abi_variables_live(const uint64_t *addresses);

/* Frees what abi_variables_make made, after the device's work; the context may have ended and freed the memory. */
void abi_variables_end(vmm_system *sys, uint64_t *addresses);

/* Stores a variable's initial value, like the functions above. */
CUresult abi_variable_fill(vmm_system *sys, uint64_t address, const void *initial, uint64_t size);

/* Allocates one variable of an image in the current context; initial: its bytes, or NULL for zeros. OUT_OF_MEMORY, and what
 * vmm_mem_alloc answers: nothing is left. */
CUresult abi_variable_make(vmm_system *sys, const char *function, uint64_t size, const void *initial, uint64_t *address);
/* The same in managed memory, which all contexts reach; it reads as zeros. What vmm_mem_alloc_managed answers. */
CUresult abi_variable_make_managed(vmm_system *sys, const char *function, uint64_t size, uint64_t *address);
void abi_variable_end(vmm_system *sys, uint64_t address);

#endif
