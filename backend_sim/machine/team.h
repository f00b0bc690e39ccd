/* SPDX-License-Identifier: Apache-2.0 */
/* team.h - the team behind a multicast object: its devices, and the memory that each device has bound to each part of the object.
 *
 *     object    [........................ size ........................)
 *     device 0  [ bind of block 1 ][........][ bind of block 2 .......]     by offset, without overlap
 *     device 1  [ bind of block 3 ..........][........................]     in a separate list
 *     replicas        ^ both                     ^ device 1 has no bind here
 *
 * Devices are added, never removed; the team is complete when it has all wanted devices. A bind holds its block. For an exported
 * object, this is a copy as of the last read of the state (team_share.h): it has the binds of all processes, its members can
 * include devices of other machines, and a bind watches its block, which the bind in the state holds.
 *
 * Invariants (team_check):
 *     members  <= wanted <= TEAM_MEMBERS, each (machine, device) greater than the one before
 *     binds    of a member: inside the object, in order, without overlap; and inside memory of that device
 *     count    = the number of binds of all members; latest is a bind of its own member, or NULL
 *
 * These functions check only what a list needs; the calls check the rest. Guarded by the machine's lock.
 */
#ifndef SIM_TEAM_H
#define SIM_TEAM_H

#include "machine.h"

enum { TEAM_MEMBERS = SHARE_MEMBERS };

#define TEAM_THIS_MACHINE UINT64_C(0)

struct team_bind {
    uint64_t offset, size;   /* the range in the object */
    struct sim_block *block; /* memory of a device of the team */
    uint64_t at;             /* the offset in the block */
    uint64_t made;           /* the call that made the bind */
    uint16_t made_by;        /* enum vmm_call_id */
    uint32_t made_stack;     /* call_stack; 0: another process made it */
    uint32_t number;         /* the bind's number in messages; 0: another process made it */
    uint64_t shared;         /* the number in the state; 0: private to this machine */
    unsigned index;          /* the index in the state */
    struct team_bind *next;
};

struct team_member {
    uint64_t machine; /* the machine's id, or TEAM_THIS_MACHINE */
    int device;       /* the device's ordinal in that machine */
    struct team_bind *binds;
    struct team_bind *latest; /* the newest bind, which the next one most often follows; or NULL */
    /* in the first member of each machine: the state's change count at the last read (team_share.h); 0: never read */
    uint64_t seen;
};

struct team {
    unsigned wanted, members;
    uint64_t handle_types;
    uint32_t count;     /* the number of binds */
    struct team_member member[TEAM_MEMBERS]; /* sorted by machine and device, this machine first */
};

/* Creates a block with a team, without a device, with one holder; the team ends with the block. NULL when memory is exhausted. */
struct sim_block *team_new(struct sim_machine *machine, const vmm_multicast_object_prop *prop);
/* Creates a team without devices. */
struct team *team_view(unsigned wanted, uint64_t handle_types);
/* Releases all binds, and frees the team. Only for sim_block_drop. */
void team_end(struct sim_machine *machine, struct team *team);

/* For the copy of an exported object's team: team_empty releases the watched blocks; team_forget frees the team as well. */
void team_empty(struct team *team);
void team_forget(struct team *team);

/* Is that device of this machine in the team? And the set of all such devices, one bit each. */
bool team_has(const struct team *team, int device);
uint32_t team_devices(const struct team *team);
bool team_is_complete(const struct team *team);
/* Adds a device that is not in the team yet to a team that is not complete. */
void team_add(struct team *team, uint64_t machine, int device);
/* Returns NULL when the device is not in the team. */
struct team_member *team_member_of(struct team *team, uint64_t machine, int device);

/* The first bind of the device, of this machine or of a member, that overlaps [offset, offset + size), or NULL. */
const struct team_bind *team_bind_in(const struct team *team, int device, uint64_t offset, uint64_t size);
const struct team_bind *team_member_bind(const struct team_member *member, uint64_t offset, uint64_t size);

/* Adds a copy of *bind to the member, and holds or watches the block. False when memory is exhausted. */
bool team_bind(struct team *team, struct team_member *member, const struct team_bind *bind);
/* Ends a bind of the member. machine is unused if the bind only watches its block. */
void team_unbind(struct sim_machine *machine, struct team *team, struct team_member *member, const struct team_bind *bind);

/* Checks the team of an object of size bytes. */
const char *team_check(const struct team *team, uint64_t size);

#endif
