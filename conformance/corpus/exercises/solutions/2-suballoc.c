/* SPDX-License-Identifier: Apache-2.0 */
/* Exercise 2, solved: a list of the allocated blocks in order of address. Everything between them is free, so free
 * neighbours need no merging. */
#include "suballoc.h"

#include <stdlib.h>

struct suballoc_block {
    vmm_deviceptr start, end;
    struct suballoc_block *next;
};

static vmm_result map(struct suballoc *s, vmm_mem_generic_allocation_handle memory, const vmm_mem_allocation_prop *prop)
{
    const vmm_mem_access_desc access = {prop->location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_result result = vmm_mem_address_reserve(s->sys, &s->at, s->size, 0, 0, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_map(s->sys, s->at, s->size, 0, memory, 0);
    if (result == VMM_SUCCESS) {
        result = vmm_mem_set_access(s->sys, s->at, s->size, &access, 1);
        if (result == VMM_SUCCESS)
            return result;
        vmm_mem_unmap(s->sys, s->at, s->size);
    }
    vmm_mem_address_free(s->sys, s->at, s->size);
    return result;
}

vmm_result suballoc_open(struct suballoc *s, vmm_system *sys, vmm_device device, uint64_t size)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    vmm_mem_generic_allocation_handle memory;
    *s = (struct suballoc){.sys = sys, .device = device};
    vmm_result result = vmm_mem_get_allocation_granularity(sys, &s->unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != VMM_SUCCESS)
        return result;
    if (size > UINT64_MAX - (s->unit - 1))
        return VMM_ERROR_OUT_OF_MEMORY;
    s->size = (size + s->unit - 1) / s->unit * s->unit;
    result = vmm_mem_create(sys, &memory, s->size, &prop, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = map(s, memory, &prop);
    vmm_mem_release(sys, memory); /* the mapping holds it, if there is one */
    return result;
}

vmm_result suballoc_take(struct suballoc *s, uint64_t size, uint64_t alignment, vmm_deviceptr *at)
{
    struct suballoc_block **link = &s->blocks;
    vmm_deviceptr start = s->at, end;
    if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) || alignment > s->unit)
        return VMM_ERROR_INVALID_VALUE;
    for (;; start = (*link)->end, link = &(*link)->next) { /* [start, end) is free */
        end = *link ? (*link)->start : s->at + s->size;
        start = (start + alignment - 1) & ~(alignment - 1);
        if (start <= end && size <= end - start)
            break;
        if (!*link)
            return VMM_ERROR_OUT_OF_MEMORY;
    }
    struct suballoc_block *block = malloc(sizeof *block);
    if (!block)
        return VMM_ERROR_OUT_OF_MEMORY;
    *block = (struct suballoc_block){start, start + size, *link};
    *link = block;
    *at = start;
    return VMM_SUCCESS;
}

vmm_result suballoc_give(struct suballoc *s, vmm_deviceptr at)
{
    for (struct suballoc_block **link = &s->blocks; *link; link = &(*link)->next)
        if ((*link)->start == at) {
            struct suballoc_block *gone = *link;
            *link = gone->next;
            free(gone);
            return VMM_SUCCESS;
        }
    return VMM_ERROR_INVALID_VALUE;
}

vmm_result suballoc_close(struct suballoc *s)
{
    vmm_result waited = vmm_ctx_synchronize(s->sys);
    vmm_result unmapped = vmm_mem_unmap(s->sys, s->at, s->size);
    vmm_result freed = vmm_mem_address_free(s->sys, s->at, s->size);
    while (s->blocks)
        suballoc_give(s, s->blocks->start);
    return waited != VMM_SUCCESS ? waited : unmapped != VMM_SUCCESS ? unmapped : freed;
}
