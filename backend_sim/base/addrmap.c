/* SPDX-License-Identifier: Apache-2.0 */
#include "addrmap.h"

enum { BITS = ADDRMAP_BITS, FANOUT = ADDRMAP_FANOUT, MAX_LEVELS = 11 };

void addrmap_init(struct addrmap *map, unsigned shift)
{
    *map = (struct addrmap){.shift = shift, .levels = 1};
    pool_init(&map->nodes, sizeof(struct addrmap_node));
}

static unsigned slot(const struct addrmap *map, uint64_t address, unsigned level)
{
    return (unsigned)(address >> (map->shift + BITS * level)) & (FANOUT - 1);
}

/* Does the address lie beyond the range that the levels cover? */
static bool beyond(const struct addrmap *map, uint64_t address)
{
    unsigned bits = map->shift + BITS * map->levels;
    return bits < 64 && address >> bits != 0;
}

/* The address bits that all addresses of one lowest node share. */
static uint64_t key_of(const struct addrmap *map, uint64_t address)
{
    return address >> map->shift >> BITS;
}

/* addrmap_last, for callers that change the node. */
static struct addrmap_node *last_at(const struct addrmap *map, uint64_t address)
{
    return addrmap_last(map, address) ? map->last : NULL;
}

static void remember(struct addrmap *map, uint64_t address, struct addrmap_node *lowest)
{
    if (map->last == lowest)
        return;
    map->last = lowest;
    map->last_key = key_of(map, address);
    map->above = NULL;
}

static uint64_t bits_below(unsigned index)
{
    return (UINT64_C(1) << index) - 1;
}

static unsigned lowest(uint64_t bits)
{
    return (unsigned)__builtin_ctzll(bits);
}

static unsigned highest(uint64_t bits)
{
    return 63 - (unsigned)__builtin_clzll(bits);
}

#ifdef POOL_PLAIN /* Without POOL_PLAIN the pool frees whole slabs. */
static void give_nodes(struct addrmap *map, struct addrmap_node *node, unsigned level)
{
    for (uint64_t left = level ? node->present : 0; left; left &= left - 1)
        give_nodes(map, node->child[lowest(left)], level - 1);
    pool_free(&map->nodes, node);
}
#endif

/* Frees an empty last node, with the nodes that lead only to it. */
static void let_go(struct addrmap *map)
{
    if (!map->last || map->last->present)
        return;
    struct addrmap_node *node = map->above->child[map->above_slot];
    while (node != map->last) {
        struct addrmap_node *next = node->child[lowest(node->present)];
        pool_free(&map->nodes, node);
        node = next;
    }
    pool_free(&map->nodes, node);
    if (!map->root->present) {
        pool_free(&map->nodes, map->root);
        map->root = NULL;
    }
    map->last = map->above = NULL;
}

void addrmap_clear(struct addrmap *map)
{
#ifdef POOL_PLAIN
    let_go(map);
    if (map->root)
        give_nodes(map, map->root, map->levels - 1);
#endif
    pool_clear(&map->nodes);
    addrmap_init(map, map->shift);
}

static struct addrmap_node *new_node(struct addrmap *map)
{
    struct addrmap_node *node = pool_alloc(&map->nodes);
    if (node)
        node->present = 0;
    return node;
}

/* Removes the nodes on the path to address that have no child. */
static void prune(struct addrmap *map, uint64_t address)
{
    struct addrmap_node *path[MAX_LEVELS];
    unsigned depth = 0, top = map->levels - 1;
    struct addrmap_node *node = map->root;
    for (unsigned level = top; node; level--) {
        path[depth++] = node;
        unsigned i = slot(map, address, level);
        node = level && (node->present >> i & 1) ? node->child[i] : NULL;
    }
    map->last = map->above = NULL;
    while (depth && path[depth - 1]->present == 0) {
        pool_free(&map->nodes, path[--depth]);
        if (!depth)
            map->root = NULL;
        else
            path[depth - 1]->present &= ~(UINT64_C(1) << slot(map, address, top - depth + 1));
    }
}

/* Adds enough levels to cover the address. */
static bool grow(struct addrmap *map, uint64_t address)
{
    while (beyond(map, address)) {
        if (map->root) {
            struct addrmap_node *above = new_node(map);
            if (!above)
                return false;
            above->child[0] = map->root;
            above->present = 1;
            map->root = above;
        }
        map->levels++;
    }
    return map->root || (map->root = new_node(map)) != NULL;
}

/* The lowest node for address, created if there is none. */
static struct addrmap_node *lowest_node(struct addrmap *map, uint64_t address)
{
    struct addrmap_node *node = last_at(map, address);
    if (node && !node->present)
        map->above->present |= UINT64_C(1) << map->above_slot;
    if (node)
        return node;
    let_go(map);
    map->above = NULL; /* The tree is about to change. */
    if (!grow(map, address))
        return NULL;
    node = map->root;
    for (unsigned level = map->levels - 1; level; level--) {
        unsigned i = slot(map, address, level);
        if (!(node->present >> i & 1)) {
            struct addrmap_node *child = new_node(map);
            if (!child) {
                prune(map, address);
                return NULL;
            }
            /* analysers: malloc-leak is wrong: a new node is the root, or a child of its parent */
            node->child[i] = child;
            node->present |= UINT64_C(1) << i;
        }
        node = node->child[i];
    }
    remember(map, address, node);
    return node;
}

bool addrmap_insert(struct addrmap *map, uint64_t address, void *thing)
{
    struct addrmap_node *node = lowest_node(map, address);
    if (!node)
        return false;
    unsigned i = slot(map, address, 0);
    node->child[i] = thing;
    node->present |= UINT64_C(1) << i;
    map->count++;
    return true;
}

/* The thing with the greatest or least address at or below node. */
static void *extreme(struct addrmap_node *node, unsigned level, bool greatest)
{
    for (;; level--) {
        void *child = node->child[greatest ? highest(node->present) : lowest(node->present)];
        if (!level)
            return child;
        node = child;
    }
}

/* Walks down to address as far as nodes exist, then takes the nearest neighbour on the wanted side. The neighbour hangs off the
 * deepest node of the path that has a child on that side, so the walk remembers only one branch. */
static void *neighbour(const struct addrmap *map, uint64_t address, bool below)
{
    struct addrmap_node *node = map->root, *turn = NULL;
    unsigned turn_level = 0, turn_slot = 0;
    for (unsigned level = map->levels - 1; node; level--) {
        unsigned i = slot(map, address, level);
        uint64_t side = node->present & (below ? bits_below(i) : ~bits_below(i) & ~(UINT64_C(1) << i));
        if (side) {
            turn = node;
            turn_level = level;
            turn_slot = below ? highest(side) : lowest(side);
        }
        void *child = node->present >> i & 1 ? node->child[i] : NULL;
        if (!level && child) {
            if (side) /* the next call may map here again, and needs the thing before */
                __builtin_prefetch(node->child[turn_slot]);
            return child;
        }
        node = level ? child : NULL;
    }
    if (!turn)
        return NULL;
    return turn_level ? extreme(turn->child[turn_slot], turn_level - 1, below) : turn->child[turn_slot];
}

/* Detaches the empty last node: the node stays allocated for the next insertion, but no path leads to it. */
static void set_aside(struct addrmap *map, uint64_t address)
{
    if (map->levels == 1) {
        prune(map, address);
        return;
    }
    bool known = map->above != NULL;
    struct addrmap_node *node = map->root;
    for (unsigned level = map->levels - 1; !known && level; level--) {
        unsigned i = slot(map, address, level);
        if (!map->above || node->present & (node->present - 1)) {
            map->above = node;
            map->above_slot = i;
        }
        node = node->child[i];
    }
    map->above->present &= ~(UINT64_C(1) << map->above_slot);
    if (!known)
        map->before = neighbour(map, address, true);
}

void *addrmap_remove(struct addrmap *map, uint64_t address)
{
    struct addrmap_node *node = last_at(map, address);
    if (!node) {
        node = beyond(map, address) ? NULL : map->root;
        for (unsigned level = map->levels - 1; node && level; level--) {
            unsigned i = slot(map, address, level);
            node = node->present >> i & 1 ? node->child[i] : NULL;
        }
    }
    unsigned i = slot(map, address, 0);
    if (!node || !(node->present >> i & 1))
        return NULL;
    if (node != map->last)
        let_go(map);
    remember(map, address, node);
    void *thing = node->child[i];
    node->present &= ~(UINT64_C(1) << i);
    map->count--;
    if (!node->present)
        set_aside(map, address);
    return thing;
}

void *addrmap_floor_walk(const struct addrmap *map, uint64_t address)
{
    if (!map->count)
        return NULL;
    if (beyond(map, address))
        return extreme(map->root, map->levels - 1, true);
    return neighbour(map, address, true);
}

void *addrmap_ceil(const struct addrmap *map, uint64_t address)
{
    uint64_t unit = UINT64_C(1) << map->shift, low = address & (unit - 1);
    if (!map->count || beyond(map, address))
        return NULL;
    if (low) { /* the next address at which something can start */
        if (address - low > UINT64_MAX - unit || beyond(map, address - low + unit))
            return NULL;
        address += unit - low;
    }
    const struct addrmap_node *last = last_at(map, address);
    uint64_t at_or_above = last ? last->present & ~bits_below(slot(map, address, 0)) : 0;
    if (at_or_above)
        return last->child[lowest(at_or_above)];
    return neighbour(map, address, false);
}

void *addrmap_next_walk(const struct addrmap *map, uint64_t address, uint64_t end)
{
    uint64_t unit = UINT64_C(1) << map->shift;
    const struct addrmap_node *last = last_at(map, address);
    if (!last || (address & (unit - 1)) || key_of(map, end - 1) != map->last_key)
        return addrmap_ceil(map, address);
    uint64_t at_or_above = last->present & ~bits_below(slot(map, address, 0));
    return at_or_above ? last->child[lowest(at_or_above)] : NULL;
}
