/* SPDX-License-Identifier: Apache-2.0 */
/* branches.h - which nodes of a launch may run concurrently: the nodes are divided among branches, and each branch runs its
 * nodes one after another.
 *
 *     edges       0>1  0>2  1>3  2>3  3>4
 *     branch 0    0    1    3    4            the stream of the launch
 *     branch 1         2                      begins after 0; 3 waits for it
 *
 * A node continues the branch of a node that it depends on, if that is the last one there. There are few branches: a
 * node without one to continue gets any branch once GRAPH_BRANCHES exist, so it may wait for nodes that it does not depend on,
 * but never the other way round.
 */
#ifndef SIM_BRANCHES_H
#define SIM_BRANCHES_H

#include "graph.h"

enum { GRAPH_BRANCHES = 8 };

struct graph_branch {
    uint64_t key; /* of all of its nodes; those of branch 0 may also have none */
    const struct graph_node *last;
};

/* Divides the nodes, each of which comes after all that it depends on: branch[i] is that of order[i]. A branch holds nodes of
 * one key, and branch 0 those of the key own; key returns 0 for a node that must be there. Sets each node's index to its place
 * in the order. branches has room for count + 1. Returns how many there are: at least 1. */
size_t graph_branches(struct graph_node *const *order, size_t count, uint64_t own,
                      uint64_t (*key)(void *user, const struct graph_node *node), void *user, size_t *branch,
                      struct graph_branch *branches);

#endif
