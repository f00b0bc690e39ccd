/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.h - a process's graphs, nodes and instances: their values, and what each node holds.
 *
 *     vmm_graph_add_memset_node(&n, g, NULL, 0, &params, ctx)   n -> node [work: params, ctx]    the program may reuse params now
 *     vmm_graph_add_kernel_node(&m, g, &n, 1, &params)          m -> node [work: the launch, with its own arguments]
 *     vmm_graph_instantiate(&x, g, 0)                           x -> instance [clone of the graph: nodes by their origin n, m]
 *     vmm_graph_launch(x, s)                                    each node's work is issued to s, in order of dependency
 *
 * A node is a call that was not made yet: nothing in it is looked up before its turn comes. So a launch finds the mappings and
 * rights of that time, as measured. Guarded by the machine's lock.
 *
 * Functions that make something return NULL or false when memory is out, and nothing has changed then.
 */
#ifndef SIM_GRAPHS_H
#define SIM_GRAPHS_H

#include "call.h"
#include "capture.h"
#include "graph.h"
#include "slots.h"
#include "vmm.h"

/* What a node holds; type says which member. */
struct graph_work {
    vmm_graph_node_type type;
    vmm_context context; /* of a fill */
    bool disabled;       /* in an instance: vmm_graph_node_set_enabled */
    union {
        vmm_memset_node_params fill;
        union vmm_any_call copy;       /* an asynchronous copy; its stream does not count */
        struct vmm_call_launch launch; /* its arguments are the work's own; its stream does not count */
        vmm_host_node_params host;
        vmm_event event;
        struct graph *child;
    };
};

/* A graph that was instantiated. */
struct graph_exec {
    uint64_t value;
    struct graph *graph; /* the clone */
    uint64_t flags;
    size_t launches;     /* in progress, perhaps without the lock */
    bool ended;          /* destroyed during a launch */
};

struct sim_graphs {
    struct graph_owner owner; /* first: a graph finds its tables by it */
    struct slots graphs, nodes, execs;
    struct captures captures;
    bool watched; /* a stream is being captured, or an event may stand for what a captured stream had reached */
};

void graphs_open(struct sim_graphs *all);
void graphs_close(struct sim_graphs *all);

/* NULL for a value that names no such thing, or one that has ended. */
struct graph *graphs_find(const struct sim_graphs *all, vmm_graph value);
struct graph_node *graphs_find_node(const struct sim_graphs *all, vmm_graph_node value);
struct graph_exec *graphs_find_exec(const struct sim_graphs *all, vmm_graph_exec value);

static inline struct graph_work *graphs_work(const struct graph_node *node)
{
    return node->work;
}

/* ---- graphs ---- */

struct graph *graphs_make(struct sim_graphs *all);
/* With its children. */
struct graph *graphs_copy(const struct graph *graph);
void graphs_end(struct graph *graph);
/* The node whose child the graph is; NULL: the program destroys it. */
struct graph_node *graphs_inside(const struct graph *graph);

/* ---- nodes ---- */

/* A node with a copy of the work, and of its child. */
struct graph_node *graphs_add(struct graph *graph, struct graph_node *const *on, const uint64_t *data, size_t count,
                              const struct graph_work *work);
/* No capture goes on from it. */
void graphs_end_node(struct graph_node *node);

/* ---- instances ---- */

struct graph_exec *graphs_instantiate(const struct graph *graph, uint64_t flags);
/* During a launch: the last launch ends it. */
void graphs_end_exec(struct sim_graphs *all, struct graph_exec *exec);
void graphs_end_launch(struct graph_exec *exec);

#endif
