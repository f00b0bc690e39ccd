/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of bytes. The driver tells host from device by the address; the kind only has to be one. */
#include "rt.h"

static cudaError_t copy_async(void *to, const void *from, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    return DRIVER(cuMemcpyAsync, (CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, count, stream);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RT(copy_async(dst, src, count, kind, stream));
}
