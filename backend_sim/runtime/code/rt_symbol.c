/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of device code, identified by the addresses of their host counterparts. */
#include "rt_code.h"

static cudaError_t address_of(void **out, const void *symbol)
{
    CUdeviceptr address = 0;
    cudaError_t result = out ? rt_variable(symbol, &address, NULL) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        *out = (void *)(uintptr_t)address;
    return result;
}

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    RT(address_of(devPtr, symbol));
}

static cudaError_t size_of(size_t *out, const void *symbol)
{
    size_t size = 0;
    cudaError_t result = out ? rt_variable(symbol, NULL, &size) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        *out = size;
    return result;
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    RT(size_of(size, symbol));
}
