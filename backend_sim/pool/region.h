/* SPDX-License-Identifier: Apache-2.0 */
/* region.h - the parts of a pool's addresses: what is allocated, what waits for its stream, what is free.
 *
 *     pool      [ live ........ | pending on S | live | free ............. ]     regions tile it, linked by address
 *     take      [ live ........ | live | pend. | live | free ............. ]     the low part of a region; the rest stays what it was
 *     return    [ live ........ | live | free  | live | free ............. ]     a call waited for S: it is free
 *
 * A tree holds regions by size; of equal ones the first that came to the tree is the least. The caller does all locking.
 *
 * Invariants (region_tree_check):
 *     left < node < right    by size, then by order;     priority of a node >= those below it
 */
#ifndef SIM_REGION_H
#define SIM_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct queue_item;
struct region_lane;

enum region_state { REGION_FREE, REGION_PENDING, REGION_LIVE };

/* The place in a stream's order of what was freed there, with nothing issued in between. It lives while it is in the queue or a
 * region names it. */
struct free_mark {
    const struct queue_item *item; /* NULL once it left the queue, because it is done */
    uint64_t tick;                 /* of its stream's clock (stream_clock.h) */
    uint32_t clock, refs;          /* refs: pending regions that name it */
};

/* Call it after the item or a reference went. */
void free_mark_settle(struct free_mark *mark);

struct region {
    uint64_t start, size;
    uint64_t asked;                /* of a live one: the bytes that were asked for */
    uint64_t order;                /* when it came to its tree */
    struct region *before, *after; /* by address */
    struct region *left, *right;   /* in its tree */
    uint32_t priority;
    uint8_t state;                 /* enum region_state */
    bool backed;                   /* of a free one: all of it has memory */
    struct region_lane *lane;      /* of a pending one: the stream that freed it */
    struct free_mark *mark;        /* and where in its order */
    uint64_t freed;                /* of a pending one: its latest free, counted in the pool */
    struct region *older, *newer;  /* of the same lane, by that */
};

struct region_tree {
    struct region *root;
};

void region_tree_add(struct region_tree *tree, struct region *region);
void region_tree_remove(struct region_tree *tree, struct region *region);

/* The least region of at least size bytes that fits accepts; NULL when there is none. fits may be NULL. */
struct region *region_tree_find(const struct region_tree *tree, uint64_t size,
                                bool (*fits)(void *user, const struct region *region), void *user);

/* Is a less than b in a tree? */
static inline bool region_less(const struct region *a, const struct region *b)
{
    return a->size != b->size ? a->size < b->size : a->order < b->order;
}

const char *region_tree_check(const struct region_tree *tree, uint64_t *count);

#endif
