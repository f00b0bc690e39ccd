/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers and arenas as they should be; their correct forms are what the programs of order and unwritten bytes stand on. */
#include "buffer.h"

CUmemAllocationProp buffer_prop(CUdevice device)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    return prop;
}

size_t buffer_unit(void)
{
    static size_t unit;
    CUmemAllocationProp prop = buffer_prop(0);
    if (unit == 0)
        DO(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    return unit;
}

static size_t whole(size_t size)
{
    return (size + buffer_unit() - 1) / buffer_unit() * buffer_unit();
}

CUresult buffer_allow(CUdeviceptr at, size_t size, CUdevice device, CUmemAccess_flags flags)
{
    CUmemAccessDesc desc;
    CUresult result;
    memset(&desc, 0, sizeof desc);
    desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.location.id = device;
    desc.flags = flags;
    result = cuMemSetAccess(at, size, &desc, 1); /* finding: sealed_under_a_fill VMM-ACCESS-IN-FLIGHT */
    return result;
}

CUdeviceptr buffer_new_on(CUdevice device, size_t size)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = buffer_prop(device);
    CUdeviceptr at;
    DO(cuMemAddressReserve(&at, whole(size), 0, 0, 0));
    DO(cuMemCreate(&handle, whole(size), &prop, 0));
    DO(cuMemMap(at, whole(size), 0, handle, 0));
    DO(cuMemRelease(handle));
    DO(buffer_allow(at, whole(size), device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    return at;
}

CUdeviceptr buffer_new(size_t size)
{
    return buffer_new_on(0, size);
}

void buffer_free(CUdeviceptr at, size_t size)
{
    DO(cuMemUnmap(at, whole(size)));
    DO(cuMemAddressFree(at, whole(size)));
}

void arena_open(struct arena *a, CUdevice device)
{
    memset(a, 0, sizeof *a);
    a->device = device;
    a->chunk = buffer_unit();
    DO(cuMemAddressReserve(&a->base, ARENA_CHUNKS * a->chunk, 0, 0, 0));
}

CUresult arena_grow(struct arena *a, size_t chunks)
{
    CUmemAllocationProp prop = buffer_prop(a->device);
    if (a->count + chunks > ARENA_CHUNKS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < chunks; i++) {
        CUdeviceptr at = a->base + a->count * a->chunk;
        DO(cuMemCreate(&a->handle[a->count], a->chunk, &prop, 0));
        DO(cuMemMap(at, a->chunk, 0, a->handle[a->count], 0));
        DO(buffer_allow(at, a->chunk, a->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        a->count++;
    }
    return CUDA_SUCCESS;
}

CUresult arena_shrink(struct arena *a, size_t chunks)
{
    for (; chunks > 0 && a->count > 0; chunks--) {
        a->count--;
        DO(cuMemUnmap(a->base + a->count * a->chunk, a->chunk));
        DO(cuMemRelease(a->handle[a->count]));
    }
    return CUDA_SUCCESS;
}

void arena_close(struct arena *a)
{
    DO(arena_shrink(a, a->count));
    DO(cuMemAddressFree(a->base, ARENA_CHUNKS * a->chunk));
}
