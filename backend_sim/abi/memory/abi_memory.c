/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of cuMemAlloc, and queries about addresses. */
#include <string.h>

#include "abi.h"
#include "abi_capture.h"
#include "abi_host.h"
#include "abi_variable_memory.h"
#include "call.h"

CUresult cuMemGetInfo(size_t *free, size_t *total)
{
    ABI(vmm_mem_get_info(sys, (uint64_t *)free, (uint64_t *)total));
}

/* Without a context the call does not reach the capture checks. */
static CUresult allocate(vmm_system *sys, CUdeviceptr *dptr, size_t size)
{
    CUresult captured = abi_query_current(sys) ? abi_capture_forbids("cuMemAlloc", false) : CUDA_SUCCESS;
    return captured == CUDA_SUCCESS ? (CUresult)vmm_mem_alloc(sys, (vmm_deviceptr *)dptr, size) : captured;
}

CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
    if (dptr)
        *dptr = 0; /* written in any case, as recorded */
    ABI(allocate(sys, dptr, bytesize));
}

static CUresult free_memory(vmm_system *sys, CUdeviceptr dptr)
{
    if (abi_variable_memory(dptr))
        return abi_refuse(VMM_RULE_ALLOC_FREE_UNKNOWN, "cuMemFree", "0x%llx is a variable of a module or library, which ends when "
                          "that is unloaded", dptr);
    return (CUresult)vmm_mem_free(sys, dptr);
}

CUresult cuMemFree(CUdeviceptr dptr)
{
    ABI_NO_CAPTURE();
    ABI(free_memory(sys, dptr));
}

static CUresult address_range(vmm_system *sys, CUdeviceptr *base, size_t *size, CUdeviceptr ptr)
{
    struct abi_host_range range;
    CUresult result = (CUresult)vmm_mem_get_address_range(sys, (vmm_deviceptr *)base, (uint64_t *)size, ptr);
    if ((result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND) || !abi_host_any() || !abi_host_find(ptr, 1, &range))
        return result;
    if (base)
        *base = range.start;
    if (size)
        *size = range.size;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    ABI(address_range(sys, pbase, psize, dptr));
}

enum { PITCH = 512 }; /* the padding of rows: at least the texture pitch alignment of every device so far */

/* Allocates rows in one allocation. */
static CUresult pitched(vmm_system *sys, CUdeviceptr *dptr, size_t *pitch, size_t width, size_t height, unsigned element)
{
    static const char name[] = "cuMemAllocPitch";
    uint64_t current;
    struct abi_query_context context;
    if (dptr)
        *dptr = 0; /* written in any case, as recorded */
    if (pitch)
        *pitch = 0;
    CUresult result = abi_current(sys, name, &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!dptr || !pitch)
        return abi_null(name, dptr ? "pPitch" : "dptr");
    if (element != 4 && element != 8 && element != 16)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "ElementSizeBytes is %u: 4, 8 or 16", element);
    if (!width || !height || width > UINT64_MAX - PITCH)
        return abi_refuse(VMM_RULE_ALLOC_SIZE_ZERO, name, "%zu by %zu bytes: neither may be 0", width, height);
    size_t row = *pitch = (width + PITCH - 1) / PITCH * PITCH;
    if (height > UINT64_MAX / row)
        return abi_refuse(VMM_RULE_ALLOC_MEMORY, name, "%zu rows of %zu bytes exceed the address space", height, row);
    result = abi_capture_forbids(name, false);
    if (result != CUDA_SUCCESS)
        return result;
    return (CUresult)vmm_mem_alloc(sys, (vmm_deviceptr *)dptr, row * height);
}

CUresult cuMemAllocPitch(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                         unsigned int ElementSizeBytes)
{
    ABI_INITIALISED(pitched(sys, dptr, pPitch, WidthInBytes, Height, ElementSizeBytes));
}

/* ---- queries about an address ---- */

static void put(void *data, CUpointer_attribute attribute, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (vmm_pointer_attribute_size((int)attribute) == sizeof narrow)
        memcpy(data, &narrow, sizeof narrow);
    else
        memcpy(data, &value, sizeof value);
}

/* Finds host memory that devices use and that the machine knows as something else, or not at all. */
static bool of_host(CUdeviceptr ptr, struct abi_host_range *range)
{
    return abi_host_any() && abi_host_find(ptr, 1, range);
}

static CUresult get_attribute(vmm_system *sys, void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct abi_host_range range;
    uint64_t value;
    size_t size = data ? (size_t)vmm_pointer_attribute_size((int)attribute) : 0;
    if (size && abi_variable_attribute(ptr, attribute, &value)) {
        put(data, attribute, value);
        return CUDA_SUCCESS;
    }
    if (!size || !of_host(ptr, &range))
        return (CUresult)vmm_pointer_get_attribute(sys, data, (int)attribute, ptr);
    if (!abi_host_attribute(&range, attribute, ptr, &value)) {
        memset(data, 0, size); /* written although the call is refused, as recorded */
        return abi_refuse(VMM_RULE_POINTER_ATTRIBUTE, "cuPointerGetAttribute", "host memory has no peer-to-peer tokens");
    }
    put(data, attribute, value);
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    ABI(get_attribute(sys, data, attribute, ptr));
}

/* The machine checks the arguments; the answers of host memory and variables then replace the machine's. */
static CUresult get_attributes(vmm_system *sys, unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr)
{
    struct abi_host_range range;
    uint64_t value;
    CUresult result =
        (CUresult)vmm_pointer_get_attributes(sys, count, (const vmm_pointer_attribute *)attributes, data, ptr);
    if (result != CUDA_SUCCESS)
        return result;
    bool host = of_host(ptr, &range);
    for (unsigned i = 0; i < count; i++)
        if (host ? abi_host_attribute(&range, attributes[i], ptr, &value) : abi_variable_attribute(ptr, attributes[i], &value))
            put(data[i], attributes[i], value);
    return result;
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr)
{
    ABI(get_attributes(sys, numAttributes, attributes, data, ptr));
}

/* Copies here are always synchronous, which is what the only settable attribute requests. A driver refuses to set attributes
 * of mapped memory. */
static CUresult set_attribute(vmm_system *sys, const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    static const char name[] = "cuPointerSetAttribute";
    struct abi_host_range range;
    uint64_t left;
    unsigned sync;
    if (!value)
        return abi_null(name, "value");
    bool host = of_host(ptr, &range);
    enum abi_query_there there = abi_query_there(sys, ptr, &left);
    if (there == ABI_QUERY_MAPPED && !host)
        return abi_refuse(VMM_RULE_POINTER_SET, name, "0x%llx is mapped memory, whose attributes cannot be set", ptr);
    if (there != ABI_QUERY_ALLOCATED && !host)
        return abi_refuse(VMM_RULE_POINTER_NOT_MAPPED, name, "0x%llx is not memory of this machine", ptr);
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return abi_refuse(VMM_RULE_POINTER_ATTRIBUTE, name, "attribute %d cannot be set: only CU_POINTER_ATTRIBUTE_SYNC_MEMOPS",
                          (int)attribute);
    memcpy(&sync, value, sizeof sync);
    if (host)
        abi_host_set_sync(ptr, sync != 0);
    else
        abi_query_set_sync(sys, ptr, sync != 0);
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(set_attribute(sys, value, attribute, ptr));
}
