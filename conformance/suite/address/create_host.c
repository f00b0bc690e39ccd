/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_create: what host memory does not support, and the reserved byte that the driver ignores. */
#include "test.h"

static void accept(struct fix *f, uint64_t size, const vmm_mem_allocation_prop *prop)
{
    vmm_mem_generic_allocation_handle handle = 0;
    ACCEPTED(vmm_mem_create(S, &handle, size, prop, 0));
    fix_note(f, FIX_HANDLE, handle, size);
}

TEST_BREAKS(CREATE_HOST_COMPRESSION, create_compressible_host_memory)
{
    fix_need_host(f);
    const int types[] = {VMM_MEM_LOCATION_TYPE_HOST, VMM_MEM_LOCATION_TYPE_HOST_NUMA};
    uint64_t size = fix_host_unit(f);
    for (size_t i = 0; i < 2; i++) {
        vmm_mem_allocation_prop prop = fix_prop_at(types[i], 0);
        vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
        prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
        REFUSED(vmm_mem_create(S, &handle, size, &prop, 0), INVALID_VALUE, "prop.allocFlags.compressionType", 1);
        CHECK_U64(handle, FIX_UNTOUCHED);
    }
}

TEST_BREAKS(CREATE_HOST_RDMA, create_host_memory_for_rdma)
{
    fix_need_host(f);
    const int types[] = {VMM_MEM_LOCATION_TYPE_HOST, VMM_MEM_LOCATION_TYPE_HOST_NUMA};
    uint64_t size = fix_host_unit(f);
    for (size_t i = 0; i < 2; i++) {
        vmm_mem_allocation_prop prop = fix_prop_at(types[i], 0);
        vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
        prop.alloc_flags.gpu_direct_rdma_capable = 1;
        REFUSED(vmm_mem_create(S, &handle, size, &prop, 0), INVALID_VALUE, "prop.allocFlags.gpuDirectRDMACapable", 1);
        CHECK_U64(handle, FIX_UNTOUCHED);
    }
}

TEST_NEAR_MISS(CREATE_HOST_RDMA, create_host_memory_without_rdma)
{
    fix_need_numa(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, fix_numa_node(f));
    accept(f, fix_host_unit(f), &prop);
}

TEST_WARNS(CREATE_RESERVED_LAST, create_with_the_last_reserved_byte_set)
{
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    prop.alloc_flags.reserved[3] = 255;
    WARNED(vmm_mem_create(S, &handle, f->g, &prop, 0), INVALID_VALUE, "prop.allocFlags.reserved", 255);
    if (handle == FIX_UNTOUCHED)
        return;
    fix_note(f, FIX_HANDLE, handle, f->g);
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, handle));
    CHECK_U64(got.alloc_flags.reserved[3], 0);
}
