/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h - the order that a program establishes between its work: a lane for each stream, and the work that the host
 * knows to be done.
 *
 *     stream S     fill 1    record E 2                 a lane's ticks count its work, records and waits
 *     stream T                wait E 1     copy 2       copy comes after {T: 1, S: 2}
 *     host                                 synchronise T: the host knows {T: 2, S: 2}; all that is issued later comes after these
 *
 * All host threads count as one: if one thread has waited for work, every later call of any thread is ordered after
 * it, because threads can synchronise in ways that cannot be observed. Work on the default stream and on a blocking
 * stream of one context is ordered by issue, as in queue.h. The caller does all locking. When host memory runs out,
 * exhausted is set and the contents are invalid.
 *
 * Work may also be ordered after something unknown, if it waits for a value that has not been written yet: then its
 * clock has a tick of LANES_UNKNOWN. Once the host knows such work, it knows everything.
 *
 * Invariants (lanes_check):
 *     clock of a lane     holds no tick that a lane never had
 *     known               rises from its first pair to the last, and its last is at most now
 *     dirty of a context are its blocking lanes with work that its default stream is not yet ordered after
 */
#ifndef SIM_LANES_H
#define SIM_LANES_H

#include "addrmap.h"
#include "queue.h"
#include "vector_clock.h"

/* From that epoch on the host knows a lane's work up to the tick. */
struct lane_known {
    uint64_t tick, epoch;
};

struct order_lane {
    struct queue_place place;
    uint64_t id, now;           /* now: the tick of its last work */
    struct vector_clock *clock; /* what its next work is ordered after, besides its own work and what the host knows */
    struct lane_known *known;   /* the last one, and while work waits to run, those since the oldest such work was issued */
    size_t knowns, room;
    size_t holders;             /* the table of lanes, lists, and the accesses of its work */
    bool dirty;
    struct order_lane *next_in_bucket, *next, *before;
};

struct lane_context {
    uint64_t value;
    struct order_lane *base; /* the default stream; NULL: not used yet */
    struct vector_clock *after_base; /* the clock after base's tick at that time; many streams share it */
    uint64_t after_tick;
    struct order_lane **dirty;
    size_t count, room;
    struct lane_context *next;
};

enum { LANES_BUCKETS = 1024, LANES_FEW = 256, LANES_UNKNOWN = 0 /* the number of no lane */ };

struct lanes {
    struct order_lane *bucket[LANES_BUCKETS], *first;
    struct addrmap by_id;
    struct lane_context *contexts;
    uint64_t ids, epoch;
    uint64_t waiting_since; /* the epoch in which the oldest work was issued that may still show accesses; UINT64_MAX: none */
    uint64_t unknowns, unknowns_known; /* the number of waits for something unknown, and which of them the host knows */
    size_t count, sweep_at;
    bool exhausted;
};

void lanes_open(struct lanes *lanes);
void lanes_close(struct lanes *lanes);

/* Work, a record or a wait is issued: returns its lane, whose `now` is its tick. NULL when exhausted. */
struct order_lane *lanes_issue(struct lanes *lanes, const struct queue_place *place);

/* The clock of an event that is recorded in the stream, with one reference. NULL when exhausted. */
struct vector_clock *lanes_record(struct lanes *lanes, const struct queue_place *place);
/* Orders everything issued in the stream from now on after the clock. */
void lanes_wait(struct lanes *lanes, const struct queue_place *place, const struct vector_clock *clock);
/* The same for everything issued so far in another stream, or anywhere. */
void lanes_pass(struct lanes *lanes, const struct queue_place *from, const struct queue_place *to);
void lanes_wait_for_all(struct lanes *lanes, const struct queue_place *place);
/* And for something unknown. */
void lanes_wait_for_unknown(struct lanes *lanes, const struct queue_place *place);
/* Is work with that clock ordered after something unknown? */
static inline bool lanes_unknown(const struct lanes *lanes, const struct vector_clock *clock)
{
    return clock && clock->count && clock->tick[0].lane == LANES_UNKNOWN && clock->tick[0].tick > lanes->unknowns_known;
}

/* The host has waited for work of that scope, for an event, or for one piece of work and everything before it. */
void lanes_host_waits(struct lanes *lanes, const struct queue_place *place, enum queue_scope scope);
void lanes_host_knows(struct lanes *lanes, const struct vector_clock *clock);
void lanes_host_knows_tick(struct lanes *lanes, struct order_lane *lane, uint64_t tick, const struct vector_clock *clock);
void lanes_host_knows_all(struct lanes *lanes);

/* Did the host know this when that epoch ended? */
bool lane_known_in(const struct order_lane *lane, uint64_t tick, uint64_t epoch);
/* Is everything that may still show an access ordered after it? */
static inline bool lane_settled(const struct lanes *lanes, const struct order_lane *lane, uint64_t tick)
{
    return lane_known_in(lane, tick, lanes->waiting_since < lanes->epoch ? lanes->waiting_since : lanes->epoch);
}

void lane_drop(struct order_lane *lane);

const char *lanes_check(const struct lanes *lanes);

#endif
