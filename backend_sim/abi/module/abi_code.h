/* SPDX-License-Identifier: Apache-2.0 */
/* abi_code.h - modules, libraries and their functions. PTX is compiled when it is loaded as text; any other image is accepted,
 * and its contents are read at a lookup (image.h).
 *
 *     cuModuleLoadData(image)      ->  image [ ]
 *     cuModuleGetFunction("fill")  ->  image [fill: kernel of a plugin]          a plugin's kernel comes before
 *     cuModuleGetFunction("sort")  ->  image [fill, sort: kernel of the image]   the image's own (abi_ptx.h, abi_missing.h)
 */
#ifndef SIM_ABI_CODE_H
#define SIM_ABI_CODE_H

#include "abi_plugins.h"

/* A kernel of a library (CUkernel), and a function of a module (CUfunction). A kernel's function in the current context
 * has its own handle, the address of `function`. */
struct CUfunc_st {
    const struct abi_kernel *kernel;
    struct abi_image *image;
    int attribute[CU_FUNC_ATTRIBUTE_MAX]; /* the attributes that a program can set, as they are for the handle */
    struct abi_setting *settings;
    char function;
    struct CUfunc_st *next;
    struct CUfunc_st *same; /* the next one in the table of handles */
};

enum abi_handle { ABI_EITHER, ABI_FUNCTION, ABI_KERNEL };

/* Copies the function or kernel; INVALID_HANDLE if handle is not live, or not of that kind. Attributes are those of the
 * function, or of the kernel on the device; attributes that were not set for a kernel's function are those of the kernel on
 * device 0. A kernel that is accepted in place of a function stands for its function. */
CUresult abi_handle_find(const char *function, const void *handle, enum abi_handle kind, int device, struct CUfunc_st *found);

/* Copies the function or kernel, with its attributes on device 0. False: it is not live. */
bool abi_handle_look(const void *handle, struct CUfunc_st *found);

static inline CUresult abi_function_find(const char *function, const void *handle, struct CUfunc_st *found)
{
    return abi_handle_find(function, handle, ABI_EITHER, 0, found);
}

/* The handle of a kernel's function; handle is live. */
const void *abi_function_handle(const void *handle);

/* The compute capability of the devices, 90 for 9.0. */
int abi_capability(const vmm_system *sys);

/* The number of kernels in the image of a module or library; kernels that only a plugin has are found by name. */
CUresult abi_image_count(const char *function, const void *handle, bool library, unsigned *count);

/* The first most of them, as functions of the module, or as kernels of the library, into out. OUT_OF_MEMORY. */
CUresult abi_image_all(const char *function, const void *handle, bool library, void *out, unsigned most);

/* The handle of an image as a module. */
const void *abi_image_module(const struct abi_image *image);

/* The addresses of the image's variables (abi_variables.h): a module's own, or a library's in the current context, created on
 * first use. */
CUresult abi_image_variables(vmm_system *sys, const char *function, struct abi_image *image, uint64_t **addresses);

/* The same for the variables of a kernel that runs from the image's PTX (abi_ptx.h). */
CUresult abi_image_ptx_variables(vmm_system *sys, const char *function, struct abi_image *image, uint64_t **addresses);

/* Stores an attribute of a live function, or of a live kernel for the device. OUT_OF_MEMORY. */
CUresult abi_function_set(const char *function, const void *handle, int device, CUfunction_attribute attribute, int value);

#endif
