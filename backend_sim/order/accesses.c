/* SPDX-License-Identifier: Apache-2.0 */
#include "accesses.h"

#include <string.h>

#include "heap.h"

void accesses_open(struct accesses *accesses)
{
    *accesses = (struct accesses){.sweep_at = ACCESSES_PARTS_FEW};
    addrmap_init(&accesses->memories, 0);
    pool_init(&accesses->parts, sizeof(struct order_part));
}

/* ---- parts ---- */

static void drop_others(struct order_part *part, const struct accesses_owner *owner)
{
    while (part->others)
        owner->drop(part->other[--part->others]);
}

/* Removes the other access at that index. */
static void drop_other(struct order_part *part, unsigned place, const struct accesses_owner *owner)
{
    const unsigned behind = --part->others - place;
    owner->drop(part->other[place]);
    memmove(part->other + place, part->other + place + 1, behind * sizeof part->other[0]);
    memmove(part->use + place, part->use + place + 1, behind * sizeof part->use[0]);
}

static void drop_write(struct order_part *part, const struct accesses_owner *owner)
{
    if (part->write)
        owner->drop(part->write);
    part->write = NULL;
}

static void remove_part(struct accesses *accesses, struct order_memory *memory, struct order_part *part,
                        const struct accesses_owner *owner)
{
    addrmap_remove(&memory->parts, part->first);
    drop_others(part, owner);
    drop_write(part, owner);
    pool_free(&accesses->parts, part);
    accesses->count--;
}

/* Adds a part without accesses in a gap; NULL when memory is exhausted. */
static struct order_part *add_part(struct accesses *accesses, struct order_memory *memory, uint64_t first, uint64_t last)
{
    struct order_part *part = pool_alloc(&accesses->parts);
    if (part)
        *part = (struct order_part){.first = first, .last = last};
    if (part && addrmap_insert(&memory->parts, first, part)) {
        accesses->count++;
        return part;
    }
    if (part)
        pool_free(&accesses->parts, part);
    accesses->exhausted = true;
    return NULL;
}

/* Splits the part at `at`; the second part has the same accesses. */
static struct order_part *split(struct accesses *accesses, struct order_memory *memory, struct order_part *part, uint64_t at,
                                const struct accesses_owner *owner)
{
    struct order_part *rest = add_part(accesses, memory, at, part->last);
    if (!rest)
        return NULL;
    part->last = at - 1;
    rest->write = part->write;
    rest->wrote = part->wrote;
    rest->others = part->others;
    memcpy(rest->other, part->other, part->others * sizeof rest->other[0]);
    memcpy(rest->use, part->use, part->others);
    if (rest->write)
        owner->hold(rest->write);
    for (unsigned i = 0; i < rest->others; i++)
        owner->hold(rest->other[i]);
    return rest;
}

/* The part that contains the byte, or the first one after it; NULL: none. */
static struct order_part *part_from(const struct order_memory *memory, uint64_t at)
{
    struct order_part *part = addrmap_floor(&memory->parts, at);
    return part && part->last >= at ? part : addrmap_ceil(&memory->parts, at);
}

/* ---- sweeps ---- */

/* Removes accesses that are ordered before everything still to come. False when none is left. */
static bool refresh(struct order_part *part, const struct accesses_owner *owner)
{
    for (unsigned i = part->others; i-- > 0;)
        if (owner->settled(owner->user, part->other[i]))
            drop_other(part, i, owner);
    if (part->write && owner->settled(owner->user, part->write))
        drop_write(part, owner);
    return part->write || part->others;
}

static void sweep_memory(struct accesses *accesses, struct order_memory *memory, bool all, const struct accesses_owner *owner)
{
    struct order_part *next, *part = addrmap_ceil(&memory->parts, 0);
    for (; part; part = next) {
        next = part->last == UINT64_MAX ? NULL : addrmap_ceil(&memory->parts, part->last + 1);
        if (all || !refresh(part, owner))
            remove_part(accesses, memory, part, owner);
    }
}

static void sweep(struct accesses *accesses, bool all, const struct accesses_owner *owner)
{
    struct order_memory *next, *memory = addrmap_ceil(&accesses->memories, 0);
    for (; memory; memory = next) {
        next = addrmap_ceil(&accesses->memories, memory->number + 1);
        sweep_memory(accesses, memory, all, owner);
        if (memory->parts.count)
            continue;
        addrmap_remove(&accesses->memories, memory->number);
        addrmap_clear(&memory->parts);
        heap.free(memory);
    }
}

static void make_room(struct accesses *accesses, const struct accesses_owner *owner)
{
    if (accesses->count < accesses->sweep_at)
        return;
    sweep(accesses, false, owner);
    if (accesses->count > ACCESSES_PARTS_MOST)
        sweep(accesses, true, owner);
    accesses->sweep_at = 2 * accesses->count > ACCESSES_PARTS_FEW ? 2 * accesses->count : ACCESSES_PARTS_FEW;
    if (accesses->sweep_at > ACCESSES_PARTS_MOST)
        accesses->sweep_at = ACCESSES_PARTS_MOST + 1;
}

void accesses_close(struct accesses *accesses, const struct accesses_owner *owner)
{
    sweep(accesses, true, owner);
    addrmap_clear(&accesses->memories);
    pool_clear(&accesses->parts);
    *accesses = (struct accesses){.count = 0};
}

static struct order_memory *memory_of(struct accesses *accesses, uint64_t number)
{
    struct order_memory *memory = addrmap_floor(&accesses->memories, number);
    if (memory && memory->number == number)
        return memory;
    memory = heap.calloc(1, sizeof *memory);
    if (memory) {
        memory->number = number;
        addrmap_init(&memory->parts, 0);
    }
    if (memory && addrmap_insert(&accesses->memories, number, memory))
        return memory;
    heap.free(memory);
    accesses->exhausted = true;
    return NULL;
}

/* ---- recording an access ---- */

/* The access being recorded. */
struct note {
    struct accesses *accesses;
    const struct accesses_owner *owner;
    struct order_memory *memory;
    struct order_work *work;
    enum order_use use;
};

static bool ordered(const struct note *note, const struct order_work *other)
{
    const struct accesses_owner *owner = note->owner;
    return other == note->work || owner->before(owner->user, other, note->work) || owner->before(owner->user, note->work, other);
}

/* Reports the access if it conflicts with the other one and nothing orders them. */
static void compare_with(const struct note *note, const struct order_part *part, struct order_work *work, enum order_use use)
{
    const struct accesses_owner *owner = note->owner;
    const struct accesses_range range = {note->memory->number, part->first, part->last};
    if (use != note->use ? !ordered(note, work) : use == ORDER_WRITE && !ordered(note, work))
        owner->found(owner->user, work, use, note->work, note->use, &range);
}

/* The latest ones first, because they are nearest in the program. */
static void compare(const struct note *note, const struct order_part *part)
{
    for (unsigned i = part->others; i-- > 0;)
        compare_with(note, part, part->other[i], (enum order_use)part->use[i]);
    if (part->write)
        compare_with(note, part, part->write, (enum order_use)part->wrote);
}

/* Removes the accesses ordered before this one: later work that is unordered with them is unordered with this one,
 * too. Except while work that was issued earlier may still show accesses. */
static void drop_before(const struct note *note, struct order_part *part)
{
    const struct accesses_owner *owner = note->owner;
    bool late = owner->late(owner->user);
    for (unsigned i = part->others; i-- > 0;) {
        bool same = part->other[i] == note->work && (part->use[i] == note->use || note->use == ORDER_WRITE);
        bool covers = !late && (note->use == ORDER_WRITE || part->use[i] == note->use);
        if (same || (covers && owner->before(owner->user, part->other[i], note->work)))
            drop_other(part, i, owner);
    }
}

/* If there are too many, the first is dropped. */
static void add_other(struct order_part *part, struct order_work *work, enum order_use use, const struct accesses_owner *owner)
{
    if (part->others == ACCESSES_OTHERS)
        drop_other(part, 0, owner);
    part->other[part->others] = work;
    part->use[part->others++] = (uint8_t)use;
    owner->hold(work);
}

/* Must the recorded write still be found once this one replaces it? Work that runs late may be ordered before it. A later add does
 * not conflict with this add, but with the write before it, and a read conflicts with adds that are unordered with each other. */
static bool keeps(const struct note *note, const struct order_part *part)
{
    const struct accesses_owner *owner = note->owner;
    return owner->late(owner->user) ||
           (note->use == ORDER_ADD && (part->wrote == ORDER_WRITE || !owner->before(owner->user, part->write, note->work)));
}

/* Work that runs late may be ordered before the recorded write. A work's add keeps its write: that conflicts with everything that an
 * add conflicts with. */
static void set_write(const struct note *note, struct order_part *part)
{
    const struct accesses_owner *owner = note->owner;
    struct order_work *before = part->write;
    if (before && before != note->work && owner->before(owner->user, note->work, before)) {
        add_other(part, note->work, note->use, owner);
        return;
    }
    if (before == note->work && part->wrote == ORDER_WRITE)
        return;
    if (before && before != note->work && keeps(note, part))
        add_other(part, before, (enum order_use)part->wrote, owner);
    owner->hold(note->work);
    drop_write(part, owner);
    part->write = note->work;
    part->wrote = (uint8_t)note->use;
}

static bool same(const struct order_part *a, const struct order_part *b)
{
    return a->write == b->write && (!a->write || a->wrote == b->wrote) && a->others == b->others &&
           memcmp(a->other, b->other, a->others * sizeof a->other[0]) == 0 && memcmp(a->use, b->use, a->others) == 0;
}

/* Merges two adjacent parts with the same accesses. Returns the part that now contains part's bytes. */
static struct order_part *merge(const struct note *note, struct order_part *part)
{
    struct order_part *before = part->first ? addrmap_floor(&note->memory->parts, part->first - 1) : NULL;
    if (!before || before->last + 1 != part->first || !same(before, part))
        return part;
    const uint64_t last = part->last;
    remove_part(note->accesses, note->memory, part, note->owner);
    before->last = last;
    return before;
}

static void note_part(const struct note *note, struct order_part *part)
{
    refresh(part, note->owner);
    compare(note, part);
    drop_before(note, part);
    if (note->use == ORDER_READ)
        add_other(part, note->work, ORDER_READ, note->owner);
    else
        set_write(note, part);
}

/* The part that begins at the byte and ends at `last` at most: cut from an existing one, or new in the gap. NULL: exhausted. */
static struct order_part *cut(const struct note *note, uint64_t at, uint64_t last)
{
    struct order_part *part = part_from(note->memory, at);
    if (!part || part->first > at)
        return add_part(note->accesses, note->memory, at, part && part->first <= last ? part->first - 1 : last);
    if (part->first < at)
        part = split(note->accesses, note->memory, part, at, note->owner);
    if (part && part->last > last && !split(note->accesses, note->memory, part, last + 1, note->owner))
        return NULL;
    return part;
}

void accesses_note(struct accesses *accesses, const struct accesses_owner *owner, struct order_work *work, enum order_use use,
                   const struct accesses_range *range)
{
    make_room(accesses, owner);
    struct note note = {accesses, owner, memory_of(accesses, range->memory), work, use};
    struct order_part *part = NULL;
    if (!note.memory)
        return;
    for (uint64_t at = range->first;; at = part->last + 1) {
        part = cut(&note, at, range->last);
        if (!part)
            return;
        note_part(&note, part);
        part = merge(&note, part);
        if (part->last >= range->last)
            break;
    }
    part = range->last == UINT64_MAX ? NULL : addrmap_floor(&note.memory->parts, range->last + 1);
    if (part && part->first == range->last + 1)
        merge(&note, part);
}

void accesses_forget(struct accesses *accesses, const struct accesses_owner *owner, const struct accesses_range *range)
{
    struct order_memory *memory = addrmap_floor(&accesses->memories, range->memory);
    if (!memory || memory->number != range->memory)
        return;
    struct note note = {accesses, owner, memory, NULL, ORDER_WRITE};
    for (struct order_part *part; (part = part_from(memory, range->first)) && part->first <= range->last;) {
        part = cut(&note, part->first > range->first ? part->first : range->first, range->last);
        if (!part)
            return;
        remove_part(accesses, memory, part, owner);
    }
}

struct order_work *accesses_writer(const struct accesses *accesses, uint64_t number, uint64_t offset)
{
    const struct order_memory *memory = addrmap_floor(&accesses->memories, number);
    const struct order_part *part = memory && memory->number == number ? addrmap_floor(&memory->parts, offset) : NULL;
    return part && part->last >= offset ? part->write : NULL;
}

static uint64_t first_of(const void *part)
{
    return ((const struct order_part *)part)->first;
}

const char *accesses_check(const struct accesses *accesses)
{
    size_t count = 0;
    const struct order_memory *memory = addrmap_ceil(&accesses->memories, 0);
    for (; memory; memory = addrmap_ceil(&accesses->memories, memory->number + 1)) {
        const char *wrong = addrmap_check(&memory->parts, first_of);
        if (wrong)
            return wrong;
        const struct order_part *before = NULL, *part = addrmap_ceil(&memory->parts, 0);
        for (; part; before = part, part = part->first == UINT64_MAX ? NULL : addrmap_ceil(&memory->parts, part->first + 1)) {
            count++;
            if (before && before->last >= part->first)
                return "two parts of a memory overlap";
            if (part->last < part->first || (!part->write && !part->others))
                return "a part of a memory is empty";
        }
    }
    return count == accesses->count ? NULL : "the number of parts differs from the count";
}
