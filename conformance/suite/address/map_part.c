/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_map: which part of the memory. The recorded driver maps whole allocations only; the documentation describes
 * parts, so the tests cover both kinds of machine. */
#include "test.h"

#define WHOLE "map.partial = no"
#define PARTS "map.partial = yes"

TEST_BREAKS_ON(MAP_OFFSET, map_from_an_offset, WHOLE, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, false);
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    const uint64_t offsets[] = {f->g, 2 * f->g, 4096, 1, UINT64_MAX - f->g + 1};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
        REFUSED_NEAR(vmm_mem_map(S, ptr, f->g, offsets[i], handle, 0), NOT_SUPPORTED, "offset", offsets[i], HANDLE, 0);
}

TEST_BREAKS_ON(MAP_SIZE_WHOLE, map_another_size, WHOLE, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, false);
    vmm_deviceptr ptr = fix_reserve(f, 8 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    const uint64_t sizes[] = {f->g, 4 * f->g, 4096, 2 * f->g + 4096, UINT64_MAX - f->g + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        REFUSED_NEAR(vmm_mem_map(S, ptr, sizes[i], 0, handle, 0), NOT_SUPPORTED, "size", sizes[i], HANDLE, 0);
}

TEST_BREAKS_ON(MAP_OFFSET_GRANULARITY, map_from_between_granules, PARTS, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, true);
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 4 * f->g);
    const uint64_t offsets[] = {1, f->minimum / 2, f->minimum + 1};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
        REFUSED(vmm_mem_map(S, ptr, f->g, offsets[i], handle, 0), INVALID_VALUE, "offset", offsets[i]);
}

TEST_NEAR_MISS_ON(MAP_OFFSET_GRANULARITY, map_from_a_granule, PARTS, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, true);
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    ACCEPTED(vmm_mem_map(S, ptr, f->g, f->minimum, fix_create(f, 4 * f->g), 0));
    fix_note(f, FIX_MAPPING, ptr, f->g);
}

TEST_BREAKS_ON(MAP_SIZE_GRANULARITY, map_a_part_of_a_granule, PARTS, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, true);
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 4 * f->g);
    const uint64_t sizes[] = {1, f->minimum / 2, f->minimum + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        REFUSED(vmm_mem_map(S, ptr, sizes[i], 0, handle, 0), INVALID_VALUE, "size", sizes[i]);
}

TEST_NEAR_MISS_ON(MAP_SIZE_GRANULARITY, map_a_granule_of_several, PARTS, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, true);
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    ACCEPTED(vmm_mem_map(S, ptr, f->minimum, 0, fix_create(f, 4 * f->g), 0));
    fix_note(f, FIX_MAPPING, ptr, f->minimum);
}

TEST_BREAKS_ON(MAP_OFFSET_RANGE, map_past_the_end_of_memory, PARTS, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, true);
    vmm_deviceptr ptr = fix_reserve(f, 8 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 4 * f->g);
    const struct {
        uint64_t size, offset;
    } part[] = {{2 * f->g, 3 * f->g}, {f->g, 4 * f->g}, {8 * f->g, 0}, {f->g, UINT64_MAX - f->g + 1},
                {UINT64_MAX - f->g + 1, f->g}};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        REFUSED_NEAR(vmm_mem_map(S, ptr, part[i].size, part[i].offset, handle, 0), INVALID_VALUE, "size",
                     part[i].size, HANDLE, 0);
}

TEST_NEAR_MISS_ON(MAP_OFFSET_RANGE, map_up_to_the_end_of_memory, PARTS, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, true);
    vmm_deviceptr ptr = fix_reserve(f, 8 * f->g);
    ACCEPTED(vmm_mem_map(S, ptr, 2 * f->g, 2 * f->g, fix_create(f, 4 * f->g), 0));
    fix_note(f, FIX_MAPPING, ptr, 2 * f->g);
}

/* Two parts of one allocation, mapped in reverse order, and the whole beside them. */
TEST_EXPECTS_ON("map.partial_where_allowed", parts_in_another_order, PARTS, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, true);
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    fix_need(f, vmm_mem_map(S, ptr, f->g, f->g, handle, 0));
    fix_note(f, FIX_MAPPING, ptr, f->g);
    fix_need(f, vmm_mem_map(S, ptr + f->g, f->g, 0, handle, 0));
    fix_note(f, FIX_MAPPING, ptr + f->g, f->g);
    fix_map(f, ptr + 2 * f->g, 2 * f->g, handle);
    fix_access(f, ptr, 4 * f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    fix_fill(f, ptr, 1, f->g);
    fix_fill(f, ptr + f->g, 2, f->g);
    CHECK_U64(fix_peek(f, ptr + 2 * f->g), 2);
    CHECK_U64(fix_peek(f, ptr + 3 * f->g - 1), 2);
    CHECK_U64(fix_peek(f, ptr + 3 * f->g), 1);
    CHECK_U64(fix_peek(f, ptr + 4 * f->g - 1), 1);
}

/* A mapping of any part keeps the whole memory. */
TEST_EXPECTS_ON("map.part_pins_whole_memory", parts_hold_memory, PARTS, TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, true);
    uint64_t before = fix_free_memory(f);
    vmm_deviceptr ptr = fix_reserve(f, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 4 * f->g);
    fix_need(f, vmm_mem_map(S, ptr, f->g, 3 * f->g, handle, 0));
    fix_note(f, FIX_MAPPING, ptr, f->g);
    fix_release(f, handle);
    CHECK_FREE(before, 4 * f->g);
    fix_unmap(f, ptr, f->g);
    CHECK_FREE(before, 0);
}
