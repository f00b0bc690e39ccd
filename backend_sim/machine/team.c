/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#include <stdlib.h>
#include <string.h>

#include "heap.h"

struct team *team_view(unsigned wanted, uint64_t handle_types)
{
    struct team *team = heap.calloc(1, sizeof *team);
    if (team) {
        team->wanted = wanted;
        team->handle_types = handle_types;
    }
    return team;
}

struct sim_block *team_new(struct sim_machine *machine, const vmm_multicast_object_prop *prop)
{
    struct sim_block *block = heap.calloc(1, sizeof *block);
    struct team *team = team_view(prop->num_devices, prop->handle_types);
    if (!block || !team) {
        heap.free(block);
        heap.free(team);
        return NULL;
    }
    block->id = ++machine->blocks;
    block->size = prop->size;
    block->holders = 1;
    block->team = team;
    block_data_init(&block->bytes, &machine->backing, 0);
    return block;
}

/* ---- devices ---- */

static int order(const struct team_member *member, uint64_t machine, int device)
{
    if (member->machine != machine)
        return member->machine < machine ? -1 : 1;
    return member->device < device ? -1 : member->device > device;
}

static unsigned place_of(const struct team *team, uint64_t machine, int device)
{
    unsigned i = 0;
    while (i < team->members && order(&team->member[i], machine, device) < 0)
        i++;
    return i;
}

struct team_member *team_member_of(struct team *team, uint64_t machine, int device)
{
    unsigned i = place_of(team, machine, device);
    return i < team->members && order(&team->member[i], machine, device) == 0 ? &team->member[i] : NULL;
}

static const struct team_member *own_member(const struct team *team, int device)
{
    unsigned i = place_of(team, TEAM_THIS_MACHINE, device);
    return i < team->members && order(&team->member[i], TEAM_THIS_MACHINE, device) == 0 ? &team->member[i] : NULL;
}

bool team_has(const struct team *team, int device)
{
    return own_member(team, device) != NULL;
}

uint32_t team_devices(const struct team *team)
{
    uint32_t devices = 0;
    for (unsigned i = 0; i < team->members && team->member[i].machine == TEAM_THIS_MACHINE; i++)
        devices |= UINT32_C(1) << team->member[i].device;
    return devices;
}

bool team_is_complete(const struct team *team)
{
    return team->members == team->wanted;
}

void team_add(struct team *team, uint64_t machine, int device)
{
    unsigned i = place_of(team, machine, device);
    memmove(&team->member[i + 1], &team->member[i], (team->members - i) * sizeof team->member[0]);
    team->member[i] = (struct team_member){.machine = machine, .device = device};
    team->members++;
}

/* ---- binds ---- */

static void let_go(struct sim_machine *machine, struct team_bind *bind)
{
    bind->block->binds--;
    if (bind->shared)
        share_unwatch(bind->block);
    else
        sim_block_drop(machine, bind->block);
    heap.free(bind);
}

static void let_all_go(struct sim_machine *machine, struct team *team)
{
    for (unsigned i = 0; i < team->members; i++)
        while (team->member[i].binds) {
            struct team_bind *bind = team->member[i].binds;
            team->member[i].binds = bind->next;
            team->member[i].latest = NULL;
            team->count--;
            let_go(machine, bind);
        }
}

void team_end(struct sim_machine *machine, struct team *team)
{
    let_all_go(machine, team);
    heap.free(team);
}

void team_empty(struct team *team)
{
    let_all_go(NULL, team);
    for (unsigned i = 0; i < team->members; i++)
        team->member[i].seen = 0;
}

void team_forget(struct team *team)
{
    team_end(NULL, team);
}

const struct team_bind *team_member_bind(const struct team_member *member, uint64_t offset, uint64_t size)
{
    const struct team_bind *bind = member->latest && member->latest->offset <= offset ? member->latest : member->binds;
    while (bind && bind->offset + bind->size <= offset)
        bind = bind->next;
    return bind && (bind->offset < offset || bind->offset - offset < size) ? bind : NULL;
}

const struct team_bind *team_bind_in(const struct team *team, int device, uint64_t offset, uint64_t size)
{
    const struct team_member *member = own_member(team, device);
    return member ? team_member_bind(member, offset, size) : NULL;
}

bool team_bind(struct team *team, struct team_member *member, const struct team_bind *bind)
{
    bool behind = member->latest && member->latest->offset < bind->offset;
    struct team_bind **link = behind ? &member->latest->next : &member->binds, *made = heap.malloc(sizeof *made);
    if (!made)
        return false;
    while (*link && (*link)->offset < bind->offset)
        link = &(*link)->next;
    *made = *bind;
    made->next = *link;
    *link = member->latest = made;
    if (made->shared)
        share_watch(made->block);
    else
        sim_block_hold(made->block);
    made->block->binds++;
    team->count++;
    return true;
}

void team_unbind(struct sim_machine *machine, struct team *team, struct team_member *member, const struct team_bind *bind)
{
    struct team_bind **link = &member->binds;
    while (*link != bind)
        link = &(*link)->next;
    struct team_bind *gone = *link;
    *link = gone->next;
    member->latest = NULL;
    team->count--;
    let_go(machine, gone);
}
