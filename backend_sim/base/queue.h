/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - the order of in-flight work: what may run now, and what must run before a wait ends.
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
 * and a mark that needs another, issued before it on whichever lane, is a stream's wait for that event:
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
 *     count, left   = items from first to last, which the links backwards find too; those of them that are not done
 *     number        grows from first to last, up to issued
 *     undone        = the first item that is not done
 *     lane, context = each with the items and the lanes that name it, of which there is at least one
 *     needed        = a mark before its needer; needers = the marks that need it
 *     seen          spreads to all that an item comes after, unless there is news
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum queue_kind { QUEUE_DEFAULT, QUEUE_BLOCKING, QUEUE_NON_BLOCKING };

/* Where work is issued. Context, stream and thread identify a lane. */
struct queue_place {
    uint64_t context, stream;
    uint64_t thread; /* of a thread's own default stream, else 0 */
    int device;
    enum queue_kind kind;
};

enum queue_state { QUEUE_WAITING, QUEUE_RUNNING, QUEUE_DONE };

struct queue_lane;
struct queue_context;

/* Part of the owner's record of a piece of work. */
struct queue_item {
    struct queue_item *before, *after;
    struct queue_lane *lane;
    uint64_t number; /* in order of issue, from 1 */
    bool mark;
    struct queue_item *needed; /* of a mark: another that must be done before it; NULL: none, or that was removed since */
    size_t needers;            /* how many marks need this one */
    size_t counted;            /* scratch of queue_check */
    enum queue_state state;
    bool seen; /* the host can have seen that its turn has come, so everything before it in the order is done */
    bool wanted, ready; /* as of the last queue_want; ready also of the last queue_look */
};

struct queue {
    struct queue_item *first, *last;
    struct queue_item *undone;      /* the first that is not done; NULL: all are */
    struct queue_lane *lanes;       /* those that have items */
    struct queue_context *contexts; /* those that have lanes */
    uint64_t issued;          /* numbers given so far */
    size_t count, left;       /* items, and those that are not done */
    bool news;                /* an item was seen since queue_known */
};

/* What a call waits for. */
enum queue_scope {
    QUEUE_LANE,    /* what was issued at the place, */
    QUEUE_ORDERED, /* and on every lane that is ordered with it: what an item issued there now would wait for */
    QUEUE_CONTEXT, /* everything of the place's context */
    QUEUE_DEVICE,  /* everything on the place's device */
    QUEUE_ITEM     /* the item until */
};

struct queue_aim {
    enum queue_scope scope;
    struct queue_place place;
    uint64_t until; /* items after this number are not waited for */
};

const struct queue_place *queue_place_of(const struct queue_item *item);

/* Appends item, with state WAITING. Returns false, and changes nothing, when memory is out. */
bool queue_add(struct queue *queue, struct queue_item *item, const struct queue_place *place);
/* The same for a mark, which needs the mark of that number; 0 or the number of a removed mark means none. */
bool queue_add_mark(struct queue *queue, struct queue_item *item, const struct queue_place *place, uint64_t needs);
void queue_remove(struct queue *queue, struct queue_item *item);
/* Records that the item is done; called once per item. */
void queue_done(struct queue *queue, struct queue_item *item);
/* Records that the host can see that the item's turn has come. */
void queue_seen(struct queue *queue, struct queue_item *item);

/* Is it done, and can the host know? */
bool queue_known(struct queue *queue, const struct queue_item *item);

/* Flags as wanted the items that the aim covers and all that these must wait for, and as ready the items that may run now,
 * wanted or not. Completes marks that nothing holds up. Returns the number of wanted items that are not done. */
size_t queue_want(struct queue *queue, const struct queue_aim *aim);

/* The first item that may run now and fits, whatever flags are set; NULL: none. Completes marks that nothing holds up on the
 * way. The time taken does not grow with the number of finished items. */
struct queue_item *queue_first_ready(struct queue *queue, bool (*fits)(const struct queue_item *item));

/* Flags as ready the items that may run now, as queue_want does, and leaves the wanted flags unchanged. The time taken does not
 * grow with the number of finished items; the same holds for the next three functions. */
void queue_look(struct queue *queue);

/* The number of items flagged as ready; and the one at a place among them, counted from 0 in order of issue. */
size_t queue_ready(const struct queue *queue);
struct queue_item *queue_ready_at(const struct queue *queue, size_t place);

/* The first ready item that is wanted, or NULL. */
struct queue_item *queue_first_wanted(const struct queue *queue);

/* For a caller that does all wanted items in order of issue: returns the next wanted item after item (NULL: from the front)
 * that is not done; all wanted items up to item are done already. Completes marks on the way. The result may run if it is
 * WAITING, without another ready flag: everything that it comes after is wanted and lies before it. */
struct queue_item *queue_next_wanted(struct queue *queue, struct queue_item *item);

const char *queue_check(struct queue *queue);

#endif
