/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered allocation. Compiled for both default streams. */
#include "rt_address.h"

cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    RT(DRIVER(cuMemAllocAsync, rt_address_out(devPtr), size, hStream));
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    RT(DRIVER(cuMemAllocFromPoolAsync, rt_address_out(ptr), size, memPool, stream));
}

cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    RT(DRIVER(cuMemFreeAsync, rt_address(devPtr), hStream));
}
