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
    return abi_refuse(CUDA_ERROR_INVALID_VALUE, function, "0x%llx is memory of cuMemHostAlloc, which is neither reserved nor mapped",
                      ptr);
}

/* Makes one of these calls for addresses of the program. */
#define ABI_VMM(ptr, size, call)                                            \
    do {                                                                    \
        vmm_system *sys;                                                    \
        CUresult result_ = abi_enter(&sys);                                 \
        if (result_ != CUDA_SUCCESS)                                        \
            return result_;                                                 \
        result_ = of_program(__func__, ptr, size);                          \
        if (result_ == CUDA_SUCCESS)                                        \
            result_ = (CUresult)(call);                                     \
        abi_leave();                                                        \
        return result_;                                                     \
    } while (0)

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags)
{
    ABI(vmm_mem_address_reserve(sys, (vmm_deviceptr *)ptr, size, alignment, addr, flags));
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    ABI(vmm_mem_address_free(sys, ptr, size));
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
    ABI(vmm_mem_create(sys, (vmm_mem_generic_allocation_handle *)handle, size, (const vmm_mem_allocation_prop *)prop,
                       flags));
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    ABI(vmm_mem_release(sys, handle));
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    ABI(vmm_mem_map(sys, ptr, size, offset, handle, flags));
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    ABI_VMM(ptr, size, vmm_mem_unmap(sys, ptr, size));
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    ABI_VMM(ptr, size, vmm_mem_set_access(sys, ptr, size, (const vmm_mem_access_desc *)desc, count));
}

/* For host memory that devices use, the query returns no rights for every valid location. */
static CUresult get_access(vmm_system *sys, unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    struct abi_host_range range;
    CUresult result = (CUresult)vmm_mem_get_access(sys, (uint64_t *)flags, (const vmm_mem_location *)location, ptr);
    bool asked = flags && location && (result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE);
    if (!asked || !abi_host_any() || !abi_host_find(ptr, 1, &range))
        return result;
    *flags = 0;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    ABI(get_access(sys, flags, location, ptr));
}

CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType, unsigned long long flags)
{
    ABI(vmm_mem_export_to_shareable_handle(sys, shareableHandle, handle, (int)handleType, flags));
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                        CUmemAllocationHandleType shHandleType)
{
    ABI(vmm_mem_import_from_shareable_handle(sys, (vmm_mem_generic_allocation_handle *)handle, osHandle,
                                             (int)shHandleType));
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    ABI(vmm_mem_get_allocation_granularity(sys, (uint64_t *)granularity, (const vmm_mem_allocation_prop *)prop,
                                           (int)option));
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    ABI(vmm_mem_get_allocation_properties_from_handle(sys, (vmm_mem_allocation_prop *)prop, handle));
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    ABI_VMM((CUdeviceptr)(uintptr_t)addr, 1, vmm_mem_retain_allocation_handle(sys, (vmm_mem_generic_allocation_handle *)handle,
                                         (vmm_deviceptr)(uintptr_t)addr));
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
    ABI(vmm_multicast_create(sys, (vmm_mem_generic_allocation_handle *)mcHandle,
                             (const vmm_multicast_object_prop *)prop));
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev)
{
    ABI(vmm_multicast_add_device(sys, mcHandle, dev));
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                            CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
                            unsigned long long flags)
{
    ABI(vmm_multicast_bind_mem(sys, mcHandle, mcOffset, memHandle, memOffset, size, flags));
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr, size_t size,
                             unsigned long long flags)
{
    ABI(vmm_multicast_bind_addr(sys, mcHandle, mcOffset, memptr, size, flags));
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, size_t size)
{
    ABI(vmm_multicast_unbind(sys, mcHandle, dev, mcOffset, size));
}

CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop,
                                   CUmulticastGranularity_flags option)
{
    ABI(vmm_multicast_get_granularity(sys, (uint64_t *)granularity, (const vmm_multicast_object_prop *)prop,
                                      (int)option));
}
