/* SPDX-License-Identifier: Apache-2.0 */
/* mempool.h - the memory of one pool: its chunks, and which part an allocation on a stream gets.
 *
 *     alloc 2 MiB on S        no chunk has room           grow            take
 *     chunks    (none)                                    [ free 32 MiB ] [ live 2 | free 30 ]
 *     free on S, alloc on S   [ pending 2 | free 30 ]     the same 2 MiB again, at once
 *     free on S, alloc on T   [ pending 2 | free 30 ]     [ pending 2 | live 2 | free 28 ]
 *
 * Knows addresses and streams' places, and no process: the caller takes addresses and physical memory for chunks (va/pools.h).
 * The caller does all locking.
 *
 * Invariants (mempool_check), beside those of region.h:
 *     reserved            = sizes of the chunks;  used = sizes of the live regions
 *     live, pending       = the number of such regions;  idle = the number of chunks that are free as a whole;  high marks >= what they are the most of
 */
#ifndef SIM_MEMPOOL_H
#define SIM_MEMPOOL_H

#include "pool.h"
#include "region.h"

struct sim_block;

struct mempool_chunk {
    uint64_t start, size;
    struct sim_block *block; /* behind it; the caller's */
    struct mempool *pool;
    struct region *first;
    struct mempool_chunk *next, *previous;
    uint32_t busy;           /* the number of its regions that are not free */
};

struct mempool {
    struct mempool_chunk *chunks; /* idle ones near the front */
    uint32_t idle;                /* the number of chunks that are free as a whole */
    struct region_bins free;
    struct region_bins *lanes;    /* one for each stream that has pending regions, and some that had */
    struct pool regions;          /* memory for regions */
    uint64_t reserved, reserved_high, used, used_high;
    uint64_t threshold;
    bool follow_events, opportunistic, internal;
    uint64_t live, pending;       /* numbers of regions */
};

void mempool_init(struct mempool *pool);
/* Frees the records; the caller has taken back every chunk's addresses and memory. */
void mempool_clear(struct mempool *pool);

/* Whom an allocation is for, and what it may know of other streams' frees. */
struct mempool_request {
    uint64_t size;                   /* a multiple of the unit */
    const struct queue_place *place; /* of its stream */
    /* Do the mark's frees come before anything issued at the place now? Are they done? NULL: never. */
    bool (*ordered)(void *user, const struct free_mark *mark);
    bool (*done)(void *user, const struct free_mark *mark);
    void *user;
    uint64_t waited; /* the number of a mark's item for which the stream waits already; 0: none */
};

/* A region that the request may have, or NULL: the pool has to grow. *wait: the mark that its stream must wait for first, or
 * NULL. Changes nothing. */
struct region *mempool_find(const struct mempool *pool, const struct mempool_request *request, struct free_mark **wait);

/* Makes the low size bytes of a region live, and returns them. NULL, with nothing changed, when the host's memory is out. */
struct region *mempool_take(struct mempool *pool, struct region *region, uint64_t size);

/* Frees a live region at once. */
void mempool_free(struct mempool *pool, struct region *region);
/* Frees a live region in the order of a stream. False, with nothing changed, when the host's memory is out. */
bool mempool_pend(struct mempool *pool, struct region *region, struct free_mark *mark, const struct queue_place *place);
/* A call has waited for the mark: what it freed is free. Leaves the mark empty. */
void mempool_known(struct free_mark *mark);

/* Adds a chunk, whose record and addresses are the caller's. False, with nothing changed, when the host's memory is out. */
bool mempool_add(struct mempool *pool, struct mempool_chunk *chunk);
/* Removes a chunk that is free as a whole. */
void mempool_remove(struct mempool *pool, struct mempool_chunk *chunk);
/* A chunk that is free as a whole, or NULL. */
struct mempool_chunk *mempool_idle_chunk(const struct mempool *pool);

/* The live region at an address of the chunk, or NULL: used by checks alone. */
const char *mempool_check(const struct mempool *pool);

#endif
