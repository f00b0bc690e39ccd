/* SPDX-License-Identifier: Apache-2.0 */
/* team_share.h - teams of several processes: the entries in the state (share_team.h), and a machine's copy of them.
 *
 *   before    object of this machine: team [dev0 ], binds B1
 *   export    state: object 7, team [dev0], bind 4             the machine's copy: the same, B1 is bind 4
 *
 *   another process adds dev1, binds
 *   look      state: object 7, team [dev0, dev1], binds 4, 5   the machine's copy: [dev0, dev1], binds 4 and 5
 *
 * Each call on an object and each launch that uses it looks first. If a team has devices of several machines, team_look reads
 * their states one after the other. Call everything with the machine's lock held.
 */
#ifndef SIM_TEAM_SHARE_H
#define SIM_TEAM_SHARE_H

#include "team.h"

/* Updates the copy of the object's team. Returns NULL, or the reason for a failure. An object that was never exported is always
 * up to date. */
const char *team_look(struct sim_machine *machine, struct sim_block *object);

/* Updates the copies of all exported objects of this machine. Returns a reason only when another process keeps the shared state's
 * mutex; the next call on an object finds any other failure. */
const char *team_look_at_all(struct sim_machine *machine);

/* Adds an object of this machine, its devices and its binds to the state before the object is exported. Returns NULL, or the
 * reason for a failure; another attempt continues where this one stopped. With the state's lock. */
const char *team_share_binds(struct sim_machine *machine, struct sim_block *object);

enum team_answer { TEAM_DONE, TEAM_TWICE, TEAM_FULL, TEAM_OVERLAP, TEAM_NO_MEMORY, TEAM_NO_ROOM, TEAM_LOST };

/* Adds a device of this machine, unless another process was faster. TEAM_LOST: reason in why. */
enum team_answer team_join(struct sim_machine *machine, struct sim_block *object, int device, char why[SHARE_WHY]);

/* Bind and unbind memory of this machine. The caller fills in the bind's number, block, place and call. TEAM_NO_ROOM,
 * TEAM_LOST: reason in why. */
enum team_answer team_attach(struct sim_machine *machine, struct sim_block *object, int device, const struct team_bind *bind,
                             char why[SHARE_WHY]);
enum team_answer team_detach(struct sim_machine *machine, struct sim_block *object, int device, const struct team_bind *bind,
                             char why[SHARE_WHY]);

/* Could another process still add a device: does any process have the object, or can one still import it? */
bool team_others_may_join(const struct sim_block *object);

#endif
