/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_parts.h"

#include <stdlib.h>

#include "heap.h"

const struct queue_place *queue_place_of(const struct queue_item *item)
{
    return &item->lane->place;
}

static bool ordered(const struct queue_place *a, const struct queue_place *b)
{
    if (queue_same_lane(a, b))
        return true;
    return a->context == b->context && ((a->kind == QUEUE_DEFAULT && b->kind == QUEUE_BLOCKING) ||
                                        (a->kind == QUEUE_BLOCKING && b->kind == QUEUE_DEFAULT));
}

static struct queue_context *context_of(struct queue *queue, uint64_t value)
{
    struct queue_context *context = queue->contexts;
    while (context && context->context != value)
        context = context->next;
    if (!context && (context = heap.calloc(1, sizeof *context)) != NULL) {
        context->context = value;
        context->next = queue->contexts;
        queue->contexts = context;
    }
    return context;
}

static void drop_context(struct queue *queue, struct queue_context *context)
{
    struct queue_context **link = &queue->contexts;
    while (*link != context)
        link = &(*link)->next;
    *link = context->next;
    heap.free(context);
}

static struct queue_lane *new_lane(struct queue *queue, const struct queue_place *place)
{
    struct queue_context *context = context_of(queue, place->context);
    struct queue_lane *lane = context ? heap.calloc(1, sizeof *lane) : NULL;
    if (!lane) {
        if (context && !context->lanes)
            drop_context(queue, context);
        return NULL;
    }
    lane->place = *place;
    lane->of = context;
    lane->of->lanes++;
    lane->next = queue->lanes;
    queue->lanes = lane;
    return lane;
}

static struct queue_lane *lane_of(struct queue *queue, const struct queue_place *place)
{
    struct queue_lane *lane = queue->last && queue_same_lane(&queue->last->lane->place, place) ? queue->last->lane : queue->lanes;
    while (lane && !queue_same_lane(&lane->place, place))
        lane = lane->next;
    return lane ? lane : new_lane(queue, place);
}

bool queue_add(struct queue *queue, struct queue_item *item, const struct queue_place *place)
{
    struct queue_lane *lane = lane_of(queue, place);
    if (!lane)
        return false;
    lane->items++;
    *item = (struct queue_item){.before = queue->last, .lane = lane, .number = ++queue->issued};
    *(queue->last ? &queue->last->after : &queue->first) = item;
    queue->last = item;
    queue->undone = queue->undone ? queue->undone : item;
    queue->count++;
    queue->left++;
    return true;
}

bool queue_add_mark(struct queue *queue, struct queue_item *item, const struct queue_place *place, uint64_t needs)
{
    if (!queue_add(queue, item, place))
        return false;
    struct queue_item *needed = needs ? item->before : NULL;
    while (needed && needed->number > needs)
        needed = needed->before;
    item->mark = true;
    item->needed = needed && needed->number == needs ? needed : NULL;
    if (item->needed)
        item->needed->needers++;
    return true;
}

/* Drops the references between marks and a removed item. */
static void let_go(struct queue_item *item)
{
    if (item->needed)
        item->needed->needers--;
    for (struct queue_item *other = item->after; item->needers; other = other->after)
        if (other->needed == item) {
            other->needed = NULL;
            item->needers--;
        }
}

static void drop_lane(struct queue *queue, struct queue_lane *lane)
{
    struct queue_lane **link = &queue->lanes;
    while (*link != lane)
        link = &(*link)->next;
    *link = lane->next;
    if (!--lane->of->lanes)
        drop_context(queue, lane->of);
    heap.free(lane);
}

/* Moves undone to the first unfinished item at or after item. */
static void find_undone(struct queue *queue, struct queue_item *item)
{
    while (item && item->state == QUEUE_DONE)
        item = item->after;
    queue->undone = item;
}

void queue_remove(struct queue *queue, struct queue_item *item)
{
    let_go(item);
    if (queue->undone == item)
        find_undone(queue, item->after);
    *(item->before ? &item->before->after : &queue->first) = item->after;
    *(item->after ? &item->after->before : &queue->last) = item->before;
    queue->count--;
    queue->left -= item->state != QUEUE_DONE;
    if (!--item->lane->items)
        drop_lane(queue, item->lane);
}

void queue_done(struct queue *queue, struct queue_item *item)
{
    item->state = QUEUE_DONE;
    item->ready = false;
    if (item->timed)
        item->when = queue->clock();
    queue->left--;
    if (queue->undone == item)
        find_undone(queue, item->after);
}

void queue_seen(struct queue *queue, struct queue_item *item)
{
    queue->news = queue->news || !item->seen;
    item->seen = true;
}

static bool aimed_at(const struct queue_aim *aim, const struct queue_item *item)
{
    const struct queue_place *place = &item->lane->place;
    if (item->number > aim->until)
        return false;
    switch (aim->scope) { /* LCOV_EXCL_BR_LINE: the enum has no other values */
    case QUEUE_LANE:
        return queue_same_lane(&aim->place, place);
    case QUEUE_ORDERED:
        return ordered(&aim->place, place);
    case QUEUE_CONTEXT:
        return aim->place.context == place->context;
    case QUEUE_DEVICE:
        return aim->place.device == place->device;
    case QUEUE_ITEM:
        break;
    }
    return item->number == aim->until;
}

/* Backward pass: a wanted item makes everything before it on ordered lanes wanted, and the mark that it needs. */
static size_t mark_wanted(struct queue *queue, const struct queue_aim *aim)
{
    size_t left = 0;
    queue_unmark(queue);
    for (struct queue_item *item = queue->first; item; item = item->after)
        item->wanted = false;
    for (struct queue_item *item = queue->last; item; item = item->before) {
        item->wanted = item->wanted || aimed_at(aim, item) || queue_behind_marked(item->lane);
        if (!item->wanted)
            continue;
        queue_mark(item->lane);
        left += item->state != QUEUE_DONE;
        if (item->needed)
            item->needed->wanted = true;
    }
    return left;
}

/* Backward pass: a seen item proves that everything before it in the order is done. */
static void spread_news(struct queue *queue)
{
    queue_unmark(queue);
    for (struct queue_item *item = queue->last; item; item = item->before) {
        item->seen = item->seen || queue_behind_marked(item->lane);
        if (!item->seen)
            continue;
        queue_mark(item->lane);
        if (item->needed)
            item->needed->seen = true;
    }
    queue->news = false;
}

bool queue_known(struct queue *queue, const struct queue_item *item)
{
    if (queue->news)
        spread_news(queue);
    return item->seen && item->state == QUEUE_DONE;
}

/* Forward pass: an unfinished item blocks everything after it on ordered lanes. Completes the marks that nothing blocks. Returns
 * the first ready item that fits accepts, and flags nothing after it; with fits NULL, flags all and returns NULL. */
static struct queue_item *mark_ready(struct queue *queue, bool (*fits)(const struct queue_item *))
{
    struct queue_item *next;
    queue_unmark(queue);
    for (struct queue_item *item = queue->undone; item; item = next) {
        next = item->after;
        item->ready = item->state == QUEUE_WAITING && !item->blocked && !queue_behind_marked(item->lane) &&
                      (!item->needed || item->needed->state == QUEUE_DONE);
        if (item->ready && item->mark)
            queue_done(queue, item);
        else if (item->ready && fits && fits(item))
            return item;
        if (item->state != QUEUE_DONE)
            queue_mark(item->lane);
    }
    return NULL;
}

/* Work of the same lane is usually the newest, and decides without a scan of all items. */
void queue_time_mark(struct queue *queue, struct queue_item *item)
{
    const struct queue_item *before = item->before;
    item->timed = true;
    if (!before || before->mark || before->lane != item->lane || before->state == QUEUE_DONE)
        mark_ready(queue, NULL);
}

struct queue_item *queue_first_ready(struct queue *queue, bool (*fits)(const struct queue_item *item))
{
    return mark_ready(queue, fits);
}

size_t queue_want(struct queue *queue, const struct queue_aim *aim)
{
    mark_ready(queue, NULL);
    return mark_wanted(queue, aim);
}

void queue_look(struct queue *queue)
{
    mark_ready(queue, NULL);
}

size_t queue_ready(const struct queue *queue)
{
    size_t count = 0;
    for (const struct queue_item *item = queue->undone; item; item = item->after)
        count += item->ready;
    return count;
}

struct queue_item *queue_ready_at(const struct queue *queue, size_t place)
{
    struct queue_item *item = queue->undone;
    while (item && (!item->ready || place--))
        item = item->after;
    return item;
}

struct queue_item *queue_first_wanted(const struct queue *queue)
{
    struct queue_item *item = queue->undone;
    while (item && !(item->ready && item->wanted))
        item = item->after;
    return item;
}

struct queue_item *queue_next_wanted(struct queue *queue, struct queue_item *item)
{
    for (item = item ? item->after : queue->first; item; item = item->after) {
        if (!item->wanted || item->state == QUEUE_DONE)
            continue;
        if (!item->mark)
            return item;
        queue_done(queue, item);
    }
    return NULL;
}
