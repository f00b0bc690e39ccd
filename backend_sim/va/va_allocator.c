/* SPDX-License-Identifier: Apache-2.0 */
#include "va_allocator_parts.h"

bool va_allocator_init(struct va_allocator *space, uint64_t start, uint64_t end, uint64_t chunk)
{
    *space = (struct va_allocator){.chunk = chunk};
    pool_init(&space->chunk_pool, sizeof(struct chunk));
    addrmap_init(&space->chunks, (unsigned)__builtin_ctzll(chunk));
    free_ranges_init(&space->large, 0);
    free_ranges_init(&space->small, chunk);
    return free_ranges_grant(&space->large, start, end - start);
}

bool va_allocator_exclude(struct va_allocator *space, uint64_t start, uint64_t end)
{
    return free_ranges_take(&space->large, start, end - start);
}

void va_allocator_clear(struct va_allocator *space)
{
    struct chunk *chunk;
    while ((chunk = addrmap_ceil(&space->chunks, 0)) != NULL)
        pool_free(&space->chunk_pool, addrmap_remove(&space->chunks, chunk->start));
    addrmap_clear(&space->chunks);
    pool_clear(&space->chunk_pool);
    free_ranges_clear(&space->large);
    free_ranges_clear(&space->small);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static enum va_allocator_result take_large(struct va_allocator *space, uint64_t size, uint64_t alignment, uint64_t from,
                                    uint64_t *address)
{
    uint64_t whole = va_allocator_round_up(size, space->chunk), at;
    if (!free_ranges_find(&space->large, whole, greater(alignment, space->chunk), va_allocator_round_up(from, space->chunk), &at))
        return VA_ALLOCATOR_FULL;
    if (!free_ranges_take(&space->large, at, whole))
        return VA_ALLOCATOR_NO_MEMORY;
    *address = at;
    return VA_ALLOCATOR_TAKEN;
}

static struct chunk *chunk_at(const struct va_allocator *space, uint64_t address)
{
    return addrmap_floor(&space->chunks, address);
}

/* Takes a chunk from the large ranges and opens it for small ones. */
static enum va_allocator_result open_chunk(struct va_allocator *space, uint64_t alignment, uint64_t from)
{
    uint64_t at;
    struct chunk *chunk = pool_alloc(&space->chunk_pool);
    if (!chunk)
        return VA_ALLOCATOR_NO_MEMORY;
    enum va_allocator_result result = take_large(space, space->chunk, alignment, from, &at);
    if (result == VA_ALLOCATOR_TAKEN && addrmap_insert(&space->chunks, at, chunk)) {
        *chunk = (struct chunk){.start = at};
        if (free_ranges_grant(&space->small, at, space->chunk))
            return VA_ALLOCATOR_TAKEN;
        addrmap_remove(&space->chunks, at);
    }
    if (result == VA_ALLOCATOR_TAKEN) {
        free_ranges_add(&space->large, at, space->chunk);
        result = VA_ALLOCATOR_NO_MEMORY;
    }
    pool_free(&space->chunk_pool, chunk);
    return result;
}

static void close_chunk(struct va_allocator *space, struct chunk *chunk)
{
    free_ranges_remove(&space->small, chunk->start);
    free_ranges_add(&space->large, chunk->start, space->chunk);
    addrmap_remove(&space->chunks, chunk->start);
    pool_free(&space->chunk_pool, chunk);
}

static enum va_allocator_result take(struct va_allocator *space, uint64_t size, uint64_t alignment, uint64_t from,
                                     uint64_t *address)
{
    uint64_t at;
    if (size >= space->chunk)
        return take_large(space, size, alignment, from, address);
    if (!free_ranges_find(&space->small, size, alignment, from, &at)) {
        enum va_allocator_result result = open_chunk(space, alignment, from);
        if (result != VA_ALLOCATOR_TAKEN)
            return result;
        free_ranges_find(&space->small, size, alignment, from, &at);
    }
    struct chunk *chunk = chunk_at(space, at);
    if (!free_ranges_take(&space->small, at, size)) {
        if (!chunk->used)
            close_chunk(space, chunk);
        return VA_ALLOCATOR_NO_MEMORY;
    }
    chunk->used += size;
    *address = at;
    return VA_ALLOCATOR_TAKEN;
}

static void give(struct va_allocator *space, uint64_t address, uint64_t size)
{
    if (size >= space->chunk) {
        free_ranges_add(&space->large, address, va_allocator_round_up(size, space->chunk));
        return;
    }
    struct chunk *chunk = chunk_at(space, address);
    free_ranges_add(&space->small, address, size);
    chunk->used -= size;
    if (!chunk->used)
        close_chunk(space, chunk);
}

/* Carries out the deferred free, if there is one. */
static void settle(struct va_allocator *space)
{
    if (space->last.given)
        give(space, space->last.address, space->last.size);
    space->last.newest = space->last.given = false;
}

enum va_allocator_result va_allocator_take(struct va_allocator *space, uint64_t size, uint64_t alignment, uint64_t from,
                                           uint64_t *address)
{
    struct va_allocator_last *last = &space->last;
    if (last->given && size == last->size && alignment == last->alignment && from == last->from) {
        last->given = false;
        *address = last->address;
        return VA_ALLOCATOR_TAKEN;
    }
    settle(space);
    enum va_allocator_result result = take(space, size, alignment, from, address);
    if (result == VA_ALLOCATOR_TAKEN)
        *last = (struct va_allocator_last){size, alignment, from, *address, true, false};
    return result;
}

void va_allocator_free(struct va_allocator *space, uint64_t address, uint64_t size)
{
    if (space->last.newest && !space->last.given && address == space->last.address) {
        space->last.given = true;
        return;
    }
    settle(space);
    give(space, address, size);
}
