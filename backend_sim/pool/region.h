/* SPDX-License-Identifier: Apache-2.0 */
/* region.h - the parts of a pool's chunk: which are allocated, which wait for their stream, which are free.
 *
 *     chunk     [ live ........ | pending on S | live | free ............. ]     regions tile it, linked by address
 *     take      [ live ........ | live | pend. | live | free ............. ]     the low part of a region; the rest stays what it was
 *     known     [ live ........ | live | free  | live | free ............. ]     S came to the free, and the host knows: it is free
 *
 * A region that a stream freed is pending until a call has waited for that: its stream may have it again at once, others may
 * not. A free mark is the place in a stream's order of everything that was freed there with nothing else in between.
 *
 * Invariants (mempool_check):
 *     the regions of a chunk    = the chunk, in order, none empty; each is a multiple of the unit
 *     free neighbours           never touch, nor do pending ones of one mark
 *     a region is in bins       exactly when it is not live: those of its pool, or of the stream that freed it
 *     a mark's list             = the pending regions that name the mark
 */
#ifndef SIM_REGION_H
#define SIM_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "queue.h"

enum region_state { REGION_FREE, REGION_PENDING, REGION_LIVE };

struct mempool;
struct mempool_chunk;
struct region_bins;

/* Everything that one place of the queue frees; the owner of the queue's item keeps it, and calls mempool_known. */
struct free_mark {
    struct region *first;
    const struct queue_item *item;
};

struct region {
    uint64_t start, size;
    struct region *before, *after; /* by address, in the chunk */
    struct mempool_chunk *chunk;
    enum region_state state;
    struct region_bins *bins;      /* NULL while live */
    struct region *next, *previous; /* in the bin */
    struct free_mark *mark;        /* of a pending one */
    struct region *mark_next, *mark_previous;
};

/* Regions by size: four bins for each power of two of units. */
enum { REGION_BINS = 256, REGION_WORDS = REGION_BINS / 64 };

struct region_bins {
    uint64_t some[REGION_WORDS]; /* one bit for each bin that has a region */
    struct region *first[REGION_BINS];
    struct queue_place lane;     /* of the stream that freed them; not of free ones */
    struct region_bins *next;    /* those of the next stream */
};

void region_bins_add(struct region_bins *bins, struct region *region);
void region_bins_remove(struct region *region);

/* A region of at least size bytes, of the smallest bin that has one; NULL when there is none. fits: which may be had; NULL: all. */
struct region *region_bins_find(const struct region_bins *bins, uint64_t size,
                                bool (*fits)(void *user, const struct region *region), void *user);

static inline bool region_bins_empty(const struct region_bins *bins)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < REGION_WORDS; i++)
        any |= bins->some[i];
    return !any;
}

/* The number of the bin for that size. */
unsigned region_bin(uint64_t size);

#endif
