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
    addrmap_init(&map, LIMIT, SHIFT);
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
    addrmap_init(&map, LIMIT, SHIFT);
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

static void test_one_level(void)
{
    struct addrmap map;
    addrmap_init(&map, 64 * PAGE, SHIFT);
    tap_u64(map.levels, 1, "64 units need one level");
    addrmap_insert(&map, 63 * PAGE, things);
    tap_ok(addrmap_floor(&map, 64 * PAGE - 1) == things && addrmap_ceil(&map, 0) == things, "one level, last slot");
    tap_ok(addrmap_remove(&map, 63 * PAGE) == things && !map.root, "nodes go with the last thing");
    addrmap_clear(&map);
    addrmap_init(&map, 65 * PAGE, SHIFT);
    tap_u64(map.levels, 2, "65 units need two levels");
    addrmap_init(&map, 0, 0); /* limit 0 is 1 << 64 here: every address */
    tap_u64(map.levels, 11, "all 64 bits need eleven levels");
    addrmap_insert(&map, UINT64_MAX, things);
    tap_ok(addrmap_floor(&map, UINT64_MAX) == things && addrmap_ceil(&map, UINT64_MAX) == things,
           "the very last address");
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

/* Addresses that are near each other at several scales, so that nodes are shared and split. */
static uint64_t some_page(uint64_t *state, uint64_t i)
{
    uint64_t scale = random_below(state, 5) * 7;
    return ((random_below(state, 4) << scale << SHIFT) + (i << SHIFT)) % LIMIT;
}

static void test_random(uint64_t seed)
{
    struct addrmap map;
    struct oracle o;
    uint64_t state = seed;
    unsigned wrong = 0;
    memset(&o, 0, sizeof o);
    addrmap_init(&map, LIMIT, SHIFT);
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
    }
    tap_u64(wrong, 0, "20000 random steps agree with a plain array");
    addrmap_clear(&map);
}

int main(void)
{
    test_empty();
    test_neighbours();
    test_one_level();
    test_random(random_seed(1));
    return tap_done();
}
