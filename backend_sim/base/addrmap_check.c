/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of addrmap.h. */
#include <inttypes.h>

#include "addrmap.h"
#include "checks.h"

enum { MAX_LEVELS = 11 };

struct walk {
    const struct addrmap *map;
    addrmap_start *start_of;
    size_t things, nodes, wide, own; /* own: of the things, those in the room of wide nodes */
};

static unsigned slot_of(const struct addrmap *map, uint64_t address, unsigned level)
{
    return (unsigned)(address >> (map->shift + ADDRMAP_BITS * level)) & (ADDRMAP_FANOUT - 1);
}

static void count_node(struct walk *walk, const struct addrmap_node *node)
{
    *(node->wide ? &walk->wide : &walk->nodes) += 1;
}

static const char *check_thing(struct walk *walk, const void *thing, uint64_t address)
{
    if (++walk->things > walk->map->count)
        return check_say("count is %zu, but more things are stored", walk->map->count);
    uint64_t start = walk->start_of(thing);
    if (start != address)
        return check_say("the thing stored at 0x%" PRIx64 " starts at 0x%" PRIx64, address, start);
    return NULL;
}

/* Counting ends the walk if a node leads to itself, because each path ends at things. */
static const char *check_node(struct walk *walk, const struct addrmap_node *node, unsigned level, uint64_t address)
{
    if (!node->present)
        return check_say("a node of level %u at 0x%" PRIx64 " is empty", level, address);
    if (node->own & ~(level || !node->wide ? 0 : node->present))
        return check_say("a node of level %u at 0x%" PRIx64 " has room for other things than its own", level, address);
    const char *said = NULL;
    count_node(walk, node);
    walk->own += (size_t)__builtin_popcountll(node->own);
    for (uint64_t left = node->present; left && !said; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        uint64_t at = address | (uint64_t)i << (walk->map->shift + ADDRMAP_BITS * level);
        const void *child = addrmap_thing(walk->map, node, i);
        if (!child)
            said = check_say("the child of level %u at 0x%" PRIx64 " is missing", level, at);
        else
            said = level ? check_node(walk, child, level - 1, at) : check_thing(walk, child, at);
    }
    return said;
}

/* Checks the nodes from the root to last, through the bit that is off in above when last is empty. */
static const char *check_path(struct walk *walk, uint64_t address)
{
    const struct addrmap *map = walk->map;
    const struct addrmap_node *node = map->root;
    bool off = false;
    for (unsigned level = map->levels - 1; level; level--) {
        unsigned i = slot_of(map, address, level);
        bool is_above = node == map->above && i == map->above_slot;
        if (off && node->present != UINT64_C(1) << i)
            return check_say("a node on the detached path to the empty last node has other children: its bitmap is 0x%" PRIx64,
                             node->present);
        if (!(node->present >> i & 1) && (off || !is_above))
            return check_say("no path leads to the last node, at 0x%" PRIx64, address);
        off |= !(node->present >> i & 1);
        node = node->child[i];
        if (!node)
            return check_say("the path to the last node, at 0x%" PRIx64 ", ends", address);
        if (off)
            count_node(walk, node);
    }
    if (node != map->last)
        return check_say("last is not the node at its own key, 0x%" PRIx64, address);
    if (off != !map->last->present)
        return check_say("the last node, with the bitmap 0x%" PRIx64 ", is %s", map->last->present,
                         off ? "detached" : "attached");
    return NULL;
}

static const char *check_last(struct walk *walk)
{
    const struct addrmap *map = walk->map;
    uint64_t address = map->last_key << ADDRMAP_BITS << map->shift;
    if (!map->last)
        return map->above ? check_say("above is set, but last is not") : NULL;
    if (!map->root)
        return check_say("last is set, but the map has no root");
    const char *said = check_path(walk, address);
    if (said || !map->above)
        return said;
    const void *before = address ? addrmap_floor_walk(map, address - 1) : NULL;
    return before == map->before ? NULL
        : check_say("the cached thing before the last node, at 0x%" PRIx64 ", is the wrong one", address);
}

const char *addrmap_check(const struct addrmap *map, addrmap_start *start_of)
{
    struct walk walk = {map, start_of, 0, 0, 0, 0};
    if (!map->levels || map->levels > MAX_LEVELS || map->shift + ADDRMAP_BITS * (map->levels - 1) >= 64)
        return check_say("%u levels of 6 bits do not fit above the lowest %u bits", map->levels, map->shift);
    bool alone = map->root && map->last && !map->last->present && !map->root->present; /* every node is detached */
    const char *said = map->root && !alone ? check_node(&walk, map->root, map->levels - 1, 0) : NULL;
    if (!said && walk.things != map->count)
        said = check_say("count is %zu, but %zu things are stored", map->count, walk.things);
    if (alone)
        count_node(&walk, map->root);
    said = said ? said : check_last(&walk);
    said = said ? said : check_in(pool_check(&map->nodes, walk.nodes), "nodes");
    said = said ? said : check_in(pool_check(&map->wide, walk.wide), "wide nodes");
    return said ? said : check_in(pool_check(&map->things, map->size ? map->count - walk.own : 0), "things");
}

const char *addrmap_check_at(const struct addrmap *map, uint64_t address, addrmap_start *start_of)
{
    const void *below = addrmap_floor(map, address); /* which is itself a walk if last does not cover the address */
    const void *walked = addrmap_last(map, address) ? addrmap_floor_walk(map, address) : below;
    const void *above = address < UINT64_MAX ? addrmap_ceil(map, address + 1) : NULL;
    if (below != walked)
        return check_say("the floor of 0x%" PRIx64 " differs between the search from last and the search from the root", address);
    if (below && start_of(below) > address)
        return check_say("the floor of 0x%" PRIx64 " starts at 0x%" PRIx64, address, start_of(below));
    if (above && start_of(above) <= address)
        return check_say("the next thing after 0x%" PRIx64 " starts at 0x%" PRIx64, address, start_of(above));
    if (above && addrmap_floor_walk(map, start_of(above)) != above)
        return check_say("the thing that starts at 0x%" PRIx64 " is not found at that address", start_of(above));
    return NULL;
}
