/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h - streams whose work becomes nodes: how far each has got in the graph.
 *
 *     stream A, captured    fill > 0      record E      kernel > 1                 wait F         copy > 4
 *     stream B                            wait E        fill > 2       record F
 *     reached by A          {0}           {0}           {1}                        {1, 2}         {4}
 *     reached by B                        {0}           {2}            {2}
 *
 * A stream that waits for an event of a capture joins that capture; the next node of a stream depends on what the stream has
 * reached. Captures end with the stream that began them, which must have reached everything that the others have (joined).
 *
 * Functions that may run out of memory then return false with nothing changed. The caller does all locking.
 */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include "graph.h"

struct capture_reached {
    struct graph_node **node;
    size_t count;
};

struct capture_stream {
    uint64_t key;
    struct capture *capture;
    struct capture_reached reached;
    bool blocking; /* it is ordered with the default stream */
    bool worked;   /* it has added a node to the graph */
    void *shown;   /* the owner's; freed with the stream */
    struct capture_stream *next;
};

/* An event that was recorded in a captured stream, until it is recorded elsewhere or destroyed. */
struct capture_event {
    uint64_t key;
    struct capture *capture; /* NULL: it has ended */
    struct capture_reached reached;
    struct capture_event *next;
};

struct capture {
    uint64_t id;      /* from 1, and never again */
    uint64_t origin;  /* the key of the stream that began it */
    uint64_t thread;  /* the thread that began it */
    unsigned mode;
    bool invalid;     /* by a call that was refused */
    bool given;       /* the graph was there before, and stays after a capture that succeeds */
    struct graph *graph;
    struct capture_stream *streams;
    struct capture *next;
};

struct captures {
    struct capture *first;
    struct capture_event *events;
    uint64_t begun; /* so many */
};

/* The stream, if it is captured; NULL otherwise. */
struct capture_stream *capture_find(const struct captures *captures, uint64_t key);
/* The capture into that graph; NULL if there is none. */
struct capture *capture_into(const struct captures *captures, const struct graph *graph);

/* Begins a capture of the stream, which has reached those nodes; it is not captured yet. NULL when memory is out. */
struct capture *capture_begin(struct captures *captures, uint64_t key, struct graph *graph, struct graph_node *const *nodes,
                              size_t count);
/* Ends it: none of its streams is being captured any more. The graph is the caller's. */
void capture_end(struct captures *captures, struct capture *capture);

/* The stream continues from a node that it has added. */
bool capture_work(struct capture_stream *stream, struct graph_node *node);
/* Sets what the stream has reached. */
bool capture_set(struct capture_stream *stream, struct graph_node *const *nodes, size_t count);
/* Adds to it what it has not reached yet. */
bool capture_reach(struct capture_stream *stream, struct graph_node *const *nodes, size_t count);

/* The event stands for what the stream has reached. */
bool capture_record(struct captures *captures, const struct capture_stream *stream, uint64_t event);
struct capture_event *capture_event_find(const struct captures *captures, uint64_t event);
/* The event no longer belongs to a capture. */
void capture_event_drop(struct captures *captures, uint64_t event);
/* The stream waits for the event, whose capture has not ended; it is captured already, by the same capture, or joins it now. */
bool capture_wait(struct captures *captures, uint64_t key, const struct capture_event *event);

/* Has the stream that began it reached everything that the other streams with nodes have? */
bool capture_joined(const struct capture *capture);
/* Streams for which the one that began it has waited so far stay joined until they add nodes again, whatever it waits for from now on. */
void capture_keep_joined(const struct capture *capture);

/* Removes the node from what streams and events have reached; it is about to be removed from its graph. */
void capture_forget_node(struct captures *captures, const struct graph_node *node);
/* Removes a stream that did not begin its capture: its nodes no longer need to be waited for. */
void capture_forget_stream(struct captures *captures, uint64_t key);

/* Frees everything but the graphs. */
void captures_clear(struct captures *captures);

#endif
