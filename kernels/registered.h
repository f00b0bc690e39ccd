/* SPDX-License-Identifier: Apache-2.0 */
/* registered.h - kernels beyond those of kernels.def, registered at run time: host code that accesses memory as a
 * twin does (twin.h).
 *
 *     kernels_register("vectorAdd", code, user)  ->  number
 *     vmm_launch(sys, number, ...)               ->  code(memory, call, user)
 *
 * A plugin's accesses are known only when it runs: they may depend on what it reads, and a dry run may not be safe.
 * So hazards of in-flight work and aliases are not reported for it beforehand; faults are. A kernel that is interpreted
 * touches only what its accessor grants, and can be dry-run. Numbers are never reused.
 */
#ifndef KERNELS_REGISTERED_H
#define KERNELS_REGISTERED_H

#include <stdbool.h>

#include "call.h"
#include "twin.h"

/* A PTX kernel: the limits that its launches are checked against, and its text, for a driver. It lives as long as the process. */
struct kernels_ptx {
    const char *text;            /* ends in 0; the same pointer for all kernels of a module */
    const char *name;
    unsigned grid_y, grid_z, block_y, block_z, shared_bytes;
    const unsigned *bytes;       /* of each parameter */
    unsigned parameters, words;  /* words: of args */
    unsigned capability;         /* compute capability that it needs: 80 is 8.0 */
    unsigned most, required[3];  /* threads per block, by .maxntid and .reqntid; 0: unspecified */
    bool multimem;               /* it has instructions that use a multicast address */
    const char *unsupported;     /* an instruction that the simulator does not support; NULL: none */
};

enum { KERNELS_PTX_WORDS = 4096 }; /* as many as a launch may have */

enum { KERNELS_REGISTERED_FIRST = 1 << 16, KERNELS_REGISTERED_MOST = 1 << 17 };

/* call holds a copy of the launch's arguments. Returns when it is done, or when the accessor refuses. */
typedef void (*kernels_code)(struct twin_memory *memory, const struct vmm_call_launch *call, void *user);

/* Returns the number for launching it, or -1 if there are too many. The caller keeps name and user alive. */
vmm_kernel kernels_register(const char *name, kernels_code code, void *user);

/* The same for a kernel that is interpreted. multimem: it has instructions that use a multicast address. */
vmm_kernel kernels_register_interpreted(const char *name, kernels_code code, void *user, bool multimem);

/* The same for one that a program of vmm.h loaded. */
vmm_kernel kernels_register_ptx(const struct kernels_ptx *ptx, kernels_code code, void *user);

/* NULL if the kernel is not from PTX. */
const struct kernels_ptx *kernels_ptx_of(vmm_kernel kernel);

/* end is called with the number of each process (twin_memory) whose system is closed from now on. */
void kernels_on_end(void (*end)(uint64_t process));
void kernels_process_ended(uint64_t process);

bool kernels_is_registered(vmm_kernel kernel);
/* False for a kernel that is not registered. */
bool kernels_is_interpreted(vmm_kernel kernel);
bool kernels_uses_multimem(vmm_kernel kernel);
/* Of one that is registered. */
const char *kernels_registered_name(vmm_kernel kernel);
void kernels_registered_run(struct twin_memory *memory, const struct vmm_call_launch *call);

#endif
