/* SPDX-License-Identifier: Apache-2.0 */
/* abi_plugins.h - kernels by name, from the libraries that CUVMM_KERNELS lists (api/vmm_kernel.h).
 *
 *     CUVMM_KERNELS=a.so:b.so:cuvmm     "vectorAdd", "_Z9vectorAddPKfS0_Pfi"  ->  vmm_kernel_vectorAdd of the first that has it
 *
 * "cuvmm" in the list stands for this project's own kernels (kernels/), all of whose parameters are 64 bits wide.
 * A mangled name is looked up as it is, then by the plain name in it.
 *
 * The variables that plugins declare lie one behind the other in the memory of every image:
 *
 *     a.so: table (1024), limit (4)   b.so: seen (8)     base [ table | limit | seen ]
 */
#ifndef SIM_ABI_PLUGINS_H
#define SIM_ABI_PLUGINS_H

#include <stddef.h>

#include "abi.h"
#define VMM_KERNEL_READER /* this library has no variables of its own */
#include "registered.h" /* included before the next header: both define VMM_KERNEL, and this one undefines its own */
#include "vmm_kernel.h"

struct abi_kernel {
    char *name;                         /* as requested */
    vmm_kernel number;                  /* for vmm_launch */
    bool ours;                          /* a kernel of this project, which takes no dimensions */
    const vmm_kernel_entry *entry;      /* of a plugin's kernel */
    unsigned params;
    size_t size[VMM_KERNEL_PARAMS], offset[VMM_KERNEL_PARAMS + 1]; /* offset has one entry more: the size of all parameters */
    struct abi_kernel *next;
};

/* Finds the kernel, which stays valid until the library is unloaded. NOT_FOUND reports, once per name, how to write the kernel;
 * OUT_OF_MEMORY. function is the entry point's name. */
CUresult abi_kernel_find(const char *function, const char *name, const struct abi_kernel **kernel);

struct abi_variable {
    const vmm_variable_entry *entry;
    uint64_t offset; /* from the base */
    struct abi_variable *next;
};

/* The variable of that name; NULL when no plugin has it. */
const struct abi_variable *abi_variable_find(const char *name);

/* The variables of all plugins, and the bytes that they take; NULL and 0 when there are none. OUT_OF_MEMORY. */
CUresult abi_variables(const char *function, const struct abi_variable **first, uint64_t *size);

/* How far from the base an entry of a plugin lies. */
uint64_t abi_variable_offset(const vmm_variable_entry *entry);

/* The words of a launch before the parameters: the dimensions, two to a word, the shared memory, and the base of the
 * variables. */
enum { ABI_LAUNCH_SHARED = 3, ABI_LAUNCH_BASE, ABI_LAUNCH_HEAD };

#endif
