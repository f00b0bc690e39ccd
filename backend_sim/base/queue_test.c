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
    {1, 2, 77, 0, QUEUE_BLOCKING},     /* 6, 7: two threads' own default streams */
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

/* The wanted and the ready items as sets of bits; bit 1 is item 1. */
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
    tap_u64(wanted(&rig, QUEUE_LANE, 1, 5), BIT(1) | BIT(2) | BIT(3), "A waits for the default stream in between");
    tap_u64(ready(&rig), BIT(1) | BIT(4), "two may start");
    tap_u64(wanted(&rig, QUEUE_LANE, 3, 5), BIT(4), "N waits for nothing");
    tap_u64(wanted(&rig, QUEUE_LANE, 2, 5), BIT(1) | BIT(2) | BIT(5), "B waits for the default stream, that for A");
    tap_u64(wanted(&rig, QUEUE_ORDERED, 0, 5), BIT(1) | BIT(2) | BIT(3) | BIT(5), "the default stream waits for all but N");
    tap_u64(wanted(&rig, QUEUE_LANE, 0, 5), BIT(1) | BIT(2), "its own work waits for what was before it");
    tap_u64(wanted(&rig, QUEUE_ORDERED, 1, 1), BIT(1), "what was issued later is not waited for");
    tap_u64(wanted(&rig, QUEUE_ITEM, 0, 3), BIT(1) | BIT(2) | BIT(3), "one item and what it needs");
    rig.item[1].state = QUEUE_RUNNING;
    tap_u64(wanted(&rig, QUEUE_LANE, 1, 5), BIT(1) | BIT(2) | BIT(3), "running is wanted still");
    tap_u64(ready(&rig), BIT(4), "and holds up what is behind it");
    tap_ok(!queue_first_wanted(&rig.queue), "nothing that is wanted may start");
    queue_done(&rig.queue, &rig.item[1]);
    struct queue_aim aim = {QUEUE_LANE, places[1], 5};
    tap_u64(queue_want(&rig.queue, &aim), 2, "two are not done");
    tap_u64(ready(&rig), BIT(2) | BIT(4), "the next of each lane");
    tap_ok(queue_ready(&rig.queue) == 2 && queue_ready_at(&rig.queue, 1) == &rig.item[4] &&
               !queue_ready_at(&rig.queue, 2),
           "the ready ones by place");
    tap_ok(queue_first_wanted(&rig.queue) == &rig.item[2], "the first wanted");
    clear(&rig);
    tap_ok(!rig.queue.lanes && !rig.queue.count && !rig.queue.last, "nothing is left");
}

static void contexts_and_devices(void)
{
    struct rig rig = {{0}, {{0}}};
    issue(&rig, 0);
    issue(&rig, 4);
    issue(&rig, 5);
    issue(&rig, 6);
    issue(&rig, 7);
    tap_u64(wanted(&rig, QUEUE_CONTEXT, 4, 5), BIT(2), "of one context");
    tap_u64(wanted(&rig, QUEUE_DEVICE, 4, 5), BIT(1) | BIT(2) | BIT(4) | BIT(5), "on one device");
    tap_u64(wanted(&rig, QUEUE_LANE, 7, 5), BIT(1) | BIT(5), "a thread's own stream is not another's");
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
    tap_u64(wanted(&rig, QUEUE_ITEM, 0, 2), BIT(1) | BIT(2), "a mark wants what it comes after");
    tap_u64(wanted(&rig, QUEUE_LANE, 5, 5), BIT(1) | BIT(2) | BIT(4) | BIT(5), "and what needs it, all of that");
    tap_u64(ready(&rig), BIT(1), "one may start");
    queue_done(&rig.queue, &rig.item[1]);
    struct queue_aim aim = {QUEUE_LANE, places[5], 5};
    tap_u64(queue_want(&rig.queue, &aim), 1, "marks are done with what they come after");
    tap_ok(rig.item[2].state == QUEUE_DONE && rig.item[4].state == QUEUE_DONE, "both of them");
    tap_u64(ready(&rig), BIT(3) | BIT(5), "and are nothing that may start");
    tap_u64(wanted(&rig, QUEUE_LANE, 5, 5), BIT(1) | BIT(2) | BIT(4) | BIT(5), "what is done is wanted still");
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
    tap_u64(queue_want(&rig.queue, &aim), 0, "a mark that was removed holds nobody up");
    tap_u64(wanted(&rig, QUEUE_ITEM, 0, 4), BIT(4), "nor one that never was");
    tap_ok(rig.item[4].state == QUEUE_DONE && !rig.item[3].needed, "nobody needs them any more");
    clear(&rig);
}

/* The other way round: what is removed needs nobody any more. */
static void forgotten_needs(void)
{
    struct rig rig = {{0}, {{0}}};
    mark(&rig, 3, 0);
    mark(&rig, 5, 1);
    mark(&rig, 4, 1);
    tap_u64(rig.item[1].needers, 2, "two need a mark");
    queue_remove(&rig.queue, &rig.item[2]);
    tap_ok(rig.item[1].needers == 1 && rig.item[3].needed == &rig.item[1], "one of them is removed");
    queue_remove(&rig.queue, &rig.item[1]);
    tap_ok(!rig.item[3].needed, "then the mark, and nobody needs it");
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

/* Against the definition: item i is before item j where a chain of ordered pairs leads from i to j. */
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

/* Something on every lane, each third a mark; lane[i] is that of item i. */
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
    tap_u64(wrong, 0, "wanted and ready are what their definitions say, 20000 times");
}

/* What is wanted, done in order of issue: in one go, or with all marked anew behind each. How many were done. */
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
    tap_ok(done > 5000, "%u were done in order", done);
    tap_u64(wrong, 0, "in one go as with all marked anew behind each");
}

/* Whoever comes to one that runs finds it, and goes on behind it if that is what is wanted. */
static void in_order_up_to_one_that_runs(void)
{
    struct rig rig = {{0}, {{0}}};
    issue(&rig, 1);
    issue(&rig, 3);
    issue(&rig, 1);
    rig.item[1].state = QUEUE_RUNNING;
    const struct queue_aim aim = {QUEUE_LANE, places[1], 3};
    tap_u64(queue_want(&rig.queue, &aim), 2, "one runs, one waits for it");
    tap_ok(queue_next_wanted(&rig.queue, NULL) == &rig.item[1] && queue_next_wanted(&rig.queue, &rig.item[1]) == &rig.item[3] &&
               !queue_next_wanted(&rig.queue, &rig.item[3]),
           "one after the other, and none that nobody wants");
    tap_u64(rig.queue.left, 3, "none is done by that");
    queue_done(&rig.queue, &rig.item[1]);
    queue_remove(&rig.queue, &rig.item[1]);
    queue_remove(&rig.queue, &rig.item[2]);
    tap_u64(rig.queue.left, 1, "what is removed is not left, done or not");
    clear(&rig);
}

/* Which items are known, as a set of bits. */
static unsigned known(struct rig *rig)
{
    unsigned set = 0;
    for (const struct queue_item *item = rig->queue.first; item; item = item->after)
        set |= (unsigned)queue_known(&rig->queue, item) << item->number;
    return set;
}

/* The second picture of queue.h, and a host function that has begun. */
static void what_is_known(void)
{
    struct rig rig = {{0}, {{0}}};
    issue(&rig, 1);
    issue(&rig, 1);
    issue(&rig, 1);
    issue(&rig, 3);
    for (int i = 1; i <= 4; i++)
        queue_done(&rig.queue, &rig.item[i]);
    tap_u64(known(&rig), 0, "all is done, and nobody can know");
    queue_seen(&rig.queue, &rig.item[2]);
    tap_u64(known(&rig), BIT(1) | BIT(2), "what was seen proves what comes before it, and nothing else");
    issue(&rig, 3);
    rig.item[5].state = QUEUE_RUNNING;
    queue_seen(&rig.queue, &rig.item[5]);
    tap_u64(known(&rig), BIT(1) | BIT(2) | BIT(4), "one that has begun proves what comes before it, but not itself");
    queue_seen(&rig.queue, &rig.item[5]);
    tap_ok(!rig.queue.news, "which is no news the second time");
    clear(&rig);
}

/* What one that was seen proves is all that waiting for it would have waited for, whatever the streams and events. */
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
    tap_ok(proved > 1000, "%u proved more than themselves", proved);
    tap_u64(wrong, 0, "what is known is what a wait would have waited for");
}

int main(void)
{
    what_is_known();
    random_knowledge();
    in_order();
    in_order_up_to_one_that_runs();
    picture();
    contexts_and_devices();
    marks();
    forgotten_marks();
    forgotten_needs();
    random_work();
    return tap_done();
}
