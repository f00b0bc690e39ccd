/* SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

#include "heap.h"

void lanes_open(struct lanes *lanes)
{
    *lanes = (struct lanes){.waiting_since = UINT64_MAX, .sweep_at = LANES_FEW};
    addrmap_init(&lanes->by_id, 0);
}

void lane_drop(struct order_lane *lane)
{
    if (--lane->holders)
        return;
    vector_clock_drop(lane->clock);
    heap.free(lane->known);
    heap.free(lane);
}

/* ---- the table of lanes ---- */

static struct order_lane **bucket_of(struct lanes *lanes, const struct queue_place *place)
{
    uint64_t hash = (place->context ^ place->stream * 3 ^ place->thread * 5) * UINT64_C(0x9e3779b97f4a7c15);
    return &lanes->bucket[hash >> 54];
}

static void leave_bucket(struct lanes *lanes, const struct order_lane *lane)
{
    struct order_lane **link = bucket_of(lanes, &lane->place);
    while (*link != lane)
        link = &(*link)->next_in_bucket;
    *link = lane->next_in_bucket;
}

static void leave(struct lanes *lanes, struct order_lane *lane)
{
    leave_bucket(lanes, lane);
    addrmap_remove(&lanes->by_id, lane->id);
    if (lane->before)
        lane->before->next = lane->next;
    else
        lanes->first = lane->next;
    if (lane->next)
        lane->next->before = lane->before;
    lanes->count--;
    lane_drop(lane);
}

static void forget_dirty(struct lane_context *context)
{
    for (size_t i = 0; i < context->count; i++) {
        context->dirty[i]->dirty = false;
        lane_drop(context->dirty[i]);
    }
    context->count = 0;
}

void lanes_close(struct lanes *lanes)
{
    for (struct lane_context *next, *context = lanes->contexts; context; context = next) {
        next = context->next;
        forget_dirty(context);
        if (context->base)
            lane_drop(context->base);
        vector_clock_drop(context->after_base);
        heap.free(context->dirty);
        heap.free(context);
    }
    while (lanes->first)
        leave(lanes, lanes->first);
    addrmap_clear(&lanes->by_id);
    *lanes = (struct lanes){.waiting_since = UINT64_MAX};
}

static uint64_t known_now(const struct order_lane *lane)
{
    return lane->knowns ? lane->known[lane->knowns - 1].tick : 0;
}

/* Drops the lanes whose work the host knows to be done, because everything to come is ordered after it. */
static void sweep(struct lanes *lanes)
{
    for (struct order_lane *next, *lane = lanes->first; lane; lane = next) {
        next = lane->next;
        if (known_now(lane) == lane->now && !lane->dirty && lane->place.kind != QUEUE_DEFAULT && lane->holders == 1)
            leave(lanes, lane);
    }
    lanes->sweep_at = 2 * lanes->count > LANES_FEW ? 2 * lanes->count : LANES_FEW;
}

static struct order_lane *find(struct lanes *lanes, const struct queue_place *place)
{
    struct order_lane *lane = *bucket_of(lanes, place);
    while (lane && !queue_same_lane(&lane->place, place))
        lane = lane->next_in_bucket;
    return lane;
}

static struct order_lane *lane_of(struct lanes *lanes, const struct queue_place *place)
{
    struct order_lane *lane = find(lanes, place);
    if (lane || lanes->exhausted)
        return lane;
    if (lanes->count >= lanes->sweep_at)
        sweep(lanes);
    lane = heap.calloc(1, sizeof *lane);
    if (lane)
        *lane = (struct order_lane){.place = *place, .id = ++lanes->ids, .holders = 1};
    if (!lane || !addrmap_insert(&lanes->by_id, lane->id, lane)) {
        heap.free(lane);
        lanes->exhausted = true;
        return NULL;
    }
    struct order_lane **bucket = bucket_of(lanes, place);
    lane->next_in_bucket = *bucket;
    *bucket = lane;
    lane->next = lanes->first;
    if (lane->next)
        lane->next->before = lane;
    lanes->first = lane;
    lanes->count++;
    return lane;
}

/* The lane of that number; NULL: the host knows all of its work. */
static struct order_lane *by_id(const struct lanes *lanes, uint64_t id)
{
    struct order_lane *lane = addrmap_floor(&lanes->by_id, id);
    return lane && lane->id == id ? lane : NULL;
}

/* ---- order between lanes ---- */

/* The user of a new clock. */
struct joining {
    const struct lanes *lanes;
    bool fresh; /* no tick can be dropped: the host has learned nothing since its inputs were made */
};

/* A tick that the host knows, so everything issued from now on is ordered after it. */
static bool is_old(void *user, const struct vector_tick *tick)
{
    const struct joining *joining = user;
    if (joining->fresh)
        return false;
    if (tick->lane == LANES_UNKNOWN)
        return tick->tick <= joining->lanes->unknowns_known;
    const struct order_lane *lane = by_id(joining->lanes, tick->lane);
    return !lane || tick->tick <= known_now(lane);
}

/* A clock ordered after both and after the tick, which the host does not know. NULL is the empty one, also when exhausted. */
static struct vector_clock *joined(struct lanes *lanes, const struct vector_clock *a, const struct vector_clock *b,
                                   const struct vector_tick *tick)
{
    struct joining joining = {lanes, (!a || a->epoch == lanes->epoch) && (!b || b->epoch == lanes->epoch)};
    struct vector_clock *made;
    lanes->exhausted |= !vector_clock_join(a, b, tick, is_old, &joining, &made);
    if (made)
        made->epoch = lanes->epoch;
    return made;
}

static void join(struct lanes *lanes, struct order_lane *lane, const struct vector_clock *clock, const struct vector_tick *tick)
{
    struct vector_clock *made = joined(lanes, lane->clock, clock, tick);
    vector_clock_drop(lanes->exhausted ? made : lane->clock); /* exhausted, possibly before this join */
    if (!lanes->exhausted)
        lane->clock = made;
}

/* Orders the lane's next work after everything issued in the other so far. */
static void join_lane(struct lanes *lanes, struct order_lane *lane, const struct order_lane *other)
{
    if (lane == other || known_now(other) == other->now || vector_clock_of(lane->clock, other->id) >= other->now)
        return;
    join(lanes, lane, other->clock, &(struct vector_tick){other->id, other->now});
}

static struct lane_context *context_of(struct lanes *lanes, uint64_t value)
{
    struct lane_context *context = lanes->contexts;
    while (context && context->value != value)
        context = context->next;
    if (context || !(context = heap.calloc(1, sizeof *context))) {
        lanes->exhausted |= !context;
        return context;
    }
    context->value = value;
    context->next = lanes->contexts;
    lanes->contexts = context;
    return context;
}

static void note_dirty(struct lanes *lanes, struct lane_context *context, struct order_lane *lane)
{
    if (lane->dirty)
        return;
    if (context->count == context->room) {
        struct order_lane **dirty = heap_grow(context->dirty, &context->room, 8, sizeof(struct order_lane *));
        if (!dirty) {
            lanes->exhausted = true;
            return;
        }
        context->dirty = dirty;
    }
    context->dirty[context->count++] = lane;
    lane->dirty = true;
    lane->holders++;
}

/* The next work of a blocking stream comes after the default stream's. That stream's last work was ordered after all
 * work of the blocking one, which has issued nothing since, so the default stream's clock covers both. */
static void come_after_base(struct lanes *lanes, struct order_lane *lane, struct lane_context *context)
{
    const struct order_lane *base = context->base;
    if (known_now(base) == base->now || vector_clock_of(lane->clock, base->id) >= base->now)
        return;
    if (lane->dirty) {
        join_lane(lanes, lane, base);
        return;
    }
    if (context->after_tick != base->now || !context->after_base) {
        vector_clock_drop(context->after_base);
        context->after_base = joined(lanes, base->clock, NULL, &(struct vector_tick){base->id, base->now});
        context->after_tick = base->now;
    }
    vector_clock_drop(lane->clock);
    lane->clock = vector_clock_hold(context->after_base);
}

static int by_lane(const void *left, const void *right)
{
    const struct vector_tick *a = left, *b = right;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

/* Orders the default stream's next work after that of the dirty streams. Streams that were ordered only after the
 * default stream add just their own ticks, all at once. */
static void come_after_dirty(struct lanes *lanes, struct order_lane *lane, const struct lane_context *context)
{
    struct vector_clock *ticks = heap.malloc(sizeof *ticks + context->count * sizeof ticks->tick[0]);
    if (!ticks) {
        lanes->exhausted = true;
        return;
    }
    *ticks = (struct vector_clock){.epoch = lanes->epoch, .holders = 1};
    for (size_t i = 0; i < context->count; i++) {
        const struct order_lane *dirty = context->dirty[i];
        if (dirty->clock && dirty->clock != context->after_base)
            join_lane(lanes, lane, dirty);
        else if (known_now(dirty) < dirty->now)
            ticks->tick[ticks->count++] = (struct vector_tick){dirty->id, dirty->now};
    }
    qsort(ticks->tick, ticks->count, sizeof ticks->tick[0], by_lane);
    if (ticks->count)
        join(lanes, lane, ticks, NULL);
    vector_clock_drop(ticks);
}

/* Orders the lane's next work with the default stream of its context. */
static void order_by_default(struct lanes *lanes, struct order_lane *lane)
{
    struct lane_context *context = lane->place.kind == QUEUE_NON_BLOCKING ? NULL : context_of(lanes, lane->place.context);
    if (!context)
        return;
    if (lane->place.kind == QUEUE_BLOCKING) {
        if (context->base)
            come_after_base(lanes, lane, context);
        note_dirty(lanes, context, lane);
        return;
    }
    if (!context->base) {
        context->base = lane;
        lane->holders++;
    }
    if (context->count)
        come_after_dirty(lanes, lane, context);
    forget_dirty(context);
}

struct order_lane *lanes_issue(struct lanes *lanes, const struct queue_place *place)
{
    struct order_lane *lane = lane_of(lanes, place);
    if (!lane)
        return NULL;
    order_by_default(lanes, lane);
    lane->now++;
    return lanes->exhausted ? NULL : lane;
}

struct vector_clock *lanes_record(struct lanes *lanes, const struct queue_place *place)
{
    struct order_lane *lane = lanes_issue(lanes, place);
    return lane ? joined(lanes, lane->clock, NULL, &(struct vector_tick){lane->id, lane->now}) : NULL;
}

void lanes_wait(struct lanes *lanes, const struct queue_place *place, const struct vector_clock *clock)
{
    struct order_lane *lane = clock ? lane_of(lanes, place) : NULL;
    if (!lane)
        return;
    lanes_issue(lanes, place); /* first: a blocking stream whose clock changes is dirty */
    join(lanes, lane, clock, NULL);
}

void lanes_pass(struct lanes *lanes, const struct queue_place *from, const struct queue_place *to)
{
    struct vector_clock *clock = lanes_record(lanes, from);
    lanes_wait(lanes, to, clock);
    vector_clock_drop(clock);
}

void lanes_wait_for_all(struct lanes *lanes, const struct queue_place *place)
{
    struct order_lane *lane = lane_of(lanes, place);
    if (lane)
        lanes_issue(lanes, place);
    for (const struct order_lane *other = lane ? lanes->first : NULL; other; other = other->next)
        join_lane(lanes, lane, other);
}

void lanes_wait_for_unknown(struct lanes *lanes, const struct queue_place *place)
{
    struct order_lane *lane = lane_of(lanes, place);
    if (!lane)
        return;
    lanes_issue(lanes, place);
    join(lanes, lane, NULL, &(struct vector_tick){LANES_UNKNOWN, ++lanes->unknowns});
}

/* ---- the host's knowledge ---- */

/* Drops pairs that no unfinished work can query: those before the last one of its epoch. */
static void prune(const struct lanes *lanes, struct order_lane *lane)
{
    size_t drop = 0;
    if (lanes->waiting_since == UINT64_MAX)
        drop = lane->knowns;
    else
        while (drop + 1 < lane->knowns && lane->known[drop + 1].epoch <= lanes->waiting_since)
            drop++;
    if (!drop)
        return;
    lane->knowns -= drop;
    memmove(lane->known, lane->known + drop, lane->knowns * sizeof *lane->known);
}

static void raise(struct lanes *lanes, struct order_lane *lane, uint64_t tick)
{
    if (tick <= known_now(lane))
        return;
    prune(lanes, lane);
    if (lane->knowns == lane->room) {
        struct lane_known *known = heap_grow(lane->known, &lane->room, 1, sizeof *known);
        if (!known) {
            lanes->exhausted = true;
            return;
        }
        lane->known = known;
    }
    lane->known[lane->knowns++] = (struct lane_known){tick, lanes->epoch};
}

bool lane_known_in(const struct order_lane *lane, uint64_t tick, uint64_t epoch)
{
    for (size_t i = lane->knowns; i-- > 0;)
        if (lane->known[i].epoch <= epoch)
            return tick <= lane->known[i].tick;
    return false;
}

static void know_everything(struct lanes *lanes)
{
    lanes->unknowns_known = lanes->unknowns;
    for (struct order_lane *lane = lanes->first; lane; lane = lane->next)
        raise(lanes, lane, lane->now);
}

static void know_clock(struct lanes *lanes, const struct vector_clock *clock)
{
    if (lanes_unknown(lanes, clock))
        know_everything(lanes);
    for (size_t i = 0; clock && i < clock->count; i++) {
        struct order_lane *lane = by_id(lanes, clock->tick[i].lane);
        if (lane)
            raise(lanes, lane, clock->tick[i].tick);
    }
}

static void know_lane(struct lanes *lanes, struct order_lane *lane)
{
    raise(lanes, lane, lane->now);
    know_clock(lanes, lane->clock);
}

void lanes_host_knows(struct lanes *lanes, const struct vector_clock *clock)
{
    if (!clock)
        return;
    lanes->epoch++;
    know_clock(lanes, clock);
}

void lanes_host_knows_tick(struct lanes *lanes, struct order_lane *lane, uint64_t tick, const struct vector_clock *clock)
{
    lanes->epoch++;
    raise(lanes, lane, tick);
    know_clock(lanes, clock);
}

void lanes_host_knows_all(struct lanes *lanes)
{
    lanes->epoch++;
    know_everything(lanes);
}

/* The clock of an item that would be issued in this stream now. */
static void know_ordered(struct lanes *lanes, const struct queue_place *place)
{
    struct order_lane *lane = find(lanes, place);
    struct lane_context *context = place->kind == QUEUE_NON_BLOCKING ? NULL : context_of(lanes, place->context);
    if (lane)
        know_lane(lanes, lane);
    if (context && context->base)
        know_lane(lanes, context->base);
    if (!context || place->kind != QUEUE_DEFAULT)
        return;
    for (size_t i = 0; i < context->count; i++)
        know_lane(lanes, context->dirty[i]);
}

void lanes_host_waits(struct lanes *lanes, const struct queue_place *place, enum queue_scope scope)
{
    struct order_lane *lane = scope == QUEUE_LANE ? find(lanes, place) : NULL;
    lanes->epoch++;
    if (lane)
        know_lane(lanes, lane);
    if (scope == QUEUE_ORDERED)
        know_ordered(lanes, place);
    if (scope != QUEUE_CONTEXT && scope != QUEUE_DEVICE)
        return;
    for (lane = lanes->first; lane; lane = lane->next)
        if (scope == QUEUE_CONTEXT ? lane->place.context == place->context : lane->place.device == place->device)
            know_lane(lanes, lane);
}

/* ---- invariants ---- */

static const char *check_lane(const struct lanes *lanes, const struct order_lane *lane)
{
    for (size_t i = 0; lane->clock && i < lane->clock->count; i++) {
        const struct order_lane *other = by_id(lanes, lane->clock->tick[i].lane);
        if (other && lane->clock->tick[i].tick > other->now)
            return "a lane comes after work that was never issued";
    }
    for (size_t i = 1; i < lane->knowns; i++)
        if (lane->known[i].tick <= lane->known[i - 1].tick || lane->known[i].epoch < lane->known[i - 1].epoch)
            return "what the host knows about a lane does not increase";
    return known_now(lane) > lane->now ? "the host knows work that was never issued" : NULL;
}

static uint64_t id_of(const void *lane)
{
    return ((const struct order_lane *)lane)->id;
}

const char *lanes_check(const struct lanes *lanes)
{
    const char *wrong = addrmap_check(&lanes->by_id, id_of);
    for (const struct order_lane *lane = lanes->first; lane && !wrong; lane = lane->next)
        wrong = check_lane(lanes, lane);
    return wrong;
}
