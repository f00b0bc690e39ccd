/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.h - a process's graphs, nodes and instances: their values, and what each node holds.
 *
 *     vmm_graph_add_memset_node(&n, g, NULL, 0, &params, ctx)   n -> node [work: params, ctx]    the program may reuse params now
 *     vmm_graph_add_kernel_node(&m, g, &n, 1, &params)          m -> node [work: the launch, with its own arguments]
 *     vmm_graph_instantiate(&x, g, 0)                           x -> instance [clone of the graph: nodes by their origin n, m]
 *     vmm_graph_launch(x, s)                                    each node's work is issued to s, in order of dependency
 *
 * A node is a call that was not made yet: nothing in it is looked up before its turn comes. So a launch uses the mappings and
 * rights of its own time, as measured. Guarded by the machine's lock.
 *
 * Functions that create something return NULL or false, with nothing changed, when memory is exhausted.
 */
#ifndef SIM_GRAPHS_H
#define SIM_GRAPHS_H

#include "call.h"
#include "capture.h"
#include "graph.h"
#include "slots.h"
#include "vmm.h"

/* A node's work; type says which member of the union is used. */
struct graph_work {
    vmm_graph_node_type type;
    bool disabled;       /* in an instance: vmm_graph_node_set_enabled */
    vmm_context context; /* for a kernel, a copy, a fill or memory operations: the context of the device that does them */
    uint64_t owner;      /* of an event: its context */
    bool unnamed;        /* of a copy: no context was named when it was added, which an instance keeps */
    struct graph *child; /* of a child graph */
    struct graph_memory *memory; /* of an allocation or free node (graph_alloc.h) */
    uint64_t from, to;   /* of a copy: which device's memory its sides were when it was made (copy_places.h); 0: none */
    unsigned programs;   /* of a copy: its sides that were the program's memory, pinned or not: ROWS_FROM_PROGRAM, ROWS_TO_PROGRAM */
    void *shown;         /* for libcuda.so.1, which keeps the program's parameters: struct graph_shown */
    union {
        vmm_memset_node_params fill;
        vmm_memcpy3d copy;
        struct vmm_call_launch launch;           /* its arguments are the work's own; its stream is ignored */
        struct vmm_call_stream_batch_mem_op ops; /* its list is the work's own; its stream is ignored */
        vmm_host_node_params host;
        vmm_event event;
    };
};

/* How to handle the part of work that belongs to libcuda.so.1. */
struct graph_shown {
    /* A copy of it for a copy of its work; NULL when memory is exhausted. */
    void *(*copy)(const struct graph_work *to, const struct graph_work *from);
    void (*drop)(void *shown);
};

/* What a graph has besides its nodes. */
struct graph_more {
    struct graph_node *inside; /* the node whose child it is; NULL: the program destroys it */
    struct user_held *held;    /* its references to user objects (user_objects.h) */
    size_t made;               /* nodes that were ever added */
    size_t instances;
};

/* A graph that was instantiated. */
struct graph_exec {
    uint64_t value;
    struct graph *graph; /* the clone */
    uint64_t source;     /* the graph, which may have ended */
    uint64_t flags;
    size_t launches;     /* in progress, perhaps without the lock */
    bool ended;          /* destroyed during a launch */
};

struct sim_graphs {
    struct graph_owner owner; /* must be first: a graph finds its tables by it */
    const struct graph_shown *shown;
    struct slots graphs, nodes, execs, objects;
    struct user_ending *ended; /* their functions are still to be called */
    struct graph_memory *memories; /* that nodes allocate or free */
    struct captures captures;
    bool instancing; /* copies are made for an instance */
    bool watched; /* a stream is being captured, or an event may refer to captured work */
};

void graphs_open(struct sim_graphs *all);
void graphs_close(struct sim_graphs *all);

/* NULL for a value that names no such object, or an ended one. */
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
static inline struct graph_more *graphs_more(const struct graph *graph)
{
    return graph->more;
}

static inline struct sim_graphs *graphs_of(const struct graph *graph)
{
    return (struct sim_graphs *)(uintptr_t)graph->owner;
}
/* Does the graph, or a child of it, allocate or free memory? Such a graph is limited in what may be done with it. */
bool graphs_allocate(const struct graph *graph);

/* ---- nodes ---- */

/* A node with a copy of the work, and of its child. */
struct graph_node *graphs_add(struct graph *graph, struct graph_node *const *on, const uint64_t *data, size_t count,
                              const struct graph_work *work);
/* Gives the node a copy of the work instead of its own. */
bool graphs_set(struct graph_node *node, const struct graph_work *work);
/* No capture continues from it. */
void graphs_end_node(struct graph_node *node);

/* ---- instances ---- */

struct graph_exec *graphs_instantiate(struct graph *graph, uint64_t flags);
/* During a launch: the last launch ends it. */
void graphs_end_exec(struct graph_exec *exec);
void graphs_end_launch(struct graph_exec *exec);

#endif
