/* SPDX-License-Identifier: Apache-2.0 */
/* memory_rig.h - for tests of the runtime's memory: a byte of a device, free memory, and memory mapped by the driver's API. */
#ifndef SIM_RUNTIME_TESTING_MEMORY_RIG_H
#define SIM_RUNTIME_TESTING_MEMORY_RIG_H

#include "testing/rt_rig.h"

enum { RT_G = 2 << 20 };

static inline unsigned byte_of(const void *pointer)
{
    unsigned char byte = 0;
    OK(cudaMemcpy(&byte, pointer, 1, cudaMemcpyDefault));
    return byte;
}

static inline size_t free_now(void)
{
    size_t left = 0, all = 0;
    OK(cudaMemGetInfo(&left, &all));
    return left;
}

/* size bytes of device memory, mapped read-write in a new reservation with free addresses of the same size after it;
 * release with unmapped(). */
static inline char *mapped(int device, size_t size, CUmemGenericAllocationHandle *handle)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at = 0;
    EQUAL(cuMemCreate(handle, size, &prop, 0), CUDA_SUCCESS);
    EQUAL(cuMemAddressReserve(&at, 2 * size, 0, 0, 0), CUDA_SUCCESS);
    EQUAL(cuMemMap(at, size, 0, *handle, 0), CUDA_SUCCESS);
    EQUAL(cuMemSetAccess(at, size, &desc, 1), CUDA_SUCCESS);
    return (char *)(uintptr_t)at;
}

static inline void unmapped(char *at, size_t size, CUmemGenericAllocationHandle handle)
{
    EQUAL(cuMemUnmap((CUdeviceptr)(uintptr_t)at, size), CUDA_SUCCESS);
    EQUAL(cuMemAddressFree((CUdeviceptr)(uintptr_t)at, 2 * size), CUDA_SUCCESS);
    EQUAL(cuMemRelease(handle), CUDA_SUCCESS);
}

#endif
