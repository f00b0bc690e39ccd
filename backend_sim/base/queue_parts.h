/* SPDX-License-Identifier: Apache-2.0 */
/* queue_parts.h - internals shared by queue.c, which changes the queue, and queue_check.c, which checks it. */
#ifndef SIM_QUEUE_PARTS_H
#define SIM_QUEUE_PARTS_H

#include "queue.h"

/* The kinds of the lanes of one context determine how they are ordered. */
struct queue_context {
    struct queue_context *next;
    uint64_t context;
    size_t lanes, counted; /* counted: scratch space of queue_check */
    bool marked[QUEUE_NON_BLOCKING + 1]; /* scratch space of a pass over the items: a lane of that kind is marked */
};

struct queue_lane {
    struct queue_lane *next;
    struct queue_context *of;
    struct queue_place place;
    size_t items, counted; /* as in a context */
    bool marked; /* scratch space of a pass over the items */
};

static inline void queue_unmark(struct queue *queue)
{
    for (struct queue_lane *lane = queue->lanes; lane; lane = lane->next)
        lane->marked = false;
    for (struct queue_context *context = queue->contexts; context; context = context->next)
        context->marked[QUEUE_DEFAULT] = context->marked[QUEUE_BLOCKING] = false;
}

static inline void queue_mark(struct queue_lane *lane)
{
    lane->marked = lane->of->marked[lane->place.kind] = true;
}

/* Is any lane marked that is ordered with this one? */
static inline bool queue_behind_marked(const struct queue_lane *lane)
{
    const bool *marked = lane->of->marked;
    return lane->marked || (lane->place.kind == QUEUE_DEFAULT && marked[QUEUE_BLOCKING]) ||
           (lane->place.kind == QUEUE_BLOCKING && marked[QUEUE_DEFAULT]);
}

#endif
