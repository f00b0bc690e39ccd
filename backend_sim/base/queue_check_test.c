/* SPDX-License-Identifier: Apache-2.0 */
/* queue_check: a test breaks each invariant by hand and expects its message. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "breaks.h"
#include "queue_parts.h"

static const struct queue_place on_default = {1, 0, 0, 0, QUEUE_DEFAULT}, on_a = {1, 10, 0, 0, QUEUE_BLOCKING},
                                elsewhere = {2, 20, 0, 1, QUEUE_NON_BLOCKING};

struct rig {
    struct queue queue;
    struct queue_item item[6]; /* by number, from 1 */
};

/* 1 on the default stream, done    2 on A    3 mark on A    4 mark on another lane, needs 3    5 on that lane */
static void open_queue(struct rig *rig)
{
    *rig = (struct rig){0};
    struct queue *queue = &rig->queue;
    check_holds(queue_check(queue), "an empty queue");
    if (!queue_add(queue, &rig->item[1], &on_default) || !queue_add(queue, &rig->item[2], &on_a) ||
        !queue_add_mark(queue, &rig->item[3], &on_a, 0) || !queue_add_mark(queue, &rig->item[4], &elsewhere, 3) ||
        !queue_add(queue, &rig->item[5], &elsewhere))
        tap_bail("no memory");
    queue_done(queue, &rig->item[1]);
    check_holds(queue_check(queue), "five items on three lanes");
}

static void close_queue(struct rig *rig)
{
    check_holds(queue_check(&rig->queue), "the queue after each repair");
    while (rig->queue.first)
        queue_remove(&rig->queue, rig->queue.first);
    check_holds(queue_check(&rig->queue), "the queue after all items were removed");
}

static void test_items(void)
{
    struct rig rig;
    open_queue(&rig);
    struct queue *queue = &rig.queue;
    struct queue_item *item = rig.item;
    BREAKS(queue->count, 4, queue_check(queue), "count is 4, but more items are linked");
    BREAKS(queue->count, 6, queue_check(queue), "5 items are linked, 4 of them not done; count is 6 and left is 4");
    BREAKS(queue->left, 3, queue_check(queue), "5 items are linked, 4 of them not done; count is 5 and left is 3");
    BREAKS(queue->last, &item[4], queue_check(queue), "last is another item");
    BREAKS(queue->undone, &item[3], queue_check(queue), "item 2 is the first unfinished item, but undone is item 3");
    BREAKS(queue->undone, NULL, queue_check(queue), "item 2 is the first unfinished item, but undone is item 0");
    BREAKS_TO(queue->issued, 4, queue_check(queue), "item 5 comes after item 4, of 4 issued");
    BREAKS(item[3].number, 2, queue_check(queue), "item 2 comes after item 2");
    BREAKS(item[3].before, &item[1], queue_check(queue), "item 3 has a wrong link to the one before it");
    BREAKS(item[5].after, &item[1], queue_check(queue), "count is 5, but more items are linked");
    BREAKS(item[2].lane, NULL, queue_check(queue), "item 2 has no lane");
    BREAKS(item[3].needers, 2, queue_check(queue), "item 3 is needed by 1 marks, but needers is 2");
    BREAKS(item[4].needed, &item[5], queue_check(queue), "item 4, a mark, needs item 5, no mark");
    BREAKS(item[4].needed, &item[2], queue_check(queue), "item 4, a mark, needs item 2, no mark");
    struct queue_lane stray = {.of = NULL};
    BREAKS(item[2].lane, &stray, queue_check(queue), "item 2 has no lane");
    BREAKS(item[3].needed, &item[4], queue_check(queue), "item 3, a mark, needs item 4, a mark");
    BREAKS(item[2].lane->of, NULL, queue_check(queue), "lane 0xa belongs to another context than 0x1");
    BREAKS(item[2].lane->items, 0, queue_check(queue), "lane 0xa has 2 items, but 0 refer to it");
    BREAKS(item[5].lane->of->lanes, 0, queue_check(queue), "context 0x2 has 1 lanes, but 0 refer to it");
    BREAKS_TO(item[4].mark, false, queue_check(queue), "item 4, no mark, needs item 3, a mark");
    for (int i = 2; i <= 5; i++)
        if (item[i].state != QUEUE_DONE)
            queue_done(queue, &item[i]);
    check_holds(queue_check(queue), "all items are done");
    BREAKS(queue->undone, &item[5], queue_check(queue), "item 0 is the first unfinished item, but undone is item 5");
    close_queue(&rig);
}

static void test_lanes(void)
{
    struct rig rig;
    open_queue(&rig);
    struct queue *queue = &rig.queue;
    struct queue_lane *lane = rig.item[2].lane, *other = rig.item[5].lane;
    BREAKS(lane->items, 3, queue_check(queue), "lane 0xa has 2 items, but 3 refer to it");
    BREAKS(rig.item[2].lane, other, queue_check(queue), "lane 0x14 has 3 items, but 2 refer to it");
    BREAKS(lane->of, other->of, queue_check(queue), "lane 0xa belongs to another context than 0x1");
    BREAKS(lane->of->lanes, 1, queue_check(queue), "context 0x1 has 2 lanes, but 1 refer to it");
    BREAKS(queue->lanes, other->next, queue_check(queue), "only some of the 5 items, 3, are on lanes of the queue");
    BREAKS(queue->contexts, lane->of, queue_check(queue), "1 lanes belong to no context of the queue");
    struct queue_lane *first = rig.item[1].lane;
    BREAKS(first->next, queue->lanes, queue_check(queue), "there are more lanes than the 5 items");
    struct queue_context *context = lane->of;
    BREAKS(context->next, queue->contexts, queue_check(queue), "there are more contexts than the 5 items");
    close_queue(&rig);
}

static void test_seen(void)
{
    struct rig rig;
    open_queue(&rig);
    queue_seen(&rig.queue, &rig.item[4]);
    check_holds(queue_check(&rig.queue), "a queue with news that has not spread");
    queue_known(&rig.queue, &rig.item[1]);
    check_holds(queue_check(&rig.queue), "a queue with news that has spread");
    BREAKS_TO(rig.item[3].seen, false, queue_check(&rig.queue), "item 3 is not seen, but item 4, which needs it, is");
    BREAKS_TO(rig.item[1].seen, false, queue_check(&rig.queue), "item 1 is not seen, but a later item in the order is");
    close_queue(&rig);
}

/* Each allocation for a new lane fails once: of a context that has a lane, then of one that has none. */
static void test_no_memory(void)
{
    const struct queue_place more[] = {{1, 30, 0, 0, QUEUE_BLOCKING}, {3, 40, 0, 1, QUEUE_BLOCKING}};
    struct rig rig;
    struct queue_item item;
    open_queue(&rig);
    for (unsigned long i = 0; i < 2; i++) {
        for (unsigned long nth = 1; nth <= 1 + i; nth++) {
            inject_arm(nth);
            bool added = queue_add(&rig.queue, &item, &more[i]);
            tap_ok(inject_disarm() && !added, "no memory for a lane: request %lu", nth);
            check_holds(queue_check(&rig.queue), "the queue without it");
        }
        tap_ok(queue_add(&rig.queue, &item, &more[i]), "with memory there is one");
        queue_remove(&rig.queue, &item);
    }
    close_queue(&rig);
}

int main(void)
{
    test_items();
    test_lanes();
    test_seen();
    test_no_memory();
    return tap_done();
}
