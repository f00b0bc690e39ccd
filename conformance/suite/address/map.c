/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_map: arguments and state. Which part of the memory may be mapped is in map_part.c. */
#include <string.h>

#include "test.h"

/* Maps, and expects no report. */
static void accept(struct fix *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_generic_allocation_handle handle)
{
    ACCEPTED(vmm_mem_map(S, ptr, size, 0, handle, 0));
    fix_note(f, FIX_MAPPING, ptr, size);
}

TEST_BREAKS(MAP_SIZE_ZERO, map_nothing)
{
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    REFUSED(vmm_mem_map(S, ptr, 0, 0, handle, 0), INVALID_VALUE, "size", 0);
}

TEST_BREAKS(MAP_FLAGS, map_with_flags)
{
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    REFUSED(vmm_mem_map(S, ptr, f->g, 0, handle, 1), INVALID_VALUE, "flags", 1);
}

TEST_BREAKS(MAP_PTR_ZERO, map_at_address_0)
{
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_reserve(f, f->g);
    REFUSED(vmm_mem_map(S, 0, f->g, 0, handle, 0), INVALID_VALUE, "ptr", 0);
}

TEST_BREAKS(MAP_HANDLE_ZERO, map_handle_0)
{
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    fix_create(f, f->g);
    REFUSED(vmm_mem_map(S, ptr, f->g, 0, 0, 0), INVALID_VALUE, "handle", 0);
}

TEST_BREAKS(MAP_HANDLE_FORGED, map_a_forged_handle)
{
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    const uint64_t values[] = {fix_create(f, f->g) ^ UINT64_C(0x5a5a5a5a5a), 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        REFUSED(vmm_mem_map(S, ptr, f->g, 0, values[i], 0), INVALID_VALUE, "handle", values[i]);
}

TEST_NEAR_MISS(MAP_HANDLE_FORGED, map_the_second_of_two_handles)
{
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    fix_create(f, f->g);
    accept(f, ptr, f->g, fix_create(f, f->g));
}

TEST_BREAKS(MAP_HANDLE_STALE, map_a_released_handle)
{
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_release(f, handle);
    REFUSED_NEAR(vmm_mem_map(S, ptr, f->g, 0, handle, 0), INVALID_VALUE, "handle", handle, HANDLE, 0);
    fix_create(f, f->g); /* a later handle does not revive the old value */
    REFUSED(vmm_mem_map(S, ptr, f->g, 0, handle, 0), INVALID_VALUE, "handle", handle);
}

/* However many handles are created and released meanwhile. */
TEST_BREAKS(MAP_HANDLE_STALE, map_a_handle_of_long_ago)
{
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    vmm_mem_generic_allocation_handle old = fix_create(f, f->g);
    fix_release(f, old);
    for (unsigned i = 0; i < 2000; i++) {
        vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
        CHECK(handle != old, "a handle value is reused");
        vmm_result result = vmm_mem_map(S, ptr, f->g, 0, old, 0);
        const char *rule = vmm_last_detail()->rule;
        if (result != VMM_ERROR_INVALID_VALUE || !rule || strcmp(rule, f->rule) != 0) {
            fix_failed(f, __FILE__, __LINE__, "after %u others: %s %s", i, vmm_result_name(result), rule ? rule : "");
            return;
        }
        fix_release(f, handle);
    }
}

/* Retained before its last release, the handle works as before. */
TEST_NEAR_MISS(MAP_HANDLE_STALE, map_a_retained_handle)
{
    vmm_mem_generic_allocation_handle handle = 0, again = 0;
    vmm_deviceptr first = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_NONE, &handle);
    vmm_deviceptr second = fix_reserve(f, f->g);
    fix_release(f, handle);
    fix_need(f, vmm_mem_retain_allocation_handle(S, &again, first));
    fix_note(f, FIX_HANDLE, again, f->g);
    fix_unmap(f, first, f->g);
    accept(f, second, f->g, again);
}

TEST_BREAKS(MAP_PTR_GRANULARITY, map_between_granules)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    const vmm_deviceptr at[] = {ptr + 1, ptr + f->minimum / 2, ptr + f->g + 4096 % f->minimum, ptr + f->minimum - 1};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        if (at[i] % f->minimum)
            REFUSED(vmm_mem_map(S, at[i], f->g, 0, handle, 0), INVALID_VALUE, "ptr", at[i]);
}

TEST_NEAR_MISS(MAP_PTR_GRANULARITY, map_at_a_granule)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    accept(f, ptr + f->g, f->g, fix_create(f, f->g));
}

TEST_BREAKS(MAP_NOT_RESERVED, map_outside_of_reservations)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g), freed = fix_free_range(f, 64 * f->g) + 32 * f->g;
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    REFUSED(vmm_mem_map(S, ptr + 4 * f->g, f->g, 0, handle, 0), INVALID_VALUE, "ptr", ptr + 4 * f->g);
    REFUSED(vmm_mem_map(S, freed, f->g, 0, handle, 0), INVALID_VALUE, "ptr", freed);
    vmm_deviceptr old = fix_alloc(f, f->g);
    if (old % f->minimum == 0)
        REFUSED(vmm_mem_map(S, old, f->g, 0, handle, 0), INVALID_VALUE, "ptr", old);
}

/* After the free no reservation holds the addresses, and the detail names the one that did. */
TEST_BREAKS(MAP_NOT_RESERVED, map_after_free)
{
    vmm_deviceptr ptr = fix_free_range(f, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    REFUSED(vmm_mem_map(S, ptr, 2 * f->g, 0, handle, 0), INVALID_VALUE, "ptr", ptr);
    if (f->simulator && vmm_mem_map(S, ptr, 2 * f->g, 0, handle, 0) != VMM_SUCCESS) {
        const vmm_object *nearest = &vmm_last_detail()->nearest;
        CHECK(nearest->kind == VMM_OBJECT_RESERVATION && nearest->start == ptr && nearest->ended > 0,
              "the detail does not show the freed reservation");
    }
}

TEST_NEAR_MISS(MAP_NOT_RESERVED, map_at_the_first_and_last_granule)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    accept(f, ptr, f->g, handle);
    accept(f, ptr + 3 * f->g, f->g, handle);
}

TEST_BREAKS(MAP_OVERLAP, map_over_a_mapping)
{
    vmm_deviceptr ptr = fix_reserve(f, 8 * f->g);
    vmm_mem_generic_allocation_handle two = fix_create(f, 2 * f->g), one = fix_create(f, f->g);
    fix_map(f, ptr + 2 * f->g, 2 * f->g, two);
    REFUSED_NEAR(vmm_mem_map(S, ptr + 2 * f->g, 2 * f->g, 0, two, 0), INVALID_VALUE, "ptr", ptr + 2 * f->g, MAPPING,
                 ptr + 2 * f->g);
    REFUSED_NEAR(vmm_mem_map(S, ptr + f->g, 2 * f->g, 0, two, 0), INVALID_VALUE, "ptr", ptr + f->g, MAPPING,
                 ptr + 2 * f->g);
    REFUSED_NEAR(vmm_mem_map(S, ptr + 3 * f->g, 2 * f->g, 0, two, 0), INVALID_VALUE, "ptr", ptr + 3 * f->g, MAPPING,
                 ptr + 2 * f->g);
    REFUSED_NEAR(vmm_mem_map(S, ptr + 3 * f->g, f->g, 0, one, 0), INVALID_VALUE, "ptr", ptr + 3 * f->g, MAPPING,
                 ptr + 2 * f->g);
}

/* [reservation of a granule][memory of cuMemAlloc], and a mapping of two granules. */
TEST_BREAKS(MAP_OVERLAP, map_over_an_allocation)
{
    fix_need_simulator(f, "where memory of cuMemAlloc lies beside reservations is the driver's choice");
    vmm_deviceptr ptr = fix_reserve(f, f->g), allocation = 0;
    vmm_mem_generic_allocation_handle two = fix_create(f, 2 * f->g);
    fix_need(f, vmm_mem_alloc(S, &allocation, 4 * f->g));
    bool beside = allocation == ptr + f->g;
    if (beside)
        REFUSED_NEAR(vmm_mem_map(S, ptr, 2 * f->g, 0, two, 0), INVALID_VALUE, "ptr", ptr, ALLOCATION, allocation);
    fix_need(f, vmm_mem_free(S, allocation));
    if (!beside)
        fix_skip(f, "needs a machine that allocates right behind a reservation");
}

TEST_NEAR_MISS(MAP_OVERLAP, map_beside_a_mapping)
{
    vmm_deviceptr ptr = fix_reserve(f, 8 * f->g);
    vmm_mem_generic_allocation_handle two = fix_create(f, 2 * f->g);
    fix_map(f, ptr + 2 * f->g, 2 * f->g, two);
    accept(f, ptr, 2 * f->g, two);
    accept(f, ptr + 4 * f->g, 2 * f->g, two);
}

/* On a machine whose last address is known: two granules of memory do not fit at the last granule. */
#define SMALL_SPACE \
    "va.start = 0x100000000000\nva.end = 0x100010000000\nva.chunk = 0\nva.context = 0\nva.taken = none"
#define SMALL_SPACE_SIZE UINT64_C(0x10000000)

TEST_BREAKS_ON(MAP_SPACE_END, map_past_the_last_address, SMALL_SPACE, TEST_BOTH_MODES, FIX_NO_CONTEXT)
{
    fix_need_simulator(f, "needs a machine whose last address is known");
    vmm_deviceptr last = fix_reserve(f, SMALL_SPACE_SIZE) + SMALL_SPACE_SIZE - f->g;
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    REFUSED(vmm_mem_map(S, last, 2 * f->g, 0, handle, 0), INVALID_VALUE, "size", 2 * f->g);
}

TEST_NEAR_MISS_ON(MAP_SPACE_END, map_up_to_the_last_address, SMALL_SPACE, TEST_AS_GIVEN, FIX_NO_CONTEXT)
{
    fix_need_simulator(f, "needs a machine whose last address is known");
    vmm_deviceptr last = fix_reserve(f, SMALL_SPACE_SIZE) + SMALL_SPACE_SIZE - f->g;
    accept(f, last, f->g, fix_create(f, f->g));
}

TEST_WARNS(MAP_PAST_RESERVATION, map_past_the_end)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    WARNED(vmm_mem_map(S, ptr + 3 * f->g, 2 * f->g, 0, handle, 0), INVALID_VALUE, "size", 2 * f->g);
    if (test_refuses(f, NULL))
        return;
    fix_note(f, FIX_MAPPING, ptr + 3 * f->g, 2 * f->g);
    fix_access(f, ptr + 3 * f->g, 2 * f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    fix_fill(f, ptr + 3 * f->g, 9, 2 * f->g);
    CHECK_U64(fix_peek(f, ptr + 5 * f->g - 1), 9);
    REFUSED_BY("VMM-FREE-MAPPED", vmm_mem_address_free(S, ptr, 4 * f->g), INVALID_VALUE, "ptr", ptr);
    REFUSED_BY("VMM-MAP-OVERLAP", vmm_mem_map(S, ptr + 2 * f->g, 2 * f->g, 0, handle, 0), INVALID_VALUE, "ptr",
               ptr + 2 * f->g);
}

TEST_NEAR_MISS(MAP_PAST_RESERVATION, map_up_to_the_end)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    accept(f, ptr + 2 * f->g, 2 * f->g, fix_create(f, 2 * f->g));
}

TEST_WARNS(MAP_CROSSES_RESERVATIONS, map_across_two_reservations)
{
    vmm_deviceptr ptr = fix_adjacent(f, 2 * f->g, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    WARNED(vmm_mem_map(S, ptr + f->g, 2 * f->g, 0, handle, 0), INVALID_VALUE, "size", 2 * f->g);
    if (test_refuses(f, NULL))
        return;
    fix_note(f, FIX_MAPPING, ptr + f->g, 2 * f->g);
    fix_access(f, ptr + f->g, 2 * f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    fix_fill(f, ptr + f->g, 4, 2 * f->g);
    CHECK_U64(fix_peek(f, ptr + 2 * f->g), 4);
    REFUSED_BY("VMM-FREE-MAPPED", vmm_mem_address_free(S, ptr, 2 * f->g), INVALID_VALUE, "ptr", ptr);
    fix_unmap(f, ptr + f->g, 2 * f->g);
}

TEST_NEAR_MISS(MAP_CROSSES_RESERVATIONS, map_up_to_the_seam)
{
    vmm_deviceptr ptr = fix_adjacent(f, 2 * f->g, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    accept(f, ptr + f->g, f->g, handle);
    accept(f, ptr + 2 * f->g, f->g, handle);
}
