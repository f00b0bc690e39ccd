/* SPDX-License-Identifier: Apache-2.0 */
/* model_graph.h - graphs, as plainly as possible: nodes in the order in which they were made, each with a list of those that it
 * depends on; instances, which are copies; and captured streams, each with what it has reached.
 *
 *     graph    [fill 1] [host 2] [copy 3, after 1 and 2]        launch: in an order that the lists allow; where two nodes use the
 *                                                               same bytes and neither comes after the other, they are unknown
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
    bool unnamed;                   /* of a copy: no context was named, which is another than any */
    bool crashes;                   /* such a copy from or to the program, in an instance that was updated: its launch ends the process */
    bool by_host;                   /* of a copy: a side was the host's when it was made, without rights for the device: the processor copies */
    bool packed;                    /* of an instance's copy: a side may be compressed */
    unsigned shared;                /* of a copy: which sides other processes may be given */
    vmm_memset_node_params fill;
    uint64_t from, to;              /* of a copy: which memory its sides were when it was made (model_note_places) */
    uint64_t memory;                /* of an instance's copy: which memory of a pool it goes to; 0: none */
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
    uint64_t value;                 /* 0: the system has not reported it yet */
    uint32_t tag;
    size_t id, origin;              /* origin: the id of the node that this one is a copy of, 0 for none */
    struct model_graph *graph;
    struct model_work work;
    struct model_link *link;        /* where one is removed, the last one takes its place */
    size_t links, link_room;
    struct model_node **next;       /* those with a link to this one, in the same way */
    size_t nexts, next_room;
    uint64_t rooted;                /* of one without links: later ones have larger numbers */
    uint64_t leafed;                /* of one without nexts, in the same way */
    bool seen;                      /* of a search */
};

struct model_graph {
    uint64_t value;
    uint32_t tag;
    struct model_node **node;
    size_t count, room;
    struct model_node *inside;      /* the node that it belongs to */
    uint64_t edits;                 /* so often nodes or dependencies were removed */
    uint64_t turns;                 /* so often a node became one without links, or without nexts */
    struct model_reference *held;   /* references to user objects */
    size_t references, reference_room;
};

struct model_graphs;

/* Data of the program. */
struct model_object {
    uint64_t value;
    int64_t count, held;            /* all references, and those of graphs and instances; it ends at 0, however they are split */
    bool over;                      /* it has ended; freed when no graph names it */
    bool late;                      /* an instance that was launched and ended had it */
    size_t named;
    uint32_t tag;
    struct model_graphs *all;
};

struct model_reference {
    struct model_object *object;
    int64_t count;                  /* not 0; below: so many more were released than there were */
};

struct model_exec {
    uint64_t value, flags;
    uint32_t tag;
    struct model_graph *graph;
    uint64_t edits;                 /* of the graph that it was made from, at that time */
    bool launched;
    bool torn;                      /* an update of it failed, which may have changed a part */
};

struct model_reached {
    struct model_node **node;
    size_t count, room;
};

struct model_capture {
    bool worked[MODEL_LANES];       /* the lane has added a node */
    int origin;                     /* the lane that began it */
    int mode;
    uint64_t id;                    /* 0: the system has not reported it yet */
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
    int thread_mode;                /* VMM_STREAM_CAPTURE_MODE_ */
    struct model_object **object;
    size_t objects, object_room;
    uint64_t destroyed;             /* since the last question */
    uint64_t destroyed_late;        /* of these, by a driver perhaps later */
};

/* Room, all 0; ends the process when the host has no memory left. */
void *model_new(size_t size);
void model_graphs_open(struct model *model);
void model_graphs_close(struct model *model);

struct model_graph *model_graph_of(const struct model *model, vmm_graph value);
struct model_node *model_node_of(const struct model *model, vmm_graph_node value);
struct model_exec *model_exec_of(const struct model *model, vmm_graph_exec value);

/* The same, or a refusal. */
struct model_graph *model_need_graph(struct model *model, vmm_graph value, struct model_answer *answer);
struct model_node *model_need_node(struct model *model, vmm_graph_node value, struct model_answer *answer);
struct model_object *model_object_of(const struct model *model, vmm_user_object value);

/* Are these flags that an instance may be made with? */
bool model_known_flags(uint64_t flags);

/* Notes on which device the memory of a copy's sides is, and which devices have rights to it; 0: no memory of a device. */
void model_note_places(struct model *model, struct model_work *work);

/* May an instance's node take over the other work? */
bool model_work_fits(const struct model_work *now, const struct model_work *then);

/* Notes to which memory of pools the copies of an instance go; and is it another now, where a copy comes from the program's own
 * memory? A driver crashed then. */
void model_note_memory(struct model *model, struct model_graph *graph);
bool model_has_other_memory(struct model *model, const struct model_work *work);

/* What a graph holds of user objects: a copy holds as much, that of an instance one of each. */
void model_objects_copy(struct model_graph *to, const struct model_graph *from, bool instance);
/* An instance that is updated holds what the graph holds, and nothing else. */
void model_objects_update(struct model_graph *instance, const struct model_graph *graph);
/* Has the program, or the graph, fewer references than that? */
bool model_object_lacks(const struct model_object *object, const struct model_graph *graph, uint64_t count);
void model_objects_drop(struct model_graph *graph);
void model_objects_close(struct model_graphs *all);

struct model_graph *model_graph_copy(struct model *model, const struct model_graph *graph, bool instance);
struct model_graph *model_graph_new(void);
void model_graph_keep(struct model *model, struct model_graph *graph, uint64_t value, struct model_answer *answer);
void model_graph_free(struct model_graph *graph);
/* Ends a graph of the program's. */
void model_graph_end(struct model *model, struct model_graph *graph);

struct model_node *model_node_add(struct model *model, struct model_graph *graph, struct model_node *const *on, size_t count,
                                  const struct model_work *work);
/* What was not reached before. */
void model_reach(struct model_reached *reached, struct model_node *node);

/* Makes one without nexts the latest of those; of others nothing is changed. */
void model_node_last(struct model_node *node);

/* Is b among what a comes after, directly or not, or a itself? */
bool model_comes_after(const struct model_node *a, const struct model_node *b);
/* Is a stream captured into the graph? within: or into the graph of a node in it? */
bool model_is_captured_into(const struct model *m, const struct model_graph *graph, bool within);
/* Is the data of each such as an edge may have, and none that this model does not follow? */
bool model_edge_data_allowed(const struct model *m, const vmm_graph_edge_data *data, uint64_t count, struct model_answer *answer);

/* May the memory of a fill be used? */
bool model_fill_allowed(struct model *model, const struct model_work *work, struct model_answer *answer);

/* Does a capture forbid the call, or take it? Then the prediction is made. */
bool model_capture_decides(struct model *model, const struct vmm_call *call, struct model_answer *answer);

#endif
