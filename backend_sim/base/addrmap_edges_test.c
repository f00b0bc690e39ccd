/* SPDX-License-Identifier: Apache-2.0 */
/* Edge cases of addrmap: a map of one level, the last addresses, and failed allocations of levels and nodes. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "addrmap.h"
#include "tap.h"

enum { SHIFT = 12 };
#define PAGE (UINT64_C(1) << SHIFT)

static int things[2];

static void one_level(void)
{
    struct addrmap map;
    addrmap_init(&map, SHIFT);
    tap_ok(addrmap_insert(&map, 63 * PAGE, things) && map.levels == 1, "insertion in the last slot of a single level");
    tap_ok(!addrmap_ceil(&map, 63 * PAGE + 5) && addrmap_ceil(&map, 62 * PAGE + 5) == things,
           "no thing starts after the last slot");
    tap_ok(addrmap_remove(&map, 63 * PAGE) == things && !map.count && !addrmap_floor(&map, UINT64_MAX),
           "removal leaves the map empty");
    tap_ok(addrmap_insert(&map, PAGE, things) && addrmap_ceil(&map, 0) == things && map.count == 1,
           "another thing goes into the emptied map");
    addrmap_clear(&map);
}

static void last_addresses(void)
{
    struct addrmap map;
    uint64_t last = UINT64_MAX - (PAGE - 1);
    addrmap_init(&map, SHIFT);
    tap_ok(addrmap_insert(&map, last, things), "insertion at the last page of the address space");
    tap_ok(!addrmap_ceil(&map, UINT64_MAX - 5) && addrmap_ceil(&map, last - 5) == things, "no thing starts after the last page");
    tap_ok(addrmap_floor(&map, UINT64_MAX) == things, "the floor of the last address is the last page's thing");
    addrmap_clear(&map);
}

static struct addrmap levels;

static bool is_there(void)
{
    return addrmap_insert(&levels, PAGE << 30, things + 1);
}

static bool is_alone(void)
{
    return tap_ok(levels.count == 1 && addrmap_floor(&levels, UINT64_MAX) == things && !addrmap_ceil(&levels, 1),
                  "a failed allocation of a level changes nothing (allocation %lu)", inject_nth);
}

/* It appears at the first opportunity, whatever was refused before. */
static bool both_are_there(void)
{
    return inject_what || (levels.count == 2 && addrmap_ceil(&levels, 1) == things + 1 && addrmap_floor(&levels, PAGE) == things);
}

static void no_levels(void)
{
    const struct inject_case without_levels = {
        .name = "a thing far away", .least = 1, .call = is_there, .reported = is_alone, .end = both_are_there};
    addrmap_init(&levels, SHIFT);
    addrmap_insert(&levels, 0, things);
    inject_try(&without_levels);
    addrmap_clear(&levels);
}

/* Inserts things far apart, so many that the nodes of one insertion come from the end of one slab and the start of the next.
 * Each round makes a different node's allocation fail. */
static void no_nodes(void)
{
    unsigned refused = 0, wrong = 0;
    for (uint64_t before = 1; before < 40; before++) {
        struct addrmap map;
        addrmap_init(&map, SHIFT);
        for (uint64_t i = 0; i < before; i++)
            addrmap_insert(&map, i << 40, things);
        inject_arm(1);
        bool there = addrmap_insert(&map, before << 40, things + 1);
        refused += inject_disarm() != NULL && !there;
        wrong += map.count != before + there || addrmap_ceil(&map, ((before - 1) << 40) + 1) != (there ? things + 1 : NULL) ||
                 addrmap_floor(&map, UINT64_MAX) != (there ? things + 1 : things) ||
                 addrmap_remove(&map, before << 40) != (there ? things + 1 : NULL);
        wrong += !addrmap_insert(&map, before << 40, things + 1) || addrmap_floor(&map, UINT64_MAX) != things + 1;
        for (uint64_t i = 0; i <= before; i++)
            wrong += addrmap_remove(&map, i << 40) != (i < before ? things : things + 1);
        wrong += map.count != 0 || addrmap_ceil(&map, 0) || addrmap_floor(&map, UINT64_MAX);
        addrmap_clear(&map);
    }
    tap_ok(refused > 3 && !wrong, "%u failed allocations of nodes changed nothing", refused);
}

int main(void)
{
    one_level();
    last_addresses();
    no_levels();
    no_nodes();
    return tap_done();
}
