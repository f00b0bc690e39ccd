/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, and kernels of libraries, which are the same here: names, parameters, attributes. */
#include <limits.h>

#include "abi_attribute.h"
#include "abi_code.h"

/* The image of a function's module, or of a kernel's library. */
static CUresult image_of(const char *function, const void *handle, bool module, void *out)
{
    struct CUfunc_st f;
    if (!out)
        return abi_null(function, "the answer");
    CUresult result = abi_function_find(function, handle, &f);
    if (result != CUDA_SUCCESS)
        return result;
    const void *image = module ? abi_image_module(f.image) : f.image;
    memcpy(out, &image, sizeof image);
    return CUDA_SUCCESS;
}

/* Some entry points distinguish a NULL function from other invalid values. */
static CUresult named(const char *function, const void *handle, struct CUfunc_st *f)
{
    return handle ? abi_function_find(function, handle, f) : abi_null(function, "the function");
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    ABI_INITIALISED(((void)sys, hfunc ? image_of("cuFuncGetModule", hfunc, true, hmod) : abi_null("cuFuncGetModule", "hfunc")));
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    ABI_INITIALISED(((void)sys, image_of("cuKernelGetLibrary", kernel, false, pLib)));
}

static CUresult function_of(const void *kernel, CUfunction *out)
{
    struct CUfunc_st f;
    if (!out)
        return abi_null("cuKernelGetFunction", "pFunc");
    CUresult result = abi_handle_find("cuKernelGetFunction", kernel, ABI_KERNEL, 0, &f);
    if (result != CUDA_SUCCESS)
        return result;
    const void *handle = abi_function_handle(kernel);
    memcpy(out, &handle, sizeof handle);
    return CUDA_SUCCESS;
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
    CUresult result = named(function, handle, &f);
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

/* Measured: for a kernel only if a context is current, for a function always. */
static CUresult param_of(const vmm_system *sys, bool of_kernel, const void *handle, size_t index, size_t *offset, size_t *size)
{
    const char *function = of_kernel ? "cuKernelGetParamInfo" : "cuFuncGetParamInfo";
    struct abi_query_context context;
    uint64_t current;
    struct CUfunc_st f;
    if (!offset)
        return abi_null(function, "paramOffset");
    CUresult result = named(function, handle, &f);
    if (result == CUDA_SUCCESS && of_kernel)
        result = abi_current(sys, function, &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (index >= f.kernel->params)
        return abi_refuse(VMM_RULE_CALL_VALUE, function, "%s has %u parameters", f.kernel->name, f.kernel->params);
    *offset = f.kernel->offset[index];
    if (size)
        *size = f.kernel->size[index];
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    ABI_INITIALISED(param_of(sys, false, func, paramIndex, paramOffset, paramSize));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    ABI_INITIALISED(param_of(sys, true, kernel, paramIndex, paramOffset, paramSize));
}

/* ---- attributes: host code uses no registers and no device memory; other kernels have those of the image ---- */

int abi_capability(const vmm_system *sys)
{
    int major = 0, minor = 0;
    sim_profile_attribute(abi_query_profile(sys), VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
    sim_profile_attribute(abi_query_profile(sys), VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor);
    return 10 * major + minor;
}

static CUresult get_attribute(const vmm_system *sys, const char *function, int *value, CUfunction_attribute attribute,
                              const struct CUfunc_st *f)
{
    if ((int)attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return abi_refuse(VMM_RULE_CALL_VALUE, function, "attribute %d is unknown", (int)attribute);
    if (f->kernel->code && (attribute != CU_FUNC_ATTRIBUTE_BINARY_VERSION || f->attribute[attribute])) {
        *value = f->attribute[attribute];
        return CUDA_SUCCESS;
    }
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = abi_capability(sys); break;
    default: *value = f->attribute[attribute]; break;
    }
    return CUDA_SUCCESS;
}

static CUresult function_attribute(const vmm_system *sys, int *value, CUfunction_attribute attribute, const void *handle)
{
    static const char name[] = "cuFuncGetAttribute";
    struct CUfunc_st f;
    CUresult result = abi_handle_find(name, handle, ABI_FUNCTION, 0, &f);
    return result == CUDA_SUCCESS ? get_attribute(sys, name, value, attribute, &f) : result;
}

/* Some arguments are checked before cuInit is. */
static CUresult refuse_null(const char *function, const char *argument, const void *output, const void *handle)
{
    struct CUfunc_st f;
    return output ? abi_function_find(function, handle, &f) : abi_null(function, argument);
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    if (!pi || !hfunc)
        return refuse_null(__func__, "pi", pi, hfunc);
    ABI_INITIALISED(function_attribute(sys, pi, attrib, hfunc));
}

/* Each device has its own attributes of a kernel. */
static CUresult kernel_attribute(const vmm_system *sys, int *value, CUfunction_attribute attribute, const void *handle, CUdevice dev)
{
    static const char name[] = "cuKernelGetAttribute";
    struct CUfunc_st f;
    CUresult result = value ? abi_device(sys, name, dev) : abi_null(name, "pi");
    if (result == CUDA_SUCCESS)
        result = abi_handle_find(name, handle, ABI_KERNEL, dev, &f);
    return result == CUDA_SUCCESS ? get_attribute(sys, name, value, attribute, &f) : result;
}

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    struct CUfunc_st f;
    CUresult result = abi_handle_find(__func__, kernel, ABI_KERNEL, 0, &f);
    if (result != CUDA_SUCCESS)
        return result;
    ABI_INITIALISED(kernel_attribute(sys, pi, attrib, kernel, dev));
}

/* The attributes that can be set, and their ranges. The initial value is a device's default. */
static const struct {
    int attribute, least, most;
} settable[] = {
    {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1, 100},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 0, INT_MAX},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 0, INT_MAX},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 0, INT_MAX},
    {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0, 1},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 0, 2}, /* default, spread, load balancing */
};

static CUresult refuse_value(const char *function, int attribute, int value, int least, int most)
{
    return abi_refuse(VMM_RULE_CALL_VALUE, function, "attribute %d cannot be %d: %d to %d", attribute, value, least, most);
}

static CUresult check_value(const vmm_system *sys, const char *function, const struct CUfunc_st *f, int attribute, int value)
{
    int shared = 0;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        abi_attribute(abi_query_profile(sys), CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0, &shared);
        shared -= f->attribute[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
        return value >= 0 && value <= shared ? CUDA_SUCCESS : refuse_value(function, attribute, value, 0, shared);
    }
    for (size_t i = 0; i < sizeof settable / sizeof settable[0]; i++)
        if (settable[i].attribute == attribute)
            return value >= settable[i].least && value <= settable[i].most
                       ? CUDA_SUCCESS
                       : refuse_value(function, attribute, value, settable[i].least, settable[i].most);
    return abi_refuse(VMM_RULE_CALL_VALUE, function, "attribute %d cannot be set", attribute);
}

static CUresult set_attribute(const vmm_system *sys, const char *function, const void *handle, const struct CUfunc_st *f, int device,
                              CUfunction_attribute attribute, int value)
{
    if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        value = value != 0;
    CUresult result = check_value(sys, function, f, (int)attribute, value);
    return result == CUDA_SUCCESS ? abi_function_set(function, handle, device, attribute, value) : result;
}

static CUresult set_function(const vmm_system *sys, const void *handle, CUfunction_attribute attribute, int value)
{
    static const char name[] = "cuFuncSetAttribute";
    struct CUfunc_st f;
    CUresult result = abi_handle_find(name, handle, ABI_FUNCTION, 0, &f);
    return result == CUDA_SUCCESS ? set_attribute(sys, name, handle, &f, 0, attribute, value) : result;
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    ABI_INITIALISED(set_function(sys, hfunc, attrib, value));
}

static CUresult set_kernel(const vmm_system *sys, const void *handle, const struct CUfunc_st *f, int device,
                           CUfunction_attribute attribute, int value)
{
    static const char name[] = "cuKernelSetAttribute";
    CUresult result = abi_device(sys, name, device);
    return result == CUDA_SUCCESS ? set_attribute(sys, name, handle, f, device, attribute, value) : result;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    struct CUfunc_st f;
    CUresult result = abi_handle_find(__func__, kernel, ABI_KERNEL, 0, &f);
    if (result != CUDA_SUCCESS)
        return result;
    ABI_INITIALISED(set_kernel(sys, kernel, &f, dev, attrib, val));
}

/* Cache preferences are checked and ignored: there are no caches. */
static CUresult hint(const char *function, const void *handle, int config, int most)
{
    struct CUfunc_st f;
    if (config < 0 || config > most)
        return abi_refuse(VMM_RULE_CALL_VALUE, function, "config %d is unknown: 0 to %d", config, most);
    return abi_function_find(function, handle, &f);
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    ABI_INITIALISED(((void)sys, hint(__func__, hfunc, (int)config, CU_FUNC_CACHE_PREFER_EQUAL)));
}

/* Reports a NULL kernel first. */
static bool kernel_device(const vmm_system *sys, const char *function, const void *kernel, CUdevice dev)
{
    return !kernel || abi_device(sys, function, dev) == CUDA_SUCCESS;
}

/* A hint about a kernel on a device: the result is the same for all devices, but the device must exist. */
#define ABI_KERNEL(call) ABI_INITIALISED(kernel_device(sys, __func__, kernel, dev) ? (call) : CUDA_ERROR_INVALID_DEVICE)

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    ABI_KERNEL(hint(__func__, kernel, (int)config, CU_FUNC_CACHE_PREFER_EQUAL));
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
    ABI_INITIALISED(((void)sys, hint(__func__, hfunc, (int)config, CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)));
}

/* Host code is loaded as soon as it has been found. */
static CUresult is_loaded(const char *function, CUfunctionLoadingState *state, const void *handle)
{
    struct CUfunc_st f;
    CUresult result = abi_handle_find(function, handle, ABI_FUNCTION, 0, &f);
    if (result == CUDA_SUCCESS)
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return result;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    if (!state || !function)
        return refuse_null(__func__, "state", state, function);
    ABI_INITIALISED(((void)sys, is_loaded(__func__, state, function)));
}

static CUresult load(const char *function, const void *handle)
{
    struct CUfunc_st f;
    return abi_handle_find(function, handle, ABI_FUNCTION, 0, &f);
}

CUresult cuFuncLoad(CUfunction function)
{
    if (!function)
        return refuse_null(__func__, "", __func__, function);
    ABI_INITIALISED(((void)sys, load(__func__, function)));
}
