/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: these entry points call the functions of the same name in this project's API; the query of several attributes
 * is built on those. */
#include <string.h>

#include "abi.h"
#include "abi_capture.h"
#include "abi_managed.h"
#include "heap.h"

static vmm_mem_location location_of(CUmemLocation location)
{
    return (vmm_mem_location){(int)location.type, location.id};
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    if (dptr)
        *dptr = 0; /* written in any case, as recorded */
    if (dptr && bytesize && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST))
        ABI_NO_CAPTURE_CURRENT();
    ABI_ONE(mem_alloc_managed, (vmm_deviceptr *)dptr, bytesize, flags);
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
    ABI_NO_CAPTURE_CURRENT();
    ABI_ONE(mem_advise, devPtr, count, (int)advice, location_of(location));
}

static bool is_about_device(CUmem_advise advice)
{
    return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
           advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

CUresult abi_managed_advise(vmm_system *sys, CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    static const char name[] = "cuMemAdvise";
    struct abi_query_context context;
    uint64_t value;
    CUresult result = abi_current(sys, name, &value, &context);
    if (result != CUDA_SUCCESS)
        return result;
    const int devices = abi_query_profile(sys)->devices;
    if (is_about_device(advice) && device != CU_DEVICE_CPU && (device < 0 || device >= devices))
        return abi_refuse(VMM_RULE_MANAGED_DEVICE, name, "device %d, of %d", device, devices);
    return (CUresult)vmm_mem_advise(sys, devPtr, count, (int)advice, abi_managed_location(device));
}

CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr, size_t count)
{
    ABI_ONE(mem_range_get_attribute, data, dataSize, (int)attribute, devPtr, count);
}

/* What cuMemRangeGetAttributes asks for. */
struct asked {
    void **data;
    const size_t *sizes;
    const CUmem_range_attribute *attributes;
    size_t count;
};

/* Writes each into its own slot, or where the program wants it. */
static CUresult get_each(vmm_system *sys, const struct asked *asked, unsigned char *room, CUdeviceptr at, size_t size)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < asked->count && result == CUDA_SUCCESS; room += asked->sizes[i++])
        result = (CUresult)vmm_mem_range_get_attribute(sys, asked->data[i] ? room : NULL, asked->sizes[i], (int)asked->attributes[i], at,
                                                       size);
    return result;
}

/* Nothing is written if one is refused, as recorded. */
static CUresult get_attributes(vmm_system *sys, const struct asked *asked, CUdeviceptr at, size_t size)
{
    static const char name[] = "cuMemRangeGetAttributes";
    size_t bytes = sizeof(int);
    if (!asked->data || !asked->sizes || !asked->attributes || !asked->count)
        return abi_null(name, !asked->data ? "data" : !asked->sizes ? "dataSizes" : !asked->attributes ? "attributes" : "numAttributes");
    for (size_t i = 0; i < asked->count; i++)
        bytes += asked->sizes[i];
    unsigned char *room = heap.malloc(bytes), *from = room;
    if (!room)
        return abi_no_memory(name);
    CUresult result = get_each(sys, asked, room, at, size);
    for (size_t i = 0; i < asked->count && result == CUDA_SUCCESS; from += asked->sizes[i++])
        memcpy(asked->data[i], from, asked->sizes[i]);
    heap.free(room);
    return result;
}

CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes, size_t numAttributes,
                                 CUdeviceptr devPtr, size_t count)
{
    const struct asked asked = {data, dataSizes, attributes, numAttributes};
    ABI_INITIALISED(get_attributes(sys, &asked, devPtr, count));
}
