/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - nodes of work and their dependencies.
 *
 *     nodes    0: fill    1: copy    2: kernel    3: host function     in the order in which they were added
 *     edges    0>1  0>2  1>3  2>3                                      3 depends on 1 and 2
 *     order    0 1 2 3                                                 each node after all that it depends on
 *     roots    0                                                       those that depend on none: the latest that became one first
 *     leaves   3                                                       those on which none depends: the latest that became one last
 *
 * An edge carries data, which two edges of the same nodes may differ in. This code does not prevent cycles: graph_order
 * detects them. A node's work belongs to its owner: work is copied and dropped through the graph's functions.
 *
 * Functions that may run out of memory then return NULL or false with nothing changed. The caller does all locking.
 *
 * Invariants (graph_check):
 *     count      = the nodes from first to last, in both directions, each of which belongs to the graph
 *     edges      = the sum of all out lists, and of all in lists
 *     each edge  stands in the out list of one node and in the in list of the other, with the same data
 *     roots      = the nodes from first_root on, which are those with an empty in list
 *     leaves     = the nodes from first_leaf to last_leaf, which are those with an empty out list
 */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graph;
struct graph_node;

struct graph_edge {
    struct graph_node *node; /* the other end */
    uint64_t data;
};

struct graph_edges {
    struct graph_edge *edge;
    size_t count, room;
};

struct graph_node {
    struct graph *graph;
    struct graph_node *before, *after;
    struct graph_node *root_before, *root_after, *leaf_before, *leaf_after;
    struct graph_edges in, out; /* what it depends on, and what depends on it, in the order of the calls that added it */
    void *work;
    uint64_t value;  /* its owner's name for it */
    uint64_t origin; /* the value of the node that it is a clone of; 0: none */
    size_t index;    /* its place in the graph, after graph_number */
    size_t left;     /* scratch space of graph_order */
};

/* How a node's work is copied into a clone, and dropped. copy returns false when memory is exhausted. */
struct graph_owner {
    bool (*copy)(struct graph_node *to, const struct graph_node *from);
    void (*drop)(struct graph_node *node);
};

struct graph {
    const struct graph_owner *owner;
    struct graph_node *first, *last, *first_root, *first_leaf, *last_leaf;
    size_t count, edges;
    uint64_t value;
    void *more; /* the owner's */
};

struct graph *graph_new(const struct graph_owner *owner);
void graph_free(struct graph *graph);

/* Adds a node that depends on these nodes of the graph; data may be NULL, for zeros. */
struct graph_node *graph_add(struct graph *graph, struct graph_node *const *on, const uint64_t *data, size_t count);
/* Removes the node and its edges, and drops its work. */
void graph_remove(struct graph_node *node);

bool graph_connect(struct graph_node *from, struct graph_node *to, uint64_t data);
/* Returns false if there is no such edge. */
bool graph_disconnect(struct graph_node *from, struct graph_node *to, uint64_t data);
/* The first edge between the two, whatever its data; NULL if there is none. */
const struct graph_edge *graph_edge_between(const struct graph_node *from, const struct graph_node *to);

/* Makes a node without dependents the last leaf; changes nothing for other nodes. */
void graph_last_leaf(struct graph_node *node);

/* Sets each node's index, from 0. */
void graph_number(const struct graph *graph);

/* Writes the nodes, each after all that it depends on, to order, which has room for count; earlier nodes come first among those
 * that may. The number of nodes written: fewer than count if there is a cycle. */
size_t graph_order(const struct graph *graph, struct graph_node **order);

/* A graph with the same owner, copies of the work, the same edges and the leaves in the same order. */
struct graph *graph_clone(const struct graph *graph);

/* The node of the clone whose origin is that value; NULL: none. */
struct graph_node *graph_find_origin(const struct graph *graph, uint64_t origin);

const char *graph_check(const struct graph *graph);

#endif
