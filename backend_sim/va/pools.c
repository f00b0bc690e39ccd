/* SPDX-License-Identifier: Apache-2.0 */
#include "pools.h"

#include <stdlib.h>

#include "heap.h"
#include "pool_policy.h"
#include "rights.h"

/* ---- pools ---- */

struct sim_pool *sim_pool_new(struct sim_process *process, const vmm_mem_pool_props *props, struct sim_origin made)
{
    assert_locked(process->machine);
    struct sim_pool *pool = slots_ready(&process->pools) ? heap.calloc(1, sizeof *pool) : NULL;
    if (!pool)
        return NULL;
    mempool_init(&pool->memory);
    pool->props = *props;
    pool->made = made;
    pool->number = sim_process_number(process, VMM_OBJECT_POOL);
    if (props->location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        pool->access = sim_access_with(0, (unsigned)props->location.id, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    pool->value = pool->shown = slots_add(&process->pools, pool);
    pool->next = process->first_pool;
    process->first_pool = pool;
    return pool;
}

struct sim_pools *sim_pools_of(struct sim_process *process, int device)
{
    struct sim_pools *pools = &process->device_pools[device];
    if (pools->own)
        return pools;
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    pools->own = sim_pool_new(process, &props, (struct sim_origin){0, 0});
    if (!pools->own)
        return NULL;
    pools->own->is_default = true;
    pools->current = pools->own;
    return pools;
}

struct sim_pool *sim_pool_find(const struct sim_process *process, uint64_t value, struct sim_pool **ended)
{
    void *object;
    enum slot_state state = slots_find(&process->pools, value, &object);
    *ended = state == SLOT_STALE ? object : NULL;
    return state == SLOT_LIVE ? object : NULL;
}

void sim_pool_forget(void *user, void *object)
{
    struct sim_pool *pool = object;
    (void)user;
    pool->forgotten = true;
    if (!pool->destroyed || !pool->memory.chunks) {
        mempool_clear(&pool->memory);
        heap.free(pool);
    }
}

/* Removes a destroyed pool from the process once nothing uses its memory. */
static void settle(struct sim_process *process, struct sim_pool *pool)
{
    if (!pool->destroyed || pool->memory.live || pool->memory.pending)
        return;
    sim_pool_trim(process, pool, 0);
    struct sim_pool **link = &process->first_pool;
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    mempool_clear(&pool->memory);
    if (pool->forgotten)
        heap.free(pool);
}

void sim_pool_destroy(struct sim_process *process, struct sim_pool *pool, struct sim_origin ended)
{
    assert_locked(process->machine);
    for (int i = 0; i < VMM_MAX_DEVICES; i++)
        if (process->device_pools[i].current == pool)
            process->device_pools[i].current = process->device_pools[i].own;
    pool->destroyed = true;
    pool->ended = ended;
    uint64_t value = pool->value;
    settle(process, pool);
    slots_end(&process->pools, value);
}

/* ---- chunks ---- */

uint64_t sim_pool_growth(const struct sim_process *process, uint64_t size, uint64_t room)
{
    uint64_t unit = sim_granularity(process, VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    uint64_t chunk = pool_round(size, unit > POOL_CHUNK ? unit : POOL_CHUNK), least = pool_round(size, unit);
    return chunk && chunk <= room ? chunk : least <= room ? least : 0;
}

/* Undoes what sim_pool_grow had done before something failed. */
static bool grow_undo(struct sim_process *process, struct mempool_chunk *chunk)
{
    if (chunk && chunk->size) {
        addrmap_remove(&process->chunks, chunk->start);
        va_allocator_free(&process->va, chunk->start, chunk->size);
    }
    if (chunk && chunk->block)
        sim_block_drop(process->machine, chunk->block);
    heap.free(chunk);
    return false;
}

static bool chunk_enter(struct sim_process *process, struct mempool_chunk *chunk, uint64_t size)
{
    uint64_t unit = sim_granularity(process, VMM_MEM_LOCATION_TYPE_DEVICE, 0), va = process->machine->profile.va_granularity;
    if (!sim_take_addresses(process, size, unit > va ? unit : va, &chunk->start))
        return false;
    if (!addrmap_insert(&process->chunks, chunk->start, chunk)) {
        va_allocator_free(&process->va, chunk->start, size);
        return false;
    }
    chunk->size = size;
    return true;
}

bool sim_pool_grow(struct sim_process *process, struct sim_pool *pool, uint64_t growth)
{
    assert_locked(process->machine);
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = pool->props.handle_types,
                                          .location = pool->props.location};
    struct mempool_chunk *chunk = heap.calloc(1, sizeof *chunk);
    if (!chunk || !chunk_enter(process, chunk, growth))
        return grow_undo(process, chunk);
    chunk->block = sim_block_new(process->machine, chunk->size, &prop);
    return (chunk->block && mempool_add(&pool->memory, chunk)) || grow_undo(process, chunk);
}

static void chunk_end(struct sim_process *process, struct sim_pool *pool, struct mempool_chunk *chunk)
{
    mempool_remove(&pool->memory, chunk);
    grow_undo(process, chunk);
}

void sim_pool_trim(struct sim_process *process, struct sim_pool *pool, uint64_t keep)
{
    assert_locked(process->machine);
    struct mempool_chunk *chunk;
    while (pool->memory.reserved > keep && (chunk = mempool_idle_chunk(&pool->memory)) != NULL)
        chunk_end(process, pool, chunk);
}

void sim_pools_trim(struct sim_process *process)
{
    assert_locked(process->machine);
    struct sim_pool *next;
    for (struct sim_pool *pool = process->first_pool; pool; pool = next) {
        next = pool->next;
        sim_pool_trim(process, pool, pool->memory.threshold);
        settle(process, pool);
    }
}

/* ---- allocations ---- */

struct sim_piece *sim_piece_new(struct sim_process *process, struct sim_pool *pool, struct region *region, uint64_t size,
                                const struct queue_place *place, struct sim_origin made)
{
    assert_locked(process->machine);
    struct sim_piece *piece = pool_alloc(&process->piece_pool);
    if (!piece)
        return NULL;
    if (!addrmap_insert(&process->pieces, region->start, piece)) {
        pool_free(&process->piece_pool, piece);
        return NULL;
    }
    struct region *taken = mempool_take(&pool->memory, region, pool_round(size, POOL_UNIT));
    if (!taken) {
        addrmap_remove(&process->pieces, region->start);
        pool_free(&process->piece_pool, piece);
        return NULL;
    }
    *piece = (struct sim_piece){.allocation = {.start = taken->start, .size = size, .span = taken->size,
                                               .block = taken->chunk->block, .made = made, .pooled = true,
                                               .number = sim_process_number(process, VMM_OBJECT_ALLOCATION)},
                                .offset = taken->start - taken->chunk->start, .pool = pool, .region = taken, .place = *place};
    return piece;
}

struct region *sim_piece_end(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended)
{
    assert_locked(process->machine);
    const struct sim_allocation *a = &piece->allocation;
    struct region *region = piece->region;
    const struct retired_range retired = {.start = a->start, .size = a->size, .created = a->made.number,
                                          .created_by = a->made.call, .ended = ended.number, .ended_by = ended.call,
                                          .handle = piece->pool->shown, .number = a->number,
                                          .handle_number = piece->pool->number, .kind = VMM_OBJECT_ALLOCATION,
                                          .location = piece->pool->props.location};
    retired_ranges_add(&process->retired, &retired);
    addrmap_remove(&process->pieces, a->start);
    pool_free(&process->piece_pool, piece);
    return region;
}

/* ---- the end ---- */

void sim_pools_end(struct sim_process *process)
{
    assert_locked(process->machine);
    struct mempool_chunk *chunk;
    while ((chunk = addrmap_ceil(&process->chunks, 0)) != NULL)
        grow_undo(process, chunk);
    struct sim_pool *next;
    for (struct sim_pool *pool = process->first_pool; pool; pool = next) {
        next = pool->next;
        pool->memory.chunks = NULL;
        if (pool->forgotten)
            sim_pool_forget(NULL, pool);
    }
}
