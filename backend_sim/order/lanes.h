/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h - the order that a program gives its work: a lane for each stream, and what the host knows to be done.
 *
 *     stream S     fill 1    record E 2                 a lane's ticks count its work, records and waits
 *     stream T                wait E 1     copy 2       copy comes after {T: 1, S: 2}
 *     host                                 synchronise T: the host knows {T: 2, S: 2}; all that is issued later comes after these
 *
 * The host is one thread here: what one thread has waited for, every later call of any thread comes after, because threads can tell
 * each other in ways that cannot be seen. Work on the default stream and on a blocking stream of one context is ordered by issue, as
 * in queue.h. The caller does all locking. Where the host's memory is exhausted, exhausted is set, and nothing here holds any more.
 *
 * Work may also come after something that is not known, for it waits for a value that nothing has written yet: then its clock has a
 * tick of LANES_UNKNOWN. Once the host knows such work, it knows everything.
 *
 * Invariants (lanes_check):
 *     clock of a lane     holds no tick that a lane never had
 *     known               rises from its first pair to the last, and its last is at most now
 *     dirty of a context  are its blocking lanes with work that its default stream has not come after yet
 */
#ifndef SIM_LANES_H
#define SIM_LANES_H

#include "addrmap.h"
#include "queue.h"
#include "vector_clock.h"

/* From that epoch on the host knew a lane's work up to the tick. */
struct lane_known {
    uint64_t tick, epoch;
};

struct order_lane {
    struct queue_place place;
    uint64_t id, now;           /* now: the tick of its last work */
    struct vector_clock *clock; /* what its next work comes after, beside its own and what the host knows */
    struct lane_known *known;   /* the last, and while work waits to run, those since the oldest such work was issued */
    size_t knowns, room;
    size_t holders;             /* the table of lanes, lists, and what its work accessed */
    bool dirty;
    struct order_lane *next_in_bucket, *next, *before;
};

struct lane_context {
    uint64_t value;
    struct order_lane *base; /* the default stream; NULL: not used yet */
    struct vector_clock *after_base; /* what comes after base's tick as of that time: many streams share it */
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
    uint64_t unknowns, unknowns_known; /* how often work waited for something unknown, and which of these waits the host knows */
    size_t count, sweep_at;
    bool exhausted;
};

void lanes_open(struct lanes *lanes);
void lanes_close(struct lanes *lanes);

/* Work, a record or a wait is issued at the place: returns its lane, whose now is its tick. NULL when exhausted. */
struct order_lane *lanes_issue(struct lanes *lanes, const struct queue_place *place);

/* The clock of an event that is recorded at the place, held once. NULL when exhausted. */
struct vector_clock *lanes_record(struct lanes *lanes, const struct queue_place *place);
/* What is issued at the place from now on comes after the clock. */
void lanes_wait(struct lanes *lanes, const struct queue_place *place, const struct vector_clock *clock);
/* The same for all that was issued at another place so far, or anywhere. */
void lanes_pass(struct lanes *lanes, const struct queue_place *from, const struct queue_place *to);
void lanes_wait_for_all(struct lanes *lanes, const struct queue_place *place);
/* And for something that is not known. */
void lanes_wait_for_unknown(struct lanes *lanes, const struct queue_place *place);
/* Does work with that clock come after something that is not known? */
static inline bool lanes_unknown(const struct lanes *lanes, const struct vector_clock *clock)
{
    return clock && clock->count && clock->tick[0].lane == LANES_UNKNOWN && clock->tick[0].tick > lanes->unknowns_known;
}

/* The host has waited for work of that scope, or for an event, or for one piece of work with all before it. */
void lanes_host_waits(struct lanes *lanes, const struct queue_place *place, enum queue_scope scope);
void lanes_host_knows(struct lanes *lanes, const struct vector_clock *clock);
void lanes_host_knows_tick(struct lanes *lanes, struct order_lane *lane, uint64_t tick, const struct vector_clock *clock);
void lanes_host_knows_all(struct lanes *lanes);

/* Did the host know this when that epoch ended? */
bool lane_known_in(const struct order_lane *lane, uint64_t tick, uint64_t epoch);
/* Does all that may still show an access come after it? */
static inline bool lane_settled(const struct lanes *lanes, const struct order_lane *lane, uint64_t tick)
{
    return lane_known_in(lane, tick, lanes->waiting_since < lanes->epoch ? lanes->waiting_since : lanes->epoch);
}

void lane_drop(struct order_lane *lane);

const char *lanes_check(const struct lanes *lanes);

#endif
