/* SPDX-License-Identifier: Apache-2.0 */
/* code_module.h - the modules that vmm_kernel_load was given, and their kernels.
 *
 *     text "A", scale         ->  module A [ scale -> 65536 ]
 *     text "A", sum, grid_y 2 ->  module A [ scale -> 65536, sum 2 -> 65537 ]     one copy of A's variables in each context
 *     text "B", scale         ->  module A [ ... ]  module B [ scale -> 65538 ]
 *
 * Nothing of it ends before the process: work in flight, graphs and traces lead to a kernel by its number.
 */
#ifndef SIM_CODE_MODULE_H
#define SIM_CODE_MODULE_H

#include "ptx_code.h"
#include "registered.h"

/* The variables of a module in a context. */
struct code_copy {
    uint64_t process, context;
    unsigned char *memory;  /* to be freed */
    unsigned char *bytes;   /* in it, aligned */
    uint64_t *addresses;    /* the address of each, within bytes */
    struct code_copy *next;
};

struct code_kernel {
    struct kernels_ptx ptx;
    struct code_module *module;
    const struct ptx_kernel *kernel;
    vmm_kernel number;
    struct code_kernel *next;
};

struct code_module {
    char *text;
    uint64_t size, hash;
    struct ptx_program *program;
    struct code_kernel *kernels;
    struct code_copy *copies;
    uint64_t variables; /* bytes of a copy */
    struct code_module *next;
};

/* A context's copy, created at its first launch. *copy is NULL if the module has no variables. False: memory is out. */
bool code_copy_of(struct code_module *module, uint64_t process, uint64_t context, const struct code_copy **copy);

#endif
