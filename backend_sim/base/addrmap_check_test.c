/* SPDX-License-Identifier: Apache-2.0 */
/* addrmap_check: each invariant, broken by hand, has its sentence; mended, it has none. */
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

/* Two lowest nodes, the later of them the last one. */
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
    BREAKS(map.count, 3, addrmap_check(&map, start_of), "3 things are counted, more are stored");
    BREAKS(map.count, 5, addrmap_check(&map, start_of), "5 things are counted, 4 are stored");
    BREAKS(things[1].start, 6 * U, addrmap_check(&map, start_of), "the thing stored at 0x5000 starts at 0x6000");
    BREAKS(map.last->child[0], NULL, addrmap_check(&map, start_of), "the child of level 0 at 0x10000000000 is missing");
    BREAKS(map.levels, 12, addrmap_check(&map, start_of), "12 levels of 6 bits above the lowest 12");
    BREAKS(map.root->child[map.root->present >> 1 & 1], map.root, addrmap_check(&map, start_of), "");
    addrmap_clear(&map);
}

static void test_nodes(void)
{
    struct addrmap map;
    open_map(&map);
    BREAKS(map.last->present, 0, addrmap_check(&map, start_of), "a node of level 0 at 0x10000000000 is empty");
    BREAKS(map.last_key, 0, addrmap_check(&map, start_of), "the last node is not the one at its addresses, 0x0");
    BREAKS(map.last_key, 1, addrmap_check(&map, start_of), "no node leads to the last one, at 0x40000");
#ifndef POOL_PLAIN
    BREAKS(map.nodes.left, map.nodes.left - 1, addrmap_check(&map, start_of), "nodes: ");
#endif
    struct addrmap_node *root = map.root;
    map.root = NULL;
    map.count = 0;
    check_breaks(addrmap_check(&map, start_of), "there is a last node, but no root");
    map.root = root;
    map.count = 4;
    BREAKS(map.last, NULL, (map.above = root, addrmap_check(&map, start_of)), "no node is the last one, but one is above it");
    map.above = NULL;
    addrmap_clear(&map);
}

/* All of the last node is taken away: it is set aside. */
static void test_set_aside(void)
{
    struct addrmap map;
    open_map(&map);
    addrmap_remove(&map, FAR);
    addrmap_remove(&map, FAR + 2 * U);
    check_holds(addrmap_check(&map, start_of), "an empty last node that is set aside");
    BREAKS(map.before, &things[0], addrmap_check(&map, start_of), "the thing before the last node, at 0x10000000000, is another one");
    BREAKS(map.last->present, 1, addrmap_check(&map, start_of), "the last node, with the bits 0x1, is set aside");
    struct addrmap_node *next = map.above->child[map.above_slot];
    BREAKS(next->present, next->present | 1u << 9, addrmap_check(&map, start_of), "a node set aside with the empty last one leads elsewhere");
    BREAKS(map.above->child[map.above_slot], NULL, addrmap_check(&map, start_of), "the way to the last node, at 0x10000000000, ends");
    addrmap_remove(&map, 3 * U);
    addrmap_remove(&map, 5 * U);
    check_holds(addrmap_check(&map, start_of), "a map without things");
    addrmap_clear(&map);
    check_holds(addrmap_check(&map, start_of), "a cleared map");
}

static void test_at(void)
{
    struct addrmap map;
    open_map(&map);
    for (unsigned i = 0; i < 4; i++)
        check_holds(addrmap_check_at(&map, things[i].start, start_of), "around a thing");
    check_holds(addrmap_check_at(&map, UINT64_MAX, start_of), "at the last address");
    BREAKS(things[2].start, FAR + 1, addrmap_check_at(&map, FAR, start_of), "the floor of 0x10000000000 starts at 0x10000000001");
    BREAKS(things[1].start, 4 * U - 1, addrmap_check_at(&map, 4 * U, start_of), "the next thing after 0x4000 starts at 0x3fff");
    BREAKS(things[1].start, 7 * FAR, addrmap_check_at(&map, 4 * U, start_of), "what starts at 0x70000000000 is not found there");
    struct addrmap_node own = *map.last, *last = map.last;
    own.child[0] = &things[0];
    map.last = &own;
    check_breaks(addrmap_check_at(&map, FAR, start_of), "one thing through the last node and another from the root");
    map.last = last;
    addrmap_clear(&map);
}

int main(void)
{
    test_things();
    test_nodes();
    test_set_aside();
    test_at();
    return tap_done();
}
