/* SPDX-License-Identifier: Apache-2.0 */
#include "share_team.h"

/* Call it before the change: if this process is killed in between, no other process misses the change. */
static void will_change(struct share_state *state)
{
    atomic_store(&state->changes, atomic_load(&state->changes) + 1);
}

/* ---- teams ---- */

struct share_team *share_team_new(struct share_state *state, uint64_t wanted, uint64_t handle_types)
{
    for (unsigned i = 0; i < SHARE_TEAMS; i++) {
        struct share_team *team = &state->team[i];
        if (atomic_load(&team->number))
            continue;
        team->wanted = wanted;
        team->handle_types = handle_types;
        atomic_store(&team->members, 0);
        return team;
    }
    return NULL;
}

void share_team_begin(struct share_state *state, struct share_team *team, uint64_t number)
{
    will_change(state);
    atomic_store(&team->number, number);
}

unsigned share_team_members(const struct share_team *team)
{
    uint64_t members = atomic_load(&team->members);
    return members < SHARE_MEMBERS ? (unsigned)members : SHARE_MEMBERS;
}

struct share_team *share_team_of(struct share_state *state, const struct share_block *block)
{
    uint32_t index = ((const volatile struct share_block *)block)->team; /* read once, because it may be forged meanwhile */
    if (!index || index > SHARE_TEAMS)
        return NULL;
    struct share_team *team = &state->team[index - 1];
    bool sound = atomic_load(&team->number) == atomic_load(&block->number) && team->wanted >= 2 &&
                 team->wanted <= SHARE_MEMBERS && share_team_members(team) <= team->wanted;
    return sound ? team : NULL;
}

bool share_team_add(struct share_state *state, struct share_team *team, uint64_t machine, int device)
{
    unsigned members = share_team_members(team);
    if (members >= team->wanted || members == SHARE_MEMBERS) /* LCOV_EXCL_BR_LINE: the latter where wanted was forged just now */
        return false;
    will_change(state);
    team->member[members] = (struct share_member){machine, device};
    atomic_store(&team->members, members + 1);
    return true;
}

/* ---- binds ---- */

unsigned share_bind_add(struct share_state *state, const struct share_bind *bind, uint64_t *number)
{
    unsigned index = 0;
    while (index < SHARE_BINDS && atomic_load(&state->bind[index].number))
        index++;
    if (index == SHARE_BINDS)
        return index;
    *number = atomic_load(&state->bind_numbers) + 1;
    if (!*number) /* the state is forged: all numbers are used up */
        return SHARE_BINDS;
    atomic_store(&state->bind_numbers, *number);
    will_change(state);
    state->bind[index] = *bind;
    if (share_binds(state) <= index)
        atomic_store(&state->binds_seen, index + 1);
    atomic_store(&state->bind[index].number, *number); /* the bind exists from this store on */
    return index;
}

void share_bind_end(struct share_state *state, unsigned index)
{
    will_change(state);
    atomic_store(&state->bind[index].number, 0);
}

bool share_is_bound(const struct share_state *state, uint64_t number)
{
    for (unsigned i = 0; i < share_binds(state); i++)
        if (atomic_load(&state->bind[i].number) && state->bind[i].block == number)
            return true;
    return false;
}

/* ---- binds and teams that ended ---- */

static bool block_lives(const struct share_state *state, uint64_t number)
{
    for (unsigned i = 0; i < share_blocks(state); i++)
        if (atomic_load(&state->block[i].number) == number)
            return true;
    return false;
}

static bool object_lives(const struct share_folder *folder, const struct share_bind *bind)
{
    if (bind->machine == folder->state->id)
        return block_lives(folder->state, bind->object);
    return share_folder_other_has(folder, bind->machine, "token", bind->object);
}

bool share_team_tidy(const struct share_folder *folder)
{
    struct share_state *state = folder->state;
    bool ended = false;
    for (unsigned i = 0; i < SHARE_TEAMS; i++) {
        uint64_t number = atomic_load(&state->team[i].number);
        if (number && !block_lives(state, number))
            atomic_store(&state->team[i].number, 0);
    }
    for (unsigned i = 0; i < share_binds(state); i++)
        if (atomic_load(&state->bind[i].number) && !object_lives(folder, &state->bind[i])) {
            share_bind_end(state, i);
            ended = true;
        }
    return ended;
}
