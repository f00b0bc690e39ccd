/* SPDX-License-Identifier: Apache-2.0 */
/* lanes: the order of work on the default stream, regardless of which of a context's streams had work first. */
#include "lanes.h"

#include "tap.h"

enum { STREAMS = 5 };

static struct lanes lanes;

static struct order_lane *issue(uint64_t stream, enum queue_kind kind)
{
    const struct queue_place place = {.context = 1, .stream = stream, .kind = kind};
    struct order_lane *lane = lanes_issue(&lanes, &place);
    if (!lane)
        tap_bail("the host's memory is exhausted");
    return lane;
}

/* Is the lane's next work ordered after all work of these streams so far? */
static bool is_after(const struct order_lane *lane, struct order_lane *const *streams)
{
    bool after = true;
    for (int i = 0; i < STREAMS; i++)
        after = after && vector_clock_of(lane->clock, streams[i]->id) == streams[i]->now;
    return after;
}

/* The streams are numbered in the order of their first work; later they have work in another one. */
static void test_default(void)
{
    static const int orders[][STREAMS] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}};
    struct order_lane *streams[STREAMS];
    lanes_open(&lanes);
    for (uint64_t i = 0; i < STREAMS; i++)
        streams[i] = issue(100 + i, QUEUE_BLOCKING);
    const struct order_lane *base = issue(1, QUEUE_DEFAULT);
    tap_ok(is_after(base, streams), "the default stream comes after all blocking streams of its context");
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        for (int i = 0; i < STREAMS; i++)
            issue(100 + (uint64_t)orders[k][i], QUEUE_BLOCKING);
        tap_ok(!is_after(base, streams), "order %zu: not after their later work", k);
        issue(1, QUEUE_DEFAULT);
        tap_ok(is_after(base, streams), "order %zu: until it has work again", k);
        tap_ok(!lanes_check(&lanes), "order %zu: the lanes are sound", k);
    }
    const struct order_lane *beside = issue(200, QUEUE_NON_BLOCKING);
    tap_ok(!vector_clock_of(beside->clock, base->id) && !vector_clock_of(base->clock, beside->id), "a non-blocking stream is beside it");
    lanes_close(&lanes);
}

int main(void)
{
    test_default();
    return tap_done();
}
