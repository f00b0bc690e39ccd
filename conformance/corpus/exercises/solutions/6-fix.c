/* SPDX-License-Identifier: Apache-2.0 */
/* Exercise 6, fixed: each step has its own function, which undoes its work if a later step fails. */
#include "fix.h"

/* The fill in its stream, done when it returns; then the bytes through the other address. */
static vmm_result fill_and_read(vmm_system *sys, vmm_deviceptr at, vmm_deviceptr other, unsigned char value, void *out,
                                uint64_t n)
{
    vmm_stream stream;
    vmm_result result = vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_memset_d8_async(sys, at, value, n, stream);
    if (result == VMM_SUCCESS)
        result = vmm_stream_synchronize(sys, stream);
    if (result != VMM_SUCCESS)
        vmm_ctx_synchronize(sys); /* even if waiting for the stream failed, because the memory is freed */
    vmm_result destroyed = vmm_stream_destroy(sys, stream);
    if (result == VMM_SUCCESS)
        result = destroyed;
    return result == VMM_SUCCESS ? vmm_memcpy_dtoh(sys, out, other, n) : result;
}

static vmm_result at_both(vmm_system *sys, vmm_device device, vmm_mem_generic_allocation_handle memory, vmm_deviceptr at,
                          uint64_t size, unsigned char value, void *out, uint64_t n)
{
    const vmm_mem_access_desc access = {{VMM_MEM_LOCATION_TYPE_DEVICE, device}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_result result = vmm_mem_map(sys, at, size, 0, memory, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_map(sys, at + size, size, 0, memory, 0);
    if (result != VMM_SUCCESS) {
        vmm_mem_unmap(sys, at, size);
        return result;
    }
    result = vmm_mem_set_access(sys, at, 2 * size, &access, 1);
    if (result == VMM_SUCCESS)
        result = fill_and_read(sys, at, at + size, value, out, n);
    vmm_result unmapped = vmm_mem_unmap(sys, at, 2 * size);
    return result != VMM_SUCCESS ? result : unmapped;
}

vmm_result fix_fill(vmm_system *sys, vmm_device device, unsigned char value, void *out, uint64_t n)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    vmm_mem_generic_allocation_handle memory;
    vmm_deviceptr at;
    uint64_t unit;
    vmm_result result = vmm_mem_get_allocation_granularity(sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != VMM_SUCCESS)
        return result;
    const uint64_t size = (n + unit - 1) / unit * unit;
    result = vmm_mem_create(sys, &memory, size, &prop, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_address_reserve(sys, &at, 2 * size, 0, 0, 0);
    if (result == VMM_SUCCESS) {
        result = at_both(sys, device, memory, at, size, value, out, n);
        vmm_result freed = vmm_mem_address_free(sys, at, 2 * size);
        result = result != VMM_SUCCESS ? result : freed;
    }
    vmm_result released = vmm_mem_release(sys, memory);
    return result != VMM_SUCCESS ? result : released;
}
