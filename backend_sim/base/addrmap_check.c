/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of addrmap.h. */
#include <inttypes.h>

#include "addrmap.h"
#include "checks.h"

enum { MAX_LEVELS = 11 };

struct walk {
    const struct addrmap *map;
    addrmap_start *start_of;
    size_t things, nodes;
};

static unsigned slot_of(const struct addrmap *map, uint64_t address, unsigned level)
{
    return (unsigned)(address >> (map->shift + ADDRMAP_BITS * level)) & (ADDRMAP_FANOUT - 1);
}

static const char *check_thing(struct walk *walk, const void *thing, uint64_t address)
{
    if (++walk->things > walk->map->count)
        return check_say("%zu things are counted, more are stored", walk->map->count);
    uint64_t start = walk->start_of(thing);
    if (start != address)
        return check_say("the thing stored at 0x%" PRIx64 " starts at 0x%" PRIx64, address, start);
    return NULL;
}

/* The count ends a walk through a node that leads to itself: each path ends at things. */
static const char *check_node(struct walk *walk, const struct addrmap_node *node, unsigned level, uint64_t address)
{
    if (!node->present)
        return check_say("a node of level %u at 0x%" PRIx64 " is empty", level, address);
    const char *said = NULL;
    walk->nodes++;
    for (uint64_t left = node->present; left && !said; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        uint64_t at = address | (uint64_t)i << (walk->map->shift + ADDRMAP_BITS * level);
        if (!node->child[i])
            said = check_say("the child of level %u at 0x%" PRIx64 " is missing", level, at);
        else
            said = level ? check_node(walk, node->child[i], level - 1, at) : check_thing(walk, node->child[i], at);
    }
    return said;
}

/* The nodes from the root to last, past the bit that above has off for an empty one. */
static const char *check_path(struct walk *walk, uint64_t address)
{
    const struct addrmap *map = walk->map;
    const struct addrmap_node *node = map->root;
    bool off = false;
    for (unsigned level = map->levels - 1; level; level--) {
        unsigned i = slot_of(map, address, level);
        bool is_above = node == map->above && i == map->above_slot;
        if (off && node->present != UINT64_C(1) << i)
            return check_say("a node set aside with the empty last one leads elsewhere: its bits are 0x%" PRIx64, node->present);
        if (!(node->present >> i & 1) && (off || !is_above))
            return check_say("no node leads to the last one, at 0x%" PRIx64, address);
        off |= !(node->present >> i & 1);
        node = node->child[i];
        walk->nodes += off;
        if (!node)
            return check_say("the way to the last node, at 0x%" PRIx64 ", ends", address);
    }
    if (node != map->last)
        return check_say("the last node is not the one at its addresses, 0x%" PRIx64, address);
    if (off != !map->last->present)
        return check_say("the last node, with the bits 0x%" PRIx64 ", is %s", map->last->present, off ? "set aside" : "not set aside");
    return NULL;
}

static const char *check_last(struct walk *walk)
{
    const struct addrmap *map = walk->map;
    uint64_t address = map->last_key << ADDRMAP_BITS << map->shift;
    if (!map->last)
        return map->above ? check_say("no node is the last one, but one is above it") : NULL;
    if (!map->root)
        return check_say("there is a last node, but no root");
    const char *said = check_path(walk, address);
    if (said || !map->above)
        return said;
    const void *before = address ? addrmap_floor_walk(map, address - 1) : NULL;
    return before == map->before ? NULL : check_say("the thing before the last node, at 0x%" PRIx64 ", is another one", address);
}

const char *addrmap_check(const struct addrmap *map, addrmap_start *start_of)
{
    struct walk walk = {map, start_of, 0, 0};
    if (!map->levels || map->levels > MAX_LEVELS || map->shift + ADDRMAP_BITS * (map->levels - 1) >= 64)
        return check_say("%u levels of 6 bits above the lowest %u", map->levels, map->shift);
    bool alone = map->root && map->last && !map->last->present && !map->root->present; /* all else is set aside */
    const char *said = map->root && !alone ? check_node(&walk, map->root, map->levels - 1, 0) : NULL;
    if (!said && walk.things != map->count)
        said = check_say("%zu things are counted, %zu are stored", map->count, walk.things);
    walk.nodes += alone;
    said = said ? said : check_last(&walk);
    return said ? said : check_in(pool_check(&map->nodes, walk.nodes), "nodes");
}

const char *addrmap_check_at(const struct addrmap *map, uint64_t address, addrmap_start *start_of)
{
    const void *below = addrmap_floor(map, address), *walked = addrmap_floor_walk(map, address);
    const void *above = address < UINT64_MAX ? addrmap_ceil(map, address + 1) : NULL;
    if (below != walked)
        return check_say("the floor of 0x%" PRIx64 " is one thing through the last node and another from the root", address);
    if (below && start_of(below) > address)
        return check_say("the floor of 0x%" PRIx64 " starts at 0x%" PRIx64, address, start_of(below));
    if (above && start_of(above) <= address)
        return check_say("the next thing after 0x%" PRIx64 " starts at 0x%" PRIx64, address, start_of(above));
    if (above && addrmap_floor_walk(map, start_of(above)) != above)
        return check_say("what starts at 0x%" PRIx64 " is not found there", start_of(above));
    return NULL;
}
