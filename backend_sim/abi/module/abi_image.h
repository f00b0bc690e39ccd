/* SPDX-License-Identifier: Apache-2.0 */
/* abi_image.h - internals of modules and libraries: what abi_code.c (images), abi_code_functions.c and abi_code_variables.c
 * share.
 *
 *     images  ->  [ library: code, PTX ]  ->  [ module: code ]
 *                   functions: fill, sort      functions: fill
 *                   copies: context 1, 2       copies: one for all contexts
 */
#ifndef SIM_ABI_IMAGE_H
#define SIM_ABI_IMAGE_H

#include "abi_code.h"
#include "abi_ptx.h"
#include "image.h"

/* The attributes that a program has set for a function, or for a kernel on a device. */
struct abi_setting {
    int device, attribute, value;
    struct abi_setting *next;
};

/* A variable that the image itself holds, from the first lookup on. */
struct held {
    const struct image_variable *variable;
    uint64_t address;
    struct held *next;
};

/* The variables of an image in a context: a module has one copy, from its load on; a library one for each context that used
 * it. */
struct copy {
    uint64_t context, *addresses;
    struct held *held;
    struct copy *next;
};

/* A module or a library; its address is the handle, and its module is another handle of a library. */
struct abi_image {
    bool library;
    char module; /* its address is the handle of a library's module */
    struct image *code;
    struct abi_ptx_device device;
    struct abi_ptx *ptx;  /* NULL if the image has no PTX, or if `why` says what is wrong with it */
    bool compiled;
    bool too_new;         /* that is a version of PTX */
    char why[320];
    struct CUfunc_st **of_code; /* by the index of the image's kernel; NULL if none was looked up */
    struct CUfunc_st *functions;
    struct copy *copies;
    struct abi_image *next;
};

/* The lock of everything here. */
void abi_images_lock(void);
void abi_images_unlock(void);

/* Call these under the lock. Where the image is linked; NULL there if it is not loaded. */
struct abi_image **abi_images_place(const void *handle);
/* An image that is found, and read. NULL: there is none, or memory is out. */
struct abi_image *abi_images_read(const void *wanted);

/* Invalidates the handle; call it under the lock. Then it may be freed. */
void abi_function_forget(struct CUfunc_st *f);
void abi_function_free(struct CUfunc_st *f);
void abi_functions_close(void);

/* The variables of plugins in the context; at the end all of the image. OUT_OF_MEMORY, and what vmm_mem_alloc answers. */
CUresult abi_image_add_variables(vmm_system *sys, const char *function, struct abi_image *image, uint64_t context, uint64_t **addresses);
void abi_image_end_variables(vmm_system *sys, struct abi_image *image);

#endif
