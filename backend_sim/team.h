/* team.h - the team behind a multicast object: its devices, and which memory each of them put behind which part of it.
 *
 *     object    [........................ size ........................)
 *     device 0  [ bind of block 1 ][........][ bind of block 2 .......]     by offset, none over another
 *     device 1  [ bind of block 3 ..........][........................]     a list of its own
 *     replicas        ^ both                     ^ device 1 has none here
 *
 * Devices are added, never taken away; when all that are wanted are there the team is complete. A bind holds its block.
 * Nothing is checked here but what a list needs: that is done by the calls. Guarded by the machine's lock.
 */
#ifndef SIM_TEAM_H
#define SIM_TEAM_H

#include "machine.h"

struct team_bind {
    uint64_t offset, size;   /* in the object */
    struct sim_block *block; /* of a device of the team */
    uint64_t at;             /* where in the block */
    uint64_t made;           /* by which call */
    uint16_t made_by;        /* enum vmm_call_id */
    uint32_t number;
    struct team_bind *next;
};

struct team {
    unsigned wanted;
    uint32_t devices; /* those added, a bit each */
    uint64_t handle_types;
    uint32_t count;   /* of binds */
    struct team_bind *binds[VMM_MAX_DEVICES];
};

/* A block of no device, with a team and one holder; the team ends with it. NULL when memory is out. */
struct sim_block *team_new(struct sim_machine *machine, const vmm_multicast_object_prop *prop);
/* Lets go what is bound, and frees the team. For sim_block_drop. */
void team_end(struct sim_machine *machine, struct team *team);

bool team_has(const struct team *team, int device);
bool team_is_complete(const struct team *team);
void team_add(struct team *team, int device);

/* The first bind of the device with a byte in [offset, offset + size), or NULL. */
const struct team_bind *team_bind_in(const struct team *team, int device, uint64_t offset, uint64_t size);

/* Adds a copy of what is told, for the device that its block lies on, and holds the block. False when memory is out. */
bool team_bind(struct team *team, const struct team_bind *bind);
/* Ends a bind of the device. */
void team_unbind(struct sim_machine *machine, struct team *team, int device, const struct team_bind *bind);

#endif
