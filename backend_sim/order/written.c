/* SPDX-License-Identifier: Apache-2.0 */
#include "written.h"

#include "heap.h"

struct gap {
    uint64_t first, last;
};

struct memory {
    uint64_t number;
    struct addrmap gaps; /* unwritten ranges, which are not adjacent */
};

void written_open(struct written *written)
{
    addrmap_init(&written->memories, 0);
    pool_init(&written->gaps, sizeof(struct gap));
}

static struct memory *memory_of(const struct written *written, uint64_t number)
{
    struct memory *memory = addrmap_floor(&written->memories, number);
    return memory && memory->number == number ? memory : NULL;
}

static void remove_gap(struct written *written, struct memory *memory, struct gap *gap)
{
    addrmap_remove(&memory->gaps, gap->first);
    pool_free(&written->gaps, gap);
}

void written_end(struct written *written, uint64_t number)
{
    struct memory *memory = memory_of(written, number);
    if (!memory)
        return;
    for (struct gap *gap; (gap = addrmap_ceil(&memory->gaps, 0));)
        remove_gap(written, memory, gap);
    addrmap_clear(&memory->gaps);
    addrmap_remove(&written->memories, number);
    heap.free(memory);
}

void written_close(struct written *written)
{
    for (struct memory *memory; (memory = addrmap_ceil(&written->memories, 0));)
        written_end(written, memory->number);
    addrmap_clear(&written->memories);
    pool_clear(&written->gaps);
}

/* False when the host's memory is exhausted. */
static bool add_gap(struct written *written, struct memory *memory, uint64_t first, uint64_t last)
{
    struct gap *gap = pool_alloc(&written->gaps);
    if (gap)
        *gap = (struct gap){first, last};
    if (gap && addrmap_insert(&memory->gaps, first, gap))
        return true;
    if (gap)
        pool_free(&written->gaps, gap);
    return false;
}

void written_begin(struct written *written, uint64_t number, uint64_t size)
{
    written_end(written, number);
    struct memory *memory = size ? heap.calloc(1, sizeof *memory) : NULL;
    if (!memory)
        return;
    memory->number = number;
    addrmap_init(&memory->gaps, 0);
    if (!addrmap_insert(&written->memories, number, memory))
        heap.free(memory);
    else if (!add_gap(written, memory, 0, size - 1))
        written_end(written, number);
}

/* The gap that contains the byte, or the first after it; NULL: none. */
static struct gap *gap_from(const struct memory *memory, uint64_t at)
{
    struct gap *gap = addrmap_floor(&memory->gaps, at);
    return gap && gap->last >= at ? gap : addrmap_ceil(&memory->gaps, at);
}

/* Afterwards the memory may have no gap left. */
static void note(struct written *written, uint64_t number, uint64_t first, uint64_t last)
{
    struct memory *memory = memory_of(written, number);
    bool good = true;
    if (!memory)
        return;
    for (struct gap *gap; good && (gap = gap_from(memory, first)) && gap->first <= last;) {
        const struct gap was = *gap;
        if (was.first < first)
            gap->last = first - 1;
        else
            remove_gap(written, memory, gap);
        if (was.last > last)
            good = add_gap(written, memory, last + 1, was.last);
    }
    if (!good)
        written_end(written, number);
}

/* Removes the memory if it has no gap. */
static void settle(struct written *written, uint64_t number)
{
    const struct memory *memory = memory_of(written, number);
    if (memory && !memory->gaps.count)
        written_end(written, number);
}

void written_note(struct written *written, uint64_t number, uint64_t first, uint64_t last)
{
    note(written, number, first, last);
    settle(written, number);
}

bool written_gap(const struct written *written, uint64_t number, uint64_t first, uint64_t last, uint64_t *at)
{
    const struct memory *memory = memory_of(written, number);
    const struct gap *gap = memory ? gap_from(memory, first) : NULL;
    if (!gap || gap->first > last)
        return false;
    *at = gap->first > first ? gap->first : first;
    return true;
}

/* Marks the bytes as unwritten again. */
static void unwrite(struct written *written, uint64_t number, uint64_t first, uint64_t last)
{
    note(written, number, first, last);
    struct memory *memory = memory_of(written, number);
    if (!memory)
        return; /* all of it counts as written */
    struct gap *before = first ? addrmap_floor(&memory->gaps, first - 1) : NULL;
    if (before && before->last + 1 == first) {
        before->last = last;
    } else if (!add_gap(written, memory, first, last)) {
        written_end(written, number);
        return;
    }
    before = addrmap_floor(&memory->gaps, last);
    struct gap *next = addrmap_floor(&memory->gaps, last + 1);
    if (next->first != last + 1)
        return;
    before->last = next->last;
    remove_gap(written, memory, next);
}

void written_copy(struct written *written, uint64_t to, uint64_t at, uint64_t from, uint64_t start, uint64_t size)
{
    uint64_t next = start, gap;
    while (next - start < size && written_gap(written, from, next, start + size - 1, &gap)) {
        const struct gap *whole = gap_from(memory_of(written, from), gap);
        uint64_t end = whole->last < start + size - 1 ? whole->last : start + size - 1;
        if (gap > next)
            note(written, to, at + (next - start), at + (gap - 1 - start));
        unwrite(written, to, at + (gap - start), at + (end - start));
        next = end + 1;
    }
    if (next - start < size)
        note(written, to, at + (next - start), at + size - 1);
    settle(written, to);
}

static uint64_t first_of(const void *gap)
{
    return ((const struct gap *)gap)->first;
}

const char *written_check(const struct written *written)
{
    const struct memory *memory = addrmap_ceil(&written->memories, 0);
    for (; memory; memory = addrmap_ceil(&written->memories, memory->number + 1)) {
        const char *wrong = addrmap_check(&memory->gaps, first_of);
        if (wrong)
            return wrong;
        const struct gap *before = NULL, *gap = addrmap_ceil(&memory->gaps, 0);
        if (!gap)
            return "a fully written block of memory is still kept";
        for (; gap; before = gap, gap = addrmap_ceil(&memory->gaps, gap->first + 1))
            if (gap->last < gap->first || (before && before->last + 1 >= gap->first))
                return "unwritten bytes touch or overlap";
    }
    return NULL;
}
