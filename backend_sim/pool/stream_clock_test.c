/* SPDX-License-Identifier: Apache-2.0 */
/* The order of streams through events, also transitively. */
#include "stream_clock.h"

#include "heap.h"
#include "tap.h"

static struct queue_place stream(uint64_t number, enum queue_kind kind)
{
    return (struct queue_place){.context = 1, .stream = number, .kind = kind};
}

/* One tick of the stream's clock, as for a free. */
static uint64_t tick(struct stream_clocks *clocks, const struct queue_place *place, uint32_t *id)
{
    struct stream_clock *clock = stream_clock_of(clocks, place);
    *id = clock->id;
    return ++clock->now;
}

int main(void)
{
    struct stream_clocks clocks = {0};
    struct stream_clock_seen event = {0}, second = {0};
    struct queue_place a = stream(1, QUEUE_NON_BLOCKING), b = stream(2, QUEUE_NON_BLOCKING), c = stream(3, QUEUE_NON_BLOCKING);
    struct queue_place with = stream(4, QUEUE_BLOCKING), own = stream(0, QUEUE_DEFAULT);
    uint32_t id, other;
    uint64_t first = tick(&clocks, &a, &id);
    tap_ok(stream_clock_after(&clocks, &a, id, first), "a stream comes after what it did");
    tap_ok(!stream_clock_after(&clocks, &b, id, first), "another stream does not");
    struct queue_place thread = a;
    thread.thread = 9;
    tap_ok(!stream_clock_after(&clocks, &thread, id, first), "nor another thread's stream of the same number");
    tap_ok(stream_clock_of(&clocks, &thread) != stream_clock_of(&clocks, &a), "which has a separate clock");
    stream_clock_record(&clocks, &a, &event);
    uint64_t later = tick(&clocks, &a, &id);
    stream_clock_wait(&clocks, &b, &event);
    tap_ok(stream_clock_after(&clocks, &b, id, first), "a stream that waits for an event comes after what was before it");
    tap_ok(!stream_clock_after(&clocks, &b, id, later), "and not after what came behind it");
    stream_clock_record(&clocks, &b, &second);
    stream_clock_wait(&clocks, &c, &second);
    tap_ok(stream_clock_after(&clocks, &c, id, first), "an event carries what its stream waited for");
    uint64_t blocking = tick(&clocks, &with, &other);
    tap_ok(stream_clock_after(&clocks, &own, other, blocking), "the default stream comes after blocking streams");
    tap_ok(!stream_clock_after(&clocks, &own, id, later), "and not after others");
    tap_u64(stream_clock_meet(&clocks, &c), 1, "the first stream to meet a pool");
    tap_u64(stream_clock_meet(&clocks, &a), 2, "is before one that had its clock earlier");
    tap_u64(stream_clock_meet(&clocks, &c), 1, "and stays so");
    struct queue_place foreign = stream(5, QUEUE_NON_BLOCKING);
    foreign.context = 2;
    tap_ok(stream_clock_has_met(&clocks, &c) && !stream_clock_has_met(&clocks, &b) && !stream_clock_has_met(&clocks, &foreign),
           "a stream that no pool was used on has met none, nor has one without a clock");
    tap_ok(stream_clock_context_after(&clocks, 1, id, later), "a context comes after what one of its streams did");
    tap_ok(!stream_clock_context_after(&clocks, 2, id, first), "another context does not");
    stream_clock_wait(&clocks, &foreign, &event);
    tap_ok(stream_clock_context_after(&clocks, 2, id, first) && !stream_clock_context_after(&clocks, 2, id, later),
           "until one of its streams has waited for it, and only for that");
    heap.free(event.seen);
    heap.free(second.seen);
    stream_clocks_clear(&clocks);
    return tap_done();
}
