/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: names, parameters, attributes, and the driver's handles for them. */
#include <stddef.h>
#include <string.h>

#include "rt_code.h"

/* Calls that look up a function report an invalid one themselves; others return the driver's result, like the toolkit's. */
static cudaError_t of_function(cudaError_t result)
{
    return result == cudaErrorInvalidResourceHandle ? cudaErrorInvalidDeviceFunction : result;
}

/* ---- the driver's handles ---- */

static cudaError_t get_kernel(cudaKernel_t *out, const void *function)
{
    const char *name = NULL;
    CUkernel kernel = NULL;
    cudaError_t result = out ? rt_kernel(function, &kernel) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        result = of_function(DRIVER(cuKernelGetName, &name, kernel));
    if (result == cudaSuccess)
        *out = kernel;
    return result;
}

cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    RT(get_kernel(kernelPtr, entryFuncAddr));
}

/* Stubs keep the result forever. As measured with the toolkit's library without a driver, a failing call returns the
 * function itself, so that the following launch reports the error. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entryFuncAddr)
{
    cudaError_t result = cudaGetKernel(kernel, entryFuncAddr);
    if (result != cudaSuccess)
        *kernel = (cudaKernel_t)(uintptr_t)entryFuncAddr;
    return result;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    cudaFunction_t unasked = NULL; /* as measured with the toolkit's library, NULL finds the function and writes nothing */
    RT(of_function(rt_function(symbolPtr, functionPtr ? functionPtr : &unasked)));
}

static cudaError_t name_of(const char **name, const void *function)
{
    CUkernel kernel = NULL;
    cudaError_t result = name ? rt_kernel(function, &kernel) : cudaErrorInvalidValue;
    return result == cudaSuccess ? DRIVER(cuKernelGetName, name, kernel) : result;
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
    RT(name_of(name, func));
}

static cudaError_t param_info(const void *function, size_t index, size_t *offset, size_t *size)
{
    CUkernel kernel = NULL;
    cudaError_t result = rt_kernel(function, &kernel);
    return result == cudaSuccess ? DRIVER(cuKernelGetParamInfo, kernel, index, offset, size) : result;
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    RT(param_info(func, paramIndex, paramOffset, paramSize));
}

/* ---- attributes: of the function in the current context. A kernel's own attributes apply if the function's were not
 * set. ---- */

#define FIELD(field) {offsetof(struct cudaFuncAttributes, field), sizeof((struct cudaFuncAttributes *)0)->field}
static const struct {
    size_t at, size;
} fields[] = {
    [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = FIELD(maxThreadsPerBlock),
    [CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = FIELD(sharedSizeBytes),
    [CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = FIELD(constSizeBytes),
    [CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = FIELD(localSizeBytes),
    [CU_FUNC_ATTRIBUTE_NUM_REGS] = FIELD(numRegs),
    [CU_FUNC_ATTRIBUTE_PTX_VERSION] = FIELD(ptxVersion),
    [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = FIELD(binaryVersion),
    [CU_FUNC_ATTRIBUTE_CACHE_MODE_CA] = FIELD(cacheModeCA),
    [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = FIELD(maxDynamicSharedSizeBytes),
    [CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = FIELD(preferredShmemCarveout),
    [CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET] = FIELD(clusterDimMustBeSet),
    [CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = FIELD(requiredClusterWidth),
    [CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT] = FIELD(requiredClusterHeight),
    [CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH] = FIELD(requiredClusterDepth),
    [CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] = FIELD(nonPortableClusterSizeAllowed),
    [CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE] = FIELD(clusterSchedulingPolicyPreference),
};

static cudaError_t get_attributes(struct cudaFuncAttributes *out, const void *func)
{
    struct cudaFuncAttributes attributes = {.sharedSizeBytes = 0};
    CUfunction function = NULL;
    cudaError_t result = out ? rt_function(func, &function) : cudaErrorInvalidValue;
    for (int i = 0; result == cudaSuccess && i < (int)(sizeof fields / sizeof fields[0]); i++) {
        int value = 0;
        result = DRIVER(cuFuncGetAttribute, &value, (CUfunction_attribute)i, function);
        const size_t bytes = (size_t)value;
        memcpy((char *)&attributes + fields[i].at, fields[i].size == sizeof bytes ? (const void *)&bytes : &value,
               fields[i].size);
    }
    if (result == cudaSuccess)
        *out = attributes;
    return result;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    RT(get_attributes(attr, func));
}

static cudaError_t set_attribute(const void *func, enum cudaFuncAttribute attribute, int value)
{
    CUfunction function = NULL;
    cudaError_t result = rt_function(func, &function);
    return result == cudaSuccess ? DRIVER(cuFuncSetAttribute, function, (CUfunction_attribute)attribute, value) : result;
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    RT(set_attribute(func, attr, value));
}

static cudaError_t set_for_device(cudaKernel_t function, enum cudaFuncAttribute attribute, int value, int device)
{
    CUkernel kernel = NULL;
    cudaError_t result = rt_kernel(function, &kernel);
    if (result == cudaSuccess)
        result = DRIVER(cuKernelSetAttribute, (CUfunction_attribute)attribute, value, kernel, device);
    return result;
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device)
{
    RT(set_for_device(kernel, attr, value, device));
}

static cudaError_t set_cache_config(const void *func, enum cudaFuncCache config)
{
    CUfunction function = NULL;
    cudaError_t result = rt_function(func, &function);
    return result == cudaSuccess ? DRIVER(cuFuncSetCacheConfig, function, (CUfunc_cache)config) : result;
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    RT(set_cache_config(func, cacheConfig));
}

static cudaError_t set_shared_config(const void *func, enum cudaSharedMemConfig config)
{
    CUfunction function = NULL;
    cudaError_t result = rt_function(func, &function);
    return result == cudaSuccess ? DRIVER(cuFuncSetSharedMemConfig, function, (CUsharedconfig)config) : result;
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    RT(set_shared_config(func, config));
}
