/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_address_reserve. */
#include "test.h"

/* A refused reservation does not write the caller's pointer. */
#define RESERVE_REFUSED(code, argument, value, size, alignment, addr, flags)                                        \
    do {                                                                                                            \
        vmm_deviceptr ptr_ = FIX_UNTOUCHED;                                                                         \
        REFUSED(vmm_mem_address_reserve(S, &ptr_, (size), (alignment), (addr), (flags)), code, argument, value);    \
        CHECK_U64(ptr_, FIX_UNTOUCHED);                                                                             \
    } while (0)

/* Reserves, expects no report, and frees. */
static vmm_deviceptr accept(struct fix *f, uint64_t size, uint64_t alignment, vmm_deviceptr addr)
{
    vmm_deviceptr ptr = FIX_UNTOUCHED;
    ACCEPTED(vmm_mem_address_reserve(S, &ptr, size, alignment, addr, 0));
    if (ptr == FIX_UNTOUCHED)
        return 0;
    CHECK(ptr != 0 && ptr % f->unit == 0, "0x%llx is not a multiple of the unit", (unsigned long long)ptr);
    ACCEPTED(vmm_mem_address_free(S, ptr, size));
    return ptr;
}

TEST_BREAKS(RESERVE_NULL_PTR, reserve_without_place_for_the_address)
{
    REFUSED(vmm_mem_address_reserve(S, NULL, f->g, 0, 0, 0), INVALID_VALUE, "ptr", 0);
}

TEST_BREAKS(RESERVE_FLAGS, reserve_with_flags)
{
    RESERVE_REFUSED(INVALID_VALUE, "flags", 1, f->g, 0, 0, 1);
}

TEST_BREAKS(RESERVE_SIZE_ZERO, reserve_nothing)
{
    RESERVE_REFUSED(INVALID_VALUE, "size", 0, 0, 0, 0, 0);
}

TEST_NEAR_MISS(RESERVE_SIZE_ZERO, reserve_the_smallest_size)
{
    accept(f, f->unit, 0, 0);
}

TEST_BREAKS(RESERVE_SIZE_GRANULARITY, reserve_between_units)
{
    const uint64_t sizes[] = {1, f->unit - 1, f->unit + 1, f->unit + f->unit / 2, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        RESERVE_REFUSED(INVALID_VALUE, "size", sizes[i], sizes[i], 0, 0, 0);
}

TEST_NEAR_MISS(RESERVE_SIZE_GRANULARITY, reserve_three_units)
{
    accept(f, 3 * f->unit, 0, 0);
}

TEST_BREAKS(RESERVE_ALIGNMENT_POWER, reserve_with_an_odd_alignment)
{
    const uint64_t alignments[] = {3, 4097, 3 * f->unit, UINT64_MAX};
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++)
        RESERVE_REFUSED(INVALID_VALUE, "alignment", alignments[i], f->g, alignments[i], 0, 0);
}

TEST_NEAR_MISS(RESERVE_ALIGNMENT_POWER, reserve_with_a_power_of_two)
{
    const uint64_t alignments[] = {1, 2, 4096, f->unit, 2 * f->unit, 4 * f->unit};
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++)
        CHECK_U64(accept(f, f->g, alignments[i], 0) % alignments[i], 0);
}

TEST_BREAKS(RESERVE_ALIGNMENT_LIMIT, reserve_aligned_to_half_of_everything)
{
    for (unsigned bit = 58; bit < 64; bit++)
        RESERVE_REFUSED(INVALID_VALUE, "alignment", UINT64_C(1) << bit, f->g, UINT64_C(1) << bit, 0, 0);
}

/* Smaller alignments may find no address, but none is refused for its value; the first that finds one is honoured. */
TEST_NEAR_MISS(RESERVE_ALIGNMENT_LIMIT, reserve_with_the_largest_alignment_there_is)
{
    uint64_t alignment = UINT64_C(1) << 57;
    vmm_deviceptr ptr = FIX_UNTOUCHED;
    for (; alignment > f->g; alignment /= 2) {
        vmm_result result = vmm_mem_address_reserve(S, &ptr, f->g, alignment, 0, 0);
        if (result == VMM_SUCCESS)
            break;
        CHECK(result == VMM_ERROR_OUT_OF_MEMORY, "alignment 0x%llx: %s", (unsigned long long)alignment,
              vmm_result_name(result));
        CHECK_U64(ptr, FIX_UNTOUCHED);
    }
    CHECK(alignment > f->g, "no alignment above the granularity is possible");
    CHECK_U64(ptr % alignment, 0);
    if (ptr != FIX_UNTOUCHED)
        ACCEPTED(vmm_mem_address_free(S, ptr, f->g));
}

TEST_BREAKS(RESERVE_HINT_GRANULARITY, reserve_at_a_hint_between_units)
{
    vmm_deviceptr start = fix_free_range(f, 4 * f->unit);
    const vmm_deviceptr hints[] = {start + 1, start + f->unit / 2, start + f->unit + f->unit / 2};
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        RESERVE_REFUSED(INVALID_VALUE, "addr", hints[i], f->unit, 0, hints[i], 0);
}

TEST_NEAR_MISS(RESERVE_HINT_GRANULARITY, reserve_at_a_hint_of_whole_units)
{
    vmm_deviceptr start = fix_free_range(f, 4 * f->unit);
    CHECK_U64(accept(f, f->unit, 0, start + f->unit), start + f->unit);
}

TEST_BREAKS(RESERVE_HINT_ALIGNMENT, reserve_at_a_hint_against_the_alignment)
{
    vmm_deviceptr start = fix_reserve_at(f, 8 * f->unit, 4 * f->unit, 0);
    fix_address_free(f, start, 8 * f->unit);
    RESERVE_REFUSED(INVALID_VALUE, "addr", start + f->unit, f->unit, 4 * f->unit, start + f->unit, 0);
    RESERVE_REFUSED(INVALID_VALUE, "addr", start + 2 * f->unit, f->unit, 4 * f->unit, start + 2 * f->unit, 0);
}

TEST_NEAR_MISS(RESERVE_HINT_ALIGNMENT, reserve_at_a_hint_of_that_alignment)
{
    vmm_deviceptr start = fix_reserve_at(f, 8 * f->unit, 4 * f->unit, 0);
    fix_address_free(f, start, 8 * f->unit);
    CHECK_U64(accept(f, f->unit, 4 * f->unit, start + 4 * f->unit), start + 4 * f->unit);
}

TEST_BREAKS(RESERVE_HINT_LIMIT, reserve_at_a_hint_beyond_all_addresses)
{
    const vmm_deviceptr hints[] = {UINT64_C(1) << 56, UINT64_C(1) << 60};
    for (size_t i = 0; i < 2; i++)
        RESERVE_REFUSED(OUT_OF_MEMORY, "addr", hints[i], f->g, 0, hints[i], 0);
}

/* Lower values are ordinary hints: among them the highest power of two with addresses above it. */
TEST_NEAR_MISS(RESERVE_HINT_LIMIT, reserve_at_a_hint_below_the_limit)
{
    vmm_deviceptr ptr = FIX_UNTOUCHED, hint = UINT64_C(1) << 55;
    for (; hint > f->unit && ptr == FIX_UNTOUCHED; hint /= 2) {
        vmm_result result = vmm_mem_address_reserve(S, &ptr, f->g, 0, hint, 0);
        CHECK(result == VMM_SUCCESS || result == VMM_ERROR_OUT_OF_MEMORY, "hint 0x%llx: %s", (unsigned long long)hint,
              vmm_result_name(result));
    }
    CHECK(ptr != FIX_UNTOUCHED, "no hint is accepted");
    if (ptr != FIX_UNTOUCHED)
        ACCEPTED(vmm_mem_address_free(S, ptr, f->g));
}

TEST_BREAKS(RESERVE_SPACE, reserve_more_than_all_addresses)
{
    const uint64_t sizes[] = {UINT64_C(1) << 48, UINT64_C(1) << 62, UINT64_MAX - f->unit + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        RESERVE_REFUSED(OUT_OF_MEMORY, "size", sizes[i], sizes[i], 0, 0, 0);
    RESERVE_REFUSED(OUT_OF_MEMORY, "alignment", UINT64_C(1) << 57, f->g, UINT64_C(1) << 57, 0, 0);
}

/* The driver's boundary: 1 << 47 is too much, 1 << 46 is not. On smaller machines the profile sets the boundary. */
TEST_NEAR_MISS(RESERVE_SPACE, reserve_as_much_as_there_is)
{
    uint64_t size = UINT64_C(1) << 47;
    vmm_deviceptr ptr = FIX_UNTOUCHED;
    while (size > f->g && vmm_mem_address_reserve(S, &ptr, size, 0, 0, 0) == VMM_ERROR_OUT_OF_MEMORY)
        size /= 2;
    CHECK(size > f->g && ptr != FIX_UNTOUCHED, "only one granule can be reserved");
    if (ptr != FIX_UNTOUCHED)
        ACCEPTED(vmm_mem_address_free(S, ptr, size));
}

TEST_NEAR_MISS_ON(RESERVE_SPACE, reserve_every_address,
                  "va.start = 0x100000000000\nva.end = 0x100010000000\nva.chunk = 0\nva.context = 0\nva.taken = none",
                  TEST_AS_GIVEN, FIX_NO_CONTEXT)
{
    fix_need_simulator(f, "needs a machine whose address space is known");
    vmm_deviceptr ptr = fix_reserve(f, UINT64_C(0x10000000)), none = FIX_UNTOUCHED;
    REFUSED(vmm_mem_address_reserve(S, &none, f->unit, 0, 0, 0), OUT_OF_MEMORY, "size", f->unit);
    CHECK_U64(none, FIX_UNTOUCHED);
    fix_address_free(f, ptr, UINT64_C(0x10000000));
    accept(f, f->unit, 0, 0);
}

TEST_WARNS(RESERVE_HINT_NOT_TAKEN, reserve_at_a_hint_in_use)
{
    vmm_deviceptr taken = fix_reserve(f, 4 * f->g);
    const vmm_deviceptr hints[] = {taken, taken + f->g};
    for (size_t i = 0; i < 2; i++) {
        vmm_deviceptr ptr = FIX_UNTOUCHED;
        WARNED(vmm_mem_address_reserve(S, &ptr, f->g, 0, hints[i], 0), INVALID_VALUE, "addr", hints[i]);
        CHECK(ptr != FIX_UNTOUCHED, "no address was given");
        CHECK(ptr + f->g <= taken || ptr >= taken + 4 * f->g, "two reservations have the same addresses");
        if (ptr != FIX_UNTOUCHED)
            fix_note(f, FIX_RESERVATION, ptr, f->g);
    }
}

/* G.big_hint runs_into_live: the first granules are free, the others are not. */
TEST_BREAKS(RESERVE_HINT_NOT_TAKEN, reserve_at_a_hint_that_runs_into_another)
{
    vmm_deviceptr start = fix_free_range(f, 6 * f->g), live = start + 2 * f->g, ptr = FIX_UNTOUCHED;
    CHECK_U64(fix_reserve_at(f, f->g, 0, live), live);
    WARNED(vmm_mem_address_reserve(S, &ptr, 3 * f->g, 0, start, 0), INVALID_VALUE, "addr", start);
    fix_note(f, FIX_RESERVATION, ptr, 3 * f->g);
    CHECK(ptr >= live + f->g || ptr + 3 * f->g <= live, "two reservations have the same addresses");
}

TEST_NEAR_MISS(RESERVE_HINT_NOT_TAKEN, reserve_at_a_hint_just_freed)
{
    vmm_deviceptr taken = fix_reserve(f, 4 * f->g);
    fix_address_free(f, taken, 4 * f->g);
    CHECK_U64(accept(f, 4 * f->g, 0, taken), taken);
    CHECK_U64(accept(f, f->g, 0, taken + f->g), taken + f->g);
}

TEST_EXPECTS("reserve.alignment_honoured", aligned_reservations)
{
    for (uint64_t alignment = f->unit; alignment <= 64 * f->unit; alignment *= 2)
        CHECK_U64(fix_reserve_at(f, f->unit, alignment, 0) % alignment, 0);
}

TEST_EXPECTS("reserve.never_overlaps", many_reservations)
{
    vmm_deviceptr ptr[12];
    for (unsigned i = 0; i < 12; i++) {
        ptr[i] = fix_reserve(f, (1 + i % 3) * f->g);
        for (unsigned j = 0; j < i; j++)
            CHECK(ptr[i] + (1 + i % 3) * f->g <= ptr[j] || ptr[j] + (1 + j % 3) * f->g <= ptr[i],
                  "reservations %u and %u overlap", j, i);
    }
}

TEST_EXPECTS("reserve.freed_range_reused", reserve_after_free)
{
    vmm_deviceptr first = fix_free_range(f, 4 * f->g);
    CHECK_U64(fix_reserve(f, 4 * f->g), first);
}

TEST_EXPECTS("reserve.large_costs_nothing", reserve_much)
{
    uint64_t before = fix_free_memory(f);
    fix_reserve(f, 512 * f->g);
    CHECK_FREE(before, 0);
}

TEST_EXPECTS("reserve.side_by_side", adjacent_reservations)
{
    vmm_deviceptr ptr = fix_adjacent(f, 2 * f->g, 3 * f->g);
    fix_address_free(f, ptr, 2 * f->g);
    fix_address_free(f, ptr + 2 * f->g, 3 * f->g);
}

#define EIGHT_CHUNKS \
    "va.start = 0x100000000000\nva.end = 0x100010000000\nva.chunk = 32MiB\nva.context = 0\nva.taken = none"

/* As measured, on a machine of eight chunks: small ranges share a chunk, large ones start a chunk of their own, and a
 * chunk closes with its last range, so that the whole chunk can be reserved again. */
TEST_EXPECTS_ON("reserve.small_ranges_share_chunks", chunks_open_and_close, EIGHT_CHUNKS, TEST_AS_GIVEN, FIX_NO_CONTEXT)
{
    fix_need_simulator(f, "needs a machine whose address space is known");
    const uint64_t chunk = UINT64_C(32) << 20, all = 8 * chunk;
    vmm_deviceptr small = fix_reserve(f, f->g), start = small, none = FIX_UNTOUCHED;
    CHECK_U64(small % chunk, 0);
    CHECK_U64(fix_reserve(f, f->g), small + f->g);
    CHECK_U64(fix_reserve(f, chunk), start + chunk);
    CHECK_U64(fix_reserve(f, 2 * f->g), small + 2 * f->g);
    REFUSED_BY("VMM-RESERVE-SPACE", vmm_mem_address_reserve(S, &none, all, 0, 0, 0), OUT_OF_MEMORY, "size", all);
    fix_address_free(f, small + 2 * f->g, 2 * f->g);
    fix_address_free(f, start + chunk, chunk);
    fix_address_free(f, small, f->g);
    fix_address_free(f, small + f->g, f->g);
    CHECK_U64(fix_reserve(f, all), start);
    CHECK_U64(none, FIX_UNTOUCHED);
}
