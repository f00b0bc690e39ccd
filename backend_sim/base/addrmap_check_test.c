/* SPDX-License-Identifier: Apache-2.0 */
/* addrmap_check: a test breaks each invariant by hand and expects its message; once repaired, the check passes. */
#include <string.h>

#include "addrmap.h"
#include "breaks.h"

#define U UINT64_C(0x1000)
#define FAR (UINT64_C(1) << 40)

struct thing {
    uint64_t start;
};

static struct thing things[8];

static uint64_t start_of(const void *thing)
{
    return ((const struct thing *)thing)->start;
}

static void put(struct addrmap *map, unsigned i, uint64_t address)
{
    things[i].start = address;
    if (!addrmap_insert(map, address, &things[i]))
        tap_bail("no memory");
}

/* A map with two lowest nodes; last is the later one. */
static void open_map(struct addrmap *map)
{
    addrmap_init(map, 12);
    put(map, 0, 3 * U);
    put(map, 1, 5 * U);
    put(map, 2, FAR);
    put(map, 3, FAR + 2 * U);
    check_holds(addrmap_check(map, start_of), "a map of four things");
}

static void test_things(void)
{
    struct addrmap map;
    open_map(&map);
    BREAKS(map.count, 3, addrmap_check(&map, start_of), "count is 3, but more things are stored");
    BREAKS(map.count, 5, addrmap_check(&map, start_of), "count is 5, but 4 things are stored");
    BREAKS(things[1].start, 6 * U, addrmap_check(&map, start_of), "the thing stored at 0x5000 starts at 0x6000");
    BREAKS(map.last->child[0], NULL, addrmap_check(&map, start_of), "the child of level 0 at 0x10000000000 is missing");
    BREAKS(map.levels, 0, addrmap_check(&map, start_of), "0 levels of 6 bits do not fit above the lowest 12 bits");
    BREAKS(map.levels, 10, addrmap_check(&map, start_of), "10 levels of 6 bits do not fit above the lowest 12 bits");
    BREAKS(map.levels, 12, addrmap_check(&map, start_of), "12 levels of 6 bits do not fit above the lowest 12 bits");
    BREAKS(map.levels, UINT32_MAX / ADDRMAP_BITS + 2, addrmap_check(&map, start_of), "levels of 6 bits do not fit"); /* wraps */
    put(&map, 4, -U);
    tap_u64(map.levels, 9, "a thing at the end of all addresses takes as many levels as fit");
    check_holds(addrmap_check(&map, start_of), "a map of all addresses");
    addrmap_remove(&map, -U);
    BREAKS(map.root->child[map.root->present >> 1 & 1], map.root, addrmap_check(&map, start_of), "");
    addrmap_clear(&map);
}

static void test_nodes(void)
{
    struct addrmap map;
    open_map(&map);
    BREAKS_TO(map.last->present, 0, addrmap_check(&map, start_of), "a node of level 0 at 0x10000000000 is empty");
    BREAKS(map.last_key, 0, addrmap_check(&map, start_of), "last is not the node at its own key, 0x0");
    BREAKS(map.last_key, 1, addrmap_check(&map, start_of), "no path leads to the last node, at 0x40000");
#ifndef POOL_PLAIN
    BREAKS(map.nodes.left, map.nodes.left - 1, addrmap_check(&map, start_of), "nodes: ");
#endif
    struct addrmap_node *root = map.root;
    map.root = NULL;
    map.count = 0;
    check_breaks(addrmap_check(&map, start_of), "last is set, but the map has no root");
    map.root = root;
    map.count = 4;
    BREAKS(map.last, NULL, (map.above = root, addrmap_check(&map, start_of)), "above is set, but last is not");
    map.above = NULL;
    addrmap_clear(&map);
}

/* All things of the last node are removed: the node is detached. */
static void test_set_aside(void)
{
    struct addrmap map;
    open_map(&map);
    addrmap_remove(&map, FAR);
    addrmap_remove(&map, FAR + 2 * U);
    check_holds(addrmap_check(&map, start_of), "a map whose empty last node is detached");
    BREAKS(map.before, &things[0], addrmap_check(&map, start_of),
           "the cached thing before the last node, at 0x10000000000, is the wrong one");
    BREAKS(map.last->present, 1, addrmap_check(&map, start_of), "the last node, with the bitmap 0x1, is detached");
    struct addrmap_node *next = map.above->child[map.above_slot];
    BREAKS(map.above, next, addrmap_check(&map, start_of), "no path leads to the last node, at 0x10000000000");
    BREAKS(map.above_slot, map.above_slot + 1, addrmap_check(&map, start_of), "no path leads to the last node, at 0x10000000000");
    BREAKS(next->present, next->present | 1u << 9, addrmap_check(&map, start_of),
           "a node on the detached path to the empty last node has other children");
    BREAKS(map.above->child[map.above_slot], NULL, addrmap_check(&map, start_of),
           "the path to the last node, at 0x10000000000, ends");
    addrmap_remove(&map, 3 * U);
    addrmap_remove(&map, 5 * U);
    check_holds(addrmap_check(&map, start_of), "an empty map");
    addrmap_clear(&map);
    check_holds(addrmap_check(&map, start_of), "a cleared map");
}

static void test_at(void)
{
    struct addrmap map;
    open_map(&map);
    for (unsigned i = 0; i < 4; i++)
        check_holds(addrmap_check_at(&map, things[i].start, start_of), "around a thing");
    check_holds(addrmap_check_at(&map, 0, start_of), "the check below all things");
    check_holds(addrmap_check_at(&map, UINT64_MAX, start_of), "the check around the last address");
    BREAKS_TO(things[2].start, FAR + 1, addrmap_check_at(&map, FAR, start_of), "the floor of 0x10000000000 starts at 0x10000000001");
    BREAKS_TO(things[1].start, 4 * U - 1, addrmap_check_at(&map, 4 * U, start_of), "the next thing after 0x4000 starts at 0x3fff");
    BREAKS(things[1].start, 7 * FAR, addrmap_check_at(&map, 4 * U, start_of),
           "the thing that starts at 0x70000000000 is not found at that address");
    struct addrmap_node own = *map.last, *last = map.last;
    own.child[0] = &things[0];
    map.last = &own;
    check_breaks(addrmap_check_at(&map, FAR, start_of), "differs between the search from last and the search from the root");
    map.last = last;
    addrmap_clear(&map);
}

/* A wide node, one thing of which does not lie in it. */
static void test_room(void)
{
    struct addrmap map;
    addrmap_init_room(&map, 12, 64);
    for (uint64_t i = 0; i <= ADDRMAP_SPARSE; i++)
        *(uint64_t *)addrmap_make(&map, i * U) = i * U;
    for (uint64_t i = 1; i < ADDRMAP_SPARSE; i++)
        addrmap_unmake(&map, i * U);
    check_holds(addrmap_check(&map, start_of), "a map with room for its things");
    BREAKS_TO(map.last->own, map.last->own | 2, addrmap_check(&map, start_of), "a node of level 0 at 0x0 has room for other things than its own");
    map.last->wide = false;
    check_breaks(addrmap_check(&map, start_of), "a node of level 0 at 0x0 has room for other things than its own");
    map.last->wide = true;
    *(uint64_t *)addrmap_make(&map, FAR) = FAR;
    BREAKS_TO(map.root->own, 1, addrmap_check(&map, start_of), "at 0x0 has room for other things than its own");
#ifndef POOL_PLAIN
    BREAKS(map.wide.left, map.wide.left + 1, addrmap_check(&map, start_of), "wide nodes: ");
    BREAKS(map.things.left, map.things.left + 1, addrmap_check(&map, start_of), "things: ");
#endif
    addrmap_unmake(&map, ADDRMAP_SPARSE * U);
    addrmap_unmake(&map, 0);
    *(uint64_t *)addrmap_make(&map, 2 * FAR) = 2 * FAR; /* which frees the wide node */
    check_holds(addrmap_check(&map, start_of), "a map whose wide node is free");
    addrmap_clear(&map);
}

int main(void)
{
    test_things();
    test_room();
    test_nodes();
    test_set_aside();
    test_at();
    return tap_done();
}
