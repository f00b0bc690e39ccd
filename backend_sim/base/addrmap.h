/* SPDX-License-Identifier: Apache-2.0 */
/* addrmap.h - an ordered map from addresses to things that start there.
 *
 * A trie with 64 children per node; each node has a bitmap of its children. The map stores a thing once, at its first address,
 * whatever its size; "which thing holds this byte" is the floor of the byte. Every operation walks at most one path down and
 * one up, so its cost depends on the greatest address ever used, not on the number or size of the things. The map caches the
 * place of the last insertion or removal, and continuing there walks nothing. Lookups update no cache, so several can run at
 * once.
 *
 *     insert 0x600000:   before  0x200000 .......... 0xa00000      after  0x200000 .. 0x600000 .. 0xa00000
 *     floor(0x7fffff) -> the thing at 0x600000                     ceil(0x600001) -> the thing at 0xa00000
 *
 * Addresses must be multiples of 1 << shift. The caller does all locking.
 *
 * Invariants (addrmap_check):
 *     count         = things in the trie, each at its own first address, of which no two are equal
 *     present       != 0 in each node that the root leads to: an empty node is set aside as last, or freed
 *     last          = the node at last_key; empty exactly when above's bit for it is off, and then one path leads to it
 *     before        = the greatest thing below all that last can hold, wherever above is known
 *     floor, ceil   find through last what they find from the root
 */
#ifndef SIM_ADDRMAP_H
#define SIM_ADDRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool.h"

enum { ADDRMAP_BITS = 6, ADDRMAP_FANOUT = 1 << ADDRMAP_BITS };

/* Private to the functions here. */
struct addrmap_node {
    uint64_t present;            /* bit i: child[i] is set; the others are undefined */
    void *child[ADDRMAP_FANOUT]; /* nodes, or at the lowest level things */
};

struct addrmap {
    struct addrmap_node *root; /* NULL while empty */
    unsigned shift;            /* low bits that every address has zero */
    unsigned levels;           /* 6 bits of the address each: as many as the greatest address has needed */
    size_t count;
    struct addrmap_node *last; /* the lowest node of the last change, or NULL; empty: it and what leads to nothing else
                                  hang below above, whose bit for them is off */
    uint64_t last_key;         /* its part of the addresses */
    struct addrmap_node *above; /* the lowest node that leads to last and elsewhere, or the root; NULL: not looked for */
    unsigned above_slot;
    void *before; /* with above: the thing before all that last could hold */
    struct pool nodes;
};

/* An empty map. Owns nothing yet. */
void addrmap_init(struct addrmap *map, unsigned shift);
/* Frees the nodes; the caller owns the things. The map is empty afterwards. */
void addrmap_clear(struct addrmap *map);

/* Stores thing (not NULL) at address, where no thing starts yet. Returns false, and changes nothing, when memory is out. */
bool addrmap_insert(struct addrmap *map, uint64_t address, void *thing);
/* Removes and returns the thing that starts at address; NULL when there is none. */
void *addrmap_remove(struct addrmap *map, uint64_t address);

/* The lowest node of the last change, if it covers the address. */
static inline const struct addrmap_node *addrmap_last(const struct addrmap *map, uint64_t address)
{
    return map->last && map->last_key == address >> map->shift >> ADDRMAP_BITS ? map->last : NULL;
}

/* The thing with the greatest start <= address, or the least start >= address; NULL when there is none. Any address is
 * valid. */
void *addrmap_floor_walk(const struct addrmap *map, uint64_t address);
static inline void *addrmap_floor(const struct addrmap *map, uint64_t address)
{
    const struct addrmap_node *last = addrmap_last(map, address);
    if (last) {
        unsigned above = ADDRMAP_FANOUT - 1 - ((unsigned)(address >> map->shift) & (ADDRMAP_FANOUT - 1));
        uint64_t at_or_below = last->present << above;
        if (at_or_below)
            return last->child[ADDRMAP_FANOUT - 1 - above - (unsigned)__builtin_clzll(at_or_below)];
        if (map->above)
            return map->before;
    }
    return addrmap_floor_walk(map, address);
}
void *addrmap_ceil(const struct addrmap *map, uint64_t address);

/* Like addrmap_ceil, for callers that need only things that start below end: when nothing starts in [address, end), the result
 * is NULL or a later thing. */
void *addrmap_next_walk(const struct addrmap *map, uint64_t address, uint64_t end);
static inline void *addrmap_next(const struct addrmap *map, uint64_t address, uint64_t end)
{
    return map->count && address < end ? addrmap_next_walk(map, address, end) : NULL;
}

/* The address at which a thing starts. */
typedef uint64_t addrmap_start(const void *thing);
/* Check the whole map, or only the neighbours of an address in as many steps as a search takes. */
const char *addrmap_check(const struct addrmap *map, addrmap_start *start_of);
const char *addrmap_check_at(const struct addrmap *map, uint64_t address, addrmap_start *start_of);

#endif
