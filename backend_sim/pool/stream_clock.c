/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_clock.h"

#include <stdlib.h>
#include <string.h>

#include "heap.h"

static struct stream_clock *find(const struct stream_clocks *clocks, const struct queue_place *place)
{
    struct stream_clock *clock = clocks->first;
    while (clock && !queue_same_lane(&clock->place, place))
        clock = clock->next;
    return clock;
}

struct stream_clock *stream_clock_of(struct stream_clocks *clocks, const struct queue_place *place)
{
    struct stream_clock *clock = find(clocks, place);
    if (clock)
        return clock;
    clock = heap.calloc(1, sizeof *clock);
    if (!clock)
        return NULL;
    clock->place = *place;
    clock->id = clocks->count++;
    clock->next = clocks->first;
    clocks->first = clock;
    return clock;
}

uint32_t stream_clock_meet(struct stream_clocks *clocks, const struct queue_place *place)
{
    struct stream_clock *clock = stream_clock_of(clocks, place);
    if (!clock)
        return UINT32_MAX;
    if (!clock->met)
        clock->met = ++clocks->met;
    return clock->met;
}

bool stream_clock_has_met(const struct stream_clocks *clocks, const struct queue_place *place)
{
    const struct stream_clock *clock = find(clocks, place);
    return clock && clock->met;
}

void stream_clocks_clear(struct stream_clocks *clocks)
{
    struct stream_clock *next;
    for (struct stream_clock *clock = clocks->first; clock; clock = next) {
        next = clock->next;
        heap.free(clock->seen);
        heap.free(clock);
    }
    *clocks = (struct stream_clocks){0};
}

/* Does the context's default stream order the two? */
static bool by_default(const struct queue_place *a, const struct queue_place *b)
{
    return a->context == b->context && a->kind != QUEUE_NON_BLOCKING && b->kind != QUEUE_NON_BLOCKING &&
           (a->kind == QUEUE_DEFAULT || b->kind == QUEUE_DEFAULT);
}

static uint64_t seen_of(const struct stream_clock *clock, uint32_t id)
{
    return clock->id == id ? clock->now : id < clock->room ? clock->seen[id] : 0;
}

/* The tick of a clock that a stream has seen: directly, and through streams that the default stream orders before it. */
static uint64_t seen_at(const struct stream_clocks *clocks, const struct queue_place *place, uint32_t id)
{
    uint64_t most = 0;
    for (const struct stream_clock *clock = clocks->first; clock; clock = clock->next)
        if ((queue_same_lane(&clock->place, place) || by_default(&clock->place, place)) && seen_of(clock, id) > most)
            most = seen_of(clock, id);
    return most;
}

void stream_clock_record(struct stream_clocks *clocks, const struct queue_place *place, struct stream_clock_seen *event)
{
    if (!clocks->count)
        return;
    heap.free(event->seen);
    event->seen = heap.calloc(clocks->count, sizeof *event->seen);
    event->count = event->seen ? clocks->count : 0;
    for (uint32_t i = 0; i < event->count; i++)
        event->seen[i] = seen_at(clocks, place, i);
}

void stream_clock_wait(struct stream_clocks *clocks, const struct queue_place *place, const struct stream_clock_seen *event)
{
    struct stream_clock *clock = event->count ? stream_clock_of(clocks, place) : NULL;
    if (!clock)
        return;
    if (clock->room < event->count) {
        uint64_t *seen = heap.realloc(clock->seen, event->count * sizeof *seen);
        if (!seen)
            return;
        memset(seen + clock->room, 0, (event->count - clock->room) * sizeof *seen);
        clock->seen = seen;
        clock->room = event->count;
    }
    for (uint32_t i = 0; i < event->count; i++)
        if (event->seen[i] > clock->seen[i])
            clock->seen[i] = event->seen[i];
}

bool stream_clock_after(const struct stream_clocks *clocks, const struct queue_place *place, uint32_t clock, uint64_t tick)
{
    return seen_at(clocks, place, clock) >= tick;
}

bool stream_clock_context_after(const struct stream_clocks *clocks, uint64_t context, uint32_t clock, uint64_t tick)
{
    const struct stream_clock *of = clocks->first;
    while (of && (of->place.context != context || seen_of(of, clock) < tick))
        of = of->next;
    return of != NULL;
}
