/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_calls.h"

#include <string.h>

vmm_mem_allocation_prop fc_prop(int id)
{
    vmm_mem_allocation_prop prop;
    memset(&prop, 0, sizeof prop);
    prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, id};
    return prop;
}

vmm_mem_access_desc fc_desc(int id, int flags)
{
    return (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_DEVICE, id}, flags};
}

vmm_mem_generic_allocation_handle fc_make(struct facts *f, uint64_t size)
{
    vmm_mem_allocation_prop prop = fc_prop(0);
    vmm_mem_generic_allocation_handle handle = 0;
    facts_setup(f, fc_create(f, &handle, size, &prop, 0), "create");
    return handle;
}

vmm_deviceptr fc_take(struct facts *f, uint64_t size)
{
    vmm_deviceptr ptr = 0;
    facts_setup(f, fc_reserve(f, &ptr, size, 0, 0, 0), "reserve");
    return ptr;
}

void fc_put(struct facts *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_generic_allocation_handle handle)
{
    facts_setup(f, fc_map(f, ptr, size, 0, handle, 0), "map");
}

void fc_grant(struct facts *f, vmm_deviceptr ptr, uint64_t size, int flags)
{
    vmm_mem_access_desc desc = fc_desc(0, flags);
    facts_setup(f, fc_set_access(f, ptr, size, &desc, 1), "set access");
}

unsigned char fc_byte(struct facts *f, vmm_deviceptr ptr)
{
    unsigned char byte = 0;
    facts_setup(f, fc_dtoh(f, &byte, ptr, 1), "read a byte");
    return byte;
}

uint64_t fc_sum(struct facts *f, vmm_deviceptr ptr, uint64_t n)
{
    unsigned char part[4096];
    uint64_t sum = 0;
    for (uint64_t at = 0; at < n; at += sizeof part) {
        uint64_t length = n - at < sizeof part ? n - at : sizeof part;
        if (facts_setup(f, fc_dtoh(f, part, ptr + at, length), "read") != VMM_SUCCESS)
            break;
        for (uint64_t i = 0; i < length; i++)
            sum += part[i];
    }
    return sum;
}

uint64_t fc_free_memory(struct facts *f)
{
    uint64_t free_bytes = 0, total = 0;
    facts_setup(f, vmm_mem_get_info(f->sys, &free_bytes, &total), "free memory");
    return free_bytes;
}
