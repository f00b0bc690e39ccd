/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of pools.h. */
#include <inttypes.h>

#include "checks.h"
#include "graph_memory.h"
#include "pool_policy.h"
#include "pools.h"

static uint64_t start_of(const void *range)
{
    return *(const uint64_t *)range;
}

const char *sim_piece_check(const struct sim_process *process, const struct sim_piece *piece)
{
    const struct sim_allocation *a = &piece->allocation;
    const struct region *region = piece->region;
    const struct mempool_chunk *chunk = sim_chunk_at(process, a->start);
    if (addrmap_floor(&process->pieces, a->start) != piece)
        return check_say("A%" PRIu32 " is not found at 0x%" PRIx64, a->number, a->start);
    if (piece->pool->graphs)
        return chunk && chunk->busy && chunk->pool == &piece->pool->memory && a->block == chunk->block && !region
                   ? NULL
                   : check_say("A%" PRIu32 " at 0x%" PRIx64 " of a graph lies in no chunk that is in use", a->number, a->start);
    if (!chunk || chunk->pool != &piece->pool->memory || region->state != REGION_LIVE || region->start != a->start ||
        region->size != a->span || a->span != pool_round(a->size, POOL_UNIT) || region->asked != a->size || a->block != chunk->block)
        return check_say("A%" PRIu32 " at 0x%" PRIx64 " and its region of pool P%" PRIu32 " differ", a->number, a->start,
                         piece->pool->number);
    return NULL;
}

const char *sim_pool_check(const struct sim_process *process, const struct sim_pool *pool)
{
    const char *said = pool->destroyed || pool->graphs ? NULL : slots_check_value(&process->pools, pool->value, pool);
    int device = pool->props.location.id;
    bool host = sim_on_host(pool->props.location);
    if (!said && !host && !sim_device_valid(process, device))
        said = check_say("it is of device %d", device);
    if (!said && sim_access_of(pool->access, host ? SIM_HOST_SLOT : (unsigned)device) != VMM_MEM_ACCESS_FLAGS_PROT_READWRITE)
        said = check_say("its own location has no access to it");
    if (!said && !process->machine->bare_pools && addrmap_floor(&process->pool_ranges, pool->start) != pool)
        said = check_say("it is not found at 0x%" PRIx64, pool->start);
    if (!said && pool->destroyed && !pool->memory.live && !pool->memory.pending)
        said = check_say("it is destroyed and unused");
    return check_in(said, "P%" PRIu32, pool->number);
}

/* Counts the pools' chunks and allocations. */
struct sum {
    uint64_t reserved, live;
};

static const char *check_pieces(const struct sim_process *process, struct sum *sum)
{
    const char *said = check_in(addrmap_check(&process->pieces, start_of), "allocations of pools");
    const struct sim_piece *p = said ? NULL : addrmap_ceil(&process->pieces, 0);
    for (; p && !said; p = addrmap_ceil(&process->pieces, p->allocation.start + 1)) {
        sum->live += !p->pool->graphs;
        said = sim_piece_check(process, p);
    }
    return said;
}

static const char *check_chunks(const struct sim_process *process, struct sum *sum)
{
    const struct mempool_chunk *c = addrmap_ceil(&process->chunks, 0);
    for (; c; c = addrmap_ceil(&process->chunks, c->start + 1)) {
        if (!c->block || c->block->size != c->size || mempool_chunk_at(c->pool, c->start) != c)
            return check_say("the chunk at 0x%" PRIx64 " has 0x%" PRIx64 " bytes, and another block or none, or its pool has another",
                             c->start, c->size);
        sum->reserved += c->size;
    }
    return NULL;
}

static const char *check_location(const struct sim_pools *pools, vmm_mem_location at)
{
    if (!pools->own != !pools->current)
        return check_say("location %d:%d has a default pool or a current one, and not both", at.type, at.id);
    if (!pools->own)
        return NULL;
    const vmm_mem_location of = pools->current->props.location;
    bool elsewhere = of.type != at.type || (of.id != at.id && at.type != VMM_MEM_LOCATION_TYPE_HOST);
    if (pools->own->destroyed || pools->current->destroyed || elsewhere)
        return check_say("location %d:%d uses P%" PRIu32 ", which is destroyed or elsewhere", at.type, at.id, pools->current->number);
    return NULL;
}

static const char *check_current(const struct sim_process *process)
{
    const char *said = check_location(&process->host_pools[0], (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0});
    for (int i = 0; i < VMM_MAX_DEVICES && !said; i++)
        said = check_location(&process->device_pools[i], (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, i});
    for (int i = 0; i < SIM_MAX_NODES && !said; i++)
        said = check_location(&process->host_pools[1 + i], (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, i});
    return said;
}

const char *sim_pools_check(const struct sim_process *process)
{
    struct sum sum = {0}, own = {0};
    const char *said = check_pieces(process, &sum);
    if (!said)
        said = check_chunks(process, &sum);
    for (const struct sim_pool *pool = process->first_pool; pool && !said; pool = pool->next) {
        said = check_in(mempool_check(&pool->memory), "P%" PRIu32, pool->number);
        if (!said)
            said = sim_pool_check(process, pool);
        own.reserved += pool->memory.reserved;
        own.live += pool->memory.live;
    }
    for (int i = 0; i < VMM_MAX_DEVICES && !said; i++)
        if (process->graph_memory[i])
            said = check_in(sim_graph_memory_check(process, process->graph_memory[i]), "graphs of device %d", i);
    if (!said && (sum.reserved != own.reserved || sum.live != own.live))
        said = check_say("chunks have 0x%" PRIx64 " bytes and %" PRIu64 " allocations, pools 0x%" PRIx64 " and %" PRIu64, sum.reserved,
                         sum.live, own.reserved, own.live);
    return said ? said : check_current(process);
}
