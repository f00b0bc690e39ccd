/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

#include <inttypes.h>
#include <stdlib.h>

#include "checks.h"
#include "heap.h"

#define NONE UINT32_MAX

/* How a value divides into bits: index, generation, tag. */
struct layout {
    unsigned index, generation;
};

static inline struct layout layout_of(const struct slots *slots)
{
    const bool narrow = UINTPTR_MAX <= UINT32_MAX && slots->form == SLOTS_POINTERS;
    return narrow ? (struct layout){16, 8} : (struct layout){24, 24};
}

static uint32_t tag_of(const struct slots *slots)
{
    return layout_of(slots).index == 24 ? slots->tag : slots->tag & 0xff;
}

/* One more than the greatest. */
static uint32_t indexes(const struct slots *slots)
{
    return UINT32_C(1) << layout_of(slots).index;
}

static uint32_t generations(const struct slots *slots)
{
    return UINT32_C(1) << layout_of(slots).generation;
}

void slots_init(struct slots *slots, uint16_t tag, enum slots_form form, void (*forget)(void *user, void *object), void *user)
{
    *slots = (struct slots){.tag = tag, .form = form, .first_free = NONE, .first_remembered = NONE, .forget = forget, .user = user};
}

void slots_clear(struct slots *slots)
{
    for (uint32_t i = 0; i < slots->used; i++)
        if (slots->slot[i].object)
            slots->forget(slots->user, slots->slot[i].object);
    heap.free(slots->slot);
    slots_init(slots, slots->tag, slots->form, slots->forget, slots->user);
}

bool slots_ready(struct slots *slots)
{
    if (slots->first_free != slots->first_remembered || slots->used < slots->room)
        return true;
    if (slots->used == indexes(slots)) /* LCOV_EXCL_BR_LINE: no test has memory for sixteen million objects */
        return false;         /* LCOV_EXCL_LINE: the same */
    uint32_t room = slots->room ? 2 * slots->room : 16;
    struct slot *grown = heap.realloc(slots->slot, room * sizeof *grown);
    if (!grown)
        return false;
    slots->slot = grown;
    slots->room = room;
    return true;
}

/* The index of a free slot; one must exist. */
static uint32_t pick(struct slots *slots)
{
    if (slots->first_free != slots->first_remembered) {
        uint32_t i = slots->first_free;
        slots->first_free = slots->slot[i].next;
        return i;
    }
    slots->slot[slots->used] = (struct slot){.object = NULL};
    return slots->used++;
}

uint64_t slots_add(struct slots *slots, void *object)
{
    if (!slots_ready(slots))
        return 0;
    uint32_t i = pick(slots);
    struct slot *slot = &slots->slot[i];
    slot->object = object;
    slot->generation++;
    slot->live = 1;
    const struct layout bits = layout_of(slots);
    return (uint64_t)tag_of(slots) << (bits.index + bits.generation) | (uint64_t)slot->generation << bits.index | i;
}

/* Forgets the oldest remembered object. */
static void forget_oldest(struct slots *slots)
{
    struct slot *slot = &slots->slot[slots->first_remembered];
    slots->forget(slots->user, slot->object);
    slot->object = NULL;
    slots->first_remembered = slot->next;
    slots->remembered--;
}

void slots_end(struct slots *slots, uint64_t value)
{
    uint32_t i = (uint32_t)value & (indexes(slots) - 1);
    struct slot *slot = &slots->slot[i];
    slot->live = 0;
    if (slot->generation == generations(slots) - 1)
        return; /* retired, and remembered forever */
    slot->next = NONE;
    if (slots->first_free == NONE)
        slots->first_free = i;
    else
        slots->slot[slots->last_free].next = i;
    slots->last_free = i;
    if (slots->first_remembered == NONE)
        slots->first_remembered = i;
    if (++slots->remembered > SLOTS_REMEMBERED)
        forget_oldest(slots);
}

enum slot_state slots_find(const struct slots *slots, uint64_t value, void **object)
{
    const struct layout bits = layout_of(slots);
    uint32_t i = (uint32_t)value & (indexes(slots) - 1), generation = (uint32_t)(value >> bits.index) & (generations(slots) - 1);
    *object = NULL;
    if (value >> (bits.index + bits.generation) != tag_of(slots) || i >= slots->used || !generation || generation > slots->slot[i].generation)
        return SLOT_FORGED;
    const struct slot *slot = &slots->slot[i];
    if (generation != slot->generation)
        return SLOT_STALE;
    *object = slot->object;
    return slot->live ? SLOT_LIVE : SLOT_STALE;
}

void slots_each(const struct slots *slots, void (*visit)(void *user, void *object), void *user)
{
    for (uint32_t i = 0; i < slots->used; i++)
        if (slots->slot[i].live)
            visit(user, slots->slot[i].object);
}

/* ---- invariants ---- */

static bool is_retired(const struct slots *slots, const struct slot *slot)
{
    return !slot->live && slot->generation == generations(slots) - 1;
}

/* Checks one freed slot. */
static const char *check_given(const struct slots *slots, uint32_t i, bool remembered)
{
    const struct slot *slot = &slots->slot[i];
    if (slot->live || is_retired(slots, slot))
        return check_say("slot %" PRIu32 " was freed, but is %s", i, slot->live ? "live" : "retired");
    if (remembered != (slot->object != NULL))
        return check_say("slot %" PRIu32 " is %s, but has %s", i, remembered ? "remembered" : "forgotten",
                         slot->object ? "an object" : "no object");
    return NULL;
}

/* From the oldest freed slot to the newest. */
static const char *check_list(const struct slots *slots, uint32_t *given)
{
    uint32_t kept = 0, last = NONE;
    for (uint32_t i = slots->first_free; i != NONE; i = slots->slot[i].next) {
        if (i >= slots->used || *given == slots->used)
            return check_say("the list of freed slots leads to slot %" PRIu32 " of %" PRIu32 " after %" PRIu32 " slots", i,
                             slots->used, *given);
        kept += kept || i == slots->first_remembered;
        ++*given;
        last = i;
        const char *said = check_given(slots, i, kept != 0);
        if (said)
            return said;
    }
    if (last != NONE && last != slots->last_free)
        return check_say("slot %" PRIu32 " was freed last, but last_free is slot %" PRIu32, last, slots->last_free);
    if (kept != slots->remembered || kept > SLOTS_REMEMBERED || (slots->first_remembered != NONE && !kept))
        return check_say("%" PRIu32 " slots are remembered from slot %" PRIu32 " on, but remembered is %" PRIu32, kept,
                         slots->first_remembered, slots->remembered);
    return NULL;
}

const char *slots_check(const struct slots *slots)
{
    uint32_t given = 0, others = 0;
    if (slots->used > slots->room || slots->room > indexes(slots) || (slots->room && !slots->slot))
        return check_say("%" PRIu32 " slots are used, with room for %" PRIu32, slots->used, slots->room);
    for (uint32_t i = 0; i < slots->used; i++) {
        const struct slot *slot = &slots->slot[i];
        if (!slot->generation || slot->generation >= generations(slots))
            return check_say("slot %" PRIu32 " has generation %" PRIu32, i, slot->generation);
        if ((slot->live || is_retired(slots, slot)) && !slot->object)
            return check_say("slot %" PRIu32 " is %s, but has no object", i, slot->live ? "live" : "retired");
        others += slot->live || is_retired(slots, slot);
    }
    const char *said = check_list(slots, &given);
    if (!said && given + others != slots->used)
        said = check_say("of %" PRIu32 " slots %" PRIu32 " are live or retired, and %" PRIu32 " were freed", slots->used, others,
                         given);
    return said;
}

const char *slots_check_value(const struct slots *slots, uint64_t value, const void *object)
{
    void *found;
    if (slots_find(slots, value, &found) != SLOT_LIVE)
        return check_say("value 0x%" PRIx64 " is not live", value);
    return found == object ? NULL : check_say("value 0x%" PRIx64 " finds another object", value);
}

uint32_t slots_kept(const struct slots *slots)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < slots->used; i++)
        kept += slots->slot[i].object != NULL;
    return kept;
}
