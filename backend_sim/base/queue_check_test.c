/* SPDX-License-Identifier: Apache-2.0 */
/* queue_check: each invariant, broken by hand, has its sentence. */
#include "breaks.h"
#include "queue_parts.h"

static const struct queue_place on_default = {1, 0, 0, 0, QUEUE_DEFAULT}, on_a = {1, 10, 0, 0, QUEUE_BLOCKING},
                                elsewhere = {2, 20, 0, 1, QUEUE_NON_BLOCKING};

struct rig {
    struct queue queue;
    struct queue_item item[6]; /* by number, from 1 */
};

/*  1 on the default stream, done    2 on A    3 mark on A    4 mark elsewhere, needs 3    5 elsewhere */
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
    check_holds(queue_check(&rig->queue), "all is mended");
    while (rig->queue.first)
        queue_remove(&rig->queue, rig->queue.first);
    check_holds(queue_check(&rig->queue), "nothing is left");
}

static void test_items(void)
{
    struct rig rig;
    open_queue(&rig);
    struct queue *queue = &rig.queue;
    struct queue_item *item = rig.item;
    BREAKS(queue->count, 4, queue_check(queue), "4 items are counted, more are linked");
    BREAKS(queue->count, 6, queue_check(queue), "5 items are linked, 4 of them not done; 6 and 4 are counted");
    BREAKS(queue->left, 3, queue_check(queue), "5 items are linked, 4 of them not done; 5 and 3 are counted");
    BREAKS(queue->last, &item[4], queue_check(queue), "another one is the last");
    BREAKS(queue->undone, &item[3], queue_check(queue), "item 2 is the first that is not done, item 3 is noted");
    BREAKS(queue->undone, NULL, queue_check(queue), "item 2 is the first that is not done, item 0 is noted");
    BREAKS(queue->issued, 4, queue_check(queue), "item 5 comes after item 4, of 4 issued");
    BREAKS(item[3].number, 2, queue_check(queue), "item 2 comes after item 2");
    BREAKS(item[3].before, &item[1], queue_check(queue), "item 3 is not linked backwards");
    BREAKS(item[5].after, &item[1], queue_check(queue), "5 items are counted, more are linked");
    BREAKS(item[2].lane, NULL, queue_check(queue), "item 2 has no lane");
    BREAKS(item[3].needers, 2, queue_check(queue), "item 3 is needed by 1 marks, 2 are counted");
    BREAKS(item[4].needed, &item[5], queue_check(queue), "item 4, a mark, needs item 5, no mark");
    BREAKS(item[4].mark, false, queue_check(queue), "item 4, no mark, needs item 3, a mark");
    close_queue(&rig);
}

static void test_lanes(void)
{
    struct rig rig;
    open_queue(&rig);
    struct queue *queue = &rig.queue;
    struct queue_lane *lane = rig.item[2].lane, *other = rig.item[5].lane;
    BREAKS(lane->items, 3, queue_check(queue), "lane 0xa has 2 items, 3 are counted");
    BREAKS(rig.item[2].lane, other, queue_check(queue), "lane 0x14 has 3 items, 2 are counted");
    BREAKS(lane->of, other->of, queue_check(queue), "lane 0xa is of another context than 0x1");
    BREAKS(lane->of->lanes, 1, queue_check(queue), "context 0x1 has 2 lanes, 1 are counted");
    BREAKS(queue->lanes, other->next, queue_check(queue), "of 5 items 3 are on lanes of the queue");
    BREAKS(queue->contexts, lane->of, queue_check(queue), "1 lanes are of no context of the queue");
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
    check_holds(queue_check(&rig.queue), "news that has not spread");
    queue_known(&rig.queue, &rig.item[1]);
    check_holds(queue_check(&rig.queue), "and that has");
    BREAKS(rig.item[3].seen, false, queue_check(&rig.queue), "item 3 is not seen, item 4, which needs it, is");
    BREAKS(rig.item[1].seen, false, queue_check(&rig.queue), "item 1 is not seen, one that comes after it is");
    close_queue(&rig);
}

int main(void)
{
    test_items();
    test_lanes();
    test_seen();
    return tap_done();
}
