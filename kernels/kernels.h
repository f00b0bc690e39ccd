/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the kernels' arguments, names and device code, for both backends.
 *
 *     vmm_launch(kernel, grid, block, args, count, stream)
 *                  |      |     |      |     |
 *                  +------+-----+------+-----+---- kernels_check: the same answer on every backend
 */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "call.h"
#include "vmm.h"

/* What an argument accepts. */
enum kernel_arg {
    KERNEL_ARG_ANY,          /* a number of bytes, a seed, ... */
    KERNEL_ARG_WORDS,        /* a multiple of 8: sizes that hold whole 64-bit words */
    KERNEL_ARG_ADDRESS,      /* of device memory */
    KERNEL_ARG_WORD_ADDRESS, /* of 64-bit words: a multiple of 8 */
    KERNEL_ARG_BYTE,         /* 0 to 255 */
    KERNEL_ARG_POSITIVE,     /* 1 or more */
    KERNEL_ARG_FLAG,         /* 0 or 1 */
    KERNEL_ARG_WIDTH         /* 1, 4 or 8, and the first argument a multiple of it */
};

#define KERNEL_MAX_ARGS 8
#define KERNEL_MAX_GRID 0x7fffffffu
#define KERNEL_MAX_BLOCK 1024u

/* Checks kernel, dimensions and arguments, in this order; a refusal sets the detail. Needs no system. */
vmm_result kernels_check(const struct vmm_call_launch *call);

/* Does it use multimem instructions? */
bool kernels_is_multimem(vmm_kernel kernel);

/* The name of a kernel's argument that is an address; NULL for other arguments and for unknown ones. */
const char *kernels_address_argument(vmm_kernel kernel, uint64_t argument);

/* The device code of all kernels, a fat binary for cuModuleLoadData; with size 0 in a build without nvcc. */
extern const unsigned char kernels_image[];
extern const size_t kernels_image_size;

#endif
