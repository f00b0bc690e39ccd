/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of bytes. Each kind maps to a different driver call, which decides whether it accepts the addresses; kinds
 * that do not name a device go to cuMemcpy, which distinguishes host and device by address. Copies nothing,
 * regardless of the other arguments. Compiled for both default streams.
 *
 * Source: CUDA Runtime API, version 13.0: 6.9 Memory Management, 6.2 cudaMemcpyKind. */
#include "rt_address.h"

static cudaError_t copy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind)
{
    if (!count)
        return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice: return DRIVER(cuMemcpyHtoD, rt_address(to), from, count);
    case cudaMemcpyDeviceToHost: return DRIVER(cuMemcpyDtoH, to, rt_address(from), count);
    case cudaMemcpyDeviceToDevice: return DRIVER(cuMemcpyDtoD, rt_address(to), rt_address(from), count);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return DRIVER(cuMemcpy, rt_address(to), rt_address(from), count);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

static cudaError_t copy_async(void *to, const void *from, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (!count)
        return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice: return DRIVER(cuMemcpyHtoDAsync, rt_address(to), from, count, stream);
    case cudaMemcpyDeviceToHost: return DRIVER(cuMemcpyDtoHAsync, to, rt_address(from), count, stream);
    case cudaMemcpyDeviceToDevice: return DRIVER(cuMemcpyDtoDAsync, rt_address(to), rt_address(from), count, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return DRIVER(cuMemcpyAsync, rt_address(to), rt_address(from), count, stream);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    RT(copy(dst, src, count, kind));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RT(copy_async(dst, src, count, kind, stream));
}
