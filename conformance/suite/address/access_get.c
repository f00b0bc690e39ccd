/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_get_access, and what rights are by default. */
#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* Refused by a check of arguments: *flags stays as it was. */
static void refuse(struct fix *f, vmm_result result, const char *argument, uint64_t value,
                   const vmm_mem_location *location, vmm_deviceptr ptr)
{
    uint64_t flags = FIX_UNTOUCHED;
    REFUSED_LIKE(vmm_mem_get_access(S, &flags, location, ptr), NULL, result, argument, value, VMM_OBJECT_NONE, 0);
    CHECK_U64(flags, FIX_UNTOUCHED);
}

static void accept(struct fix *f, vmm_mem_location location, vmm_deviceptr ptr, uint64_t want)
{
    uint64_t flags = FIX_UNTOUCHED;
    ACCEPTED(vmm_mem_get_access(S, &flags, &location, ptr));
    CHECK_U64(flags, want);
}

static vmm_mem_location device0(void)
{
    return fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
}

TEST_BREAKS(GETACCESS_LOCATION, rights_of_a_location_that_is_not_there)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    const int ids[] = {-1, f->devices, 99};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        vmm_mem_location location = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, ids[i]);
        refuse(f, VMM_ERROR_INVALID_DEVICE, "location.id", (uint64_t)ids[i], &location, ptr);
    }
    const int types[] = {VMM_MEM_LOCATION_TYPE_INVALID, VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 5};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_location location = fix_at(types[i], 0);
        refuse(f, VMM_ERROR_INVALID_DEVICE, "location.type", (uint64_t)types[i], &location, ptr);
    }
}

TEST_NEAR_MISS(GETACCESS_LOCATION, rights_of_every_location)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    accept(f, device0(), ptr, RW);
    for (int device = 1; device < f->devices; device++)
        accept(f, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, device), ptr, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
}

TEST_BREAKS(GETACCESS_NULL_FLAGS, rights_without_place_for_them)
{
    vmm_mem_location location = device0();
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    REFUSED(vmm_mem_get_access(S, NULL, &location, ptr), INVALID_VALUE, "flags", 0);
}

TEST_BREAKS(GETACCESS_NULL_LOCATION, rights_of_no_location)
{
    refuse(f, VMM_ERROR_INVALID_VALUE, "location", 0, NULL, fix_mapped(f, f->g, RW, NULL));
}

TEST_BREAKS(GETACCESS_PTR_ZERO, rights_at_address_0)
{
    vmm_mem_location location = device0();
    fix_mapped(f, f->g, RW, NULL);
    uint64_t flags = FIX_UNTOUCHED;
    REFUSED(vmm_mem_get_access(S, &flags, &location, 0), INVALID_VALUE, "ptr", 0);
}

/* Measured: the driver writes 0 although it refuses. */
TEST_BREAKS(GETACCESS_NOT_MAPPED, rights_where_nothing_is_mapped)
{
    vmm_mem_location location = device0();
    vmm_deviceptr p = fix_reserve(f, 4 * f->g), old = fix_free_range(f, 64 * f->g) + 32 * f->g;
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    const vmm_deviceptr at[] = {p, p + f->g - 1, p + 2 * f->g, p + 4 * f->g, old};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        uint64_t flags = FIX_UNTOUCHED;
        REFUSED(vmm_mem_get_access(S, &flags, &location, at[i]), INVALID_VALUE, "ptr", at[i]);
        CHECK_U64(flags, 0);
    }
}

TEST_NEAR_MISS(GETACCESS_NOT_MAPPED, rights_at_the_first_and_last_byte)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    fix_access(f, p + f->g, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    accept(f, device0(), p + f->g, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    accept(f, device0(), p + f->g + 12345, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    accept(f, device0(), p + 2 * f->g - 1, VMM_MEM_ACCESS_FLAGS_PROT_READ);
}

TEST_EXPECTS("map.no_access_at_first", no_access_by_default)
{
    for (int device = 0; device < f->devices; device++) {
        vmm_mem_allocation_prop prop = fix_prop(device);
        vmm_deviceptr ptr = fix_reserve(f, f->g);
        fix_map(f, ptr, f->g, fix_create_prop(f, f->g, &prop));
        for (int who = 0; who < f->devices; who++)
            accept(f, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, who), ptr, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
    }
}

/* Observed: for device memory, a query of HOST returns the rights of device 0, and one of HOST_NUMA returns none. */
TEST_EXPECTS("getaccess.host_of_device_memory", host_rights_on_device_memory)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    accept(f, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), ptr, RW);
    accept(f, fix_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0), ptr, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
    fix_access(f, ptr, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    accept(f, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), ptr, VMM_MEM_ACCESS_FLAGS_PROT_READ);
}

TEST_EXPECTS("getaccess.aliases_independent", rights_of_aliases_differ)
{
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_map(f, p + f->g, f->g, handle);
    fix_access(f, p, f->g, RW);
    accept(f, device0(), p + f->g, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
    fix_access(f, p + f->g, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    accept(f, device0(), p, RW);
    accept(f, device0(), p + f->g, VMM_MEM_ACCESS_FLAGS_PROT_READ);
}

TEST_EXPECTS("unmap.new_mapping_no_access", rights_are_gone_after_remap)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle);
    fix_unmap(f, p, f->g);
    fix_map(f, p, f->g, handle);
    accept(f, device0(), p, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
}

/* One bad descriptor among good ones, or one bad mapping at the end of the range: no rights change. */
TEST_EXPECTS("access.all_or_nothing", set_access_is_atomic)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + f->g, 2 * f->g, fix_create(f, 2 * f->g));
    vmm_mem_access_desc desc[2] = {{device0(), RW}, {{VMM_MEM_LOCATION_TYPE_DEVICE, f->devices}, RW}};
    REFUSED_BY("VMM-ACCESS-DEVICE-ID", vmm_mem_set_access(S, p, 3 * f->g, desc, 2), INVALID_VALUE,
               "desc.location.id", (uint64_t)f->devices);
    REFUSED_BY("VMM-ACCESS-PARTIAL", vmm_mem_set_access(S, p, 2 * f->g, desc, 1), INVALID_VALUE, "size", 2 * f->g);
    accept(f, device0(), p, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
}

TEST_EXPECTS("access.across_reservations", set_access_over_a_seam)
{
    vmm_deviceptr p = fix_adjacent(f, 2 * f->g, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    vmm_mem_access_desc desc = {device0(), RW};
    fix_map(f, p + f->g, f->g, handle);
    fix_map(f, p + 2 * f->g, f->g, handle);
    ACCEPTED(vmm_mem_set_access(S, p + f->g, 2 * f->g, &desc, 1));
    accept(f, device0(), p + f->g, RW);
    accept(f, device0(), p + 2 * f->g, RW);
    ACCEPTED(vmm_memset_d8(S, p + f->g, 1, 2 * f->g));
}
