/* SPDX-License-Identifier: Apache-2.0 */
/* team_share.h - teams of several processes: what stands in the state (share_team.h), and what a machine sees of it.
 *
 *   before    object of this machine: team [dev0 ], binds B1
 *   export    state: object 7, team [dev0], bind 4             team of the machine: the same, B1 is bind 4
 *
 *   another process adds dev1, binds
 *   look      state: object 7, team [dev0, dev1], binds 4, 5   team of the machine: [dev0, dev1], binds 4 and 5
 *
 * Each call on an object and each launch that uses it looks first. Where there are several machines in the team, their
 * states are asked one after the other. All of it is called with the machine's lock held.
 */
#ifndef SIM_TEAM_SHARE_H
#define SIM_TEAM_SHARE_H

#include "team.h"

/* Brings what is seen of the object up to date. NULL, or what is in the way. An object of this process alone always is. */
const char *team_look(struct sim_machine *machine, struct sim_block *object);

/* The same for all exported objects that this machine has: what is in the way is found by the next call on them, and not told
 * here unless another process holds up what is shared. */
const char *team_look_at_all(struct sim_machine *machine);

/* Before an object of this machine is exported: from now on it, its devices and its binds stand in the state. NULL, or
 * what is in the way; who tries again goes on from there. With the state's lock. */
const char *team_share_binds(struct sim_machine *machine, struct sim_block *object);

enum team_answer { TEAM_DONE, TEAM_TWICE, TEAM_FULL, TEAM_OVERLAP, TEAM_NO_MEMORY, TEAM_NO_ROOM, TEAM_LOST };

/* Adds a device of this machine. Others may have been faster. TEAM_LOST: why. */
enum team_answer team_join(struct sim_machine *machine, struct sim_block *object, int device, char why[SHARE_WHY]);

/* Binds and unbinds memory of this machine. In a bind number, block, place and call are told. TEAM_NO_ROOM, TEAM_LOST: why. */
enum team_answer team_attach(struct sim_machine *machine, struct sim_block *object, int device, const struct team_bind *bind,
                             char why[SHARE_WHY]);
enum team_answer team_detach(struct sim_machine *machine, struct sim_block *object, int device, const struct team_bind *bind,
                             char why[SHARE_WHY]);

/* Could another process still add a device: is there one that has the object, or may come to it? */
bool team_others_may_join(const struct sim_block *object);

#endif
