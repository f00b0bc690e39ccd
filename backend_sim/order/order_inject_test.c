/* SPDX-License-Identifier: Apache-2.0 */
/* order: every request for memory fails once. The order is given up then: whatever the program does later, nothing is found, for all
 * accesses of these programs are ordered, and nothing stays behind. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "order.h"
#include "written.h"

enum { DEFAULT = 0, BLOCKING_A = 10, FREE_A = 20, FREE_B = 21, FREE_C = 22, EVENT = 5, MEMORY = 7, FLAG = 4096 };

static struct order *order;
static long live; /* allocations before a program */

static struct queue_place stream(uint64_t value)
{
    return (struct queue_place){.context = 1, .stream = value,
                                .kind = !value ? QUEUE_DEFAULT : value < FREE_A ? QUEUE_BLOCKING : QUEUE_NON_BLOCKING};
}

static struct order_work *issue(uint64_t value)
{
    const struct queue_place place = stream(value);
    return order_issue(order, &place, &(struct order_name){.what = "cuWork"});
}

static void use(struct order_work *work, enum order_use use, uint64_t memory, uint64_t first, uint64_t size)
{
    order_note(order, work, use, &(struct accesses_range){memory, first, first + size - 1});
}

static void work_on(uint64_t value, enum order_use how, uint64_t memory, uint64_t first, uint64_t size)
{
    struct order_work *work = issue(value);
    use(work, how, memory, first, size);
    order_drop(work);
}

static void begin(void)
{
    order = NULL;
    live = inject_live;
}

/* Was the order given up, if a request failed? */
static bool given_up(void)
{
    return !order || order_ended(order);
}

static bool nothing_is_left(void)
{
    struct order_found found;
    const bool finds = order && order_take_found(order, &found);
    const char *wrong = order ? order_check(order) : NULL;
    order_close(order);
    return !finds && !wrong && inject_live == live;
}

static bool opened(void)
{
    order = order_open();
    return order != NULL;
}

static bool is_whole(void)
{
    return !order_ended(order);
}

/* ---- programs ---- */

static bool streams_and_events(void)
{
    const struct queue_place a = stream(FREE_A), b = stream(FREE_B), c = stream(FREE_C);
    if (!opened())
        return false;
    work_on(FREE_A, ORDER_WRITE, MEMORY, 0, 100);
    order_record(order, &a, EVENT);
    order_wait(order, &b, EVENT);
    work_on(FREE_B, ORDER_READ, MEMORY, 10, 10);
    work_on(FREE_B, ORDER_ADD, MEMORY, 50, 100);
    order_record(order, &b, EVENT);
    order_host_waits(order, EVENT);
    work_on(FREE_A, ORDER_WRITE, MEMORY, 0, 100);
    order_forget(order, &(struct accesses_range){MEMORY, 20, 29});
    work_on(FREE_C, ORDER_WRITE, MEMORY, 20, 10);
    lanes_wait_for_all(&order->lanes, &b);
    work_on(FREE_B, ORDER_WRITE, MEMORY, 0, 200);
    lanes_pass(&order->lanes, &b, &c);
    work_on(FREE_C, ORDER_READ, MEMORY, 0, 200);
    lanes_wait_for_unknown(&order->lanes, &a);
    work_on(FREE_A, ORDER_WRITE, MEMORY, 0, 200);
    order_end_event(order, EVENT);
    return is_whole();
}

/* More blocking streams than a list of dirty ones begins with, each before and after the default stream. */
static bool blocking_streams(void)
{
    enum { STREAMS = 9 };
    if (!opened())
        return false;
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < STREAMS; i++)
            work_on(BLOCKING_A + i, ORDER_WRITE, MEMORY, 8 * i, 8);
        work_on(DEFAULT, ORDER_WRITE, MEMORY, 0, 8 * STREAMS);
    }
    const struct queue_place place = stream(DEFAULT), one = stream(BLOCKING_A), free = stream(FREE_A);
    order_record(order, &free, EVENT);
    order_wait(order, &one, EVENT);
    work_on(DEFAULT, ORDER_WRITE, MEMORY, 0, 8 * STREAMS);
    lanes_host_waits(&order->lanes, &place, QUEUE_ORDERED);
    work_on(FREE_A, ORDER_WRITE, MEMORY, 0, 8 * STREAMS);
    return is_whole();
}

static bool first_wait_of_the_default_stream(void)
{
    const struct queue_place a = stream(FREE_A), base = stream(DEFAULT), one = stream(BLOCKING_A);
    if (!opened())
        return false;
    work_on(FREE_A, ORDER_WRITE, MEMORY, 0, 8);
    order_record(order, &a, EVENT);
    order_wait(order, &base, EVENT);
    order_wait(order, &one, EVENT);
    work_on(BLOCKING_A, ORDER_READ, MEMORY, 0, 8);
    return is_whole();
}

static bool is_one(void *user, uint64_t value)
{
    (void)user;
    return value == 1;
}

static bool flags(void)
{
    const struct queue_place b = stream(FREE_B);
    if (!opened())
        return false;
    work_on(FREE_A, ORDER_WRITE, MEMORY, 0, 8);
    struct order_work *flag = issue(FREE_A);
    order_write_flag(order, flag, MEMORY, FLAG, 1);
    order_wait_flag(order, &b, MEMORY, FLAG, is_one, NULL);
    work_on(FREE_B, ORDER_READ, MEMORY, 0, 8);
    order_drop(flag);
    return is_whole();
}

/* Work that runs late, whose accesses come before what the host has learned since it was issued. */
static bool late_work(void)
{
    const struct queue_place a = stream(FREE_A);
    if (!opened())
        return false;
    work_on(FREE_A, ORDER_WRITE, MEMORY, 0, 8);
    lanes_host_waits(&order->lanes, &a, QUEUE_LANE);
    struct order_work *held = issue(FREE_C), *late = issue(FREE_B);
    if (held)
        order_runs(order, held);
    if (late)
        order_runs(order, late);
    for (int i = 0; i < 3; i++) {
        work_on(FREE_A, ORDER_WRITE, MEMORY + 1, 0, 8);
        lanes_host_waits(&order->lanes, &a, QUEUE_LANE);
    }
    for (uint64_t i = 0; i < 10; i++)
        use(late, ORDER_READ, MEMORY, 16 * i, 8);
    order_seen(order, late, true);
    order_done(order, late);
    order_done(order, held);
    order_drop(late);
    order_drop(held);
    return is_whole();
}

static bool work_that_nothing_else_delays(void)
{
    const struct queue_place a = stream(FREE_A);
    if (!opened())
        return false;
    struct order_work *first = issue(FREE_A);
    use(first, ORDER_WRITE, MEMORY, 0, 8);
    lanes_host_waits(&order->lanes, &a, QUEUE_LANE);
    struct order_work *late = issue(FREE_B);
    if (late)
        order_runs(order, late);
    work_on(FREE_A, ORDER_READ, MEMORY, 64, 8);
    lanes_host_waits(&order->lanes, &a, QUEUE_LANE);
    use(late, ORDER_WRITE, MEMORY, 0, 8);
    order_done(order, late);
    order_drop(late);
    order_drop(first);
    return is_whole();
}

/* After the refusal no call follows anything, and each may be made. */
static bool nothing_is_followed(void)
{
    const struct queue_place a = stream(FREE_A), b = stream(FREE_B);
    struct order_found found;
    order = order_open();
    struct order_work *work = issue(FREE_A), *flag = issue(FREE_A);
    inject_arm(1);
    struct order_work *none = issue(FREE_B);
    inject_disarm();
    bool good = order && work && flag && !none && order_ended(order) && !issue(FREE_A);
    use(work, ORDER_WRITE, MEMORY, 0, 8);
    use(none, ORDER_WRITE, MEMORY, 0, 8);
    order_runs(order, work);
    order_seen(order, work, true);
    order_seen(order, none, true);
    order_write_flag(order, flag, MEMORY, FLAG, 1);
    order_write_flag(order, none, MEMORY, FLAG, 1);
    order_wait_flag(order, &b, MEMORY, FLAG, is_one, NULL);
    order_record(order, &a, EVENT);
    order_wait(order, &b, EVENT);
    order_host_waits(order, EVENT);
    order_forget(order, &(struct accesses_range){MEMORY, 0, 8});
    good = good && !work->waits && !flag->flag && !order->accesses.count && !order->events.count && !order_take_found(order, &found);
    order_drop(work);
    order_drop(flag);
    order_close(order);
    return good;
}

/* ---- what is written ---- */

static struct written written;
static bool wrong_gap;

static void begin_written(void)
{
    written_open(&written);
    live = inject_live;
}

/* A refusal makes memory count as written: a gap is one that the model has. */
static void expect(uint64_t first, uint64_t last, bool may_be_gap)
{
    uint64_t at;
    wrong_gap |= written_gap(&written, MEMORY, first, last, &at) && !may_be_gap;
    wrong_gap |= written_check(&written) != NULL;
}

static bool writes_and_copies(void)
{
    wrong_gap = false;
    written_begin(&written, MEMORY, 1000);
    written_begin(&written, MEMORY + 1, 1000);
    written_note(&written, MEMORY, 100, 199);
    expect(100, 199, false);
    written_note(&written, MEMORY + 1, 40, 49);
    written_copy(&written, MEMORY, 120, MEMORY + 1, 30, 40);
    expect(100, 119, false);
    expect(130, 139, false);
    expect(160, 199, false);
    uint64_t at;
    return written_gap(&written, MEMORY, 120, 129, &at) && written_gap(&written, MEMORY, 140, 159, &at) &&
           written_gap(&written, MEMORY, 200, 999, &at) && written_gap(&written, MEMORY + 1, 0, 39, &at);
}

static bool nothing_was_invented(void)
{
    written_close(&written);
    return !wrong_gap && inject_live == live;
}

int main(void)
{
    static const struct inject_case programs[] = {
        {.name = "streams and events", .call = streams_and_events, .least = 20},
        {.name = "blocking streams", .call = blocking_streams, .least = 20},
        {.name = "waits of the default stream", .call = first_wait_of_the_default_stream, .least = 8},
        {.name = "values that streams wait for", .call = flags, .least = 8},
        {.name = "work that runs late", .call = late_work, .least = 8},
        {.name = "one piece of work that runs late", .call = work_that_nothing_else_delays, .least = 6}};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct inject_case each = programs[i];
        each.begin = begin;
        each.reported = given_up;
        each.end = nothing_is_left;
        inject_try(&each);
    }
    begin();
    tap_ok(nothing_is_followed() && inject_live == live, "once memory was exhausted, nothing is followed any more");
    inject_try(&(struct inject_case){.name = "what is written", .begin = begin_written, .call = writes_and_copies, .least = 5,
                                     .end = nothing_was_invented});
    return tap_done();
}
