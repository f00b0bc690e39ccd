/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of modules. */
#include "abi_code_parts.h"

#include "abi_capture.h"
#include "abi_jit.h"
#include "abi_parts.h"
#include "heap.h"
#include "image.h"

/* A module belongs to the current context. */
static CUresult load_module(vmm_system *sys, const char *function, CUmodule *module, struct abi_code_bytes *code)
{
    uint64_t current;
    struct abi_query_context context;
    if (!module || !code->at)
        return abi_null(function, module ? "image" : "module");
    CUresult result = abi_current(sys, function, &current, &context);
    return result == CUDA_SUCCESS ? abi_image_load(sys, function, module, false, code) : result;
}

static CUresult load_memory(vmm_system *sys, const char *function, CUmodule *module, const void *image)
{
    return load_module(sys, function, module, &(struct abi_code_bytes){.at = image, .size = IMAGE_ANY_SIZE});
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    ABI_INITIALISED(load_memory(sys, "cuModuleLoadData", module, image));
}

static CUresult load_with_options(vmm_system *sys, CUmodule *module, const void *image, unsigned count, const CUjit_option *options,
                                  void **values)
{
    struct abi_code_bytes code = {.at = image, .size = IMAGE_ANY_SIZE};
    CUresult result = load_module(sys, "cuModuleLoadDataEx", module, &code);
    return abi_jit_answered(result, code.log, options, values, count);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
                            void **optionValues)
{
    ABI_INITIALISED(load_with_options(sys, module, image, numOptions, options, optionValues));
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    ABI_INITIALISED(load_memory(sys, "cuModuleLoadFatBinary", module, fatCubin));
}

static CUresult load_module_file(vmm_system *sys, CUmodule *module, const char *path)
{
    uint64_t current;
    struct abi_query_context context;
    struct abi_code_bytes code = {.at = NULL};
    CUresult result = abi_current(sys, "cuModuleLoad", &current, &context);
    if (result == CUDA_SUCCESS)
        result = abi_code_take("cuModuleLoad", path, &code);
    if (result == CUDA_SUCCESS)
        result = load_module(sys, "cuModuleLoad", module, &code);
    heap.free(code.bytes);
    return result;
}

CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
    ABI_INITIALISED(load_module_file(sys, module, fname));
}

static CUresult unload_module(vmm_system *sys, const void *module)
{
    static const char function[] = "cuModuleUnload";
    const struct abi_image *image = abi_image_of(module, false);
    if (image && abi_image_is_library(image))
        return abi_refuse(VMM_RULE_CODE_OWNER, function, "%p is the module of a library: unload the library", module);
    return abi_image_unload(sys, function, module, false);
}

CUresult cuModuleUnload(CUmodule hmod)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(unload_module(sys, hmod));
}

/* As recorded: an invalid module is reported first, and a missing function is returned as 0. */
static CUresult module_function(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    static const char function[] = "cuModuleGetFunction";
    CUresult result = hmod ? abi_image_function(function, hfunc, hmod, false, name) : abi_code_refuse(function, hmod);
    if (result == CUDA_ERROR_NOT_FOUND)
        *hfunc = NULL;
    return result;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    ABI_INITIALISED(((void)sys, module_function(hfunc, hmod, name)));
}

static CUresult module_variable(vmm_system *sys, CUdeviceptr *dptr, size_t *bytes, const void *module, const char *name)
{
    static const char function[] = "cuModuleGetGlobal";
    if (!module)
        return abi_code_refuse(function, module);
    if (!name || (!dptr && !bytes))
        return abi_null(function, name ? "dptr and bytes" : "name");
    struct abi_image *image = abi_image_of(module, false);
    return image ? abi_image_variable(sys, function, image, name, dptr, bytes) : abi_code_refuse(function, module);
}

/* The outputs become 0 first, as recorded. */
CUresult cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    if (dptr)
        *dptr = 0;
    if (bytes)
        *bytes = 0;
    ABI_INITIALISED(module_variable(sys, dptr, bytes, hmod, name));
}

/* Names are looked up lazily. */
static CUresult loading_mode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return abi_null("cuModuleGetLoadingMode", "mode");
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    ABI_INITIALISED(((void)sys, loading_mode(mode)));
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    ABI_INITIALISED(((void)sys, abi_image_count(__func__, mod, false, count)));
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
    ABI_INITIALISED(((void)sys, abi_image_all(__func__, mod, false, functions, numFunctions)));
}
