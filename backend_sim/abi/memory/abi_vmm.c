/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management and multicast: these entry points call the functions of the same name in this project's API. */
#include <unistd.h>

#include "abi.h"
#include "abi_host.h"

/* The library itself uses these calls to create memory of cuMemHostAlloc. For the program they must not apply to that memory. */
static CUresult of_program(const char *function, CUdeviceptr ptr, size_t size)
{
    if (!abi_host_any() || !abi_host_made_in(ptr, size ? size : 1))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_PINNED_VMM, function, "0x%llx is memory of cuMemHostAlloc or cuMemAllocManaged, which is neither "
                      "reserved nor mapped", ptr);
}

/* One of these calls. */
/* The same, for addresses of the program. */
#define ABI_VMM(ptr, size, name, ...)                                                                       \
    ABI(of_program(__func__, ptr, size) == CUDA_SUCCESS ? (CUresult)ABI_PART(call_, name, __VA_ARGS__)     \
                                                        : CUDA_ERROR_INVALID_VALUE)

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags)
{
    ABI_ONE(mem_address_reserve, (vmm_deviceptr *)ptr, size, alignment, addr, flags);
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    ABI_ONE(mem_address_free, ptr, size);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
    ABI_ONE(mem_create, (vmm_mem_generic_allocation_handle *)handle, size, (const vmm_mem_allocation_prop *)prop, flags);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    ABI_ONE(mem_release, handle);
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    ABI_ONE(mem_map, ptr, size, offset, handle, flags);
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    ABI_VMM(ptr, size, mem_unmap, ptr, size);
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    ABI_VMM(ptr, size, mem_set_access, ptr, size, (const vmm_mem_access_desc *)desc, count);
}

/* For host memory that devices use, the query returns no rights for every valid location. */
static CUresult get_access(const struct abi_call *call, unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    struct abi_host_range range;
    CUresult result = (CUresult)ABI_PART(*call, mem_get_access, (uint64_t *)flags, (const vmm_mem_location *)location, ptr);
    bool asked = flags && location && (result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE);
    if (!asked || !abi_host_any() || !abi_host_find(ptr, 1, &range))
        return result;
    *flags = 0;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    ABI(get_access(&call_, flags, location, ptr));
}

CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType, unsigned long long flags)
{
    ABI_ONE(mem_export_to_shareable_handle, shareableHandle, handle, (int)handleType, flags);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                        CUmemAllocationHandleType shHandleType)
{
    ABI_ONE(mem_import_from_shareable_handle, (vmm_mem_generic_allocation_handle *)handle, osHandle, (int)shHandleType);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    ABI_ONE(mem_get_allocation_granularity, (uint64_t *)granularity, (const vmm_mem_allocation_prop *)prop, (int)option);
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    ABI_ONE(mem_get_allocation_properties_from_handle, (vmm_mem_allocation_prop *)prop, handle);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    ABI_VMM((CUdeviceptr)(uintptr_t)addr, 1, mem_retain_allocation_handle, (vmm_mem_generic_allocation_handle *)handle,
            (vmm_deviceptr)(uintptr_t)addr);
}

/* Memory of cuMemHostAlloc has no such handle, whatever the machine would answer. */
static CUresult handle_for_range(vmm_system *sys, int *handle, CUdeviceptr ptr, size_t size, int type,
                                 unsigned long long flags)
{
    CUresult result = (CUresult)vmm_mem_get_handle_for_address_range(sys, handle, ptr, size, type, flags);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_SUPPORTED)
        return result;
    CUresult refused = of_program("cuMemGetHandleForAddressRange", ptr, size);
    if (refused == CUDA_SUCCESS)
        return result;
    if (result == CUDA_SUCCESS)
        close(*handle);
    *handle = -1;
    return refused;
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size, CUmemRangeHandleType handleType,
                                       unsigned long long flags)
{
    ABI(handle_for_range(sys, handle, dptr, size, (int)handleType, flags));
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *mcHandle, const CUmulticastObjectProp *prop)
{
    ABI_ONE(multicast_create, (vmm_mem_generic_allocation_handle *)mcHandle, (const vmm_multicast_object_prop *)prop);
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev)
{
    ABI_ONE(multicast_add_device, mcHandle, dev);
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                            CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
                            unsigned long long flags)
{
    ABI_ONE(multicast_bind_mem, mcHandle, mcOffset, memHandle, memOffset, size, flags);
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr, size_t size,
                             unsigned long long flags)
{
    ABI_ONE(multicast_bind_addr, mcHandle, mcOffset, memptr, size, flags);
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, size_t size)
{
    ABI_ONE(multicast_unbind, mcHandle, dev, mcOffset, size);
}

CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop,
                                   CUmulticastGranularity_flags option)
{
    ABI_ONE(multicast_get_granularity, (uint64_t *)granularity, (const vmm_multicast_object_prop *)prop, (int)option);
}
