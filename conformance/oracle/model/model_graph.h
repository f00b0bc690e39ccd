/* SPDX-License-Identifier: Apache-2.0 */
/* model_graph.h - graphs, as plainly as possible: nodes in the order in which they were made, each with a list of those that it
 * depends on; instances, which are copies; and captured streams, each with what it has reached.
 *
 *     graph    [fill 1] [host 2] [copy 3, after 1 and 2]        launch: in an order that the lists allow; where two nodes use the
 *                                                               same bytes and neither comes after the other, nobody knows them
 */
#ifndef CUVMM_MODEL_GRAPH_H
#define CUVMM_MODEL_GRAPH_H

#include "model_parts.h"

struct model_graph;
struct model_node;

/* What a node does. */
struct model_work {
    int type;                       /* VMM_GRAPH_NODE_TYPE_ */
    bool disabled;
    int device;                     /* of the context that it was made in; -1: none */
    vmm_context context;            /* of a fill or copy */
    vmm_memset_node_params fill;
    struct model_box copy;
    struct model_access kernel;     /* a kernel that fills */
    uint64_t event;
    struct model_graph *child;
};

struct model_link {
    struct model_node *on;
    uint64_t data;
};

struct model_node {
    uint64_t value;                 /* 0: the system has not told it yet */
    uint32_t tag;
    size_t id, origin;              /* origin: the id of the node that this one is a copy of, 0 for none */
    struct model_graph *graph;
    struct model_work work;
    struct model_link *link;
    size_t links, link_room;
    bool seen;                      /* of a search */
};

struct model_graph {
    uint64_t value;
    uint32_t tag;
    struct model_node **node;
    size_t count, room;
    struct model_node *inside;      /* the node that it belongs to */
};

struct model_exec {
    uint64_t value, flags;
    uint32_t tag;
    struct model_graph *graph;
};

struct model_reached {
    struct model_node **node;
    size_t count, room;
};

struct model_capture {
    int origin;                     /* the lane that began it */
    int mode;
    bool invalid, given;            /* given: the graph was there before */
    struct model_graph *graph;
};

/* A lane that is captured, or an event that was recorded in one. */
struct model_held {
    struct model_capture *capture;
    bool over;                      /* of an event: its capture has ended */
    struct model_reached reached;
};

struct model_graphs {
    struct model_graph **graph;
    size_t count, room;
    struct model_exec **exec;
    size_t execs, exec_room;
    uint64_t *value;                /* by id: of nodes that were, too */
    size_t ids, id_room;
    struct model_held lane[MODEL_LANES], event[2];
    struct model_capture *capture[MODEL_LANES]; /* by the lane that began it */
    uint64_t host_calls;            /* of host functions, by launches */
};

/* Room, all 0; ends the process when the host has no memory left. */
void *model_new(size_t size);
void model_graphs_open(struct model *model);
void model_graphs_close(struct model *model);

struct model_graph *model_graph_of(const struct model *model, vmm_graph value);
struct model_node *model_node_of(const struct model *model, vmm_graph_node value);
struct model_exec *model_exec_of(const struct model *model, vmm_graph_exec value);

/* The copy of a node in a graph; deep: in graphs of its nodes, too. NULL for none. */
struct model_node *model_copy_of(const struct model *model, const struct model_graph *graph, uint64_t value, bool deep);

struct model_graph *model_graph_copy(struct model *model, const struct model_graph *graph);
struct model_graph *model_graph_new(void);
void model_graph_keep(struct model *model, struct model_graph *graph, uint64_t value, struct model_answer *answer);
void model_graph_free(struct model_graph *graph);
/* Ends a graph of the program's. */
void model_graph_end(struct model *model, struct model_graph *graph);

struct model_node *model_node_add(struct model *model, struct model_graph *graph, struct model_node *const *on, size_t count,
                                  const struct model_work *work);
/* What was not reached before. */
void model_reach(struct model_reached *reached, struct model_node *node);

/* Is b among what a comes after, directly or not, or a itself? */
bool model_comes_after(const struct model_node *a, const struct model_node *b);
/* Is a stream captured into the graph? */
bool model_is_captured_into(const struct model *m, const struct model_graph *graph);

/* May the memory of a fill be used? */
bool model_fill_allowed(struct model *model, const struct model_work *work, struct model_answer *answer);

/* Does a capture forbid the call, or take it? Then the prediction is made. */
bool model_capture_decides(struct model *model, const struct vmm_call *call, struct model_answer *answer);
/* A call that captured streams forbid, which they end invalid of. */
bool model_capture_forbids(struct model *model, bool always, struct model_answer *answer);

#endif
