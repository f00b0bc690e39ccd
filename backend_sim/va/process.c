/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "arrays.h"
#include "heap.h"
#include "managed.h"
#include "pool_policy.h"
#include "pools.h"
#include "rdma.h"
#include "registered.h"
#include "team.h"

_Static_assert(sizeof(struct sim_mapping) <= 64, "one cache line");

#define TAG_HANDLE 0x4d48  /* "HM" */
#define TAG_CONTEXT 0x5443
#define TAG_STREAM 0x5253
#define TAG_EVENT 0x5645
#define TAG_POOL 0x4c50

/* Opens the VA allocator. Excludes the profile's taken addresses, unless the window moved away from them. */
static bool open_va(struct va_allocator *va, const struct host_window *window, const struct sim_profile *profile)
{
    uint64_t chunk = profile->va_chunk ? profile->va_chunk : profile->va_granularity;
    bool ok = va_allocator_init(va, window->start, window->end, chunk);
    for (int i = 0; window->start == profile->va_start && ok && i < SIM_MAX_TAKEN && profile->va_taken[i].end; i++)
        ok = va_allocator_exclude(va, profile->va_taken[i].start, profile->va_taken[i].end);
    return ok;
}

/* The number of low bits that are zero in the start of every range: those below the machine's smallest granularity. Multicast
 * objects never have a smaller one. */
static unsigned address_shift(const struct sim_profile *profile)
{
    return (unsigned)__builtin_ctzll(profile->va_granularity | profile->device_granularity[0] | profile->host_granularity[0]);
}

static void open_maps(struct sim_process *process)
{
    unsigned shift = address_shift(&process->machine->profile);
    addrmap_init(&process->reservations, shift);
    addrmap_init_room(&process->mappings, shift, sizeof(struct sim_mapping));
    addrmap_init(&process->allocations, shift);
    addrmap_init(&process->adopted, SIM_ADOPTED_SHIFT);
    pool_init(&process->reservation_pool, sizeof(struct sim_reservation));
    pool_init(&process->handle_pool, sizeof(struct sim_handle));
    addrmap_init(&process->pool_ranges, shift);
    addrmap_init(&process->chunks, shift);
    addrmap_init(&process->pieces, (unsigned)__builtin_ctzll(POOL_UNIT));
    pool_init(&process->piece_pool, sizeof(struct sim_piece));
}

static void clear_maps(struct sim_process *process)
{
    addrmap_clear(&process->reservations);
    addrmap_clear(&process->mappings);
    addrmap_clear(&process->allocations);
    addrmap_clear(&process->adopted);
    pool_clear(&process->reservation_pool);
    pool_clear(&process->handle_pool);
    addrmap_clear(&process->pool_ranges);
    addrmap_clear(&process->chunks);
    addrmap_clear(&process->pieces);
    pool_clear(&process->piece_pool);
}

static void free_handle(void *process, void *handle)
{
    pool_free(&((struct sim_process *)process)->handle_pool, handle);
}

static void free_object(void *user, void *object)
{
    (void)user;
    heap.free(object);
}

static void free_event(void *user, void *object)
{
    (void)user;
    heap.free(((struct sim_event *)object)->seen.seen);
    heap.free(object);
}

static _Atomic uint64_t serials;

bool sim_process_init(struct sim_process *process, struct sim_machine *machine, const struct sim_options *options)
{
    const struct sim_profile *profile = &machine->profile;
    if (!context_stack_init(&process->current))
        return false;
    host_window_open(&process->window, profile, machine->bytes ? options->window : HOST_WINDOW_NONE);
    const bool opened = open_va(&process->va, &process->window, profile);
    if (!opened || !arrays_open(process)) {
        host_window_close(&process->window);
        va_allocator_clear(&process->va);
        context_stack_clear(&process->current);
        return false;
    }
    process->machine = machine;
    open_maps(process);
    slots_init(&process->handles, TAG_HANDLE, SLOTS_NUMBERS, free_handle, process);
    slots_init(&process->contexts, TAG_CONTEXT, SLOTS_POINTERS, free_object, NULL);
    slots_init(&process->streams, TAG_STREAM, SLOTS_POINTERS, free_object, NULL);
    slots_init(&process->events, TAG_EVENT, SLOTS_POINTERS, free_event, NULL);
    slots_init(&process->pools, TAG_POOL, SLOTS_POINTERS, sim_pool_forget, NULL);
    process->options = *options;
    process->opened = life_stamp();
    process->serial = atomic_fetch_add(&serials, 1) + 1;
    return true;
}

/* Frees all mappings, allocations and reservations, and releases their blocks. */
static void free_ranges(struct sim_process *process)
{
    const struct sim_origin nowhere = {0, 0, 0};
    void *thing;
    while ((thing = addrmap_ceil(&process->mappings, 0)) != NULL)
        sim_mapping_end(process, thing, nowhere);
    while ((thing = addrmap_ceil(&process->allocations, 0)) != NULL)
        sim_allocation_end(process, thing, (struct sim_origin){0, 0, 0});
    while ((thing = addrmap_ceil(&process->adopted, 0)) != NULL)
        sim_allocation_end(process, thing, (struct sim_origin){0, 0, 0});
    while ((thing = addrmap_ceil(&process->reservations, 0)) != NULL)
        pool_free(&process->reservation_pool,
                  addrmap_remove(&process->reservations, ((struct sim_reservation *)thing)->start));
}

static void drop_block(void *user, void *object)
{
    struct sim_handle *handle = object;
    sim_block_drop(user, handle->block);
}

void sim_process_release(struct sim_process *process)
{
    assert_locked(process->machine);
    arrays_end_all(process);
    free_ranges(process);
    sim_pools_end(process);
    slots_each(&process->handles, drop_block, process->machine);
}

void sim_process_clear(struct sim_process *process)
{
    slots_clear(&process->handles);
    slots_clear(&process->contexts);
    slots_clear(&process->streams);
    slots_clear(&process->events);
    slots_clear(&process->pools);
    arrays_clear(process);
    clear_maps(process);
    va_allocator_clear(&process->va);
    host_window_close(&process->window);
    context_stack_clear(&process->current);
    kernels_process_ended(process->serial);
}

bool sim_process_forked(const struct sim_process *process)
{
    uint64_t initialised = process->initialised;
    return initialised && initialised != life_stamp();
}

uint64_t sim_granularity(const struct sim_process *process, vmm_mem_location_type type, int option)
{
    const struct sim_profile *profile = &process->machine->profile;
    return type == VMM_MEM_LOCATION_TYPE_HOST || type == VMM_MEM_LOCATION_TYPE_HOST_NUMA ||
                   type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
               ? profile->host_granularity[option]
               : profile->device_granularity[option];
}

struct sim_reservation *sim_reservation_at(const struct sim_process *process, uint64_t address)
{
    assert_readable(process->machine);
    struct sim_reservation *r = addrmap_floor(&process->reservations, address);
    return r && address - r->start < r->size ? r : NULL;
}

struct sim_mapping *sim_mapping_at(const struct sim_process *process, uint64_t address)
{
    assert_readable(process->machine);
    struct sim_mapping *m = addrmap_floor(&process->mappings, address);
    return m && address - m->start < m->size ? m : NULL;
}

struct sim_allocation *sim_allocation_at(const struct sim_process *process, uint64_t address)
{
    assert_readable(process->machine);
    struct sim_allocation *a = addrmap_floor(&process->allocations, address);
    if ((!a || address - a->start >= a->size) && process->pieces.count)
        a = addrmap_floor(&process->pieces, address);
    if ((!a || address - a->start >= a->size) && process->adopted.count)
        a = addrmap_floor(&process->adopted, address);
    return a && address - a->start < a->size ? a : NULL;
}

struct mempool_chunk *sim_chunk_at(const struct sim_process *process, uint64_t address)
{
    assert_readable(process->machine);
    struct mempool_chunk *chunk = process->chunks.count ? addrmap_floor(&process->chunks, address) : NULL;
    return chunk && address - chunk->start < chunk->size ? chunk : NULL;
}

struct sim_mapping *sim_mapping_after(const struct sim_process *process, uint64_t address, uint64_t end)
{
    assert_readable(process->machine);
    struct sim_mapping *m = addrmap_next(&process->mappings, address, end);
    return m && m->start < end ? m : NULL;
}

struct sim_mapping *sim_mapping_in(const struct sim_process *process, uint64_t start, uint64_t size)
{
    assert_readable(process->machine);
    uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
    struct sim_mapping *last = size ? addrmap_floor(&process->mappings, end - 1) : NULL;
    if (!last || (last->start <= start && start - last->start >= last->size))
        return NULL; /* mappings do not overlap, so the last one that starts before end is also the last to end */
    if (last->start <= start)
        return last;
    struct sim_mapping *first = sim_mapping_at(process, start);
    return first ? first : sim_mapping_after(process, start, end);
}

bool sim_take_addresses(struct sim_process *process, uint64_t size, uint64_t unit, uint64_t *address)
{
    const struct sim_mapping *mapping;
    for (uint64_t from = 0;; from = mapping->start + mapping->size) {
        if (va_allocator_take(&process->va, size, unit, from, address) != VA_ALLOCATOR_TAKEN)
            return false;
        mapping = sim_mapping_in(process, *address, size);
        if (!mapping)
            return true;
        va_allocator_free(&process->va, *address, size);
    }
}

struct sim_handle *sim_handle_ready(struct sim_process *process)
{
    assert_locked(process->machine);
    return slots_ready(&process->handles) ? pool_alloc(&process->handle_pool) : NULL;
}

void sim_handle_drop(struct sim_process *process, struct sim_handle *handle)
{
    if (handle)
        pool_free(&process->handle_pool, handle);
}

/* Field by field: the compiler's code for clearing a whole struct of this size takes longer than everything else here. */
void sim_handle_begin(struct sim_process *process, struct sim_handle *handle, struct sim_block *block, struct sim_origin made)
{
    assert_locked(process->machine);
    handle->value = handle->shown = slots_add(&process->handles, handle);
    handle->block = block;
    handle->refs = 1;
    handle->maps = 0;
    handle->number = sim_process_number(process, VMM_OBJECT_HANDLE);
    handle->size = block->size;
    handle->prop = block->prop;
    handle->team_size = block->team ? block->team->wanted : 0;
    handle->tile_pool = handle->decompress = handle->imported = handle->unsized = false;
    handle->rdma_first = handle->rdma_late = NULL;
    handle->made = made;
    handle->ended = handle->retained = (struct sim_origin){0, 0, 0};
}

void sim_handle_size(struct sim_handle *handle, uint64_t size)
{
    struct sim_block *block = handle->block;
    block->size = handle->size = size;
    block_data_init(&block->bytes, block->bytes.backing, size);
    handle->unsized = false;
}

void sim_handle_settle(struct sim_process *process, struct sim_handle *handle, struct sim_origin ended)
{
    assert_locked(process->machine);
    if (handle->refs || handle->maps)
        return;
    sim_block_drop(process->machine, handle->block);
    handle->block = NULL;
    handle->ended = ended;
    slots_end(&process->handles, handle->value);
}

/* Records a range that ends now, for messages: `range` describes it. */
static void retire(struct sim_process *process, struct retired_range range, struct sim_origin made, struct sim_origin ended)
{
    range.created = made.number;
    range.created_by = made.call;
    range.created_stack = made.stack;
    range.ended = ended.number;
    range.ended_by = ended.call;
    range.ended_stack = ended.stack;
    retired_ranges_add(&process->retired, &range);
}

void sim_reservation_end(struct sim_process *process, struct sim_reservation *reservation, struct sim_origin ended)
{
    assert_locked(process->machine);
    retire(process,
           (struct retired_range){.start = reservation->start,
                                  .size = reservation->size,
                                  .number = reservation->number,
                                  .kind = VMM_OBJECT_RESERVATION},
           reservation->made, ended);
    addrmap_remove(&process->reservations, reservation->start);
    va_allocator_free(&process->va, reservation->start, reservation->size);
    pool_free(&process->reservation_pool, reservation);
}

void sim_mapping_end(struct sim_process *process, struct sim_mapping *mapping, struct sim_origin ended)
{
    assert_locked(process->machine);
    struct sim_handle *handle = mapping->handle;
    retire(process,
           (struct retired_range){.start = mapping->start,
                                  .size = mapping->size,
                                  .number = mapping->number,
                                  .handle = handle->shown,
                                  .handle_number = handle->number,
                                  .kind = VMM_OBJECT_MAPPING,
                                  .location = handle->prop.location},
           mapping->made, ended);
    if (rdma_concerns(handle))
        rdma_unmapped(mapping);
    addrmap_unmake(&process->mappings, mapping->start);
    process->aliased -= handle->maps == 2;
    handle->maps--;
    sim_handle_settle(process, handle, ended);
}

void sim_allocation_retire(struct sim_process *process, const struct sim_allocation *allocation, vmm_mem_location location,
                           struct sim_origin ended)
{
    retire(process,
           (struct retired_range){.start = allocation->start,
                                  .size = allocation->size,
                                  .number = allocation->number,
                                  .kind = VMM_OBJECT_ALLOCATION,
                                  .location = location},
           allocation->made, ended);
}

void sim_allocation_end(struct sim_process *process, struct sim_allocation *allocation, struct sim_origin ended)
{
    assert_locked(process->machine);
    sim_allocation_retire(process, allocation, allocation->block->prop.location, ended);
    if (allocation->managed)
        sim_managed_end(process, sim_managed_of(allocation));
    if (allocation->adopted)
        addrmap_remove(&process->adopted, allocation->start);
    else
        sim_allocation_leave(process, allocation);
    sim_block_drop(process->machine, allocation->block);
    heap.free(allocation);
}

bool sim_context_alive(const struct sim_process *process, const struct sim_context *context)
{
    void *found;
    return slots_find(&process->contexts, context->value, &found) == SLOT_LIVE && !context->ended_primary;
}

struct sim_context *sim_current(const struct sim_process *process)
{
    void *context;
    uint64_t value = context_stack_get(&process->current);
    if (!value || slots_find(&process->contexts, value, &context) != SLOT_LIVE)
        return NULL;
    return ((struct sim_context *)context)->ended_primary ? NULL : context;
}
