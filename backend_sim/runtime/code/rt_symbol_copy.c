/* SPDX-License-Identifier: Apache-2.0 */
/* Copies to and from variables of device code, for both default streams. */
#include "rt_code.h"

/* The bytes of a symbol that a copy accesses. The driver determines the kind of the other side. */
static cudaError_t piece(const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                         enum cudaMemcpyKind host_side, CUdeviceptr *at)
{
    size_t size = 0;
    bool right = kind == host_side || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
    cudaError_t result = right ? rt_variable(symbol, at, &size) : cudaErrorInvalidMemcpyDirection;
    if (result == cudaSuccess && (offset > size || count > size - offset))
        result = cudaErrorInvalidValue;
    *at += offset;
    return result;
}

static cudaError_t to_symbol(const void *symbol, const void *from, size_t count, size_t offset, enum cudaMemcpyKind kind,
                             cudaStream_t stream)
{
    CUdeviceptr at = 0;
    cudaError_t result = piece(symbol, count, offset, kind, cudaMemcpyHostToDevice, &at);
    return result == cudaSuccess ? DRIVER(cuMemcpyAsync, at, (CUdeviceptr)(uintptr_t)from, count, stream) : result;
}

static cudaError_t from_symbol(void *to, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                               cudaStream_t stream)
{
    CUdeviceptr at = 0;
    cudaError_t result = piece(symbol, count, offset, kind, cudaMemcpyDeviceToHost, &at);
    return result == cudaSuccess ? DRIVER(cuMemcpyAsync, (CUdeviceptr)(uintptr_t)to, at, count, stream) : result;
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind,
                                    cudaStream_t stream)
{
    RT(to_symbol(symbol, src, count, offset, kind, stream));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    RT(from_symbol(dst, symbol, count, offset, kind, stream));
}

/* The driver's copy without a stream is ordered like the default stream of its form. */
static cudaError_t to_symbol_now(const void *symbol, const void *from, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    CUdeviceptr at = 0;
    cudaError_t result = piece(symbol, count, offset, kind, cudaMemcpyHostToDevice, &at);
    return result == cudaSuccess ? DRIVER(cuMemcpy, at, (CUdeviceptr)(uintptr_t)from, count) : result;
}

static cudaError_t from_symbol_now(void *to, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    CUdeviceptr at = 0;
    cudaError_t result = piece(symbol, count, offset, kind, cudaMemcpyDeviceToHost, &at);
    return result == cudaSuccess ? DRIVER(cuMemcpy, (CUdeviceptr)(uintptr_t)to, at, count) : result;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    RT(to_symbol_now(symbol, src, count, offset, kind));
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    RT(from_symbol_now(dst, symbol, count, offset, kind));
}
