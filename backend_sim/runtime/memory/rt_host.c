/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that devices can access: allocated or registered. Size 0 succeeds with NULL, as in cudaMalloc. */
#include "rt_address.h"

static cudaError_t allocate(void **pointer, size_t size, unsigned flags)
{
    if (pointer && !size) {
        *pointer = NULL;
        return cudaSuccess;
    }
    return DRIVER(cuMemHostAlloc, pointer, size, flags);
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    RT(allocate(ptr, size, cudaHostAllocDefault));
}

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    RT(allocate(pHost, size, flags));
}

cudaError_t cudaFreeHost(void *ptr)
{
    RT(ptr ? DRIVER(cuMemFreeHost, ptr) : cudaSuccess);
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    RT(DRIVER(cuMemHostRegister, ptr, size, flags));
}

cudaError_t cudaHostUnregister(void *ptr)
{
    RT(DRIVER(cuMemHostUnregister, ptr));
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    RT(DRIVER(cuMemHostGetDevicePointer, rt_address_out(pDevice), pHost, flags));
}

cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    RT(DRIVER(cuMemHostGetFlags, pFlags, pHost));
}
