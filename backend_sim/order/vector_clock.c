/* SPDX-License-Identifier: Apache-2.0 */
#include "vector_clock.h"

#include "heap.h"

uint64_t vector_clock_of(const struct vector_clock *clock, uint64_t lane)
{
    size_t first = 0, end = clock ? clock->count : 0;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (clock->tick[middle].lane == lane)
            return clock->tick[middle].tick;
        if (clock->tick[middle].lane < lane)
            first = middle + 1;
        else
            end = middle;
    }
    return 0;
}

void vector_clock_drop(struct vector_clock *clock)
{
    if (clock && --clock->holders == 0)
        heap.free(clock);
}

/* A list of ticks, read once in the order of lanes. */
struct list {
    const struct vector_tick *next, *end;
};

static struct list list_of(const struct vector_clock *clock)
{
    return clock ? (struct list){clock->tick, clock->tick + clock->count} : (struct list){NULL, NULL};
}

/* Takes the tick of the lane from the list if it is the next one. */
static void take(struct list *list, struct vector_tick *tick)
{
    if (list->next == list->end || list->next->lane != tick->lane)
        return;
    if (list->next->tick > tick->tick)
        tick->tick = list->next->tick;
    list->next++;
}

/* The next lane of all lists, with its largest tick. False after the last. */
static bool next(struct list *lists, size_t count, struct vector_tick *tick)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        if (lists[i].next != lists[i].end && (!found || lists[i].next->lane < tick->lane)) {
            tick->lane = lists[i].next->lane;
            found = true;
        }
    tick->tick = 0;
    for (size_t i = 0; found && i < count; i++)
        take(&lists[i], tick);
    return found;
}

bool vector_clock_join(const struct vector_clock *a, const struct vector_clock *b, const struct vector_tick *tick,
                       vector_clock_drops drops, void *user, struct vector_clock **made)
{
    struct list lists[] = {list_of(a), list_of(b), {tick, tick ? tick + 1 : NULL}};
    size_t room = (a ? a->count : 0) + (b ? b->count : 0) + (tick != NULL);
    *made = NULL;
    if (!room)
        return true;
    struct vector_clock *clock = heap.malloc(sizeof *clock + room * sizeof clock->tick[0]);
    if (!clock)
        return false;
    *clock = (struct vector_clock){.holders = 1};
    for (struct vector_tick each = {0}; next(lists, 3, &each);)
        if (!drops(user, &each))
            clock->tick[clock->count++] = each;
    if (clock->count)
        *made = clock;
    else
        heap.free(clock);
    return true;
}
