#include "addrmap.h"

#include <stdlib.h>

enum { BITS = 6, FANOUT = 1 << BITS, MAX_LEVELS = 11 };

struct addrmap_node {
    uint64_t present;    /* bit i: child[i] is set */
    void *child[FANOUT]; /* nodes, or at the lowest level things */
};

void addrmap_init(struct addrmap *map, uint64_t limit, unsigned shift)
{
    uint64_t keys = (limit - 1) >> shift;
    map->root = NULL;
    map->shift = shift;
    map->levels = 1;
    map->count = 0;
    while (keys >>= BITS)
        map->levels++;
}

static unsigned slot(const struct addrmap *map, uint64_t address, unsigned level)
{
    return (unsigned)(address >> (map->shift + BITS * level)) & (FANOUT - 1);
}

/* Is the address past what the levels can tell apart? */
static bool beyond(const struct addrmap *map, uint64_t address)
{
    unsigned bits = map->shift + BITS * map->levels;
    return bits < 64 && address >> bits != 0;
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

static void free_node(struct addrmap_node *node, unsigned level)
{
    for (uint64_t left = level ? node->present : 0; left; left &= left - 1)
        free_node(node->child[lowest(left)], level - 1);
    free(node);
}

void addrmap_clear(struct addrmap *map)
{
    if (map->root)
        free_node(map->root, map->levels - 1);
    map->root = NULL;
    map->count = 0;
}

static struct addrmap_node *new_node(void)
{
    return calloc(1, sizeof(struct addrmap_node));
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
    while (depth && path[depth - 1]->present == 0) {
        free(path[--depth]);
        if (!depth)
            map->root = NULL;
        else
            path[depth - 1]->present &= ~(UINT64_C(1) << slot(map, address, top - depth + 1));
    }
}

bool addrmap_insert(struct addrmap *map, uint64_t address, void *thing)
{
    struct addrmap_node *node = map->root ? map->root : (map->root = new_node());
    for (unsigned level = map->levels - 1; node && level; level--) {
        unsigned i = slot(map, address, level);
        if (!(node->present >> i & 1)) {
            struct addrmap_node *child = new_node();
            if (!child) {
                prune(map, address);
                return false;
            }
            /* analysers: malloc-leak is wrong: a new node is the root, or a child of its parent */
            node->child[i] = child;
            node->present |= UINT64_C(1) << i;
        }
        node = node->child[i];
    }
    if (!node)
        return false;
    unsigned i = slot(map, address, 0);
    node->child[i] = thing;
    node->present |= UINT64_C(1) << i;
    map->count++;
    return true;
}

void *addrmap_remove(struct addrmap *map, uint64_t address)
{
    struct addrmap_node *node = beyond(map, address) ? NULL : map->root;
    for (unsigned level = map->levels - 1; node && level; level--) {
        unsigned i = slot(map, address, level);
        node = node->present >> i & 1 ? node->child[i] : NULL;
    }
    unsigned i = slot(map, address, 0);
    if (!node || !(node->present >> i & 1))
        return NULL;
    void *thing = node->child[i];
    node->present &= ~(UINT64_C(1) << i);
    map->count--;
    if (!node->present)
        prune(map, address);
    return thing;
}

/* The greatest or least thing at or below node. */
static void *extreme(struct addrmap_node *node, unsigned level, bool greatest)
{
    for (;; level--) {
        void *child = node->child[greatest ? highest(node->present) : lowest(node->present)];
        if (!level)
            return child;
        node = child;
    }
}

/* Walks to address as far as there are nodes, then takes the nearest neighbour on the wanted side. The neighbour hangs
 * off the deepest node of the path that has a child on that side, so one remembered turning is enough. */
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
        if (!level && child)
            return child;
        node = level ? child : NULL;
    }
    if (!turn)
        return NULL;
    return turn_level ? extreme(turn->child[turn_slot], turn_level - 1, below) : turn->child[turn_slot];
}

void *addrmap_floor(const struct addrmap *map, uint64_t address)
{
    if (!map->root)
        return NULL;
    if (beyond(map, address))
        return extreme(map->root, map->levels - 1, true);
    return neighbour(map, address, true);
}

void *addrmap_ceil(const struct addrmap *map, uint64_t address)
{
    uint64_t unit = UINT64_C(1) << map->shift, low = address & (unit - 1);
    if (!map->root || beyond(map, address))
        return NULL;
    if (low) { /* the next address at which something can start */
        if (address - low > UINT64_MAX - unit || beyond(map, address - low + unit))
            return NULL;
        address += unit - low;
    }
    return neighbour(map, address, false);
}
