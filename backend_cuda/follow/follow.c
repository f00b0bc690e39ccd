/* SPDX-License-Identifier: Apache-2.0 */
#include "follow.h"

#include <pthread.h>
#include <stdatomic.h>

#include "heap.h"
#include "posix.h"

/* The driver's values of the default streams; 0 is one of them, depending on the form of the call. */
enum { NO_STREAM, LEGACY_STREAM, PER_THREAD_STREAM, FIRST_NUMBER };

/* A copy of that few bytes into host-visible memory itself shows that it is done, as in exec/order_feed.h. */
enum { VALUE_BYTES = 8 };

/* Registered memory has no block, so it gets the number of the host's address space. */
enum { HOST_ADDRESSES = 0 };

struct follow_stream {
    uint64_t value, context;
    uint32_t number; /* 3 in S3 */
    bool non_blocking;
};

struct follow_event {
    uint64_t value;
    bool shared;
};

struct follow_range {
    uint64_t start, size;
};

struct follow {
    pthread_mutex_t lock;
    struct order *order;
    struct follow_asks asks;
    struct addrmap streams, events, registered;
    uint32_t numbers, steps;
    bool events_unknown;  /* a launched graph may have recorded any event */
    _Atomic bool captures, graphs_order;
};

static void lock(struct follow *follow)
{
    pthread_mutex_lock(&follow->lock);
}

static void unlock(struct follow *follow)
{
    posix.pthread_mutex_unlock(&follow->lock);
}

static struct lanes *lanes_of(struct follow *follow)
{
    return &follow->order->lanes;
}

struct follow *follow_open(const struct follow_asks *asks)
{
    struct follow *follow = heap.calloc(1, sizeof *follow);
    if (!follow)
        return NULL;
    follow->order = order_open();
    if (!follow->order) {
        heap.free(follow);
        return NULL;
    }
    pthread_mutex_init(&follow->lock, NULL);
    follow->asks = *asks;
    addrmap_init(&follow->streams, 0);
    addrmap_init(&follow->events, 0);
    addrmap_init(&follow->registered, 0);
    return follow;
}

/* ---- tables of what the driver's values stand for ---- */

/* The key is the first member of each of the three. */
static void *at_value(const struct addrmap *map, uint64_t value)
{
    uint64_t *thing = addrmap_floor(map, value);
    return thing && *thing == value ? thing : NULL;
}

static void drop_value(struct addrmap *map, uint64_t value)
{
    if (at_value(map, value))
        heap.free(addrmap_remove(map, value));
}

static void drop_all(struct addrmap *map)
{
    for (uint64_t *thing; (thing = addrmap_ceil(map, 0));)
        drop_value(map, *thing);
    addrmap_clear(map);
}

/* Zeroed except for its key; NULL when host memory is exhausted: then nothing is tracked any more. */
static void *put_value(struct follow *follow, struct addrmap *map, uint64_t value, size_t size)
{
    drop_value(map, value);
    uint64_t *thing = heap.calloc(1, size);
    if (thing) {
        *thing = value;
        if (addrmap_insert(map, value, thing))
            return thing;
    }
    heap.free(thing);
    lanes_of(follow)->exhausted = true;
    return NULL;
}

void follow_close(struct follow *follow)
{
    drop_all(&follow->streams);
    drop_all(&follow->events);
    drop_all(&follow->registered);
    order_close(follow->order);
    pthread_mutex_destroy(&follow->lock);
    heap.free(follow);
}

/* ---- places ---- */

static uint64_t this_thread(void)
{
    static _Atomic uint64_t threads;
    static _Thread_local uint64_t mine;
    if (!mine)
        mine = atomic_fetch_add(&threads, 1) + 1;
    return mine;
}

static uint64_t default_of(uint64_t stream, bool per_thread)
{
    if (stream == NO_STREAM)
        return per_thread ? PER_THREAD_STREAM : LEGACY_STREAM;
    return stream < FIRST_NUMBER ? stream : NO_STREAM;
}

/* The state of a call on the stream. */
struct spot {
    struct queue_place place;
    uint64_t stream, context; /* context: of a default stream */
    uint32_t number;
    bool known, captured;
};

/* The queries that must be made without the lock. */
static struct spot spot_asked(struct follow *follow, uint64_t stream, bool per_thread)
{
    const struct follow_asks *asks = &follow->asks;
    const uint64_t standard = default_of(stream, per_thread);
    struct spot spot = {.stream = standard ? standard : stream, .context = standard ? asks->context(asks->user) : 0};
    /* Querying whether the legacy stream is being captured is an error while another stream is. */
    if (standard != LEGACY_STREAM && atomic_load_explicit(&follow->captures, memory_order_relaxed))
        spot.captured = asks->captured(asks->user, stream, per_thread);
    return spot;
}

static void find_place(struct follow *follow, struct spot *spot)
{
    const struct follow_stream *stream;
    if (spot->stream < FIRST_NUMBER) {
        const bool own = spot->stream == PER_THREAD_STREAM;
        spot->known = spot->context != 0;
        spot->place = (struct queue_place){.context = spot->context, .stream = spot->stream, .thread = own ? this_thread() : 0,
                                           .kind = own ? QUEUE_BLOCKING : QUEUE_DEFAULT};
    } else if ((stream = at_value(&follow->streams, spot->stream))) {
        spot->known = true;
        spot->number = stream->number;
        spot->place = (struct queue_place){.context = stream->context, .stream = (uint64_t)FIRST_NUMBER + stream->number,
                                           .kind = stream->non_blocking ? QUEUE_NON_BLOCKING : QUEUE_BLOCKING};
    }
}

static void put_stream(struct follow *follow, uint64_t value, uint64_t context, bool non_blocking)
{
    struct follow_stream *stream = put_value(follow, &follow->streams, value, sizeof *stream);
    if (!stream)
        return;
    stream->context = context;
    stream->number = ++follow->numbers;
    stream->non_blocking = non_blocking;
}

/* A stream that was created unnoticed may be ordered with anything so far. */
static void learn(struct follow *follow, uint64_t value)
{
    const struct follow_asks *asks = &follow->asks;
    uint64_t context;
    bool non_blocking;
    const bool is = value >= FIRST_NUMBER && asks->stream(asks->user, value, &context, &non_blocking);
    lock(follow);
    lanes_host_knows_all(lanes_of(follow));
    if (is && !at_value(&follow->streams, value))
        put_stream(follow, value, context, non_blocking);
    unlock(follow);
}

/* Takes the lock for a call on the stream; returns false, without the lock, if the call issues no work. */
static bool enter(struct follow *follow, uint64_t stream, bool per_thread, struct spot *spot)
{
    *spot = spot_asked(follow, stream, per_thread);
    if (spot->captured)
        return false;
    lock(follow);
    find_place(follow, spot);
    if (spot->known && !order_ended(follow->order))
        return true;
    const bool ended = order_ended(follow->order);
    unlock(follow);
    if (!ended)
        learn(follow, spot->stream);
    return false;
}

/* ---- copies and fills ---- */

/* Each open access keeps its predecessors, so a program that never waits would keep more and more. */
static void bound(struct follow *follow)
{
    if (++follow->steps % FOLLOW_STEPS == 0 && follow->order->accesses.count > FOLLOW_STEPS)
        lanes_host_knows_all(lanes_of(follow));
}

void follow_begin(struct follow *follow, struct follow_step *step, const struct follow_call *call)
{
    struct spot spot = spot_asked(follow, call->stream, call->per_thread);
    *step = (struct follow_step){.call = *call};
    if (spot.captured)
        return;
    lock(follow);
    find_place(follow, &spot);
    const struct order_name name = {.what = call->function, .call = call->number, .stack = call->stack, .value = call->stream,
                                    .stream = spot.number, .per_thread = spot.place.thread != 0,
                                    .allocates = call->allocates, .frees = call->frees};
    step->learn = !spot.known;
    if (spot.known && !order_ended(follow->order)) {
        bound(follow);
        step->work = order_issue(follow->order, &spot.place, &name);
    }
    unlock(follow);
}

static bool is_registered(const struct follow *follow, uint64_t address, uint64_t size, struct follow_memory *memory)
{
    const struct follow_range *range = addrmap_floor(&follow->registered, address);
    if (!range || address - range->start >= range->size)
        return false;
    const uint64_t left = range->size - (address - range->start);
    *memory = (struct follow_memory){HOST_ADDRESSES, address, left < size ? left : size, FOLLOW_PINNED};
    return true;
}

static bool find_memory(struct follow *follow, uint64_t address, uint64_t size, struct follow_memory *memory)
{
    const struct follow_asks *asks = &follow->asks;
    if (asks->memory(asks->user, address, size, memory))
        return true;
    lock(follow);
    bool is = is_registered(follow, address, size, memory);
    unlock(follow);
    return is;
}

void follow_host_side(struct follow *follow, struct follow_step *step, uint64_t address)
{
    struct follow_memory memory;
    if (!step->work || !step->call.waits)
        return;
    const bool known = find_memory(follow, address, 1, &memory);
    if (known && memory.kind == FOLLOW_DEVICE)
        return;
    step->work->name.host = step->call.copies && (!known || memory.kind == FOLLOW_PINNED); /* nothing else refers to the work yet */
    step->done = true;
}

/* Reported once the driver has accepted the call. All findings belong to this call: each call collects its own, under the
 * lock. */
static void take_found(struct follow *follow, struct follow_step *step)
{
    struct order_found found;
    while (order_take_found(follow->order, &found)) {
        const bool used = !found.side[0].name.allocates || !found.side[1].name.frees;
        if (used && step->count < FOLLOW_FOUND)
            step->found[step->count++] = found;
    }
}

/* Returns false if the memory ends, or is not tracked. */
static bool note_stretch(struct follow *follow, struct follow_step *step, const struct follow_rows *rows, uint64_t address, uint64_t size)
{
    struct follow_memory memory;
    for (; size; address += memory.length, size -= memory.length) {
        if (!find_memory(follow, address, size, &memory) || !memory.length)
            return false;
        const struct accesses_range range = {memory.number, memory.offset, memory.offset + (memory.length - 1)};
        step->done |= memory.kind == FOLLOW_MANAGED;
        step->done |= memory.kind == FOLLOW_PINNED && rows->use == ORDER_WRITE && rows->width <= VALUE_BYTES;
        lock(follow);
        order_note(follow->order, step->work, rows->use, &range);
        take_found(follow, step);
        unlock(follow);
    }
    return true;
}

void follow_access(struct follow *follow, struct follow_step *step, const struct follow_rows *rows)
{
    const uint64_t each = rows->pitch == rows->width || rows->rows == 1 ? rows->rows : 1; /* rows without gaps count as one */
    uint64_t left = FOLLOW_ROWS;
    if (!step->work || !rows->width || !rows->rows || rows->width > UINT64_MAX / each)
        return;
    for (uint64_t layer = 0; layer < rows->layers; layer++)
        for (uint64_t row = 0; row < rows->rows; row += each, left--)
            if (!left || !note_stretch(follow, step, rows, rows->address + layer * rows->layer + row * rows->pitch, each * rows->width)) {
                step->done |= left != 0;
                return;
            }
}

void follow_end(struct follow *follow, struct follow_step *step, bool succeeded)
{
    if (step->learn && succeeded)
        learn(follow, default_of(step->call.stream, step->call.per_thread) ? NO_STREAM : step->call.stream);
    if (!step->work)
        return;
    lock(follow);
    if (!succeeded && !order_ended(follow->order))
        lanes_host_knows_all(lanes_of(follow));
    else if (step->done)
        order_seen(follow->order, step->work, true);
    order_drop(step->work);
    unlock(follow);
    step->work = NULL;
    step->count = succeeded ? step->count : 0;
}

/* ---- other work ---- */

static void tell(struct follow *follow, const struct queue_place *place)
{
    struct lanes *lanes = lanes_of(follow);
    struct order_lane *lane = lanes_issue(lanes, place);
    if (lane)
        lanes_host_knows_tick(lanes, lane, lane->now - 1, lane->clock);
}

void follow_tells(struct follow *follow, uint64_t stream, bool per_thread)
{
    struct spot spot;
    if (!enter(follow, stream, per_thread, &spot))
        return;
    tell(follow, &spot.place);
    unlock(follow);
}

void follow_graph(struct follow *follow, uint64_t stream, bool per_thread)
{
    struct spot spot;
    if (!enter(follow, stream, per_thread, &spot))
        return;
    tell(follow, &spot.place);
    if (atomic_load_explicit(&follow->graphs_order, memory_order_relaxed)) {
        follow->events_unknown = true;
        lanes_host_knows_all(lanes_of(follow));
        lanes_wait_for_unknown(lanes_of(follow), &spot.place);
    }
    unlock(follow);
}

void follow_graphs_order(struct follow *follow)
{
    atomic_store_explicit(&follow->graphs_order, true, memory_order_relaxed);
}

void follow_stream_waits(struct follow *follow, uint64_t stream, bool per_thread)
{
    struct spot spot;
    if (enter(follow, stream, per_thread, &spot)) {
        lanes_wait_for_unknown(lanes_of(follow), &spot.place);
        unlock(follow);
    } else if (spot.captured) {
        follow_graphs_order(follow);
    }
}

void follow_captures(struct follow *follow)
{
    atomic_store_explicit(&follow->captures, true, memory_order_relaxed);
    follow_all_done(follow);
}

/* ---- what the host waits for ---- */

void follow_stream_done(struct follow *follow, uint64_t stream, bool per_thread)
{
    struct spot spot;
    if (!enter(follow, stream, per_thread, &spot))
        return;
    lanes_host_waits(lanes_of(follow), &spot.place, spot.place.kind == QUEUE_DEFAULT ? QUEUE_ORDERED : QUEUE_LANE);
    unlock(follow);
}

void follow_context_done(struct follow *follow, uint64_t context)
{
    const struct follow_asks *asks = &follow->asks;
    const struct queue_place place = {.context = context ? context : asks->context(asks->user)};
    lock(follow);
    if (!order_ended(follow->order))
        lanes_host_waits(lanes_of(follow), &place, QUEUE_CONTEXT);
    unlock(follow);
}

void follow_all_done(struct follow *follow)
{
    lock(follow);
    if (!order_ended(follow->order))
        lanes_host_knows_all(lanes_of(follow));
    unlock(follow);
}

void follow_stop(struct follow *follow)
{
    lock(follow);
    lanes_of(follow)->exhausted = true;
    unlock(follow);
}

/* ---- events ---- */

/* Does the tracker know everything about the event? */
static bool is_ours(const struct follow *follow, uint64_t value)
{
    const struct follow_event *event = at_value(&follow->events, value);
    return event && !event->shared && !follow->events_unknown;
}

static void put_event(struct follow *follow, uint64_t value, bool shared)
{
    struct follow_event *event = put_value(follow, &follow->events, value, sizeof *event);
    if (event)
        event->shared = shared;
}

void follow_event_made(struct follow *follow, uint64_t value)
{
    lock(follow);
    order_end_event(follow->order, value);
    put_event(follow, value, false);
    unlock(follow);
}

void follow_event_ends(struct follow *follow, uint64_t value)
{
    lock(follow);
    order_end_event(follow->order, value);
    drop_value(&follow->events, value);
    unlock(follow);
}

void follow_event_shared(struct follow *follow, uint64_t value)
{
    lock(follow);
    put_event(follow, value, true);
    unlock(follow);
}

void follow_event_done(struct follow *follow, uint64_t value)
{
    lock(follow);
    if (!order_ended(follow->order)) {
        if (is_ours(follow, value))
            order_host_waits(follow->order, value);
        else
            lanes_host_knows_all(lanes_of(follow));
    }
    unlock(follow);
}

void follow_record(struct follow *follow, uint64_t value, uint64_t stream, bool per_thread)
{
    struct spot spot;
    if (enter(follow, stream, per_thread, &spot)) {
        order_record(follow->order, &spot.place, value);
        if (!at_value(&follow->events, value))
            put_event(follow, value, false);
        unlock(follow);
    } else {
        follow_event_shared(follow, value); /* until it is created again */
    }
}

void follow_wait(struct follow *follow, uint64_t value, uint64_t stream, bool per_thread)
{
    struct spot spot;
    if (!enter(follow, stream, per_thread, &spot))
        return;
    if (is_ours(follow, value))
        order_wait(follow->order, &spot.place, value);
    else
        lanes_wait_for_all(lanes_of(follow), &spot.place);
    unlock(follow);
}

/* ---- streams, contexts, memory ---- */

void follow_stream_made(struct follow *follow, uint64_t stream, bool non_blocking)
{
    const uint64_t context = follow->asks.context(follow->asks.user);
    lock(follow);
    put_stream(follow, stream, context, non_blocking);
    unlock(follow);
}

void follow_stream_ends(struct follow *follow, uint64_t stream)
{
    lock(follow);
    drop_value(&follow->streams, stream);
    unlock(follow);
}

void follow_contexts_end(struct follow *follow)
{
    lock(follow);
    drop_all(&follow->streams);
    if (!order_ended(follow->order))
        lanes_host_knows_all(lanes_of(follow));
    unlock(follow);
}

void follow_registered(struct follow *follow, uint64_t address, uint64_t size)
{
    lock(follow);
    struct follow_range *range = put_value(follow, &follow->registered, address, sizeof *range);
    if (range)
        range->size = size;
    unlock(follow);
}

void follow_unregistered(struct follow *follow, uint64_t address)
{
    lock(follow);
    const struct follow_range *range = at_value(&follow->registered, address);
    if (range && range->size)
        order_forget(follow->order, &(struct accesses_range){HOST_ADDRESSES, address, address + (range->size - 1)});
    drop_value(&follow->registered, address);
    unlock(follow);
}

const char *follow_check(struct follow *follow)
{
    lock(follow);
    const char *wrong = order_check(follow->order);
    unlock(follow);
    return wrong;
}
