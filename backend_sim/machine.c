#include "machine.h"

#include <stdlib.h>

#include "team.h"

struct sim_machine *sim_machine_new(const struct sim_profile *profile)
{
    struct sim_machine *machine = calloc(1, sizeof *machine);
    if (!machine)
        return NULL;
    pthread_mutex_init(&machine->lock, NULL);
    machine->profile = *profile;
    machine->bytes = true;
    frames_init(&machine->frames);
    return machine;
}

void sim_machine_free(struct sim_machine *machine)
{
    frames_clear(&machine->frames);
    pthread_mutex_destroy(&machine->lock);
    free(machine);
}

static uint64_t *used(struct sim_machine *machine, vmm_mem_location location)
{
    return location.type == VMM_MEM_LOCATION_TYPE_DEVICE ? &machine->device_used[location.id]
                                                         : &machine->node_used[location.id];
}

uint64_t sim_machine_free_bytes(const struct sim_machine *machine, vmm_mem_location location)
{
    const struct sim_profile *profile = &machine->profile;
    if (location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return profile->device_memory - profile->device_reserved - machine->device_used[location.id];
    return profile->host_memory - machine->node_used[location.id];
}

static bool compressed(const struct sim_block *block)
{
    return block->prop.alloc_flags.compression_type != VMM_MEM_ALLOCATION_COMP_NONE;
}

struct sim_block *sim_block_new(struct sim_machine *machine, uint64_t size, const vmm_mem_allocation_prop *prop)
{
    struct sim_block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->id = ++machine->blocks;
    block->size = size;
    block->holders = 1;
    block->prop = *prop;
    bytes_init(&block->bytes, &machine->frames, size);
    *used(machine, prop->location) += size;
    if (compressed(block))
        machine->device_compressed[prop->location.id] += size;
    return block;
}

void sim_block_hold(struct sim_block *block)
{
    block->holders++;
}

static void give_back(struct sim_machine *machine, const struct sim_block *block)
{
    *used(machine, block->prop.location) -= block->size;
    if (compressed(block))
        machine->device_compressed[block->prop.location.id] -= block->size;
}

void sim_block_drop(struct sim_machine *machine, struct sim_block *block)
{
    if (--block->holders)
        return;
    if (block->team)
        team_end(machine, block->team);
    else
        give_back(machine, block);
    bytes_clear(&block->bytes);
    free(block);
}
