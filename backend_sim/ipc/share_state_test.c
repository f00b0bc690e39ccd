/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, holders, teams and binds of a state in memory. */
#include "share_team.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define DEVICE(id) ((vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (id)})
#define NODE(id) ((vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, (id)})

static struct share_state *fresh(void)
{
    struct sim_profile profile;
    struct share_state *state = calloc(1, sizeof *state);
    if (!state || !sim_profile_builtin("h200x2", &profile))
        tap_bail("no state");
    share_state_init(state, &profile, 7);
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
    tap_u64(share_used(state, DEVICE(1), false), 0, "a slot that was never taken does not count");
    atomic_store(&state->slots_seen, 4);
    tap_u64(share_used(state, DEVICE(1), false), 0, "a released slot does not count");
    atomic_store(&state->slot[3].taken, 1);
    atomic_store(&state->slot[0].taken, 1);
    atomic_store(&state->slot[0].use.device[1], 11);
    atomic_store(&state->slot[0].use.compressed[1], 5);
    atomic_store(&state->slot[0].use.node[0], 6);
    tap_u64(share_used(state, DEVICE(1), false), 111, "the use of several processes adds up");
    tap_u64(share_used(state, DEVICE(1), true), 5, "compressible memory is counted separately");
    tap_u64(share_used(state, NODE(0), false), 6, "nodes apart");
    block(state, 0, 1, DEVICE(1), 1000, 0);
    block(state, 2, 3, DEVICE(1), 2000, 1);
    block(state, 3, 4, NODE(0), 4000, 0);
    block(state, 4, 5, DEVICE(0), 8000, 0);
    tap_u64(share_used(state, DEVICE(1), false), 3111, "exported blocks count as well");
    tap_u64(share_used(state, DEVICE(1), true), 2005, "compressible ones");
    tap_u64(share_used(state, NODE(0), false), 4006, "memory on nodes is counted per node");
    atomic_store(&state->block[2].number, 0);
    tap_u64(share_used(state, DEVICE(1), false), 1111, "a block without a number does not count");
    tap_ok(share_home_blocks(state, 41, NULL) == 2 && share_home_blocks(state, 41, &state->block[0]) == 1,
           "share_home_blocks counts the blocks with that home");
    atomic_store(&state->slot[3].serial, 41);
    tap_ok(share_home_lives(state, 41) && !share_home_lives(state, 40), "a home is alive while a slot has its serial");
    free(state);
}

static void holders(void)
{
    struct share_state *state = fresh();
    struct share_block *b = &state->block[9];
    bool right = true;
    tap_ok(!share_is_held(b), "a new block has no holder");
    for (unsigned slot = 0; slot < SHARE_PROCESSES; slot++) {
        share_hold(b, slot, true);
        right &= share_is_held(b) && share_holds(b, slot) && !share_holds(b, (slot + 1) % SHARE_PROCESSES);
        share_hold(b, slot, false);
        right &= !share_is_held(b);
    }
    tap_ok(right, "each slot holds a block on its own");
    free(state);
}

static void bounds(void)
{
    struct share_state *state = fresh();
    const struct {
        _Atomic uint64_t *seen;
        unsigned (*count)(const struct share_state *state);
        unsigned most;
    } tables[] = {{&state->slots_seen, share_slots, SHARE_PROCESSES},
                  {&state->blocks_seen, share_blocks, SHARE_BLOCKS},
                  {&state->binds_seen, share_binds, SHARE_BINDS}};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const uint64_t values[] = {0, 1, tables[i].most - 1, tables[i].most, tables[i].most + UINT64_C(1), UINT64_MAX};
        bool right = true;
        for (size_t j = 0; j < sizeof values / sizeof values[0]; j++) {
            atomic_store(tables[i].seen, values[j]);
            right &= tables[i].count(state) == (values[j] < tables[i].most ? values[j] : tables[i].most);
        }
        tap_ok(right, "a forged count is limited to the %u entries that exist", tables[i].most);
    }
    free(state);
}

/* The memory after a table looks like one more entry. */
static void beyond(void)
{
    struct share_state *state = fresh();
    struct share_slot *slot = (struct share_slot *)(void *)state->block;
    struct share_block *block = (struct share_block *)(void *)state->team;
    struct share_bind *bind = (struct share_bind *)(void *)&state->devices;
    atomic_store(&state->slots_seen, UINT64_MAX);
    atomic_store(&slot->taken, 1);
    atomic_store(&slot->serial, 9);
    atomic_store(&slot->use.device[1], 5);
    tap_ok(!share_used(state, DEVICE(1), false) && !share_home_lives(state, 9), "no slot after the last is visited");
    memset(slot, 0, sizeof *slot);
    atomic_store(&state->blocks_seen, UINT64_MAX);
    *block = (struct share_block){.size = 5, .home = 9, .location_type = VMM_MEM_LOCATION_TYPE_DEVICE, .location_id = 1};
    atomic_store(&block->number, 1);
    tap_ok(!share_used(state, DEVICE(1), false) && !share_home_blocks(state, 9, NULL), "no block after the last is visited");
    atomic_store(&state->binds_seen, UINT64_MAX);
    bind->block = 77;
    atomic_store(&bind->number, 1);
    tap_ok(!share_is_bound(state, 77), "no bind after the last is visited");
    free(state);
}

/* A new state has every field set. */
static void beginning(void)
{
    struct sim_profile profile;
    struct share_state *state = calloc(1, sizeof *state);
    sim_profile_builtin("odd", &profile);
    profile.device_reserved = 4096;
    profile.host_nodes = 2;
    if (!state)
        tap_bail("no state");
    share_state_init(state, &profile, 7);
    tap_ok(state->magic == SHARE_MAGIC && state->version == SHARE_VERSION && state->bytes == sizeof *state && state->id == 7,
           "a state has magic, version, size and id");
    tap_ok(state->profile == share_profile_number(&profile) && !strcmp(state->profile_name, "odd"),
           "a state has the profile's number and name");
    tap_ok(state->devices == 3 && state->device_memory == (48 << 20) - 4096 && state->nodes == 2 &&
               state->node_memory == 32 << 20,
           "a state has the machine's size");
    tap_ok(!share_slots(state) && !share_blocks(state) && !share_binds(state) && !atomic_load(&state->changes),
           "a new state has no slot, block, bind or change");
    memset(state, 0, sizeof *state);
    profile.host_nodes = 0;
    share_state_init(state, &profile, 8);
    tap_u64(state->nodes, 1, "a host without NUMA nodes counts as one node");
    free(state);
}

/* ---- profiles ---- */

/* Does each bit of a field change the number of a profile, or does none? */
static bool each_bit(struct sim_profile *p, size_t at, size_t size, bool tells)
{
    const uint64_t before = share_profile_number(p);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        unsigned char *byte = (unsigned char *)p + at + bit / 8;
        *byte ^= (unsigned char)(1U << bit % 8);
        bool reported = share_profile_number(p) != before;
        *byte ^= (unsigned char)(1U << bit % 8);
        if (reported != tells)
            return false;
    }
    return share_profile_number(p) == before;
}

#define FIELD(name, tells) {#name, offsetof(struct sim_profile, name), sizeof ((struct sim_profile *)0)->name, tells}

/* All builds of one version share states, so a profile must have the same number in each of them. */
static void profiles(void)
{
    static const struct {
        const char *name;
        size_t at, size;
        bool tells;
    } fields[] = {FIELD(devices, true),           FIELD(device_memory, true),         FIELD(device_reserved, true),
                  FIELD(peers, true),             FIELD(host_nodes, true),            FIELD(host_memory, true),
                  FIELD(device_granularity, true), FIELD(host_granularity, true),     FIELD(compression_memory, true),
                  FIELD(attribute[0], true),      FIELD(attribute[1], true),          FIELD(attribute[2], false),
                  FIELD(source, false),           FIELD(driver_version, false),       FIELD(multicast_granularity, true),
                  FIELD(va_start, false),         FIELD(va_end, false),               FIELD(va_granularity, false),
                  FIELD(va_chunk, false),         FIELD(va_context, false),           FIELD(va_taken, false),
                  FIELD(va_alignment_max, false), FIELD(va_hint_max, false)};
    struct sim_profile p = {.name = "n", .device_name = "d", .devices = 3, .device_memory = 5, .attributes = 2};
    tap_u64(share_profile_number(&p), UINT64_C(0x705edc0f643f0069), "a profile has the same number in every build");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        tap_ok(each_bit(&p, fields[i].at, fields[i].size, fields[i].tells), "'%s' %s", fields[i].name,
               fields[i].tells ? "changes the number" : "does not change the number");
    const uint64_t before = share_profile_number(&p);
    bool *flags[] = {&p.partial_map, &p.imex};
    for (size_t i = 0; i < 2; i++) {
        *flags[i] = true;
        tap_ok(share_profile_number(&p) != before, "a flag changes the number");
        *flags[i] = false;
    }
    p.attributes = 1;
    tap_ok(share_profile_number(&p) != before, "removing an attribute changes the number");
    p.attributes = 2;
    for (size_t i = 0; i < SIM_NAME_MAX - 1; i++) { /* "n", "nn", "nnn" ... in the profile's name and the device's name */
        uint64_t one = share_profile_number(&p);
        p.name[i] = p.name[i] ? 'N' : 'n';
        uint64_t two = share_profile_number(&p);
        p.device_name[i] = p.device_name[i] ? 'D' : 'd';
        if (one == two || two == share_profile_number(&p))
            tap_ok(false, "letter %zu of a name does not change the number", i);
    }
    tap_ok(share_profile_number(&p) != before, "every letter of the names changes the number");
}

/* ---- teams and binds ---- */

static void teams(void)
{
    struct share_state *state = fresh();
    struct share_team *first = share_team_new(state, 2, 7);
    struct share_block *b = &state->block[4];
    tap_ok(first == &state->team[0] && first->wanted == 2 && first->handle_types == 7 && !atomic_load(&first->number),
           "a new team takes the first entry");
    tap_ok(!atomic_load(&state->changes), "a new team is not a change yet");
    share_team_begin(state, first, 31);
    tap_ok(atomic_load(&first->number) == 31 && atomic_load(&state->changes) == 1,
           "the team exists once it has its number, which is a change");
    atomic_store(&state->team[1].members, 5);
    struct share_team *second = share_team_new(state, 64, 1);
    tap_ok(second == &state->team[1] && !share_team_members(second),
           "the second team takes the next entry, without members of an older team");
    block(state, 4, 31, DEVICE(0), 100, 0);
    b->team = 1;
    tap_ok(share_team_of(state, b) == first, "a block's team is found");
    tap_ok(share_team_add(state, first, 8, 3) && share_team_add(state, first, 9, 2) && !share_team_add(state, first, 9, 4),
           "a team accepts as many devices as it wants");
    tap_ok(share_team_members(first) == 2 && first->member[0].machine == 8 && first->member[0].device == 3 &&
               first->member[1].machine == 9 && first->member[1].device == 2 && !first->member[2].machine,
           "the devices are stored in order");
    tap_u64(atomic_load(&state->changes), 3, "each added device is a change");
    free(state);
}

/* A forged entry may contain anything. */
static void wrong_teams(void)
{
    struct share_state *state = fresh();
    struct share_block *b = &state->block[4];
    const struct {
        uint64_t index, number, wanted, members;
        bool found;
    } teams[] = {{1, 31, 2, 0, true},
                 {1, 31, 2, 2, true},
                 {1, 31, 2, 3, false},
                 {1, 31, 1, 0, false},
                 {1, 31, SHARE_MEMBERS, SHARE_MEMBERS, true},
                 {1, 31, SHARE_MEMBERS, UINT64_MAX, true},
                 {1, 31, SHARE_MEMBERS + 1, 0, false},
                 {1, 30, 2, 0, false},
                 {1, 32, 2, 0, false},
                 {0, 31, 2, 0, false},
                 {SHARE_TEAMS, 31, 2, 0, true},
                 {SHARE_TEAMS + 1, 31, 2, 0, false},
                 {UINT32_MAX, 31, 2, 0, false}};
    block(state, 4, 31, DEVICE(0), 100, 0);
    for (size_t i = 0; i < sizeof teams / sizeof teams[0]; i++) {
        struct share_team *team = (struct share_team *)(void *)state->bind; /* the memory after the last team */
        if (teams[i].index - 1 <= SHARE_TEAMS - 1)
            team = &state->team[teams[i].index - 1];
        team->wanted = teams[i].wanted;
        atomic_store(&team->members, teams[i].members);
        atomic_store(&team->number, teams[i].number);
        b->team = (uint32_t)teams[i].index;
        tap_ok(share_team_of(state, b) == (teams[i].found ? team : NULL), "team entry %zu is %s", i,
               teams[i].found ? "valid" : "invalid");
        atomic_store(&team->number, 0);
    }
    struct share_team *team = &state->team[0];
    team->wanted = UINT64_MAX;
    atomic_store(&team->members, SHARE_MEMBERS);
    tap_ok(!share_team_add(state, team, 1, 1) && atomic_load(&team->members) == SHARE_MEMBERS,
           "no team has more members than entries");
    for (unsigned i = 0; i < SHARE_TEAMS; i++)
        atomic_store(&state->team[i].number, i + 1);
    tap_ok(!share_team_new(state, 2, 0), "no team is created when all entries are taken");
    atomic_store(&state->team[SHARE_TEAMS - 1].number, 0);
    tap_ok(share_team_new(state, 2, 0) == &state->team[SHARE_TEAMS - 1], "a team takes the last entry when that is free");
    free(state);
}

static void binds(void)
{
    struct share_state *state = fresh();
    uint64_t number = 0;
    const struct share_bind bind = {.machine = 1, .object = 2, .index = 3, .block = 44, .device = 5, .offset = 6, .size = 7,
                                    .at = 8};
    tap_ok(share_bind_add(state, &bind, &number) == 0 && number == 1 && share_binds(state) == 1, "a bind takes the first entry");
    tap_ok(state->bind[0].machine == 1 && state->bind[0].object == 2 && state->bind[0].block == 44 && state->bind[0].at == 8 &&
               atomic_load(&state->bind[0].number) == 1 && atomic_load(&state->changes) == 1,
           "a bind has all its fields, and is a change");
    tap_ok(share_bind_add(state, &bind, &number) == 1 && number == 2 && share_binds(state) == 2,
           "the second bind takes the next entry");
    share_bind_end(state, 0);
    tap_ok(!atomic_load(&state->bind[0].number) && atomic_load(&state->changes) == 3 && share_is_bound(state, 44) &&
               !share_is_bound(state, 45),
           "the block stays bound while one of its binds exists");
    tap_ok(share_bind_add(state, &bind, &number) == 0 && number == 3 && share_binds(state) == 2,
           "the next bind reuses the entry");
    share_bind_end(state, 0);
    share_bind_end(state, 1);
    tap_ok(!share_is_bound(state, 44), "the block is not bound after both binds have ended");
    for (unsigned i = 0; i < SHARE_BINDS; i++)
        atomic_store(&state->bind[i].number, i + 1);
    tap_ok(share_bind_add(state, &bind, &number) == SHARE_BINDS && number == 3, "no bind is created when all entries are taken");
    atomic_store(&state->bind[SHARE_BINDS - 1].number, 0);
    tap_ok(share_bind_add(state, &bind, &number) == SHARE_BINDS - 1 && number == 4 && share_binds(state) == SHARE_BINDS,
           "a bind takes the last entry when that is free");
    atomic_store(&state->bind[7].number, 0);
    atomic_store(&state->bind_numbers, UINT64_MAX);
    tap_ok(share_bind_add(state, &bind, &number) == SHARE_BINDS && !atomic_load(&state->bind[7].number),
           "no bind is created when the numbers are used up");
    free(state);
}

int main(void)
{
    sums();
    holders();
    bounds();
    beyond();
    beginning();
    profiles();
    teams();
    wrong_teams();
    binds();
    return tap_done();
}
