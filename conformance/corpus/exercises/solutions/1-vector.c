/* SPDX-License-Identifier: Apache-2.0 */
/* Exercise 1, solved: one piece of memory for each unit, held only by its mapping. */
#include "vector.h"

static vmm_mem_allocation_prop prop_of(vmm_device device)
{
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
}

/* 0 if it does not fit into 64 bits. */
static uint64_t round_up(uint64_t size, uint64_t unit)
{
    return size > UINT64_MAX - (unit - 1) ? 0 : (size + unit - 1) / unit * unit;
}

vmm_result vector_open(struct vector *v, vmm_system *sys, vmm_device device, uint64_t most)
{
    const vmm_mem_allocation_prop prop = prop_of(device);
    *v = (struct vector){.sys = sys, .device = device};
    vmm_result result = vmm_mem_get_allocation_granularity(sys, &v->unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != VMM_SUCCESS)
        return result;
    v->room = round_up(most, v->unit);
    return vmm_mem_address_reserve(sys, &v->at, v->room, 0, 0, 0);
}

/* One more unit at the end, or nothing. */
static vmm_result add_unit(struct vector *v)
{
    const vmm_mem_allocation_prop prop = prop_of(v->device);
    const vmm_mem_access_desc access = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const vmm_deviceptr end = v->at + v->backed;
    vmm_mem_generic_allocation_handle memory;
    vmm_result result = vmm_mem_create(v->sys, &memory, v->unit, &prop, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_map(v->sys, end, v->unit, 0, memory, 0);
    if (result == VMM_SUCCESS) {
        result = vmm_mem_set_access(v->sys, end, v->unit, &access, 1);
        if (result != VMM_SUCCESS)
            vmm_mem_unmap(v->sys, end, v->unit);
    }
    vmm_mem_release(v->sys, memory); /* from now on the mapping holds it, if there is one */
    if (result == VMM_SUCCESS)
        v->backed += v->unit;
    return result;
}

/* Removes the units from backed on. The wait is for kernels that may still use them. */
static vmm_result cut_to(struct vector *v, uint64_t backed)
{
    if (v->backed == backed)
        return VMM_SUCCESS;
    vmm_result result = vmm_ctx_synchronize(v->sys);
    if (result == VMM_SUCCESS)
        result = vmm_mem_unmap(v->sys, v->at + backed, v->backed - backed);
    if (result == VMM_SUCCESS)
        v->backed = backed;
    return result;
}

vmm_result vector_resize(struct vector *v, uint64_t size)
{
    const uint64_t before = v->backed;
    if (size > v->room)
        return VMM_ERROR_OUT_OF_MEMORY;
    const uint64_t need = round_up(size, v->unit);
    while (v->backed < need) {
        vmm_result result = add_unit(v);
        if (result != VMM_SUCCESS) {
            cut_to(v, before);
            return result;
        }
    }
    vmm_result result = cut_to(v, need);
    if (result == VMM_SUCCESS)
        v->size = size;
    return result;
}

vmm_result vector_close(struct vector *v)
{
    vmm_result waited = vmm_ctx_synchronize(v->sys), unmapped = VMM_SUCCESS;
    if (v->backed)
        unmapped = vmm_mem_unmap(v->sys, v->at, v->backed);
    vmm_result freed = vmm_mem_address_free(v->sys, v->at, v->room);
    return waited != VMM_SUCCESS ? waited : unmapped != VMM_SUCCESS ? unmapped : freed;
}
