/* SPDX-License-Identifier: Apache-2.0 */
/* addrmap: directed cases with their pictures, then random ones against a plain array. */
#include "addrmap.h"

#include <string.h>

#include "random.h"
#include "tap.h"

enum { SHIFT = 12, PAGE = 1 << SHIFT };
#define LIMIT (UINT64_C(1) << 47)

static char things[256]; /* anything with an address */

static void test_empty(void)
{
    struct addrmap map;
    addrmap_init(&map, SHIFT);
    tap_ok(!addrmap_floor(&map, 0) && !addrmap_ceil(&map, 0), "an empty map has no neighbours");
    tap_ok(!addrmap_remove(&map, PAGE), "an empty map has nothing to remove");
    addrmap_clear(&map);
}

/*  a at 0x1000        b at 0x5000                c at the last page
 *  |a.................|b.........................|c   */
static void test_neighbours(void)
{
    struct addrmap map;
    char *a = things, *b = things + 1, *c = things + 2;
    addrmap_init(&map, SHIFT);
    addrmap_insert(&map, PAGE, a);
    addrmap_insert(&map, 5 * PAGE, b);
    addrmap_insert(&map, LIMIT - PAGE, c);
    tap_ok(!addrmap_floor(&map, PAGE - 1), "floor before the first start: none");
    tap_ok(addrmap_floor(&map, PAGE) == a && addrmap_floor(&map, 5 * PAGE - 1) == a, "floor is the greatest start");
    tap_ok(addrmap_floor(&map, LIMIT - PAGE - 1) == b, "floor far from its start");
    tap_ok(addrmap_floor(&map, UINT64_MAX) == c && addrmap_floor(&map, LIMIT) == c, "floor beyond the space: the last");
    tap_ok(addrmap_ceil(&map, 0) == a && addrmap_ceil(&map, PAGE) == a, "ceil is the least start");
    tap_ok(addrmap_ceil(&map, PAGE + 1) == b && addrmap_ceil(&map, 4 * PAGE + 1) == b, "ceil between two pages");
    tap_ok(addrmap_ceil(&map, LIMIT - PAGE) == c && !addrmap_ceil(&map, LIMIT - PAGE + 1), "ceil at the end");
    tap_ok(!addrmap_ceil(&map, UINT64_MAX) && !addrmap_ceil(&map, LIMIT), "ceil beyond the space: none");
    tap_ok(addrmap_remove(&map, 5 * PAGE) == b && addrmap_floor(&map, 6 * PAGE) == a, "removed: floor falls back");
    tap_ok(!addrmap_remove(&map, 5 * PAGE), "removed twice: nothing");
    tap_ok(!addrmap_remove(&map, LIMIT + 5 * PAGE), "removed beyond the space: nothing");
    tap_u64(map.count, 2, "the count follows");
    addrmap_clear(&map);
    tap_ok(!map.root && map.count == 0, "cleared");
}

/* Levels come with the addresses that need them, and go when the map is empty. */
static void test_levels(void)
{
    struct addrmap map;
    addrmap_init(&map, SHIFT);
    addrmap_insert(&map, 63 * PAGE, things);
    tap_u64(map.levels, 1, "64 units need one level");
    tap_ok(addrmap_floor(&map, 64 * PAGE - 1) == things && addrmap_ceil(&map, 0) == things, "one level, last slot");
    tap_ok(addrmap_floor(&map, 64 * PAGE) == things && !addrmap_ceil(&map, 64 * PAGE), "asked beyond the level");
    addrmap_insert(&map, 64 * PAGE, things + 1);
    tap_u64(map.levels, 2, "65 units need two levels");
    tap_ok(addrmap_floor(&map, 64 * PAGE - 1) == things && addrmap_ceil(&map, 64 * PAGE) == things + 1,
           "what was there is found as before");
    tap_ok(addrmap_remove(&map, 63 * PAGE) == things && addrmap_remove(&map, 64 * PAGE) == things + 1 && map.count == 0 &&
               !addrmap_floor(&map, UINT64_MAX) && !addrmap_ceil(&map, 0),
           "and gone when it is taken away");
    addrmap_clear(&map);
    for (uint64_t i = 0; i < 64; i++)
        addrmap_insert(&map, i * PAGE, things);
    for (uint64_t i = 0; i < 64; i++)
        addrmap_remove(&map, i * PAGE);
    addrmap_insert(&map, 65 * PAGE, things + 1);
    tap_ok(!addrmap_floor(&map, 64 * PAGE) && addrmap_ceil(&map, 0) == things + 1,
           "nothing is left of a level that was empty when the next one came");
    addrmap_clear(&map);
    addrmap_init(&map, 0);
    addrmap_insert(&map, UINT64_MAX, things);
    tap_u64(map.levels, 11, "all 64 bits need eleven levels");
    tap_ok(addrmap_floor(&map, UINT64_MAX) == things && addrmap_ceil(&map, UINT64_MAX) == things,
           "the very last address");
    addrmap_clear(&map);
}

/*  a node of 64 units, changed last:  [..a......]   its neighbours  [b........] before, [c........] after */
static void test_remembered(void)
{
    struct addrmap map;
    char *a = things, *b = things + 1, *c = things + 2;
    addrmap_init(&map, SHIFT);
    addrmap_insert(&map, 3 * 64 * PAGE, c);
    addrmap_insert(&map, 64 * PAGE, b);
    addrmap_insert(&map, (2 * 64 + 2) * PAGE, a);
    tap_ok(addrmap_floor(&map, (2 * 64 + 1) * PAGE) == b, "below all of the node that was changed last");
    tap_ok(addrmap_ceil(&map, (2 * 64 + 3) * PAGE) == c, "above all of it");
    tap_ok(addrmap_floor(&map, (2 * 64 + 2) * PAGE) == a && addrmap_ceil(&map, (2 * 64 + 2) * PAGE) == a, "in it");
    tap_ok(addrmap_next(&map, 2 * 64 * PAGE, 3 * 64 * PAGE) == a && !addrmap_next(&map, (2 * 64 + 3) * PAGE, 3 * 64 * PAGE),
           "next below an end, within it");
    tap_ok(addrmap_next(&map, (2 * 64 + 3) * PAGE, 3 * 64 * PAGE + 1) == c && addrmap_next(&map, PAGE, 65 * PAGE) == b &&
               !addrmap_next(&map, PAGE, PAGE),
           "next past it, outside it, and of nothing");
    tap_ok(addrmap_remove(&map, (2 * 64 + 2) * PAGE) == a && addrmap_floor(&map, (2 * 64 + 2) * PAGE) == b &&
               addrmap_ceil(&map, (2 * 64 + 2) * PAGE) == c,
           "an empty node leads nowhere");
    tap_ok(addrmap_floor(&map, (3 * 64 - 1) * PAGE) == b && !addrmap_next(&map, 2 * 64 * PAGE, 3 * 64 * PAGE),
           "from wherever in it");
    addrmap_insert(&map, (2 * 64 + 2) * PAGE, a);
    addrmap_insert(&map, (2 * 64 + 5) * PAGE, c);
    tap_ok(addrmap_remove(&map, (2 * 64 + 2) * PAGE) == a && !addrmap_remove(&map, (2 * 64 + 2) * PAGE) &&
               addrmap_floor(&map, (2 * 64 + 4) * PAGE) == b,
           "what was taken from it is not there");
    tap_ok(addrmap_remove(&map, (2 * 64 + 5) * PAGE) == c && addrmap_remove(&map, 64 * PAGE) == b &&
               !addrmap_floor(&map, (2 * 64 + 5) * PAGE) && addrmap_ceil(&map, 0) == c,
           "what was before the empty node may go too");
    addrmap_clear(&map);
}

/* Things far apart that come and go one after the other, with one that stays: each needs nodes of its own, which the next one
 * gets. What is next in the pool's room tells whether more was asked for. */
static void test_nodes_are_used_again(void)
{
    struct addrmap map;
    unsigned wrong = 0;
    addrmap_init(&map, SHIFT);
    addrmap_insert(&map, LIMIT - PAGE, things);
    for (uint64_t i = 0; i < 3; i++) {
        addrmap_insert(&map, i << 40, things + 1);
        addrmap_remove(&map, i << 40);
    }
    const size_t slab = map.nodes.slab, left = map.nodes.left;
    for (uint64_t i = 3; i < 99; i++) {
        wrong += !addrmap_insert(&map, i << 40, things + 1);
        wrong += addrmap_remove(&map, i << 40) != things + 1;
    }
    tap_ok(!wrong && map.nodes.slab == slab && map.nodes.left == left, "the nodes of what is gone are used again");
    addrmap_clear(&map);
}

struct oracle {
    uint64_t page[256];
    bool there[256];
};

static void *oracle_floor(const struct oracle *o, uint64_t address)
{
    int best = -1;
    for (int i = 0; i < 256; i++)
        if (o->there[i] && o->page[i] <= address && (best < 0 || o->page[i] > o->page[best]))
            best = i;
    return best < 0 ? NULL : &things[best];
}

static void *oracle_ceil(const struct oracle *o, uint64_t address)
{
    int best = -1;
    for (int i = 0; i < 256; i++)
        if (o->there[i] && o->page[i] >= address && (best < 0 || o->page[i] < o->page[best]))
            best = i;
    return best < 0 ? NULL : &things[best];
}

/* What starts below end must be found; else nothing, or something later. */
static bool next_differs(const struct addrmap *map, const struct oracle *o, uint64_t address, uint64_t end)
{
    char *got = addrmap_next(map, address, end), *want = oracle_ceil(o, address);
    bool below = want && o->page[want - things] < end;
    return below ? got != want : got && o->page[got - things] < end;
}

/* Addresses that are near each other at several scales, so that nodes are shared and split. */
static uint64_t some_page(uint64_t *state, uint64_t i)
{
    uint64_t scale = random_below(state, 5) * 7;
    return ((random_below(state, 4) << scale << SHIFT) + (i << SHIFT)) % LIMIT;
}

static const uint64_t *pages;

static uint64_t start_of(const void *thing)
{
    return pages[(const char *)thing - things];
}

static void test_random(uint64_t seed)
{
    struct addrmap map;
    struct oracle o;
    uint64_t state = seed;
    unsigned wrong = 0;
    memset(&o, 0, sizeof o);
    pages = o.page;
    addrmap_init(&map, SHIFT);
    for (int i = 0; i < 256; i++)
        o.page[i] = some_page(&state, (uint64_t)i) / 256 * 256 * PAGE % LIMIT + (uint64_t)i * PAGE;
    for (int step = 0; step < 20000; step++) {
        uint64_t i = random_below(&state, 256), at = o.page[random_below(&state, 256)] + random_below(&state, 3) - 1;
        if (o.there[i])
            wrong += addrmap_remove(&map, o.page[i]) != &things[i];
        else
            wrong += !addrmap_insert(&map, o.page[i], &things[i]);
        o.there[i] = !o.there[i];
        wrong += addrmap_floor(&map, at) != oracle_floor(&o, at);
        wrong += addrmap_ceil(&map, at) != oracle_ceil(&o, at);
        at = o.page[i] + random_below(&state, 3 * PAGE) - PAGE; /* near what was changed last */
        wrong += next_differs(&map, &o, at, at + random_below(&state, 100) * PAGE);
        wrong += addrmap_floor(&map, at) != oracle_floor(&o, at);
        wrong += addrmap_ceil(&map, at) != oracle_ceil(&o, at);
        wrong += addrmap_check_at(&map, at, start_of) || (step % 16 == 0 && addrmap_check(&map, start_of));
    }
    pages = NULL;
    tap_u64(wrong, 0, "20000 random steps agree with a plain array");
    addrmap_clear(&map);
}

int main(void)
{
    test_empty();
    test_neighbours();
    test_levels();
    test_remembered();
    test_nodes_are_used_again();
    test_random(random_seed(1));
    return tap_done();
}
