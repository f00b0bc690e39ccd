/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of libraries. */
#include "abi_code_parts.h"

#include <string.h>

#include "abi_capture.h"
#include "abi_jit.h"
#include "abi_parts.h"
#include "heap.h"
#include "image.h"

static CUresult load_library(vmm_system *sys, CUlibrary *library, struct abi_code_bytes *code)
{
    if (!library || !code->at)
        return abi_null("cuLibraryLoadData", library ? "code" : "library");
    return abi_image_load(sys, "cuLibraryLoadData", library, true, code);
}

static CUresult load_memory(vmm_system *sys, CUlibrary *library, const void *at, const CUjit_option *options, void **values,
                            unsigned count)
{
    struct abi_code_bytes code = {.at = at, .size = IMAGE_ANY_SIZE};
    CUresult result = load_library(sys, library, &code);
    return abi_jit_answered(result, code.log, options, values, count);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
                           unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions)
{
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    ABI_INITIALISED(load_memory(sys, library, code, jitOptions, jitOptionsValues, numJitOptions));
}

static CUresult load_file(vmm_system *sys, CUlibrary *library, const char *path, const CUjit_option *options, void **values,
                          unsigned count)
{
    struct abi_code_bytes code = {.at = NULL};
    CUresult result = abi_code_take("cuLibraryLoadFromFile", path, &code);
    if (result == CUDA_SUCCESS)
        result = load_library(sys, library, &code);
    heap.free(code.bytes);
    return abi_jit_answered(result, code.log, options, values, count);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                               void **libraryOptionValues, unsigned int numLibraryOptions)
{
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    ABI_INITIALISED(load_file(sys, library, fileName, jitOptions, jitOptionsValues, numJitOptions));
}

CUresult cuLibraryUnload(CUlibrary library)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(abi_image_unload(sys, "cuLibraryUnload", library, true));
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    ABI_INITIALISED(((void)sys, abi_image_function("cuLibraryGetKernel", pKernel, library, true, name)));
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    ABI_INITIALISED(((void)sys, abi_image_count(__func__, lib, true, count)));
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    ABI_INITIALISED(((void)sys, abi_image_all(__func__, lib, true, kernels, numKernels)));
}

static CUresult module_of(CUmodule *module, const void *library)
{
    if (!module)
        return abi_null("cuLibraryGetModule", "pMod");
    const struct abi_image *image = abi_image_of(library, true);
    if (!image)
        return abi_code_refuse("cuLibraryGetModule", library);
    const void *handle = abi_image_module(image);
    memcpy(module, &handle, sizeof handle);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    ABI_INITIALISED(((void)sys, module_of(pMod, library)));
}

/* What a call refuses before it checks whether cuInit was called. */
static CUresult check_global(const char *function, const void *library, const char *name, bool outputs)
{
    if (!name || !outputs)
        return abi_null(function, name ? "dptr and bytes" : "name");
    return library ? CUDA_SUCCESS : abi_code_refuse(function, library);
}

static CUresult library_variable(vmm_system *sys, CUdeviceptr *dptr, size_t *bytes, const void *library, const char *name)
{
    static const char function[] = "cuLibraryGetGlobal";
    uint64_t current;
    struct abi_query_context context;
    struct abi_image *image = abi_image_of(library, true);
    CUresult result = image ? abi_current(sys, function, &current, &context) : abi_code_refuse(function, library);
    return result == CUDA_SUCCESS ? abi_image_variable(sys, function, image, name, dptr, bytes) : result;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    CUresult result = check_global(__func__, library, name, dptr || bytes);
    if (result != CUDA_SUCCESS)
        return result;
    ABI_INITIALISED(library_variable(sys, dptr, bytes, library, name));
}

/* As recorded, it needs no current context: without one, the variable is created in the first device's primary context, if that
 * is retained. */
static CUresult managed_anywhere(vmm_system *sys, struct abi_image *image, const char *name, CUdeviceptr *dptr, size_t *bytes)
{
    static const char function[] = "cuLibraryGetManaged";
    vmm_context context = 0;
    const bool borrows = !abi_query_current(sys) && abi_query_primary(sys, 0);
    if (borrows) {
        vmm_device_primary_ctx_retain(sys, &context, 0);
        vmm_ctx_set_current(sys, context);
    }
    CUresult result = abi_image_managed(sys, function, image, name, dptr, bytes);
    if (borrows) {
        vmm_ctx_set_current(sys, 0);
        vmm_device_primary_ctx_release(sys, 0);
    }
    return result;
}

/* Of plugins none is managed. */
static CUresult managed_variable(vmm_system *sys, const void *library, const char *name, CUdeviceptr *dptr, size_t *bytes)
{
    static const char function[] = "cuLibraryGetManaged";
    struct abi_image *image = abi_image_of(library, true);
    if (!image)
        return abi_code_refuse(function, library);
    if (!*name)
        return abi_refuse(VMM_RULE_CODE_KIND, function, "the name is empty");
    if (abi_variable_find(name))
        return abi_refuse(VMM_RULE_CODE_NAME, function, "%.60s: plugins have no managed variables", name);
    return managed_anywhere(sys, image, name, dptr, bytes);
}

CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    CUresult result = check_global(__func__, library, name, dptr || bytes);
    if (result != CUDA_SUCCESS)
        return result;
    ABI_INITIALISED(managed_variable(sys, library, name, dptr, bytes));
}

/* The name does not matter: plugins have no unified functions, and neither had the recorded program. */
static CUresult unified_function(const void *fptr, const void *library, const char *name)
{
    static const char function[] = "cuLibraryGetUnifiedFunction";
    if (!fptr || (library && !name))
        return abi_null(function, fptr ? "symbol" : "fptr");
    if (!library)
        return abi_code_refuse(function, library);
    return abi_refuse(VMM_RULE_CODE_KIND, function, "%.60s is not a unified function", name);
}

CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol)
{
    ABI_INITIALISED(((void)sys, unified_function(fptr, library, symbol)));
}
