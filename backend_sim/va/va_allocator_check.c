/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of va_allocator.h. */
#include <inttypes.h>

#include "checks.h"
#include "va_allocator_parts.h"

static uint64_t start_of(const void *chunk)
{
    return ((const struct chunk *)chunk)->start;
}

/* The open chunk that holds the address, or NULL. */
static const struct chunk *chunk_at(const struct va_allocator *space, uint64_t address)
{
    const struct chunk *chunk = addrmap_floor(&space->chunks, address);
    return chunk && address - chunk->start < space->chunk ? chunk : NULL;
}

const char *va_allocator_check_taken(const struct va_allocator *space, uint64_t address, uint64_t size, struct va_allocator_taken *taken)
{
    bool is_small = size < space->chunk;
    uint64_t whole = is_small ? size : va_allocator_round_up(size, space->chunk);
    const struct chunk *chunk = chunk_at(space, address);
    uint64_t free = free_ranges_sum(is_small ? &space->small : &space->large, address, address + whole);
    *(is_small ? &taken->small_bytes : &taken->large_bytes) += whole;
    ++*(is_small ? &taken->small : &taken->large);
    if (free)
        return check_say("0x%" PRIx64 " bytes of the range at 0x%" PRIx64 ", which is taken, are free", free, address);
    if (is_small != (chunk != NULL))
        return check_say("the range of 0x%" PRIx64 " bytes at 0x%" PRIx64 " is taken in %s", size, address,
                         chunk ? "an open chunk" : "no open chunk");
    return NULL;
}

static const char *check_chunk(const struct va_allocator *space, const struct chunk *chunk)
{
    uint64_t free = free_ranges_sum(&space->small, chunk->start, chunk->start + space->chunk);
    uint64_t outside = free_ranges_sum(&space->large, chunk->start, chunk->start + space->chunk);
    if (outside)
        return check_say("0x%" PRIx64 " bytes of the open chunk at 0x%" PRIx64 " are free outside of it", outside, chunk->start);
    if (!chunk->used || chunk->used + free != space->chunk)
        return check_say("of the open chunk at 0x%" PRIx64 " 0x%" PRIx64 " bytes are used and 0x%" PRIx64 " free, of 0x%" PRIx64,
                         chunk->start, chunk->used, free, space->chunk);
    return NULL;
}

/* The sums over the chunks; each chunk by itself has been checked. */
static const char *check_sums(const struct va_allocator *space, uint64_t size, const struct va_allocator_taken *taken)
{
    uint64_t small = free_ranges_sum(&space->small, 0, UINT64_MAX), large = free_ranges_sum(&space->large, 0, UINT64_MAX);
    uint64_t open = space->chunks.count * space->chunk;
    if (open != taken->small_bytes + small)
        return check_say("the open chunks have 0x%" PRIx64 " bytes, of which 0x%" PRIx64 " are taken and 0x%" PRIx64 " free", open,
                         taken->small_bytes, small);
    if (large + open + taken->large_bytes != size)
        return check_say("of 0x%" PRIx64 " bytes of addresses 0x%" PRIx64 " are free, 0x%" PRIx64 " in open chunks and 0x%" PRIx64
                         " taken in whole chunks", size, large, open, taken->large_bytes);
    return NULL;
}

static const char *check_chunks(const struct va_allocator *space)
{
    const char *said = check_in(addrmap_check(&space->chunks, start_of), "open chunks");
    const struct chunk *chunk = said ? NULL : addrmap_ceil(&space->chunks, 0);
    for (; chunk && !said; chunk = addrmap_ceil(&space->chunks, chunk->start + space->chunk))
        said = check_chunk(space, chunk);
    return said ? said : check_in(pool_check(&space->chunk_pool, space->chunks.count), "room for chunks");
}

const char *va_allocator_check(const struct va_allocator *space, uint64_t size, const struct va_allocator_taken *taken)
{
    struct va_allocator_taken all = *taken;
    const struct va_allocator_last *last = &space->last;
    const char *said = NULL;
    if (last->given)
        said = last->newest ? check_in(va_allocator_check_taken(space, last->address, last->size, &all), "given back last")
                            : check_say("the range at 0x%" PRIx64 " was given back last, and another one taken since", last->address);
    if (!said)
        said = check_in(free_ranges_check(&space->large, 1 + all.large + space->chunks.count), "free ranges");
    if (!said)
        said = check_in(free_ranges_check(&space->small, space->chunks.count + all.small), "free parts of chunks");
    if (!said)
        said = check_chunks(space);
    return said ? said : check_sums(space, size, &all);
}

const char *va_allocator_check_at(const struct va_allocator *space, uint64_t address)
{
    const struct chunk *chunk = chunk_at(space, address);
    const char *said = check_in(addrmap_check_at(&space->chunks, address, start_of), "open chunks");
    if (!said)
        said = check_in(free_ranges_check_at(&space->large, address), "free ranges");
    if (!said)
        said = check_in(free_ranges_check_at(&space->small, address), "free parts of chunks");
    return said || !chunk ? said : check_chunk(space, chunk);
}
