/* SPDX-License-Identifier: Apache-2.0 */
/* addrmap: directed cases with pictures, then random operations compared with a plain array. */
#include "addrmap.h"

#include <string.h>

#include "random.h"
#include "tap.h"

enum { SHIFT = 12, PAGE = 1 << SHIFT };
#define LIMIT (UINT64_C(1) << 47)

static char things[256]; /* storage for things: only their addresses matter */

static void test_empty(void)
{
    struct addrmap map;
    addrmap_init(&map, SHIFT);
    tap_ok(!addrmap_floor(&map, 0) && !addrmap_ceil(&map, 0), "an empty map has no floor and no ceil");
    tap_ok(!addrmap_remove(&map, PAGE), "removal from an empty map finds nothing");
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
    tap_ok(!addrmap_floor(&map, PAGE - 1), "no floor before the first start");
    tap_ok(addrmap_floor(&map, PAGE) == a && addrmap_floor(&map, 5 * PAGE - 1) == a,
           "floor is the greatest start at or below the address");
    tap_ok(addrmap_floor(&map, LIMIT - PAGE - 1) == b, "floor finds a thing far below the address");
    tap_ok(addrmap_floor(&map, UINT64_MAX) == c && addrmap_floor(&map, LIMIT) == c,
           "floor beyond the address space is the last thing");
    tap_ok(addrmap_ceil(&map, 0) == a && addrmap_ceil(&map, PAGE) == a, "ceil is the least start at or above the address");
    tap_ok(addrmap_ceil(&map, PAGE + 1) == b && addrmap_ceil(&map, 4 * PAGE + 1) == b,
           "ceil of an address between two pages is the next start");
    tap_ok(addrmap_ceil(&map, LIMIT - PAGE) == c && !addrmap_ceil(&map, LIMIT - PAGE + 1),
           "ceil at the end of the address space");
    tap_ok(!addrmap_ceil(&map, UINT64_MAX) && !addrmap_ceil(&map, LIMIT), "no ceil beyond the address space");
    tap_ok(addrmap_remove(&map, 5 * PAGE) == b && addrmap_floor(&map, 6 * PAGE) == a,
           "after a removal, floor falls back to the earlier thing");
    tap_ok(!addrmap_remove(&map, 5 * PAGE), "a second removal finds nothing");
    tap_ok(!addrmap_remove(&map, LIMIT + 5 * PAGE), "a removal beyond the address space finds nothing");
    tap_u64(map.count, 2, "count drops with each removal");
    addrmap_clear(&map);
    tap_ok(!map.root && map.count == 0, "cleared");
}

/* The map adds levels as addresses need them, and removes them when it is empty. */
static void test_levels(void)
{
    struct addrmap map;
    addrmap_init(&map, SHIFT);
    addrmap_insert(&map, 63 * PAGE, things);
    tap_u64(map.levels, 1, "64 units need one level");
    tap_ok(addrmap_floor(&map, 64 * PAGE - 1) == things && addrmap_ceil(&map, 0) == things,
           "floor and ceil reach the last slot of one level");
    tap_ok(addrmap_floor(&map, 64 * PAGE) == things && !addrmap_ceil(&map, 64 * PAGE),
           "floor and ceil beyond the last level's range");
    addrmap_insert(&map, 64 * PAGE, things + 1);
    tap_u64(map.levels, 2, "65 units need two levels");
    tap_ok(addrmap_floor(&map, 64 * PAGE - 1) == things && addrmap_ceil(&map, 64 * PAGE) == things + 1,
           "earlier things are still found after a level was added");
    tap_ok(addrmap_remove(&map, 63 * PAGE) == things && addrmap_remove(&map, 64 * PAGE) == things + 1 && map.count == 0 &&
               !addrmap_floor(&map, UINT64_MAX) && !addrmap_ceil(&map, 0),
           "removal of both things leaves an empty map");
    addrmap_clear(&map);
    for (uint64_t i = 0; i < 64; i++)
        addrmap_insert(&map, i * PAGE, things);
    for (uint64_t i = 0; i < 64; i++)
        addrmap_remove(&map, i * PAGE);
    addrmap_insert(&map, 65 * PAGE, things + 1);
    tap_ok(!addrmap_floor(&map, 64 * PAGE) && addrmap_ceil(&map, 0) == things + 1,
           "a level that was empty when the next one was added leaves no trace");
    addrmap_clear(&map);
    addrmap_init(&map, 0);
    addrmap_insert(&map, UINT64_MAX, things);
    tap_u64(map.levels, 11, "all 64 bits need eleven levels");
    tap_ok(addrmap_floor(&map, UINT64_MAX) == things && addrmap_ceil(&map, UINT64_MAX) == things,
           "floor and ceil of the last address");
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
    tap_ok(addrmap_floor(&map, (2 * 64 + 1) * PAGE) == b, "floor below the last changed node");
    tap_ok(addrmap_ceil(&map, (2 * 64 + 3) * PAGE) == c, "ceil above the last changed node");
    tap_ok(addrmap_floor(&map, (2 * 64 + 2) * PAGE) == a && addrmap_ceil(&map, (2 * 64 + 2) * PAGE) == a,
           "floor and ceil at the thing in the last changed node");
    tap_ok(addrmap_next(&map, 2 * 64 * PAGE, 3 * 64 * PAGE) == a && !addrmap_next(&map, (2 * 64 + 3) * PAGE, 3 * 64 * PAGE),
           "next finds a thing in the last changed node, and none before end");
    tap_ok(addrmap_next(&map, (2 * 64 + 3) * PAGE, 3 * 64 * PAGE + 1) == c && addrmap_next(&map, PAGE, 65 * PAGE) == b &&
               !addrmap_next(&map, PAGE, PAGE),
           "next leaves the last changed node in both directions, and an empty range yields nothing");
    tap_ok(addrmap_remove(&map, (2 * 64 + 2) * PAGE) == a && addrmap_floor(&map, (2 * 64 + 2) * PAGE) == b &&
               addrmap_ceil(&map, (2 * 64 + 2) * PAGE) == c,
           "floor and ceil skip the emptied node");
    tap_ok(addrmap_floor(&map, (3 * 64 - 1) * PAGE) == b && !addrmap_next(&map, 2 * 64 * PAGE, 3 * 64 * PAGE),
           "every address of the emptied node gives the same result");
    addrmap_insert(&map, (2 * 64 + 2) * PAGE, a);
    addrmap_insert(&map, (2 * 64 + 5) * PAGE, c);
    tap_ok(addrmap_remove(&map, (2 * 64 + 2) * PAGE) == a && !addrmap_remove(&map, (2 * 64 + 2) * PAGE) &&
               addrmap_floor(&map, (2 * 64 + 4) * PAGE) == b,
           "a removed thing cannot be removed again");
    tap_ok(addrmap_remove(&map, (2 * 64 + 5) * PAGE) == c && addrmap_remove(&map, 64 * PAGE) == b &&
               !addrmap_floor(&map, (2 * 64 + 5) * PAGE) && addrmap_ceil(&map, 0) == c,
           "the thing before the emptied node can be removed as well");
    addrmap_clear(&map);
}

/* Inserts and removes things far apart, one after another, while one thing stays: each needs nodes of its own and reuses those of
 * the previous one. The pool's fresh space shows whether the map allocated more. */
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
    tap_ok(!wrong && map.nodes.slab == slab && map.nodes.left == left, "nodes of removed things are reused");
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

/* addrmap_next must find a thing that starts before end; if none does, it may return NULL or a later thing. */
static bool next_differs(const struct addrmap *map, const struct oracle *o, uint64_t address, uint64_t end)
{
    char *got = addrmap_next(map, address, end), *want = oracle_ceil(o, address);
    bool below = want && o->page[want - things] < end;
    return below ? got != want : got && o->page[got - things] < end;
}

/* Addresses that are close together at several scales, so that nodes are shared and split. */
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
        at = o.page[i] + random_below(&state, 3 * PAGE) - PAGE; /* near the last change */
        wrong += next_differs(&map, &o, at, at + random_below(&state, 100) * PAGE);
        wrong += addrmap_floor(&map, at) != oracle_floor(&o, at);
        wrong += addrmap_ceil(&map, at) != oracle_ceil(&o, at);
        wrong += addrmap_check_at(&map, at, start_of) || (step % 16 == 0 && addrmap_check(&map, start_of));
    }
    pages = NULL;
    tap_u64(wrong, 0, "20000 random operations agree with a plain array");
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
