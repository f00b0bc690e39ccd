/* SPDX-License-Identifier: Apache-2.0 */
/* ordinal.h - the numbers of a system's calls: "call 41".
 *
 *   one thread      change 1, query 2, query 3, change 4                as they come
 *   two at once     thread A: 5, 7, 8 .. 15      thread B: 6, 16, ..    queries draw a few ahead
 *
 * Every call has a unique number, and a thread's numbers increase. Changes are numbered in order. A thread that only makes
 * queries, and repeatedly finds that other threads drew numbers in between, draws up to ORDINAL_MOST ahead, so that querying
 * threads do not contend for one counter. Numbers that it has not used by its next change are skipped.
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
    uint64_t id;            /* identifies this counter in the program */
    char before[VMM_CACHE_LINE_APART]; /* keeps neighbouring data out of the cache line that many threads write */
    _Atomic uint64_t given; /* the greatest number drawn so far */
    char after[VMM_CACHE_LINE_APART];
};

/* The numbers that a thread has drawn ahead from the counter it used last. */
struct ordinals_ahead {
    uint64_t id, next, end; /* [next, end) belongs to this thread */
    uint64_t last;          /* the last number of the last draw */
    unsigned crowded;       /* draws that had another thread's draw in between, minus those that had none */
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

/* The number of a call that makes a change. `mine` holds the calling thread's numbers. */
static inline uint64_t ordinal_of_change(struct ordinals *ordinals, struct ordinals_ahead *mine)
{
    uint64_t number = ordinal_draw(ordinals, 1);
    if (mine->id == ordinals->id) {
        mine->next = mine->end = 0;
        mine->last = number;
    }
    return number;
}

/* The number of a call that is only a query. */
uint64_t ordinal_of_question(struct ordinals *ordinals, struct ordinals_ahead *mine);

/* Need it note nothing? No other thread draws between the numbers of the only thread; numbers that it once drew ahead may
 * be left over. */
static inline bool ordinal_is_next(const struct ordinals_ahead *mine)
{
    return VMM_SINGLE_THREAD && !mine->id;
}

#endif
