/* SPDX-License-Identifier: Apache-2.0 */
#include "team_share.h"

#include <stdio.h>

#include "share_mark.h"
#include "share_nodes.h"
#include "share_parts.h"
#include "share_team.h"
#include "share_token.h"

#define HOST_MEMORY "the host's memory is exhausted"

static uint64_t own_id(const struct sim_machine *machine)
{
    return machine->share ? machine->share->folder.state->id : 0;
}

/* Converts a device of this machine to its ordinal in the state, and back. */
static int place_of(const struct sim_machine *machine, int device)
{
    return machine->visible.place[device];
}

static int local(const struct sim_machine *machine, uint64_t id, int place)
{
    return id == TEAM_THIS_MACHINE ? visible_devices_ordinal(&machine->visible, place) : place;
}

static struct share_team *team_in_state(const struct sim_block *object)
{
    struct share_state *state = object->share->folder.state;
    const struct share_block *entry = &state->block[object->shared_index];
    return atomic_load(&entry->number) == object->shared ? share_team_of(state, entry) : NULL;
}

/* ---- reading the state ---- */

/* Adds the devices that other processes have added. With the lock of the object's state. Returns the team there; NULL when the
 * entry is invalid. */
static struct share_team *look_at_members(struct sim_machine *machine, struct sim_block *object)
{
    struct share_team *shared = team_in_state(object);
    struct team *team = object->team;
    if (!shared || shared->wanted != team->wanted)
        return NULL;
    for (unsigned i = 0; i < share_team_members(shared); i++) {
        const volatile struct share_member *member = &shared->member[i];
        uint64_t of = member->machine, id = of == own_id(machine) ? TEAM_THIS_MACHINE : of;
        int64_t place = member->device;
        if (place < 0 || place >= machine->visible.all || team_is_complete(team))
            continue;
        int device = local(machine, id, (int)place);
        if (!team_member_of(team, id, device))
            team_add(team, id, device);
    }
    return shared;
}

/* Ends binds that no longer exist in the state. */
static void drop_ended(const struct share *share, struct team *team, struct team_member *member)
{
    const struct team_bind *bind = member->binds;
    while (bind) {
        const struct team_bind *next = bind->next;
        if (bind->shared && atomic_load(&share->folder.state->bind[bind->index].number) != bind->shared)
            team_unbind(NULL, team, member, bind);
        bind = next;
    }
}

static bool is_seen(const struct team_member *member, uint64_t number)
{
    const struct team_bind *bind = member->binds;
    while (bind && bind->shared != number)
        bind = bind->next;
    return bind != NULL;
}

static bool inside(uint64_t offset, uint64_t size, uint64_t whole)
{
    return size && offset <= whole && size <= whole - offset;
}

/* Is the block memory of the member's device, and large enough for the bind? */
static bool fits(const struct sim_block *block, const struct team_member *member, const struct team_bind *bind)
{
    return !block->team && block->prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE &&
           block->prop.location.id == member->device && inside(bind->at, bind->size, block->size);
}

/* The state may be forged, so this function reads each value once; an invalid entry counts as missing. */
static void see_bind(struct share *share, struct sim_machine *machine, struct sim_block *object,
                     struct team_member *member, unsigned index)
{
    const volatile struct share_bind *reported = &share->folder.state->bind[index];
    struct team_bind seen = {.offset = reported->offset, .size = reported->size, .at = reported->at, .made = reported->made,
                             .made_by = (uint16_t)reported->made_by, .shared = atomic_load(&reported->number), .index = index};
    uint64_t number = reported->block, at = reported->index;
    char why[SHARE_WHY];
    if (!seen.shared || !inside(seen.offset, seen.size, object->size) || at >= share_blocks(share->folder.state) ||
        team_member_bind(member, seen.offset, seen.size) ||
        atomic_load(&share->folder.state->block[at].number) != number ||
        share_see(share, machine, (unsigned)at, number, &seen.block, why) != SHARE_FOUND)
        return;
    share_watch(seen.block);
    if (fits(seen.block, member, &seen))
        team_bind(object->team, member, &seen);
    share_unwatch(seen.block); /* ends the view if nothing was bound */
}

/* The field that records up to which change this machine has seen the binds of machine id. */
static uint64_t *seen_of(struct team *team, uint64_t id)
{
    unsigned i = 0;
    while (team->member[i].machine != id)
        i++;
    return &team->member[i].seen;
}

/* Records that this machine has seen all changes of the state; the last one is its own. */
static void have_seen(struct team *team, uint64_t id, const struct share *share)
{
    *seen_of(team, id) = atomic_load(&share->folder.state->changes) + 1;
}

static void look_at_binds(struct share *share, struct sim_machine *machine, struct sim_block *object, uint64_t id)
{
    struct team *team = object->team;
    uint64_t home = object->share->folder.state->id, *seen = seen_of(team, id);
    if (*seen == atomic_load(&share->folder.state->changes) + 1)
        return;
    for (unsigned i = 0; i < team->members; i++)
        if (team->member[i].machine == id)
            drop_ended(share, team, &team->member[i]);
    for (unsigned i = 0; i < share_binds(share->folder.state); i++) {
        const volatile struct share_bind *bind = &share->folder.state->bind[i];
        uint64_t number = atomic_load(&bind->number), place = bind->device;
        struct team_member *member = place < (uint64_t)machine->visible.all
                                         ? team_member_of(team, id, local(machine, id, (int)place)) : NULL;
        if (number && bind->machine == home && bind->object == object->shared && member && !is_seen(member, number))
            see_bind(share, machine, object, member, i);
    }
    have_seen(team, id, share);
}

/* Reads the binds of the devices of one machine. A machine that is gone counts as having none; a machine whose mutex another
 * process keeps may have some. */
static const char *look_at_machine(struct sim_machine *machine, struct sim_block *object, uint64_t id)
{
    bool held_up = false;
    struct share *share = id == TEAM_THIS_MACHINE ? machine->share : share_node(machine, id, &held_up, machine->why);
    if (!share)
        return held_up ? machine->why : NULL;
    if (!share_lock(share))
        return id == TEAM_THIS_MACHINE || share_held_up(share) ? share_why(share) : NULL;
    look_at_binds(share, machine, object, id);
    share_unlock(share);
    return NULL;
}

const char *team_look(struct sim_machine *machine, struct sim_block *object)
{
    const struct team *team = object->team;
    if (!object->shared)
        return NULL;
    if (!share_lock(object->share))
        return share_why(object->share);
    const char *wrong = look_at_members(machine, object) ? NULL : SHARE_STATE_LOST;
    share_unlock(object->share);
    for (unsigned i = 0; !wrong && i < team->members; i++)
        if (i == 0 || team->member[i].machine != team->member[i - 1].machine)
            wrong = look_at_machine(machine, object, team->member[i].machine);
    share_nodes_tidy(machine);
    return wrong;
}

static bool is_held_up(const struct sim_machine *machine)
{
    bool held_up = machine->share && share_held_up(machine->share);
    for (const struct share *node = machine->nodes; node; node = node->next)
        held_up |= share_held_up(node);
    return held_up;
}

static const char *look_at_all(struct sim_machine *machine, struct share *share)
{
    const char *held_up = NULL;
    for (struct sim_block *block = share->blocks; block; block = block->next_shared) {
        const char *why = block->team && block->holders ? team_look(machine, block) : NULL;
        if (why && is_held_up(machine))
            held_up = why;
    }
    return held_up;
}

const char *team_look_at_all(struct sim_machine *machine)
{
    const char *why = machine->share ? look_at_all(machine, machine->share) : NULL;
    for (struct share *node = machine->nodes; node; node = node->next) {
        const char *of_node = look_at_all(machine, node);
        why = why ? why : of_node;
    }
    return why;
}

/* ---- devices ---- */

static enum team_answer unreachable(struct share *share, char why[SHARE_WHY])
{
    snprintf(why, SHARE_WHY, "%s", share_why(share));
    return TEAM_LOST;
}

enum team_answer team_join(struct sim_machine *machine, struct sim_block *object, int device, char why[SHARE_WHY])
{
    enum team_answer answer = TEAM_LOST;
    if (!sim_machine_share(machine, why)) /* the object belongs to another machine, so from now on this one needs a name */
        return TEAM_LOST;
    if (!share_lock(object->share))
        return unreachable(object->share, why);
    snprintf(why, SHARE_WHY, "%s", SHARE_STATE_LOST);
    struct share_team *shared = look_at_members(machine, object);
    if (shared)
        answer = team_has(object->team, device)      ? TEAM_TWICE
                 : team_is_complete(object->team)    ? TEAM_FULL
                                                     : TEAM_DONE;
    if (answer == TEAM_DONE && !share_team_add(object->share->folder.state, shared, own_id(machine), place_of(machine, device)))
        answer = TEAM_FULL;
    if (answer == TEAM_DONE)
        team_add(object->team, TEAM_THIS_MACHINE, device);
    share_unlock(object->share);
    return answer;
}

bool team_others_may_join(const struct sim_block *object)
{
    char path[OS_PATH_MAX];
    if (!object->shared || !share_lock(object->share))
        return false;
    struct share *share = object->share;
    const struct share_block *entry = &share->folder.state->block[object->shared_index];
    bool others = entry->fabric.domain != 0; /* any process may have the 64 bytes */
    for (unsigned i = 0; i < SHARE_PROCESSES; i++)
        others = others || (i != share->slot && share_holds(entry, i));
    others = others || share_token_is_out(share_file_of(share, "token", object->shared, path));
    share_unlock(share);
    return others;
}

/* ---- memory ---- */

/* Adds a bind to this machine's state, and to its copy. With the state's lock; the block is in the state. */
static const char *tell(struct sim_machine *machine, const struct sim_block *object, struct team_bind *bind, int device)
{
    struct share_state *state = machine->share->folder.state;
    struct share_bind reported = {.machine = object->share->folder.state->id,
                              .object = object->shared,
                              .index = bind->block->shared_index,
                              .block = bind->block->shared,
                              .device = (uint64_t)place_of(machine, device),
                              .offset = bind->offset,
                              .size = bind->size,
                              .at = bind->at,
                              .made = bind->made,
                              .made_by = bind->made_by};
    share_mark_process(&reported.who);
    bind->index = share_bind_add(state, &reported, &bind->shared);
    if (bind->index < SHARE_BINDS)
        return NULL;
    bind->shared = 0;
    return "4096 binds of exported objects are in use";
}

static enum team_answer attach(struct sim_machine *machine, struct sim_block *object, int device,
                               const struct team_bind *bind, char why[SHARE_WHY])
{
    struct share *share = machine->share;
    struct team_bind made = *bind;
    look_at_binds(share, machine, object, TEAM_THIS_MACHINE);
    struct team_member *member = team_member_of(object->team, TEAM_THIS_MACHINE, device);
    if (team_member_bind(member, bind->offset, bind->size))
        return TEAM_OVERLAP;
    const char *wrong = share_publish_block(share, machine, bind->block);
    if (!wrong)
        wrong = tell(machine, object, &made, device);
    if (!wrong && !team_bind(object->team, member, &made)) {
        share_bind_end(share->folder.state, made.index);
        wrong = HOST_MEMORY;
    }
    have_seen(object->team, TEAM_THIS_MACHINE, share);
    if (wrong)
        snprintf(why, SHARE_WHY, "%s", wrong);
    return wrong ? TEAM_NO_ROOM : TEAM_DONE;
}

enum team_answer team_attach(struct sim_machine *machine, struct sim_block *object, int device, const struct team_bind *bind,
                             char why[SHARE_WHY])
{
    if (!share_lock(machine->share)) /* it exists: memory that may be shared like the object was created for sharing */
        return unreachable(machine->share, why);
    enum team_answer answer = attach(machine, object, device, bind, why);
    share_unlock(machine->share);
    return answer;
}

enum team_answer team_detach(struct sim_machine *machine, struct sim_block *object, int device, const struct team_bind *bind,
                             char why[SHARE_WHY])
{
    struct share *share = machine->share;
    struct team_member *member = team_member_of(object->team, TEAM_THIS_MACHINE, device);
    unsigned index = bind->block->shared_index;
    if (!share_lock(share))
        return unreachable(share, why);
    struct share_state *state = share->folder.state;
    if (atomic_load(&state->bind[bind->index].number) == bind->shared)
        share_bind_end(state, bind->index);
    team_unbind(machine, object->team, member, bind);
    if (share_is_over(share, &state->block[index]))
        share_end_block(share, &state->block[index]);
    share_collect(share);
    share_unlock(share);
    return TEAM_DONE;
}

/* ---- before an export ---- */

static const char *publish_members(struct sim_machine *machine, struct sim_block *object)
{
    struct share_state *state = object->share->folder.state;
    struct share_team *shared = team_in_state(object);
    if (!shared)
        return SHARE_STATE_LOST;
    for (unsigned i = share_team_members(shared); i < object->team->members; i++)
        share_team_add(state, shared, own_id(machine), place_of(machine, object->team->member[i].device));
    return NULL;
}

static const char *publish_bind(struct sim_machine *machine, struct sim_block *object, const struct team_member *member,
                                struct team_bind *bind)
{
    const char *wrong = share_publish_block(machine->share, machine, bind->block);
    if (!wrong)
        wrong = tell(machine, object, bind, member->device);
    if (wrong)
        return wrong;
    share_watch(bind->block);
    sim_block_drop(machine, bind->block); /* the bind in the state holds it instead */
    return NULL;
}

const char *team_share_binds(struct sim_machine *machine, struct sim_block *object)
{
    struct team *team = object->team;
    const char *wrong = share_publish_block(machine->share, machine, object);
    if (!wrong)
        wrong = publish_members(machine, object);
    for (unsigned i = 0; i < team->members; i++)
        for (struct team_bind *bind = team->member[i].binds; bind && !wrong; bind = bind->next)
            if (!bind->shared)
                wrong = publish_bind(machine, object, &team->member[i], bind);
    return wrong;
}
