/* SPDX-License-Identifier: Apache-2.0 */
/* region.h - the parts of a pool's address range: allocated, pending in a stream, or free.
 *
 *     pool      [ live ........ | pending on S | live | free ............. ]     regions tile it, linked by address
 *     take      [ live ........ | live | pend. | live | free ............. ]     the low part of a region; the rest is unchanged
 *     return    [ live ........ | live | free  | live | free ............. ]     a call waited for S: it is free
 *
 * A tree orders regions by size, and equal ones by their arrival in the tree. The caller does all locking.
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

/* The position in a stream of frees with nothing issued in between. It exists while it is in the queue or a region
 * refers to it. */
struct free_mark {
    const struct queue_item *item; /* NULL once it is done and has left the queue */
    uint64_t tick;                 /* of its stream's clock (stream_clock.h) */
    uint32_t clock, refs;          /* refs: pending regions that refer to it */
};

/* Call it after the item or a reference was dropped. */
void free_mark_settle(struct free_mark *mark);

struct region {
    uint64_t start, size;
    uint64_t asked;                /* of a live one: the requested bytes */
    uint64_t order;                /* its order of arrival in its tree */
    struct region *before, *after; /* by address */
    struct region *left, *right;   /* in its tree */
    uint32_t priority;
    uint8_t state;                 /* enum region_state */
    bool backed;                   /* of a free one: completely backed by memory */
    struct region_lane *lane;      /* of a pending one: the stream that freed it */
    struct free_mark *mark;        /* and the position in its order */
    uint64_t freed;                /* of a pending one: its latest free, counted in the pool */
    struct region *older, *newer;  /* of the same lane, by that */
};

struct region_tree {
    struct region *root;
};

void region_tree_add(struct region_tree *tree, struct region *region);
void region_tree_remove(struct region_tree *tree, struct region *region);

/* The smallest region of at least size bytes that `fits` accepts; NULL: none. fits may be NULL. */
struct region *region_tree_find(const struct region_tree *tree, uint64_t size,
                                bool (*fits)(void *user, const struct region *region), void *user);

/* Is a ordered before b in a tree? */
static inline bool region_less(const struct region *a, const struct region *b)
{
    return a->size != b->size ? a->size < b->size : a->order < b->order;
}

const char *region_tree_check(const struct region_tree *tree, uint64_t *count);

#endif
