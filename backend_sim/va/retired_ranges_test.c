/* SPDX-License-Identifier: Apache-2.0 */
#include "retired_ranges.h"

#include "breaks.h"

static struct retired_range grave(vmm_object_kind kind, uint64_t start, uint64_t size, uint64_t ended)
{
    struct retired_range g = {.start = start, .size = size, .ended = ended, .kind = (uint16_t)kind};
    return g;
}

/* Each invariant of a ring of three entries and of a full one, broken by hand. */
static void test_check(void)
{
    static struct retired_ranges yard;
    struct retired_range *first = &yard.grave[0], *last = &yard.grave[2];
    check_holds(retired_ranges_check(&yard), "nothing has ended");
    for (uint32_t i = 0; i < 3; i++) {
        struct retired_range g = {.start = 0x1000 * i, .size = 0x1000, .kind = VMM_OBJECT_RESERVATION, .number = 7 + i};
        retired_ranges_add(&yard, &g);
    }
    first->kind = VMM_OBJECT_MAPPING;
    first->handle = first->handle_number = 4;
    check_holds(retired_ranges_check(&yard), "three ranges");
    tap_ok(retired_ranges_aged(&yard, 0) == last && retired_ranges_aged(&yard, 2) == first && !retired_ranges_aged(&yard, 3),
           "the newest comes first, and behind the oldest there is none");
    BREAKS(yard.next, RETIRED_RANGES_SIZE, retired_ranges_check_newest(&yard), "the next entry is 256 of 256");
    BREAKS(yard.next, 2, retired_ranges_check(&yard), "entry 2 is there, the next one is 2");
    BREAKS(yard.next, 4, retired_ranges_check(&yard), "entry 3 is empty, the next one is 4");
    BREAKS(first->kind, VMM_OBJECT_NONE, retired_ranges_check(&yard), "entry 0 is empty, the next one is 3");
    BREAKS(first->kind, VMM_OBJECT_EVENT, retired_ranges_check(&yard), "entry 0: an object of kind 8 has no range");
    BREAKS(first->kind, VMM_OBJECT_ALLOCATION, retired_ranges_check(&yard), "entry 0: number 7, no mapping, was of H4");
    BREAKS(last->kind, VMM_OBJECT_EVENT, retired_ranges_check_newest(&yard), "the newest: an object of kind 8 has no range");
    BREAKS(last->number, 0, retired_ranges_check_newest(&yard), "the newest: number 0 had 0x1000 bytes at 0x2000");
    BREAKS(last->size, 0, retired_ranges_check_newest(&yard), "number 9 had 0x0 bytes at 0x2000");
    BREAKS(last->start, UINT64_MAX - 0xffe, retired_ranges_check_newest(&yard), "had 0x1000 bytes at 0xfffffffffffff001");
    BREAKS(last->start, UINT64_MAX - 0xfff, retired_ranges_check_newest(&yard) ? NULL : "it is in order", "it is in order");
    BREAKS(last->handle, 4, retired_ranges_check_newest(&yard), "number 9, no mapping, was of H0");
    BREAKS(last->handle_number, 4, retired_ranges_check_newest(&yard), "number 9, no mapping, was of H4");
    for (unsigned i = 0; i < RETIRED_RANGES_SIZE; i++)
        retired_ranges_add(&yard, &(struct retired_range){.size = 1, .kind = VMM_OBJECT_ALLOCATION, .number = i + 1});
    check_holds(retired_ranges_check(&yard), "more have ended than are kept");
    BREAKS(yard.grave[200].kind, VMM_OBJECT_NONE, retired_ranges_check(&yard), "entry 200 is empty");
}

int main(void)
{
    static struct retired_ranges yard;
    test_check();
    tap_ok(!retired_ranges_find(&yard, VMM_OBJECT_MAPPING, 0), "an empty yard knows nothing, not even address 0");
    struct retired_range g = grave(VMM_OBJECT_MAPPING, 0x1000, 0x1000, 1);
    retired_ranges_add(&yard, &g);
    tap_ok(retired_ranges_find(&yard, VMM_OBJECT_MAPPING, 0x1fff) && !retired_ranges_find(&yard, VMM_OBJECT_MAPPING, 0x2000),
           "found by any byte, not by the one past the end");
    tap_ok(!retired_ranges_find(&yard, VMM_OBJECT_RESERVATION, 0x1000), "kinds are kept apart");
    g = grave(VMM_OBJECT_MAPPING, 0x1000, 0x2000, 2);
    retired_ranges_add(&yard, &g);
    const struct retired_range *found = retired_ranges_find(&yard, VMM_OBJECT_MAPPING, 0x1000);
    tap_u64(found ? found->ended : 0, 2, "the newest wins");
    for (int i = 0; i < RETIRED_RANGES_SIZE; i++) {
        g = grave(VMM_OBJECT_RESERVATION, 0x100000 + (uint64_t)i * 0x1000, 0x1000, 3);
        retired_ranges_add(&yard, &g);
    }
    tap_ok(!retired_ranges_find(&yard, VMM_OBJECT_MAPPING, 0x1000), "the oldest are overwritten");
    tap_ok(retired_ranges_find(&yard, VMM_OBJECT_RESERVATION, 0x100000) != NULL, "the last ones are all there");
    uint64_t last = 0;
    for (uint64_t i = 1; i <= 2 * RETIRED_RANGES_SIZE + 1 && last == i - 1; i++) { /* wherever in the ring it is */
        g = grave(VMM_OBJECT_MAPPING, 0x1000, 0x1000, i);
        retired_ranges_add(&yard, &g);
        found = retired_ranges_find(&yard, VMM_OBJECT_MAPPING, 0x1000);
        last = found ? found->ended : 0;
    }
    tap_u64(last, 2 * RETIRED_RANGES_SIZE + 1, "of ever more of one range it is always the newest");
    return tap_done();
}
