/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_heap.h"

#include <string.h>

#include "posix.h"
#include "ptx_grid.h"
#include "ptx_memory.h"

/* Offsets of the heap's words: how many bytes it has (0, or more than there can be: as the program says); where the search for room
 * begins; what it had no room for since the last free. Of a block's: its bytes with these words, and its state. */
enum { SIZE = 0, NEXT = 8, FAILED = 16, FIRST = 32, STATE = 8, HEAD = 16 };

#define FREE UINT64_C(0)
#define TAKEN UINT64_C(0x6b636f6c62206e61)

struct heap {
    struct ptx_warp *warp;
    unsigned lane;
    uint64_t base, end;
};

/* As atomic operations: no order between kernels is missing here. The launch may end by it. */
static unsigned char *word(const struct heap *h, uint64_t offset)
{
    static const struct ptx_op atomic = {.step = STEP_CALL, .more = PTX_M_GENERIC};
    return ptx_reach_lane(h->warp, &atomic, h->lane, h->base + offset, 8, TWIN_ATOMIC);
}

static uint64_t get(const struct heap *h, uint64_t offset)
{
    uint64_t value = 0;
    const unsigned char *at = h->warp->ended ? NULL : word(h, offset);
    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

static void put(const struct heap *h, uint64_t offset, uint64_t value)
{
    unsigned char *at = h->warp->ended ? NULL : word(h, offset);
    if (at)
        memcpy(at, &value, sizeof value);
}

static void fail(const struct heap *h, uint64_t address)
{
    if (!h->warp->ended)
        ptx_warp_fail(h->warp, PTX_END_HEAP, UINT32_C(1) << h->lane, address, HEAD, TWIN_WRITE);
}

/* The bytes of the block there; 0: the launch has ended, because of words that malloc did not write. */
static uint64_t block_at(const struct heap *h, uint64_t at)
{
    const uint64_t bytes = get(h, at), left = h->end - at;
    if (!bytes && !h->warp->ended)
        return left;
    if (bytes <= left && bytes % HEAD == 0)
        return bytes;
    fail(h, h->base + at);
    return 0;
}

/* The first free block from there on with so many bytes, joined with the free ones behind it; 0: there is none. */
static uint64_t find(const struct heap *h, uint64_t at, uint64_t need)
{
    uint64_t bytes, more;
    for (; at < h->end && (bytes = block_at(h, at)); at += bytes) {
        if (get(h, at + STATE) != FREE)
            continue;
        while (bytes < need && at + bytes < h->end && get(h, at + bytes + STATE) == FREE && (more = block_at(h, at + bytes)))
            bytes += more;
        put(h, at, bytes);
        if (bytes >= need)
            return at;
    }
    return 0;
}

/* Takes so many bytes of a free block; what is left of it is a block if it is one. */
static void take(const struct heap *h, uint64_t at, uint64_t need)
{
    uint64_t bytes = get(h, at);
    if (bytes - need > HEAD) {
        put(h, at, need);
        put(h, at + need, bytes - need);
        put(h, at + need + STATE, FREE);
        bytes = need;
    }
    put(h, at + STATE, TAKEN ^ at);
    put(h, NEXT, at + bytes < h->end ? at + bytes : FIRST);
}

static uint64_t allocate(const struct heap *h, uint64_t size)
{
    const uint64_t need = (size + HEAD - 1) / HEAD * HEAD + HEAD, failed = get(h, FAILED), next = get(h, NEXT);
    if (size > h->end || (failed && need >= failed))
        return 0;
    uint64_t at = find(h, next >= FIRST && next % HEAD == 0 ? next : FIRST, need);
    if (!at)
        at = find(h, FIRST, need);
    if (at) {
        take(h, at, need);
        return h->base + at + HEAD;
    }
    put(h, FAILED, need);
    put(h, NEXT, FIRST); /* blocks were joined */
    return 0;
}

static void release(const struct heap *h, uint64_t address)
{
    const uint64_t at = address - h->base - HEAD;
    if (at < FIRST || at >= h->end || at % HEAD || get(h, at + STATE) != (TAKEN ^ at)) {
        fail(h, address);
        return;
    }
    put(h, at + STATE, FREE);
    put(h, FAILED, 0);
}

/* One thread of the host after the other. */
static struct heap enter(struct ptx_warp *warp, unsigned lane)
{
    struct ptx_grid *grid = warp->block->grid;
    const struct ptx_program *program = grid->launch->program;
    struct heap h = {warp, lane, grid->launch->globals[program->heap - 1], 0};
    pthread_mutex_lock(&grid->heap);
    h.end = get(&h, SIZE);
    if ((h.end - 1) >> 60)
        h.end = program->globals[program->heap - 1].size;
    return h;
}

uint64_t ptx_heap_malloc(struct ptx_warp *warp, unsigned lane, uint64_t size)
{
    const struct heap h = enter(warp, lane);
    const uint64_t address = allocate(&h, size);
    posix.pthread_mutex_unlock(&warp->block->grid->heap);
    return address;
}

void ptx_heap_free(struct ptx_warp *warp, unsigned lane, uint64_t address)
{
    if (!address)
        return;
    const struct heap h = enter(warp, lane);
    release(&h, address);
    posix.pthread_mutex_unlock(&warp->block->grid->heap);
}
