/* SPDX-License-Identifier: Apache-2.0 */
/* mempool.h - the memory of one pool: chooses the addresses of an allocation on a stream, and tracks which of them have memory.
 *
 *     alloc 40 MiB on S       addresses  [ live 40 ....... | free ................................. ]
 *                             memory     [ chunk 32 | chunk 32 ]
 *     free on S, alloc 2 on S            [ live 2 | pending 38 | free ............................. ]    the same addresses, at once
 *     free on S, alloc 2 on T            [ pending 40 ....     | live 2 | free .................... ]    T must not use them yet
 *     a call waits for S                 [ free 40 ...         | live 2 | free .................... ]
 *     trim                    memory                [ chunk 32 ]                                         the first chunk is free
 *
 * Knows addresses, sizes and positions in the queue, but no process: va/pools.h supplies addresses and physical
 * memory. The caller does all locking.
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
    struct mempool_chunk *next; /* used by the caller while it adds several */
};

/* The regions that one stream freed. */
struct region_lane {
    struct region_tree tree;
    struct region *newest; /* the others by region.older */
    struct queue_place place;
    uint32_t met; /* stream_clock.h */
    struct region_lane *next;
};

struct mempool {
    uint64_t start, size, chunk;     /* its addresses, and the size of a chunk */
    struct mempool_chunk **chunks;   /* by their index in the range; NULL if there is no memory */
    uint64_t room;                   /* entries of chunks; there is no memory beyond them */
    struct region *first;
    struct region_tree backed, unbacked;
    /* of the streams that used this pool, in the order in which they first used any pool of the process */
    struct region_lane *lanes;
    uint32_t lane_count;
    struct pool regions;             /* memory for them */
    uint64_t orders, frees;
    uint64_t reserved, reserved_high, used, used_high;
    uint64_t threshold;
    bool lowered;        /* the threshold was exceeded, and no wait has trimmed since */
    bool follow_events, opportunistic, internal;
    uint64_t live, pending;          /* numbers of regions */
    uint64_t pins;
    uint32_t idle;
};

/* chunk is a power of two, start and size are multiples of it. False when host memory is exhausted. */
bool mempool_init(struct mempool *pool, uint64_t start, uint64_t size, uint64_t chunk);
/* Frees the records; the caller must have removed every chunk. */
void mempool_clear(struct mempool *pool);

/* The stream of an allocation, and its knowledge of other streams' frees. */
struct mempool_request {
    uint64_t size;                   /* a multiple of the unit */
    const struct queue_place *place; /* of its stream */
    bool (*ordered)(void *user, const struct free_mark *mark); /* are the mark's frees ordered before work issued there now? */
    bool (*done)(void *user, const struct free_mark *mark);
    void *user;
};

/* Adds the stream to the pool, if host memory permits: frees of other streams are examined in the order of `met`
 * (stream_clock_meet). */
void mempool_meet(struct mempool *pool, const struct queue_place *place, uint32_t met);

/* The region whose low part the request gets; it may need memory. NULL when no addresses are left. Each step takes
 * the smallest region that is large enough, and among equal ones the first to get there:
 *
 *     1 regions freed by the request's own stream
 *     2 free regions that are completely backed
 *     3  with follow_events: what another stream freed before the request in the order of streams, one stream after the other
 *     4  with opportunistic: what another stream freed, if that is done, one stream after the other; then all frees that are done
 *        become free for all
 *     5  what is free
 *
 * Changes nothing else. */
struct region *mempool_find(struct mempool *pool, const struct mempool_request *request);

/* The oldest large enough region freed by another stream: the request's stream would have to wait for its mark. */
struct region *mempool_find_to_wait(const struct mempool *pool, const struct mempool_request *request);

/* Makes the low size bytes of a region live; `asked` is the requested size. All of them have memory. False, with
 * nothing changed, when host memory is exhausted. */
bool mempool_take(struct mempool *pool, struct region *region, uint64_t size, uint64_t asked);

/* Cuts the free region [start, start + size) out of its surroundings, for mempool_take; mempool_join merges it again. NULL,
 * with nothing changed, if the range is not completely free, or host memory is exhausted (*out). */
struct region *mempool_cut(struct mempool *pool, uint64_t start, uint64_t size, bool *out);
void mempool_join(struct mempool *pool, struct region *region);

/* Frees a live region for all streams at once. As measured, `used` does not fall. Returns the free region that
 * contains it then. */
const struct region *mempool_free(struct mempool *pool, struct region *region);
/* Frees a live region in the order of a stream. False, with nothing changed, when host memory is exhausted. */
bool mempool_pend(struct mempool *pool, struct region *region, struct free_mark *mark, const struct queue_place *place);
/* Makes pending regions that `wanted` accepts free for all: stream by stream, the latest free of each first. Was there any? */
bool mempool_return(struct mempool *pool, bool (*wanted)(void *user, const struct region *region), void *user);

/* The chunk of an address; NULL: it has no memory. */
static inline struct mempool_chunk *mempool_chunk_at(const struct mempool *pool, uint64_t address)
{
    uint64_t i = (address - pool->start) / pool->chunk;
    return i < pool->room ? pool->chunks[i] : NULL;
}

/* Makes sure that chunks up to the end of a range can be added; false when the host's memory is out. */
bool mempool_make_room(struct mempool *pool, uint64_t end);
/* Adds a missing chunk, for which there is room. The region around it must be free. */
void mempool_add(struct mempool *pool, struct mempool_chunk *chunk);
/* Keeps the chunks of a range, which must all exist, until mempool_unpin of the same range; other pins may overlap. */
void mempool_pin(struct mempool *pool, uint64_t start, uint64_t size);
void mempool_unpin(struct mempool *pool, uint64_t start, uint64_t size);
/* Removes a chunk with busy 0. */
void mempool_remove(struct mempool *pool, struct mempool_chunk *chunk);
/* The region that starts at an address, or NULL. */
const struct region *mempool_region_at(const struct mempool *pool, uint64_t start);

/* The idle chunk to remove first, as measured: the last one in the free region that was first in its tree; NULL:
 * none. Of the region taken, whose low part up to end is about to become live, the rest comes after all others. */
struct mempool_chunk *mempool_idle_chunk(const struct mempool *pool, const struct region *taken, uint64_t end);

const char *mempool_check(const struct mempool *pool);

#endif
