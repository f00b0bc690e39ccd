/* SPDX-License-Identifier: Apache-2.0 */
#include "share_state.h"

#include <stdio.h>

#include "fnv.h"

static void mix(uint64_t *hash, uint64_t value)
{
    *hash = fnv1a_word(*hash, value);
}

static void mix_text(uint64_t *hash, const char *text)
{
    do
        mix(hash, (unsigned char)*text);
    while (*text++);
}

uint64_t share_profile_number(const struct sim_profile *p)
{
    uint64_t hash = FNV1A;
    mix_text(&hash, p->name);
    mix(&hash, (uint64_t)p->devices);
    mix_text(&hash, p->device_name);
    mix(&hash, p->device_memory);
    mix(&hash, p->device_reserved);
    for (int i = 0; i < VMM_MAX_DEVICES; i++)
        mix(&hash, p->peers[i]);
    mix(&hash, (uint64_t)p->host_nodes);
    mix(&hash, p->host_memory);
    for (int i = 0; i < 2; i++) {
        mix(&hash, p->device_granularity[i]);
        mix(&hash, p->host_granularity[i]);
        mix(&hash, p->multicast_granularity[i]);
    }
    mix(&hash, p->partial_map);
    mix(&hash, p->imex);
    mix(&hash, p->compression_memory);
    for (int i = 0; i < p->attributes; i++) {
        mix(&hash, (uint64_t)p->attribute[i].attribute);
        mix(&hash, (uint64_t)p->attribute[i].value);
    }
    return hash;
}

void share_state_init(struct share_state *state, const struct sim_profile *profile, uint64_t id)
{
    state->version = SHARE_VERSION;
    state->bytes = sizeof *state;
    state->id = id;
    state->profile = share_profile_number(profile);
    snprintf(state->profile_name, sizeof state->profile_name, "%s", profile->name);
    state->devices = (uint64_t)profile->devices;
    state->device_memory = profile->device_memory - profile->device_reserved;
    state->nodes = profile->host_nodes ? (uint64_t)profile->host_nodes : 1;
    state->node_memory = profile->host_memory;
    state->magic = SHARE_MAGIC;
}

static unsigned seen(uint64_t value, unsigned most)
{
    return value < most ? (unsigned)value : most;
}

unsigned share_slots(const struct share_state *state)
{
    return seen(atomic_load(&state->slots_seen), SHARE_PROCESSES);
}

unsigned share_blocks(const struct share_state *state)
{
    return seen(atomic_load(&state->blocks_seen), SHARE_BLOCKS);
}

unsigned share_binds(const struct share_state *state)
{
    return seen(atomic_load(&state->binds_seen), SHARE_BINDS);
}

static uint64_t use_of(const struct share_use *use, vmm_mem_location location, bool compressed)
{
    if (location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return atomic_load(&use->node[location.id]);
    return atomic_load(compressed ? &use->compressed[location.id] : &use->device[location.id]);
}

uint64_t share_used(const struct share_state *state, vmm_mem_location location, bool compressed)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < share_slots(state); i++)
        if (atomic_load(&state->slot[i].taken))
            sum += use_of(&state->slot[i].use, location, compressed);
    for (unsigned i = 0; i < share_blocks(state); i++) {
        const struct share_block *block = &state->block[i];
        if (atomic_load(&block->number) && block->location_type == location.type && block->location_id == location.id &&
            (!compressed || block->compression))
            sum += block->size;
    }
    return sum;
}

bool share_holds(const struct share_block *block, unsigned slot)
{
    return atomic_load(&block->holder[slot / 64]) >> (slot % 64) & 1;
}

void share_hold(struct share_block *block, unsigned slot, bool held)
{
    uint64_t bit = UINT64_C(1) << (slot % 64);
    if (held)
        atomic_fetch_or(&block->holder[slot / 64], bit);
    else
        atomic_fetch_and(&block->holder[slot / 64], ~bit);
}

bool share_is_held(const struct share_block *block)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < SHARE_PROCESSES / 64; i++)
        any |= atomic_load(&block->holder[i]);
    return any != 0;
}

bool share_home_lives(const struct share_state *state, uint64_t serial)
{
    for (unsigned i = 0; i < share_slots(state); i++)
        if (atomic_load(&state->slot[i].taken) && atomic_load(&state->slot[i].serial) == serial)
            return true;
    return false;
}

unsigned share_home_blocks(const struct share_state *state, uint64_t serial, const struct share_block *but)
{
    unsigned count = 0;
    for (unsigned i = 0; i < share_blocks(state); i++)
        count += &state->block[i] != but && atomic_load(&state->block[i].number) && state->block[i].home == serial;
    return count;
}
