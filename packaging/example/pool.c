/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - the program of the examples: a pool that maps one chunk of memory at its end, writes it and ends.
 *
 *   pool          frees all
 *   pool leak     forgets the handle of the chunk, as its error path does when cuMemMap fails
 */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

struct pool {
    CUdeviceptr base;
    size_t chunk;
    int forgets;
};

static CUresult chunk_map(struct pool *pool)
{
    CUmemAllocationProp prop;
    CUmemAccessDesc access;
    CUmemGenericAllocationHandle handle;
    memset(&prop, 0, sizeof prop);
    memset(&access, 0, sizeof access);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CUresult result = cuMemGetAllocationGranularity(&pool->chunk, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result == CUDA_SUCCESS)
        result = cuMemCreate(&handle, pool->chunk, &prop, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = cuMemMap(pool->base, pool->chunk, 0, handle, 0);
    if (result != CUDA_SUCCESS)
        return result; /* the mistake: the handle is lost */
    result = cuMemSetAccess(pool->base, pool->chunk, &access, 1);
    if (!pool->forgets)
        cuMemRelease(handle);
    return result;
}

int main(int argc, char **argv)
{
    struct pool pool = {0, 0, argc > 1 && strcmp(argv[1], "leak") == 0};
    CUdevice device = 0;
    CUcontext context = NULL;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
        cuMemAddressReserve(&pool.base, (size_t)64 << 20, 0, 0, 0))
        return 2;
    CUresult result = chunk_map(&pool);
    if (result == CUDA_SUCCESS) {
        cuMemsetD8(pool.base, 7, pool.chunk);
        cuCtxSynchronize();
        cuMemUnmap(pool.base, pool.chunk);
    }
    cuMemAddressFree(pool.base, (size_t)64 << 20);
    cuDevicePrimaryCtxRelease(device);
    printf("%s\n", result == CUDA_SUCCESS ? "the pool grew" : "no memory: the pool did not grow");
    return 0;
}
