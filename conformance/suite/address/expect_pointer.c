/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: pointer attributes and address ranges. */
#include "test.h"

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* Attributes differ in width; a zeroed value of the widest type holds each of them on a little-endian machine. */
static uint64_t attribute(struct fix *f, vmm_pointer_attribute which, vmm_deviceptr ptr)
{
    uint64_t value = 0;
    fix_need(f, vmm_pointer_get_attribute(S, &value, which, ptr));
    return value;
}

/* [. . M M|N . . .]: a mapping of two granules and one of one, in a reservation of eight. */
static vmm_deviceptr two_mappings(struct fix *f)
{
    vmm_deviceptr p = fix_reserve(f, 8 * f->g);
    fix_map(f, p + 2 * f->g, 2 * f->g, fix_create(f, 2 * f->g));
    fix_map(f, p + 4 * f->g, f->g, fix_create(f, f->g));
    return p;
}

TEST_EXPECTS("pointer.mapping_bounds", bounds_of_two_mappings)
{
    vmm_deviceptr p = two_mappings(f);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, p + 4 * f->g - 1), p + 2 * f->g);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, p + 4 * f->g - 1), 2 * f->g);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, p + 4 * f->g), p + 4 * f->g);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, p + 4 * f->g), f->g);
}

TEST_EXPECTS("pointer.any_byte", attributes_at_any_byte)
{
    vmm_deviceptr p = two_mappings(f);
    const uint64_t offsets[] = {0, 1, 4097, f->g - 1, f->g, 2 * f->g - 1};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        vmm_deviceptr at = p + 2 * f->g + offsets[i];
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, at), p + 2 * f->g);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, at), p);
    }
}

TEST_EXPECTS("pointer.mapped", mapped_or_refused)
{
    vmm_deviceptr p = two_mappings(f);
    for (unsigned i = 0; i < 8; i++) {
        int mapped = 77;
        vmm_result result = vmm_pointer_get_attribute(S, &mapped, VMM_POINTER_ATTRIBUTE_MAPPED, p + i * f->g);
        bool is = i >= 2 && i < 5;
        CHECK(result == (is ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE), "granule %u: %s", i, vmm_result_name(result));
        CHECK_U64((uint64_t)mapped, is ? 1 : 77);
    }
}

TEST_EXPECTS("pointer.memory_type", type_of_device_memory)
{
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, fix_mapped(f, f->g, RW, NULL)), VMM_MEMORYTYPE_DEVICE);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, fix_alloc(f, f->g)), VMM_MEMORYTYPE_DEVICE);
}

TEST_EXPECTS("pointer.device_pointer", device_pointer_is_the_address)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_DEVICE_POINTER, p), p);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 100), p + 100);
}

TEST_EXPECTS("pointer.allowed_handle_types", handle_types_as_created)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                       "needs POSIX fd handles (attribute 103)");
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    fix_map(f, p, f->g, fix_create_prop(f, f->g, &prop));
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    fix_map(f, p + f->g, f->g, fix_create_prop(f, f->g, &prop));
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p), 0);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p + f->g),
              VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

TEST_EXPECTS("pointer.device_ordinal", ordinal_of_the_owner)
{
    for (int device = 0; device < f->devices; device++) {
        vmm_mem_allocation_prop prop = fix_prop(device);
        vmm_deviceptr p = fix_reserve(f, f->g);
        fix_map(f, p, f->g, fix_create_prop(f, f->g, &prop));
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p), (uint64_t)device);
    }
}

TEST_EXPECTS("pointer.context_is_null", context_of_a_mapping)
{
    vmm_context ctx = f->ctx;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(vmm_pointer_get_attribute(S, &ctx, VMM_POINTER_ATTRIBUTE_CONTEXT, p));
    CHECK(ctx == NULL, "a mapping belongs to a context");
}

TEST_EXPECTS("pointer.legacy_and_managed", neither_legacy_nor_managed)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p), 0);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_IS_MANAGED, p), 0);
}

TEST_EXPECTS("pointer.no_pool", mapping_of_no_pool)
{
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, fix_mapped(f, f->g, RW, NULL)), 0);
}

TEST_EXPECTS_ON("pointer.rdma_capable", rdma_as_created, "attribute.110 = 1", TEST_AS_GIVEN, 0)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
                       "needs GPUDirect RDMA (attribute 110)");
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    fix_map(f, p, f->g, fix_create_prop(f, f->g, &prop));
    prop.alloc_flags.gpu_direct_rdma_capable = 1;
    fix_map(f, p + f->g, f->g, fix_create_prop(f, f->g, &prop));
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, p), 0);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, p + f->g), 1);
}

/* Of the current context's device, at any time. */
TEST_EXPECTS("pointer.access_flags", access_of_the_current_device)
{
    static const vmm_mem_access_flags flags[] = {RW, VMM_MEM_ACCESS_FLAGS_PROT_READ, NONE};
    vmm_deviceptr p = fix_mapped(f, f->g, NONE, NULL);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS, p), NONE);
    for (size_t i = 0; i < 3; i++) {
        fix_access(f, p, f->g, flags[i]);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS, p), (uint64_t)flags[i]);
    }
    if (f->devices > 1) {
        fix_access(f, p, f->g, RW);
        fix_context(f, 1);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS, p), NONE);
    }
}

TEST_EXPECTS("pointer.buffer_id", every_mapping_has_its_id)
{
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_map(f, p + f->g, f->g, handle);
    uint64_t id = attribute(f, VMM_POINTER_ATTRIBUTE_BUFFER_ID, p);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_BUFFER_ID, p + f->g - 1), id);
    CHECK(attribute(f, VMM_POINTER_ATTRIBUTE_BUFFER_ID, p + f->g) != id, "two mappings have one id");
    fix_unmap(f, p, f->g);
    fix_map(f, p, f->g, handle);
    CHECK(attribute(f, VMM_POINTER_ATTRIBUTE_BUFFER_ID, p) != id, "a new mapping has the id of an old one");
}

TEST_EXPECTS("pointers.same_as_single", together_as_one_by_one)
{
    vmm_pointer_attribute asked[] = {
        VMM_POINTER_ATTRIBUTE_MEMORY_TYPE,      VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        VMM_POINTER_ATTRIBUTE_RANGE_SIZE,       VMM_POINTER_ATTRIBUTE_MAPPED,
        VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE,
        VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL,   VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID,
        VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS,     VMM_POINTER_ATTRIBUTE_BUFFER_ID};
    enum { COUNT = sizeof asked / sizeof asked[0] };
    uint64_t together[COUNT] = {0};
    void *data[COUNT];
    vmm_deviceptr p = two_mappings(f) + 2 * f->g + 7;
    for (unsigned i = 0; i < COUNT; i++)
        data[i] = &together[i];
    ACCEPTED(vmm_pointer_get_attributes(S, COUNT, asked, data, p));
    for (unsigned i = 0; i < COUNT; i++)
        CHECK_U64(together[i], attribute(f, asked[i], p));
}

TEST_EXPECTS("range.mapping", range_is_the_mapping)
{
    vmm_deviceptr p = two_mappings(f), base = 0;
    uint64_t size = 0;
    fix_access(f, p + 2 * f->g, 3 * f->g, RW);
    ACCEPTED(vmm_mem_get_address_range(S, &base, &size, p + 3 * f->g + 1));
    CHECK_U64(base, p + 2 * f->g);
    CHECK_U64(size, 2 * f->g);
    ACCEPTED(vmm_mem_get_address_range(S, &base, &size, p + 4 * f->g));
    CHECK_U64(base, p + 4 * f->g);
    CHECK_U64(size, f->g);
}

TEST_EXPECTS("range.outputs_optional", range_with_one_output)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), base = 0;
    uint64_t size = 0;
    ACCEPTED(vmm_mem_get_address_range(S, &base, NULL, p + 1));
    ACCEPTED(vmm_mem_get_address_range(S, NULL, &size, p + 1));
    CHECK_U64(base, p);
    CHECK_U64(size, f->g);
}

TEST_EXPECTS("range.host_memory", range_of_host_memory)
{
    fix_need_host(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    uint64_t unit = fix_host_unit(f), size = 0;
    vmm_deviceptr p = fix_reserve(f, 2 * unit), base = FIX_UNTOUCHED;
    fix_map(f, p, 2 * unit, fix_create_prop(f, 2 * unit, &prop));
    fix_access(f, p, 2 * unit, RW);
    ACCEPTED(vmm_mem_get_address_range(S, &base, &size, p + unit));
    CHECK_U64(base, 0); /* as measured */
    CHECK_U64(size, 2 * unit);
}

TEST_EXPECTS("range.old_memory", range_of_allocated_memory)
{
    vmm_deviceptr old = fix_alloc(f, f->g), base = 0;
    uint64_t size = 0;
    ACCEPTED(vmm_mem_get_address_range(S, &base, &size, old + f->g / 2));
    CHECK_U64(base, old);
    CHECK_U64(size, f->g);
}
