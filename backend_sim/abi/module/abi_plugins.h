/* SPDX-License-Identifier: Apache-2.0 */
/* abi_plugins.h - kernels by name, from the libraries that CUVMM_KERNELS lists (api/vmm_kernel.h).
 *
 *     CUVMM_KERNELS=a.so:b.so:cuvmm     "vectorAdd", "_Z9vectorAddPKfS0_Pfi"  ->  vmm_kernel_vectorAdd of the first that has it
 *
 * "cuvmm" in the list stands for this project's own kernels (kernels/), all of whose parameters are 64 bits wide.
 * A mangled name is looked up as it is, then by the plain name in it.
 */
#ifndef SIM_ABI_PLUGINS_H
#define SIM_ABI_PLUGINS_H

#include <stddef.h>

#include "abi.h"
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

/* The words of a launch before the parameters: the dimensions, two to a word, and the shared memory. */
enum { ABI_LAUNCH_HEAD = 4 };

#endif
