/* SPDX-License-Identifier: Apache-2.0 */
/* share_nodes.h - other machines of a fabric, of which this one has memory.
 *
 *   machine A                                   machine B, found by its id among this user's machines
 *     nodes --> [ share of B: a slot of B's ] --- state of B: block 7, held by slots ... and A's ---> bytes of B
 *
 * A is then one of B's processes, as far as B can tell: what it holds is seen there, and is given back when it dies. A node
 * is let go when nothing of it is left. The mutex of a node's state is a leaf, as that of the machine's own is: it is taken
 * with the machine's lock held and never together with another state's, so two machines may import from each other at once.
 */
#ifndef SIM_SHARE_NODES_H
#define SIM_SHARE_NODES_H

#include "share.h"

/* The machine of that id, which may be this one. NULL: why, "" when there is none; held_up: another process has its mutex. */
struct share *share_node(struct sim_machine *machine, uint64_t id, bool *held_up, char why[SHARE_WHY]);

/* Lets go of those that nothing is left of. With no state's mutex. */
void share_nodes_tidy(struct sim_machine *machine);
/* All of them, when the machine ends. */
void share_nodes_close(struct sim_machine *machine);

#endif
