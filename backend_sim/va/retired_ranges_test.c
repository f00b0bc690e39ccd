/* SPDX-License-Identifier: Apache-2.0 */
#include "retired_ranges.h"

#include "breaks.h"

static struct retired_range retired(vmm_object_kind kind, uint64_t start, uint64_t size, uint64_t ended)
{
    struct retired_range g = {.start = start, .size = size, .ended = ended, .kind = (uint16_t)kind};
    return g;
}

/* Each invariant of a ring of three entries and of a full one, broken by hand. */
static void test_check(void)
{
    static struct retired_ranges ring;
    struct retired_range *first = &ring.range[0], *last = &ring.range[2];
    check_holds(retired_ranges_check(&ring), "nothing has ended");
    for (uint32_t i = 0; i < 3; i++) {
        struct retired_range g = {.start = 0x1000 * i, .size = 0x1000, .kind = VMM_OBJECT_RESERVATION, .number = 7 + i};
        retired_ranges_add(&ring, &g);
    }
    first->kind = VMM_OBJECT_MAPPING;
    first->handle = first->handle_number = 4;
    check_holds(retired_ranges_check(&ring), "three ranges");
    tap_ok(retired_ranges_aged(&ring, 0) == last && retired_ranges_aged(&ring, 2) == first && !retired_ranges_aged(&ring, 3),
           "the newest comes first, and there is none after the oldest");
    BREAKS(ring.next, RETIRED_RANGES_SIZE, retired_ranges_check_newest(&ring), "the next entry is 256 of 256");
    BREAKS(ring.next, 2, retired_ranges_check(&ring), "entry 2 is there, the next one is 2");
    BREAKS(ring.next, 4, retired_ranges_check(&ring), "entry 3 is empty, the next one is 4");
    BREAKS(first->kind, VMM_OBJECT_NONE, retired_ranges_check(&ring), "entry 0 is empty, the next one is 3");
    BREAKS(first->kind, VMM_OBJECT_EVENT, retired_ranges_check(&ring), "entry 0: an object of kind 8 has no range");
    BREAKS(first->kind, VMM_OBJECT_ALLOCATION, retired_ranges_check(&ring), "entry 0: number 7, no mapping, was of H4");
    BREAKS(last->kind, VMM_OBJECT_EVENT, retired_ranges_check_newest(&ring), "the newest: an object of kind 8 has no range");
    BREAKS_TO(last->number, 0, retired_ranges_check_newest(&ring), "the newest: number 0 had 0x1000 bytes at 0x2000");
    BREAKS_TO(last->size, 0, retired_ranges_check_newest(&ring), "number 9 had 0x0 bytes at 0x2000");
    BREAKS_TO(last->start, UINT64_MAX - 0xffe, retired_ranges_check_newest(&ring), "had 0x1000 bytes at 0xfffffffffffff001");
    BREAKS(last->start, UINT64_MAX - 0xfff, retired_ranges_check_newest(&ring) ? NULL : "it is in order", "it is in order");
    BREAKS(last->handle, 4, retired_ranges_check_newest(&ring), "number 9, no mapping, was of H0");
    BREAKS(last->handle_number, 4, retired_ranges_check_newest(&ring), "number 9, no mapping, was of H4");
    for (unsigned i = 0; i < RETIRED_RANGES_SIZE; i++)
        retired_ranges_add(&ring, &(struct retired_range){.size = 1, .kind = VMM_OBJECT_ALLOCATION, .number = i + 1});
    check_holds(retired_ranges_check(&ring), "more have ended than are kept");
    BREAKS(ring.range[200].kind, VMM_OBJECT_NONE, retired_ranges_check(&ring), "entry 200 is empty");
}

int main(void)
{
    static struct retired_ranges ring;
    test_check();
    tap_ok(!retired_ranges_find(&ring, VMM_OBJECT_MAPPING, 0), "an empty ring finds nothing, not even at address 0");
    struct retired_range g = retired(VMM_OBJECT_MAPPING, 0x1000, 0x1000, 1);
    retired_ranges_add(&ring, &g);
    tap_ok(retired_ranges_find(&ring, VMM_OBJECT_MAPPING, 0x1fff) && !retired_ranges_find(&ring, VMM_OBJECT_MAPPING, 0x2000),
           "a range is found by any of its bytes, not by the one past its end");
    tap_ok(!retired_ranges_find(&ring, VMM_OBJECT_RESERVATION, 0x1000), "a range of another kind is not found");
    g = retired(VMM_OBJECT_MAPPING, 0x1000, 0x2000, 2);
    retired_ranges_add(&ring, &g);
    const struct retired_range *found = retired_ranges_find(&ring, VMM_OBJECT_MAPPING, 0x1000);
    tap_u64(found ? found->ended : 0, 2, "the newest of two ranges is found");
    for (int i = 0; i < RETIRED_RANGES_SIZE; i++) {
        g = retired(VMM_OBJECT_RESERVATION, 0x100000 + (uint64_t)i * 0x1000, 0x1000, 3);
        retired_ranges_add(&ring, &g);
    }
    tap_ok(!retired_ranges_find(&ring, VMM_OBJECT_MAPPING, 0x1000), "the oldest ranges are overwritten");
    tap_ok(retired_ranges_find(&ring, VMM_OBJECT_RESERVATION, 0x100000) != NULL, "the latest 256 ranges are all found");
    uint64_t last = 0;
    for (uint64_t i = 1; i <= 2 * RETIRED_RANGES_SIZE + 1 && last == i - 1; i++) { /* at every position of the ring */
        g = retired(VMM_OBJECT_MAPPING, 0x1000, 0x1000, i);
        retired_ranges_add(&ring, &g);
        found = retired_ranges_find(&ring, VMM_OBJECT_MAPPING, 0x1000);
        last = found ? found->ended : 0;
    }
    tap_u64(last, 2 * RETIRED_RANGES_SIZE + 1, "the newest is found wherever it lies in the ring");
    return tap_done();
}
