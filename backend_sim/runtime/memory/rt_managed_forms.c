/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered operations on managed memory. Compiled for both default streams.
 *
 *     CUDA 12    cudaMemPrefetchAsync(p, n, device, stream)    cudaMemPrefetchAsync_v2(p, n, place, flags, stream)
 *     CUDA 13                                                  cudaMemPrefetchAsync(p, n, place, flags, stream)
 *
 * Source: CUDA Runtime API, version 13.0: 6.9 Memory Management, 6.4 Stream Management. */
#include "rt_address.h"

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length, unsigned int flags)
{
    RT(DRIVER(cuStreamAttachMemAsync, stream, rt_address(devPtr), length, flags));
}

/* The call that takes a location. */
#undef PREFETCH
#if CUDART_VERSION >= 13000
#define PREFETCH cudaMemPrefetchAsync
#else
#define PREFETCH cudaMemPrefetchAsync_v2
#endif

cudaError_t PREFETCH(const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags, cudaStream_t stream)
{
    const CUmemLocation place = {(CUmemLocationType)location.type, location.id};
    RT(DRIVER(cuMemPrefetchAsync_v2, rt_address(devPtr), count, place, flags, stream));
}

#if CUDART_VERSION >= 13000

cudaError_t cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
                                      size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream)
{
    RT(DRIVER(cuMemPrefetchBatchAsync, rt_address_out(dptrs), sizes, count, (CUmemLocation *)(void *)prefetchLocs, prefetchLocIdxs,
              numPrefetchLocs, flags, stream));
}

cudaError_t cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count, unsigned long long flags, cudaStream_t stream)
{
    RT(DRIVER(cuMemDiscardBatchAsync, rt_address_out(dptrs), sizes, count, flags, stream));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
                                                size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                                cudaStream_t stream)
{
    RT(DRIVER(cuMemDiscardAndPrefetchBatchAsync, rt_address_out(dptrs), sizes, count, (CUmemLocation *)(void *)prefetchLocs,
              prefetchLocIdxs, numPrefetchLocs, flags, stream));
}

#else

cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice, cudaStream_t stream)
{
    RT(DRIVER(cuMemPrefetchAsync_v1, rt_address(devPtr), count, dstDevice, stream));
}

#endif
