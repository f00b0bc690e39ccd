/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a device. Its addresses are pointers here, and numbers for the driver. */
#include "rt.h"

/* The runtime answers a request for nothing with no memory. */
static cudaError_t allocate(void **pointer, size_t size)
{
    CUdeviceptr memory = 0;
    if (!pointer)
        return cudaErrorInvalidValue;
    cudaError_t result = size ? DRIVER(cuMemAlloc, &memory, size) : cudaSuccess;
    if (result == cudaSuccess)
        *pointer = (void *)(uintptr_t)memory;
    return result;
}

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    RT(allocate(devPtr, size));
}

cudaError_t cudaFree(void *devPtr)
{
    RT(devPtr ? DRIVER(cuMemFree, (CUdeviceptr)(uintptr_t)devPtr) : cudaSuccess);
}
