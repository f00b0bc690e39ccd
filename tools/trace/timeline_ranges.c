/* SPDX-License-Identifier: Apache-2.0 */
/* Live objects by address. See timeline_state.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "timeline_state.h"

#include <string.h>

size_t timeline_ranges_after(const struct timeline *t, const struct timeline_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct timeline_object *object = &t->object[ranges->object[middle]];
        if (address >= object->start && address - object->start >= object->size)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t timeline_ranges_at(const struct timeline *t, const struct timeline_ranges *ranges, uint64_t address)
{
    size_t at = timeline_ranges_after(t, ranges, address);
    if (at == ranges->count || t->object[ranges->object[at]].start > address)
        return TIMELINE_NONE;
    return ranges->object[at];
}

void timeline_ranges_add(const struct timeline *t, struct timeline_ranges *ranges, uint32_t object)
{
    size_t at = timeline_ranges_after(t, ranges, t->object[object].start);
    if (ranges->count == ranges->room) {
        ranges->room = ranges->room ? 2 * ranges->room : 64;
        ranges->object = text_grow(ranges->object, ranges->room * sizeof *ranges->object);
    }
    memmove(ranges->object + at + 1, ranges->object + at, (ranges->count - at) * sizeof *ranges->object);
    ranges->object[at] = object;
    ranges->count++;
}

void timeline_ranges_drop(const struct timeline *t, struct timeline_ranges *ranges, uint32_t object)
{
    size_t at = timeline_ranges_after(t, ranges, t->object[object].start);
    if (at == ranges->count || ranges->object[at] != object)
        return;
    ranges->count--;
    memmove(ranges->object + at, ranges->object + at + 1, (ranges->count - at) * sizeof *ranges->object);
}

#else
typedef int timeline_ranges_needs_jansson;
#endif
