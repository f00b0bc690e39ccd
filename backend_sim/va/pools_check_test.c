/* SPDX-License-Identifier: Apache-2.0 */
/* sim_pools_check: breaks each invariant of pools.h by hand, in a process with two pools of device 0 and one of device 1. */
#include "pools.h"

#include "breaks.h"
#include "checks.h"
#include "pool_policy.h"
#include "system.h"
#include "watch.h"

#define MIB (UINT64_C(1) << 20)

/*  pool:  A1 72 MiB in three chunks, A2, A3 (freed: pending)    own pool of device 0: A4    other: of device 1, nothing in it  */
struct scene {
    vmm_system *sys;
    struct sim_process *process;
    vmm_stream stream;
    struct sim_pool *pool, *own, *other, *host;
    struct sim_piece *big, *small, *in_own;
    struct mempool_chunk *first, *second;
};

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

static struct sim_pool *pool_of(const struct scene *s, vmm_memory_pool value)
{
    struct sim_pool *ended, *pool = sim_pool_find(s->process, (uint64_t)(uintptr_t)value, &ended);
    if (!pool)
        tap_bail("no pool");
    return pool;
}

static struct sim_piece *piece_at(const struct scene *s, vmm_deviceptr at)
{
    return (struct sim_piece *)(void *)sim_allocation_at(s->process, at);
}

static vmm_memory_pool create(struct scene *s, int device)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    vmm_memory_pool pool;
    need(vmm_mem_pool_create(s->sys, &pool, &props));
    return pool;
}

static void open_scene(struct scene *s)
{
    vmm_context context;
    vmm_deviceptr big, small, freed, in_own;
    *s = (struct scene){0};
    need(vmm_open("sim:h200x2", &s->sys));
    s->process = (struct sim_process *)s->sys->top;
    need(vmm_init(s->sys, 0));
    need(vmm_device_primary_ctx_retain(s->sys, &context, 0));
    need(vmm_ctx_set_current(s->sys, context));
    need(vmm_stream_create(s->sys, &s->stream, 0));
    const vmm_memory_pool pool = create(s, 0), other = create(s, 1);
    vmm_memory_pool own;
    need(vmm_device_get_default_mem_pool(s->sys, &own, 0));
    need(vmm_mem_alloc_from_pool_async(s->sys, &big, 72 * MIB, pool, s->stream));
    need(vmm_mem_alloc_from_pool_async(s->sys, &small, 1000, pool, s->stream));
    need(vmm_mem_alloc_from_pool_async(s->sys, &freed, 2000, pool, s->stream));
    need(vmm_mem_alloc_async(s->sys, &in_own, 3000, s->stream));
    need(vmm_mem_free_async(s->sys, freed, s->stream));
    const vmm_mem_pool_props on_host = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}};
    vmm_memory_pool host;
    need(vmm_mem_pool_create(s->sys, &host, &on_host));
    sim_machine_lock(s->process->machine);
    s->pool = pool_of(s, pool);
    s->own = pool_of(s, own);
    s->other = pool_of(s, other);
    s->host = pool_of(s, host);
    s->big = piece_at(s, big);
    s->small = piece_at(s, small);
    s->in_own = piece_at(s, in_own);
    s->first = sim_chunk_at(s->process, big);
    s->second = sim_chunk_at(s->process, big + POOL_CHUNK);
    check_holds(sim_pools_check(s->process), "pools with allocations");
    check_holds(process_check(s->process), "the process around them");
}

static void close_scene(struct scene *s)
{
    check_holds(process_check(s->process), "all is mended");
    sim_machine_unlock(s->process->machine);
    vmm_close(s->sys);
}

#define PIECE(place, value, words) BREAKS(place, value, sim_piece_check(s->process, s->big), words)
#define PIECE_TO(place, value, words) BREAKS_TO(place, value, sim_piece_check(s->process, s->big), words)

/* An allocation, its region and its chunk are consistent. */
static void test_piece(struct scene *s)
{
    struct sim_allocation *a = &s->big->allocation;
    char differ[100];
    snprintf(differ, sizeof differ, "A%u at 0x%llx and its region of pool P1 differ", (unsigned)a->number, (unsigned long long)a->start);
    struct region *region = s->big->region;
    check_holds(sim_piece_check(s->process, s->big), "an allocation of three chunks");
    PIECE(a->start, s->small->allocation.start, "A1 is not found at 0x");
    PIECE_TO(s->first->size, 0, differ);
    PIECE(s->first->pool, &s->other->memory, differ);
    PIECE(region->state, REGION_PENDING, differ);
    PIECE(region->start, region->start + POOL_UNIT, differ);
    PIECE(region->size, region->size + POOL_UNIT, differ);
    BREAKS_TO(a->span, a->span + POOL_UNIT, (region->size += POOL_UNIT, sim_piece_check(s->process, s->big)), differ);
    region->size -= POOL_UNIT;
    PIECE(region->asked, region->asked - 1, differ);
    PIECE(a->block, s->second->block, differ);
    BREAKS(region->asked, 1, process_check_at(s->process, a->start), differ);
    BREAKS(region->asked, 1, sim_pools_check(s->process), differ);
}

#define POOL(place, value, words) BREAKS(place, value, sim_pool_check(s->process, s->pool), words)
#define POOL_TO(place, value, words) BREAKS_TO(place, value, sim_pool_check(s->process, s->pool), words)

static void test_pool(struct scene *s)
{
    struct sim_pool *pool = s->pool;
    POOL(pool->value, 7, "P1: value 0x7 is not live");
    POOL(pool->value, s->other->value, "finds another object");
    POOL(pool->props.location.id, 2, "P1: it is of device 2");
    POOL(pool->props.location.id, -1, "P1: it is of device -1");
    POOL(pool->access, 0, "P1: its own location has no access to it");
    POOL_TO(pool->start, 0, "P1: it is not found at 0x0");
    const uint64_t start = pool->start;
    s->process->machine->bare_pools = true;
    pool->start = 0;
    check_holds(sim_pool_check(s->process, pool), "where pools have no addresses");
    pool->start = start;
    s->process->machine->bare_pools = false;
    BREAKS(pool->access, 0, process_check_value(s->process, pool->value), "P1: its own location has no access to it");
    BREAKS(pool->access, 0, process_check(s->process), "P1: its own location has no access to it");
    pool->destroyed = true;
    check_holds(sim_pool_check(s->process, pool), "a destroyed pool with allocations");
    uint64_t live = pool->memory.live, pending = pool->memory.pending;
    pool->memory.live = 0;
    check_holds(sim_pool_check(s->process, pool), "a destroyed pool with a pending region");
    POOL_TO(pool->memory.pending, 0, "P1: it is destroyed and unused");
    pool->memory.live = live;
    pool->destroyed = false;
    tap_ok(live == 2 && pending == 1, "two regions live, one pending");
}

/* The maps of the process match the pools. */
static void test_sums(struct scene *s)
{
    struct sim_process *p = s->process;
    BREAKS(p->pieces.count, p->pieces.count + 1, sim_pools_check(p), "allocations of pools: count is 4");
    BREAKS(s->second->block, NULL, sim_pools_check(p), "has 0x2000000 bytes, and another block or none");
    BREAKS(s->second->size, POOL_CHUNK / 2, sim_pools_check(p), "has 0x1000000 bytes, and another block or none");
    BREAKS(s->second->pool, &s->other->memory, sim_pools_check(p), "or its pool has another");
    BREAKS(s->pool->memory.live, 9, sim_pools_check(p), "P1: there are 2 live regions");
    addrmap_remove(&p->chunks, s->second->start);
    check_breaks(sim_pools_check(p), "chunks have 0x6000000 bytes and 3 allocations, pools 0x8000000 and 3");
    if (!addrmap_insert(&p->chunks, s->second->start, s->second))
        tap_bail("no memory");
    addrmap_remove(&p->pieces, s->small->allocation.start);
    check_breaks(sim_pools_check(p), "chunks have 0x8000000 bytes and 2 allocations, pools 0x8000000 and 3");
    if (!addrmap_insert(&p->pieces, s->small->allocation.start, s->small))
        tap_bail("no memory");
    check_holds(sim_pools_check(p), "nothing is lost");
}

static void test_current(struct scene *s)
{
    struct sim_process *p = s->process;
    struct sim_pools *pools = &p->device_pools[0];
    BREAKS(pools->own, NULL, sim_pools_check(p), "location 1:0 has a default pool or a current one, and not both");
    BREAKS(pools->current, NULL, sim_pools_check(p), "location 1:0 has a default pool or a current one, and not both");
    BREAKS(pools->current, s->other, sim_pools_check(p), "location 1:0 uses P2, which is destroyed or elsewhere");
    BREAKS(pools->current, s->host, sim_pools_check(p), "location 1:0 uses P4, which is destroyed or elsewhere");
    struct sim_pools *host = &p->host_pools[1];
    host->own = host->current = s->host;
    check_holds(sim_pools_check(p), "a pool of the host's node");
    BREAKS(s->host->props.location.id, 1, sim_pools_check(p), "location 3:0 uses P4, which is destroyed or elsewhere");
    host->own = host->current = NULL;
    host = &p->host_pools[0];
    host->own = host->current = s->host;
    s->host->props.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 3};
    check_holds(sim_pools_check(p), "any host number is valid");
    s->host->props.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    host->own = host->current = NULL;
    BREAKS(s->own->destroyed, true, sim_pools_check(p), "location 1:0 uses P3, which is destroyed or elsewhere");
    s->pool->destroyed = true;
    BREAKS(pools->current, s->pool, sim_pools_check(p), "location 1:0 uses P1, which is destroyed or elsewhere");
    s->pool->destroyed = false;
}

/* The checks of the process know the pools' addresses, values and memory. */
static void test_process(struct scene *s)
{
    struct sim_process *p = s->process;
    BREAKS(p->chunks.count, 9, process_check(p), "chunks: count is 9");
    BREAKS(p->pool_ranges.count, 9, process_check(p), "pools: count is 9");
    BREAKS(p->pools.used, 99, process_check(p), "pools: 99 slots are used");
    BREAKS(s->pool->memory.size, 0, process_check(p), "P1 has 0x0 bytes at 0x");
#ifndef POOL_PLAIN
    BREAKS(p->piece_pool.left, 99, process_check(p), "room for allocations of pools: ");
#endif
}

/* A pool's chunks hold blocks of the machine. */
static void test_blocks(struct scene *s)
{
    struct sim_machine *machine = s->process->machine;
    check_holds(watch_machine(machine), "a machine with pools");
    BREAKS(s->second->block->holders, 2, watch_machine(machine), "has 1 holders, but holders is 2");
    BREAKS(s->second->block->holders, 0, watch_machine(machine), "P1: block ");
    BREAKS(s->second->block->size, MIB, watch_machine(machine), "another block or none");
}

int main(void)
{
    struct scene scene;
    open_scene(&scene);
    test_piece(&scene);
    test_pool(&scene);
    test_sums(&scene);
    test_current(&scene);
    test_process(&scene);
    test_blocks(&scene);
    close_scene(&scene);
    return tap_done();
}
