/* SPDX-License-Identifier: Apache-2.0 */
/* vector_clock.h - what a piece of work comes after: for each lane (a stream) the last of its work, counted in ticks.
 *
 *     S   1   2 record E   3                clock of T's 1: {}
 *     T       1   wait E   2   3            clock of T's 2: {S: 2}, so it comes after S's 1 and 2, not after S's 3
 *
 * A clock holds no lane that it is not after, and none whose ticks the caller drops because everything comes after them. It never
 * changes once it is made, so lanes, events and work share it by counting. NULL is the empty clock.
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
    uint64_t epoch; /* the caller's: since when nothing of it was dropped; 0 at first */
    size_t holders, count;
    struct vector_tick tick[]; /* by lane, rising */
};

/* The tick of a lane; 0: the clock is not after it. */
uint64_t vector_clock_of(const struct vector_clock *clock, uint64_t lane);

/* Is this tick of no use, because everything to come is after it? */
typedef bool (*vector_clock_drops)(void *user, const struct vector_tick *tick);

/* Sets *made to a clock that is after both and after the tick, without what drops drops; the caller holds it once. False when the
 * host's memory is exhausted. */
bool vector_clock_join(const struct vector_clock *a, const struct vector_clock *b, const struct vector_tick *tick,
                       vector_clock_drops drops, void *user, struct vector_clock **made);

static inline struct vector_clock *vector_clock_hold(struct vector_clock *clock)
{
    if (clock)
        clock->holders++;
    return clock;
}

/* Frees it with its last holder. */
void vector_clock_drop(struct vector_clock *clock);

#endif
