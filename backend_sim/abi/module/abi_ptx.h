/* SPDX-License-Identifier: Apache-2.0 */
/* abi_ptx.h - the PTX of an image as a program that runs here (backend_sim/ptx).
 *
 *     text of PTX                  abi_ptx_new        ->  a program, or line, column and what is wrong there
 *     kernel, current context      abi_ptx_variables  ->  where the program's variables are, made on first use
 *                                  abi_ptx_number     ->  a number for vmm_launch, which runs the kernel (abi_ptx_run.h)
 *
 * A program outlives its image once a kernel of it has a number, since work in flight and graphs lead to it.
 */
#ifndef SIM_ABI_PTX_H
#define SIM_ABI_PTX_H

#include "abi.h"
#include "image.h"
#include "ptx_program.h"
#include "registered.h"

/* What a program is compiled for. */
struct abi_ptx_device {
    bool skips; /* kernels=skip: nothing is compiled */
    int capability;
    uint32_t multiprocessors;
    bool strict;
    unsigned version; /* the newest PTX that the driver knows, 10 times */
};
struct abi_ptx_device abi_ptx_device(const vmm_system *sys);

struct abi_ptx;

/* A kernel of a program. */
struct abi_ptx_kernel {
    struct abi_ptx *program;
    const struct ptx_program *code;
    const struct ptx_kernel *kernel;
    struct abi_ptx_device device;
    vmm_kernel number; /* 0: never launched */
};

/* The text is not needed afterwards. NULL: the error says why. */
struct abi_ptx *abi_ptx_new(const struct abi_ptx_device *device, const char *text, size_t size, struct ptx_error *error);

/* The image is gone: frees the program, or keeps it for kernels that were launched. Its variables have ended. NULL is fine. */
void abi_ptx_drop(struct abi_ptx *program);

/* The kernel with that name, most likely the one with that index. NULL: there is none. */
struct abi_ptx_kernel *abi_ptx_kernel(struct abi_ptx *program, const char *name, size_t index);

/* Reports what only a compiler knows about the kernels: constant memory, and the number of PTX registers that are live at
 * once. */
void abi_ptx_describe(struct abi_ptx *program, struct image *image);

/* The number by which vmm_launch runs the kernel. -1 if there are too many. */
vmm_kernel abi_ptx_number(struct abi_ptx_kernel *kernel);

/* The index of a variable; -1 if there is none with that name. */
long abi_ptx_variable(const struct abi_ptx *program, const char *name, uint64_t *size);

/* The addresses of the variables, by their index, in the current context, or, for key 0 of a module, in the first one that
 * asked. They stay where they are until the program is freed. NULL: there are none. OUT_OF_MEMORY, and what vmm_mem_alloc
 * answers. */
CUresult abi_ptx_variables(vmm_system *sys, const char *function, struct abi_ptx *program, uint64_t key, uint64_t **addresses);

/* The managed ones alone, which all contexts share: they are created in the current context, and end with it. The program has
 * some. */
CUresult abi_ptx_managed(vmm_system *sys, const char *function, struct abi_ptx *program, uint64_t **addresses);
bool abi_ptx_is_managed(const struct abi_ptx *program, long variable);

/* Ends the variables, after the device's work. NULL is fine. */
void abi_ptx_end(vmm_system *sys, struct abi_ptx *program);

#endif
