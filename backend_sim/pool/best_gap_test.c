/* SPDX-License-Identifier: Apache-2.0 */
#include "best_gap.h"
#include "tap.h"

#define GAP(size) best_gap(used, sizeof used / sizeof used[0], 100, 200, size)

static void test_choice(void)
{
    struct gap_span used[] = {{150, 160}, {100, 110}, {120, 140}}; /* gaps: 110 of 10, 140 of 10, 160 of 40 */
    tap_u64(GAP(10), 110, "among equal gaps the lowest is chosen");
    tap_u64(GAP(1), 110, "a small allocation goes into a small gap");
    tap_u64(GAP(11), 160, "a larger allocation goes into the next larger gap");
    tap_u64(GAP(40), 160, "an allocation may fill the gap completely");
    tap_u64(GAP(41), 200, "none");
    tap_u64(used[0].start, 100, "the spans are sorted");
}

static void test_ends(void)
{
    struct gap_span used[] = {{130, 200}};
    tap_u64(GAP(30), 100, "the gap before the first span is found");
    tap_u64(GAP(31), 200, "there is no gap after the last span, which ends with the range");
    tap_u64(best_gap(NULL, 0, 100, 200, 100), 100, "the whole range");
    tap_u64(best_gap(NULL, 0, 100, 200, 101), 200, "the whole range is too small for more");
    tap_u64(best_gap(NULL, 0, 100, 100, 1), 100, "an empty range has no gap");
}

int main(void)
{
    test_choice();
    test_ends();
    return tap_done();
}
