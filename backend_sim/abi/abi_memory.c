/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the old kind, and what an address is. */
#include <string.h>

#include "abi.h"
#include "abi_host.h"

CUresult cuMemGetInfo(size_t *free, size_t *total)
{
    ABI(vmm_mem_get_info(sys, (uint64_t *)free, (uint64_t *)total));
}

CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
    ABI(vmm_mem_alloc(sys, (vmm_deviceptr *)dptr, bytesize));
}

CUresult cuMemFree(CUdeviceptr dptr)
{
    ABI(vmm_mem_free(sys, dptr));
}

CUresult cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    ABI(vmm_mem_get_address_range(sys, (vmm_deviceptr *)pbase, (uint64_t *)psize, dptr));
}

enum { PITCH = 512 }; /* what rows are padded to: texture pitch alignment and more, on every device so far */

/* Rows of one allocation. */
static CUresult pitched(vmm_system *sys, CUdeviceptr *dptr, size_t *pitch, size_t width, size_t height, unsigned element)
{
    static const char name[] = "cuMemAllocPitch";
    if (!dptr || !pitch)
        return abi_null(name, dptr ? "pPitch" : "dptr");
    if (element != 4 && element != 8 && element != 16)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, name, "ElementSizeBytes is %u: 4, 8 or 16", element);
    if (!width || !height || width > UINT64_MAX - PITCH)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, name, "%zu by %zu bytes: neither may be 0", width, height);
    size_t row = (width + PITCH - 1) / PITCH * PITCH;
    if (height > UINT64_MAX / row)
        return abi_refuse(CUDA_ERROR_OUT_OF_MEMORY, name, "%zu rows of %zu bytes are more than there can be", height, row);
    CUresult result = (CUresult)vmm_mem_alloc(sys, (vmm_deviceptr *)dptr, row * height);
    if (result == CUDA_SUCCESS)
        *pitch = row;
    return result;
}

CUresult cuMemAllocPitch(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                         unsigned int ElementSizeBytes)
{
    ABI_INITIALISED(pitched(sys, dptr, pPitch, WidthInBytes, Height, ElementSizeBytes));
}

/* ---- what an address is ---- */

/* Registered memory, which the machine does not know; false for attributes that it has none of. */
static bool registered_attribute(const struct abi_host_range *range, CUpointer_attribute attribute, CUdeviceptr ptr,
                                 void *data)
{
    uint64_t wide = ptr;
    unsigned narrow = 0;
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: narrow = CU_MEMORYTYPE_HOST; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: narrow = 1; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: memcpy(data, &wide, sizeof wide); return true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: memcpy(data, &range->start, sizeof range->start); return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: memcpy(data, &range->size, sizeof range->size); return true;
    default: return false;
    }
    memcpy(data, &narrow, sizeof narrow);
    return true;
}

static CUresult get_attribute(vmm_system *sys, void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct abi_host_range range;
    if (data && abi_host_any_registered() && abi_host_find(ptr, 1, &range) && range.registered &&
        registered_attribute(&range, attribute, ptr, data))
        return CUDA_SUCCESS;
    return (CUresult)vmm_pointer_get_attribute(sys, data, (int)attribute, ptr);
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    ABI(get_attribute(sys, data, attribute, ptr));
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr)
{
    ABI(vmm_pointer_get_attributes(sys, numAttributes, (const vmm_pointer_attribute *)attributes, data, ptr));
}

/* Copies wait for themselves here anyway, which is what the one attribute that can be set asks for. */
static CUresult set_attribute(const vmm_system *sys, const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    static const char name[] = "cuPointerSetAttribute";
    if (!value)
        return abi_null(name, "value");
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, name, "attribute %d cannot be set: only CU_POINTER_ATTRIBUTE_SYNC_MEMOPS",
                          (int)attribute);
    if (!ask_device_address(sys, ptr))
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, name, "0x%llx is no address of this machine", ptr);
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    ABI_INITIALISED(set_attribute(sys, value, attribute, ptr));
}
