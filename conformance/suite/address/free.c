/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_address_free. */
#include "test.h"

static void accept(struct fix *f, vmm_deviceptr ptr, uint64_t size)
{
    ACCEPTED(vmm_mem_address_free(S, ptr, size));
    fix_forget(f, FIX_RESERVATION, ptr, 0);
}

TEST_BREAKS(FREE_PTR_ZERO, free_address_0)
{
    fix_reserve(f, f->g);
    REFUSED(vmm_mem_address_free(S, 0, f->g), INVALID_VALUE, "ptr", 0);
    REFUSED(vmm_mem_address_free(S, 0, 0), INVALID_VALUE, "ptr", 0);
}

TEST_BREAKS(FREE_SIZE_ZERO, free_nothing)
{
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    REFUSED(vmm_mem_address_free(S, ptr, 0), INVALID_VALUE, "size", 0);
}

TEST_NEAR_MISS(FREE_SIZE_ZERO, free_the_smallest_reservation)
{
    accept(f, fix_reserve(f, f->unit), f->unit);
}

TEST_BREAKS(FREE_NOT_RESERVED, free_twice)
{
    vmm_deviceptr keep = fix_reserve(f, f->g), ptr = fix_free_range(f, 2 * f->g);
    REFUSED(vmm_mem_address_free(S, ptr, 2 * f->g), INVALID_VALUE, "ptr", ptr);
    CHECK(keep != ptr, "two reservations have the same addresses");
}

TEST_BREAKS(FREE_NOT_RESERVED, free_what_cumemalloc_gave)
{
    vmm_deviceptr ptr = fix_alloc(f, f->g);
    REFUSED(vmm_mem_address_free(S, ptr, f->g), INVALID_VALUE, "ptr", ptr);
}

TEST_BREAKS(FREE_NOT_RESERVED, free_host_memory)
{
    char byte = 0;
    REFUSED(vmm_mem_address_free(S, (uintptr_t)&byte, f->g), INVALID_VALUE, "ptr", (uintptr_t)&byte);
}

TEST_NEAR_MISS(FREE_NOT_RESERVED, free_once)
{
    fix_reserve(f, f->g);
    accept(f, fix_reserve(f, 2 * f->g), 2 * f->g);
}

TEST_BREAKS(FREE_NOT_START, free_from_the_middle)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    const vmm_deviceptr inside[] = {ptr + f->g, ptr + 3 * f->g, ptr + 1};
    for (size_t i = 0; i < 3; i++)
        REFUSED_NEAR(vmm_mem_address_free(S, inside[i], f->g), INVALID_VALUE, "ptr", inside[i], RESERVATION, ptr);
    REFUSED_NEAR(vmm_mem_address_free(S, ptr + f->g, 3 * f->g), INVALID_VALUE, "ptr", ptr + f->g, RESERVATION, ptr);
}

TEST_BREAKS(FREE_SIZE_MATCH, free_another_size)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    const uint64_t sizes[] = {2 * f->g, 4 * f->g - 1, 8 * f->g, 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        REFUSED_NEAR(vmm_mem_address_free(S, ptr, sizes[i]), INVALID_VALUE, "size", sizes[i], RESERVATION, ptr);
}

/* Two adjacent reservations stay two, also for one call that covers both. */
TEST_BREAKS(FREE_SIZE_MATCH, free_two_at_once)
{
    vmm_deviceptr ptr = fix_adjacent(f, 2 * f->g, 2 * f->g);
    REFUSED_NEAR(vmm_mem_address_free(S, ptr, 4 * f->g), INVALID_VALUE, "size", 4 * f->g, RESERVATION, ptr);
}

TEST_NEAR_MISS(FREE_SIZE_MATCH, free_two_one_by_one)
{
    vmm_deviceptr ptr = fix_adjacent(f, 2 * f->g, 2 * f->g);
    accept(f, ptr, 2 * f->g);
    accept(f, ptr + 2 * f->g, 2 * f->g);
}

TEST_BREAKS(FREE_MAPPED, free_while_mapped)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    for (uint64_t at = 0; at < 4; at += 3) {
        fix_map(f, ptr + at * f->g, f->g, handle);
        REFUSED_NEAR(vmm_mem_address_free(S, ptr, 4 * f->g), INVALID_VALUE, "ptr", ptr, MAPPING, ptr + at * f->g);
        fix_unmap(f, ptr + at * f->g, f->g);
    }
}

/* A mapping in the adjacent reservation does not matter. */
TEST_NEAR_MISS(FREE_MAPPED, free_beside_a_mapping)
{
    vmm_deviceptr ptr = fix_adjacent(f, f->g, f->g);
    fix_map(f, ptr + f->g, f->g, fix_create(f, f->g));
    accept(f, ptr, f->g);
}
