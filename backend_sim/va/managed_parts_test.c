/* SPDX-License-Identifier: Apache-2.0 */
/* managed_parts: advice for parts of managed memory, and the pages that a driver skips. */
#include "managed_parts.h"

#include "tap.h"

#define PAGES(n) ((uint64_t)(n) * MANAGED_PAGE)

static void fetch(struct managed_hint *hint, const void *device)
{
    hint->prefetched = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, *(const int *)device};
}

static void mark(struct managed_hint *hint, const void *on)
{
    hint->read_mostly = *(const bool *)on;
}

static void prefetch(struct managed_parts *parts, unsigned from, unsigned to, int device)
{
    tap_ok(managed_parts_say(parts, PAGES(from), PAGES(to), fetch, &device), "pages %u to %u are prefetched to device %d", from, to, device);
}

static void read_mostly(struct managed_parts *parts, unsigned from, unsigned to, bool on)
{
    tap_ok(managed_parts_say(parts, PAGES(from), PAGES(to), mark, &on), "pages %u to %u are read mostly: %d", from, to, on);
}

/* The device to which a page was prefetched (-1: none), and the page where a reader continues. */
static void holds(const struct managed_parts *parts, unsigned page, int device, uint64_t next)
{
    uint64_t at = PAGES(page);
    const struct managed_hint *hint = managed_parts_read(parts, &at);
    const bool fetched = hint && hint->prefetched.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    tap_u64((uint64_t)(fetched ? hint->prefetched.id : -1), (uint64_t)device, "the device of page %u", page);
    tap_u64(at == UINT64_MAX ? 0 : at / MANAGED_PAGE, next, "what is read after page %u", page);
}

static void nothing_was_said(void)
{
    struct managed_parts parts = {0};
    uint64_t at = 0;
    tap_ok(!managed_parts_read(&parts, &at), "nothing holds of memory of which nothing was said");
    read_mostly(&parts, 1, 3, false);
    tap_u64(parts.count, 1, "advice that is taken back before it was given leaves one part");
    holds(&parts, 0, -1, 0);
    managed_parts_clear(&parts);
}

static void a_reader_steps_by_lengths(void)
{
    struct managed_parts parts = {0};
    prefetch(&parts, 0, 4, 0);
    prefetch(&parts, 4, 5, 1);
    prefetch(&parts, 5, 8, 0);
    holds(&parts, 0, 0, 4);
    holds(&parts, 2, 0, 6);
    holds(&parts, 4, 1, 5);
    holds(&parts, 6, 0, 9);
    holds(&parts, 9, -1, 0);
    managed_parts_clear(&parts);
}

/* [ 0 ][ . . ][ 2 read mostly ]: the pages between become one part with page 0, whose length ends behind page 3. */
static void a_change_passes_over_pages(void)
{
    struct managed_parts parts = {0};
    prefetch(&parts, 0, 1, 1);
    read_mostly(&parts, 3, 4, true);
    prefetch(&parts, 0, 4, 0);
    holds(&parts, 0, 0, 3);
    holds(&parts, 3, -1, 4);
    prefetch(&parts, 3, 4, 0);
    holds(&parts, 3, 0, 4);
    tap_u64(parts.count, 3, "prefetched and read-mostly parts stay separate");
    read_mostly(&parts, 3, 4, false);
    holds(&parts, 0, 0, 4);
    managed_parts_clear(&parts);
}

/* A part that a change enters in the middle changes completely, and is merged with the next one. */
static void a_part_joins_both_neighbours(void)
{
    struct managed_parts parts = {0};
    prefetch(&parts, 0, 2, 0);
    prefetch(&parts, 3, 5, 0);
    holds(&parts, 2, -1, 3);
    prefetch(&parts, 2, 3, 0);
    holds(&parts, 0, 0, 5);
    tap_u64(parts.count, 2, "three parts are one");
    prefetch(&parts, 0, 1, 1);
    prefetch(&parts, 0, 3, 0); /* which has split the part of pages 1 to 4 */
    tap_u64(parts.count, 2, "and so they are when the change ends within one of them");
    managed_parts_clear(&parts);
}

/* For parts that lose all advice, the length counts during the change, as measured for others. */
static void what_is_taken_back(void)
{
    struct managed_parts parts = {0};
    struct managed_hint *hint;
    read_mostly(&parts, 0, 4, true);
    read_mostly(&parts, 1, 2, false);
    read_mostly(&parts, 6, 8, true);
    uint64_t at = 0;
    hint = (struct managed_hint *)(uintptr_t)managed_parts_read(&parts, &at);
    tap_ok(hint->read_mostly && at == PAGES(1), "page 0 alone is still read mostly");
    read_mostly(&parts, 0, 8, false);
    tap_u64(parts.count, 1, "nothing holds any more, and all is one part");
    managed_parts_clear(&parts);
}

int main(void)
{
    nothing_was_said();
    a_reader_steps_by_lengths();
    a_change_passes_over_pages();
    a_part_joins_both_neighbours();
    what_is_taken_back();
    return tap_done();
}
