/* SPDX-License-Identifier: Apache-2.0 */
/* stream_clock.h - determines which frees in other streams a stream is ordered after, even if they are done and have left the
 * queue.
 *
 *     S   free A (tick 1)   record E           free B (tick 2)
 *     T                                wait E                     T has seen S up to 1: it comes after the free of A, not of B
 *
 * A clock ticks at each mark of frees. An event stores the clocks that its stream had seen when it was recorded; a
 * stream that waits for the event has then seen them, too. When host memory is exhausted, less is known, and memory
 * is reused later. Under the machine's lock.
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
    uint32_t met;        /* 1 for the first stream on which a pool was used, etc.; 0: none was */
    uint64_t *seen;      /* of other clocks, by id */
    struct stream_clock *next;
};

struct stream_clocks {
    struct stream_clock *first;
    uint32_t count;
    uint32_t met;        /* the number of streams on which a pool was used */
};

/* The ticks that an event has seen, by clock id. */
struct stream_clock_seen {
    uint64_t *seen;
    uint32_t count;
};

void stream_clocks_clear(struct stream_clocks *clocks);

/* The clock of a stream, created if necessary. NULL when the host's memory is out. */
struct stream_clock *stream_clock_of(struct stream_clocks *clocks, const struct queue_place *place);

/* A pool is used on the stream. Returns the stream's number in the order of first use, from 1; UINT32_MAX when host
 * memory is exhausted. */
uint32_t stream_clock_meet(struct stream_clocks *clocks, const struct queue_place *place);

/* Was a pool ever used on the stream? */
bool stream_clock_has_met(const struct stream_clocks *clocks, const struct queue_place *place);

/* An event is recorded in the stream: *event is replaced by the clocks that the stream has seen. */
void stream_clock_record(struct stream_clocks *clocks, const struct queue_place *place, struct stream_clock_seen *event);
/* A stream waits for the event. */
void stream_clock_wait(struct stream_clocks *clocks, const struct queue_place *place, const struct stream_clock_seen *event);

/* Is work issued in the stream now ordered after that tick of that clock? */
bool stream_clock_after(const struct stream_clocks *clocks, const struct queue_place *place, uint32_t clock, uint64_t tick);
/* Is work issued in any of the context's streams now? */
bool stream_clock_context_after(const struct stream_clocks *clocks, uint64_t context, uint32_t clock, uint64_t tick);

#endif
