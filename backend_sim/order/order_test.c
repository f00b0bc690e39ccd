/* SPDX-License-Identifier: Apache-2.0 */
/* order: the order established by streams, events, the default stream and the host's waits; work that shows its
 * accesses late; values that streams wait for; and random programs compared with a model that knows the complete
 * order. */
#include "order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "tap.h"

enum { CONTEXT = 1, DEFAULT = 0, BLOCKING_A = 10, BLOCKING_B = 11, FREE_A = 20, FREE_B = 21, FREE_C = 22 };

static struct queue_place stream(uint64_t value)
{
    return (struct queue_place){.context = CONTEXT, .stream = value,
                                .kind = !value ? QUEUE_DEFAULT : value < FREE_A ? QUEUE_BLOCKING : QUEUE_NON_BLOCKING};
}

static uint64_t calls;

static struct order_work *issue(struct order *order, uint64_t value)
{
    const struct queue_place place = stream(value);
    const struct order_name name = {.what = "cuWork", .call = ++calls};
    return order_issue(order, &place, &name);
}

static void access(struct order *order, struct order_work *work, enum order_use use, uint64_t first, uint64_t size)
{
    order_note(order, work, use, &(struct accesses_range){7, first, first + size - 1});
}

/* Work that accesses one range. */
static void work_on(struct order *order, uint64_t value, enum order_use use, uint64_t first, uint64_t size)
{
    struct order_work *work = issue(order, value);
    access(order, work, use, first, size);
    order_drop(work);
}

static size_t finds(struct order *order)
{
    size_t count = 0;
    struct order_found found;
    while (order_take_found(order, &found))
        count++;
    return count;
}

static void test_streams(void)
{
    static const struct {
        uint64_t first, second;
        bool ordered;
    } pairs[] = {{FREE_A, FREE_B, false},     {FREE_A, FREE_A, true},       {BLOCKING_A, BLOCKING_B, false},
                 {BLOCKING_A, DEFAULT, true}, {DEFAULT, BLOCKING_A, true}, {DEFAULT, FREE_A, false},
                 {FREE_A, DEFAULT, false},    {DEFAULT, DEFAULT, true}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct order *order = order_open();
        work_on(order, pairs[i].first, ORDER_WRITE, 0, 100);
        work_on(order, pairs[i].second, ORDER_READ, 99, 10);
        tap_ok((finds(order) == 0) == pairs[i].ordered && !order_check(order), "stream %" PRIu64 ", then stream %" PRIu64 ": %s",
               pairs[i].first, pairs[i].second, pairs[i].ordered ? "ordered" : "not ordered");
        order_close(order);
    }
    struct order *order = order_open();
    work_on(order, BLOCKING_A, ORDER_WRITE, 0, 4);
    work_on(order, DEFAULT, ORDER_READ, 100, 4);
    work_on(order, BLOCKING_B, ORDER_READ, 0, 4);
    tap_ok(finds(order) == 0, "work on the default stream orders blocking streams before and after it");
    work_on(order, FREE_A, ORDER_READ, 0, 4);
    tap_ok(finds(order) == 1, "and no other");
    order_close(order);
}

static void test_uses(void)
{
    static const bool meet[3][3] = {[ORDER_READ] = {false, true, true}, [ORDER_WRITE] = {true, true, true},
                                    [ORDER_ADD] = {true, true, false}};
    for (int first = ORDER_READ; first <= ORDER_ADD; first++)
        for (int second = ORDER_READ; second <= ORDER_ADD; second++) {
            struct order *order = order_open();
            work_on(order, FREE_A, (enum order_use)first, 10, 10);
            work_on(order, FREE_B, (enum order_use)second, 19, 1);
            tap_ok(finds(order) == meet[first][second], "use %d against use %d", first, second);
            order_close(order);
        }
    struct order *order = order_open();
    struct order_found found;
    work_on(order, FREE_A, ORDER_WRITE, 10, 10);
    work_on(order, FREE_B, ORDER_READ, 0, 10);
    work_on(order, FREE_B, ORDER_READ, 20, 10);
    tap_ok(finds(order) == 0, "bytes beside it do not count");
    work_on(order, FREE_B, ORDER_WRITE, 15, 100);
    tap_ok(order_take_found(order, &found) && found.range.first == 15 && found.range.last == 19 &&
               found.side[0].use == ORDER_WRITE && found.side[1].use == ORDER_WRITE &&
               found.side[0].name.call < found.side[1].name.call,
           "a finding has the bytes of both, the earlier work first");
    order_close(order);
}

static void test_events(void)
{
    struct order *order = order_open();
    const struct queue_place a = stream(FREE_A), b = stream(FREE_B);
    work_on(order, FREE_A, ORDER_WRITE, 0, 4);
    enum { EVENT = 5 };
    order_wait(order, &b, EVENT);
    order_host_waits(order, EVENT);
    order_record(order, &b, EVENT);
    order_record(order, &a, EVENT);
    work_on(order, FREE_A, ORDER_WRITE, 8, 4);
    order_wait(order, &b, EVENT);
    work_on(order, FREE_B, ORDER_READ, 0, 4);
    tap_ok(finds(order) == 0, "a wait for an event orders what came before the record");
    work_on(order, FREE_B, ORDER_READ, 8, 4);
    tap_ok(finds(order) == 1, "and not what came after it");
    order_host_waits(order, EVENT);
    work_on(order, BLOCKING_A, ORDER_WRITE, 0, 1);
    tap_ok(finds(order) == 1, "the host's wait for the event does not cover the read in the other stream");
    lanes_host_waits(&order->lanes, &b, QUEUE_LANE);
    work_on(order, BLOCKING_B, ORDER_READ, 9, 1);
    tap_ok(finds(order) == 1, "nor does its wait for that stream cover what that stream did not wait for");
    lanes_host_waits(&order->lanes, &a, QUEUE_CONTEXT);
    work_on(order, FREE_A, ORDER_WRITE, 0, 100);
    tap_ok(finds(order) == 0 && !order_check(order), "a wait for the context covers all");
    order_end_event(order, EVENT);
    order_end_event(order, EVENT);
    work_on(order, BLOCKING_A, ORDER_WRITE, 0, 1);
    order_wait(order, &b, EVENT);
    work_on(order, FREE_B, ORDER_READ, 0, 1);
    tap_ok(finds(order) != 0, "an event that has ended orders nothing");
    order_close(order);
}

/* The writer runs after the reader was issued, has read and was waited for. */
static void test_late(void)
{
    struct order *order = order_open();
    const struct queue_place b = stream(FREE_B);
    struct order_work *late = issue(order, FREE_A);
    order_runs(order, late);
    work_on(order, FREE_B, ORDER_READ, 0, 4);
    lanes_host_waits(&order->lanes, &b, QUEUE_LANE);
    struct order_work *after = issue(order, FREE_A);
    order_runs(order, after);
    access(order, late, ORDER_WRITE, 0, 2);
    access(order, late, ORDER_WRITE, 2, 2);
    order_done(order, late);
    tap_ok(finds(order) == 1, "work that runs late meets what the host has waited for meanwhile");
    access(order, after, ORDER_WRITE, 0, 4);
    order_done(order, after);
    tap_ok(finds(order) == 0 && !order_check(order), "work issued after that wait does not");
    order_drop(late);
    order_drop(after);
    order_close(order);
}

static bool is_value(void *user, uint64_t value)
{
    return value == *(uint64_t *)user;
}

static void test_flags(void)
{
    uint64_t wanted = 1;
    for (int known = 0; known < 2; known++) {
        struct order *order = order_open();
        const struct queue_place b = stream(FREE_B);
        work_on(order, FREE_A, ORDER_WRITE, 0, 4);
        struct order_work *flag = issue(order, FREE_A);
        if (known)
            order_write_flag(order, flag, 7, 64, 1);
        work_on(order, FREE_A, ORDER_WRITE, 8, 4);
        order_wait_flag(order, &b, 7, 64, is_value, &wanted);
        work_on(order, FREE_B, ORDER_READ, 0, 4);
        tap_ok(finds(order) == 0, "a wait for a value that %s orders what came before", known ? "was written" : "is unknown");
        work_on(order, FREE_B, ORDER_READ, 8, 4);
        tap_ok(finds(order) == (size_t)known, "%s", known ? "and not what came after it" : "and everything after it");
        lanes_host_waits(&order->lanes, &b, QUEUE_LANE);
        work_on(order, BLOCKING_A, ORDER_READ, 8, 4);
        tap_ok(finds(order) == (size_t)known, "a wait of the host for that stream also covers it");
        order_drop(flag);
        order_close(order);
    }
}

static void test_seen(void)
{
    struct order *order = order_open();
    work_on(order, FREE_A, ORDER_WRITE, 0, 4);
    struct order_work *seen = issue(order, FREE_A);
    access(order, seen, ORDER_WRITE, 8, 4);
    order_seen(order, seen, false);
    work_on(order, FREE_B, ORDER_READ, 0, 4);
    tap_ok(finds(order) == 0, "work whose turn is seen proves what came before");
    work_on(order, FREE_B, ORDER_READ, 8, 4);
    tap_ok(finds(order) == 1, "and not itself");
    order_seen(order, seen, true);
    work_on(order, BLOCKING_A, ORDER_READ, 8, 4);
    tap_ok(finds(order) == 0, "unless it is seen to be done");
    order_drop(seen);
    order_close(order);
}

/* An endless series of streams, each waited for: their lanes are dropped, together with their accesses. */
static void test_sweeps(void)
{
    enum { STREAMS = 5000 };
    struct order *order = order_open();
    size_t lanes = 0, parts = 0;
    work_on(order, FREE_A, ORDER_WRITE, UINT64_C(1) << 33, 8);
    for (uint64_t i = 0; i < STREAMS; i++) {
        const struct queue_place place = stream(1000 + i);
        work_on(order, 1000 + i, ORDER_WRITE, 0, 8);
        order_note(order, NULL, ORDER_WRITE, &(struct accesses_range){7, 0, 0});
        lanes_host_waits(&order->lanes, &place, QUEUE_LANE);
        lanes = order->lanes.count > lanes ? order->lanes.count : lanes;
        parts = order->accesses.count > parts ? order->accesses.count : parts;
    }
    const struct queue_place a = stream(FREE_C);
    for (uint64_t i = 0; i < STREAMS; i++) {
        work_on(order, FREE_C, ORDER_WRITE, 16 * i, 8);
        lanes_host_waits(&order->lanes, &a, QUEUE_LANE);
        parts = order->accesses.count > parts ? order->accesses.count : parts;
    }
    tap_ok(lanes <= 2 * LANES_FEW && parts <= ACCESSES_PARTS_FEW && !order_check(order), "%zu lanes and %zu parts at most are kept",
           lanes, parts);
    work_on(order, FREE_B, ORDER_READ, 0, 16 * STREAMS);
    tap_ok(finds(order) == 0, "dropped work is known to be done");
    work_on(order, FREE_B, ORDER_READ, UINT64_C(1) << 33, 8);
    tap_ok(finds(order) == 1, "work that the host has not waited for is kept");
    order_close(order);
}

/* More parts than the limit, all of work that the host does not know: all are dropped. */
static void test_too_many(void)
{
    struct order *order = order_open();
    struct order_work *work = issue(order, FREE_A);
    for (uint64_t i = 0; i <= ACCESSES_PARTS_MOST + 1; i++)
        order_note(order, work, ORDER_WRITE, &(struct accesses_range){i % 3, 16 * i, 16 * i + 7});
    tap_ok(order->accesses.count < ACCESSES_PARTS_MOST && !order_ended(order) && !order_check(order), "too many parts are forgotten: %zu are left",
           order->accesses.count);
    order_drop(work);
    work_on(order, FREE_B, ORDER_WRITE, 0, 8);
    tap_ok(finds(order) == 0, "and nothing is found of them");
    order_close(order);
}

static void test_ranges(void)
{
    struct order *order = order_open();
    work_on(order, FREE_A, ORDER_WRITE, UINT64_MAX - 7, 8);
    work_on(order, FREE_A, ORDER_WRITE, 0, 8);
    work_on(order, FREE_B, ORDER_READ, UINT64_MAX - 1, 2);
    tap_ok(finds(order) == 1 && !order_check(order), "the last byte of all");
    struct order_work *both = issue(order, FREE_A);
    access(order, both, ORDER_READ, 100, 8);
    access(order, both, ORDER_ADD, 104, 8);
    access(order, both, ORDER_READ, 108, 8);
    access(order, both, ORDER_WRITE, 100, 4);
    tap_ok(finds(order) == 0 && !order_check(order), "work does not conflict with itself");
    order_drop(both);
    order_forget(order, &(struct accesses_range){7, 102, 110});
    order_forget(order, &(struct accesses_range){6, 0, 1000});
    order_forget(order, &(struct accesses_range){8, 0, 1000});
    work_on(order, FREE_B, ORDER_WRITE, 102, 9);
    tap_ok(finds(order) == 0 && !order_check(order), "another object at the addresses conflicts with nothing");
    work_on(order, FREE_B, ORDER_WRITE, 100, 2);
    tap_ok(finds(order) != 0, "the bytes before it do");
    order_close(order);
}

/* More ranges than are collected, and ranges that continue one of them at either end. */
static void test_collected(void)
{
    struct order *order = order_open();
    struct order_work *late = issue(order, FREE_A);
    order_runs(order, late);
    for (uint64_t i = 0; i < 12; i++)
        access(order, late, ORDER_WRITE, 1000 + 100 * i, 8);
    access(order, late, ORDER_WRITE, 2092, 8);
    access(order, late, ORDER_READ, 2092, 8);
    order_note(order, late, ORDER_WRITE, &(struct accesses_range){8, 2092, 2099});
    order_done(order, late);
    order_done(order, late);
    order_drop(late);
    bool all = !order_check(order);
    for (uint64_t i = 0; i < 12; i++) {
        work_on(order, FREE_B, ORDER_READ, 1000 + 100 * i, 1);
        all &= finds(order) == 1;
    }
    work_on(order, FREE_B, ORDER_READ, 2092, 1);
    tap_ok(all && finds(order) == 1, "all stretches that late work accessed are noted");
    order_close(order);
}

/* Eight stretches are collected, each of which may go on; a ninth has the oldest one noted. */
static void test_ninth(void)
{
    struct order *order = order_open();
    struct order_work *late = issue(order, FREE_A);
    order_runs(order, late);
    for (uint64_t i = 0; i < 8; i++)
        access(order, late, ORDER_WRITE, 100 * i, 8);
    for (uint64_t i = 0; i < 8; i++)
        access(order, late, ORDER_WRITE, 100 * i + 8, 8);
    tap_ok(!order->accesses.count, "eight stretches that go on are collected: %zu parts are noted", order->accesses.count);
    access(order, late, ORDER_WRITE, 800, 8);
    tap_ok(order->accesses.count == 1, "a ninth has one of them noted: %zu", order->accesses.count);
    work_on(order, FREE_B, ORDER_READ, 100, 700);
    size_t others = finds(order);
    work_on(order, FREE_B, ORDER_READ, 15, 1);
    tap_ok(!others && finds(order) == 1, "which is the oldest, as far as it went");
    order_done(order, late);
    order_drop(late);
    order_close(order);
}

static void test_everything(void)
{
    const struct queue_place a = stream(FREE_A), b = stream(FREE_B), never = stream(FREE_B + 1);
    struct queue_place other = a;
    other.device = 1;
    for (int way = 0; way < 4; way++) {
        struct order *order = order_open();
        work_on(order, FREE_A, ORDER_WRITE, 0, 8);
        if (way == 0)
            lanes_wait_for_all(&order->lanes, &b);
        else if (way == 1)
            lanes_host_knows_all(&order->lanes);
        else
            lanes_host_waits(&order->lanes, way == 2 ? &a : &other, QUEUE_DEVICE);
        lanes_host_waits(&order->lanes, &never, QUEUE_LANE);
        lanes_host_waits(&order->lanes, &never, QUEUE_ORDERED);
        lanes_host_knows(&order->lanes, NULL);
        work_on(order, FREE_B, ORDER_READ, 0, 8);
        tap_ok(finds(order) == (way == 3) && !order_check(order), "%s",
               way == 0 ? "a stream that waits for all" : way == 1 ? "a host that knows all" : way == 2 ? "a wait for the device" : "not one for another device");
        order_close(order);
    }
    order_close(NULL);
    order_drop(NULL);
}

/* Findings are kept until they are taken, each pair once, up to the limit. */
static void test_found(void)
{
    struct order *order = order_open();
    for (uint32_t i = 0; i < 2 * ORDER_FOUND_MOST; i++)
        order_add_unwritten(order, &(struct order_name){.what = "cuWork", .stack = 100 + i}, &(struct accesses_range){7, i, i});
    const struct order_name name = {.what = "cuWork", .stack = 3};
    struct order_found found;
    uint64_t expected = 0;
    for (; expected < 10 && order_take_found(order, &found) && found.range.first == expected; expected++)
        order_add_unwritten(order, &(struct order_name){.what = "cuWork", .stack = 1000 + (uint32_t)expected},
                            &(struct accesses_range){7, ORDER_FOUND_MOST + expected, ORDER_FOUND_MOST + expected});
    for (; order_take_found(order, &found) && found.range.first == expected; expected++)
        ;
    tap_ok(expected == ORDER_FOUND_MOST + 10 && !finds(order), "%d findings wait at most, and the oldest is taken first: %" PRIu64 " of %d",
           ORDER_FOUND_MOST, expected, ORDER_FOUND_MOST + 10);
    order_add_unwritten(order, &name, &(struct accesses_range){7, 0, 0});
    order_add_unwritten(order, &name, &(struct accesses_range){7, 8, 8});
    tap_ok(order_take_found(order, &found) && found.unwritten && found.range.first == 0 && !order_take_found(order, &found),
           "the same place is found once");
    unsigned reported = 0;
    for (uint32_t i = 1; i <= 8; i++)
        for (uint32_t j = 1; j <= 8; j++) {
            const struct queue_place a = stream(FREE_A), b = stream(FREE_B);
            const struct order_name first = {.what = "cuWork", .stack = i}, second = {.what = "cuWork", .stack = j};
            struct order_work *one = order_issue(order, &a, &first), *other = order_issue(order, &b, &second);
            access(order, one, ORDER_WRITE, 4096 + 1024 * i + 64 * j, 8);
            access(order, other, ORDER_WRITE, 4096 + 1024 * i + 64 * j, 8);
            order_drop(one);
            order_drop(other);
            reported += finds(order) != 0;
        }
    tap_ok(reported == 64, "each pair of 8 call sites is found separately: %u of 64", reported);
    order_close(order);
}

/* Each invariant, broken by hand. */
static void test_invariants(void)
{
    struct order *order = order_open();
    struct order_work *late = issue(order, FREE_A);
    order_runs(order, late);
    late->waits = false;
    tap_ok(order_check(order) != NULL, "work that is listed waits");
    late->waits = true;
    struct order_work *next = issue(order, FREE_A);
    order_runs(order, next);
    next->older = NULL;
    tap_ok(order_check(order) != NULL, "the list of waiting work leads back");
    next->older = late;
    order_done(order, next);
    order_drop(next);
    order_done(order, late);
    order_drop(late);
    const struct queue_place a = stream(FREE_A), b = stream(FREE_B);
    lanes_pass(&order->lanes, &a, &b);
    struct order_lane *lane = lanes_issue(&order->lanes, &b);
    lane->clock->tick[0].tick += 100;
    tap_ok(lanes_check(&order->lanes) != NULL, "no lane comes after work that was never issued");
    lane->clock->tick[0].tick -= 100;
    lanes_host_waits(&order->lanes, &b, QUEUE_LANE);
    lane->known[0].tick += 100;
    tap_ok(lanes_check(&order->lanes) != NULL, "nor does the host know such work");
    lane->known[0].tick -= 100;
    work_on(order, FREE_A, ORDER_WRITE, 0, 8);
    work_on(order, FREE_A, ORDER_WRITE, 16, 8);
    order->accesses.count++;
    tap_ok(accesses_check(&order->accesses) != NULL, "the parts are counted");
    order->accesses.count--;
    struct order_memory *memory = addrmap_ceil(&order->accesses.memories, 0);
    struct order_part *part = addrmap_ceil(&memory->parts, 0);
    part->last = 16;
    tap_ok(accesses_check(&order->accesses) != NULL, "no two overlap");
    part->last = 7;
    struct order_work *write = part->write;
    part->write = NULL;
    tap_ok(accesses_check(&order->accesses) != NULL, "none is empty");
    part->write = write;
    tap_ok(!order_check(order), "and whole again");
    order_close(order);
}

/* ---- random programs ---- */

enum { STREAMS = 5, EVENTS = 3, STEPS = 60, WORDS = 12 };

/* All work of a program, and its complete order. */
struct model {
    struct {
        int stream;
        unsigned first, last;
        enum order_use use;
    } work[STEPS];
    bool before[STEPS][STEPS];
    int count;
    bool after[STREAMS][STEPS], event[EVENTS][STEPS], host[STEPS]; /* what a stream's next work is ordered after, etc. */
};

static const uint64_t values[STREAMS] = {DEFAULT, BLOCKING_A, BLOCKING_B, FREE_A, FREE_B};

static bool is_ordered_with(int a, int b)
{
    return a == b || (a == 0 && b < 3) || (b == 0 && a < 3);
}

static void add_set(bool *to, const bool *from)
{
    for (int i = 0; i < STEPS; i++)
        to[i] |= from[i];
}

/* The work ordered before the stream's next work, without the host's part. */
static void gather(const struct model *m, int stream_index, bool *set)
{
    memset(set, 0, STEPS);
    for (int s = 0; s < STREAMS; s++)
        if (is_ordered_with(stream_index, s))
            add_set(set, m->after[s]);
}

/* Something is issued in a stream: it is ordered after the given work, and the stream's next work after it. */
static void pass(struct model *m, int s)
{
    bool set[STEPS];
    gather(m, s, set);
    memcpy(m->after[s], set, sizeof set);
}

static bool races(const struct model *m, int now)
{
    for (int i = 0; i < now; i++) {
        bool meets = m->work[i].first <= m->work[now].last && m->work[now].first <= m->work[i].last &&
                     (m->work[i].use != m->work[now].use || m->work[now].use == ORDER_WRITE);
        if (meets && !m->before[i][now])
            return true;
    }
    return false;
}

struct trial {
    struct order *order;
    struct model model;
    struct vector_clock *events[EVENTS];
    struct order_work *waiting[STEPS]; /* work whose access has not been recorded yet */
    uint64_t random;
};

static void show_access(struct trial *t, int i)
{
    access(t->order, t->waiting[i], t->model.work[i].use, 8 * t->model.work[i].first,
           8 * (t->model.work[i].last - t->model.work[i].first + 1));
    order_done(t->order, t->waiting[i]);
    order_drop(t->waiting[i]);
    t->waiting[i] = NULL;
}

/* The host waits for a set of work, which has then run. */
static void host_waits(struct trial *t, const bool *set)
{
    for (int i = 0; i < t->model.count; i++)
        if (set[i] && t->waiting[i])
            show_access(t, i);
    add_set(t->model.host, set);
}

static bool issue_random(struct trial *t, int s, bool late)
{
    struct model *m = &t->model;
    const int now = m->count++;
    bool set[STEPS];
    gather(m, s, set);
    add_set(set, m->host);
    for (int i = 0; i < now; i++)
        m->before[i][now] = set[i];
    pass(m, s);
    m->after[s][now] = true;
    m->work[now].stream = s;
    m->work[now].first = (unsigned)random_below(&t->random, WORDS);
    m->work[now].last = m->work[now].first + (unsigned)random_below(&t->random, WORDS - m->work[now].first);
    m->work[now].use = random_below(&t->random, 3) ? ORDER_READ : s % 3 && random_below(&t->random, 2) ? ORDER_ADD : ORDER_WRITE;
    t->waiting[now] = issue(t->order, values[s]);
    if (late)
        order_runs(t->order, t->waiting[now]);
    if (!late || random_below(&t->random, 2))
        show_access(t, now);
    return races(m, now);
}

static bool step(struct trial *t, bool late)
{
    struct model *m = &t->model;
    const int s = (int)random_below(&t->random, STREAMS), e = (int)random_below(&t->random, EVENTS);
    const struct queue_place place = stream(values[s]);
    bool set[STEPS];
    switch (random_below(&t->random, 8)) {
    case 0:
        pass(m, s);
        memcpy(m->event[e], m->after[s], sizeof set);
        vector_clock_drop(t->events[e]);
        t->events[e] = lanes_record(&t->order->lanes, &place);
        return false;
    case 1:
    case 2:
        add_set(m->after[s], m->event[e]);
        if (t->events[e])
            pass(m, s);
        lanes_wait(&t->order->lanes, &place, t->events[e]);
        return false;
    case 3:
        gather(m, s, set);
        host_waits(t, s ? m->after[s] : set);
        lanes_host_waits(&t->order->lanes, &place, s ? QUEUE_LANE : QUEUE_ORDERED);
        return false;
    case 4:
        host_waits(t, m->event[e]);
        lanes_host_knows(&t->order->lanes, t->events[e]);
        return false;
    default:
        return issue_random(t, s, late);
    }
}

/* Findings are never ordered. For work that runs late, accesses of a byte beyond ACCESSES_OTHERS may be missed. */
static bool same_as_the_model(uint64_t seed, bool late, bool *raced, bool *missed)
{
    struct trial t = {.order = order_open(), .random = seed};
    bool race = false, good = true;
    const int steps = 2 + (int)random_below(&t.random, 2 + seed % (STEPS - 3));
    while (t.model.count < steps && good) {
        race |= step(&t, late);
        good = !order_check(t.order) && (late || (t.order->finds != 0) == race);
    }
    for (int i = 0; i < STEPS; i++)
        if (t.waiting[i])
            show_access(&t, i);
    bool found = finds(t.order) != 0;
    good = good && (found == race || (late && !found));
    *missed = race && !found;
    for (int e = 0; e < EVENTS; e++)
        vector_clock_drop(t.events[e]);
    order_close(t.order);
    *raced = race;
    return good;
}

static void test_random(void)
{
    enum { TRIALS = 4000 };
    for (int late = 0; late < 2; late++) {
        uint64_t wrong = 0, first = random_seed(1), races = 0, misses = 0;
        for (uint64_t seed = first; seed < first + TRIALS && !wrong; seed++) {
            bool raced, missed;
            if (!same_as_the_model(seed, late, &raced, &missed))
                wrong = seed;
            races += raced;
            misses += missed;
        }
        tap_note("%" PRIu64 " have accesses that nothing orders, %" PRIu64 " of these are missed", races, misses);
        tap_ok(!wrong && misses <= races / 200 && races > TRIALS / 10 && races < TRIALS - TRIALS / 10, "%d random programs%s: found exactly where the model finds (seed %" PRIu64 ")", TRIALS,
               late ? " whose work runs late" : "", wrong);
    }
}

int main(void)
{
    test_streams();
    test_uses();
    test_events();
    test_late();
    test_flags();
    test_seen();
    test_sweeps();
    test_too_many();
    test_ranges();
    test_collected();
    test_ninth();
    test_everything();
    test_found();
    test_invariants();
    test_random();
    return tap_done();
}
