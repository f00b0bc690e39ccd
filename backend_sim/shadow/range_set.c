/* SPDX-License-Identifier: Apache-2.0 */
#include "range_set.h"

#include <string.h>

#include "heap.h"

void range_set_clear(struct range_set *set)
{
    heap.free(set->range);
    *set = (struct range_set){0};
}

/* The first range that ends at or after address. */
static size_t first_from(const struct range_set *set, uint64_t address)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->range[middle].end < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(struct range_set *set)
{
    if (set->count < set->room)
        return true;
    struct range *grown = heap_grow(set->range, &set->room, 16, sizeof *grown);
    if (!grown)
        return false;
    set->range = grown;
    return true;
}

/* Replaces the ranges in [from, to) by count ranges. */
static void replace(struct range_set *set, size_t from, size_t to, const struct range *ranges, size_t count)
{
    if (set->count > to)
        memmove(&set->range[from + count], &set->range[to], (set->count - to) * sizeof *set->range);
    if (count)
        memcpy(&set->range[from], ranges, count * sizeof *ranges);
    set->count = set->count - (to - from) + count;
}

bool range_set_add(struct range_set *set, uint64_t start, uint64_t end)
{
    if (start >= end)
        return true;
    if (!make_room(set))
        return false;
    size_t from = first_from(set, start), to = from;
    struct range merged = {start, end};
    for (; to < set->count && set->range[to].start <= end; to++) {
        if (set->range[to].start < merged.start)
            merged.start = set->range[to].start;
        if (set->range[to].end > merged.end)
            merged.end = set->range[to].end;
    }
    replace(set, from, to, &merged, 1);
    return true;
}

void range_set_remove(struct range_set *set, uint64_t start, uint64_t end)
{
    if (start >= end)
        return;
    size_t from = first_from(set, start);
    if (from < set->count && set->range[from].end == start)
        from++;
    size_t to = from, count = 0;
    struct range left[2];
    for (; to < set->count && set->range[to].start < end; to++) {
        if (set->range[to].start < start)
            left[count++] = (struct range){set->range[to].start, start};
        if (set->range[to].end > end)
            left[count++] = (struct range){end, set->range[to].end};
    }
    if (count <= to - from || make_room(set))
        replace(set, from, to, left, count);
}

bool range_set_touches(const struct range_set *set, uint64_t start, uint64_t end)
{
    size_t at = set->count ? first_from(set, start) : 0;
    if (at < set->count && set->range[at].end == start)
        at++;
    return at < set->count && set->range[at].start < end && start < end;
}

const char *range_set_check(const struct range_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->range[i].start >= set->range[i].end)
            return "an empty range";
        if (i && set->range[i].start <= set->range[i - 1].end)
            return "two ranges that overlap or touch";
    }
    return NULL;
}
