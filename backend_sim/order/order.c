/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include "heap.h"

/* Ranges of one running piece of work: kernels process a few arrays at once, element by element. */
enum { RUN_RANGES = 8 };

struct order_run {
    struct {
        struct accesses_range range;
        enum order_use use;
        bool there;
    } part[RUN_RANGES];
    unsigned next; /* the one to record when a free one is needed */
};

struct order *order_open(void)
{
    struct order *order = heap.calloc(1, sizeof *order);
    if (!order)
        return NULL;
    lanes_open(&order->lanes);
    accesses_open(&order->accesses);
    addrmap_init(&order->events, 0);
    return order;
}

/* ---- work ---- */

static void hold(struct order_work *work)
{
    work->holders++;
}

void order_drop(struct order_work *work)
{
    if (!work || --work->holders)
        return;
    vector_clock_drop(work->clock);
    lane_drop(work->lane);
    heap.free(work->run);
    heap.free(work);
}

struct order_work *order_issue(struct order *order, const struct queue_place *place, const struct order_name *name)
{
    struct order_lane *lane = order_ended(order) ? NULL : lanes_issue(&order->lanes, place);
    struct order_work *work = lane ? heap.malloc(sizeof *work) : NULL;
    if (!work) {
        order->lanes.exhausted = true;
        return NULL;
    }
    *work = (struct order_work){.lane = lane, .tick = lane->now, .epoch = order->lanes.epoch, .holders = 1, .name = *name,
                                .clock = vector_clock_hold(lane->clock), .number = ++order->numbers};
    lane->holders++;
    return work;
}

void order_runs(struct order *order, struct order_work *work)
{
    if (order_ended(order))
        return;
    work->run = heap.calloc(1, sizeof *work->run);
    order->lanes.exhausted = !work->run;
    if (!work->run)
        return;
    work->waits = true;
    work->older = order->newest;
    if (work->older)
        work->older->newer = work;
    else
        order->oldest = work;
    order->newest = work;
    order->lanes.waiting_since = order->oldest->epoch;
}

static void leave_waiting(struct order *order, struct order_work *work)
{
    if (work->older)
        work->older->newer = work->newer;
    else
        order->oldest = work->newer;
    if (work->newer)
        work->newer->older = work->older;
    else
        order->newest = work->older;
    work->waits = false;
    order->lanes.waiting_since = order->oldest ? order->oldest->epoch : UINT64_MAX;
}

/* ---- findings ---- */

static bool is_settled(void *user, const struct order_work *work)
{
    const struct order *order = user;
    return !work->waits && lane_settled(&order->lanes, work->lane, work->tick);
}

static bool is_before(void *user, const struct order_work *work, const struct order_work *other)
{
    (void)user;
    if (work->lane == other->lane)
        return work->tick < other->tick;
    return vector_clock_of(other->clock, work->lane->id) >= work->tick || lane_known_in(work->lane, work->tick, other->epoch);
}

static bool may_be_late(void *user)
{
    return ((const struct order *)user)->oldest != NULL;
}

/* The call site of a piece of work, if known; else the work itself. */
static uint64_t place_of(const struct order_name *name)
{
    return name->stack ? name->stack : name->call << 32;
}

/* Has this pair of call sites been found before? Remembers it. */
static bool again(struct order *order, const struct order_name *a, const struct order_name *b)
{
    enum { ROOM = sizeof order->reported / sizeof order->reported[0] };
    uint64_t pair = (place_of(a) * UINT64_C(0xbf58476d1ce4e5b9) ^ place_of(b)) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    uint64_t *slot = &order->reported[(pair >> 32) % ROOM];
    bool was = *slot == pair;
    *slot = pair;
    return was;
}

static void add_found(struct order *order, const struct order_found *found)
{
    if (order->finds == ORDER_FOUND_MOST || again(order, &found->side[0].name, &found->side[1].name))
        return;
    order->found[(order->first_found + order->finds++) % ORDER_FOUND_MOST] = *found;
}

static void find(void *user, struct order_work *work, enum order_use use, struct order_work *now, enum order_use uses,
                 const struct accesses_range *range)
{
    bool later = work->number > now->number;
    const struct order_side sides[] = {{work->name, use}, {now->name, uses}};
    add_found(user, &(struct order_found){false, {sides[later], sides[!later]}, *range});
}

void order_add_unwritten(struct order *order, const struct order_name *name, const struct accesses_range *range)
{
    add_found(order, &(struct order_found){.unwritten = true, .side[1] = {*name, ORDER_READ}, .range = *range});
}

bool order_take_found(struct order *order, struct order_found *found)
{
    if (!order->finds)
        return false;
    *found = order->found[order->first_found];
    order->first_found = (order->first_found + 1) % ORDER_FOUND_MOST;
    order->finds--;
    return true;
}

/* ---- accesses ---- */

static struct accesses_owner owner_of(struct order *order)
{
    return (struct accesses_owner){is_settled, is_before, may_be_late, find, hold, order_drop, order};
}

static void note(struct order *order, struct order_work *work, enum order_use use, const struct accesses_range *range)
{
    const struct accesses_owner owner = owner_of(order);
    accesses_note(&order->accesses, &owner, work, use, range);
}

static bool joins(const struct accesses_range *range, const struct accesses_range *next)
{
    return range->memory == next->memory && next->first <= range->last + 1 && range->first <= next->last + 1;
}

/* Appends the access to a range that it continues, or records another range to make room for it. */
static void collect(struct order *order, struct order_work *work, enum order_use use, const struct accesses_range *range)
{
    struct order_run *run = work->run;
    for (unsigned i = 0; i < RUN_RANGES; i++) {
        struct accesses_range *known = &run->part[i].range;
        if (!run->part[i].there || run->part[i].use != use || !joins(known, range))
            continue;
        known->first = range->first < known->first ? range->first : known->first;
        known->last = range->last > known->last ? range->last : known->last;
        return;
    }
    unsigned place = run->next++ % RUN_RANGES;
    if (run->part[place].there)
        note(order, work, run->part[place].use, &run->part[place].range);
    run->part[place].range = *range;
    run->part[place].use = use;
    run->part[place].there = true;
}

void order_note(struct order *order, struct order_work *work, enum order_use use, const struct accesses_range *range)
{
    if (!work || order_ended(order) || lanes_unknown(&order->lanes, work->clock))
        return;
    if (work->waits)
        collect(order, work, use, range);
    else
        note(order, work, use, range);
}

void order_done(struct order *order, struct order_work *work)
{
    if (!work || !work->waits)
        return;
    for (unsigned i = 0; i < RUN_RANGES && !order_ended(order); i++)
        if (work->run->part[i].there)
            note(order, work, work->run->part[i].use, &work->run->part[i].range);
    leave_waiting(order, work);
    heap.free(work->run);
    work->run = NULL;
}

void order_seen(struct order *order, struct order_work *work, bool itself)
{
    if (work && !order_ended(order))
        lanes_host_knows_tick(&order->lanes, work->lane, work->tick - !itself, work->clock);
}

void order_forget(struct order *order, const struct accesses_range *range)
{
    const struct accesses_owner owner = owner_of(order);
    if (!order_ended(order))
        accesses_forget(&order->accesses, &owner, range);
}

/* ---- events ---- */

static struct order_event *event_of(const struct order *order, uint64_t value)
{
    struct order_event *event = addrmap_floor(&order->events, value);
    return event && event->value == value ? event : NULL;
}

static struct order_event *new_event(struct order *order, uint64_t value)
{
    struct order_event *event = heap.calloc(1, sizeof *event);
    if (event)
        event->value = value;
    if (event && addrmap_insert(&order->events, value, event))
        return event;
    heap.free(event);
    order->lanes.exhausted = true;
    return NULL;
}

void order_record(struct order *order, const struct queue_place *place, uint64_t value)
{
    struct vector_clock *clock = order_ended(order) ? NULL : lanes_record(&order->lanes, place);
    struct order_event *event = order_ended(order) ? NULL : event_of(order, value);
    if (!event && !order_ended(order))
        event = new_event(order, value);
    if (event) {
        vector_clock_drop(event->clock);
        event->clock = clock;
    } else {
        vector_clock_drop(clock);
    }
}

void order_wait(struct order *order, const struct queue_place *place, uint64_t value)
{
    const struct order_event *event = order_ended(order) ? NULL : event_of(order, value);
    if (event)
        lanes_wait(&order->lanes, place, event->clock);
}

void order_host_waits(struct order *order, uint64_t value)
{
    const struct order_event *event = order_ended(order) ? NULL : event_of(order, value);
    if (event)
        lanes_host_knows(&order->lanes, event->clock);
}

void order_end_event(struct order *order, uint64_t value)
{
    struct order_event *event = event_of(order, value);
    if (!event)
        return;
    addrmap_remove(&order->events, value);
    vector_clock_drop(event->clock);
    heap.free(event);
}

/* ---- values that streams wait for ---- */

static bool keeps(void *user, const struct vector_tick *tick)
{
    (void)user, (void)tick;
    return false;
}

void order_write_flag(struct order *order, struct order_work *work, uint64_t memory, uint64_t offset, uint64_t value)
{
    if (!work || order_ended(order))
        return;
    work->flag = true;
    work->value = value;
    const struct accesses_range range = {memory, offset, offset};
    const struct accesses_owner owner = owner_of(order);
    accesses_forget(&order->accesses, &owner, &range); /* conflicting accesses of a flag are not a mistake */
    note(order, work, ORDER_WRITE, &range);
}

void order_wait_flag(struct order *order, const struct queue_place *place, uint64_t memory, uint64_t offset,
                     order_satisfies satisfies, void *user)
{
    const struct order_work *writer = order_ended(order) ? NULL : accesses_writer(&order->accesses, memory, offset);
    if (order_ended(order))
        return;
    if (!writer || !writer->flag || !satisfies(user, writer->value)) {
        lanes_wait_for_unknown(&order->lanes, place);
        return;
    }
    struct vector_clock *clock = NULL;
    const struct vector_tick tick = {writer->lane->id, writer->tick};
    if (!vector_clock_join(writer->clock, NULL, &tick, keeps, NULL, &clock))
        order->lanes.exhausted = true;
    lanes_wait(&order->lanes, place, clock);
    vector_clock_drop(clock);
}

/* ---- the end, and checks ---- */

void order_close(struct order *order)
{
    if (!order)
        return;
    const struct accesses_owner owner = owner_of(order);
    for (struct order_event *event; (event = addrmap_ceil(&order->events, 0));)
        order_end_event(order, event->value);
    addrmap_clear(&order->events);
    accesses_close(&order->accesses, &owner);
    lanes_close(&order->lanes);
    heap.free(order);
}

const char *order_check(const struct order *order)
{
    const char *wrong = order_ended(order) ? NULL : lanes_check(&order->lanes);
    if (!wrong && !order_ended(order))
        wrong = accesses_check(&order->accesses);
    for (const struct order_work *work = order->oldest; work && !wrong; work = work->newer)
        if (!work->waits || (work->newer && work->newer->older != work))
            wrong = "the list of unfinished work is broken";
    return wrong;
}
