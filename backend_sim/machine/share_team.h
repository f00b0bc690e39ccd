/* SPDX-License-Identifier: Apache-2.0 */
/* share_team.h - multicast objects in the shared state: the devices of a team, and the memory bound to it.
 *
 *   machine one: state                               machine two: state
 *     block 7: object, team [one.0, one.1, two.0]      bind 4: block 3 behind object 7 of one, for device 0
 *     bind 1: block 5 behind object 7, for device 0    block 3: held by bind 4, not by a process
 *     bind 2: block 6 behind object 7, for device 1
 *
 * A team lies in the state of the machine that created its object. A bind lies in the state of the machine that has its memory,
 * so that all holders of the memory are in one state. A bind ends when it is unbound, or with its object. Call everything with
 * the state's lock.
 */
#ifndef SIM_SHARE_TEAM_H
#define SIM_SHARE_TEAM_H

#include "share_folder.h"

/* Returns a team without devices in a free entry; NULL when there is none. The team exists from the store of its number on. */
struct share_team *share_team_new(struct share_state *state, uint64_t wanted, uint64_t handle_types);
void share_team_begin(struct share_state *state, struct share_team *team, uint64_t number);

/* The team of a block; NULL when it has none, or its entry is invalid. */
struct share_team *share_team_of(struct share_state *state, const struct share_block *block);

/* False when the team is full. */
bool share_team_add(struct share_state *state, struct share_team *team, uint64_t machine, int device);
unsigned share_team_members(const struct share_team *team);

/* Returns the new bind's index, or SHARE_BINDS when the table is full. Assigns *number. */
unsigned share_bind_add(struct share_state *state, const struct share_bind *bind, uint64_t *number);
void share_bind_end(struct share_state *state, unsigned index);

/* Is the block with that number bound to any object? */
bool share_is_bound(const struct share_state *state, uint64_t number);

/* Ends binds to objects that have ended, of this machine and of others, and teams that never got a block. Returns whether a bind
 * ended. */
bool share_team_tidy(const struct share_folder *folder);

#endif
