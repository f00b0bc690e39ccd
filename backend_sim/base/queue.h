/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - the order of in-flight work: which items may run now, and which must run before a wait ends.
 *
 *     issued    1 on A    2 on the default stream    3 on A    4 on N (non-blocking)    5 on B
 *     order     1 ------> 2 -----------------------> 3
 *                         2 --------------------------------------------------------> 5         4 waits for nothing
 *     wait for A: 1, 2, 3          wait for N: 4          wait for the default stream: 1, 2, 3, 5
 *
 * A lane stands for a stream. Two lanes are ordered when they are the same, or when one is the default stream of a context and
 * the other a blocking stream of that context; work on ordered lanes is done in the order of issue (cuda.h 13.0, stream
 * synchronization behaviour).
 *
 * A mark is an item without work: it is done as soon as everything before it in the order is done. A mark represents an event,
 * and a mark that needs an earlier mark on any lane is a stream's wait for that event:
 *
 *     lane A    1    2 mark    3
 *     lane B         4 mark, needs 2    5        5 comes after 4, so after 2 and 1; wait for B: 1, 2, 4, 5
 *
 * Finished work stays in the queue until a call has waited for it. Until then the host cannot know that it is done, unless the
 * host can see an effect of it, or of later work that is ordered after it:
 *
 *     lane A    1 done    2 done, seen    3 done        1 and 2 are known, 3 is not
 *     lane N    4 done                                  nor is 4, which nothing orders with 2
 *
 * The queue runs no work itself. The caller does all locking.
 *
 * Invariants (queue_check):
 *     count, left   = the number of items from first to last, in both directions; the number of unfinished ones
 *     number        increases from first to last, and is at most issued
 *     undone        = the first item that is not done
 *     lane, context = count the items and the lanes that refer to them, at least one each
 *     needed        = an earlier mark; needers = the number of marks that need this one
 *     seen          is set on everything before a seen item in the order, unless news is set
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum queue_kind { QUEUE_DEFAULT, QUEUE_BLOCKING, QUEUE_NON_BLOCKING };

/* Where work is issued. Context, stream and thread together identify a lane. */
struct queue_place {
    uint64_t context, stream;
    uint64_t thread; /* the thread, for a per-thread default stream; else 0 */
    int device;
    enum queue_kind kind;
};

static inline bool queue_same_lane(const struct queue_place *a, const struct queue_place *b)
{
    return a->context == b->context && a->stream == b->stream && a->thread == b->thread;
}

enum queue_state { QUEUE_WAITING, QUEUE_RUNNING, QUEUE_DONE };

struct queue_lane;
struct queue_context;

/* Embedded in the owner's record of a work item. */
struct queue_item {
    struct queue_item *before, *after;
    struct queue_lane *lane;
    uint64_t number; /* in order of issue, from 1 */
    bool mark;
    struct queue_item *needed; /* of a mark: an earlier mark that must be done first; NULL: none, or removed since */
    size_t needers;            /* the number of marks that need this one */
    size_t counted;            /* scratch space of queue_check */
    enum queue_state state;
    bool seen; /* the host can observe that the item's turn has come, so everything before it in the order is done */
    bool blocked; /* for the caller: its turn has come, but it waits for something else; not ready meanwhile */
    bool wanted, ready; /* set by the last queue_want; queue_look also sets ready */
    bool timed;         /* of a mark: note when it is done */
    uint64_t when;      /* by the queue's clock; 0: not done, or not timed */
};

struct queue {
    struct queue_item *first, *last;
    struct queue_item *undone;      /* the first unfinished item; NULL: all are done */
    struct queue_lane *lanes;       /* lanes that have items */
    struct queue_context *contexts; /* contexts that have lanes */
    uint64_t issued;                /* the number of the item issued last */
    size_t count, left;             /* items, and unfinished items */
    bool news;                      /* an item has become seen since the last queue_known */
    uint64_t (*clock)(void);        /* for timed marks; never decreases, and is never 0 */
};

/* The items that a call waits for. */
enum queue_scope {
    QUEUE_LANE,    /* everything issued at the place */
    QUEUE_ORDERED, /* and on all lanes ordered with it: everything that an item issued there now would wait for */
    QUEUE_CONTEXT, /* everything of the place's context */
    QUEUE_DEVICE,  /* everything on the place's device */
    QUEUE_ITEM     /* the item whose number is until */
};

struct queue_aim {
    enum queue_scope scope;
    struct queue_place place;
    uint64_t until; /* the wait ignores items after this number */
};

const struct queue_place *queue_place_of(const struct queue_item *item);

/* Appends item in state WAITING. Returns false, and changes nothing, when memory is out. */
bool queue_add(struct queue *queue, struct queue_item *item, const struct queue_place *place);
/* Appends a mark that needs the mark with that number; 0, or the number of a removed mark, means none. */
bool queue_add_mark(struct queue *queue, struct queue_item *item, const struct queue_place *place, uint64_t needs);
/* Makes the item just added a timed mark, which is done now if nothing is before it. */
void queue_time_mark(struct queue *queue, struct queue_item *item);
void queue_remove(struct queue *queue, struct queue_item *item);
/* Records that the item is done; called once per item. */
void queue_done(struct queue *queue, struct queue_item *item);
/* Records that the host can see that the item's turn has come. */
void queue_seen(struct queue *queue, struct queue_item *item);

/* Is the item done, and can the host know that? */
bool queue_known(struct queue *queue, const struct queue_item *item);

/* Flags as wanted the items that the aim covers and everything before them in the order, and flags as ready all items that may
 * run now, wanted or not. Completes the marks that nothing blocks. Returns the number of wanted, unfinished items. */
size_t queue_want(struct queue *queue, const struct queue_aim *aim);

/* Returns the first item that may run now and that fits accepts, whatever its flags; NULL: none. Completes the marks that nothing
 * blocks on the way. The cost does not grow with the number of finished items. */
struct queue_item *queue_first_ready(struct queue *queue, bool (*fits)(const struct queue_item *item));

/* Flags as ready the items that may run now, as queue_want does, and keeps the wanted flags. The cost of this function and the
 * next three does not grow with the number of finished items. */
void queue_look(struct queue *queue);

/* The number of ready items, and the ready item at an index, counted from 0 in order of issue. */
size_t queue_ready(const struct queue *queue);
struct queue_item *queue_ready_at(const struct queue *queue, size_t place);

/* The first item that is both ready and wanted, or NULL. */
struct queue_item *queue_first_wanted(const struct queue *queue);

/* For a caller that runs all wanted items in order of issue: returns the first wanted, unfinished item after item (NULL: from the
 * front); all wanted items up to item are done already. Completes marks on the way. A WAITING result may run without a ready
 * flag: everything before it in the order is wanted and has been visited already. Not for a queue with blocked items. */
struct queue_item *queue_next_wanted(struct queue *queue, struct queue_item *item);

const char *queue_check(struct queue *queue);

#endif
