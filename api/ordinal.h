/* SPDX-License-Identifier: Apache-2.0 */
/* ordinal.h - the numbers of a system's calls: "call 41".
 *
 *   one thread      change 1, question 2, question 3, change 4          as they come
 *   two at once     thread A: 5, 7, 8 .. 15      thread B: 6, 16, ..    questions take a few ahead
 *
 * Every call has a number that no other has, and a thread's go up. Changes are numbered as they come. A thread that only asks,
 * and finds again and again that others took numbers between its own, takes up to ORDINAL_MOST ahead, so that threads which
 * ask do not wait for each other at one counter; what it does not need by its next change belongs to no call.
 */
#ifndef CUVMM_ORDINAL_H
#define CUVMM_ORDINAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "single_thread.h"
#include "cache_line.h"

enum { ORDINAL_MOST = 64, ORDINAL_PATIENCE = 64 };

struct ordinals {
    uint64_t id;            /* of this counter among all of the program */
    char before[VMM_CACHE_LINE_APART]; /* who looks at what lies around the next word is not to wait for those who write it */
    _Atomic uint64_t given; /* the greatest number given or taken ahead */
    char after[VMM_CACHE_LINE_APART];
};

/* What a thread has taken ahead of the counter it asked last. */
struct ordinals_ahead {
    uint64_t id, next, end; /* [next, end) is its own */
    uint64_t last;          /* the last that it drew; of a few, their last */
    unsigned crowded;       /* draws in a row before which others had drawn */
};

void ordinals_init(struct ordinals *ordinals);

/* Draws count numbers and returns the first. */
static inline uint64_t ordinal_draw(struct ordinals *ordinals, uint64_t count)
{
    if (!VMM_SINGLE_THREAD)
        return atomic_fetch_add_explicit(&ordinals->given, count, memory_order_relaxed) + 1;
    uint64_t before = atomic_load_explicit(&ordinals->given, memory_order_relaxed);
    atomic_store_explicit(&ordinals->given, before + count, memory_order_relaxed);
    return before + 1;
}

/* The number of a call that changes something. mine is what the calling thread has ahead. */
static inline uint64_t ordinal_of_change(struct ordinals *ordinals, struct ordinals_ahead *mine)
{
    uint64_t number = ordinal_draw(ordinals, 1);
    if (mine->id == ordinals->id) {
        mine->next = mine->end = 0;
        mine->last = number;
    }
    return number;
}

/* The number of a call that only asks. */
uint64_t ordinal_of_question(struct ordinals *ordinals, struct ordinals_ahead *mine);

/* Need it note nothing? Nobody draws between the numbers of the only thread; if it had some ahead once, it may have some left. */
static inline bool ordinal_is_next(const struct ordinals_ahead *mine)
{
    return VMM_SINGLE_THREAD && !mine->id;
}

#endif
