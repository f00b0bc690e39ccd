/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

#include <stdlib.h>

#include "heap.h"

#define INDEX_BITS 24
#define LIMIT (UINT32_C(1) << INDEX_BITS)
#define NONE UINT32_MAX

void slots_init(struct slots *slots, uint16_t tag, void (*forget)(void *user, void *object), void *user)
{
    *slots = (struct slots){.tag = tag, .first_free = NONE, .first_remembered = NONE, .forget = forget, .user = user};
}

void slots_clear(struct slots *slots)
{
    for (uint32_t i = 0; i < slots->used; i++)
        if (slots->slot[i].object)
            slots->forget(slots->user, slots->slot[i].object);
    heap.free(slots->slot);
    slots_init(slots, slots->tag, slots->forget, slots->user);
}

bool slots_ready(struct slots *slots)
{
    if (slots->first_free != slots->first_remembered || slots->used < slots->room)
        return true;
    if (slots->used == LIMIT) /* LCOV_EXCL_BR_LINE: no test has memory for sixteen million objects */
        return false;         /* LCOV_EXCL_LINE: the same */
    uint32_t room = slots->room ? 2 * slots->room : 16;
    struct slot *grown = heap.realloc(slots->slot, room * sizeof *grown);
    if (!grown)
        return false;
    slots->slot = grown;
    slots->room = room;
    return true;
}

/* Index of a slot to use, where there is one. */
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
    return (uint64_t)slots->tag << 48 | (uint64_t)slot->generation << INDEX_BITS | i;
}

/* The oldest object that is remembered makes room. */
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
    uint32_t i = (uint32_t)value & (LIMIT - 1);
    struct slot *slot = &slots->slot[i];
    slot->live = 0;
    if (slot->generation == LIMIT - 1)
        return; /* retired, and remembered for ever */
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
    uint32_t i = (uint32_t)value & (LIMIT - 1), generation = (uint32_t)(value >> INDEX_BITS) & (LIMIT - 1);
    *object = NULL;
    if (value >> 48 != slots->tag || i >= slots->used || !generation || generation > slots->slot[i].generation)
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
