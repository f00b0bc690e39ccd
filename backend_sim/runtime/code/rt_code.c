/* SPDX-License-Identifier: Apache-2.0 */
#include "rt_code.h"

#include "rt_image.h"

cudaError_t rt_kernel(const void *function, CUkernel *kernel)
{
    struct rt_symbol *symbol = rt_symbol_find(RT_FUNCTION, function);
    if (symbol)
        return rt_symbol_kernel(symbol, kernel);
    *kernel = (CUkernel)(uintptr_t)function;
    return function ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t rt_function(const void *host, CUfunction *function)
{
    CUkernel kernel = NULL;
    cudaError_t result = rt_kernel(host, &kernel);
    if (result == cudaSuccess)
        result = DRIVER(cuKernelGetFunction, function, kernel);
    if (result == cudaSuccess)
        rt_symbol_note(*function, rt_host_of(kernel));
    return result;
}

cudaError_t rt_variable(const void *symbol, CUdeviceptr *address, size_t *size)
{
    CUlibrary library = NULL;
    CUdeviceptr unused;
    struct rt_symbol *variable = rt_symbol_find(RT_VARIABLE, symbol);
    if (!variable)
        return cudaErrorInvalidSymbol;
    cudaError_t result = rt_image_library(variable->image, &library);
    if (result == cudaSuccess)
        result = variable->kind == RT_MANAGED
                     ? DRIVER(cuLibraryGetManaged, address ? address : &unused, size, library, variable->name)
                     : DRIVER(cuLibraryGetGlobal, address ? address : &unused, size, library, variable->name);
    return result;
}
