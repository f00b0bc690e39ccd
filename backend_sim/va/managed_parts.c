/* SPDX-License-Identifier: Apache-2.0 */
#include "managed_parts.h"

#include <string.h>

#include "heap.h"

void managed_parts_clear(struct managed_parts *parts)
{
    heap.free(parts->part);
    *parts = (struct managed_parts){NULL, 0, 0};
}

/* Makes room for two more parts, including the first one. */
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

/* Splits a part at the byte. */
static void split(struct managed_parts *parts, uint64_t at)
{
    const size_t i = index_of(parts, at);
    if (parts->part[i].start == at)
        return;
    memmove(&parts->part[i + 1], &parts->part[i], (parts->count - i) * sizeof *parts->part);
    parts->count++;
    parts->part[i + 1].start = at;
}

/* Where a part ends. */
static uint64_t end_of(const struct managed_parts *parts, size_t i)
{
    return i + 1 < parts->count ? parts->part[i + 1].start : UINT64_MAX;
}

static bool same_place(vmm_mem_location a, vmm_mem_location b)
{
    return a.type == b.type && (a.type == VMM_MEM_LOCATION_TYPE_INVALID || a.id == b.id);
}

static bool same_hint(const struct managed_hint *a, const struct managed_hint *b)
{
    return same_place(a->preferred, b->preferred) && same_place(a->prefetched, b->prefetched) && a->devices == b->devices &&
           a->host == b->host && a->read_mostly == b->read_mostly;
}

static bool is_vacant(const struct managed_hint *hint)
{
    static const struct managed_hint nothing;
    return same_hint(hint, &nothing);
}

/* Merges a part with the previous one. */
static void join(struct managed_parts *parts, size_t i)
{
    memmove(&parts->part[i], &parts->part[i + 1], (parts->count - i - 1) * sizeof *parts->part);
    parts->count--;
}

static bool are_alike(const struct managed_part *part)
{
    return part[0].said == part[1].said && same_hint(&part[0].hint, &part[1].hint);
}

/* Merges a part with neighbours in the same state; returns its length then. */
static uint64_t unite(struct managed_parts *parts, size_t i)
{
    if (i + 1 < parts->count && are_alike(&parts->part[i]))
        join(parts, i + 1);
    if (i && are_alike(&parts->part[i - 1]))
        join(parts, i--);
    return end_of(parts, i) - parts->part[i].start;
}

/* Resets parts without any advice, and merges neighbours in the same state. */
static void settle(struct managed_parts *parts)
{
    for (size_t i = parts->count; i > 0; i--) {
        struct managed_part *part = &parts->part[i - 1];
        part->said &= !is_vacant(&part->hint);
        if (i < parts->count && are_alike(part))
            join(parts, i);
    }
}

bool managed_parts_say(struct managed_parts *parts, uint64_t start, uint64_t end, managed_change *change, const void *what)
{
    if (!make_room(parts))
        return false;
    split(parts, start);
    split(parts, end);
    for (uint64_t at = start; at < end;) {
        const size_t i = index_of(parts, at);
        struct managed_part *part = &parts->part[i];
        change(&part->hint, what);
        const bool passes = !part->said && is_vacant(&part->hint);
        part->said |= !passes;
        at = passes ? end_of(parts, i) : at + unite(parts, i);
    }
    settle(parts);
    return true;
}

const struct managed_hint *managed_parts_read(const struct managed_parts *parts, uint64_t *at)
{
    if (!parts->count)
        return NULL;
    const size_t i = index_of(parts, *at);
    const struct managed_part *part = &parts->part[i];
    *at = part->said ? *at + (end_of(parts, i) - part->start) : end_of(parts, i);
    return &part->hint;
}
