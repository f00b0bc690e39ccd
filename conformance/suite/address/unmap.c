/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_unmap. */
#include "test.h"

static void accept(struct fix *f, vmm_deviceptr ptr, uint64_t size)
{
    ACCEPTED(vmm_mem_unmap(S, ptr, size));
    fix_forget(f, FIX_MAPPING, ptr, size);
}

static bool is_mapped(struct fix *f, vmm_deviceptr ptr)
{
    int mapped = 0;
    return vmm_pointer_get_attribute(S, &mapped, VMM_POINTER_ATTRIBUTE_MAPPED, ptr) == VMM_SUCCESS;
}

TEST_BREAKS(UNMAP_PTR_ZERO, unmap_address_0)
{
    fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    REFUSED(vmm_mem_unmap(S, 0, f->g), INVALID_VALUE, "ptr", 0);
}

TEST_BREAKS(UNMAP_SIZE_ZERO, unmap_nothing)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    REFUSED(vmm_mem_unmap(S, ptr, 0), INVALID_VALUE, "size", 0);
}

TEST_BREAKS(UNMAP_NOT_RESERVED, unmap_outside_of_reservations)
{
    vmm_deviceptr ptr = fix_mapped(f, 2 * f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    vmm_deviceptr freed = fix_free_range(f, 64 * f->g) + 32 * f->g, old = fix_alloc(f, f->g);
    const vmm_deviceptr at[] = {ptr + 2 * f->g, freed, old};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        REFUSED(vmm_mem_unmap(S, at[i], f->g), INVALID_VALUE, "ptr", at[i]);
}

TEST_NEAR_MISS(UNMAP_NOT_RESERVED, unmap_the_last_granule)
{
    vmm_deviceptr ptr = fix_reserve(f, 4 * f->g);
    fix_map(f, ptr + 3 * f->g, f->g, fix_create(f, f->g));
    accept(f, ptr + 3 * f->g, f->g);
}

/* [M1 M1 M1 M1|M2 M2 ....]: first, middle, last part; all of one and part of the next; a stray page. */
TEST_BREAKS(UNMAP_PARTIAL, unmap_a_part)
{
    vmm_deviceptr p = fix_reserve(f, 8 * f->g);
    uint64_t g = f->g;
    fix_map(f, p, 4 * g, fix_create(f, 4 * g));
    fix_map(f, p + 4 * g, 2 * g, fix_create(f, 2 * g));
    REFUSED_NEAR(vmm_mem_unmap(S, p, g), INVALID_VALUE, "size", g, MAPPING, p);
    REFUSED_NEAR(vmm_mem_unmap(S, p, 5 * g), INVALID_VALUE, "size", 5 * g, MAPPING, p + 4 * g);
    REFUSED_NEAR(vmm_mem_unmap(S, p + 4 * g, g), INVALID_VALUE, "size", g, MAPPING, p + 4 * g);
    REFUSED_NEAR(vmm_mem_unmap(S, p, 4 * g + 4096), INVALID_VALUE, "size", 4 * g + 4096, MAPPING, p + 4 * g);
    REFUSED_NEAR(vmm_mem_unmap(S, p, 4096), INVALID_VALUE, "size", 4096, MAPPING, p);
    REFUSED_NEAR(vmm_mem_unmap(S, p + g, 2 * g), INVALID_VALUE, "ptr", p + g, MAPPING, p);
    REFUSED_NEAR(vmm_mem_unmap(S, p + 3 * g, g), INVALID_VALUE, "ptr", p + 3 * g, MAPPING, p);
    REFUSED_NEAR(vmm_mem_unmap(S, p + 3 * g, 3 * g), INVALID_VALUE, "ptr", p + 3 * g, MAPPING, p);
}

TEST_NEAR_MISS(UNMAP_PARTIAL, unmap_one_of_two)
{
    vmm_deviceptr p = fix_reserve(f, 8 * f->g);
    fix_map(f, p, 4 * f->g, fix_create(f, 4 * f->g));
    fix_map(f, p + 4 * f->g, 2 * f->g, fix_create(f, 2 * f->g));
    accept(f, p, 4 * f->g);
    CHECK(!is_mapped(f, p + 4 * f->g - 1), "the end of the mapping is still there");
    CHECK(is_mapped(f, p + 4 * f->g), "the adjacent mapping is gone");
    accept(f, p + 4 * f->g, 2 * f->g);
}

/* The call does not round the range, which covers the whole mapping and sticks out on both sides. */
TEST_WARNS(UNMAP_UNALIGNED, unmap_an_unaligned_range)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g), from = p + f->g - f->unit / 2;
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    WARNED(vmm_mem_unmap(S, from, f->g + f->unit), INVALID_VALUE, "ptr", from);
    if (test_refuses(f, NULL))
        return;
    fix_forget(f, FIX_MAPPING, p + f->g, f->g);
    CHECK(!is_mapped(f, p + f->g), "the mapping is still there");
}

TEST_WARNS(UNMAP_UNALIGNED, unmap_an_unaligned_size)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    WARNED(vmm_mem_unmap(S, p, f->g + f->unit / 2), INVALID_VALUE, "size", f->g + f->unit / 2);
    if (!test_refuses(f, NULL))
        fix_forget(f, FIX_MAPPING, p, f->g);
}

TEST_NEAR_MISS(UNMAP_UNALIGNED, unmap_an_aligned_range)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    accept(f, p + f->g, f->g);
}

TEST_WARNS(UNMAP_NOTHING, unmap_where_nothing_is_mapped)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p + 2 * f->g, f->g, fix_create(f, f->g));
    WARNED(vmm_mem_unmap(S, p, f->g), INVALID_VALUE, "ptr", p);
    WARNED(vmm_mem_unmap(S, p, 2 * f->g), INVALID_VALUE, "ptr", p);
    CHECK(is_mapped(f, p + 2 * f->g), "a mapping outside of the range is gone");
    fix_unmap(f, p + 2 * f->g, f->g);
    WARNED(vmm_mem_unmap(S, p + 2 * f->g, f->g), INVALID_VALUE, "ptr", p + 2 * f->g);
}

/* Leading, middle and trailing. */
TEST_WARNS(UNMAP_HOLE, unmap_over_holes)
{
    static const struct {
        unsigned from, size, first, second;
    } range[] = {{0, 2, 1, 1}, {0, 3, 0, 2}, {0, 2, 0, 0}, {0, 6, 1, 4}};
    vmm_deviceptr p = fix_reserve(f, 6 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++) {
        vmm_deviceptr first = p + range[i].first * f->g, second = p + range[i].second * f->g;
        fix_map(f, first, f->g, handle);
        if (second != first)
            fix_map(f, second, f->g, handle);
        WARNED(vmm_mem_unmap(S, p + range[i].from * f->g, range[i].size * f->g), INVALID_VALUE, "ptr", p);
        CHECK(is_mapped(f, first) == test_refuses(f, NULL), "range %zu: the first mapping", i);
        CHECK(is_mapped(f, second) == test_refuses(f, NULL), "range %zu: the second mapping", i);
        if (test_refuses(f, NULL)) {
            fix_unmap(f, first, f->g);
            if (second != first)
                fix_unmap(f, second, f->g);
        }
        fix_forget(f, FIX_MAPPING, p, 6 * f->g);
    }
}

TEST_NEAR_MISS(UNMAP_HOLE, unmap_several_side_by_side)
{
    vmm_deviceptr p = fix_reserve(f, 6 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    for (unsigned i = 1; i < 5; i++)
        fix_map(f, p + i * f->g, f->g, handle);
    accept(f, p + f->g, 4 * f->g);
    for (unsigned i = 0; i < 6; i++)
        CHECK(!is_mapped(f, p + i * f->g), "granule %u is mapped", i);
}

TEST_EXPECTS("unmap.range_reserved_again", map_again_after_unmap)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, &handle);
    fix_unmap(f, p, 2 * f->g);
    vmm_deviceptr other = fix_reserve(f, 2 * f->g);
    CHECK(other != p, "reserved addresses were reserved again");
    fix_map(f, p, 2 * f->g, handle);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), VMM_MEM_ACCESS_FLAGS_PROT_NONE);
}

TEST_EXPECTS("unmap.across_reservations", unmap_over_a_seam)
{
    vmm_deviceptr p = fix_adjacent(f, 2 * f->g, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_map(f, p + f->g, f->g, handle);
    fix_map(f, p + 2 * f->g, f->g, handle);
    accept(f, p + f->g, 2 * f->g);
    CHECK(!is_mapped(f, p + f->g) && !is_mapped(f, p + 2 * f->g), "a mapping is left");
}
