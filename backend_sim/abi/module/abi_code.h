/* SPDX-License-Identifier: Apache-2.0 */
/* abi_code.h - modules, libraries and their functions. Any image is accepted: only the names of the functions matter.
 *
 *     cuModuleLoadData(image)  ->  image [ ]
 *     cuModuleGetFunction("fill")  ->  image [fill: kernel of a plugin]
 */
#ifndef SIM_ABI_CODE_H
#define SIM_ABI_CODE_H

#include "abi_plugins.h"

struct CUfunc_st {
    const struct abi_kernel *kernel;
    struct abi_image *image;
    int attribute[CU_FUNC_ATTRIBUTE_MAX]; /* the attributes that a program can set */
    struct CUfunc_st *next;
};

/* Copies the function or kernel; INVALID_HANDLE when handle is not live. */
CUresult abi_function_find(const char *function, const void *handle, struct CUfunc_st *found);

/* The base of the image's variables: of a module its own, of a library those in the current context, made on first use. */
CUresult abi_image_variables(vmm_system *sys, const char *function, struct abi_image *image, uint64_t *base);

/* Stores an attribute of a live function. */
void abi_function_set(const void *handle, CUfunction_attribute attribute, int value);

#endif
