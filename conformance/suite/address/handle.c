/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_release, vmm_mem_retain_allocation_handle, vmm_mem_get_allocation_properties_from_handle: arguments. */
#include <string.h>

#include "test.h"

/* A value that never was a handle, and one that was and has ended. */
static vmm_mem_generic_allocation_handle forged(struct fix *f)
{
    return fix_create(f, f->g) ^ UINT64_C(0x5a5a5a5a5a);
}

static vmm_mem_generic_allocation_handle stale(struct fix *f)
{
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_release(f, handle);
    return handle;
}

TEST_BREAKS(RELEASE_HANDLE_ZERO, release_handle_0)
{
    fix_create(f, f->g);
    REFUSED(vmm_mem_release(S, 0), INVALID_VALUE, "handle", 0);
}

TEST_BREAKS(RELEASE_HANDLE_FORGED, release_a_forged_handle)
{
    const uint64_t values[] = {forged(f), 1, UINT64_MAX, UINT64_C(0xdeadbeef)};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        REFUSED(vmm_mem_release(S, values[i]), INVALID_VALUE, "handle", values[i]);
}

TEST_NEAR_MISS(RELEASE_HANDLE_FORGED, release_the_second_of_two)
{
    fix_create(f, f->g);
    vmm_mem_generic_allocation_handle second = fix_create(f, f->g);
    ACCEPTED(vmm_mem_release(S, second));
    fix_forget(f, FIX_HANDLE, second, 0);
}

TEST_BREAKS(RELEASE_HANDLE_STALE, release_twice)
{
    vmm_mem_generic_allocation_handle handle = stale(f);
    REFUSED_NEAR(vmm_mem_release(S, handle), INVALID_VALUE, "handle", handle, HANDLE, 0);
    if (f->simulator)
        CHECK(vmm_mem_release(S, handle) != VMM_SUCCESS && vmm_last_detail()->nearest.ended > 0,
              "the detail does not report when the handle ended");
}

/* The mapping still holds the memory, but the handle has no reference left to release. */
TEST_BREAKS(RELEASE_HANDLE_STALE, release_twice_while_mapped)
{
    vmm_mem_generic_allocation_handle handle = 0;
    fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, &handle);
    fix_release(f, handle);
    REFUSED_NEAR(vmm_mem_release(S, handle), INVALID_VALUE, "handle", handle, HANDLE, 0);
}

TEST_NEAR_MISS(RELEASE_HANDLE_STALE, release_twice_after_a_retain)
{
    vmm_mem_generic_allocation_handle handle = 0, again = 0;
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, &handle);
    ACCEPTED(vmm_mem_retain_allocation_handle(S, &again, ptr));
    CHECK_U64(again, handle);
    ACCEPTED(vmm_mem_release(S, handle));
    ACCEPTED(vmm_mem_release(S, handle));
    fix_forget(f, FIX_HANDLE, handle, 0);
    CHECK_U64(fix_peek(f, ptr), 0);
}

TEST_BREAKS(RETAIN_NULL_HANDLE, retain_without_place_for_the_handle)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_NONE, NULL);
    REFUSED(vmm_mem_retain_allocation_handle(S, NULL, ptr), INVALID_VALUE, "handle", 0);
}

TEST_NEAR_MISS(RETAIN_NULL_HANDLE, retain_with_place_for_the_handle)
{
    vmm_mem_generic_allocation_handle handle = 0, again = 0;
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_NONE, &handle);
    ACCEPTED(vmm_mem_retain_allocation_handle(S, &again, ptr));
    CHECK_U64(again, handle);
    ACCEPTED(vmm_mem_release(S, again));
}

TEST_BREAKS(RETAIN_ADDRESS_ZERO, retain_at_address_0)
{
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_NONE, NULL);
    REFUSED(vmm_mem_retain_allocation_handle(S, &handle, 0), INVALID_VALUE, "addr", 0);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

static void refuse_retain(struct fix *f, vmm_deviceptr addr)
{
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    REFUSED(vmm_mem_retain_allocation_handle(S, &handle, addr), INVALID_VALUE, "addr", addr);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

TEST_BREAKS(RETAIN_NOT_MAPPED, retain_where_nothing_is_mapped)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_map(f, ptr + f->g, f->g, handle);
    refuse_retain(f, ptr);
    refuse_retain(f, ptr + f->g - 1);
    refuse_retain(f, ptr + 2 * f->g);
    fix_unmap(f, ptr + f->g, f->g);
    refuse_retain(f, ptr + f->g);
    refuse_retain(f, (uintptr_t)&handle);
    refuse_retain(f, fix_alloc(f, f->g));
}

TEST_NEAR_MISS(RETAIN_NOT_MAPPED, retain_at_the_first_and_last_byte)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g), again = 0;
    fix_map(f, ptr + f->g, f->g, handle);
    ACCEPTED(vmm_mem_retain_allocation_handle(S, &again, ptr + f->g));
    CHECK_U64(again, handle);
    ACCEPTED(vmm_mem_retain_allocation_handle(S, &again, ptr + 2 * f->g - 1));
    CHECK_U64(again, handle);
    ACCEPTED(vmm_mem_release(S, handle));
    ACCEPTED(vmm_mem_release(S, handle));
}

TEST_BREAKS(PROPERTIES_NULL_PROP, properties_without_place_for_them)
{
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    REFUSED(vmm_mem_get_allocation_properties_from_handle(S, NULL, handle), INVALID_VALUE, "prop", 0);
}

TEST_NEAR_MISS(PROPERTIES_NULL_PROP, properties_with_place_for_them)
{
    vmm_mem_allocation_prop got;
    memset(&got, 0x77, sizeof got);
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &got, fix_create(f, f->g)));
    CHECK_U64((uint64_t)got.type, VMM_MEM_ALLOCATION_TYPE_PINNED);
}

static void refuse_properties(struct fix *f, vmm_mem_generic_allocation_handle handle)
{
    vmm_mem_allocation_prop got, before;
    memset(&got, 0x77, sizeof got);
    before = got;
    REFUSED(vmm_mem_get_allocation_properties_from_handle(S, &got, handle), INVALID_VALUE, "handle", handle);
    CHECK(memcmp(&got, &before, sizeof got) == 0, "the properties were written");
}

TEST_BREAKS(PROPERTIES_HANDLE_ZERO, properties_of_handle_0)
{
    refuse_properties(f, 0);
}

TEST_NEAR_MISS(PROPERTIES_HANDLE_ZERO, properties_of_a_handle)
{
    vmm_mem_allocation_prop got;
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &got, fix_create(f, f->g)));
    CHECK_U64((uint64_t)got.location.type, VMM_MEM_LOCATION_TYPE_DEVICE);
    CHECK_U64((uint64_t)got.location.id, 0);
}

TEST_BREAKS(PROPERTIES_HANDLE_FORGED, properties_of_a_forged_handle)
{
    refuse_properties(f, forged(f));
    refuse_properties(f, 1);
}

TEST_NEAR_MISS(PROPERTIES_HANDLE_FORGED, properties_of_the_second_of_two)
{
    vmm_mem_allocation_prop got;
    fix_create(f, f->g);
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &got, fix_create(f, f->g)));
}

TEST_WARNS(PROPERTIES_HANDLE_STALE, properties_of_a_released_handle)
{
    fix_need_simulator(f, "needs a backend that answers for released handles");
    vmm_mem_generic_allocation_handle handle = stale(f);
    vmm_mem_allocation_prop got;
    memset(&got, 0x77, sizeof got);
    WARNED(vmm_mem_get_allocation_properties_from_handle(S, &got, handle), INVALID_VALUE, "handle", handle);
    if (!f->strict)
        CHECK_U64((uint64_t)got.location.type, VMM_MEM_LOCATION_TYPE_DEVICE);
}

/* A handle released while mapped can be retained: the mapping keeps the memory. */
TEST_NEAR_MISS(PROPERTIES_HANDLE_STALE, properties_of_a_live_handle)
{
    vmm_mem_allocation_prop got;
    vmm_mem_generic_allocation_handle handle = 0, again = 0;
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_NONE, &handle);
    fix_release(f, handle);
    fix_need(f, vmm_mem_retain_allocation_handle(S, &again, ptr));
    fix_note(f, FIX_HANDLE, again, f->g);
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &got, again));
}

TEST_EXPECTS("properties.round_trip", properties_of_device_and_host_memory)
{
    vmm_mem_allocation_prop got;
    for (int device = 0; device < f->devices; device++) {
        vmm_mem_allocation_prop prop = fix_prop(device);
        fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, fix_create_prop(f, f->g, &prop)));
        CHECK(memcmp(&got, &prop, sizeof got) == 0, "device %d: other properties", device);
    }
}

TEST_EXPECTS("properties.host_reads_as_numa", properties_of_host_memory)
{
    fix_need_host(f);
    vmm_mem_allocation_prop got, prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 99);
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, fix_create_prop(f, fix_host_unit(f), &prop)));
    CHECK_U64((uint64_t)got.location.type, VMM_MEM_LOCATION_TYPE_HOST_NUMA);
    CHECK_U64((uint64_t)got.location.id, 0);
}
