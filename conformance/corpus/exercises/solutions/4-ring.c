/* SPDX-License-Identifier: Apache-2.0 */
/* Exercise 4, solved: each side reports its steps to the other, and waits for the other's when it cannot continue. */
#include "ring.h"

#include <unistd.h>

static vmm_mem_allocation_prop prop_of(vmm_device device)
{
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                     .requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                     .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
}

/* Maps the memory at both addresses, with rights; on failure at neither. */
static vmm_result map_twice(struct ring *r, vmm_mem_generic_allocation_handle memory, vmm_mem_access_flags rights)
{
    const vmm_mem_access_desc access = {{VMM_MEM_LOCATION_TYPE_DEVICE, r->device}, rights};
    vmm_result result = vmm_mem_address_reserve(r->sys, &r->at, 2 * r->size, 0, 0, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_map(r->sys, r->at, r->size, 0, memory, 0);
    if (result == VMM_SUCCESS) {
        result = vmm_mem_map(r->sys, r->at + r->size, r->size, 0, memory, 0);
        if (result == VMM_SUCCESS) {
            result = vmm_mem_set_access(r->sys, r->at, 2 * r->size, &access, 1);
            if (result == VMM_SUCCESS)
                return result;
            vmm_mem_unmap(r->sys, r->at + r->size, r->size);
        }
        vmm_mem_unmap(r->sys, r->at, r->size);
    }
    vmm_mem_address_free(r->sys, r->at, 2 * r->size);
    return result;
}

static vmm_result unmap_both(struct ring *r)
{
    vmm_result unmapped = vmm_mem_unmap(r->sys, r->at, 2 * r->size);
    vmm_result freed = vmm_mem_address_free(r->sys, r->at, 2 * r->size);
    return unmapped != VMM_SUCCESS ? unmapped : freed;
}

/* The descriptor is closed here: the message holds the memory until it is received. */
static vmm_result send_memory(struct ring *r, vmm_mem_generic_allocation_handle memory)
{
    int fd = -1;
    vmm_result result = vmm_mem_export_to_shareable_handle(r->sys, &fd, memory, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_fd_send(r->socket, fd, &r->size, sizeof r->size, -1);
    close(fd);
    return result;
}

vmm_result ring_create(struct ring *r, vmm_system *sys, vmm_device device, int socket, uint64_t size)
{
    const vmm_mem_allocation_prop prop = prop_of(device);
    vmm_mem_generic_allocation_handle memory;
    uint64_t unit;
    *r = (struct ring){.sys = sys, .device = device, .socket = socket};
    vmm_result result = vmm_mem_get_allocation_granularity(sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != VMM_SUCCESS)
        return result;
    r->size = (size + unit - 1) / unit * unit;
    result = vmm_mem_create(sys, &memory, r->size, &prop, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = map_twice(r, memory, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (result == VMM_SUCCESS) {
        result = send_memory(r, memory);
        if (result != VMM_SUCCESS)
            unmap_both(r);
    }
    vmm_mem_release(sys, memory);
    return result;
}

vmm_result ring_join(struct ring *r, vmm_system *sys, vmm_device device, int socket)
{
    vmm_mem_generic_allocation_handle memory;
    int fd = -1;
    *r = (struct ring){.sys = sys, .device = device, .socket = socket};
    vmm_result result = vmm_fd_receive(socket, &fd, &r->size, sizeof r->size, -1);
    if (result != VMM_SUCCESS)
        return result;
    result =
        vmm_mem_import_from_shareable_handle(sys, &memory, (void *)(uintptr_t)fd, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    close(fd);
    if (result != VMM_SUCCESS)
        return result;
    result = map_twice(r, memory, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    vmm_mem_release(sys, memory);
    return result;
}

/* Adds the other side's reported numbers to its count: with wait at least one, and all that have arrived. */
static vmm_result hear(struct ring *r, uint64_t *count, bool wait)
{
    uint64_t n;
    enum talk heard;
    while ((heard = talk_hear(r->socket, &n, wait)) == TALK_HEARD) {
        *count += n;
        wait = false;
    }
    return wait && heard == TALK_GONE ? VMM_ERROR_NOT_FOUND : VMM_SUCCESS;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

vmm_result ring_write(struct ring *r, const void *bytes, uint64_t n)
{
    const unsigned char *from = bytes;
    while (n) {
        vmm_result result = hear(r, &r->read, r->written - r->read == r->size);
        if (result != VMM_SUCCESS)
            return result;
        const uint64_t now = least(n, r->size - (r->written - r->read));
        result = vmm_memcpy_htod(r->sys, r->at + r->written % r->size, from, now);
        if (result == VMM_SUCCESS)
            result = vmm_ctx_synchronize(r->sys); /* in memory before the other side is notified */
        if (result != VMM_SUCCESS)
            return result;
        r->written += now, from += now, n -= now;
        talk_tell(r->socket, now); /* a missing reader is noticed when there is no room */
    }
    return VMM_SUCCESS;
}

vmm_result ring_read(struct ring *r, void *bytes, uint64_t n)
{
    unsigned char *to = bytes;
    while (n) {
        vmm_result result = hear(r, &r->written, r->written == r->read);
        if (result != VMM_SUCCESS)
            return result;
        const uint64_t now = least(n, r->written - r->read);
        result = vmm_memcpy_dtoh(r->sys, to, r->at + r->read % r->size, now);
        if (result != VMM_SUCCESS)
            return result;
        r->read += now, to += now, n -= now;
        talk_tell(r->socket, now);
    }
    return VMM_SUCCESS;
}

vmm_result ring_close(struct ring *r)
{
    vmm_result waited = vmm_ctx_synchronize(r->sys), unmapped = unmap_both(r);
    return waited != VMM_SUCCESS ? waited : unmapped;
}
