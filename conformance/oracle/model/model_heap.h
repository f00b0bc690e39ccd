/* SPDX-License-Identifier: Apache-2.0 */
/* model_heap.h - where a memory pool places its allocations, as plainly as the recordings allow (facts: pools, groups C, G, H, Q, S).
 *
 * Addresses are offsets in the pool's range. Memory is committed in slots of 32 MiB:
 *
 *     slots  |0 backed      |1 backed      |2             |3 backed     |4 ...
 *     bytes  [block][free ][block ][pending of stream 1][main: free     ...
 *
 * A freed block is pending in the stream of its free, where only that stream takes it freely, until a synchronisation moves it to
 * main. Lists keep the order of insertion: of equal sizes the oldest is taken.
 */
#ifndef CUVMM_MODEL_HEAP_H
#define CUVMM_MODEL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_SLOT ((uint64_t)32 << 20)
enum { MODEL_FOLLOW = 1, MODEL_OPPORTUNISTIC = 2, MODEL_INTERNAL = 4 }; /* the reuse attributes */

/* Bytes that are free, pending or allocated. */
struct model_piece {
    uint64_t start, size; /* size: a multiple of 512 */
    uint64_t asked;       /* of an allocation: what the call asked for */
    uint64_t stream;      /* of a pending piece: where it was freed */
    uint64_t mark;        /* of a pending piece: its latest free, counted from 1 */
};

struct model_list {
    struct model_piece *piece;
    size_t count, room;
};

struct model_heap {
    uint64_t limit;      /* in slots */
    bool *backed;        /* of each slot of the range, which is twice the limit */
    uint64_t reserved;   /* backed slots */
    uint64_t used, used_high, reserved_high; /* in bytes */
    uint64_t threshold;  /* bytes */
    unsigned reuse;
    uint64_t frees;      /* so far */
    struct model_list main, pending, blocks;
    uint64_t *streams;   /* in the order of their first use */
    size_t stream_count, stream_room;
};

/* What the heap must know of streams. */
struct model_order {
    /* Is the free with that mark, in stream `of`, before what stream `in` does next? */
    bool (*ordered)(const void *user, uint64_t in, uint64_t of, uint64_t mark);
    bool (*complete)(const void *user, uint64_t of, uint64_t mark);
    const void *user;
};

/* A heap for at most `limit` bytes. */
void model_heap_open(struct model_heap *heap, uint64_t limit);
void model_heap_close(struct model_heap *heap);

/* The offset of size bytes (not 0) for stream; UINT64_MAX when there is no memory. device_slots: how many slots the device has left. */
uint64_t model_heap_take(struct model_heap *heap, uint64_t size, uint64_t stream, const struct model_order *order, uint64_t device_slots);

/* The allocation that starts at offset, or contains it; NULL for none. */
struct model_piece *model_heap_block(const struct model_heap *heap, uint64_t offset);

/* cuMemFreeAsync and cuMemFree of an allocation. */
void model_heap_free(struct model_heap *heap, struct model_piece *block, uint64_t stream);
void model_heap_free_now(struct model_heap *heap, struct model_piece *block);

/* The frees of all streams (all), else of one and those that it is ordered after, are seen to be done. */
void model_heap_synchronise(struct model_heap *heap, bool all, uint64_t stream, const struct model_order *order);

/* cuMemPoolTrimTo. */
void model_heap_trim(struct model_heap *heap, uint64_t keep);

#endif
