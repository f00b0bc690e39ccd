/* SPDX-License-Identifier: Apache-2.0 */
/* team.h - the team behind a multicast object: its devices, and which memory each of them put behind which part of it.
 *
 *     object    [........................ size ........................)
 *     device 0  [ bind of block 1 ][........][ bind of block 2 .......]     by offset, none over another
 *     device 1  [ bind of block 3 ..........][........................]     a list of its own
 *     replicas        ^ both                     ^ device 1 has none here
 *
 * Devices are added, never taken away; when all that are wanted are there the team is complete. A bind holds its block.
 * Of an object that was exported this is what was seen of it when it was last looked at (team_share.h): there the binds of
 * all processes are, devices of other machines may be among the members, and a bind watches its block, which the bind in
 * the state holds.
 *
 * Invariants (team_check):
 *     members  <= wanted <= TEAM_MEMBERS, each (machine, device) greater than the one before
 *     binds    of a member: inside the object, each behind the end of the one before; inside memory of that device
 *     count    = binds of all members; latest is one of its member's, or NULL
 *
 * Nothing is checked here but what a list needs: that is done by the calls. Guarded by the machine's lock.
 */
#ifndef SIM_TEAM_H
#define SIM_TEAM_H

#include "machine.h"

enum { TEAM_MEMBERS = SHARE_MEMBERS };

#define TEAM_THIS_MACHINE UINT64_C(0)

struct team_bind {
    uint64_t offset, size;   /* in the object */
    struct sim_block *block; /* of a device of the team */
    uint64_t at;             /* where in the block */
    uint64_t made;           /* by which call */
    uint16_t made_by;        /* enum vmm_call_id */
    uint32_t number;         /* 0: another process made it */
    uint64_t shared;         /* its number in the state; 0: it is this machine's alone */
    unsigned index;          /* where in the state */
    struct team_bind *next;
};

struct team_member {
    uint64_t machine; /* its id; TEAM_THIS_MACHINE */
    int device;       /* of that machine */
    struct team_bind *binds;
    struct team_bind *latest; /* of the binds the one made last, where the next one most often comes behind; or NULL */
    uint64_t seen;    /* of the first of a machine: the state as it was last looked at (team_share.h); 0: never */
};

struct team {
    unsigned wanted, members;
    uint64_t handle_types;
    uint32_t count;     /* of binds */
    struct team_member member[TEAM_MEMBERS]; /* by machine and device, those of this machine first */
};

/* A block of no device, with a team and one holder; the team ends with it. NULL when memory is out. */
struct sim_block *team_new(struct sim_machine *machine, const vmm_multicast_object_prop *prop);
/* A team without devices. */
struct team *team_view(unsigned wanted, uint64_t handle_types);
/* Lets go what is bound, and frees the team. For sim_block_drop. */
void team_end(struct sim_machine *machine, struct team *team);

/* The same of what was seen of an exported object: lets go what is watched; and frees the team as well. */
void team_empty(struct team *team);
void team_forget(struct team *team);

/* Is that device of this machine in the team? As a set, a bit each. */
bool team_has(const struct team *team, int device);
uint32_t team_devices(const struct team *team);
bool team_is_complete(const struct team *team);
/* It is not in the team yet, which is not complete. */
void team_add(struct team *team, uint64_t machine, int device);
/* NULL: it is not in the team. */
struct team_member *team_member_of(struct team *team, uint64_t machine, int device);

/* The first bind of the device, of this machine or of a member, with a byte in [offset, offset + size), or NULL. */
const struct team_bind *team_bind_in(const struct team *team, int device, uint64_t offset, uint64_t size);
const struct team_bind *team_member_bind(const struct team_member *member, uint64_t offset, uint64_t size);

/* Adds a copy of what is told, for the member, and holds or watches the block. False when memory is out. */
bool team_bind(struct team *team, struct team_member *member, const struct team_bind *bind);
/* Ends a bind of the member. The machine is not needed where the bind watches. */
void team_unbind(struct sim_machine *machine, struct team *team, struct team_member *member, const struct team_bind *bind);

/* Of an object of size bytes. */
const char *team_check(const struct team *team, uint64_t size);

#endif
