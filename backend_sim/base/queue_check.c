/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of queue.h. */
#include <inttypes.h>

#include "checks.h"
#include "queue_parts.h"

#define NUMBER "item %" PRIu64

/* Checks one item against its predecessor. */
static const char *check_item(const struct queue *queue, const struct queue_item *item)
{
    uint64_t below = item->before ? item->before->number : 0;
    if (item->number <= below || item->number > queue->issued)
        return check_say(NUMBER " comes after " NUMBER ", of %" PRIu64 " issued", item->number, below, queue->issued);
    if (!item->lane || !item->lane->of)
        return check_say(NUMBER " has no lane", item->number);
    if (item->needed && (!item->mark || !item->needed->mark || item->needed->number >= item->number))
        return check_say(NUMBER ", %s, needs " NUMBER ", %s", item->number, item->mark ? "a mark" : "no mark",
                         item->needed->number,
                         item->needed->mark ? "a mark" : "no mark");
    return NULL;
}

/* Checks the items and their links, and counts each item's references. */
static const char *check_items(struct queue *queue)
{
    const struct queue_item *before = NULL, *undone = NULL;
    size_t count = 0, left = 0;
    for (struct queue_item *item = queue->first; item; before = item, item = item->after) {
        if (count++ == queue->count)
            return check_say("count is %zu, but more items are linked", queue->count);
        if (item->before != before)
            return check_say(NUMBER " has a wrong link to the one before it", item->number);
        const char *said = check_item(queue, item);
        if (said)
            return said;
        left += item->state != QUEUE_DONE;
        undone = !undone && item->state != QUEUE_DONE ? item : undone;
        item->counted = 0;
        item->lane->counted++;
        if (item->needed)
            item->needed->counted++;
    }
    if (count != queue->count || left != queue->left || before != queue->last)
        return check_say("%zu items are linked, %zu of them not done; count is %zu and left is %zu%s", count, left, queue->count,
                         queue->left,
                         before == queue->last ? "" : ", and last is another item");
    if (undone != queue->undone)
        return check_say(NUMBER " is the first unfinished item, but undone is " NUMBER, undone ? undone->number : 0,
                         queue->undone ? queue->undone->number : 0);
    return NULL;
}

static const char *check_needers(const struct queue *queue)
{
    for (const struct queue_item *item = queue->first; item; item = item->after)
        if (item->counted != item->needers)
            return check_say(NUMBER " is needed by %zu marks, but needers is %zu", item->number, item->counted, item->needers);
    return NULL;
}

/* Resets the counters. There are never more lanes than items, nor more contexts than lanes. */
static const char *start_counting(struct queue *queue)
{
    size_t lanes = 0, contexts = 0;
    for (struct queue_context *context = queue->contexts; context; context = context->next) {
        if (contexts++ == queue->count)
            return check_say("there are more contexts than the %zu items", queue->count);
        context->counted = 0;
    }
    for (struct queue_lane *lane = queue->lanes; lane; lane = lane->next) {
        if (lanes++ == queue->count)
            return check_say("there are more lanes than the %zu items", queue->count);
        if (!lane->of || lane->of->context != lane->place.context)
            return check_say("lane 0x%" PRIx64 " belongs to another context than 0x%" PRIx64, lane->place.stream,
                             lane->place.context);
        lane->counted = 0;
        lane->of->counted++;
    }
    return NULL;
}

static const char *check_lanes(const struct queue *queue)
{
    size_t items = 0, lanes = 0;
    for (const struct queue_lane *lane = queue->lanes; lane; lane = lane->next) {
        if (!lane->items || lane->items != lane->counted)
            return check_say("lane 0x%" PRIx64 " has %zu items, but %zu refer to it", lane->place.stream, lane->counted,
                             lane->items);
        items += lane->items;
        lanes++;
    }
    if (items != queue->count)
        return check_say("only some of the %zu items, %zu, are on lanes of the queue", queue->count, items);
    for (const struct queue_context *context = queue->contexts; context; context = context->next) {
        if (!context->lanes || context->lanes != context->counted)
            return check_say("context 0x%" PRIx64 " has %zu lanes, but %zu refer to it", context->context, context->counted,
                             context->lanes);
        lanes -= context->lanes;
    }
    return lanes ? check_say("%zu lanes belong to no context of the queue", lanes) : NULL;
}

/* Like spread_news of queue.c, which must find nothing to do. */
static const char *check_seen(struct queue *queue)
{
    queue_unmark(queue);
    for (const struct queue_item *item = queue->news ? NULL : queue->last; item; item = item->before) {
        if (!item->seen && queue_behind_marked(item->lane))
            return check_say(NUMBER " is not seen, but a later item in the order is", item->number);
        if (!item->seen)
            continue;
        queue_mark(item->lane);
        if (item->needed && !item->needed->seen)
            return check_say(NUMBER " is not seen, but " NUMBER ", which needs it, is", item->needed->number, item->number);
    }
    return NULL;
}

const char *queue_check(struct queue *queue)
{
    const char *said = start_counting(queue);
    if (!said)
        said = check_items(queue);
    if (!said)
        said = check_needers(queue);
    if (!said)
        said = check_lanes(queue);
    return said ? said : check_seen(queue);
}
