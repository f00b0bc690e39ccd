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

#define MODEL_SLOT ((uint64_t)32 << 20) /* on every machine that was recorded */
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

/* Why there is no memory. */
enum model_shortage { MODEL_ENOUGH, MODEL_NO_ADDRESSES, MODEL_LIMIT, MODEL_DEVICE };

/* The streams of a process in the order in which a pool was first used on them. */
struct model_streams {
    uint64_t *stream;
    size_t count, room;
};

struct model_heap {
    uint64_t slot;       /* bytes of one: MODEL_SLOT, less on a machine with little memory */
    uint64_t limit;      /* in slots; UINT64_MAX: as many as the device has */
    uint64_t slots;      /* of its range of addresses */
    bool *backed;        /* of each slot of the range */
    uint64_t *turn;      /* of each slot: when it got its memory; later ones have larger numbers */
    uint64_t turns;
    uint64_t reserved;   /* backed slots */
    uint64_t used, used_high, reserved_high; /* in bytes */
    uint64_t threshold;  /* bytes */
    bool lowered;        /* it was, and no synchronisation has trimmed for that since */
    unsigned reuse;
    uint64_t frees;      /* so far */
    enum model_shortage shortage; /* of the last model_heap_take */
    struct model_list main, pending, blocks;
    struct model_streams *streams;
};

/* What the heap must know of streams, and of its device. */
struct model_order {
    /* Is the free with that mark, in stream `of`, before what stream `in` does next? */
    bool (*ordered)(const void *user, uint64_t in, uint64_t of, uint64_t mark);
    bool (*complete)(const void *user, uint64_t of, uint64_t mark);
    /* How many slots the device has left for a heap that wants so many; idle ones of heaps may have gone back for that. */
    uint64_t (*room)(const void *user, uint64_t wanted);
    const void *user;
};

/* A heap for at most `limit` bytes (0: as many as the device has), with slots of that size and a range of so many. streams: those of
 * the process. */
void model_heap_open(struct model_heap *heap, uint64_t limit, uint64_t slot, uint64_t slots, struct model_streams *streams);
void model_heap_close(struct model_heap *heap);

/* How many slots a range has on a device with that much memory, for a heap of at most `limit` bytes. */
uint64_t model_heap_range(uint64_t limit, uint64_t slot, uint64_t device);

/* The offset of size bytes (not 0) for stream; UINT64_MAX if there is no memory (heap->shortage). */
uint64_t model_heap_take(struct model_heap *heap, uint64_t size, uint64_t stream, const struct model_order *order);

/* The allocation that starts at offset, or contains it; NULL for none. */
struct model_piece *model_heap_block(const struct model_heap *heap, uint64_t offset);

/* cuMemFreeAsync and cuMemFree of an allocation. */
void model_heap_free(struct model_heap *heap, struct model_piece *block, uint64_t stream);
void model_heap_free_now(struct model_heap *heap, struct model_piece *block);

/* The frees of all streams (all), else of one and those that it is ordered after, are seen to be done. True when there were any: then
 * the synchronisation trims every pool to its threshold, also those where there were none. */
bool model_heap_synchronise(struct model_heap *heap, bool all, uint64_t stream, const struct model_order *order);

/* How many bytes of it are backed and idle. */
uint64_t model_heap_idle(const struct model_heap *heap);

/* Until at most keep bytes are backed, as far as there are idle slots. */
void model_heap_trim(struct model_heap *heap, uint64_t keep);
/* cuMemPoolTrimTo: as long as at least so many bytes stay backed. */
void model_heap_trim_to(struct model_heap *heap, uint64_t least);

#endif
