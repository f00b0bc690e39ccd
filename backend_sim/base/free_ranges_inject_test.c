/* SPDX-License-Identifier: Apache-2.0 */
/* free_ranges: when a memory request fails, the free ranges stay as they were. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "free_ranges.h"

#include "inject_rig.h"

#define U UINT64_C(0x1000)

enum { PIECES = 500 };

static struct free_ranges ranges;
static uint64_t granted;

/* Grants ranges with gaps between, each of which needs a node. */
static void test_grants(void)
{
    unsigned refused = 0, wrong = 0;
    free_ranges_init(&ranges, 0);
    for (uint64_t i = 0; i < PIECES; i++) {
        const uint64_t start = (2 * i + 1) * U;
        inject_arm(1);
        bool there = free_ranges_grant(&ranges, start, U);
        bool failed = inject_disarm() != NULL;
        refused += failed;
        wrong += there == failed || free_ranges_sum(&ranges, 0, UINT64_MAX) != granted + (there ? U : 0);
        wrong += !there && !free_ranges_grant(&ranges, start, U);
        granted += U;
        wrong += free_ranges_check(&ranges, i + 1) != NULL;
    }
    tap_ok(refused > 1 && !wrong, "%u of %u grants were refused, and changed nothing", refused, (unsigned)PIECES);
    free_ranges_clear(&ranges);
}

/* Takes single units out of one range, so that each leaves a piece on both sides. */
static void test_takes(void)
{
    unsigned refused = 0, wrong = 0;
    uint64_t left = 4 * PIECES * U;
    free_ranges_init(&ranges, 0);
    if (!free_ranges_grant(&ranges, U, left))
        tap_bail("no memory");
    for (uint64_t i = 0; i < PIECES; i++, left -= U) {
        const uint64_t at = (4 * i + 3) * U;
        inject_arm(1);
        bool there = free_ranges_take(&ranges, at, U);
        bool failed = inject_disarm() != NULL;
        refused += failed;
        wrong += there == failed || free_ranges_sum(&ranges, 0, UINT64_MAX) != left - (there ? U : 0);
        wrong += !there && !free_ranges_take(&ranges, at, U);
    }
    tap_ok(refused > 1 && !wrong, "%u of %u takes were refused, and changed nothing", refused, (unsigned)PIECES);
    free_ranges_clear(&ranges);
}

int main(void)
{
    test_grants();
    test_takes();
    return tap_done();
}
