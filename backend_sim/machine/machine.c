/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>

#include "detail.h"
#include "heap.h"
#include "pool.h"
#include "share_nodes.h"
#include "team.h"

enum { MOST_SPARES = 64 };

/* Returns room for a block, reused or new. Each block is a separate allocation, so that any code can free it (share_view.c). */
static struct sim_block *take_room(struct sim_machine *machine)
{
    struct sim_block *block = machine->spare;
    if (!block)
        return heap.malloc(sizeof *block);
    machine->spare = block->next_shared;
    machine->spares--;
    return block;
}

/* Only the parent has readers without the lock, and they changed nothing. */
static void in_child(struct life_lock *lock, bool whole)
{
    struct sim_machine *machine = (struct sim_machine *)(void *)lock;
    machine->torn |= !whole || atomic_load(&machine->alone);
    atomic_store(&machine->alone, false);
    atomic_store(&machine->owner, NULL);
    readers_init(&machine->readers);
}

struct sim_machine *sim_machine_new(const struct sim_profile *profile)
{
    struct sim_machine *machine = heap.calloc(1, sizeof *machine);
    if (!machine)
        return NULL;
    life_lock_init(&machine->lock, LIFE_MACHINE, in_child);
    readers_init(&machine->readers);
    machine->profile = machine->hardware = *profile;
    visible_devices_all(&machine->visible, profile->devices);
    for (int i = 0; i < SIM_ATTRIBUTES; i++)
        machine->has[i / 64] |= (uint64_t)sim_profile_has(profile, i) << (i % 64);
    machine->bytes = true;
    backing_file_init(&machine->backing);
    return machine;
}

void sim_machine_free(struct sim_machine *machine)
{
    share_nodes_close(machine);
    if (machine->share)
        share_close(machine->share);
    backing_file_clear(&machine->backing);
    while (machine->spare)
        heap.free(take_room(machine));
    life_lock_end(&machine->lock);
    heap.free(machine);
}

void sim_machine_see(struct sim_machine *machine, const struct visible_devices *visible)
{
    machine->visible = *visible;
    visible_devices_apply(visible, &machine->hardware, &machine->profile);
}

vmm_mem_location sim_machine_place(const struct sim_machine *machine, vmm_mem_location location)
{
    if (location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        location.id = machine->visible.place[location.id];
    return location;
}

vmm_mem_location sim_machine_local(const struct sim_machine *machine, vmm_mem_location place)
{
    if (place.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        place.id = visible_devices_ordinal(&machine->visible, place.id);
    return place;
}

void sim_machine_abandon(struct sim_machine *machine)
{
    backing_file_abandon(&machine->backing);
    if (machine->share)
        backing_file_abandon(&machine->share->memory);
}

bool sim_machine_share(struct sim_machine *machine, char why[SHARE_WHY])
{
    if (machine->share)
        return true;
    struct share *share = share_open(NULL, &machine->hardware, why);
    if (!share)
        return false;
    share->machine = machine;
    const char *wrong = share_join(share);
    if (wrong) {
        snprintf(why, SHARE_WHY, "%s", wrong);
        share_close(share);
        return false;
    }
    machine->share = share;
    share->busy = &machine->busy;
    return true;
}

void sim_machine_await(struct sim_machine *machine, struct share *busy)
{
    sim_machine_unlock(machine);
    share_await(busy);
    sim_machine_lock(machine);
    busy->awaited--;
    vmm_detail_clear();
}

void sim_machine_settle(struct sim_machine *machine)
{
    struct share *busy = NULL;
    do {
        if (busy)
            sim_machine_await(machine, busy);
        if (sim_machine_begin(machine))
            sim_machine_end(machine);
        busy = sim_machine_busy(machine, true);
    } while (busy);
}

/* The used part of a budget: by this machine, or by all processes that share it. */
static uint64_t used(struct sim_machine *machine, vmm_mem_location location, bool compressed)
{
    assert_locked(machine);
    if (machine->share && share_lock(machine->share)) {
        uint64_t all = share_used(machine->share->folder.state, sim_machine_place(machine, location), compressed);
        share_unlock(machine->share);
        return all;
    }
    if (location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return machine->node_used[location.id];
    return compressed ? machine->device_compressed[location.id] : machine->device_used[location.id];
}

uint64_t sim_machine_free_bytes(struct sim_machine *machine, vmm_mem_location location)
{
    const struct sim_profile *profile = &machine->profile;
    bool device = location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    uint64_t all = device ? profile->device_memory - profile->device_reserved : profile->host_memory;
    uint64_t taken = used(machine, location, false);
    return taken < all ? all - taken : 0;
}

uint64_t sim_machine_room(struct sim_machine *machine, vmm_mem_location location, uint64_t wanted)
{
    uint64_t left = sim_machine_free_bytes(machine, location);
    if (!machine->share || left >= wanted || !share_lock(machine->share))
        return left;
    share_tidy(machine->share);
    left = sim_machine_free_bytes(machine, location);
    share_unlock(machine->share);
    return left;
}

uint64_t sim_machine_compressed(struct sim_machine *machine, int device)
{
    return used(machine, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, device}, true);
}

void sim_machine_count(struct sim_machine *machine, const struct sim_block *block, bool counts)
{
    assert_locked(machine);
    vmm_mem_location location = block->prop.location;
    if (location.type == VMM_MEM_LOCATION_TYPE_INVALID || block->foreign)
        return;
    uint64_t *whole = location.type == VMM_MEM_LOCATION_TYPE_DEVICE ? &machine->device_used[location.id]
                                                                    : &machine->node_used[location.id];
    uint64_t *part = &machine->device_compressed[location.type == VMM_MEM_LOCATION_TYPE_DEVICE ? location.id : 0];
    uint64_t compressed = block->prop.alloc_flags.compression_type ? block->size : 0;
    *whole = counts ? *whole + block->size : *whole - block->size;
    *part = counts ? *part + compressed : *part - compressed;
    if (machine->share)
        share_publish(machine->share, machine);
}

/* Exportable memory is stored where importers can find it: in a file for processes that open the machine by name, or
 * for another machine of the fabric. */
static struct backing_file *backing_for(struct sim_machine *machine, const vmm_mem_allocation_prop *prop)
{
    int given = machine->share && machine->share->name[0] ? ~0 : VMM_MEM_HANDLE_TYPE_FABRIC;
    bool elsewhere = machine->share && prop->requested_handle_types & given;
    return elsewhere ? &machine->share->memory : &machine->backing;
}

static void give_room(struct sim_machine *machine, struct sim_block *block)
{
#ifndef POOL_PLAIN /* without POOL_PLAIN; with it, a use-after-free must be detectable */
    if (machine->spares < MOST_SPARES) {
        block->next_shared = machine->spare;
        machine->spare = block;
        machine->spares++;
        return;
    }
#endif
    (void)machine;
    heap.free(block);
}

struct sim_block *sim_block_new(struct sim_machine *machine, uint64_t size, const vmm_mem_allocation_prop *prop)
{
    assert_locked(machine);
    struct sim_block *block = take_room(machine);
    if (!block)
        return NULL;
    /* Sets field by field, as sim_handle_begin does. */
    block->id = ++machine->blocks;
    block->size = size;
    block->holders = 1;
    block->watchers = block->binds = 0;
    block->prop = *prop;
    block->shared = 0;
    block->shared_index = 0;
    block->next_shared = NULL;
    block->share = NULL;
    block->fabric = (struct imex_place){0};
    block->team = NULL;
    block->foreign = false;
    block->counted = block->counted_binds = 0;
    block_data_init(&block->bytes, backing_for(machine, prop), size);
    block->bytes.apart = prop->location.type != VMM_MEM_LOCATION_TYPE_DEVICE; /* the host may map it in place */
    sim_machine_count(machine, block, true);
    return block;
}

void sim_block_hold(struct sim_block *block)
{
    block->holders++;
    if (block->shared)
        share_count(block->share, block, 0);
}

void sim_block_drop(struct sim_machine *machine, struct sim_block *block)
{
    block->holders--;
    if (block->shared)
        share_count(block->share, block, 0);
    if (block->holders)
        return;
    if (block->shared) {
        share_drop(block->share, block);
        share_nodes_tidy(machine);
        return;
    }
    block_data_clear(&block->bytes);
    if (block->team)
        team_end(machine, block->team);
    else
        sim_machine_count(machine, block, false);
    give_room(machine, block);
}
