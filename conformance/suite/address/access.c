/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_set_access: arguments and the range. */
#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static vmm_mem_access_desc grant(int type, int id, int flags)
{
    return (vmm_mem_access_desc){{type, id}, flags};
}

static vmm_mem_access_desc device0(void)
{
    return grant(VMM_MEM_LOCATION_TYPE_DEVICE, 0, RW);
}

/* One descriptor; expects no report. */
static void accept(struct fix *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_access_desc desc)
{
    ACCEPTED(vmm_mem_set_access(S, ptr, size, &desc, 1));
}

TEST_BREAKS(ACCESS_PTR_ZERO, access_to_address_0)
{
    vmm_mem_access_desc desc = device0();
    fix_mapped(f, f->g, 0, NULL);
    REFUSED(vmm_mem_set_access(S, 0, f->g, &desc, 1), INVALID_VALUE, "ptr", 0);
}

TEST_BREAKS(ACCESS_SIZE_ZERO, access_to_nothing)
{
    vmm_mem_access_desc desc = device0();
    vmm_deviceptr ptr = fix_mapped(f, f->g, 0, NULL);
    REFUSED(vmm_mem_set_access(S, ptr, 0, &desc, 1), INVALID_VALUE, "size", 0);
}

TEST_BREAKS(ACCESS_COUNT_ZERO, access_for_nobody)
{
    vmm_mem_access_desc desc = device0();
    vmm_deviceptr ptr = fix_mapped(f, f->g, 0, NULL);
    REFUSED(vmm_mem_set_access(S, ptr, f->g, &desc, 0), INVALID_VALUE, "count", 0);
    REFUSED(vmm_mem_set_access(S, ptr, f->g, NULL, 0), INVALID_VALUE, "count", 0);
}

TEST_BREAKS(ACCESS_NULL_DESC, access_without_descriptors)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, 0, NULL);
    REFUSED(vmm_mem_set_access(S, ptr, f->g, NULL, 1), INVALID_VALUE, "desc", 0);
}

TEST_BREAKS(ACCESS_SIZE_GRANULARITY, access_to_a_part_of_a_granule)
{
    vmm_mem_access_desc desc = device0();
    vmm_deviceptr ptr = fix_mapped(f, 2 * f->g, 0, NULL);
    const uint64_t sizes[] = {1, f->unit / 2, f->g + f->unit / 2, 2 * f->g - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        REFUSED(vmm_mem_set_access(S, ptr, sizes[i], &desc, 1), INVALID_VALUE, "size", sizes[i]);
}

TEST_BREAKS(ACCESS_FLAGS, access_of_an_unknown_kind)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    const int flags[] = {2, 4, 7, -1};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        vmm_mem_access_desc desc = grant(VMM_MEM_LOCATION_TYPE_DEVICE, 0, flags[i]);
        REFUSED(vmm_mem_set_access(S, ptr, f->g, &desc, 1), INVALID_VALUE, "desc.flags", (uint64_t)flags[i]);
    }
}

TEST_NEAR_MISS(ACCESS_FLAGS, access_of_every_kind)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    const int flags[] = {VMM_MEM_ACCESS_FLAGS_PROT_NONE, VMM_MEM_ACCESS_FLAGS_PROT_READ, RW};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        accept(f, ptr, f->g, grant(VMM_MEM_LOCATION_TYPE_DEVICE, 0, flags[i]));
        CHECK_U64(fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, 0), (uint64_t)flags[i]);
    }
}

TEST_BREAKS(ACCESS_LOCATION_TYPE, access_from_nowhere)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    const int types[] = {VMM_MEM_LOCATION_TYPE_INVALID, VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 5, -1};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_access_desc desc = grant(types[i], 0, RW);
        REFUSED(vmm_mem_set_access(S, ptr, f->g, &desc, 1), INVALID_VALUE, "desc.location.type", (uint64_t)types[i]);
    }
}

TEST_BREAKS(ACCESS_DEVICE_ID, access_from_a_device_that_is_not_there)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    const int ids[] = {-1, f->devices, 99};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        vmm_mem_access_desc desc = grant(VMM_MEM_LOCATION_TYPE_DEVICE, ids[i], RW);
        REFUSED(vmm_mem_set_access(S, ptr, f->g, &desc, 1), INVALID_VALUE, "desc.location.id", (uint64_t)ids[i]);
    }
}

TEST_NEAR_MISS(ACCESS_DEVICE_ID, access_from_the_last_device)
{
    int last = f->devices - 1;
    vmm_mem_allocation_prop prop = fix_prop(last);
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    fix_map(f, ptr, f->g, fix_create_prop(f, f->g, &prop));
    accept(f, ptr, f->g, grant(VMM_MEM_LOCATION_TYPE_DEVICE, last, RW));
    CHECK_U64(fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, last), RW);
}

/* Nothing mapped at all, at the start, and at the end. */
TEST_BREAKS(ACCESS_NOT_MAPPED, access_to_reserved_addresses)
{
    vmm_mem_access_desc desc = device0();
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    REFUSED(vmm_mem_set_access(S, p, f->g, &desc, 1), INVALID_VALUE, "ptr", p);
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    REFUSED(vmm_mem_set_access(S, p, 2 * f->g, &desc, 1), INVALID_VALUE, "ptr", p);
    REFUSED(vmm_mem_set_access(S, p + f->g, 2 * f->g, &desc, 1), INVALID_VALUE, "size", 2 * f->g);
}

/* M.access: the call refuses a range that wraps unless a mapping ends at the wrapped end. The driver may own what lies
 * below p, so the range wraps to an address of the test's own. */
TEST_EXPECTS("access.wraps", access_to_a_range_that_wraps)
{
    vmm_mem_access_desc desc = device0();
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p + 2 * f->g, f->g, fix_create(f, f->g));
    REFUSED_BY("VMM-ACCESS-NOT-MAPPED", vmm_mem_set_access(S, p + 2 * f->g, 0 - f->g, &desc, 1), INVALID_VALUE, "size",
               0 - f->g);
}

TEST_WARNS(ACCESS_WRAPS, access_to_a_range_that_wraps_to_a_mapping)
{
    vmm_mem_access_desc desc = device0();
    vmm_deviceptr p = fix_reserve(f, 5 * f->g), at = p + 2 * f->g;
    for (uint64_t i = 0; i < 4; i++) /* [mapped][....][mapped][mapped][....] */
        if (i != 1)
            fix_map(f, p + i * f->g, f->g, fix_create(f, f->g));
    WARNED(vmm_mem_set_access(S, at, 0 - f->g, &desc, 1), INVALID_VALUE, "size", 0 - f->g);
    CHECK_U64(fix_rights(f, at, VMM_MEM_LOCATION_TYPE_DEVICE, 0),
              test_refuses(f, NULL) ? VMM_MEM_ACCESS_FLAGS_PROT_NONE : RW);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), VMM_MEM_ACCESS_FLAGS_PROT_NONE);
    CHECK_U64(fix_rights(f, at + f->g, VMM_MEM_LOCATION_TYPE_DEVICE, 0), VMM_MEM_ACCESS_FLAGS_PROT_NONE);
}

TEST_BREAKS(ACCESS_NOT_MAPPED, access_to_what_cumemalloc_gave)
{
    vmm_mem_access_desc desc = device0();
    vmm_deviceptr old = fix_alloc(f, f->g);
    REFUSED(vmm_mem_set_access(S, old, f->g, &desc, 1), INVALID_VALUE, "ptr", old);
}

TEST_NEAR_MISS(ACCESS_NOT_MAPPED, access_to_exactly_what_is_mapped)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p + f->g, 2 * f->g, fix_create(f, 2 * f->g));
    accept(f, p + f->g, 2 * f->g, device0());
}

TEST_BREAKS(ACCESS_PARTIAL, access_to_a_part_of_a_mapping)
{
    uint64_t g = f->g;
    vmm_mem_access_desc desc = device0();
    vmm_deviceptr p = fix_reserve(f, 8 * g);
    fix_map(f, p, 4 * g, fix_create(f, 4 * g));
    fix_map(f, p + 4 * g, 2 * g, fix_create(f, 2 * g));
    REFUSED_NEAR(vmm_mem_set_access(S, p, g, &desc, 1), INVALID_VALUE, "size", g, MAPPING, p);
    REFUSED_NEAR(vmm_mem_set_access(S, p, 5 * g, &desc, 1), INVALID_VALUE, "size", 5 * g, MAPPING, p + 4 * g);
    REFUSED_NEAR(vmm_mem_set_access(S, p + g, 3 * g, &desc, 1), INVALID_VALUE, "ptr", p + g, MAPPING, p);
    REFUSED_NEAR(vmm_mem_set_access(S, p + g, 2 * g, &desc, 1), INVALID_VALUE, "ptr", p + g, MAPPING, p);
    REFUSED_NEAR(vmm_mem_set_access(S, p + 3 * g, 3 * g, &desc, 1), INVALID_VALUE, "ptr", p + 3 * g, MAPPING, p);
}

TEST_NEAR_MISS(ACCESS_PARTIAL, access_to_several_whole_mappings)
{
    vmm_deviceptr p = fix_reserve(f, 8 * f->g);
    fix_map(f, p, 4 * f->g, fix_create(f, 4 * f->g));
    fix_map(f, p + 4 * f->g, 2 * f->g, fix_create(f, 2 * f->g));
    accept(f, p, 6 * f->g, device0());
    CHECK_U64(fix_rights(f, p + 4 * f->g - 1, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
    CHECK_U64(fix_rights(f, p + 6 * f->g - 1, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
}

TEST_BREAKS(ACCESS_HOST_ON_DEVICE, access_of_the_host_to_device_memory)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    const int types[] = {VMM_MEM_LOCATION_TYPE_HOST, VMM_MEM_LOCATION_TYPE_HOST_NUMA};
    for (size_t i = 0; i < 2; i++) {
        vmm_mem_access_desc desc = grant(types[i], 0, RW);
        REFUSED_NEAR(vmm_mem_set_access(S, ptr, f->g, &desc, 1), NOT_SUPPORTED, "desc.location.type",
                     (uint64_t)types[i], MAPPING, ptr);
    }
}

TEST_NEAR_MISS(ACCESS_HOST_ON_DEVICE, access_of_the_host_to_host_memory)
{
    fix_need_host(f);
    uint64_t size = fix_host_unit(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    vmm_deviceptr ptr = fix_reserve(f, size);
    fix_map(f, ptr, size, fix_create_prop(f, size, &prop));
    accept(f, ptr, size, grant(VMM_MEM_LOCATION_TYPE_HOST, 0, RW));
    CHECK_U64(fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
}

TEST_BREAKS_ON(ACCESS_PEER, access_of_a_device_without_a_link, "devices = 2\npeers = none", TEST_AS_GIVEN, 0)
{
    fix_need_link(f, false);
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    vmm_mem_access_desc desc = grant(VMM_MEM_LOCATION_TYPE_DEVICE, 1, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    REFUSED_NEAR(vmm_mem_set_access(S, ptr, f->g, &desc, 1), PEER_ACCESS_UNSUPPORTED, "desc.location.id", 1, MAPPING,
                 ptr);
}

TEST_NEAR_MISS_ON(ACCESS_PEER, access_of_a_device_with_a_link, "devices = 2\npeers = 0-1", TEST_AS_GIVEN, 0)
{
    fix_need_link(f, true);
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    accept(f, ptr, f->g, grant(VMM_MEM_LOCATION_TYPE_DEVICE, 1, VMM_MEM_ACCESS_FLAGS_PROT_READ));
    CHECK_U64(fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, 1), VMM_MEM_ACCESS_FLAGS_PROT_READ);
}

TEST_WARNS(ACCESS_HOLE, access_over_a_hole)
{
    vmm_mem_access_desc desc = device0();
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_map(f, p + 2 * f->g, f->g, handle);
    WARNED(vmm_mem_set_access(S, p, 3 * f->g, &desc, 1), INVALID_VALUE, "size", 3 * f->g);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0),
              test_refuses(f, NULL) ? VMM_MEM_ACCESS_FLAGS_PROT_NONE : RW);
}

TEST_NEAR_MISS(ACCESS_HOLE, access_without_a_hole)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    for (unsigned i = 0; i < 3; i++)
        fix_map(f, p + i * f->g, f->g, handle);
    accept(f, p, 3 * f->g, device0());
}

TEST_WARNS(ACCESS_DUPLICATE, access_given_twice_in_one_call)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, 0, NULL);
    vmm_mem_access_desc desc[2] = {grant(VMM_MEM_LOCATION_TYPE_DEVICE, 0, VMM_MEM_ACCESS_FLAGS_PROT_READ), device0()};
    WARNED(vmm_mem_set_access(S, ptr, f->g, desc, 2), INVALID_VALUE, "desc", 1);
    CHECK_U64(fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
    desc[0] = device0();
    desc[1].flags = VMM_MEM_ACCESS_FLAGS_PROT_READ;
    WARNED(vmm_mem_set_access(S, ptr, f->g, desc, 2), INVALID_VALUE, "desc", 1);
    CHECK_U64(fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, 0), VMM_MEM_ACCESS_FLAGS_PROT_READ);
}

TEST_NEAR_MISS_ON(ACCESS_DUPLICATE, access_given_to_two, "devices = 2\npeers = all", TEST_AS_GIVEN, 0)
{
    fix_need_link(f, true);
    vmm_deviceptr ptr = fix_mapped(f, f->g, 0, NULL);
    vmm_mem_access_desc desc[2] = {grant(VMM_MEM_LOCATION_TYPE_DEVICE, 1, VMM_MEM_ACCESS_FLAGS_PROT_READ), device0()};
    ACCEPTED(vmm_mem_set_access(S, ptr, f->g, desc, 2));
    CHECK_U64(fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
    CHECK_U64(fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, 1), VMM_MEM_ACCESS_FLAGS_PROT_READ);
}
