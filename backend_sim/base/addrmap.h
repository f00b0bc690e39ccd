/* SPDX-License-Identifier: Apache-2.0 */
/* addrmap.h - an ordered map from addresses to things that start there.
 *
 * A trie with 64 children per node; each node has a bitmap of its children. The map stores a thing once, at its first address,
 * whatever its size; the thing that contains a byte is the floor of that byte. Every operation walks at most one path down and
 * one up, so its cost depends on the greatest address ever used, not on the number or size of the things. The map caches the node
 * of the last insertion or removal, and the next operation on that node walks no path. Lookups update no cache, so several can
 * run at once.
 *
 *     insert 0x600000:   before  0x200000 .......... 0xa00000      after  0x200000 .. 0x600000 .. 0xa00000
 *     floor(0x7fffff) -> the thing at 0x600000                     ceil(0x600001) -> the thing at 0xa00000
 *
 * A map can have room for its things if they all have one size. A lowest node with more than ADDRMAP_SPARSE things, or beside a wide
 * one, is then wide: it has room for a thing at each of its addresses, and things that are made from then on lie there. The address of
 * a wide node tells where its things are, so a search among a million of them waits for memory once less:
 *
 *     narrow   [bits | addresses of 64 things]          wide   [bits | addresses of 64 things | 64 things]
 *
 * Addresses must be multiples of 1 << shift. The caller does all locking.
 *
 * Invariants (addrmap_check):
 *     count         = things in the trie; each is stored at its first address, and no two share one
 *     own           is part of present, and 0 in a node that is not wide; all other things of a map with room are from the pool of things
 *     present       != 0 in each node that the root leads to: an empty node is freed, or detached and kept as last
 *     last          = the node at last_key; empty exactly when its bit in above is off, and then a single path leads to it
 *     before        = the greatest thing below the range of last, whenever above is known
 *     floor, ceil   return the same through last as from the root
 */
#ifndef SIM_ADDRMAP_H
#define SIM_ADDRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool.h"

enum { ADDRMAP_BITS = 6, ADDRMAP_FANOUT = 1 << ADDRMAP_BITS, ADDRMAP_SPARSE = 16 };

/* Private to addrmap. */
struct addrmap_node {
    uint64_t present;            /* bit i: child[i] is set; children without a bit are undefined */
    uint64_t own;                /* bit i: the thing lies in the node's room, and child[i] is undefined */
    bool wide;                   /* it has room */
    uintptr_t row;               /* where the child of bit 0 is if wide children lie one after another, which is a guess; 0: no wide one yet */
    void *child[ADDRMAP_FANOUT]; /* nodes; in a lowest node, things */
};

/* Where the room of a wide node starts: at a cache line of its own. */
enum { ADDRMAP_ROOM = (sizeof(struct addrmap_node) + 63) / 64 * 64 };

struct addrmap {
    struct addrmap_node *root; /* NULL while empty */
    unsigned shift;            /* low bits that are zero in every address */
    unsigned levels;           /* each covers 6 bits of the address; enough for the greatest address so far */
    size_t count;
    struct addrmap_node *last; /* the lowest node of the last change, or NULL; detached (its bit in above is off) when empty */
    uint64_t last_key;         /* the address bits that last covers */
    struct addrmap_node *above; /* the lowest ancestor of last with another child, or the root; NULL: unknown */
    unsigned above_slot;
    void *before; /* valid with above: the greatest thing below the range of last */
    size_t size;  /* of a thing; 0: the things are the caller's */
    struct pool nodes, wide, things;
};

/* Initialises an empty map, which owns no memory yet. */
void addrmap_init(struct addrmap *map, unsigned shift);
/* The same for a map with room for things of size bytes, a multiple of a pointer's. */
void addrmap_init_room(struct addrmap *map, unsigned shift, size_t size);
/* Frees the nodes, and the things of a map with room; other things are the caller's. The map is empty afterwards. */
void addrmap_clear(struct addrmap *map);

/* Stores thing (not NULL) at address, where no thing starts yet. Returns false, and changes nothing, when memory is exhausted. */
bool addrmap_insert(struct addrmap *map, uint64_t address, void *thing);
/* Removes and returns the thing that starts at address; NULL if there is none. */
void *addrmap_remove(struct addrmap *map, uint64_t address);

/* What a map with room has in place of these two. Makes a thing with undefined contents at address, where none starts yet. Returns NULL,
 * and changes nothing, when memory is out. */
void *addrmap_make(struct addrmap *map, uint64_t address);
/* Removes the thing that starts at address, if there is one, and frees its memory. */
void addrmap_unmake(struct addrmap *map, uint64_t address);

/* Private: where a wide node has room for the thing of bit i, and the thing of bit i of any lowest node. */
static inline void *addrmap_room(const struct addrmap *map, const struct addrmap_node *node, unsigned i)
{
    return (unsigned char *)(uintptr_t)node + ADDRMAP_ROOM + i * map->size;
}
static inline void *addrmap_thing(const struct addrmap *map, const struct addrmap_node *node, unsigned i)
{
    return node->own >> i & 1 ? addrmap_room(map, node, i) : node->child[i];
}

/* The lowest node of the last change, if it covers the address. */
static inline const struct addrmap_node *addrmap_last(const struct addrmap *map, uint64_t address)
{
    return map->last && map->last_key == address >> map->shift >> ADDRMAP_BITS ? map->last : NULL;
}

/* The thing with the greatest start <= address, or with the least start >= address; NULL if there is none. Any address is
 * valid. */
void *addrmap_floor_walk(const struct addrmap *map, uint64_t address);
static inline void *addrmap_floor(const struct addrmap *map, uint64_t address)
{
    const struct addrmap_node *last = addrmap_last(map, address);
    if (last) {
        unsigned above = ADDRMAP_FANOUT - 1 - ((unsigned)(address >> map->shift) & (ADDRMAP_FANOUT - 1));
        uint64_t at_or_below = last->present << above;
        if (at_or_below)
            return addrmap_thing(map, last, ADDRMAP_FANOUT - 1 - above - (unsigned)__builtin_clzll(at_or_below));
        if (map->above)
            return map->before;
    }
    return addrmap_floor_walk(map, address);
}
void *addrmap_ceil(const struct addrmap *map, uint64_t address);

/* Like addrmap_ceil, for callers that need only things that start before end: if no thing starts in [address, end), the result
 * is NULL or a later thing. */
void *addrmap_next_walk(const struct addrmap *map, uint64_t address, uint64_t end);
static inline void *addrmap_next(const struct addrmap *map, uint64_t address, uint64_t end)
{
    return map->count && address < end ? addrmap_next_walk(map, address, end) : NULL;
}

/* The address at which a thing starts. */
typedef uint64_t addrmap_start(const void *thing);
/* Checks the whole map, or only the neighbours of an address, in as many steps as a search takes. */
const char *addrmap_check(const struct addrmap *map, addrmap_start *start_of);
const char *addrmap_check_at(const struct addrmap *map, uint64_t address, addrmap_start *start_of);

#endif
