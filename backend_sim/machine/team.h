/* SPDX-License-Identifier: Apache-2.0 */
/* team.h - the team behind a multicast object: its devices, and the memory that each device has bound to each part of the
 * object.
 *
 *     object    [........................ size ........................)
 *     device 0  [ bind of block 1 ][........][ bind of block 2 .......]     by offset, without overlap
 *     device 1  [ bind of block 3 ..........][........................]     a list of its own
 *     replicas        ^ both                     ^ device 1 has none here
 *
 * Devices are added, never removed; the team is complete when it has all wanted devices. A bind holds its block. For an
 * exported object, this is a copy as of the last look at the state (team_share.h): it has the binds of all processes, its
 * members can include devices of other machines, and a bind watches its block, which the bind in the state holds.
 *
 * Invariants (team_check):
 *     members  <= wanted <= TEAM_MEMBERS, each (machine, device) greater than the one before
 *     binds    of a member: inside the object, each behind the end of the one before; inside memory of that device
 *     count    = binds of all members; latest is one of its member's, or NULL
 *
 * These functions check only what a list needs; the calls check the rest. Guarded by the machine's lock.
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
    uint64_t shared;         /* its number in the state; 0: private to this machine */
    unsigned index;          /* where in the state */
    struct team_bind *next;
};

struct team_member {
    uint64_t machine; /* its id; TEAM_THIS_MACHINE */
    int device;       /* of that machine */
    struct team_bind *binds;
    struct team_bind *latest; /* the bind made last, which the next one most often follows; or NULL */
    uint64_t seen;    /* of the first member of a machine: the state's changes at the last look (team_share.h); 0: never */
};

struct team {
    unsigned wanted, members;
    uint64_t handle_types;
    uint32_t count;     /* of binds */
    struct team_member member[TEAM_MEMBERS]; /* by machine and device, those of this machine first */
};

/* A block without a device, with a team and one holder; the team ends with the block. NULL when memory is out. */
struct sim_block *team_new(struct sim_machine *machine, const vmm_multicast_object_prop *prop);
/* A team without devices. */
struct team *team_view(unsigned wanted, uint64_t handle_types);
/* Releases all binds, and frees the team. For sim_block_drop. */
void team_end(struct sim_machine *machine, struct team *team);

/* The same for the copy of an exported object's team: team_empty releases what is watched; team_forget frees the team as
 * well. */
void team_empty(struct team *team);
void team_forget(struct team *team);

/* Is that device of this machine in the team? And all of them as a set, one bit per device. */
bool team_has(const struct team *team, int device);
uint32_t team_devices(const struct team *team);
bool team_is_complete(const struct team *team);
/* Adds a device that is not in the team yet; the team must not be complete. */
void team_add(struct team *team, uint64_t machine, int device);
/* NULL: the device is not in the team. */
struct team_member *team_member_of(struct team *team, uint64_t machine, int device);

/* The first bind of the device, of this machine or of a member, with a byte in [offset, offset + size), or NULL. */
const struct team_bind *team_bind_in(const struct team *team, int device, uint64_t offset, uint64_t size);
const struct team_bind *team_member_bind(const struct team_member *member, uint64_t offset, uint64_t size);

/* Adds a copy of *bind to the member, and holds or watches the block. False when memory is out. */
bool team_bind(struct team *team, struct team_member *member, const struct team_bind *bind);
/* Ends a bind of the member. machine is not used where the bind watches. */
void team_unbind(struct sim_machine *machine, struct team *team, struct team_member *member, const struct team_bind *bind);

/* Checks the team of an object of size bytes. */
const char *team_check(const struct team *team, uint64_t size);

#endif
