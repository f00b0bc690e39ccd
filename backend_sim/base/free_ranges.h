/* SPDX-License-Identifier: Apache-2.0 */
/* free_ranges.h - the free parts of an address space.
 *
 *   take [b, c):   before  [a ........ free ........ d)      after  [a .. b)        [c .. d)
 *   give [b, c):   before  [a .. b)        [c .. d)          after  [a ........ free ........ d)
 *
 * Free ranges never touch: neighbours are merged, except across a multiple of the barrier, if there is one. The choice of an
 * address depends only on the set of free ranges (the lowest that fits), so the same calls give the same addresses, and an equal
 * request reuses a freed range. A tree ordered by address stores the largest free range below each node. The caller does all
 * locking.
 *
 * Invariants (free_ranges_check):
 *     left < node < right   by address, and a gap or a barrier separates neighbours; no free range crosses a barrier or is empty
 *     largest               = the greatest size of the node's free range and those below it
 *     weight                >= the weights below it
 *     holes + spare         = ranges granted + ranges taken, and the pool has handed out no other node
 */
#ifndef SIM_FREE_RANGES_H
#define SIM_FREE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chance.h"
#include "pool.h"

struct hole;

struct free_ranges {
    struct hole *root;
    struct hole *spare; /* nodes kept back by takes, so that freeing never allocates */
    uint64_t barrier;   /* a power of two, or 0 for none */
    uint64_t seed;      /* seeds the shape of the tree */
    struct pool nodes;
};

/* Initialises a set without free ranges. */
void free_ranges_init(struct free_ranges *holes, uint64_t barrier);
void free_ranges_clear(struct free_ranges *holes);

/* Adds a new free range that overlaps none so far. Returns false, and changes nothing, when memory is out. */
bool free_ranges_grant(struct free_ranges *holes, uint64_t start, uint64_t size);
/* Removes the range that was granted at start, all of which must be free again. Between two barriers the range is a single free
 * range; without barriers, it must not have merged with another one. */
void free_ranges_remove(struct free_ranges *holes, uint64_t start);

/* Finds the lowest multiple of alignment (a power of two) at or above from where size bytes are free; returns false if
 * there is none. */
bool free_ranges_find(const struct free_ranges *holes, uint64_t size, uint64_t alignment, uint64_t from, uint64_t *address);

/* Takes [address, address + size), which must be free. Returns false, and changes nothing, when memory is out. */
bool free_ranges_take(struct free_ranges *holes, uint64_t address, uint64_t size);
/* Frees a taken range, with the same bounds as when it was taken. */
void free_ranges_add(struct free_ranges *holes, uint64_t address, uint64_t size);

/* ranges: granted + taken, or SIZE_MAX if the caller does not know. */
const char *free_ranges_check(const struct free_ranges *holes, size_t ranges);
/* Checks only the free range around or before an address, the next one, and the path to them. */
const char *free_ranges_check_at(const struct free_ranges *holes, uint64_t address);
/* The number of free bytes in [start, end). */
uint64_t free_ranges_sum(const struct free_ranges *holes, uint64_t start, uint64_t end);
/* range_ends of all free ranges, added up. */
uint64_t free_ranges_ends(const struct free_ranges *holes);

/* Over several ranges it adds up to range_ends(a, b) exactly when they cover [a, b), each byte once: the end of one then cancels
 * the start of the next. So it detects an overlap even if there is also a gap of the same size. */
static inline uint64_t range_ends(uint64_t start, uint64_t end)
{
    return chance_of(0, end) - chance_of(0, start);
}

#endif
