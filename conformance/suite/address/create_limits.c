/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_create: what a machine lacks or has run out of. */
#include <limits.h>

#include "test.h"

static vmm_mem_allocation_prop shared(vmm_mem_allocation_handle_type types)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.requested_handle_types = types;
    return prop;
}

static void refuse(struct fix *f, vmm_result result, const char *argument, uint64_t value, uint64_t size,
                   const vmm_mem_allocation_prop *prop)
{
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    REFUSED_LIKE(vmm_mem_create(S, &handle, size, prop, 0), NULL, result, argument, value, VMM_OBJECT_NONE, 0);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

TEST_BREAKS_ON(CREATE_UNSUPPORTED, create_without_virtual_memory_management, "attribute.102 = 0", TEST_AS_GIVEN, 0)
{
    fix_need_no_attribute(f, VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                          "needs a device without virtual memory management");
    vmm_mem_allocation_prop prop = fix_prop(0);
    refuse(f, VMM_ERROR_NOT_SUPPORTED, "prop.location", 0, f->g, &prop);
}

TEST_NEAR_MISS(CREATE_UNSUPPORTED, create_with_virtual_memory_management)
{
    CHECK_U64((uint64_t)fix_attribute(f, VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 1);
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = fix_prop(0);
    ACCEPTED(vmm_mem_create(S, &handle, f->g, &prop, 0));
    fix_note(f, FIX_HANDLE, handle, f->g);
}

TEST_BREAKS_ON(CREATE_HOST_UNSUPPORTED, create_host_memory_where_there_is_none, "attribute.145 = 0", TEST_AS_GIVEN, 0)
{
    fix_need_no_attribute(f, VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                          "needs a machine without HOST memory");
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    refuse(f, VMM_ERROR_NOT_SUPPORTED, "prop.location.type", VMM_MEM_LOCATION_TYPE_HOST, f->g, &prop);
}

TEST_NEAR_MISS(CREATE_HOST_UNSUPPORTED, create_host_memory_where_there_is_some)
{
    fix_need_host(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    vmm_mem_generic_allocation_handle handle = 0;
    uint64_t size = fix_host_unit(f);
    ACCEPTED(vmm_mem_create(S, &handle, size, &prop, 0));
    fix_note(f, FIX_HANDLE, handle, size);
}

TEST_BREAKS_ON(CREATE_NUMA_UNSUPPORTED, create_node_memory_where_there_is_none, "attribute.141 = 0", TEST_AS_GIVEN, 0)
{
    fix_need_no_attribute(f, VMM_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                          "needs a machine without HOST_NUMA memory");
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0);
    refuse(f, VMM_ERROR_NOT_SUPPORTED, "prop.location.type", VMM_MEM_LOCATION_TYPE_HOST_NUMA, f->g, &prop);
}

TEST_NEAR_MISS(CREATE_NUMA_UNSUPPORTED, create_node_memory_where_there_is_some)
{
    fix_need_numa(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, fix_numa_node(f));
    vmm_mem_generic_allocation_handle handle = 0;
    uint64_t size = fix_host_unit(f);
    ACCEPTED(vmm_mem_create(S, &handle, size, &prop, 0));
    fix_note(f, FIX_HANDLE, handle, size);
}

TEST_BREAKS_ON(CREATE_FD_UNSUPPORTED, create_for_fds_where_there_are_none, "attribute.103 = 0", TEST_AS_GIVEN, 0)
{
    fix_need_no_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                          "needs a machine without POSIX fd handles");
    vmm_mem_allocation_prop prop = shared(VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    refuse(f, VMM_ERROR_NOT_SUPPORTED, "prop.requestedHandleTypes", VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, f->g,
           &prop);
}

TEST_NEAR_MISS(CREATE_FD_UNSUPPORTED, create_for_fds_where_there_are_some)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                       "needs POSIX fd handles (attribute 103)");
    vmm_mem_allocation_prop prop = shared(VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    vmm_mem_generic_allocation_handle handle = 0;
    ACCEPTED(vmm_mem_create(S, &handle, f->g, &prop, 0));
    fix_note(f, FIX_HANDLE, handle, f->g);
}

TEST_BREAKS_ON(CREATE_FABRIC_UNSUPPORTED, create_for_a_fabric_that_is_not_there,
               "fabric.imex = no\nattribute.128 = 0", TEST_AS_GIVEN, 0)
{
    fix_need_no_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
                          "needs a machine without fabric handles");
    vmm_mem_allocation_prop prop = shared(VMM_MEM_HANDLE_TYPE_FABRIC);
    refuse(f, VMM_ERROR_NOT_SUPPORTED, "prop.requestedHandleTypes", VMM_MEM_HANDLE_TYPE_FABRIC, f->g, &prop);
}

TEST_NEAR_MISS_ON(CREATE_FABRIC_UNSUPPORTED, create_for_a_fabric, "attribute.128 = 1\nfabric.imex = yes",
                  TEST_AS_GIVEN, 0)
{
    fix_need_fabric(f, true);
    vmm_mem_allocation_prop prop = shared(VMM_MEM_HANDLE_TYPE_FABRIC);
    vmm_mem_generic_allocation_handle handle = 0;
    ACCEPTED(vmm_mem_create(S, &handle, f->g, &prop, 0));
    fix_note(f, FIX_HANDLE, handle, f->g);
}

/* The attribute promises fabric handles; without an IMEX channel there are none. Alone and together with an fd. */
TEST_BREAKS_ON(CREATE_FABRIC_IMEX, create_for_a_fabric_without_channel,
               "attribute.103 = 1\nattribute.128 = 1\nfabric.imex = no", TEST_AS_GIVEN, 0)
{
    fix_need_fabric(f, false);
    const vmm_mem_allocation_handle_type types[] = {
        VMM_MEM_HANDLE_TYPE_FABRIC, VMM_MEM_HANDLE_TYPE_FABRIC | VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_allocation_prop prop = shared(types[i]);
        refuse(f, VMM_ERROR_NOT_PERMITTED, "prop.requestedHandleTypes", (uint64_t)types[i], f->g, &prop);
    }
}

TEST_NEAR_MISS_ON(CREATE_FABRIC_IMEX, create_for_a_fabric_with_channel,
                  "attribute.103 = 1\nattribute.128 = 1\nfabric.imex = yes", TEST_AS_GIVEN, 0)
{
    fix_need_fabric(f, true);
    const vmm_mem_allocation_handle_type types[] = {
        VMM_MEM_HANDLE_TYPE_FABRIC, VMM_MEM_HANDLE_TYPE_FABRIC | VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_allocation_prop prop = shared(types[i]), got;
        vmm_mem_generic_allocation_handle handle = 0;
        ACCEPTED(vmm_mem_create(S, &handle, f->g, &prop, 0));
        fix_note(f, FIX_HANDLE, handle, f->g);
        fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, handle));
        CHECK_U64((uint64_t)got.requested_handle_types, (uint64_t)types[i]);
    }
}

TEST_BREAKS(CREATE_MEMORY, create_more_than_there_is)
{
    uint64_t total = 0;
    fix_need(f, vmm_device_total_mem(S, &total, 0));
    total -= total % f->minimum;
    const uint64_t sizes[] = {total + f->minimum, UINT64_C(1) << 44, UINT64_C(1) << 62, UINT64_MAX - f->minimum + 1};
    vmm_mem_allocation_prop prop = fix_prop(0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        refuse(f, VMM_ERROR_OUT_OF_MEMORY, "size", sizes[i], sizes[i], &prop);
}

/* All free memory can be allocated, to the last granule; on a real device other processes may take some meanwhile. */
TEST_NEAR_MISS(CREATE_MEMORY, create_all_there_is)
{
    uint64_t size = fix_free_memory(f), rest = size % f->minimum;
    if (!f->simulator)
        size -= size / 4;
    size -= size % f->minimum;
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = fix_prop(0);
    ACCEPTED(vmm_mem_create(S, &handle, size, &prop, 0));
    fix_note(f, FIX_HANDLE, handle, size);
    if (f->simulator) {
        CHECK_U64(fix_free_memory(f), rest);
        refuse(f, VMM_ERROR_OUT_OF_MEMORY, "size", f->minimum, f->minimum, &prop);
    }
    fix_release(f, handle);
    fix_create(f, f->g);
}

static int devices(struct fix *f)
{
    int count = 0;
    fix_need(f, vmm_device_get_count(S, &count));
    return count;
}

/* The id of HOST memory is ignored while there is free memory, and then taken for a device's. */
TEST_BREAKS(CREATE_HOST_ID, create_more_host_memory_than_there_is_with_an_id)
{
    fix_need_host(f);
    const int ids[] = {devices(f), -1, INT_MAX, INT_MIN, 99};
    const uint64_t sizes[] = {UINT64_C(1) << 50, UINT64_MAX - fix_host_unit(f) + 1};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, ids[i]);
            uint64_t value = (uint64_t)(int64_t)ids[i];
            refuse(f, VMM_ERROR_INVALID_VALUE, "prop.location.id", value, sizes[k], &prop);
            prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
            refuse(f, VMM_ERROR_INVALID_VALUE, "prop.location.id", value, sizes[k], &prop);
        }
}

TEST_NEAR_MISS(CREATE_HOST_ID, create_host_memory_with_an_id)
{
    fix_need_host(f);
    const int count = devices(f);
    for (int id = -1; id <= count; id++) {
        vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
        vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, id);
        uint64_t size = UINT64_C(1) << 44;
        /* for device memory the answer would differ */
        prop.alloc_flags.usage = id % 2 ? VMM_MEM_CREATE_USAGE_TILE_POOL : 0;
        if (id >= 0 && id < count)
            REFUSED_BY("VMM-CREATE-MEMORY", vmm_mem_create(S, &handle, size, &prop, 0), OUT_OF_MEMORY, "size", size);
        CHECK_U64(handle, FIX_UNTOUCHED);
        prop.alloc_flags.usage = 0;
        ACCEPTED(vmm_mem_create(S, &handle, fix_host_unit(f), &prop, 0));
        fix_note(f, FIX_HANDLE, handle, fix_host_unit(f));
    }
}

TEST_EXPECTS("memory.host_budget", create_more_host_memory_than_there_is)
{
    fix_need_numa(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, fix_numa_node(f));
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    uint64_t size = UINT64_C(1) << 50;
    REFUSED_BY("VMM-CREATE-MEMORY", vmm_mem_create(S, &handle, size, &prop, 0), OUT_OF_MEMORY, "size", size);
    CHECK_U64(handle, FIX_UNTOUCHED);
}
