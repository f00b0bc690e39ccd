/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: structs and enumerators match the driver's under other names. Looking up or creating one needs no context. */
#include "rt_address.h"

static CUmemLocation *location_of(struct cudaMemLocation *location)
{
    return (CUmemLocation *)(void *)location;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    RT_ANYWHERE(DRIVER(cuMemPoolCreate, memPool, (const CUmemPoolProps *)(const void *)poolProps));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    RT(DRIVER(cuMemPoolDestroy, memPool));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    RT(DRIVER(cuMemPoolGetAttribute, memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    RT(DRIVER(cuMemPoolSetAttribute, memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool, struct cudaMemLocation *location)
{
    RT(DRIVER(cuMemPoolGetAccess, (CUmemAccess_flags *)(void *)flags, memPool, location_of(location)));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count)
{
    RT(count ? DRIVER(cuMemPoolSetAccess, memPool, (const CUmemAccessDesc *)(const void *)descList, count) : cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    RT(DRIVER(cuMemPoolTrimTo, memPool, minBytesToKeep));
}

cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                               enum cudaMemAllocationHandleType handleType, unsigned int flags)
{
    RT(DRIVER(cuMemPoolExportToShareableHandle, shareableHandle, memPool, (CUmemAllocationHandleType)handleType, flags));
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
                                                 enum cudaMemAllocationHandleType handleType, unsigned int flags)
{
    RT(DRIVER(cuMemPoolImportFromShareableHandle, memPool, shareableHandle, (CUmemAllocationHandleType)handleType, flags));
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr)
{
    RT(DRIVER(cuMemPoolExportPointer, (CUmemPoolPtrExportData *)(void *)exportData, rt_address(ptr)));
}

cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool, struct cudaMemPoolPtrExportData *exportData)
{
    RT(DRIVER(cuMemPoolImportPointer, rt_address_out(ptr), memPool, (CUmemPoolPtrExportData *)(void *)exportData));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    RT_ANYWHERE(DRIVER(cuDeviceGetDefaultMemPool, memPool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    RT_ANYWHERE(DRIVER(cuDeviceGetMemPool, memPool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    RT_ANYWHERE(DRIVER(cuDeviceSetMemPool, device, memPool));
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location, enum cudaMemAllocationType type)
{
    RT(DRIVER(cuMemGetDefaultMemPool, memPool, location_of(location), (CUmemAllocationType)type));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location, enum cudaMemAllocationType type)
{
    RT(DRIVER(cuMemGetMemPool, memPool, location_of(location), (CUmemAllocationType)type));
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type, cudaMemPool_t memPool)
{
    RT(DRIVER(cuMemSetMemPool, location_of(location), (CUmemAllocationType)type, memPool));
}
