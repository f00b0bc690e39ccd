/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and kernels of libraries, which are the same thing here: names, parameters, attributes. */
#include "abi_code.h"

static CUresult image_of(const char *function, const void *handle, void *out)
{
    struct CUfunc_st f;
    if (!out)
        return abi_null(function, "the answer");
    CUresult result = abi_function_find(function, handle, &f);
    if (result == CUDA_SUCCESS)
        memcpy(out, &f.image, sizeof f.image);
    return result;
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    ABI_INITIALISED(((void)sys, image_of("cuFuncGetModule", hfunc, hmod)));
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    ABI_INITIALISED(((void)sys, image_of("cuKernelGetLibrary", kernel, pLib)));
}

static CUresult function_of(const void *kernel, CUfunction *out)
{
    struct CUfunc_st f;
    if (!out)
        return abi_null("cuKernelGetFunction", "pFunc");
    CUresult result = abi_function_find("cuKernelGetFunction", kernel, &f);
    if (result == CUDA_SUCCESS)
        memcpy(out, &kernel, sizeof kernel);
    return result;
}

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    ABI_INITIALISED(((void)sys, function_of(kernel, pFunc)));
}

static CUresult name_of(const char *function, const char **name, const void *handle)
{
    struct CUfunc_st f;
    if (!name)
        return abi_null(function, "name");
    CUresult result = abi_function_find(function, handle, &f);
    if (result == CUDA_SUCCESS)
        *name = f.kernel->name;
    return result;
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
    ABI_INITIALISED(((void)sys, name_of("cuFuncGetName", name, hfunc)));
}

CUresult cuKernelGetName(const char **name, CUkernel hfunc)
{
    ABI_INITIALISED(((void)sys, name_of("cuKernelGetName", name, hfunc)));
}

static CUresult param_of(const char *function, const void *handle, size_t index, size_t *offset, size_t *size)
{
    struct CUfunc_st f;
    if (!offset)
        return abi_null(function, "paramOffset");
    CUresult result = abi_function_find(function, handle, &f);
    if (result != CUDA_SUCCESS)
        return result;
    if (index >= f.kernel->params)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, function, "%s has %u parameters", f.kernel->name, f.kernel->params);
    *offset = f.kernel->offset[index];
    if (size)
        *size = f.kernel->size[index];
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    ABI_INITIALISED(((void)sys, param_of("cuFuncGetParamInfo", func, paramIndex, paramOffset, paramSize)));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    ABI_INITIALISED(((void)sys, param_of("cuKernelGetParamInfo", kernel, paramIndex, paramOffset, paramSize)));
}

/* ---- attributes: host code uses none of a device's registers and memories ---- */

static int capability(const vmm_system *sys)
{
    int major = 0, minor = 0;
    sim_profile_attribute(ask_profile(sys), VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
    sim_profile_attribute(ask_profile(sys), VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor);
    return 10 * major + minor;
}

static CUresult get_attribute(const vmm_system *sys, const char *function, int *value, CUfunction_attribute attribute,
                              const void *handle)
{
    struct CUfunc_st f;
    if (!value)
        return abi_null(function, "pi");
    CUresult result = abi_function_find(function, handle, &f);
    if (result != CUDA_SUCCESS)
        return result;
    if ((int)attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, function, "attribute %d is not known", (int)attribute);
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = capability(sys); break;
    default: *value = f.attribute[attribute]; break;
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    ABI_INITIALISED(get_attribute(sys, "cuFuncGetAttribute", pi, attrib, hfunc));
}

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    (void)dev;
    ABI_INITIALISED(get_attribute(sys, "cuKernelGetAttribute", pi, attrib, kernel));
}

static CUresult set_attribute(const char *function, const void *handle, CUfunction_attribute attribute, int value)
{
    struct CUfunc_st f;
    CUresult result = abi_function_find(function, handle, &f);
    if (result != CUDA_SUCCESS)
        return result;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
        attribute != CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, function, "attribute %d cannot be set here", (int)attribute);
    abi_function_set(handle, attribute, value);
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    ABI_INITIALISED(((void)sys, set_attribute("cuFuncSetAttribute", hfunc, attrib, value)));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    (void)dev;
    ABI_INITIALISED(((void)sys, set_attribute("cuKernelSetAttribute", kernel, attrib, val)));
}

/* Hints about caches, of which there are none. */
static CUresult hint(const char *function, const void *handle)
{
    struct CUfunc_st f;
    return abi_function_find(function, handle, &f);
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    (void)config;
    ABI_INITIALISED(((void)sys, hint("cuFuncSetCacheConfig", hfunc)));
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    (void)config, (void)dev;
    ABI_INITIALISED(((void)sys, hint("cuKernelSetCacheConfig", kernel)));
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
    (void)config;
    ABI_INITIALISED(((void)sys, hint("cuFuncSetSharedMemConfig", hfunc)));
}
