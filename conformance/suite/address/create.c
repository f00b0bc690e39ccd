/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_create: arguments. create_limits.c tests what a machine lacks, create_warned.c what succeeds with a
 * warning. */
#include "test.h"

/* A refused creation does not write the caller's handle. */
#define CREATE_REFUSED(code, argument, value, size, prop, flags)                            \
    do {                                                                                    \
        vmm_mem_generic_allocation_handle handle_ = FIX_UNTOUCHED;                          \
        REFUSED(vmm_mem_create(S, &handle_, (size), (prop), (flags)), code, argument, value); \
        CHECK_U64(handle_, FIX_UNTOUCHED);                                                  \
    } while (0)

/* Creates, expects no report, and releases. */
static void accept_prop(struct fix *f, uint64_t size, const vmm_mem_allocation_prop *prop)
{
    vmm_mem_generic_allocation_handle handle = 0;
    ACCEPTED(vmm_mem_create(S, &handle, size, prop, 0));
    CHECK(handle != 0, "the handle is 0");
    if (handle)
        ACCEPTED(vmm_mem_release(S, handle));
}

static void accept(struct fix *f, uint64_t size)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    accept_prop(f, size, &prop);
}

TEST_BREAKS(CREATE_NULL_HANDLE, create_without_place_for_the_handle)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    REFUSED(vmm_mem_create(S, NULL, f->g, &prop, 0), INVALID_VALUE, "handle", 0);
}

TEST_BREAKS(CREATE_NULL_PROP, create_without_properties)
{
    CREATE_REFUSED(INVALID_VALUE, "prop", 0, f->g, NULL, 0);
}

TEST_BREAKS(CREATE_FLAGS, create_with_flags)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    CREATE_REFUSED(INVALID_VALUE, "flags", 1, f->g, &prop, 1);
    CREATE_REFUSED(INVALID_VALUE, "flags", UINT64_C(1) << 63, f->g, &prop, UINT64_C(1) << 63);
}

TEST_BREAKS(CREATE_SIZE_ZERO, create_nothing)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    CREATE_REFUSED(INVALID_VALUE, "size", 0, 0, &prop, 0);
}

TEST_NEAR_MISS(CREATE_SIZE_ZERO, create_the_smallest_size)
{
    accept(f, f->minimum);
}

TEST_BREAKS(CREATE_SIZE_GRANULARITY, create_between_granules)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    const uint64_t sizes[] = {1, f->minimum - 1, f->minimum / 2, f->minimum + 1, f->minimum + f->minimum / 2, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        CREATE_REFUSED(INVALID_VALUE, "size", sizes[i], sizes[i], &prop, 0);
    if (f->simulator) {
        vmm_mem_generic_allocation_handle handle;
        vmm_mem_create(S, &handle, f->minimum + 1, &prop, 0);
        CHECK_U64(vmm_last_detail()->expected, f->minimum);
    }
}

/* A multiple of the minimum granularity is enough; the recommended one is optional. */
TEST_NEAR_MISS(CREATE_SIZE_GRANULARITY, create_three_granules)
{
    accept(f, f->minimum);
    accept(f, 3 * f->minimum);
    accept(f, 7 * f->minimum);
}

TEST_BREAKS(CREATE_TYPE, create_memory_that_is_not_pinned)
{
    const vmm_mem_allocation_type types[] = {VMM_MEM_ALLOCATION_TYPE_INVALID, VMM_MEM_ALLOCATION_TYPE_MANAGED, 3,
                                             0x7FFFFFFF};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_allocation_prop prop = fix_prop(0);
        prop.type = types[i];
        CREATE_REFUSED(INVALID_VALUE, "prop.type", (uint64_t)types[i], f->g, &prop, 0);
    }
}

TEST_BREAKS(CREATE_LOCATION_TYPE, create_nowhere)
{
    const vmm_mem_location_type types[] = {VMM_MEM_LOCATION_TYPE_INVALID, 5, 99, -1};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_allocation_prop prop = fix_prop_at(types[i], 0);
        CREATE_REFUSED(INVALID_VALUE, "prop.location.type", (uint64_t)types[i], f->g, &prop, 0);
    }
}

TEST_BREAKS(CREATE_NUMA_CURRENT, create_on_the_current_node)
{
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0);
    CREATE_REFUSED(INVALID_VALUE, "prop.location.type", VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, f->g, &prop, 0);
}

TEST_BREAKS(CREATE_HOST_SHARED, create_host_memory_to_share)
{
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CREATE_REFUSED(INVALID_VALUE, "prop.requestedHandleTypes", VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, f->g, &prop,
                   0);
}

TEST_NEAR_MISS(CREATE_HOST_SHARED, create_host_memory_to_keep)
{
    fix_need_host(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    accept_prop(f, fix_host_unit(f), &prop);
}

TEST_EXPECTS("create.handle_types", create_node_memory_to_share)
{
    fix_need_numa(f);
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                       "needs POSIX fd handles (attribute 103)");
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, fix_numa_node(f));
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    accept_prop(f, fix_host_unit(f), &prop);
}

TEST_BREAKS(CREATE_NUMA_ID, create_on_a_node_that_is_not_there)
{
    const int ids[] = {-1, 99};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, ids[i]);
        CREATE_REFUSED(INVALID_VALUE, "prop.location.id", (uint64_t)ids[i], f->g, &prop, 0);
    }
}

/* The id of HOST is ignored, as documented. */
TEST_EXPECTS("create.host_id_ignored", create_host_memory_with_any_id)
{
    fix_need_host(f);
    const int ids[] = {0, -1, 99};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, ids[i]);
        accept_prop(f, fix_host_unit(f), &prop);
    }
}

TEST_BREAKS(CREATE_HANDLE_TYPE_WINDOWS, create_for_windows)
{
    enum {
        FD = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        FABRIC = VMM_MEM_HANDLE_TYPE_FABRIC,
        NT = VMM_MEM_HANDLE_TYPE_WIN32,
        KMT = VMM_MEM_HANDLE_TYPE_WIN32_KMT
    };
    const vmm_mem_allocation_handle_type types[] = {NT, KMT, NT | KMT, FD | NT, FD | KMT, FABRIC | NT};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_allocation_prop prop = fix_prop(0);
        prop.requested_handle_types = types[i];
        CREATE_REFUSED(INVALID_VALUE, "prop.requestedHandleTypes", (uint64_t)types[i], f->g, &prop, 0);
        prop.win32_handle_meta_data = &prop; /* the attributes that Windows needs make no difference */
        CREATE_REFUSED(INVALID_VALUE, "prop.requestedHandleTypes", (uint64_t)types[i], f->g, &prop, 0);
    }
    for (int device = 0; device < f->devices; device++)
        for (int attribute = VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED;
             attribute <= VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED; attribute++) {
            int value = 77; /* which the program could have queried first */
            ACCEPTED(vmm_device_get_attribute(S, &value, attribute, device));
            CHECK_U64((uint64_t)value, 0);
        }
}

TEST_BREAKS(CREATE_COMPRESSION_TYPE, create_with_unknown_compression)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.compression_type = 2;
    CREATE_REFUSED(INVALID_VALUE, "prop.allocFlags.compressionType", 2, f->g, &prop, 0);
}

TEST_NEAR_MISS(CREATE_COMPRESSION_TYPE, create_with_generic_compression)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED,
                       "needs compressible memory (attribute 107)");
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
    accept_prop(f, f->g, &prop);
}

/* The driver ignores the last of the four. */
TEST_BREAKS(CREATE_RESERVED, create_with_reserved_bytes_set)
{
    for (int i = 0; i < 3; i++) {
        vmm_mem_allocation_prop prop = fix_prop(0);
        prop.alloc_flags.reserved[i] = (unsigned char)(1 + i);
        CREATE_REFUSED(INVALID_VALUE, "prop.allocFlags.reserved", (uint64_t)(1 + i), f->g, &prop, 0);
    }
}

TEST_BREAKS(CREATE_WIN32_META, create_with_windows_security)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.win32_handle_meta_data = &prop;
    CREATE_REFUSED(INVALID_VALUE, "prop.win32HandleMetaData", (uintptr_t)&prop, f->g, &prop, 0);
}

TEST_BREAKS(CREATE_DEVICE_ID, create_on_a_device_that_is_not_there)
{
    const int ids[] = {-1, f->devices, 99, 0x7FFFFFFF};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        vmm_mem_allocation_prop prop = fix_prop(ids[i]);
        CREATE_REFUSED(INVALID_DEVICE, "prop.location.id", (uint64_t)ids[i], f->g, &prop, 0);
    }
}

TEST_NEAR_MISS(CREATE_DEVICE_ID, create_on_the_last_device)
{
    vmm_mem_allocation_prop prop = fix_prop(f->devices - 1);
    accept_prop(f, f->g, &prop);
}
