/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: these entry points call the functions of the same name in this project's API. */
#include "abi.h"
#include "abi_capture.h"

static vmm_memory_pool pool_of(CUmemoryPool pool)
{
    return (vmm_memory_pool)(void *)pool;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    ABI_FORBIDDEN(mem_pool_create, (vmm_memory_pool *)pool, (const vmm_mem_pool_props *)poolProps);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    ABI_FORBIDDEN(mem_pool_destroy, pool_of(pool));
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    ABI_ONE(device_get_default_mem_pool, (vmm_memory_pool *)pool_out, dev);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    ABI_ONE(device_get_mem_pool, (vmm_memory_pool *)pool, dev);
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    ABI_FORBIDDEN(device_set_mem_pool, dev, pool_of(pool));
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type)
{
    ABI_ONE(mem_get_default_mem_pool, (vmm_memory_pool *)pool_out, (const vmm_mem_location *)location, (int)type);
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    ABI_ONE(mem_get_mem_pool, (vmm_memory_pool *)pool, (const vmm_mem_location *)location, (int)type);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    ABI_FORBIDDEN(mem_set_mem_pool, (const vmm_mem_location *)location, (int)type, pool_of(pool));
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    ABI_FORBIDDEN(mem_pool_set_attribute, pool_of(pool), (int)attr, value);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    ABI_FORBIDDEN(mem_pool_get_attribute, pool_of(pool), (int)attr, value);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    ABI_FORBIDDEN(mem_pool_trim_to, pool_of(pool), minBytesToKeep);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    ABI_FORBIDDEN(mem_pool_set_access, pool_of(pool), (const vmm_mem_access_desc *)map, count);
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    ABI_FORBIDDEN(mem_pool_get_access, (vmm_mem_access_flags *)flags, pool_of(memPool), (const vmm_mem_location *)location);
}

CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType,
                                          unsigned long long flags)
{
    ABI_FORBIDDEN(mem_pool_export_to_shareable_handle, handle_out, pool_of(pool), (int)handleType, flags);
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle, CUmemAllocationHandleType handleType,
                                            unsigned long long flags)
{
    ABI_FORBIDDEN(mem_pool_import_from_shareable_handle, (vmm_memory_pool *)pool_out, handle, (int)handleType, flags);
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
    ABI_FORBIDDEN(mem_pool_export_pointer, (vmm_mem_pool_ptr_export_data *)shareData_out, ptr);
}

CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData)
{
    ABI_FORBIDDEN(mem_pool_import_pointer, (vmm_deviceptr *)ptr_out, pool_of(pool),
                  (const vmm_mem_pool_ptr_export_data *)shareData);
}
