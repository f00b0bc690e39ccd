/* The sums and holders of a state in memory. */
#include "share_state.h"

#include <stdlib.h>

#include "tap.h"

#define DEVICE(id) ((vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (id)})
#define NODE(id) ((vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, (id)})

static struct share_state *fresh(void)
{
    struct sim_profile profile;
    struct share_state *state = calloc(1, sizeof *state);
    if (!state || !sim_profile_builtin("h200x2", &profile) || !share_state_init(state, &profile, 7))
        tap_bail("no state");
    return state;
}

static void block(struct share_state *state, unsigned index, uint64_t number, vmm_mem_location location, uint64_t size,
                  uint32_t compression)
{
    struct share_block *b = &state->block[index];
    b->location_type = location.type;
    b->location_id = location.id;
    b->size = size;
    b->compression = compression;
    b->home = 40 + number % 2;
    if (atomic_load(&state->blocks_seen) <= index)
        atomic_store(&state->blocks_seen, index + 1);
    atomic_store(&b->number, number);
}

static void sums(void)
{
    struct share_state *state = fresh();
    tap_u64(share_used(state, DEVICE(0), false), 0, "a fresh state uses nothing");
    atomic_store(&state->slot[3].use.device[1], 100);
    tap_u64(share_used(state, DEVICE(1), false), 0, "a slot that was never taken counts for nothing");
    atomic_store(&state->slots_seen, 4);
    tap_u64(share_used(state, DEVICE(1), false), 0, "nor does one that nobody has");
    atomic_store(&state->slot[3].taken, 1);
    atomic_store(&state->slot[0].taken, 1);
    atomic_store(&state->slot[0].use.device[1], 11);
    atomic_store(&state->slot[0].use.compressed[1], 5);
    atomic_store(&state->slot[0].use.node[0], 6);
    tap_u64(share_used(state, DEVICE(1), false), 111, "processes add up");
    tap_u64(share_used(state, DEVICE(1), true), 5, "compressible memory apart");
    tap_u64(share_used(state, NODE(0), false), 6, "nodes apart");
    block(state, 0, 1, DEVICE(1), 1000, 0);
    block(state, 2, 3, DEVICE(1), 2000, 1);
    block(state, 3, 4, NODE(0), 4000, 0);
    block(state, 4, 5, DEVICE(0), 8000, 0);
    tap_u64(share_used(state, DEVICE(1), false), 3111, "with blocks that were exported");
    tap_u64(share_used(state, DEVICE(1), true), 2005, "compressible ones");
    tap_u64(share_used(state, NODE(0), false), 4006, "and those of nodes");
    atomic_store(&state->block[2].number, 0);
    tap_u64(share_used(state, DEVICE(1), false), 1111, "a block without a number is none");
    tap_ok(share_home_blocks(state, 41, NULL) == 2 && share_home_blocks(state, 41, &state->block[0]) == 1,
           "blocks are counted by their home");
    atomic_store(&state->slot[3].serial, 41);
    tap_ok(share_home_lives(state, 41) && !share_home_lives(state, 40), "a home lives in a slot");
    free(state);
}

static void holders(void)
{
    struct share_state *state = fresh();
    struct share_block *b = &state->block[9];
    bool right = true;
    tap_ok(!share_is_held(b), "nobody holds a fresh block");
    for (unsigned slot = 0; slot < SHARE_PROCESSES; slot++) {
        share_hold(b, slot, true);
        right &= share_is_held(b) && share_holds(b, slot) && !share_holds(b, (slot + 1) % SHARE_PROCESSES);
        share_hold(b, slot, false);
        right &= !share_is_held(b);
    }
    tap_ok(right, "each slot holds for itself");
    free(state);
}

static void bounds(void)
{
    struct share_state *state = fresh();
    atomic_store(&state->slots_seen, UINT64_MAX);
    atomic_store(&state->blocks_seen, UINT64_MAX);
    tap_ok(share_slots(state) == SHARE_PROCESSES && share_blocks(state) == SHARE_BLOCKS, "counts are cut to what there is");
    free(state);
}

static void profiles(void)
{
    struct sim_profile one, other;
    sim_profile_builtin("h100", &one);
    other = one;
    tap_ok(share_profile_number(&one) == share_profile_number(&other), "one profile has one number");
    other.device_memory++;
    tap_ok(share_profile_number(&one) != share_profile_number(&other), "with more memory another");
    other = one;
    other.attribute[0].value++;
    tap_ok(share_profile_number(&one) != share_profile_number(&other), "with another attribute another");
}

int main(void)
{
    sums();
    holders();
    bounds();
    profiles();
    return tap_done();
}
