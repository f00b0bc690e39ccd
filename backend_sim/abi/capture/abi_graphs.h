/* SPDX-License-Identifier: Apache-2.0 */
/* abi_graphs.h - graphs, nodes and instances as libcuda.so.1 knows them: their values, and what each node holds.
 *
 *     cuGraphAddMemsetNode(&n, g, NULL, 0, &params, ctx)    n -> node [work: params, ctx]      the program may reuse params now
 *     cuGraphAddKernelNode(&m, g, &n, 1, &params)           m -> node [work: params, the launch with its packed arguments]
 *     cuGraphInstantiate(&x, g, 0)                          x -> instance [clone of the graph: nodes by their origin n, m]
 *     cuGraphLaunch(x, s)                                   each node's work is issued to s, in order of dependency
 *
 * A node is a call that was not made yet: nothing in it is looked up before its turn comes. So a launch finds the mappings and
 * rights of that time, as measured. One lock guards everything here; no function below takes it but abi_graphs_lock.
 */
#ifndef SIM_ABI_GRAPHS_H
#define SIM_ABI_GRAPHS_H

#include "abi.h"
#include "capture.h"
#include "graph.h"

/* What a node holds. Pointers of params lead into the work's own memory. */
struct abi_work {
    CUgraphNodeParams params;
    struct vmm_call_launch launch; /* of a kernel, as vmm_launch takes it; the arguments are the work's own */
    void **list;                   /* of a kernel: kernelParams, then extra */
    bool packed;                   /* of a kernel: the program gave extra, so that is shown */
    struct graph *child;           /* of a child graph */
    struct abi_memory *memory;     /* of an allocation or free node (abi_graph_alloc.h) */
    void *own;                     /* what a pointer of the parameters leads to: operations, or rights of an allocation */
    bool disabled;                 /* in an instance: cuGraphNodeSetEnabled */
};

/* What a graph has besides its nodes. */
struct abi_graph {
    struct graph_node *inside;     /* the node whose child it is; NULL: the program destroys it */
    struct abi_held *held;         /* its references to user objects */
    size_t made;                   /* nodes that were ever added */
    size_t instances;
};

/* What a new node depends on; data may be NULL, for zeros. */
struct abi_dependencies {
    struct graph_node *const *node;
    const uint64_t *data;
    size_t count;
};

/* A graph that was instantiated. */
struct abi_exec {
    uint64_t value;
    struct graph *graph; /* the clone */
    uint64_t source;     /* the graph, which may have ended */
    uint64_t flags;
    size_t launches;     /* in progress: they read the graph without the lock */
    bool ended;          /* destroyed during a launch */
};

void abi_graphs_lock(void);
void abi_graphs_unlock(void);

/* NULL for a value that names no such thing, or one that has ended. */
struct graph *abi_graph_of(CUgraph value);
struct graph_node *abi_node_of(CUgraphNode value);
struct abi_exec *abi_exec_of(CUgraphExec value);

static inline CUgraph abi_graph_value(const struct graph *graph)
{
    return (CUgraph)(uintptr_t)graph->value;
}

static inline CUgraphNode abi_node_value(const struct graph_node *node)
{
    return (CUgraphNode)(uintptr_t)node->value;
}

static inline struct abi_work *abi_work_of(const struct graph_node *node)
{
    return node->work;
}

static inline struct abi_graph *abi_more_of(const struct graph *graph)
{
    return graph->more;
}

static inline CUgraphNodeType abi_type_of(const struct graph_node *node)
{
    return abi_work_of(node)->params.type;
}

/* ---- making and ending; NULL or false when memory is out, and nothing has changed then ---- */

struct graph *abi_graph_new(void);
/* With its children, and its references to user objects. */
struct graph *abi_graph_copy(const struct graph *graph);
void abi_graph_end(struct graph *graph);

/* A node with a copy of the work. */
struct graph_node *abi_graph_add(struct graph *graph, struct graph_node *const *on, const uint64_t *data, size_t count,
                                 const struct abi_work *work);
/* Gives the node a copy of the work instead of its own. */
bool abi_node_set(struct graph_node *node, const struct abi_work *work);
void abi_node_end(struct graph_node *node);

struct abi_exec *abi_exec_new(struct graph *graph, uint64_t flags);
void abi_exec_end(struct abi_exec *exec);

/* Makes work of a kernel: a copy of launch, and kernelParams that lead into its arguments. offset[i] is the place of parameter i in
 * the bytes from args[first] on; offset[count] is the size of all. */
bool abi_work_kernel(struct abi_work *work, const struct vmm_call_launch *launch, size_t first, const size_t *offset,
                     unsigned count);
/* Frees what a work owns that was never given to a node. */
void abi_work_drop(struct abi_work *work);

/* ---- user objects: freed by their function when the last reference goes ---- */

struct abi_user_object {
    uint64_t value;
    void (*destroy)(void *data);
    void *data;
    unsigned count; /* references, those of graphs among them */
    struct abi_user_object *next; /* of those that have ended */
};

struct abi_held {
    struct abi_user_object *object;
    unsigned count;
    struct abi_held *next;
};

struct abi_user_object *abi_user_object_of(CUuserObject value);
struct abi_user_object *abi_user_object_new(void (*destroy)(void *data), void *data, unsigned count);
/* Without the last reference the object ends; its function is called by abi_graphs_unlock, after the lock is given back. */
void abi_user_object_release(struct abi_user_object *object, unsigned count);
/* The graph's references to the object; NULL: none. */
struct abi_held **abi_held_find(struct abi_graph *more, const struct abi_user_object *object);

/* Ends everything here, when the library is unloaded. */
void abi_graphs_close(void);

/* ---- captures ---- */

extern struct captures abi_captures;

#endif
