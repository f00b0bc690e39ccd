/* SPDX-License-Identifier: Apache-2.0 */
#include "addrmap.h"

#include <string.h>

/* With AddressSanitizer, room that holds no thing is as freed memory. */
#ifdef POOL_PLAIN
#include <sanitizer/asan_interface.h>
#define forbid(memory, size) ASAN_POISON_MEMORY_REGION(memory, size)
#define allow(memory, size) ASAN_UNPOISON_MEMORY_REGION(memory, size)
#else
#define forbid(memory, size) ((void)(memory))
#define allow(memory, size) ((void)(memory))
#endif

enum { BITS = ADDRMAP_BITS, FANOUT = ADDRMAP_FANOUT, MAX_LEVELS = 11 };

void addrmap_init(struct addrmap *map, unsigned shift)
{
    addrmap_init_room(map, shift, 0);
}

void addrmap_init_room(struct addrmap *map, unsigned shift, size_t size)
{
    *map = (struct addrmap){.shift = shift, .levels = 1, .size = size};
    pool_init(&map->nodes, sizeof(struct addrmap_node));
    pool_init(&map->wide, ADDRMAP_ROOM + FANOUT * size);
    pool_init(&map->things, size);
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

static void free_node(struct addrmap *map, struct addrmap_node *node)
{
    pool_free(node->wide ? &map->wide : &map->nodes, node);
}

#ifdef POOL_PLAIN /* Without POOL_PLAIN the pools free whole slabs. */
static void give_nodes(struct addrmap *map, struct addrmap_node *node, unsigned level)
{
    for (uint64_t left = level ? node->present : 0; left; left &= left - 1)
        give_nodes(map, node->child[lowest(left)], level - 1);
    for (uint64_t left = level || !map->size ? 0 : node->present & ~node->own; left; left &= left - 1)
        pool_free(&map->things, node->child[lowest(left)]);
    free_node(map, node);
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
        free_node(map, node);
        node = next;
    }
    free_node(map, node);
    if (!map->root->present) {
        free_node(map, map->root);
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
    pool_clear(&map->wide);
    pool_clear(&map->things);
    addrmap_init_room(map, map->shift, map->size);
}

static struct addrmap_node *new_node(struct addrmap *map)
{
    struct addrmap_node *node = pool_alloc(&map->nodes);
    if (node) {
        node->present = node->own = 0;
        node->wide = false;
        node->row = 0;
    }
    return node;
}

static struct addrmap_node *new_wide_node(struct addrmap *map)
{
    struct addrmap_node *node = pool_alloc(&map->wide);
    if (node) {
        node->present = node->own = 0;
        node->wide = true;
        forbid((unsigned char *)node + ADDRMAP_ROOM, FANOUT * map->size);
    }
    return node;
}

static bool is_wide(const struct addrmap_node *parent, unsigned i)
{
    return i < FANOUT && parent->present >> i & 1 && ((const struct addrmap_node *)parent->child[i])->wide;
}

/* Memory is often mapped piece by piece, in the order of the addresses: a lowest node beside a wide one will have as many things. When
 * memory for a wide one is out, a narrow one may still be had. */
static struct addrmap_node *new_child(struct addrmap *map, const struct addrmap_node *parent, unsigned i, unsigned level)
{
    struct addrmap_node *node = NULL;
    if (level == 1 && (is_wide(parent, i - 1) || is_wide(parent, i + 1)))
        node = new_wide_node(map);
    return node ? node : new_node(map);
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
        free_node(map, path[--depth]);
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
            struct addrmap_node *child = new_child(map, node, i, level);
            if (!child) {
                prune(map, address);
                return NULL;
            }
            /* analysers: malloc-leak is wrong: a new node is the root, or a child of its parent */
            node->child[i] = child;
            if (level == 1 && child->wide)
                node->row = (uintptr_t)child - i * map->wide.size;
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

/* Puts a wide node in the place of the last one, which has the address. When memory is out, the node stays narrow. */
static struct addrmap_node *widen(struct addrmap *map, uint64_t address)
{
    struct addrmap_node *wide = new_wide_node(map), *narrow = map->last, **way = &map->root;
    if (!wide)
        return narrow;
    wide->present = narrow->present;
    memcpy(wide->child, narrow->child, sizeof wide->child);
    for (unsigned level = map->levels - 1; level; level--)
        way = (struct addrmap_node **)&(*way)->child[slot(map, address, level)];
    *way = map->last = wide;
    free_node(map, narrow);
    return wide;
}

static bool is_crowded(const struct addrmap_node *node)
{
    return node->present & (node->present - 1) && __builtin_popcountll(node->present) >= ADDRMAP_SPARSE;
}

void *addrmap_make(struct addrmap *map, uint64_t address)
{
    struct addrmap_node *node = lowest_node(map, address);
    if (!node)
        return NULL;
    const unsigned i = slot(map, address, 0);
    const uint64_t bit = UINT64_C(1) << i;
    if (!node->wide && is_crowded(node))
        node = widen(map, address);
    void *thing = node->wide ? addrmap_room(map, node, i) : pool_alloc(&map->things);
    if (!thing) {
        if (!node->present)
            prune(map, address);
        return NULL;
    }
    if (node->wide) {
        allow(thing, map->size);
        node->own |= bit;
    } else
        node->child[i] = thing;
    node->present |= bit;
    map->count++;
    return thing;
}

/* The thing with the greatest or least address at or below node. */
static void *extreme(const struct addrmap *map, const struct addrmap_node *node, unsigned level, bool greatest)
{
    for (;; level--) {
        const unsigned i = greatest ? highest(node->present) : lowest(node->present);
        if (!level)
            return addrmap_thing(map, node, i);
        node = node->child[i];
    }
}

/* Fetches a wide node, its thing at address and the thing before, which the next call looks at if it maps here again. All three can be
 * under way before any has arrived; and if the children of a node were made in the order of their addresses, before the child's address
 * has. Where there is no wide node, nothing depends on it. */
static inline void prefetch(const struct addrmap *map, uintptr_t node, uint64_t address)
{
    const uintptr_t thing = node + ADDRMAP_ROOM + slot(map, address, 0) * map->size;
    __builtin_prefetch((const void *)node, 1);
    __builtin_prefetch((const void *)thing, 1);
    __builtin_prefetch((const void *)(thing - map->size));
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
        const bool there = node->present >> i & 1;
        if (level == 1 && node->row)
            prefetch(map, node->row + i * map->wide.size, address);
        if (!level && there) {
            if (side) /* the next call may map here again, and needs the thing before */
                __builtin_prefetch(addrmap_thing(map, node, turn_slot));
            return addrmap_thing(map, node, i);
        }
        node = level && there ? node->child[i] : NULL;
        if (level == 1 && map->size)
            prefetch(map, (uintptr_t)node, address);
    }
    if (!turn)
        return NULL;
    return turn_level ? extreme(map, turn->child[turn_slot], turn_level - 1, below) : addrmap_thing(map, turn, turn_slot);
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

/* Removes the thing that starts at address; *own: it lay in its node's room, and is no longer there. NULL when there is none. */
static void *take(struct addrmap *map, uint64_t address, bool *own)
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
    const uint64_t bit = UINT64_C(1) << i;
    void *thing = addrmap_thing(map, node, i);
    *own = node->own & bit;
    if (*own) {
        forbid(thing, map->size);
        node->own ^= bit;
    }
    node->present ^= bit;
    map->count--;
    if (!node->present)
        set_aside(map, address);
    return thing;
}

void *addrmap_remove(struct addrmap *map, uint64_t address)
{
    bool own = false;
    return take(map, address, &own);
}

void addrmap_unmake(struct addrmap *map, uint64_t address)
{
    bool own = true; /* there is nothing to free where no thing starts */
    void *thing = take(map, address, &own);
    if (!own)
        pool_free(&map->things, thing);
}

void *addrmap_floor_walk(const struct addrmap *map, uint64_t address)
{
    if (!map->count)
        return NULL;
    if (beyond(map, address))
        return extreme(map, map->root, map->levels - 1, true);
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
        return addrmap_thing(map, last, lowest(at_or_above));
    return neighbour(map, address, false);
}

void *addrmap_next_walk(const struct addrmap *map, uint64_t address, uint64_t end)
{
    uint64_t unit = UINT64_C(1) << map->shift;
    const struct addrmap_node *last = last_at(map, address);
    if (!last || (address & (unit - 1)) || key_of(map, end - 1) != map->last_key)
        return addrmap_ceil(map, address);
    uint64_t at_or_above = last->present & ~bits_below(slot(map, address, 0));
    return at_or_above ? addrmap_thing(map, last, lowest(at_or_above)) : NULL;
}
