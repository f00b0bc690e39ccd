/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include "random.h"
#include "tap.h"

int main(void)
{
    struct pairs pairs = {NULL, 0, 0};
    tap_ok(!pairs_get(&pairs, 5) && !pairs_get(&pairs, 0), "an empty map knows no key");
    tap_ok(pairs_set(&pairs, 5, 50) && pairs_get(&pairs, 5) == 50, "a pair");
    tap_ok(pairs_set(&pairs, 5, 51) && pairs_get(&pairs, 5) == 51 && pairs.used == 1, "the later pair wins");
    tap_ok(!pairs_get(&pairs, 6) && !pairs_get(&pairs, 0), "unknown keys and key 0 are not found");
    uint64_t state = random_seed(4), wrong = 0;
    for (uint64_t i = 1; i <= 5000; i++)
        wrong += !pairs_set(&pairs, i * 16, random_next(&state) | 1);
    state = random_seed(4);
    for (uint64_t i = 1; i <= 5000; i++)
        wrong += pairs_get(&pairs, i * 16) != (random_next(&state) | 1);
    tap_u64(wrong, 0, "5000 keys that look like heap addresses");
    tap_ok(2 * pairs.used <= pairs.room, "the table is at most half full");
    pairs_clear(&pairs);
    tap_ok(!pairs_get(&pairs, 16), "cleared");
    return tap_done();
}
