/* SPDX-License-Identifier: Apache-2.0 */
/* share_state_check: a test breaks each invariant by hand and expects its message; with random words the check still
 * terminates. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "breaks.h"
#include "os.h"
#include "os_share.h"
#include "random.h"
#include "share_state.h"

static struct share_state *state_in(int file)
{
    struct sim_profile profile;
    struct share_state *state = os_file_grow(file, sizeof *state) ? os_map(file, 0, sizeof *state) : NULL;
    if (!state || !sim_profile_builtin("h200x2", &profile))
        tap_bail("no state");
    share_state_init(state, &profile, 7);
    return state;
}

/* slots 0 and 2    block 0: memory that slot 0 holds    block 1: object with team 0    bind 0 of block 0 */
static struct share_state *furnished(int file)
{
    struct share_state *state = state_in(file);
    check_holds(share_state_check(state), "a fresh state");
    state->serials = 5;
    state->numbers = 9;
    state->bind_numbers = 3;
    state->slots_seen = 3;
    state->blocks_seen = 2;
    state->binds_seen = 1;
    for (unsigned i = 0; i < 3; i += 2) {
        state->slot[i].taken = 1;
        state->slot[i].owner = 100 + i;
        state->slot[i].serial = 1 + i;
    }
    state->block[0] = (struct share_block){.number = 8, .home = 1, .size = 4096, .location_type = VMM_MEM_LOCATION_TYPE_DEVICE};
    share_hold(&state->block[0], 0, true);
    state->block[1] = (struct share_block){.number = 9, .size = 4096, .team = 1};
    state->team[0].number = 9;
    state->team[0].wanted = 2;
    state->team[0].members = 1;
    state->bind[0] = (struct share_bind){.number = 3, .index = 0, .block = 8, .size = 1024, .at = 3072};
    check_holds(share_state_check(state), "a state with one entry of each kind");
    return state;
}

#define STATE(place, value, words) BREAKS(state->place, value, share_state_check(state), words)
#define STATE_TO(place, value, words) BREAKS_TO(state->place, value, share_state_check(state), words)

static void test_slots(struct share_state *state)
{
    STATE(version, 3, "the header belongs to version");
    STATE(magic, 1, "the header belongs to version");
    STATE(bytes, 1, "the header belongs to version 1 bytes");
    STATE(slots_seen, SHARE_PROCESSES + 1, "257 slots, 2 blocks and 1 binds were used");
    STATE(blocks_seen, SHARE_BLOCKS + 1, "8193 blocks");
    STATE(binds_seen, SHARE_BINDS + 1, "4097 binds");
    STATE_TO(slots_seen, 1, "slot 2 is taken, but only 1 slots were used");
    STATE_TO(slot[2].owner, 0, "slot 2 has serial 3 of 5 and no owner");
    STATE(slot[2].serial, 6, "slot 2 has serial 6 of 5");
    STATE(slot[2].serial, 0, "slot 2 has serial 0 of 5 and an owner");
    STATE_TO(slot[2].serial, 1, "slots 0 and 2 both have serial 1");
}

static void test_blocks(struct share_state *state)
{
    STATE_TO(blocks_seen, 1, "block 1 exists, but only 1 blocks were used");
    STATE_TO(numbers, 8, "team 0, of block number 9 of 8");
    STATE(block[0].number, 10, "block 0 has number 10 of 9");
    STATE_TO(block[0].holder[0], 2, "block 0 is held by slot 1, which is not taken");
    STATE_TO(slot[0].taken, 0, "block 0 is held by slot 0, which is not taken");
    STATE(block[0].holder[(SHARE_PROCESSES - 1) / 64], UINT64_C(1) << 63, "block 0 is held by slot 255, which is not taken");
    share_hold(&state->block[0], 2, true);
    check_holds(share_state_check(state), "a block that two slots hold");
    share_hold(&state->block[0], 2, false);
    STATE_TO(block[0].home, 0, "block 0 has 0x1000 bytes at home 0 of 5");
    STATE(block[0].home, 6, "block 0 has 0x1000 bytes at home 6 of 5");
    STATE_TO(block[0].size, 0, "block 0 has 0x0 bytes");
    STATE_TO(block[0].location_type, 2, "block 0 lies at a location of type 2");
    STATE(block[0].location_id, 2, "block 0 lies at device 2, which does not exist");
    STATE_TO(block[0].location_id, -1, "block 0 lies at device -1, which does not exist");
    STATE(block[1].team, 3, "block 1 is an object with team 2, which belongs to another block");
    STATE(block[1].team, SHARE_TEAMS + 1, "which belongs to another block");
    state->block[0].location_type = VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    STATE(block[0].location_id, 99, "block 0 lies at node 99, which does not exist");
    STATE(block[0].location_id, (int32_t)state->nodes, "which does not exist");
    state->block[0].location_type = VMM_MEM_LOCATION_TYPE_INVALID; /* a pool's table */
    check_holds(share_state_check(state), "a block without a location");
    STATE(block[0].location_id, 1, "which does not exist");
    state->block[0].location_type = VMM_MEM_LOCATION_TYPE_DEVICE;
}

static void test_teams(struct share_state *state)
{
    STATE(team[0].members, 3, "team 0, of block number 9 of 9, has 3 of 2 devices");
    STATE_TO(team[0].wanted, 1, "has 1 of 1 devices");
    STATE(team[0].wanted, SHARE_MEMBERS + 1, "has 1 of 65 devices");
    STATE_TO(binds_seen, 0, "bind 0 of 0 used ones");
    STATE_TO(bind[0].number, 4, "bind 0 of 1 used ones has number 4 of 3");
    STATE(bind[0].index, 7000, "bind 0 holds block 7000 with number 8, which does not exist");
    BREAKS(state->bind[0].index, 2, (state->bind[0].block = 0, share_state_check(state)), "bind 0 holds block 2 with number 0");
    state->bind[0].block = 8;
    STATE(bind[0].block, 9, "bind 0 holds block 0 with number 9, which does not exist");
    STATE(bind[0].size, 0, "bind 0 has 0x0 bytes at 0xc00 of 0x1000");
    STATE_TO(bind[0].size, 1025, "bind 0 has 0x401 bytes at 0xc00 of 0x1000");
    STATE(bind[0].at, UINT64_MAX, "bind 0 has 0x400 bytes at");
}

/* A part of the check finds what lies in its part, and what was used, with the entry behind it. */
static void test_parts(struct share_state *state, int file)
{
    enum { LAST = SHARE_CHECK_PARTS - 1 };
    check_holds(share_state_check_part(state, file, 0), "the first part");
    check_holds(share_state_check_part(state, file, LAST), "the last part");
    BREAKS_TO(state->block[0].size, 0, share_state_check_part(state, file, LAST), "block 0 has 0x0 bytes");
    BREAKS(state->block[2].number, 1, share_state_check_part(state, file, LAST), "block 2 exists, but only 2 blocks were used");
    BREAKS(state->bind[1].number, 1, share_state_check_part(state, file, LAST), "bind 1 of 1 used ones");
    BREAKS(state->slot[2].serial, 6, share_state_check_part(state, file, LAST), "slot 2 has serial 6 of 5");
    state->blocks_seen = SHARE_BLOCKS;
    state->binds_seen = SHARE_BINDS;
    check_holds(share_state_check_part(state, file, 0), "a state of which all entries were used");
    BREAKS(state->bind[SHARE_BINDS - 1].number, 4, share_state_check_part(state, file, 0),
           "bind 4095 of 4096 used ones has number 4 of 3");
    state->blocks_seen = 2;
    state->binds_seen = 1;
    BREAKS(state->block[SHARE_BLOCKS - 1].number, 1, share_state_check_part(state, file, LAST), "block 8191 exists");
    BREAKS(state->bind[SHARE_BINDS - 1].number, 1, share_state_check_part(state, file, LAST), "bind 4095 of 1 used ones");
    state->bind[SHARE_BINDS - 1].number = state->block[SHARE_BLOCKS - 1].number = 1;
    check_holds(share_state_check_part(state, file, LAST - 1), "another part");
    state->bind[SHARE_BINDS - 1].number = state->block[SHARE_BLOCKS - 1].number = 0;
}

/* Blocks that were never used have no space in the file, and checks take none for them. */
static void test_space(void)
{
    const uint64_t behind = offsetof(struct share_state, team), end = offsetof(struct share_state, mark);
    struct stat before = {0}, after = {0};
    int file = os_file_new();
    struct share_state *state = state_in(file);
    const char *said = NULL;
    if (!os_file_room(file, 0, offsetof(struct share_state, block)) || !os_file_room(file, behind, end - behind) ||
        fstat(file, &before))
        tap_bail("no space beside the blocks");
    for (unsigned part = 0; part < SHARE_CHECK_PARTS && !said; part++)
        said = share_state_check_part(state, file, part);
    check_holds(said, "a state whose blocks have no space");
    fstat(file, &after);
    tap_u64((uint64_t)after.st_blocks, (uint64_t)before.st_blocks, "after each of its parts they still have none");
    BREAKS(state->block[SHARE_BLOCKS / 2].number, 1, share_state_check_part(state, file, SHARE_CHECK_PARTS / 2),
           "block 4096 exists");
    munmap(state, sizeof *state);
    os_file_close(file);
}

/* The check terminates whatever the state contains. Under sanitizers it must read nothing out of range. */
static void test_forged(struct share_state *state, int file, uint64_t seed)
{
    unsigned broken = 0, differ = 0, rounds = (unsigned)random_rounds(200);
    for (unsigned i = 0; i < rounds; i++) {
        unsigned char *byte = (unsigned char *)state + random_below(&seed, offsetof(struct share_state, mark));
        unsigned char old = *byte;
        *byte = (unsigned char)random_below(&seed, 256);
        bool whole = share_state_check(state), part = false;
        for (unsigned n = 0; n < SHARE_CHECK_PARTS && !part; n++)
            part = share_state_check_part(state, file, n);
        broken += whole;
        differ += whole != part;
        *byte = old;
    }
    tap_note("%u of %u forged bytes broke an invariant", broken, rounds);
    tap_u64(differ, 0, "all parts together find what the whole check finds");
    check_holds(share_state_check(state), "the state after undoing the forgery");
}

int main(void)
{
    int file = os_file_new();
    struct share_state *state = furnished(file);
    test_space();
    test_slots(state);
    test_blocks(state);
    test_teams(state);
    test_parts(state, file);
    check_holds(share_state_check(state), "the state after all repairs");
    test_forged(state, file, random_seed(1));
    munmap(state, sizeof *state);
    os_file_close(file);
    return tap_done();
}
