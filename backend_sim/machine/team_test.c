/* SPDX-License-Identifier: Apache-2.0 */
/* Teams compared with plain arrays: for each device, a cell per granule names the bind that covers it. */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "team.h"

enum { DEVICES = 3, CELLS = 12, BLOCKS = 4, SIZE = CELLS };

struct rig {
    struct sim_machine *machine;
    struct sim_block *object, *block[DEVICES][BLOCKS];
    /* The model: the number of the bind at each granule, 0 for none; and the place of each bind. */
    unsigned cell[DEVICES][CELLS];
    struct {
        int device, block;
        uint64_t offset, size, at;
        bool live;
    } bind[400];
    unsigned binds;
};

static uint64_t state;

static unsigned draw(unsigned n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static void rig_open(struct rig *rig)
{
    struct sim_profile profile;
    const vmm_multicast_object_prop prop = {.num_devices = DEVICES, .size = SIZE};
    memset(rig, 0, sizeof *rig);
    if (!sim_profile_builtin("max", &profile) || !(rig->machine = sim_machine_new(&profile)))
        tap_bail("no machine");
    sim_machine_lock(rig->machine);
    rig->object = team_new(rig->machine, &prop);
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < BLOCKS; i++) {
            const vmm_mem_allocation_prop memory = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
            rig->block[device][i] = sim_block_new(rig->machine, SIZE, &memory);
        }
}

static void rig_close(struct rig *rig)
{
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < BLOCKS; i++)
            sim_block_drop(rig->machine, rig->block[device][i]);
    sim_block_drop(rig->machine, rig->object);
    for (int device = 0; device < DEVICES; device++)
        tap_u64(rig->machine->device_used[device], 0, "device %d has all its memory free", device);
    sim_machine_unlock(rig->machine);
    sim_machine_free(rig->machine);
}

static void test_devices(void)
{
    struct rig rig;
    rig_open(&rig);
    struct team *team = rig.object->team;
    tap_ok(!team_is_complete(team) && !team_has(team, 0), "a new team has no device");
    team_add(team, TEAM_THIS_MACHINE, 2);
    team_add(team, TEAM_THIS_MACHINE, 0);
    tap_ok(!team_is_complete(team) && team_has(team, 2) && !team_has(team, 1), "a team of three with two devices");
    tap_ok(!team_has(team, -1) && !team_has(team, VMM_MAX_DEVICES), "invalid devices are not in the team");
    tap_u64(team_devices(team), 5, "the devices as a set");
    team_add(team, TEAM_THIS_MACHINE, 1);
    tap_ok(team_is_complete(team), "a complete team");
    tap_u64(rig.machine->device_used[0], BLOCKS * SIZE, "the object itself uses no memory");
    rig_close(&rig);
}

/* Devices of other machines are separate members, even with the same ordinal. */
static void test_members(void)
{
    struct team *team = team_view(5, 0);
    team_add(team, 77, 1);
    team_add(team, TEAM_THIS_MACHINE, 1);
    team_add(team, 33, 1);
    team_add(team, 33, 0);
    tap_ok(team_has(team, 1) && !team_has(team, 0), "team_has considers only this machine's devices");
    tap_u64(team_devices(team), 2, "so does the set of devices");
    tap_ok(team->member[0].machine == TEAM_THIS_MACHINE && team->member[1].machine == 33 && team->member[1].device == 0 &&
               team->member[2].machine == 33 && team->member[2].device == 1 && team->member[3].machine == 77,
           "members are sorted by machine and device");
    tap_ok(team_member_of(team, 77, 1) == &team->member[3] && !team_member_of(team, 77, 0), "each member is found");
    tap_ok(!team_is_complete(team), "four of five devices are not complete");
    for (unsigned i = 0; i < 4; i++)
        team->member[i].seen = 8;
    team_empty(team);
    tap_ok(!team->member[0].seen && !team->member[1].seen && !team->member[2].seen && !team->member[3].seen,
           "an empty team has seen no change of any member");
    team_forget(team);
}

static struct team_member *own(struct team *team, int device)
{
    return team_member_of(team, TEAM_THIS_MACHINE, device);
}

/* Bound memory outlives its other holders, and the team's end releases it. */
static void test_holding(void)
{
    struct rig rig;
    rig_open(&rig);
    struct team *team = rig.object->team;
    struct sim_block *block = rig.block[1][0];
    const struct team_bind bind = {.offset = 2, .size = 3, .block = block};
    team_add(team, TEAM_THIS_MACHINE, 1);
    tap_ok(team_bind(team, own(team, 1), &bind) && block->holders == 2 && block->binds == 1 && team->count == 1, "a bind holds");
    team_unbind(rig.machine, team, own(team, 1), team_bind_in(team, 1, 2, 3));
    tap_ok(block->holders == 1 && !block->binds && !team->count, "unbinding releases the block");
    team_bind(team, own(team, 1), &bind);
    sim_block_drop(rig.machine, block);
    tap_u64(rig.machine->device_used[1], BLOCKS * SIZE, "bound memory stays");
    sim_block_drop(rig.machine, rig.object);
    tap_u64(rig.machine->device_used[1], (BLOCKS - 1) * SIZE, "the team's end frees it");
    rig.object = team_new(rig.machine, &(vmm_multicast_object_prop){.num_devices = 2, .size = SIZE});
    rig.block[1][0] = sim_block_new(rig.machine, SIZE, &(vmm_mem_allocation_prop){
        .type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 1}});
    rig_close(&rig);
}

/* The model's first bind in a range, 0 for none. */
static unsigned first_in(const struct rig *rig, int device, uint64_t offset, uint64_t size)
{
    for (uint64_t i = offset; i < offset + size; i++)
        if (rig->cell[device][i])
            return rig->cell[device][i];
    return 0;
}

static void mark(struct rig *rig, unsigned number, unsigned value)
{
    for (uint64_t i = 0; i < rig->bind[number].size; i++)
        rig->cell[rig->bind[number].device][rig->bind[number].offset + i] = value;
}

static bool agrees(const struct rig *rig, int device, uint64_t offset, uint64_t size)
{
    const struct team_bind *found = team_bind_in(rig->object->team, device, offset, size);
    unsigned number = first_in(rig, device, offset, size);
    if (!found || !number)
        return !found && !number;
    return found->number == number && found->offset == rig->bind[number].offset &&
           found->size == rig->bind[number].size && found->at == rig->bind[number].at &&
           found->block == rig->block[device][rig->bind[number].block];
}

/* One random operation; true when both sides agree. */
static bool step(struct rig *rig)
{
    struct team *team = rig->object->team;
    int device = (int)draw(DEVICES);
    uint64_t offset = draw(CELLS), size = 1 + draw(CELLS - (unsigned)offset);
    unsigned here = first_in(rig, device, offset, size);
    if (!agrees(rig, device, offset, size))
        return false;
    if (!here) {
        unsigned number = ++rig->binds;
        rig->bind[number].device = device;
        rig->bind[number].block = (int)draw(BLOCKS);
        rig->bind[number].offset = offset;
        rig->bind[number].size = size;
        rig->bind[number].at = draw(CELLS);
        mark(rig, number, number);
        return team_bind(team, own(team, device),
                         &(struct team_bind){.offset = offset, .size = size, .at = rig->bind[number].at,
                                             .block = rig->block[device][rig->bind[number].block],
                                             .number = number});
    }
    mark(rig, here, 0);
    team_unbind(rig->machine, team, own(team, device), team_bind_in(team, device, offset, size));
    return true;
}

/* A device that is not in the team has bound nothing. */
static void test_others(void)
{
    struct rig rig;
    rig_open(&rig);
    team_add(rig.object->team, TEAM_THIS_MACHINE, 1);
    tap_ok(!team_bind_in(rig.object->team, 1, 0, 1) &&
               !team_bind_in(rig.object->team, 0, 0, 1),
           "neither a device without binds nor one outside the team has any");
    rig_close(&rig);
}

static void test_random(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rig rig;
        unsigned wrong = 0;
        state = seed;
        rig_open(&rig);
        for (int device = 0; device < DEVICES; device++)
            team_add(rig.object->team, TEAM_THIS_MACHINE, device);
        for (int i = 0; i < 390; i++)
            wrong += !step(&rig);
        for (int device = 0; device < DEVICES; device++)
            for (uint64_t offset = 0; offset < CELLS; offset++)
                for (uint64_t size = 1; size <= CELLS - offset; size++)
                    wrong += !agrees(&rig, device, offset, size);
        tap_u64(wrong, 0, "random binds, seed %d", (int)seed);
        rig_close(&rig);
    }
}

int main(void)
{
    test_devices();
    test_members();
    test_holding();
    test_others();
    test_random();
    return tap_done();
}
