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
static const struct chunk *chunk_at(const struct va_allocator *va, uint64_t address)
{
    const struct chunk *chunk = addrmap_floor(&va->chunks, address);
    return chunk && address - chunk->start < va->chunk ? chunk : NULL;
}

const char *va_allocator_check_taken(const struct va_allocator *va, uint64_t address, uint64_t size,
                                     struct va_allocator_taken *taken)
{
    bool is_small = size < va->chunk;
    uint64_t whole = is_small ? size : va_allocator_round_up(size, va->chunk);
    const struct chunk *chunk = chunk_at(va, address);
    uint64_t free = free_ranges_sum(is_small ? &va->small : &va->large, address, address + whole);
    *(is_small ? &taken->small_bytes : &taken->large_bytes) += whole;
    ++*(is_small ? &taken->small : &taken->large);
    if (free)
        return check_say("0x%" PRIx64 " bytes of the range at 0x%" PRIx64 ", which is taken, are free", free, address);
    if (is_small != (chunk != NULL))
        return check_say("the range of 0x%" PRIx64 " bytes at 0x%" PRIx64 " is taken in %s", size, address,
                         chunk ? "an open chunk" : "no open chunk");
    return NULL;
}

static const char *check_chunk(const struct va_allocator *va, const struct chunk *chunk)
{
    uint64_t free = free_ranges_sum(&va->small, chunk->start, chunk->start + va->chunk);
    uint64_t outside = free_ranges_sum(&va->large, chunk->start, chunk->start + va->chunk);
    if (outside)
        return check_say("0x%" PRIx64 " bytes of the open chunk at 0x%" PRIx64 " are free outside of it", outside, chunk->start);
    if (!chunk->used || chunk->used + free != va->chunk)
        return check_say("of the open chunk at 0x%" PRIx64 " 0x%" PRIx64 " bytes are used and 0x%" PRIx64 " free, of 0x%" PRIx64,
                         chunk->start, chunk->used, free, va->chunk);
    return NULL;
}

/* The sums over the chunks; each chunk by itself has been checked. */
static const char *check_sums(const struct va_allocator *va, uint64_t size, const struct va_allocator_taken *taken)
{
    uint64_t small = free_ranges_sum(&va->small, 0, UINT64_MAX), large = free_ranges_sum(&va->large, 0, UINT64_MAX);
    uint64_t open = va->chunks.count * va->chunk;
    if (open != taken->small_bytes + small)
        return check_say("the open chunks have 0x%" PRIx64 " bytes, of which 0x%" PRIx64 " are taken and 0x%" PRIx64 " free",
                         open,
                         taken->small_bytes, small);
    if (large + open + taken->large_bytes != size)
        return check_say("of 0x%" PRIx64 " bytes of addresses 0x%" PRIx64 " are free, 0x%" PRIx64 " in open chunks and 0x%" PRIx64
                         " taken in whole chunks", size, large, open, taken->large_bytes);
    return NULL;
}

static const char *check_chunks(const struct va_allocator *va)
{
    const char *said = check_in(addrmap_check(&va->chunks, start_of), "open chunks");
    const struct chunk *chunk = said ? NULL : addrmap_ceil(&va->chunks, 0);
    for (; chunk && !said; chunk = addrmap_ceil(&va->chunks, chunk->start + va->chunk))
        said = check_chunk(va, chunk);
    return said ? said : check_in(pool_check(&va->chunk_pool, va->chunks.count), "room for chunks");
}

const char *va_allocator_check(const struct va_allocator *va, uint64_t size, const struct va_allocator_taken *taken)
{
    struct va_allocator_taken all = *taken;
    const struct va_allocator_last *last = &va->last;
    const char *said = NULL;
    if (last->freed)
        said = last->newest ? check_in(va_allocator_check_taken(va, last->address, last->size, &all), "freed last")
                            : check_say("the range at 0x%" PRIx64 " was freed last, and another one taken since",
                                        last->address);
    if (!said)
        said = check_in(free_ranges_check(&va->large, 1 + all.large + va->chunks.count), "free ranges");
    if (!said)
        said = check_in(free_ranges_check(&va->small, va->chunks.count + all.small), "free parts of chunks");
    if (!said)
        said = check_chunks(va);
    return said ? said : check_sums(va, size, &all);
}

const char *va_allocator_check_at(const struct va_allocator *va, uint64_t address)
{
    const struct chunk *chunk = chunk_at(va, address);
    const char *said = check_in(addrmap_check_at(&va->chunks, address, start_of), "open chunks");
    if (!said)
        said = check_in(free_ranges_check_at(&va->large, address), "free ranges");
    if (!said)
        said = check_in(free_ranges_check_at(&va->small, address), "free parts of chunks");
    return said || !chunk ? said : check_chunk(va, chunk);
}
