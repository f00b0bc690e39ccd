#include "queue.h"

#include <stdlib.h>

struct queue_lane {
    struct queue_lane *next;
    struct queue_place place;
    size_t items;
    bool marked; /* scratch of a pass over the items */
};

const struct queue_place *queue_place_of(const struct queue_item *item)
{
    return &item->lane->place;
}

static bool same(const struct queue_place *a, const struct queue_place *b)
{
    return a->context == b->context && a->stream == b->stream && a->thread == b->thread;
}

static bool ordered(const struct queue_place *a, const struct queue_place *b)
{
    if (same(a, b))
        return true;
    return a->context == b->context && ((a->kind == QUEUE_DEFAULT && b->kind == QUEUE_BLOCKING) ||
                                        (a->kind == QUEUE_BLOCKING && b->kind == QUEUE_DEFAULT));
}

static struct queue_lane *lane_of(struct queue *queue, const struct queue_place *place)
{
    struct queue_lane *lane = queue->lanes;
    while (lane && !same(&lane->place, place))
        lane = lane->next;
    if (!lane && (lane = calloc(1, sizeof *lane)) != NULL) {
        lane->place = *place;
        lane->next = queue->lanes;
        queue->lanes = lane;
    }
    return lane;
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

/* Nobody needs what is removed any more. */
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
    free(lane);
}

void queue_remove(struct queue *queue, struct queue_item *item)
{
    let_go(item);
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
    queue->left--;
}

void queue_seen(struct queue *queue, struct queue_item *item)
{
    queue->news = queue->news || !item->seen;
    item->seen = true;
}

static void unmark(struct queue *queue)
{
    for (struct queue_lane *lane = queue->lanes; lane; lane = lane->next)
        lane->marked = false;
}

static bool behind_marked(const struct queue *queue, const struct queue_lane *lane)
{
    for (const struct queue_lane *other = queue->lanes; other; other = other->next)
        if (other->marked && ordered(&other->place, &lane->place))
            return true;
    return false;
}

static bool aimed_at(const struct queue_aim *aim, const struct queue_item *item)
{
    const struct queue_place *place = &item->lane->place;
    if (item->number > aim->until)
        return false;
    switch (aim->scope) { /* LCOV_EXCL_BR_LINE: there are no others */
    case QUEUE_LANE:
        return same(&aim->place, place);
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

/* Backwards: whatever is wanted makes all that stands before it on ordered lanes wanted, and what it needs. */
static size_t mark_wanted(struct queue *queue, const struct queue_aim *aim)
{
    size_t left = 0;
    unmark(queue);
    for (struct queue_item *item = queue->first; item; item = item->after)
        item->wanted = false;
    for (struct queue_item *item = queue->last; item; item = item->before) {
        item->wanted = item->wanted || aimed_at(aim, item) || behind_marked(queue, item->lane);
        if (!item->wanted)
            continue;
        item->lane->marked = true;
        left += item->state != QUEUE_DONE;
        if (item->needed)
            item->needed->wanted = true;
    }
    return left;
}

/* Backwards: what was seen proves all that it comes after. */
static void spread_news(struct queue *queue)
{
    unmark(queue);
    for (struct queue_item *item = queue->last; item; item = item->before) {
        item->seen = item->seen || behind_marked(queue, item->lane);
        if (!item->seen)
            continue;
        item->lane->marked = true;
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

/* Forwards: what is not done holds up all that comes after it on ordered lanes. A mark that nothing holds up is done. */
static void mark_ready(struct queue *queue)
{
    unmark(queue);
    for (struct queue_item *item = queue->first; item; item = item->after) {
        item->ready = item->state == QUEUE_WAITING && !behind_marked(queue, item->lane) &&
                      (!item->needed || item->needed->state == QUEUE_DONE);
        if (item->ready && item->mark) {
            item->ready = false;
            queue_done(queue, item);
        }
        if (item->state != QUEUE_DONE)
            item->lane->marked = true;
    }
}

size_t queue_want(struct queue *queue, const struct queue_aim *aim)
{
    mark_ready(queue);
    return mark_wanted(queue, aim);
}

size_t queue_ready(const struct queue *queue)
{
    size_t count = 0;
    for (const struct queue_item *item = queue->first; item; item = item->after)
        count += item->ready;
    return count;
}

struct queue_item *queue_ready_at(const struct queue *queue, size_t place)
{
    struct queue_item *item = queue->first;
    while (item && (!item->ready || place--))
        item = item->after;
    return item;
}

struct queue_item *queue_first_wanted(const struct queue *queue)
{
    struct queue_item *item = queue->first;
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
