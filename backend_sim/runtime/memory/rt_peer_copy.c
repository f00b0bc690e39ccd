/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between two devices, which exist in one form: stream 0 is the legacy default stream. */
#include "rt_address.h"

static cudaError_t contexts_of(int to, int from, CUcontext *to_context, CUcontext *from_context)
{
    cudaError_t result = rt_primary_context(to, to_context);
    return result == cudaSuccess ? rt_primary_context(from, from_context) : result;
}

static cudaError_t copy(void *dst, int dst_device, const void *src, int src_device, size_t count)
{
    CUcontext to = NULL, from = NULL;
    cudaError_t result = count ? contexts_of(dst_device, src_device, &to, &from) : cudaSuccess;
    return result == cudaSuccess && count ? DRIVER(cuMemcpyPeer, rt_address(dst), to, rt_address(src), from, count) : result;
}

static cudaError_t copy_async(void *dst, int dst_device, const void *src, int src_device, size_t count, cudaStream_t stream)
{
    CUcontext to = NULL, from = NULL;
    cudaError_t result = count ? contexts_of(dst_device, src_device, &to, &from) : cudaSuccess;
    return result == cudaSuccess && count ? DRIVER(cuMemcpyPeerAsync, rt_address(dst), to, rt_address(src), from, count, stream) : result;
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    RT(copy(dst, dstDevice, src, srcDevice, count));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count, cudaStream_t stream)
{
    RT(copy_async(dst, dstDevice, src, srcDevice, count, stream));
}
