/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_create: properties that driver 580 accepts and drops. */
#include "test.h"

/* Creates, expects the warning, and reads the properties back; false where the call refused. */
static bool made(struct fix *f, const char *argument, uint64_t value, const vmm_mem_allocation_prop *prop,
                 vmm_mem_allocation_prop *got)
{
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    WARNED(vmm_mem_create(S, &handle, f->g, prop, 0), INVALID_VALUE, argument, value);
    CHECK(test_refuses(f, NULL) == (handle == FIX_UNTOUCHED), "the handle is 0x%llx", (unsigned long long)handle);
    if (handle == FIX_UNTOUCHED)
        return false;
    fix_note(f, FIX_HANDLE, handle, f->g);
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, got, handle));
    return true;
}

static void accept(struct fix *f, const vmm_mem_allocation_prop *prop, vmm_mem_allocation_prop *got)
{
    vmm_mem_generic_allocation_handle handle = 0;
    ACCEPTED(vmm_mem_create(S, &handle, f->g, prop, 0));
    fix_note(f, FIX_HANDLE, handle, f->g);
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, got, handle));
}

TEST_WARNS(CREATE_HANDLE_TYPE_UNKNOWN, create_with_unknown_handle_types)
{
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    prop.requested_handle_types = 0x10;
    if (made(f, "prop.requestedHandleTypes", 0x10, &prop, &got))
        CHECK_U64((uint64_t)got.requested_handle_types, 0);
}

TEST_NEAR_MISS(CREATE_HANDLE_TYPE_UNKNOWN, create_with_no_handle_type)
{
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    accept(f, &prop, &got);
    CHECK_U64((uint64_t)got.requested_handle_types, 0);
}

TEST_EXPECTS_ON("create.unknown_handle_types_are_dropped", create_with_a_known_and_an_unknown_type, NULL,
                TEST_OBSERVED, 0)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                       "needs POSIX fd handles (attribute 103)");
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    prop.requested_handle_types = 0x10 | VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, fix_create_prop(f, f->g, &prop)));
    CHECK_U64((uint64_t)got.requested_handle_types, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

TEST_BREAKS_ON(CREATE_RDMA_VALUE, create_with_rdma_2, "attribute.110 = 1", TEST_BOTH_MODES, 0)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
                       "needs GPUDirect RDMA (attribute 110)");
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    prop.alloc_flags.gpu_direct_rdma_capable = 2;
    if (made(f, "prop.allocFlags.gpuDirectRDMACapable", 2, &prop, &got))
        CHECK_U64(got.alloc_flags.gpu_direct_rdma_capable, 1);
}

TEST_NEAR_MISS_ON(CREATE_RDMA_VALUE, create_with_rdma_1, "attribute.110 = 1", TEST_AS_GIVEN, 0)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
                       "needs GPUDirect RDMA (attribute 110)");
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    prop.alloc_flags.gpu_direct_rdma_capable = 1;
    accept(f, &prop, &got);
    CHECK_U64(got.alloc_flags.gpu_direct_rdma_capable, 1);
}

TEST_WARNS(CREATE_USAGE_UNKNOWN, create_for_an_unknown_usage)
{
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    prop.alloc_flags.usage = 4;
    if (made(f, "prop.allocFlags.usage", 4, &prop, &got))
        CHECK_U64(got.alloc_flags.usage, 0);
}

TEST_NEAR_MISS(CREATE_USAGE_UNKNOWN, create_for_no_particular_usage)
{
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    accept(f, &prop, &got);
    CHECK_U64(got.alloc_flags.usage, 0);
}

TEST_WARNS(CREATE_USAGE_DROPPED, create_for_a_usage_that_is_dropped)
{
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_HW_DECOMPRESS;
    if (made(f, "prop.allocFlags.usage", VMM_MEM_CREATE_USAGE_HW_DECOMPRESS, &prop, &got))
        CHECK_U64(got.alloc_flags.usage, 0);
}

TEST_NEAR_MISS(CREATE_USAGE_DROPPED, create_for_tiles)
{
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    accept(f, &prop, &got);
    CHECK_U64(got.alloc_flags.usage, 0);
}

TEST_BREAKS_ON(CREATE_RDMA_NOT_OBTAINED, create_for_rdma_where_there_is_none, "attribute.110 = 0", TEST_BOTH_MODES, 0)
{
    fix_need_no_attribute(f, VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
                          "needs a device without GPUDirect RDMA");
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    prop.alloc_flags.gpu_direct_rdma_capable = 1;
    WARNED(vmm_mem_create(S, &handle, f->g, &prop, 0), NOT_SUPPORTED, "prop.allocFlags.gpuDirectRDMACapable", 1);
    fix_note(f, FIX_HANDLE, handle, f->g);
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, handle));
    CHECK_U64(got.alloc_flags.gpu_direct_rdma_capable, 0);
}

TEST_NEAR_MISS_ON(CREATE_RDMA_NOT_OBTAINED, create_without_rdma_where_there_is_none, "attribute.110 = 0",
                  TEST_AS_GIVEN, 0)
{
    fix_need_no_attribute(f, VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
                          "needs a device without GPUDirect RDMA");
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    accept(f, &prop, &got);
    CHECK_U64(got.alloc_flags.gpu_direct_rdma_capable, 0);
}

TEST_BREAKS_ON(CREATE_COMPRESSION_NOT_OBTAINED, create_compressible_memory_where_there_is_none,
               "attribute.107 = 1\ncompression.memory = 0", TEST_BOTH_MODES, 0)
{
    fix_need_simulator(f, "needs a device with no compressible memory left");
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
    if (made(f, "prop.allocFlags.compressionType", 1, &prop, &got))
        CHECK_U64(got.alloc_flags.compression_type, VMM_MEM_ALLOCATION_COMP_NONE);
}

TEST_NEAR_MISS(CREATE_COMPRESSION_NOT_OBTAINED, create_compressible_memory)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED,
                       "needs compressible memory (attribute 107)");
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
    accept(f, &prop, &got);
    CHECK_U64(got.alloc_flags.compression_type, VMM_MEM_ALLOCATION_COMP_GENERIC);
}

TEST_BREAKS(CREATE_TILE_POOL, create_a_tile_pool_for_others)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    prop.alloc_flags.gpu_direct_rdma_capable = 1;
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    REFUSED(vmm_mem_create(S, &handle, f->g, &prop, 0), INVALID_VALUE, "prop.allocFlags.usage",
            VMM_MEM_CREATE_USAGE_TILE_POOL);
    prop.alloc_flags.gpu_direct_rdma_capable = 0;
    prop.requested_handle_types = 16; /* a type that the driver otherwise ignores */
    REFUSED(vmm_mem_create(S, &handle, f->g, &prop, 0), INVALID_VALUE, "prop.allocFlags.usage",
            VMM_MEM_CREATE_USAGE_TILE_POOL);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

/* Alone the property is accepted, only to be dropped. */
TEST_NEAR_MISS(CREATE_TILE_POOL, create_a_tile_pool)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    vmm_mem_generic_allocation_handle handle = 0;
    CHECK_U64(vmm_mem_create(S, &handle, f->g, &prop, 0), VMM_SUCCESS);
    CHECK_U64(vmm_mem_release(S, handle), VMM_SUCCESS);
}

TEST_BREAKS(CREATE_USAGE_COMPRESSION, create_compressible_memory_with_a_usage)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_HW_DECOMPRESS;
    prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    REFUSED(vmm_mem_create(S, &handle, f->g, &prop, 0), INVALID_VALUE, "prop.allocFlags.usage",
            VMM_MEM_CREATE_USAGE_HW_DECOMPRESS);
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    REFUSED(vmm_mem_create(S, &handle, f->g, &prop, 0), INVALID_VALUE, "prop.allocFlags.usage",
            VMM_MEM_CREATE_USAGE_TILE_POOL);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

TEST_NEAR_MISS(CREATE_USAGE_COMPRESSION, create_memory_to_decompress_into)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_HW_DECOMPRESS;
    vmm_mem_generic_allocation_handle handle = 0;
    CHECK_U64(vmm_mem_create(S, &handle, f->g, &prop, 0), VMM_SUCCESS);
    CHECK_U64(vmm_mem_release(S, handle), VMM_SUCCESS);
}

static vmm_mem_generic_allocation_handle tile_pool(struct fix *f, uint64_t size)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    return fix_create_prop(f, size, &prop);
}

/* Refused for the whole and for a part, whatever else is wrong with the part. */
TEST_BREAKS(MAP_TILE_POOL, map_a_tile_pool)
{
    vmm_mem_generic_allocation_handle handle = tile_pool(f, 2 * f->g);
    vmm_deviceptr at = fix_reserve(f, 4 * f->g);
    REFUSED(vmm_mem_map(S, at, 2 * f->g, 0, handle, 0), INVALID_VALUE, "handle", handle);
    REFUSED(vmm_mem_map(S, at, f->g, f->g, handle, 0), INVALID_VALUE, "handle", handle);
    REFUSED(vmm_mem_map(S, at, f->g, 1, handle, 0), INVALID_VALUE, "handle", handle);
}

TEST_NEAR_MISS(MAP_TILE_POOL, map_other_memory_beside_a_tile_pool)
{
    vmm_mem_generic_allocation_handle pool = tile_pool(f, 2 * f->g), other = fix_create(f, 2 * f->g);
    vmm_deviceptr at = fix_reserve(f, 4 * f->g);
    CHECK(pool != other, "one handle for two allocations");
    ACCEPTED(vmm_mem_map(S, at, 2 * f->g, 0, other, 0));
    fix_note(f, FIX_MAPPING, at, 2 * f->g);
}
