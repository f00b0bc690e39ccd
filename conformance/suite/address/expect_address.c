/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: reservations and mappings. */
#include "test.h"

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static bool is_mapped(struct fix *f, vmm_deviceptr ptr)
{
    int mapped = 0;
    return vmm_pointer_get_attribute(S, &mapped, VMM_POINTER_ATTRIBUTE_MAPPED, ptr) == VMM_SUCCESS;
}

TEST_EXPECTS("reserve.default", reserve_with_defaults)
{
    for (unsigned n = 1; n < 8; n++) {
        vmm_deviceptr p = fix_reserve(f, n * f->g);
        CHECK(p != 0 && p % f->unit == 0, "0x%llx", (unsigned long long)p);
    }
}

TEST_EXPECTS("reserve.small_alignment", reserve_with_small_alignments)
{
    static const uint64_t alignments[] = {1, 2, 512, 4096};
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++)
        CHECK_U64(fix_reserve_at(f, f->g, alignments[i], 0) % f->unit, 0);
}

TEST_EXPECTS("reserve.hint_free_taken", reserve_where_asked)
{
    vmm_deviceptr p = fix_free_range(f, 8 * f->g);
    CHECK_U64(fix_reserve_at(f, 2 * f->g, 0, p + 4 * f->g), p + 4 * f->g);
    CHECK_U64(fix_reserve_at(f, f->g, 0, p), p);
    CHECK_U64(fix_reserve_at(f, 3 * f->g, 0, p + f->g), p + f->g);
}

TEST_EXPECTS("reserve.no_memory_no_access", reserved_addresses_cannot_be_used)
{
    uint64_t before = fix_free_memory(f), flags = FIX_UNTOUCHED;
    vmm_mem_location device = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    char byte = 0;
    CHECK_FREE(before, 0);
    REFUSED_BY("VMM-GETACCESS-NOT-MAPPED", vmm_mem_get_access(S, &flags, &device, p), INVALID_VALUE, "ptr", p);
    REFUSED_BY("VMM-COPY-NOT-MAPPED", vmm_memcpy_dtoh(S, &byte, p, 1), INVALID_VALUE, "srcDevice", p);
}

TEST_EXPECTS("reserve.refused_changes_nothing", refused_reservation)
{
    vmm_deviceptr free_range = fix_free_range(f, 2 * f->g), p = FIX_UNTOUCHED;
    REFUSED_BY("VMM-RESERVE-HINT-GRANULARITY", vmm_mem_address_reserve(S, &p, f->g, 0, free_range + 1, 0),
               INVALID_VALUE, "addr", free_range + 1);
    REFUSED_BY("VMM-RESERVE-SPACE", vmm_mem_address_reserve(S, &p, UINT64_C(1) << 62, 0, 0, 0), OUT_OF_MEMORY, "size",
               UINT64_C(1) << 62);
    CHECK_U64(p, FIX_UNTOUCHED);
    CHECK_U64(fix_reserve(f, 2 * f->g), free_range);
}

TEST_EXPECTS("free.address_unknown_after", freed_addresses_are_unknown)
{
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    vmm_deviceptr p = fix_free_range(f, 2 * f->g);
    REFUSED_BY("VMM-MAP-NOT-RESERVED", vmm_mem_map(S, p, f->g, 0, handle, 0), INVALID_VALUE, "ptr", p);
    REFUSED_BY("VMM-UNMAP-NOT-RESERVED", vmm_mem_unmap(S, p, f->g), INVALID_VALUE, "ptr", p);
    REFUSED_BY("VMM-FREE-NOT-RESERVED", vmm_mem_address_free(S, p, 2 * f->g), INVALID_VALUE, "ptr", p);
}

TEST_EXPECTS("free.handle_still_held", free_before_release)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle);
    fix_fill(f, p, 6, f->g);
    fix_unmap(f, p, f->g);
    ACCEPTED(vmm_mem_address_free(S, p, f->g));
    fix_forget(f, FIX_RESERVATION, p, 0);
    p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_access(f, p, f->g, RW);
    CHECK_U64(fix_peek(f, p), 6);
}

TEST_EXPECTS("free.refused_changes_nothing", refused_free)
{
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, NULL);
    REFUSED_BY("VMM-FREE-MAPPED", vmm_mem_address_free(S, p, 2 * f->g), INVALID_VALUE, "ptr", p);
    REFUSED_BY("VMM-FREE-SIZE-MATCH", vmm_mem_address_free(S, p, f->g), INVALID_VALUE, "size", f->g);
    fix_fill(f, p, 1, 2 * f->g);
    fix_unmap(f, p, 2 * f->g);
    REFUSED_BY("VMM-FREE-NOT-START", vmm_mem_address_free(S, p + f->g, f->g), INVALID_VALUE, "ptr", p + f->g);
    fix_address_free(f, p, 2 * f->g);
}

TEST_EXPECTS("map.whole", map_a_whole_memory)
{
    vmm_deviceptr p = fix_mapped(f, 3 * f->g, RW, NULL);
    for (unsigned i = 0; i < 3; i++)
        CHECK(is_mapped(f, p + i * f->g) && is_mapped(f, p + (i + 1) * f->g - 1), "granule %u is not mapped", i);
    fix_fill(f, p, 1, 3 * f->g);
    CHECK_U64(fix_peek(f, p + 3 * f->g - 1), 1);
}

TEST_EXPECTS("map.middle", map_in_the_middle)
{
    vmm_deviceptr p = fix_reserve(f, 5 * f->g);
    fix_map(f, p + 2 * f->g, f->g, fix_create(f, f->g));
    for (unsigned i = 0; i < 5; i++)
        CHECK(is_mapped(f, p + i * f->g) == (i == 2), "granule %u", i);
    CHECK(!is_mapped(f, p + 2 * f->g - 1), "the byte before is mapped");
    CHECK(!is_mapped(f, p + 3 * f->g), "the byte after is mapped");
}

TEST_EXPECTS("map.ends_at_reservation_end", map_to_the_very_end)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    ACCEPTED(vmm_mem_map(S, p + 2 * f->g, 2 * f->g, 0, fix_create(f, 2 * f->g), 0));
    fix_note(f, FIX_MAPPING, p + 2 * f->g, 2 * f->g);
    fix_access(f, p + 2 * f->g, 2 * f->g, RW);
    fix_fill(f, p + 2 * f->g, 1, 2 * f->g);
}

TEST_EXPECTS("map.aliases", many_mappings_of_one_handle)
{
    vmm_deviceptr p = fix_reserve(f, 8 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    for (unsigned i = 0; i < 8; i++)
        fix_map(f, p + i * f->g, f->g, handle);
    fix_access(f, p + 3 * f->g, f->g, RW);
    for (unsigned i = 0; i < 8; i++)
        CHECK_U64(fix_rights(f, p + i * f->g, VMM_MEM_LOCATION_TYPE_DEVICE, 0), i == 3 ? RW : NONE);
}

TEST_EXPECTS("copy.aliases_share_bytes", aliases_share_bytes)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    fix_map(f, p, 2 * f->g, handle);
    fix_map(f, p + 2 * f->g, 2 * f->g, handle);
    fix_access(f, p, 4 * f->g, RW);
    fix_fill(f, p, 1, f->g);
    fix_fill(f, p + f->g, 2, f->g);
    CHECK_U64(fix_peek(f, p + 2 * f->g), 1);
    CHECK_U64(fix_peek(f, p + 3 * f->g - 1), 1);
    CHECK_U64(fix_peek(f, p + 3 * f->g), 2);
    fix_fill(f, p + 3 * f->g + 5, 3, 1);
    CHECK_U64(fix_peek(f, p + f->g + 5), 3);
    CHECK_U64(fix_peek(f, p + f->g + 4), 2);
}

TEST_EXPECTS("map.remap", map_again_elsewhere)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle), q = fix_reserve(f, 2 * f->g);
    fix_fill(f, p, 9, f->g);
    for (int round = 0; round < 3; round++) {
        fix_unmap(f, p, f->g);
        p = q + (uint64_t)(round % 2) * f->g;
        fix_map(f, p, f->g, handle);
        CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), NONE);
        fix_access(f, p, f->g, RW);
        CHECK_U64(fix_peek(f, p + f->g / 2), 9);
    }
}

/* Other memory at the same addresses: the earlier bytes are not visible. */
TEST_EXPECTS("map.other_memory_at_the_same_place", other_memory_other_bytes)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    fix_fill(f, p, 9, f->g);
    fix_unmap(f, p, f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_access(f, p, f->g, RW);
    CHECK_U64(fix_peek(f, p), 0);
}

/* Undefined in the documentation; measured to work. */
TEST_EXPECTS("map.released_but_mapped", map_what_only_a_mapping_holds)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle), q = fix_reserve(f, f->g);
    fix_fill(f, p, 5, f->g);
    fix_release(f, handle);
    fix_map(f, q, f->g, handle);
    fix_unmap(f, p, f->g);
    fix_access(f, q, f->g, RW);
    CHECK_U64(fix_peek(f, q), 5);
}

TEST_EXPECTS("map.refused_changes_nothing", refused_map)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    fix_map(f, p + 2 * f->g, 2 * f->g, handle);
    REFUSED_BY("VMM-MAP-OVERLAP", vmm_mem_map(S, p + f->g, 2 * f->g, 0, handle, 0), INVALID_VALUE, "ptr", p + f->g);
    CHECK(!is_mapped(f, p + f->g), "the free part was mapped");
    fix_map(f, p, 2 * f->g, handle);
}

/* A mapping past the end accepts rights, holds its reservation, and keeps its addresses occupied. */
TEST_EXPECTS_ON("map.past_end_pins_reservation", map_past_the_end_of_its_reservation, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = fix_free_range(f, 8 * f->g);
    CHECK_U64(fix_reserve_at(f, 4 * f->g, 0, p), p);
    fix_map(f, p + 2 * f->g, 6 * f->g, fix_create(f, 6 * f->g));
    fix_access(f, p + 2 * f->g, 6 * f->g, RW);
    fix_fill(f, p + 7 * f->g, 3, f->g);
    CHECK_U64(fix_peek(f, p + 8 * f->g - 1), 3);
    REFUSED_BY("VMM-FREE-MAPPED", vmm_mem_address_free(S, p, 4 * f->g), INVALID_VALUE, "ptr", p);
    fix_unmap(f, p + 2 * f->g, 6 * f->g);
    fix_address_free(f, p, 4 * f->g);
    CHECK_U64(fix_reserve(f, 8 * f->g), p);
}

TEST_EXPECTS_ON("map.across_seam_works", map_over_a_seam, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = fix_adjacent(f, 2 * f->g, 2 * f->g);
    fix_map(f, p, 4 * f->g, fix_create(f, 4 * f->g));
    fix_access(f, p, 4 * f->g, RW);
    fix_fill(f, p, 8, 4 * f->g);
    CHECK_U64(fix_peek(f, p + 4 * f->g - 1), 8);
    fix_unmap(f, p, 4 * f->g);
    fix_address_free(f, p + 2 * f->g, 2 * f->g);
    fix_address_free(f, p, 2 * f->g);
}

TEST_EXPECTS("unmap.exact", unmap_exactly_what_was_mapped)
{
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, NULL);
    ACCEPTED(vmm_mem_unmap(S, p, 2 * f->g));
    fix_forget(f, FIX_MAPPING, p, 2 * f->g);
    CHECK(!is_mapped(f, p) && !is_mapped(f, p + 2 * f->g - 1), "something is left");
}

static vmm_deviceptr four_in_a_row(struct fix *f)
{
    vmm_deviceptr p = fix_reserve(f, 8 * f->g);
    for (unsigned i = 0; i < 4; i++)
        fix_map(f, p + 2 * i * f->g, 2 * f->g, fix_create(f, 2 * f->g));
    return p;
}

TEST_EXPECTS("unmap.several_whole", unmap_two_of_four)
{
    vmm_deviceptr p = four_in_a_row(f);
    ACCEPTED(vmm_mem_unmap(S, p + 2 * f->g, 4 * f->g));
    fix_forget(f, FIX_MAPPING, p + 2 * f->g, 4 * f->g);
    for (unsigned i = 0; i < 8; i++)
        CHECK(is_mapped(f, p + i * f->g) == (i < 2 || i > 5), "granule %u", i);
}

TEST_EXPECTS("unmap.one_of_several", unmap_one_of_four)
{
    vmm_deviceptr p = four_in_a_row(f);
    fix_access(f, p, 8 * f->g, RW);
    fix_fill(f, p, 4, 8 * f->g);
    ACCEPTED(vmm_mem_unmap(S, p + 2 * f->g, 2 * f->g));
    fix_forget(f, FIX_MAPPING, p + 2 * f->g, 2 * f->g);
    CHECK_U64(fix_peek(f, p + 2 * f->g - 1), 4);
    CHECK_U64(fix_peek(f, p + 4 * f->g), 4);
    CHECK(!is_mapped(f, p + 3 * f->g), "it is still there");
}

TEST_EXPECTS("unmap.alias_kept", unmap_one_alias)
{
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_map(f, p + f->g, f->g, handle);
    fix_access(f, p, 2 * f->g, RW);
    fix_fill(f, p, 6, f->g);
    fix_release(f, handle);
    fix_unmap(f, p, f->g);
    CHECK_U64(fix_peek(f, p + f->g), 6);
    CHECK_U64(fix_rights(f, p + f->g, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
}

TEST_EXPECTS("unmap.queries_after", queries_after_unmap)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), base = FIX_UNTOUCHED;
    uint64_t value = FIX_UNTOUCHED;
    fix_unmap(f, p, f->g);
    REFUSED_BY("VMM-POINTER-NOT-MAPPED", vmm_pointer_get_attribute(S, &value, VMM_POINTER_ATTRIBUTE_RANGE_SIZE, p),
               INVALID_VALUE, "ptr", p);
    REFUSED_BY("VMM-RANGE-NOT-FOUND", vmm_mem_get_address_range(S, &base, NULL, p), NOT_FOUND, "dptr", p);
    REFUSED_BY("VMM-RETAIN-NOT-MAPPED", vmm_mem_retain_allocation_handle(S, &value, p), INVALID_VALUE, "addr", p);
    CHECK_U64(value, FIX_UNTOUCHED);
    CHECK_U64(base, 0); /* as measured */
}

TEST_EXPECTS("unmap.refused_changes_nothing", refused_unmap)
{
    vmm_deviceptr p = four_in_a_row(f);
    REFUSED_BY("VMM-UNMAP-PARTIAL", vmm_mem_unmap(S, p, 7 * f->g), INVALID_VALUE, "size", 7 * f->g);
    REFUSED_BY("VMM-UNMAP-PARTIAL", vmm_mem_unmap(S, p + f->g, 7 * f->g), INVALID_VALUE, "ptr", p + f->g);
    for (unsigned i = 0; i < 8; i++)
        CHECK(is_mapped(f, p + i * f->g), "granule %u is gone", i);
    fix_unmap(f, p, 8 * f->g);
}

/* Every order of release, unmap and free that keeps unmap before free. */
TEST_EXPECTS("order.any_teardown", teardown_in_any_order)
{
    static const char *const orders[] = {"ruf", "urf", "ufr"};
    uint64_t before = fix_free_memory(f);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        vmm_mem_generic_allocation_handle handle = 0;
        vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, &handle);
        for (const char *step = orders[i]; *step; step++) {
            if (*step == 'r')
                fix_release(f, handle);
            else if (*step == 'u')
                fix_unmap(f, p, 2 * f->g);
            else
                fix_address_free(f, p, 2 * f->g);
        }
        CHECK_FREE(before, 0);
    }
}
