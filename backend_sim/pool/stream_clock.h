/* SPDX-License-Identifier: Apache-2.0 */
/* stream_clock.h - which frees in other streams' order a stream comes after, also when they are done and gone from the queue.
 *
 *     S   free A (tick 1)   record E           free B (tick 2)
 *     T                                wait E                     T has seen S up to 1: it comes after the free of A, not of B
 *
 * A clock ticks at each mark of frees. An event keeps what its stream had seen when it was recorded; a stream that waits for the
 * event has seen that, too. Where the host's memory is out, less is known, and memory is reused later. Under the machine's lock.
 */
#ifndef SIM_STREAM_CLOCK_H
#define SIM_STREAM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "queue.h"

struct stream_clock {
    struct queue_place place;
    uint32_t id;         /* from 0, in order of creation */
    uint32_t room;
    uint64_t now;        /* ticks so far */
    uint32_t met;        /* 1 for the first stream that a pool was used on, and so on; 0: none was */
    uint64_t *seen;      /* of other clocks, by id */
    struct stream_clock *next;
};

struct stream_clocks {
    struct stream_clock *first;
    uint32_t count;
    uint32_t met;        /* how many have met a pool */
};

/* What an event has seen, by clock id. */
struct stream_clock_seen {
    uint64_t *seen;
    uint32_t count;
};

void stream_clocks_clear(struct stream_clocks *clocks);

/* The clock of a stream, made if there is none. NULL when the host's memory is out. */
struct stream_clock *stream_clock_of(struct stream_clocks *clocks, const struct queue_place *place);

/* A pool is used on the stream. Returns which of the streams it was to meet one: first 1; UINT32_MAX when the host's memory is out. */
uint32_t stream_clock_meet(struct stream_clocks *clocks, const struct queue_place *place);

/* Was a pool ever used on the stream? */
bool stream_clock_has_met(const struct stream_clocks *clocks, const struct queue_place *place);

/* An event is recorded at the place: *event is what it has seen, replacing what it had. */
void stream_clock_record(struct stream_clocks *clocks, const struct queue_place *place, struct stream_clock_seen *event);
/* A stream waits for the event. */
void stream_clock_wait(struct stream_clocks *clocks, const struct queue_place *place, const struct stream_clock_seen *event);

/* Does what is issued at the place now come after that tick of that clock? */
bool stream_clock_after(const struct stream_clocks *clocks, const struct queue_place *place, uint32_t clock, uint64_t tick);
/* Does what is issued to one of the context's streams now? */
bool stream_clock_context_after(const struct stream_clocks *clocks, uint64_t context, uint32_t clock, uint64_t tick);

#endif
