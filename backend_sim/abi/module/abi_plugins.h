/* SPDX-License-Identifier: Apache-2.0 */
/* abi_plugins.h - kernels by name, from the libraries that CUVMM_KERNELS lists (api/vmm_kernel.h).
 *
 *     CUVMM_KERNELS=a.so:b.so:cuvmm     "vectorAdd", "_Z9vectorAddPKfS0_Pfi"  ->  vmm_kernel_vectorAdd of the first that has it
 *
 * "cuvmm" in the list stands for the kernels that this project brings (kernels/), all of whose parameters are 64 bits wide.
 * A mangled name is looked for as it is, then as the plain name in it.
 */
#ifndef SIM_ABI_PLUGINS_H
#define SIM_ABI_PLUGINS_H

#include <stddef.h>

#include "abi.h"
#include "registered.h" /* before the next: both make a VMM_KERNEL, and this one takes its own back */
#include "vmm_kernel.h"

struct abi_kernel {
    char *name;                         /* as it was asked for */
    vmm_kernel number;                  /* for vmm_launch */
    bool ours;                          /* of this project: takes no dimensions */
    const vmm_kernel_entry *entry;      /* of a plugin's */
    unsigned params;
    size_t size[VMM_KERNEL_PARAMS], offset[VMM_KERNEL_PARAMS + 1]; /* the last one: bytes of all */
    struct abi_kernel *next;
};

/* The kernel, which stays until the library goes. NOT_FOUND, and said once for each name how to write it;
 * OUT_OF_MEMORY. function is who asks. */
CUresult abi_kernel_find(const char *function, const char *name, const struct abi_kernel **kernel);

/* Words of a launch that come before the parameters: the dimensions two and two, and shared memory. */
enum { ABI_LAUNCH_HEAD = 4 };

#endif
