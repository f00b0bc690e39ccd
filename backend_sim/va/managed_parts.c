/* SPDX-License-Identifier: Apache-2.0 */
#include "managed_parts.h"

#include <string.h>

#include "heap.h"

void managed_parts_clear(struct managed_parts *parts)
{
    heap.free(parts->part);
    *parts = (struct managed_parts){NULL, 0, 0};
}

/* Makes room for two more parts than there are, the first one included. */
static bool make_room(struct managed_parts *parts)
{
    const size_t wanted = parts->count + 3;
    if (parts->room < wanted) {
        const size_t room = 2 * wanted;
        struct managed_part *larger = heap.realloc(parts->part, room * sizeof *larger);
        if (!larger)
            return false;
        parts->part = larger;
        parts->room = room;
    }
    if (!parts->count)
        parts->part[parts->count++] = (struct managed_part){.start = 0};
    return true;
}

/* The index of the part that holds a byte. */
static size_t index_of(const struct managed_parts *parts, uint64_t at)
{
    size_t low = 0, high = parts->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (parts->part[middle].start <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A part begins at the byte from now on; returns its index. */
static size_t split(struct managed_parts *parts, uint64_t at)
{
    const size_t i = index_of(parts, at);
    if (parts->part[i].start == at)
        return i;
    memmove(&parts->part[i + 1], &parts->part[i], (parts->count - i) * sizeof *parts->part);
    parts->count++;
    parts->part[i + 1].start = at;
    return i + 1;
}

bool managed_parts_of(struct managed_parts *parts, uint64_t start, uint64_t end, struct managed_part **first, size_t *count)
{
    if (!make_room(parts))
        return false;
    const size_t from = split(parts, start), to = split(parts, end);
    *first = &parts->part[from];
    *count = to - from;
    return true;
}

const struct managed_part *managed_part_at(const struct managed_parts *parts, uint64_t at, uint64_t size, uint64_t *end)
{
    *end = size;
    if (!parts->count)
        return NULL;
    const size_t i = index_of(parts, at);
    if (i + 1 < parts->count && parts->part[i + 1].start < size)
        *end = parts->part[i + 1].start;
    return &parts->part[i];
}
