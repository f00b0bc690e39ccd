/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer that grows without moving: addresses for the most that it may ever need, memory for what it needs now. */
#include <cuvmm/vmm.h>
#include <stdio.h>

struct buffer {
    vmm_system *sys;
    vmm_mem_allocation_prop prop;
    uint64_t granularity, room, size; /* bytes: of a chunk, reserved, mapped */
    vmm_deviceptr at;
};

static vmm_result buffer_open(struct buffer *b, vmm_system *sys, uint64_t most)
{
    *b = (struct buffer){.sys = sys,
                         .prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}}};
    vmm_result result =
        vmm_mem_get_allocation_granularity(sys, &b->granularity, &b->prop, VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    if (result != VMM_SUCCESS)
        return result;
    b->room = (most + b->granularity - 1) / b->granularity * b->granularity;
    return vmm_mem_address_reserve(sys, &b->at, b->room, 0, 0, 0);
}

/* One more chunk at the end. Whatever fails, everything made before it is undone and the buffer is as it was. */
static vmm_result buffer_grow(struct buffer *b)
{
    vmm_mem_generic_allocation_handle chunk = 0;
    const vmm_mem_access_desc access = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_deviceptr end = b->at + b->size;
    vmm_result result = vmm_mem_create(b->sys, &chunk, b->granularity, &b->prop, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_map(b->sys, end, b->granularity, 0, chunk, 0);
    if (result == VMM_SUCCESS) {
        result = vmm_mem_set_access(b->sys, end, b->granularity, &access, 1);
        if (result != VMM_SUCCESS)
            vmm_mem_unmap(b->sys, end, b->granularity);
    }
    vmm_mem_release(b->sys, chunk); /* the mapping, if there is one, keeps the memory */
    if (result == VMM_SUCCESS)
        b->size += b->granularity;
    return result;
}

static void buffer_close(struct buffer *b)
{
    if (b->size)
        vmm_mem_unmap(b->sys, b->at, b->size); /* one call for all chunks */
    vmm_mem_address_free(b->sys, b->at, b->room);
}

int main(void)
{
    vmm_system *sys = NULL;
    struct buffer buffer;
    unsigned chunks = 0;
    if (vmm_open("sim:odd", &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS ||
        buffer_open(&buffer, sys, 64 << 20) != VMM_SUCCESS)
        return 1;
    while (buffer_grow(&buffer) == VMM_SUCCESS)
        chunks++;
    printf("%u chunks of %llu KiB, then: %s, %s\n", chunks, (unsigned long long)buffer.granularity / 1024,
           vmm_result_name(vmm_last_detail()->result), vmm_last_detail()->rule);
    buffer_close(&buffer);
    printf("%llu objects are still held\n", (unsigned long long)vmm_leaks(sys, NULL, NULL));
    vmm_close(sys);
}
