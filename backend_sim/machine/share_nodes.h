/* SPDX-License-Identifier: Apache-2.0 */
/* share_nodes.h - other machines of a fabric whose memory this machine has imported.
 *
 *   machine A                                   machine B, found by its id among this user's machines
 *     nodes --> [ share of B: a slot of B's ] --- state of B: block 7, held by slots ... and A's ---> bytes of B
 *
 * To B, A is then one of its processes: B sees what A holds, and frees it when A dies. A closes a node when it has nothing of
 * the node left. The mutex of a node's state is a leaf lock, like that of the machine's own state: it is taken with the
 * machine's lock held and never together with another state's, so two machines can import from each other at once.
 */
#ifndef SIM_SHARE_NODES_H
#define SIM_SHARE_NODES_H

#include "share.h"

/* The machine with that id, which may be this one. NULL: reason in why, "" when there is none; held_up: another process has its
 * mutex. */
struct share *share_node(struct sim_machine *machine, uint64_t id, bool *held_up, char why[SHARE_WHY]);

/* Closes the nodes of which nothing is left. Without any state's mutex. */
void share_nodes_tidy(struct sim_machine *machine);
/* Closes all nodes, when the machine ends. */
void share_nodes_close(struct sim_machine *machine);

#endif
