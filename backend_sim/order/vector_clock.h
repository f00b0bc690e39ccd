/* SPDX-License-Identifier: Apache-2.0 */
/* vector_clock.h - what a piece of work is ordered after: for each lane (a stream) a tick, the number of its last such work.
 *
 *     S   1   2 record E   3                clock of T's 1: {}
 *     T       1   wait E   2   3            clock of T's 2: {S: 2}, so it is after S's 1 and 2, not after S's 3
 *
 * A clock omits lanes that it is not after, and lanes whose ticks the caller drops because everything is ordered
 * after them. It is immutable, so lanes, events and work share it by reference counting. NULL is the empty clock.
 */
#ifndef SIM_VECTOR_CLOCK_H
#define SIM_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vector_tick {
    uint64_t lane, tick;
};

struct vector_clock {
    uint64_t epoch; /* for the caller: the time since which nothing of it was dropped; initially 0 */
    size_t holders, count;
    struct vector_tick tick[]; /* in the order of lanes */
};

/* The tick of a lane; 0: the clock is not after it. */
uint64_t vector_clock_of(const struct vector_clock *clock, uint64_t lane);

/* Can this tick be dropped, because everything to come is after it? */
typedef bool (*vector_clock_drops)(void *user, const struct vector_tick *tick);

/* Sets *made to a clock that is after both and after the tick, without the ticks that `drops` drops; the caller gets
 * one reference. False when the host's memory is exhausted. */
bool vector_clock_join(const struct vector_clock *a, const struct vector_clock *b, const struct vector_tick *tick,
                       vector_clock_drops drops, void *user, struct vector_clock **made);

static inline struct vector_clock *vector_clock_hold(struct vector_clock *clock)
{
    if (clock)
        clock->holders++;
    return clock;
}

/* Drops a reference; the last one frees it. */
void vector_clock_drop(struct vector_clock *clock);

#endif
