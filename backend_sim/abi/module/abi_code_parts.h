/* SPDX-License-Identifier: Apache-2.0 */
/* abi_code_parts.h - what entry points of modules and of libraries share of abi_code.c.
 *
 *     cuModuleLoad(path)      abi_code_take    ->  abi_image_load      ->  a handle
 *     cuModuleGetFunction     abi_image_of     ->  abi_image_function
 *     cuModuleGetGlobal       abi_image_of     ->  abi_image_variable
 *
 * library: true for a library's handle, false for a module's; a library's module is a handle of its own.
 */
#ifndef SIM_ABI_CODE_PARTS_H
#define SIM_ABI_CODE_PARTS_H

#include "abi_code.h"

/* Code to load; the caller frees bytes. */
struct abi_code_bytes {
    const void *at;
    size_t size;
    unsigned char *bytes;
    char log[336]; /* for a refused load: the compiler's message; "" if there is none */
};

/* The contents of the file, or a refusal. */
CUresult abi_code_take(const char *function, const char *path, struct abi_code_bytes *code);

CUresult abi_image_load(vmm_system *sys, const char *function, void *image_out, bool library, struct abi_code_bytes *code);
CUresult abi_image_unload(vmm_system *sys, const char *function, const void *handle, bool library);

/* The image of the handle, which stays until it is unloaded. NULL: the handle is of neither kind. */
struct abi_image *abi_image_of(const void *handle, bool library);
bool abi_image_is_library(const struct abi_image *image);

/* Refuses a handle that is not loaded. */
CUresult abi_code_refuse(const char *function, const void *handle);

/* Finds the kernel of a library, or the function of a module. */
CUresult abi_image_function(const char *function, void *out, const void *handle, bool library, const char *name);

/* The variable of that name in the current context, made on first use. dptr and bytes may be NULL. */
CUresult abi_image_managed(vmm_system *sys, const char *function, struct abi_image *image, const char *name, CUdeviceptr *dptr,
                           size_t *bytes);
CUresult abi_image_variable(vmm_system *sys, const char *function, struct abi_image *image, const char *name, CUdeviceptr *dptr,
                            size_t *bytes);

#endif
