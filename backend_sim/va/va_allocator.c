/* SPDX-License-Identifier: Apache-2.0 */
#include "va_allocator_parts.h"

bool va_allocator_init(struct va_allocator *va, uint64_t start, uint64_t end, uint64_t chunk)
{
    *va = (struct va_allocator){.chunk = chunk};
    pool_init(&va->chunk_pool, sizeof(struct chunk));
    addrmap_init(&va->chunks, (unsigned)__builtin_ctzll(chunk));
    free_ranges_init(&va->large, 0);
    free_ranges_init(&va->small, chunk);
    return free_ranges_grant(&va->large, start, end - start);
}

bool va_allocator_exclude(struct va_allocator *va, uint64_t start, uint64_t end)
{
    return free_ranges_take(&va->large, start, end - start);
}

void va_allocator_clear(struct va_allocator *va)
{
    struct chunk *chunk;
    while ((chunk = addrmap_ceil(&va->chunks, 0)) != NULL)
        pool_free(&va->chunk_pool, addrmap_remove(&va->chunks, chunk->start));
    addrmap_clear(&va->chunks);
    pool_clear(&va->chunk_pool);
    free_ranges_clear(&va->large);
    free_ranges_clear(&va->small);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static enum va_allocator_result take_large(struct va_allocator *va, uint64_t size, uint64_t alignment, uint64_t from,
                                           uint64_t *address)
{
    uint64_t whole = va_allocator_round_up(size, va->chunk), at;
    if (!free_ranges_find(&va->large, whole, greater(alignment, va->chunk), va_allocator_round_up(from, va->chunk), &at))
        return VA_ALLOCATOR_FULL;
    if (!free_ranges_take(&va->large, at, whole))
        return VA_ALLOCATOR_NO_MEMORY;
    *address = at;
    return VA_ALLOCATOR_TAKEN;
}

static struct chunk *chunk_at(const struct va_allocator *va, uint64_t address)
{
    return addrmap_floor(&va->chunks, address);
}

/* Takes a chunk from the large ranges and opens it for small ones. */
static enum va_allocator_result open_chunk(struct va_allocator *va, uint64_t alignment, uint64_t from)
{
    uint64_t at;
    struct chunk *chunk = pool_alloc(&va->chunk_pool);
    if (!chunk)
        return VA_ALLOCATOR_NO_MEMORY;
    enum va_allocator_result result = take_large(va, va->chunk, alignment, from, &at);
    if (result == VA_ALLOCATOR_TAKEN && addrmap_insert(&va->chunks, at, chunk)) {
        *chunk = (struct chunk){.start = at};
        if (free_ranges_grant(&va->small, at, va->chunk))
            return VA_ALLOCATOR_TAKEN;
        addrmap_remove(&va->chunks, at);
    }
    if (result == VA_ALLOCATOR_TAKEN) {
        free_ranges_add(&va->large, at, va->chunk);
        result = VA_ALLOCATOR_NO_MEMORY;
    }
    pool_free(&va->chunk_pool, chunk);
    return result;
}

static void close_chunk(struct va_allocator *va, struct chunk *chunk)
{
    free_ranges_remove(&va->small, chunk->start);
    free_ranges_add(&va->large, chunk->start, va->chunk);
    addrmap_remove(&va->chunks, chunk->start);
    pool_free(&va->chunk_pool, chunk);
}

static enum va_allocator_result take(struct va_allocator *va, uint64_t size, uint64_t alignment, uint64_t from,
                                     uint64_t *address)
{
    uint64_t at;
    if (size >= va->chunk)
        return take_large(va, size, alignment, from, address);
    if (!free_ranges_find(&va->small, size, alignment, from, &at)) {
        enum va_allocator_result result = open_chunk(va, alignment, from);
        if (result != VA_ALLOCATOR_TAKEN)
            return result;
        free_ranges_find(&va->small, size, alignment, from, &at);
    }
    struct chunk *chunk = chunk_at(va, at);
    if (!free_ranges_take(&va->small, at, size)) {
        if (!chunk->used)
            close_chunk(va, chunk);
        return VA_ALLOCATOR_NO_MEMORY;
    }
    chunk->used += size;
    *address = at;
    return VA_ALLOCATOR_TAKEN;
}

static void free_range(struct va_allocator *va, uint64_t address, uint64_t size)
{
    if (size >= va->chunk) {
        free_ranges_add(&va->large, address, va_allocator_round_up(size, va->chunk));
        return;
    }
    struct chunk *chunk = chunk_at(va, address);
    free_ranges_add(&va->small, address, size);
    chunk->used -= size;
    if (!chunk->used)
        close_chunk(va, chunk);
}

/* Carries out the deferred free, if there is one. */
static void settle(struct va_allocator *va)
{
    if (va->last.freed)
        free_range(va, va->last.address, va->last.size);
    va->last.newest = va->last.freed = false;
}

enum va_allocator_result va_allocator_take(struct va_allocator *va, uint64_t size, uint64_t alignment, uint64_t from,
                                           uint64_t *address)
{
    struct va_allocator_last *last = &va->last;
    if (last->freed && size == last->size && alignment == last->alignment && from == last->from) {
        last->freed = false;
        *address = last->address;
        return VA_ALLOCATOR_TAKEN;
    }
    settle(va);
    enum va_allocator_result result = take(va, size, alignment, from, address);
    if (result == VA_ALLOCATOR_TAKEN)
        *last = (struct va_allocator_last){size, alignment, from, *address, true, false};
    return result;
}

void va_allocator_free(struct va_allocator *va, uint64_t address, uint64_t size)
{
    if (va->last.newest && !va->last.freed && address == va->last.address) {
        va->last.freed = true;
        return;
    }
    settle(va);
    free_range(va, address, size);
}
