/* SPDX-License-Identifier: Apache-2.0 */
/* mempool.h - the memory of one pool: which of its addresses an allocation on a stream gets, and which of them have memory.
 *
 *     alloc 40 MiB on S       addresses  [ live 40 ....... | free ................................. ]
 *                             memory     [ chunk 32 | chunk 32 ]
 *     free on S, alloc 2 on S            [ live 2 | pending 38 | free ............................. ]    the same addresses, at once
 *     free on S, alloc 2 on T            [ pending 40 ....     | live 2 | free .................... ]    T may not have them yet
 *     a call waits for S                 [ free 40 ...         | live 2 | free .................... ]
 *     trim                    memory                [ chunk 32 ]                                         the first chunk is free as a whole
 *
 * Knows addresses, sizes and places in the queue, and no process: va/pools.h brings addresses and physical memory. The caller does
 * all locking.
 *
 * Invariants (mempool_check):
 *     the regions          = the pool's range, in order, none empty, each a multiple of the unit
 *     free neighbours      never touch, nor do pending ones of one stream
 *     a region is          live, or in one tree: backed or unbacked where it is free, its lane's where it is pending
 *     backed               = all chunks that the free region lies in are there; live and pending regions lie in such chunks only
 *     busy of a chunk      = the number of live and pending regions in it, and of pins;     idle = the number of chunks with busy 0
 *     pins                 = the number of pins of all chunks
 *     reserved             = chunks * their size;     live, pending = the number of such regions; high marks >= what they are of
 *     refs of a mark       = the pending regions that name it
 */
#ifndef SIM_MEMPOOL_H
#define SIM_MEMPOOL_H

#include "pool.h"
#include "queue.h"
#include "region.h"

struct sim_block;
struct mempool;

/* One chunk's memory. */
struct mempool_chunk {
    uint64_t start, size;
    struct sim_block *block;
    struct mempool *pool;
    uint32_t busy;
    bool shown; /* the program reads and writes it in place (host memory) */
    struct mempool_chunk *next; /* for the caller, while it adds several */
};

/* What one stream freed. */
struct region_lane {
    struct region_tree tree;
    struct region *newest; /* the others by region.older */
    struct queue_place place;
    uint32_t met; /* stream_clock.h */
    struct region_lane *next;
};

struct mempool {
    uint64_t start, size, chunk;     /* its addresses, and the size of a chunk */
    struct mempool_chunk **chunks;   /* by their place in the range; NULL where there is no memory */
    uint64_t room;                   /* entries of chunks; those beyond have no memory either */
    struct region *first;
    struct region_tree backed, unbacked;
    struct region_lane *lanes;       /* in the order in which the streams met a pool of the process, of those that met this one */
    uint32_t lane_count;
    struct pool regions;             /* memory for them */
    uint64_t orders, frees;
    uint64_t reserved, reserved_high, used, used_high;
    uint64_t threshold;
    bool lowered;        /* the threshold was, and no wait has trimmed for that since */
    bool follow_events, opportunistic, internal;
    uint64_t live, pending;          /* numbers of regions */
    uint64_t pins;
    uint32_t idle;
};

/* chunk is a power of two, start and size are multiples of it. False when the host's memory is out. */
bool mempool_init(struct mempool *pool, uint64_t start, uint64_t size, uint64_t chunk);
/* Frees the records; the caller has taken back every chunk. */
void mempool_clear(struct mempool *pool);

/* Whom an allocation is for, and what it may know of other streams' frees. */
struct mempool_request {
    uint64_t size;                   /* a multiple of the unit */
    const struct queue_place *place; /* of its stream */
    bool (*ordered)(void *user, const struct free_mark *mark); /* do the mark's frees come before what is issued there now? */
    bool (*done)(void *user, const struct free_mark *mark);
    void *user;
};

/* From now on the pool knows the stream, if the host has memory for that: other streams' frees are looked at in the order of met
 * (stream_clock_meet). */
void mempool_meet(struct mempool *pool, const struct queue_place *place, uint32_t met);

/* The region of which the request gets the low part; it may need memory. NULL when no addresses are left. Each step takes the
 * smallest region that is large enough, of equal ones that which came there first:
 *
 *     1  what the request's own stream freed
 *     2  what is free and has memory as a whole
 *     3  with follow_events: what another stream freed before the request in the order of streams, one stream after the other
 *     4  with opportunistic: what another stream freed, if that is done, one stream after the other; then all frees that are done
 *        become free for all
 *     5  what is free
 *
 * Changes nothing but that. */
struct region *mempool_find(struct mempool *pool, const struct mempool_request *request);

/* The oldest of what other streams freed and that is large enough: the request's stream would have to wait for its mark. */
struct region *mempool_find_to_wait(const struct mempool *pool, const struct mempool_request *request);

/* Makes the low size bytes of a region live, of which asked were asked for. All of them have memory. False, with nothing changed,
 * when the host's memory is out. */
bool mempool_take(struct mempool *pool, struct region *region, uint64_t size, uint64_t asked);

/* The free region that begins at start, cut out of the one around, for mempool_take; mempool_join makes it part of that again. NULL,
 * with nothing changed, where [start, start + size) is not free as a whole, or the host's memory is out (*out). */
struct region *mempool_cut(struct mempool *pool, uint64_t start, uint64_t size, bool *out);
void mempool_join(struct mempool *pool, struct region *region);

/* Frees a live region for all at once. As measured, used does not fall. Returns the free region that it is part of then. */
const struct region *mempool_free(struct mempool *pool, struct region *region);
/* Frees a live region in the order of a stream. False, with nothing changed, when the host's memory is out. */
bool mempool_pend(struct mempool *pool, struct region *region, struct free_mark *mark, const struct queue_place *place);
/* Frees for all what is pending and wanted accepts: stream by stream, the latest free of each first. Was there any? */
bool mempool_return(struct mempool *pool, bool (*wanted)(void *user, const struct region *region), void *user);

/* The chunk of an address; NULL: it has no memory. */
static inline struct mempool_chunk *mempool_chunk_at(const struct mempool *pool, uint64_t address)
{
    uint64_t i = (address - pool->start) / pool->chunk;
    return i < pool->room ? pool->chunks[i] : NULL;
}

/* Makes sure that chunks up to the end of a range can be added; false when the host's memory is out. */
bool mempool_make_room(struct mempool *pool, uint64_t end);
/* Adds a chunk where there is none, and there is room for it. The region around it is free. */
void mempool_add(struct mempool *pool, struct mempool_chunk *chunk);
/* Keeps the chunks of a range, all of which are there, until mempool_unpin of the same range; other pins may overlap. */
void mempool_pin(struct mempool *pool, uint64_t start, uint64_t size);
void mempool_unpin(struct mempool *pool, uint64_t start, uint64_t size);
/* Removes a chunk with busy 0. */
void mempool_remove(struct mempool *pool, struct mempool_chunk *chunk);
/* The region that starts at an address, or NULL. */
const struct region *mempool_region_at(const struct mempool *pool, uint64_t start);

/* The idle chunk that goes first, as measured: the last one in the free region that came first to its tree; NULL for none. Of the
 * region taken, of which the low part up to end is about to be live, the rest comes after all others. */
struct mempool_chunk *mempool_idle_chunk(const struct mempool *pool, const struct region *taken, uint64_t end);

const char *mempool_check(const struct mempool *pool);

#endif
