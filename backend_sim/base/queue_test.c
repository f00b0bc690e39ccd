/* SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

#include <stdlib.h>

#include "tap.h"

enum { ITEMS = 24 };

static const struct queue_place places[] = {
    {1, 0, 0, 0, QUEUE_DEFAULT},       /* 0: default stream of context 1 */
    {1, 10, 0, 0, QUEUE_BLOCKING},     /* 1, 2: A and B */
    {1, 11, 0, 0, QUEUE_BLOCKING},
    {1, 12, 0, 0, QUEUE_NON_BLOCKING}, /* 3: N */
    {2, 0, 0, 0, QUEUE_DEFAULT},       /* 4: default stream of context 2, same device */
    {3, 0, 0, 1, QUEUE_DEFAULT},       /* 5: of context 3, on device 1 */
    {1, 2, 77, 0, QUEUE_BLOCKING},     /* 6, 7: per-thread default streams of two threads */
    {1, 2, 78, 0, QUEUE_BLOCKING},
};
enum { PLACES = sizeof places / sizeof places[0] };

struct rig {
    struct queue queue;
    struct queue_item item[ITEMS + 1]; /* by number */
};

static void issue(struct rig *rig, int place)
{
    struct queue_item *item = &rig->item[rig->queue.issued + 1];
    if (!queue_add(&rig->queue, item, &places[place]))
        tap_bail("no memory");
}

static void clear(struct rig *rig)
{
    while (rig->queue.first)
        queue_remove(&rig->queue, rig->queue.first);
}

/* The wanted and the ready items as bit sets; bit 1 is item 1. */
static unsigned wanted(struct rig *rig, enum queue_scope scope, int place, uint64_t until)
{
    struct queue_aim aim = {scope, places[place], until};
    unsigned set = 0;
    queue_want(&rig->queue, &aim);
    for (const struct queue_item *item = rig->queue.first; item; item = item->after)
        set |= (unsigned)item->wanted << item->number;
    return set;
}

static unsigned ready(const struct rig *rig)
{
    unsigned set = 0;
    for (const struct queue_item *item = rig->queue.first; item; item = item->after)
        set |= (unsigned)item->ready << item->number;
    return set;
}

#define BIT(n) (1u << (n))

/* The picture of queue.h. */
static void picture(void)
{
    struct rig rig = {{0}, {{0}}};
    issue(&rig, 1);
    issue(&rig, 0);
    issue(&rig, 1);
    issue(&rig, 3);
    issue(&rig, 2);
    tap_u64(wanted(&rig, QUEUE_LANE, 1, 5), BIT(1) | BIT(2) | BIT(3), "A waits for the default stream's item between its own");
    tap_u64(ready(&rig), BIT(1) | BIT(4), "the first items of A and N are ready");
    tap_u64(wanted(&rig, QUEUE_LANE, 3, 5), BIT(4), "N waits only for its own item");
    tap_u64(wanted(&rig, QUEUE_LANE, 2, 5), BIT(1) | BIT(2) | BIT(5), "B waits for the default stream, which waits for A");
    tap_u64(wanted(&rig, QUEUE_ORDERED, 0, 5), BIT(1) | BIT(2) | BIT(3) | BIT(5), "the default stream waits for all lanes but N");
    tap_u64(wanted(&rig, QUEUE_LANE, 0, 5), BIT(1) | BIT(2), "the default stream's own item waits for what was issued before it");
    tap_u64(wanted(&rig, QUEUE_ORDERED, 1, 1), BIT(1), "a wait ignores items issued later");
    tap_u64(wanted(&rig, QUEUE_ITEM, 0, 3), BIT(1) | BIT(2) | BIT(3), "a wait for one item covers everything before it");
    rig.item[1].state = QUEUE_RUNNING;
    tap_u64(wanted(&rig, QUEUE_LANE, 1, 5), BIT(1) | BIT(2) | BIT(3), "a running item is still wanted");
    tap_u64(ready(&rig), BIT(4), "a running item blocks the items after it");
    tap_ok(!queue_first_wanted(&rig.queue), "no wanted item is ready");
    queue_done(&rig.queue, &rig.item[1]);
    struct queue_aim aim = {QUEUE_LANE, places[1], 5};
    tap_u64(queue_want(&rig.queue, &aim), 2, "two wanted items are not done");
    tap_u64(ready(&rig), BIT(2) | BIT(4), "the next item of each lane is ready");
    tap_ok(queue_ready(&rig.queue) == 2 && queue_ready_at(&rig.queue, 1) == &rig.item[4] &&
               !queue_ready_at(&rig.queue, 2),
           "queue_ready_at finds the ready items by index");
    tap_ok(queue_first_wanted(&rig.queue) == &rig.item[2], "queue_first_wanted finds the first ready one");
    clear(&rig);
    tap_ok(!rig.queue.lanes && !rig.queue.count && !rig.queue.last, "the queue is empty after all items were removed");
}

static void contexts_and_devices(void)
{
    struct rig rig = {{0}, {{0}}};
    issue(&rig, 0);
    issue(&rig, 4);
    issue(&rig, 5);
    issue(&rig, 6);
    issue(&rig, 7);
    tap_u64(wanted(&rig, QUEUE_CONTEXT, 4, 5), BIT(2), "a wait for one context");
    tap_u64(wanted(&rig, QUEUE_DEVICE, 4, 5), BIT(1) | BIT(2) | BIT(4) | BIT(5), "a wait for one device");
    tap_u64(wanted(&rig, QUEUE_LANE, 7, 5), BIT(1) | BIT(5), "the per-thread default streams of two threads are separate lanes");
    clear(&rig);
}

static void mark(struct rig *rig, int place, uint64_t needs)
{
    struct queue_item *item = &rig->item[rig->queue.issued + 1];
    if (!queue_add_mark(&rig->queue, item, &places[place], needs))
        tap_bail("no memory");
}

/* N: 1 2mark 3, context 3: 4mark needs 2, 5. The picture of queue.h. */
static void marks(void)
{
    struct rig rig = {{0}, {{0}}};
    issue(&rig, 3);
    mark(&rig, 3, 0);
    issue(&rig, 3);
    mark(&rig, 5, 2);
    issue(&rig, 5);
    tap_u64(wanted(&rig, QUEUE_ITEM, 0, 2), BIT(1) | BIT(2), "a wait for a mark covers everything before it");
    tap_u64(wanted(&rig, QUEUE_LANE, 5, 5), BIT(1) | BIT(2) | BIT(4) | BIT(5),
            "a wait for an item after a mark that needs another covers both marks");
    tap_u64(ready(&rig), BIT(1), "one item is ready");
    queue_done(&rig.queue, &rig.item[1]);
    struct queue_aim aim = {QUEUE_LANE, places[5], 5};
    tap_u64(queue_want(&rig.queue, &aim), 1, "completing an item completes the marks after it");
    tap_ok(rig.item[2].state == QUEUE_DONE && rig.item[4].state == QUEUE_DONE, "both marks are done");
    tap_u64(ready(&rig), BIT(3) | BIT(5), "marks are never ready");
    tap_u64(wanted(&rig, QUEUE_LANE, 5, 5), BIT(1) | BIT(2) | BIT(4) | BIT(5), "finished items are still wanted");
    clear(&rig);
}

static uint64_t ticks;

static uint64_t tick(void)
{
    return ++ticks;
}

static void timed_mark(struct rig *rig, int place, uint64_t needs)
{
    mark(rig, place, needs);
    queue_time_mark(&rig->queue, rig->queue.last);
}

/* A timed mark is done, and records the time, as soon as nothing precedes it. */
static void timed_marks(void)
{
    struct rig rig = {{0}, {{0}}};
    rig.queue.clock = tick;
    timed_mark(&rig, 3, 0);
    tap_ok(rig.item[1].state == QUEUE_DONE && rig.item[1].when == 1, "a mark that nothing is before is done when it is added");
    issue(&rig, 3);
    timed_mark(&rig, 3, 0);
    timed_mark(&rig, 3, 0);
    timed_mark(&rig, 5, 3);
    timed_mark(&rig, 4, 0);
    tap_ok(!rig.item[3].when && !rig.item[4].when && !rig.item[5].when, "marks behind work have no time yet");
    tap_u64(rig.item[6].when, 2, "another lane's mark has");
    queue_done(&rig.queue, &rig.item[2]);
    mark(&rig, 4, 0);
    queue_look(&rig.queue);
    tap_ok(rig.item[3].when == 3 && rig.item[4].when == 4 && rig.item[5].when == 5, "later marks have later times");
    tap_ok(rig.item[7].state == QUEUE_DONE && !rig.item[7].when && !rig.item[2].when, "other items have none");
    timed_mark(&rig, 3, 0);
    tap_u64(rig.item[8].when, 6, "nor is a mark behind work that is done held up");
    clear(&rig);
}

static void forgotten_marks(void)
{
    struct rig rig = {{0}, {{0}}};
    issue(&rig, 3);
    mark(&rig, 3, 0);
    mark(&rig, 5, 2);
    mark(&rig, 4, 99);
    queue_remove(&rig.queue, &rig.item[2]);
    struct queue_aim aim = {QUEUE_LANE, places[5], 4};
    tap_u64(queue_want(&rig.queue, &aim), 0, "a removed mark blocks nothing");
    tap_u64(wanted(&rig, QUEUE_ITEM, 0, 4), BIT(4), "a mark that needs an unknown number blocks nothing");
    tap_ok(rig.item[4].state == QUEUE_DONE && !rig.item[3].needed, "no mark needs a removed one any more");
    clear(&rig);
}

/* The reverse case: a removed mark no longer counts as needing another. */
static void forgotten_needs(void)
{
    struct rig rig = {{0}, {{0}}};
    mark(&rig, 3, 0);
    mark(&rig, 5, 1);
    mark(&rig, 4, 1);
    tap_u64(rig.item[1].needers, 2, "two marks need the first one");
    queue_remove(&rig.queue, &rig.item[2]);
    tap_ok(rig.item[1].needers == 1 && rig.item[3].needed == &rig.item[1], "removing one of them leaves one");
    queue_remove(&rig.queue, &rig.item[1]);
    tap_ok(!rig.item[3].needed, "removing the needed mark clears the reference");
    clear(&rig);
}

static bool together(int a, int b)
{
    if (a == b)
        return true;
    return places[a].context == places[b].context &&
           ((places[a].kind == QUEUE_DEFAULT && places[b].kind == QUEUE_BLOCKING) ||
            (places[b].kind == QUEUE_DEFAULT && places[a].kind == QUEUE_BLOCKING));
}

/* Compares with the definition: item i is before item j if a chain of ordered pairs leads from i to j. */
static bool compare(struct rig *rig, const int *lane, int count, int place)
{
    unsigned before[ITEMS + 1] = {0}, want = 0, may = 0;
    for (int j = 1; j <= count; j++)
        for (int i = 1; i < j; i++)
            if (together(lane[i], lane[j]) || rig->item[j].needed == &rig->item[i])
                before[j] |= before[i] | BIT(i);
    for (int j = 1; j <= count; j++) {
        unsigned undone = 0;
        for (int i = 1; i < j; i++)
            if ((before[j] & BIT(i)) && !rig->item[i].mark && rig->item[i].state != QUEUE_DONE)
                undone |= BIT(i);
        if (lane[j] == place)
            want |= BIT(j) | before[j];
        if (!rig->item[j].mark && rig->item[j].state == QUEUE_WAITING && !undone)
            may |= BIT(j);
    }
    return wanted(rig, QUEUE_LANE, place, (uint64_t)count) == want && ready(rig) == may;
}

/* Issues random items on all lanes, every third a mark; lane[i] is the lane of item i. */
static void issue_some(struct rig *rig, unsigned *state, int *lane)
{
    *rig = (struct rig){{0}, {{0}}};
    for (int i = 1; i <= ITEMS; i++) {
        *state = *state * 1103515245u + 12345u;
        lane[i] = (int)(*state >> 16) % PLACES;
        if (i % 3 == 0)
            mark(rig, lane[i], *state >> 20 & 1 ? (uint64_t)(i - 3) : 0);
        else
            issue(rig, lane[i]);
    }
}

static void random_work(void)
{
    unsigned state = 1, wrong = 0;
    for (int round = 0; round < 2000; round++) {
        struct rig rig;
        int lane[ITEMS + 1];
        issue_some(&rig, &state, lane);
        for (int i = 0; i < 10; i++) {
            queue_look(&rig.queue);
            unsigned looked = ready(&rig);
            wrong += !compare(&rig, lane, ITEMS, i % PLACES) || ready(&rig) != looked;
            state = state * 1103515245u + 12345u;
            struct queue_item *item = queue_ready_at(&rig.queue, (state >> 16) % queue_ready(&rig.queue));
            queue_done(&rig.queue, item);
        }
        clear(&rig);
    }
    tap_u64(wrong, 0, "wanted and ready match their definitions in 20000 random queues");
}

/* Runs the wanted items in order of issue, either in one pass or with new flags after each item. Returns how many ran. */
static int do_wanted(struct rig *rig, const struct queue_aim *aim, bool in_one_go, uint64_t *order)
{
    int count = 0;
    struct queue_item *item = NULL;
    queue_want(&rig->queue, aim);
    while ((item = in_one_go ? queue_next_wanted(&rig->queue, item) : queue_first_wanted(&rig->queue)) != NULL) {
        order[count++] = item->number;
        queue_done(&rig->queue, item);
        if (!in_one_go)
            queue_want(&rig->queue, aim);
    }
    return count;
}

static size_t not_done(const struct queue *queue)
{
    size_t count = 0;
    for (const struct queue_item *item = queue->first; item; item = item->after)
        count += item->state != QUEUE_DONE;
    return count;
}

static void in_order(void)
{
    unsigned state = 7, wrong = 0, done = 0;
    for (int round = 0; round < 1000; round++) {
        struct rig rig[2];
        int lane[ITEMS + 1], count[2];
        uint64_t order[2][ITEMS];
        unsigned again = state;
        for (int way = 0; way < 2; way++) {
            state = again;
            issue_some(&rig[way], &state, lane);
            const struct queue_aim aim = {round % 2 ? QUEUE_LANE : QUEUE_CONTEXT, places[round % PLACES], ITEMS - 4};
            count[way] = do_wanted(&rig[way], &aim, way, order[way]);
            wrong += rig[way].queue.left != not_done(&rig[way].queue);
            wrong += queue_want(&rig[way].queue, &aim) != 0 || queue_next_wanted(&rig[way].queue, NULL) != NULL;
        }
        wrong += count[0] != count[1];
        for (int i = 0; i < count[0] && i < count[1]; i++)
            wrong += order[0][i] != order[1][i];
        done += (unsigned)count[0];
        clear(&rig[0]);
        clear(&rig[1]);
        wrong += rig[0].queue.left != 0 || rig[1].queue.left != 0;
    }
    tap_ok(done > 5000, "%u items ran in order", done);
    tap_u64(wrong, 0, "one pass runs the same items as new flags after each");
}

/* queue_next_wanted returns a running item, and continues after it on request. */
static void in_order_up_to_one_that_runs(void)
{
    struct rig rig = {{0}, {{0}}};
    issue(&rig, 1);
    issue(&rig, 3);
    issue(&rig, 1);
    rig.item[1].state = QUEUE_RUNNING;
    const struct queue_aim aim = {QUEUE_LANE, places[1], 3};
    tap_u64(queue_want(&rig.queue, &aim), 2, "one item is running and one waits for it");
    tap_ok(queue_next_wanted(&rig.queue, NULL) == &rig.item[1] && queue_next_wanted(&rig.queue, &rig.item[1]) == &rig.item[3] &&
               !queue_next_wanted(&rig.queue, &rig.item[3]),
           "queue_next_wanted returns both in order and skips the unwanted one");
    tap_u64(rig.queue.left, 3, "queue_next_wanted completes no item");
    queue_done(&rig.queue, &rig.item[1]);
    queue_remove(&rig.queue, &rig.item[1]);
    queue_remove(&rig.queue, &rig.item[2]);
    tap_u64(rig.queue.left, 1, "removed items no longer count as unfinished, done or not");
    clear(&rig);
}

/* The known items as a bit set. */
static unsigned known(struct rig *rig)
{
    unsigned set = 0;
    for (const struct queue_item *item = rig->queue.first; item; item = item->after)
        set |= (unsigned)queue_known(&rig->queue, item) << item->number;
    return set;
}

/* The second picture of queue.h, and a host function that has started. */
static void what_is_known(void)
{
    struct rig rig = {{0}, {{0}}};
    issue(&rig, 1);
    issue(&rig, 1);
    issue(&rig, 1);
    issue(&rig, 3);
    for (int i = 1; i <= 4; i++)
        queue_done(&rig.queue, &rig.item[i]);
    tap_u64(known(&rig), 0, "everything is done, but nothing is known to the host");
    queue_seen(&rig.queue, &rig.item[2]);
    tap_u64(known(&rig), BIT(1) | BIT(2), "a seen item proves everything before it in the order, and nothing else");
    issue(&rig, 3);
    rig.item[5].state = QUEUE_RUNNING;
    queue_seen(&rig.queue, &rig.item[5]);
    tap_u64(known(&rig), BIT(1) | BIT(2) | BIT(4), "a started host function proves everything before it, but not itself");
    queue_seen(&rig.queue, &rig.item[5]);
    tap_ok(!rig.queue.news, "seeing the same item again changes nothing");
    clear(&rig);
}

/* A seen item proves exactly what a wait for it would have waited for, whatever the streams and events. */
static void random_knowledge(void)
{
    unsigned state = 3, wrong = 0, proved = 0;
    for (int round = 0; round < 2000; round++) {
        struct rig rig;
        int lane[ITEMS + 1];
        unsigned expected = 0;
        issue_some(&rig, &state, lane);
        for (int i = 1; i <= ITEMS; i++)
            queue_done(&rig.queue, &rig.item[i]);
        for (int i = 0; i < 2; i++) {
            state = state * 1103515245u + 12345u;
            unsigned seen = 1 + (state >> 16) % ITEMS;
            queue_seen(&rig.queue, &rig.item[seen]);
            expected |= wanted(&rig, QUEUE_ITEM, 0, seen);
            wrong += known(&rig) != expected;
            proved += expected != BIT(seen);
        }
        clear(&rig);
    }
    tap_ok(proved > 1000, "%u seen items proved more than themselves", proved);
    tap_u64(wrong, 0, "the known items are those that a wait would have covered");
}

static void lanes(void)
{
    static const struct queue_place place = {.context = 1, .stream = 2, .thread = 3};
    static const struct queue_place other[] = {{.context = 9, .stream = 2, .thread = 3}, {.context = 1, .stream = 9, .thread = 3},
                                               {.context = 1, .stream = 2, .thread = 9}};
    tap_ok(queue_same_lane(&place, &(struct queue_place){.context = 1, .stream = 2, .thread = 3, .device = 1}),
           "context, stream and thread are a lane");
    for (int i = 0; i < 3; i++)
        tap_ok(!queue_same_lane(&place, &other[i]), "place %d is another lane", i);
}

int main(void)
{
    lanes();
    what_is_known();
    random_knowledge();
    in_order();
    in_order_up_to_one_that_runs();
    picture();
    contexts_and_devices();
    marks();
    timed_marks();
    forgotten_marks();
    forgotten_needs();
    random_work();
    return tap_done();
}
