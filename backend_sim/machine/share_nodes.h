/* SPDX-License-Identifier: Apache-2.0 */
/* share_nodes.h - other machines of a fabric whose memory this machine has imported.
 *
 *   machine A                                   machine B, found by its id among this user's machines
 *     nodes --> [ share of B: a slot of B's ] --- state of B: block 7, held by slots ... and A's ---> bytes of B
 *
 * To B, A is then one of its processes: B sees what A holds, and frees it when A dies. A closes a node when it holds none of the
 * node's memory any more. The mutex of a node's state is a leaf lock, like that of the machine's own state: it is taken with the
 * machine's lock held and never together with another state's, so two machines can import from each other at once.
 */
#ifndef SIM_SHARE_NODES_H
#define SIM_SHARE_NODES_H

#include "share.h"

/* The machine with that id, which may be this one. NULL, with the reason in why, or "" when there is none; held_up:
 * another process keeps its mutex locked. */
struct share *share_node(struct sim_machine *machine, uint64_t id, bool *held_up, char why[SHARE_WHY]);

/* Closes nodes whose memory this machine no longer holds. Call it without any state's mutex. */
void share_nodes_tidy(struct sim_machine *machine);
/* Closes all nodes at the end of the machine. */
void share_nodes_close(struct sim_machine *machine);

#endif
