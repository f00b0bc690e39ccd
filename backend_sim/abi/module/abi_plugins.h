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
#define VMM_KERNEL_READER /* this library has no variables of its own */
#include "registered.h" /* included before the next header: both define VMM_KERNEL, and this one undefines its own */
#include "vmm_kernel.h"

struct image_kernel;
struct abi_skipped;
struct abi_ptx_kernel;

struct abi_kernel {
    char *name;                         /* as requested */
    vmm_kernel number;                  /* for vmm_launch */
    bool ours;                          /* a kernel of this project, which takes no dimensions */
    const vmm_kernel_entry *entry;      /* of a plugin's kernel */
    const struct image_kernel *code;    /* of a kernel that an image holds and no plugin has (abi_missing.h); NULL: of the others */
    struct abi_skipped *skipped;        /* its launches */
    struct abi_ptx_kernel *ptx;         /* the same kernel if the image's PTX could be compiled (abi_ptx.h) */
    const char *why;                    /* why that cannot run, or why there is none; NULL: it runs, or the image has no PTX */
    unsigned params;
    size_t *size, *offset; /* offset has one extra entry: the size of all parameters */
    struct abi_kernel *next;
};

/* A kernel with room for its name and that many parameters, which heap.free frees. NULL: memory is out. */
struct abi_kernel *abi_kernel_new(const char *name, unsigned params);

/* Finds the kernel, which stays valid until the library is unloaded. NOT_FOUND is not reported; OUT_OF_MEMORY is. function is the
 * entry point's name. */
CUresult abi_kernel_find(const char *function, const char *name, const struct abi_kernel **kernel);

/* Reports that the kernel was not found: NOT_FOUND, and once per name how to write it. why: the image's reason; "" if
 * there is none. OUT_OF_MEMORY. */
CUresult abi_kernel_refuse(const char *function, const char *name, const char *why);

struct abi_variable {
    const vmm_variable_entry *entry;
    unsigned index; /* among the variables of all plugins */
    struct abi_variable *next;
};

/* The variable of that name; NULL if no plugin has it, or abi_variables was never called. */
const struct abi_variable *abi_variable_find(const char *name);

/* The variables of all plugins; NULL if there are none. OUT_OF_MEMORY. */
CUresult abi_variables(const char *function, const struct abi_variable **first, unsigned *count);

/* The index of a plugin's entry. */
unsigned abi_variable_index(const vmm_variable_entry *entry);

/* Does a plugin, or this project, have a kernel with that name? */
bool abi_kernel_there(const char *name);

/* The words of a launch before the parameters: the dimensions, two to a word, the shared memory, and where this process stores
 * the addresses of the variables. */
enum { ABI_LAUNCH_SHARED = 3, ABI_LAUNCH_VARIABLES, ABI_LAUNCH_HEAD };

#endif
