/* SPDX-License-Identifier: Apache-2.0 */
#include "pools.h"

#include <stdlib.h>

#include "graph_memory.h"
#include "heap.h"
#include "os.h"
#include "pool_policy.h"
#include "pools_parts.h"
#include "rights.h"

/* ---- addresses ---- */

static uint64_t map_unit(const struct sim_process *process)
{
    uint64_t unit = sim_granularity(process, VMM_MEM_LOCATION_TYPE_DEVICE, 0), va = process->machine->profile.va_granularity;
    return unit > va ? unit : va;
}

/* POOL_CHUNK, and less on a machine with little memory. */
static uint64_t chunk_of(const struct sim_process *process)
{
    uint64_t unit = map_unit(process);
    return process->machine->profile.device_memory < 4 * POOL_CHUNK || unit > POOL_CHUNK ? unit : POOL_CHUNK;
}

/* Twice the maximum size of the pool (call_pool.c limits that), or of the device's memory. */
static uint64_t range_of(const struct sim_process *process, uint64_t max, uint64_t chunk)
{
    return max ? 2 * pool_round(max, chunk) : pool_round(2 * process->machine->profile.device_memory, chunk);
}

/* Takes the pool's addresses; a pool without a limit (all) gets fewer if not enough are free. */
static bool take_range(struct sim_process *process, bool all, uint64_t chunk, uint64_t *start, uint64_t *size)
{
    while (*size >= chunk && !sim_take_addresses(process, *size, chunk, start))
        *size = all ? 0 : pool_round_down(*size / 2, chunk);
    return *size >= chunk;
}

/* The pool already has its addresses, which are freed again if host memory is exhausted. */
static bool begin_range(struct sim_process *process, struct sim_pool *pool, uint64_t size, uint64_t chunk)
{
    if (addrmap_insert(&process->pool_ranges, pool->start, pool)) {
        if (mempool_init(&pool->memory, pool->start, size, chunk))
            return true;
        addrmap_remove(&process->pool_ranges, pool->start);
    }
    va_allocator_free(&process->va, pool->start, size);
    return false;
}

/* like: the properties of the exporter's pool for an import; NULL for the process's own pools. */
static bool enter_range(struct sim_process *process, struct sim_pool *pool, const struct pool_table *like)
{
    uint64_t chunk = like ? like->chunk : chunk_of(process), size = like ? like->size : range_of(process, pool->props.max_size, chunk);
    if (process->machine->bare_pools) {
        pool->memory.chunk = chunk;
        return true;
    }
    return take_range(process, pool->props.max_size, chunk, &pool->start, &size) && begin_range(process, pool, size, chunk);
}

static void leave_range(struct sim_process *process, struct sim_pool *pool)
{
    if (process->machine->bare_pools)
        return;
    addrmap_remove(&process->pool_ranges, pool->start);
    va_allocator_free(&process->va, pool->start, pool->memory.size);
    mempool_clear(&pool->memory);
}

/* ---- pools ---- */

struct sim_pool *sim_pool_begin(struct sim_process *process, const vmm_mem_pool_props *props, const struct pool_table *like,
                                struct sim_origin made)
{
    assert_locked(process->machine);
    struct sim_pool *pool = slots_ready(&process->pools) ? heap.calloc(1, sizeof *pool) : NULL;
    if (!pool)
        return NULL;
    pool->props = *props;
    if (!enter_range(process, pool, like)) {
        heap.free(pool);
        return NULL;
    }
    pool->made = made;
    pool->number = sim_process_number(process, VMM_OBJECT_POOL);
    pool->access = sim_access_with(0, sim_on_host(props->location) ? SIM_HOST_SLOT : (unsigned)props->location.id,
                                   VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    pool->value = pool->shown = slots_add(&process->pools, pool);
    pool->next = process->first_pool;
    process->first_pool = pool;
    return pool;
}

struct sim_pool *sim_pool_for_graphs(struct sim_process *process, int device)
{
    assert_locked(process->machine);
    struct sim_pool *pool = heap.calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->props = (vmm_mem_pool_props){.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    if (!enter_range(process, pool, NULL)) {
        heap.free(pool);
        return NULL;
    }
    pool->graphs = pool->forgotten = true;
    pool->memory.threshold = UINT64_MAX;
    pool->access = sim_access_with(0, (unsigned)device, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    pool->next = process->first_pool;
    process->first_pool = pool;
    return pool;
}

struct sim_pool *sim_pool_new(struct sim_process *process, const vmm_mem_pool_props *props, struct sim_origin made)
{
    return sim_pool_begin(process, props, NULL, made);
}

/* The location of a pool's memory: HOST uses node 0. */
static vmm_mem_location sim_pool_home(vmm_mem_location location)
{
    return location.type == VMM_MEM_LOCATION_TYPE_HOST ? (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0} : location;
}

static struct sim_pools *pools_at(struct sim_process *process, vmm_mem_location location)
{
    if (location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return &process->device_pools[location.id];
    return &process->host_pools[location.type == VMM_MEM_LOCATION_TYPE_HOST ? 0 : 1 + location.id];
}

struct sim_pools *sim_pools_of(struct sim_process *process, vmm_mem_location location)
{
    struct sim_pools *pools = pools_at(process, location);
    if (pools->own)
        return pools;
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = location};
    pools->own = sim_pool_new(process, &props, (struct sim_origin){0, 0, 0});
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
    if (pool->settled)
        heap.free(pool);
}

/* Removes a pool from the process; its chunks must have been removed. */
static void remove_pool(struct sim_process *process, struct sim_pool *pool)
{
    struct sim_pool **link = &process->first_pool;
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    leave_range(process, pool);
    if (pool->table)
        sim_block_drop(process->machine, pool->table);
    pool->table = NULL;
    pool->settled = true;
    if (pool->forgotten)
        heap.free(pool);
}

/* Removes a destroyed pool once nothing uses its memory. */
static void settle(struct sim_process *process, struct sim_pool *pool)
{
    if (!pool->destroyed || pool->memory.live || pool->memory.pending)
        return;
    sim_pool_trim(process, pool, 0);
    remove_pool(process, pool);
}

void sim_pool_destroy(struct sim_process *process, struct sim_pool *pool, struct sim_origin ended)
{
    assert_locked(process->machine);
    uint64_t value = pool->value;
    struct sim_pools *pools = pools_at(process, pool->props.location);
    if (pools->current == pool)
        pools->current = pools->own;
    pool->destroyed = true;
    pool->ended = ended;
    pool->memory.threshold = 0;
    sim_pool_trim(process, pool, 0);
    settle(process, pool);
    slots_end(&process->pools, value);
}

/* ---- chunks ---- */

/* The number of chunks in the range that have no memory. */
static uint64_t missing(const struct mempool *memory, uint64_t start, uint64_t end)
{
    uint64_t count = 0;
    for (uint64_t at = start; at < end; at += memory->chunk)
        count += !mempool_chunk_at(memory, at);
    return count;
}

static uint64_t first_chunk(const struct mempool *memory, uint64_t address)
{
    return memory->start + pool_round_down(address - memory->start, memory->chunk);
}

uint64_t sim_pool_lacks(const struct sim_pool *pool, uint64_t start, uint64_t size)
{
    const struct mempool *memory = &pool->memory;
    uint64_t count = missing(memory, first_chunk(memory, start), start + size), idle = memory->idle;
    for (uint64_t at = first_chunk(memory, start); idle && at < start + size; at += memory->chunk) {
        const struct mempool_chunk *chunk = mempool_chunk_at(memory, at);
        idle -= chunk && !chunk->busy;
    }
    return count > idle ? (count - idle) * memory->chunk : 0;
}

void sim_chunk_drop(struct sim_process *process, struct mempool_chunk *chunk)
{
    addrmap_remove(&process->chunks, chunk->start);
    if (chunk->shown) /* LCOV_EXCL_BR_LINE: the system has a mapping for exactly these addresses, and needs no memory (os.h) */
        os_map_noaccess(chunk->start, chunk->size);
    if (chunk->block)
        sim_block_drop(process->machine, chunk->block);
    heap.free(chunk);
}

/* Frees a list of chunks that do not belong to a pool yet. */
static bool undo(struct sim_process *process, struct mempool_chunk *made)
{
    struct mempool_chunk *next;
    for (; made; made = next) {
        next = made->next;
        sim_chunk_drop(process, made);
    }
    return false;
}

struct mempool_chunk *sim_chunk_new(struct sim_process *process, uint64_t start, uint64_t size)
{
    struct mempool_chunk *chunk = heap.calloc(1, sizeof *chunk);
    if (!chunk || !addrmap_insert(&process->chunks, start, chunk)) {
        heap.free(chunk);
        return NULL;
    }
    *chunk = (struct mempool_chunk){.start = start, .size = size};
    return chunk;
}

/* Creates records for the missing chunks of the range: in the process's addresses but not in the pool yet, without memory. */
static bool make_chunks(struct sim_process *process, struct mempool *memory, uint64_t start, uint64_t end, struct mempool_chunk **made)
{
    *made = NULL;
    if (!mempool_make_room(memory, end))
        return false;
    for (uint64_t at = first_chunk(memory, start); at < end; at += memory->chunk) {
        if (mempool_chunk_at(memory, at))
            continue;
        struct mempool_chunk *chunk = sim_chunk_new(process, at, memory->chunk);
        if (!chunk)
            return undo(process, *made);
        chunk->next = *made;
        *made = chunk;
    }
    return true;
}

/* New memory for the chunks for which idle memory does not suffice. */
static bool make_blocks(struct sim_process *process, const struct sim_pool *pool, struct mempool_chunk *made, uint64_t lacks)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = pool->props.handle_types,
                                          .location = sim_pool_home(pool->props.location)};
    for (struct mempool_chunk *chunk = made; chunk && lacks; chunk = chunk->next, lacks -= pool->memory.chunk) {
        chunk->block = sim_block_new(process->machine, chunk->size, &prop);
        if (!chunk->block)
            return undo(process, made);
    }
    return true;
}

/* pinned: as soon as a chunk exists, so that none moves within the same range. */
static bool back(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size, bool pinned)
{
    assert_locked(process->machine);
    struct mempool *memory = &pool->memory;
    struct mempool_chunk *made, *next, *idle;
    const struct region *taken = mempool_region_at(memory, start);
    const uint64_t mark = sim_blocks_mark(process->machine);
    if (!make_chunks(process, memory, start, start + size, &made) ||
        !make_blocks(process, pool, made, sim_pool_lacks(pool, start, size))) {
        sim_blocks_undo(process->machine, mark);
        return false;
    }
    for (struct mempool_chunk *chunk = made; chunk; chunk = next) {
        next = chunk->next;
        if (!chunk->block) {
            idle = mempool_idle_chunk(memory, taken, start + size);
            /* analysers: null-dereference is wrong: sim_pool_lacks counted the idle ones */
            chunk->block = idle->block;
            idle->block = NULL;
            mempool_remove(memory, idle);
            sim_chunk_drop(process, idle);
        }
        mempool_add(memory, chunk);
        if (pinned)
            mempool_pin(memory, chunk->start, chunk->size);
    }
    return true;
}

bool sim_pool_back(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size)
{
    return back(process, pool, start, size, false);
}

/* Pins or unpins the existing chunks of the range. */
static void pin_present(struct mempool *memory, uint64_t start, uint64_t end, bool pin)
{
    for (uint64_t at = start; at < end; at += memory->chunk)
        if (mempool_chunk_at(memory, at))
            (pin ? mempool_pin : mempool_unpin)(memory, at, memory->chunk);
}

bool sim_pool_back_pinned(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size)
{
    pin_present(&pool->memory, start, start + size, true);
    if (back(process, pool, start, size, true))
        return true;
    pin_present(&pool->memory, start, start + size, false);
    return false;
}

void sim_pool_unback(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size, uint64_t mark)
{
    assert_locked(process->machine);
    struct mempool *memory = &pool->memory;
    for (uint64_t at = first_chunk(memory, start); at < start + size; at += memory->chunk) {
        struct mempool_chunk *chunk = mempool_chunk_at(memory, at);
        /* analysers: null-dereference is wrong: all of the range has memory */
        if (chunk->block->id <= mark)
            continue;
        mempool_remove(memory, chunk);
        sim_chunk_drop(process, chunk);
    }
    sim_blocks_undo(process->machine, mark);
}

void sim_pool_trim(struct sim_process *process, struct sim_pool *pool, uint64_t keep)
{
    assert_locked(process->machine);
    struct mempool_chunk *idle;
    while (pool->memory.reserved > keep && (idle = mempool_idle_chunk(&pool->memory, NULL, 0)) != NULL) {
        mempool_remove(&pool->memory, idle);
        sim_chunk_drop(process, idle);
    }
}

/* The device whose memory it has, or the host. */
static unsigned slot_of(const struct sim_pool *pool)
{
    return sim_on_host(pool->props.location) ? SIM_HOST_SLOT : (unsigned)pool->props.location.id;
}

void sim_pools_return(struct sim_process *process, bool met, bool (*wanted)(void *user, const struct region *region), void *user)
{
    assert_locked(process->machine);
    struct sim_pool *next;
    uint64_t any = 0; /* by slot */
    for (struct sim_pool *pool = process->first_pool; pool; pool = pool->next)
        if (mempool_return(&pool->memory, wanted, user))
            any |= UINT64_C(1) << slot_of(pool);
    for (struct sim_pool *pool = process->first_pool; pool; pool = next) { /* measured: otherwise no memory is returned */
        next = pool->next;
        const bool lowered = pool->memory.lowered && met;
        if (!lowered && !(any >> slot_of(pool) & 1))
            continue;
        pool->memory.lowered &= !lowered;
        sim_pool_trim(process, pool, pool->memory.threshold);
        settle(process, pool);
    }
}

/* Imported memory belongs to the exporter, regardless of which process frees it first. */
static bool is_at(const struct sim_pool *pool, vmm_mem_location location)
{
    vmm_mem_location home = sim_pool_home(pool->props.location);
    return home.type == location.type && home.id == location.id && !pool->imports;
}

static void trim_at(struct sim_process *process, vmm_mem_location location, const struct sim_pool *but)
{
    for (struct sim_pool *pool = process->first_pool; pool; pool = pool->next)
        if (pool != but && is_at(pool, location))
            sim_pool_trim(process, pool, 0);
}

uint64_t sim_pools_room(struct sim_process *process, vmm_mem_location at, uint64_t wanted)
{
    const vmm_mem_location location = sim_pool_home(at);
    uint64_t room = sim_machine_room(process->machine, location, wanted);
    if (room >= wanted)
        return room;
    trim_at(process, location, NULL);
    return sim_machine_room(process->machine, location, wanted);
}

void sim_pools_trim_beside(struct sim_process *process, const struct sim_pool *pool)
{
    trim_at(process, sim_pool_home(pool->props.location), pool);
}

/* ---- allocations ---- */

/* Shows the memory of a range in place, as far as possible. False when the system has no memory for that. */
static bool show(const struct sim_process *process, const struct sim_pool *pool, uint64_t start, uint64_t size)
{
    const struct mempool *memory = &pool->memory;
    if (!sim_on_host(pool->props.location) || !host_window_holds(&process->window, pool->start, memory->size))
        return true;
    for (uint64_t at = first_chunk(memory, start); at < start + size; at += memory->chunk) {
        struct mempool_chunk *chunk = mempool_chunk_at(memory, at);
        /* analysers: null-dereference is wrong: all of the range has memory */
        struct block_data *bytes = &chunk->block->bytes;
        if (!chunk->shown && !(block_data_open(bytes) && os_map_fixed(chunk->start, chunk->size, bytes->backing->file, bytes->place, true)))
            return false;
        chunk->shown = true;
    }
    return true;
}

struct sim_piece *sim_piece_new(struct sim_process *process, struct sim_pool *pool, struct region *region, uint64_t size,
                                const struct queue_place *place, struct sim_origin made)
{
    assert_locked(process->machine);
    struct sim_piece *piece = show(process, pool, region->start, size) ? pool_alloc(&process->piece_pool) : NULL;
    if (!piece)
        return NULL;
    if (!addrmap_insert(&process->pieces, region->start, piece)) {
        pool_free(&process->piece_pool, piece);
        return NULL;
    }
    if (!mempool_take(&pool->memory, region, pool_round(size, POOL_UNIT), size)) {
        addrmap_remove(&process->pieces, region->start);
        pool_free(&process->piece_pool, piece);
        return NULL;
    }
    *piece = (struct sim_piece){.allocation = {.start = region->start, .size = size, .span = region->size,
                                               /* analysers: null-dereference is wrong: a region that is taken lies in chunks */
                                               .block = mempool_chunk_at(&pool->memory, region->start)->block, .made = made,
                                               .number = sim_process_number(process, VMM_OBJECT_ALLOCATION), .pooled = true},
                                .pool = pool, .region = region, .place = *place};
    return piece;
}

struct region *sim_piece_end(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended)
{
    assert_locked(process->machine);
    const struct sim_allocation *a = &piece->allocation;
    struct region *region = piece->region;
    sim_allocation_retire(process, a, piece->pool->props.location, ended);
    addrmap_remove(&process->pieces, a->start);
    pool_free(&process->piece_pool, piece);
    return region;
}

/* As measured, cuMemFree removes exactly the chunks of the freed allocation that are idle then. */
static void trim_in(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t end)
{
    struct mempool *memory = &pool->memory;
    const uint64_t first = (start - memory->start) / memory->chunk;
    for (uint64_t i = (end - 1 - memory->start) / memory->chunk + 1; i-- > first && memory->reserved > memory->threshold;) {
        struct mempool_chunk *chunk = mempool_chunk_at(memory, memory->start + i * memory->chunk);
        if (!chunk || chunk->busy)
            continue;
        mempool_remove(memory, chunk);
        sim_chunk_drop(process, chunk);
    }
}

void sim_piece_free(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended)
{
    struct sim_pool *pool = piece->pool;
    if (pool->graphs) {
        sim_graph_piece_free(process, piece, ended);
        return;
    }
    struct region *region = sim_piece_end(process, piece, ended);
    const uint64_t start = region->start, end = start + region->size;
    mempool_free(&pool->memory, region);
    trim_in(process, pool, start, end);
    settle(process, pool);
}

/* ---- the end ---- */

void sim_pools_end(struct sim_process *process)
{
    assert_locked(process->machine);
    struct sim_pool *next;
    void *thing;
    while ((thing = addrmap_ceil(&process->chunks, 0)) != NULL)
        sim_chunk_drop(process, thing);
    while ((thing = addrmap_ceil(&process->pieces, 0)) != NULL)
        pool_free(&process->piece_pool, addrmap_remove(&process->pieces, *(uint64_t *)thing));
    for (struct sim_pool *pool = process->first_pool; pool; pool = next) {
        next = pool->next;
        remove_pool(process, pool);
    }
    sim_graph_memory_end(process);
}
