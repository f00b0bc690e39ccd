/* SPDX-License-Identifier: Apache-2.0 */
#include "space_parts.h"

bool space_init(struct space *space, uint64_t start, uint64_t end, uint64_t chunk)
{
    *space = (struct space){.chunk = chunk};
    pool_init(&space->chunk_pool, sizeof(struct chunk));
    addrmap_init(&space->chunks, (unsigned)__builtin_ctzll(chunk));
    holes_init(&space->large, 0);
    holes_init(&space->small, chunk);
    return holes_grant(&space->large, start, end - start);
}

bool space_exclude(struct space *space, uint64_t start, uint64_t end)
{
    return holes_take(&space->large, start, end - start);
}

void space_clear(struct space *space)
{
    struct chunk *chunk;
    while ((chunk = addrmap_ceil(&space->chunks, 0)) != NULL)
        pool_give(&space->chunk_pool, addrmap_remove(&space->chunks, chunk->start));
    addrmap_clear(&space->chunks);
    pool_clear(&space->chunk_pool);
    holes_clear(&space->large);
    holes_clear(&space->small);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static enum space_result take_large(struct space *space, uint64_t size, uint64_t alignment, uint64_t from,
                                    uint64_t *address)
{
    uint64_t whole = space_round_up(size, space->chunk), at;
    if (!holes_find(&space->large, whole, greater(alignment, space->chunk), space_round_up(from, space->chunk), &at))
        return SPACE_FULL;
    if (!holes_take(&space->large, at, whole))
        return SPACE_NO_MEMORY;
    *address = at;
    return SPACE_TAKEN;
}

static struct chunk *chunk_at(const struct space *space, uint64_t address)
{
    return addrmap_floor(&space->chunks, address);
}

/* Opens a chunk, all of it free. */
static enum space_result open_chunk(struct space *space, uint64_t alignment, uint64_t from)
{
    uint64_t at;
    struct chunk *chunk = pool_take(&space->chunk_pool);
    if (!chunk)
        return SPACE_NO_MEMORY;
    enum space_result result = take_large(space, space->chunk, alignment, from, &at);
    if (result == SPACE_TAKEN && addrmap_insert(&space->chunks, at, chunk)) {
        *chunk = (struct chunk){.start = at};
        if (holes_grant(&space->small, at, space->chunk))
            return SPACE_TAKEN;
        addrmap_remove(&space->chunks, at);
    }
    if (result == SPACE_TAKEN) {
        holes_give(&space->large, at, space->chunk);
        result = SPACE_NO_MEMORY;
    }
    pool_give(&space->chunk_pool, chunk);
    return result;
}

static void close_chunk(struct space *space, struct chunk *chunk)
{
    holes_withdraw(&space->small, chunk->start);
    holes_give(&space->large, chunk->start, space->chunk);
    addrmap_remove(&space->chunks, chunk->start);
    pool_give(&space->chunk_pool, chunk);
}

static enum space_result take(struct space *space, uint64_t size, uint64_t alignment, uint64_t from, uint64_t *address)
{
    uint64_t at;
    if (size >= space->chunk)
        return take_large(space, size, alignment, from, address);
    if (!holes_find(&space->small, size, alignment, from, &at)) {
        enum space_result result = open_chunk(space, alignment, from);
        if (result != SPACE_TAKEN)
            return result;
        holes_find(&space->small, size, alignment, from, &at);
    }
    struct chunk *chunk = chunk_at(space, at);
    if (!holes_take(&space->small, at, size)) {
        if (!chunk->used)
            close_chunk(space, chunk);
        return SPACE_NO_MEMORY;
    }
    chunk->used += size;
    *address = at;
    return SPACE_TAKEN;
}

static void give(struct space *space, uint64_t address, uint64_t size)
{
    if (size >= space->chunk) {
        holes_give(&space->large, address, space_round_up(size, space->chunk));
        return;
    }
    struct chunk *chunk = chunk_at(space, address);
    holes_give(&space->small, address, size);
    chunk->used -= size;
    if (!chunk->used)
        close_chunk(space, chunk);
}

/* What was given back and not done is done. */
static void settle(struct space *space)
{
    if (space->last.given)
        give(space, space->last.address, space->last.size);
    space->last.newest = space->last.given = false;
}

enum space_result space_take(struct space *space, uint64_t size, uint64_t alignment, uint64_t from, uint64_t *address)
{
    struct space_last *last = &space->last;
    if (last->given && size == last->size && alignment == last->alignment && from == last->from) {
        last->given = false;
        *address = last->address;
        return SPACE_TAKEN;
    }
    settle(space);
    enum space_result result = take(space, size, alignment, from, address);
    if (result == SPACE_TAKEN)
        *last = (struct space_last){size, alignment, from, *address, true, false};
    return result;
}

void space_give(struct space *space, uint64_t address, uint64_t size)
{
    if (space->last.newest && !space->last.given && address == space->last.address) {
        space->last.given = true;
        return;
    }
    settle(space);
    give(space, address, size);
}
