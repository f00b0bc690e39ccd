/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of share_state.h. Other processes may write meanwhile, so a value that is compared with a bound is read once. */
#include <inttypes.h>

#include "checks.h"
#include "os.h"
#include "share_state.h"

static const char *check_header(const struct share_state *state)
{
    uint64_t slots = atomic_load(&state->slots_seen), blocks = atomic_load(&state->blocks_seen),
        binds = atomic_load(&state->binds_seen);
    if (state->magic != SHARE_MAGIC || state->version != SHARE_VERSION || state->bytes != sizeof *state)
        return check_say("the header belongs to version %" PRIu64 " bytes, version %" PRIu64, state->bytes, state->version);
    if (slots > SHARE_PROCESSES || blocks > SHARE_BLOCKS || binds > SHARE_BINDS)
        return check_say("%" PRIu64 " slots, %" PRIu64 " blocks and %" PRIu64 " binds were used", slots, blocks, binds);
    return NULL;
}

static bool is_taken(const struct share_state *state, unsigned slot)
{
    return slot < share_slots(state) && atomic_load(&state->slot[slot].taken);
}

static const char *check_slot(const struct share_state *state, unsigned i)
{
    const struct share_slot *slot = &state->slot[i];
    uint64_t serial = atomic_load(&slot->serial), given = atomic_load(&state->serials);
    if (!atomic_load(&slot->taken))
        return NULL;
    if (i >= share_slots(state))
        return check_say("slot %u is taken, but only %u slots were used", i, share_slots(state));
    if (!atomic_load(&slot->owner) || !serial || serial > given)
        return check_say("slot %u has serial %" PRIu64 " of %" PRIu64 " and %s owner", i, serial, given,
                         atomic_load(&slot->owner) ? "an" : "no");
    for (unsigned j = 0; j < i; j++)
        if (is_taken(state, j) && atomic_load(&state->slot[j].serial) == serial)
            return check_say("slots %u and %u both have serial %" PRIu64, j, i, serial);
    return NULL;
}

/* Checks the entry of an existing block. */
static const char *check_claim(const struct share_state *state, unsigned i, uint64_t number)
{
    const volatile struct share_block *block = &state->block[i];
    uint64_t home = block->home, size = block->size, serials = atomic_load(&state->serials);
    int32_t type = block->location_type, id = block->location_id;
    uint32_t team = block->team;
    bool on_device = type == VMM_MEM_LOCATION_TYPE_DEVICE, nowhere = type == VMM_MEM_LOCATION_TYPE_INVALID;
    if (team)
        return team <= SHARE_TEAMS && atomic_load(&state->team[team - 1].number) == number
                   ? NULL : check_say("block %u is an object with team %" PRIu32 ", which belongs to another block", i, team - 1);
    if (!home || home > serials || !size)
        return check_say("block %u has 0x%" PRIx64 " bytes at home %" PRIu64 " of %" PRIu64, i, size, home, serials);
    if (!on_device && !nowhere && type != VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return check_say("block %u lies at a location of type %" PRId32, i, type);
    if (id < 0 || (uint64_t)id >= (on_device ? state->devices : nowhere ? 1 : state->nodes))
        return check_say("block %u lies at %s %" PRId32 ", which does not exist", i, on_device ? "device" : "node", id);
    return NULL;
}

static const char *check_block(const struct share_state *state, unsigned i)
{
    const struct share_block *block = &state->block[i];
    uint64_t number = atomic_load(&block->number), given = atomic_load(&state->numbers);
    if (!number)
        return NULL;
    if (i >= share_blocks(state))
        return check_say("block %u exists, but only %u blocks were used", i, share_blocks(state));
    if (number > given)
        return check_say("block %u has number %" PRIu64 " of %" PRIu64, i, number, given);
    for (unsigned slot = 0; slot < SHARE_PROCESSES; slot++)
        if (share_holds(block, slot) && !is_taken(state, slot))
            return check_say("block %u is held by slot %u, which is not taken", i, slot);
    return check_claim(state, i, number);
}

static const char *check_team(const struct share_state *state, unsigned i)
{
    const struct share_team *team = &state->team[i];
    uint64_t number = atomic_load(&team->number), given = atomic_load(&state->numbers), members = atomic_load(&team->members);
    uint64_t wanted = ((const volatile struct share_team *)team)->wanted;
    if (!number || (number <= given && wanted >= 2 && wanted <= SHARE_MEMBERS && members <= wanted))
        return NULL;
    return check_say("team %u, of block number %" PRIu64 " of %" PRIu64 ", has %" PRIu64 " of %" PRIu64 " devices", i, number,
                     given,
                     members, wanted);
}

static const char *check_bind(const struct share_state *state, unsigned i)
{
    const volatile struct share_bind *bind = &state->bind[i];
    uint64_t number = atomic_load(&bind->number), given = atomic_load(&state->bind_numbers);
    uint64_t index = bind->index, at = bind->at, size = bind->size, of = bind->block;
    if (!number)
        return NULL;
    if (i >= share_binds(state) || number > given)
        return check_say("bind %u of %u used ones has number %" PRIu64 " of %" PRIu64, i, share_binds(state), number, given);
    if (index >= share_blocks(state) || atomic_load(&state->block[index].number) != of)
        return check_say("bind %u holds block %" PRIu64 " with number %" PRIu64 ", which does not exist", i, index, of);
    uint64_t whole = ((const volatile struct share_block *)&state->block[index])->size;
    if (!size || at > whole || size > whole - at)
        return check_say("bind %u has 0x%" PRIx64 " bytes at 0x%" PRIx64 " of 0x%" PRIx64, i, size, at, whole);
    return NULL;
}

static const char *check_slots_and_teams(const struct share_state *state)
{
    const char *said = check_header(state);
    for (unsigned i = 0; i < SHARE_PROCESSES && !said; i++)
        said = check_slot(state, i);
    for (unsigned i = 0; i < SHARE_TEAMS && !said; i++)
        said = check_team(state, i);
    return said;
}

static const char *check_blocks(const struct share_state *state, unsigned from, unsigned to)
{
    const char *said = NULL;
    for (unsigned i = from; i < to && !said; i++)
        said = check_block(state, i);
    return said;
}

static uint64_t place(const struct share_state *state, unsigned block)
{
    return (uint64_t)((const char *)&state->block[block].number - (const char *)state);
}

/* Blocks of which some may never have been used: where the file has no space there is none. */
static const char *check_blocks_with_space(const struct share_state *state, int file, unsigned from, unsigned to)
{
    const char *said = NULL;
    uint64_t known = 0;
    bool has = false;
    for (unsigned i = from; i < to && !said; i++) {
        uint64_t at = place(state, i), length = place(state, to - 1) + 1 - at;
        if (at >= known) {
            has = os_file_has_data(file, at, &length);
            known = at + length;
        }
        said = has ? check_block(state, i) : NULL;
    }
    return said;
}

static const char *check_binds(const struct share_state *state, unsigned from, unsigned to)
{
    const char *said = NULL;
    for (unsigned i = from; i < to && !said; i++)
        said = check_bind(state, i);
    return said;
}

const char *share_state_check(const struct share_state *state)
{
    const char *said = check_slots_and_teams(state);
    if (!said)
        said = check_blocks(state, 0, SHARE_BLOCKS);
    return said ? said : check_binds(state, 0, SHARE_BINDS);
}

/* The entries that were used, the one behind them, and a part of the others. */
const char *share_state_check_part(const struct share_state *state, int file, unsigned part)
{
    enum { BLOCKS = SHARE_BLOCKS / SHARE_CHECK_PARTS, BINDS = SHARE_BINDS / SHARE_CHECK_PARTS };
    unsigned blocks = share_blocks(state), binds = share_binds(state);
    const char *said = check_slots_and_teams(state);
    if (!said)
        said = check_blocks(state, 0, blocks);
    if (!said && blocks < SHARE_BLOCKS)
        said = check_blocks_with_space(state, file, blocks, blocks + 1);
    if (!said)
        said = check_blocks_with_space(state, file, part * BLOCKS, (part + 1) * BLOCKS);
    if (!said)
        said = check_binds(state, 0, binds < SHARE_BINDS ? binds + 1 : binds);
    return said ? said : check_binds(state, part * BINDS, (part + 1) * BINDS);
}
