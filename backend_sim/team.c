#include "team.h"

#include <stdlib.h>

struct sim_block *team_new(struct sim_machine *machine, const vmm_multicast_object_prop *prop)
{
    struct sim_block *block = calloc(1, sizeof *block);
    struct team *team = calloc(1, sizeof *team);
    if (!block || !team) {
        free(block);
        free(team);
        return NULL;
    }
    team->wanted = prop->num_devices;
    team->handle_types = prop->handle_types;
    block->id = ++machine->blocks;
    block->size = prop->size;
    block->holders = 1;
    block->team = team;
    bytes_init(&block->bytes, &machine->frames, 0);
    return block;
}

static int device_of(const struct team_bind *bind)
{
    return bind->block->prop.location.id;
}

static void let_go(struct sim_machine *machine, struct team_bind *bind)
{
    bind->block->binds--;
    sim_block_drop(machine, bind->block);
    free(bind);
}

void team_end(struct sim_machine *machine, struct team *team)
{
    for (int device = 0; device < VMM_MAX_DEVICES; device++)
        while (team->binds[device]) {
            struct team_bind *bind = team->binds[device];
            team->binds[device] = bind->next;
            let_go(machine, bind);
        }
    free(team);
}

bool team_has(const struct team *team, int device)
{
    return device >= 0 && device < VMM_MAX_DEVICES && (team->devices >> device & 1);
}

bool team_is_complete(const struct team *team)
{
    unsigned count = 0;
    for (int device = 0; device < VMM_MAX_DEVICES; device++)
        count += team_has(team, device);
    return count == team->wanted;
}

void team_add(struct team *team, int device)
{
    team->devices |= UINT32_C(1) << device;
}

const struct team_bind *team_bind_in(const struct team *team, int device, uint64_t offset, uint64_t size)
{
    const struct team_bind *bind = team->binds[device];
    while (bind && bind->offset + bind->size <= offset)
        bind = bind->next;
    return bind && (bind->offset < offset || bind->offset - offset < size) ? bind : NULL;
}

bool team_bind(struct team *team, const struct team_bind *bind)
{
    struct team_bind **link = &team->binds[device_of(bind)], *made = malloc(sizeof *made);
    if (!made)
        return false;
    while (*link && (*link)->offset < bind->offset)
        link = &(*link)->next;
    *made = *bind;
    made->next = *link;
    *link = made;
    sim_block_hold(made->block);
    made->block->binds++;
    team->count++;
    return true;
}

void team_unbind(struct sim_machine *machine, struct team *team, int device, const struct team_bind *bind)
{
    struct team_bind **link = &team->binds[device];
    while (*link != bind)
        link = &(*link)->next;
    struct team_bind *gone = *link;
    *link = gone->next;
    team->count--;
    let_go(machine, gone);
}
