/* SPDX-License-Identifier: Apache-2.0 */
#include "retired_ranges.h"

#include "tap.h"

static struct retired_range retired(vmm_object_kind kind, uint64_t start, uint64_t size, uint64_t ended)
{
    struct retired_range g = {.start = start, .size = size, .ended = ended, .kind = (uint16_t)kind};
    return g;
}

int main(void)
{
    static struct retired_ranges ring;
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
