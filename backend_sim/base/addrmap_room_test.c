/* SPDX-License-Identifier: Apache-2.0 */
/* addrmap with room for its things: where they lie, that they keep their bytes and places, and what is left when memory is out. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include <string.h>

#include "addrmap.h"
#include "random.h"
#include "tap.h"
#ifdef POOL_PLAIN
#include <sanitizer/asan_interface.h>
#endif

enum { SHIFT = 12, SPARSE = ADDRMAP_SPARSE, FANOUT = ADDRMAP_FANOUT };
#define PAGE (UINT64_C(1) << SHIFT)
#define NODE (FANOUT * PAGE) /* what a lowest node covers */

struct thing {
    uint64_t start;
    unsigned char bytes[56];
};

static uint64_t start_of(const void *thing)
{
    return ((const struct thing *)thing)->start;
}

static struct thing *make(struct addrmap *map, uint64_t address)
{
    struct thing *thing = addrmap_make(map, address);
    if (thing) {
        thing->start = address;
        memset(thing->bytes, (int)(address >> SHIFT) & 255, sizeof thing->bytes);
    }
    return thing;
}

static bool is_whole(const struct thing *thing, uint64_t address)
{
    bool whole = thing && thing->start == address;
    for (size_t i = 0; whole && i < sizeof thing->bytes; i++)
        whole = thing->bytes[i] == (unsigned char)(address >> SHIFT);
    return whole;
}

static bool good(const struct addrmap *map)
{
    const char *said = addrmap_check(map, start_of);
    return tap_ok(!said, "the map's invariants hold%s%s", said ? ": " : "", said ? said : "");
}

static bool lies_in(const struct addrmap *map, const void *thing, uint64_t address)
{
    return thing == addrmap_room(map, map->last, (unsigned)(address / PAGE % FANOUT));
}

static void open_map(struct addrmap *map, uint64_t first, unsigned things)
{
    addrmap_init_room(map, SHIFT, sizeof(struct thing));
    for (uint64_t i = 0; i < things; i++)
        make(map, first + i * PAGE);
}

/*  16 things: a narrow node, and they lie elsewhere      the next:  [bits | 16 addresses | ................n...........] */
static void test_wide(uint64_t first)
{
    struct addrmap map;
    open_map(&map, first, SPARSE);
    struct thing *old = addrmap_floor(&map, first);
    tap_ok(!map.last->wide && !map.last->own, "a node of %d things is narrow", SPARSE);
    struct thing *next = make(&map, first + SPARSE * PAGE);
    tap_ok(map.last->wide && lies_in(&map, next, first + SPARSE * PAGE) && (uintptr_t)next % 64 == 0,
           "it is wide with one more, which lies in its room, in a cache line of its own");
    tap_ok(addrmap_floor(&map, first) == old && is_whole(old, first), "the things before stay where they were");
    tap_ok(addrmap_ceil(&map, first + SPARSE * PAGE) == next && addrmap_next(&map, first + 1, first + NODE) != next &&
               addrmap_floor(&map, UINT64_MAX) == next,
           "all searches find those in the room and the others");
    good(&map);
    addrmap_unmake(&map, first);
    struct thing *again = make(&map, first);
    tap_ok(lies_in(&map, again, first), "one that is made again lies in the room");
    addrmap_unmake(&map, first + SPARSE * PAGE);
#ifdef POOL_PLAIN
    tap_ok(__asan_region_is_poisoned(next, sizeof *next) == next, "the room of one that is gone may not be used");
#endif
    tap_ok(addrmap_floor(&map, UINT64_MAX) == addrmap_floor(&map, first + (SPARSE - 1) * PAGE), "one that is gone is not found");
    good(&map);
    for (uint64_t i = 0; i < SPARSE; i++)
        addrmap_unmake(&map, first + i * PAGE);
    addrmap_unmake(&map, first);
    tap_ok(!map.count && !addrmap_floor(&map, UINT64_MAX), "nothing is left, and to remove that changes nothing");
    good(&map);
    addrmap_clear(&map);
    tap_ok(map.size == sizeof(struct thing) && make(&map, first) && map.count == 1, "a cleared map can be used again");
    addrmap_clear(&map);
}

/*  [wide][?]    [?][wide]    [wide][ ][?]    the node at ? is wide if the one beside it is */
static void test_beside(void)
{
    struct addrmap map;
    const uint64_t first = 40 * NODE;
    open_map(&map, first, SPARSE + 1);
    const struct addrmap_node *node = map.last;
    make(&map, first + NODE);
    tap_ok(map.last != node && map.last->wide && map.last->own == 1, "the node after a wide one is wide at once");
    tap_ok(is_whole(addrmap_floor(&map, first + PAGE), first + PAGE) && is_whole(addrmap_ceil(&map, 0), first) &&
               is_whole(addrmap_floor(&map, UINT64_MAX), first + NODE),
           "things are found in both of them");
    make(&map, first - PAGE);
    tap_ok(map.last->wide, "the node before it as well");
    make(&map, first - 3 * NODE);
    tap_ok(!map.last->wide, "one that is farther away is narrow");
    make(&map, 0);
    make(&map, 63 * NODE);
    tap_ok(!map.last->wide, "and so is the last one of its parent");
    good(&map);
    addrmap_clear(&map);
    addrmap_init(&map, SHIFT);
    for (uint64_t i = 0; i < 2 * FANOUT; i++)
        addrmap_insert(&map, i * PAGE, &map);
    tap_ok(!map.last->wide && !map.wide.all, "a map of the caller's things has no wide nodes");
    addrmap_clear(&map);
}

struct oracle {
    struct thing *at[4 * FANOUT];
};

/* Pages of three nodes that lie side by side, and of one far away. */
static uint64_t page_of(unsigned i)
{
    return ((uint64_t)i + (i < 3 * FANOUT ? 0 : UINT64_C(1) << 20)) * PAGE;
}

static const void *below(const struct oracle *o, unsigned i)
{
    while (i && !o->at[i])
        i--;
    return o->at[i];
}

static const void *above(const struct oracle *o, unsigned i)
{
    while (i < 4 * FANOUT - 1 && !o->at[i])
        i++;
    return o->at[i];
}

static void test_random(uint64_t seed)
{
    struct addrmap map;
    struct oracle o = {{NULL}};
    uint64_t state = seed, wrong = 0;
    addrmap_init_room(&map, SHIFT, sizeof(struct thing));
    for (unsigned step = 0; step < 20000; step++) {
        /* For a while there are more and more things, then fewer and fewer. */
        const unsigned i = (unsigned)random_below(&state, 4 * FANOUT), look = (unsigned)random_below(&state, 4 * FANOUT);
        const bool more = random_below(&state, 100) < (step / 2000 % 2 ? 15 : 85);
        if (o.at[i] && !more) {
            wrong += !is_whole(o.at[i], page_of(i));
            addrmap_unmake(&map, page_of(i));
            o.at[i] = NULL;
        } else if (!o.at[i] && more)
            wrong += !(o.at[i] = make(&map, page_of(i)));
        wrong += addrmap_floor(&map, page_of(look)) != below(&o, look) || addrmap_ceil(&map, page_of(look)) != above(&o, look);
        wrong += addrmap_check_at(&map, page_of(look), start_of) != NULL;
        wrong += step % 64 == 0 && addrmap_check(&map, start_of);
    }
    tap_u64(wrong, 0, "20000 things made and removed: each keeps its place and its bytes");
    addrmap_clear(&map);
}

/* A thing for which there is no memory, in a node that is there, and with new nodes: the map is as before. */
static void test_no_thing(void)
{
    unsigned refused = 0, wrong = 0;
    for (unsigned nth = 1; nth < 6; nth++) {
        struct addrmap map;
        addrmap_init_room(&map, SHIFT, sizeof(struct thing));
        for (uint64_t i = 0; i < 100; i++) {
            const uint64_t address = (i / 3 << 40) + i % 3 * PAGE;
            inject_arm(nth);
            const struct thing *thing = make(&map, address);
            if (inject_disarm()) {
                refused++;
                wrong += thing || map.count != i || addrmap_check(&map, start_of) || addrmap_ceil(&map, address);
                thing = make(&map, address);
            }
            wrong += !thing || map.count != i + 1 || addrmap_floor(&map, UINT64_MAX) != thing || addrmap_check(&map, start_of);
        }
        addrmap_clear(&map);
    }
    tap_ok(refused > 10 && !wrong, "%u failed allocations of things and nodes changed nothing", refused);
}

/* Without memory for a wide node, a narrow one does as well. */
static void test_no_wide_node(void)
{
    struct addrmap map;
    const uint64_t next = 8 * NODE + SPARSE * PAGE;
    open_map(&map, 8 * NODE, SPARSE);
    inject_arm(1);
    const struct thing *thing = make(&map, next);
    tap_ok(inject_disarm() && !map.last->wide && is_whole(thing, next),
           "a thing goes into a narrow node where there is no memory for a wide one");
    good(&map);
    thing = make(&map, next + PAGE);
    tap_ok(map.last->wide && is_whole(thing, next + PAGE), "the node becomes wide with the next");
    inject_arm(1);
    thing = make(&map, 9 * NODE);
    tap_ok(inject_disarm() && !map.last->wide && is_whole(thing, 9 * NODE), "the same beside a wide node");
    good(&map);
    addrmap_clear(&map);
}

int main(void)
{
    test_wide(0);
    test_wide(UINT64_C(5) << 40);
    test_beside();
    test_random(random_seed(1));
    test_no_thing();
    test_no_wide_node();
    return tap_done();
}
