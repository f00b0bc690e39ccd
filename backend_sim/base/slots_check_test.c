/* SPDX-License-Identifier: Apache-2.0 */
/* slots_check: a test breaks each invariant by hand and expects its message. */
#include "breaks.h"
#include "slots.h"

enum { LIVE = 3, ENDED = SLOTS_REMEMBERED + 4 };

static void forget(void *user, void *object)
{
    (void)user;
    (void)object;
}

/*  [live 0 | live 1 | live 2 | forgotten 3 .. 6 | remembered 7 .. 262] */
static void open_slots(struct slots *slots, uint64_t value[LIVE + ENDED], char object[LIVE + ENDED])
{
    slots_init(slots, 0x4142, SLOTS_NUMBERS, forget, NULL);
    check_holds(slots_check(slots), "an empty table");
    for (int i = 0; i < LIVE + ENDED; i++)
        value[i] = slots_add(slots, &object[i]);
    for (int i = LIVE; i < LIVE + ENDED; i++)
        slots_end(slots, value[i]);
    check_holds(slots_check(slots), "live, forgotten and remembered values");
    tap_u64(slots_kept(slots), LIVE + SLOTS_REMEMBERED, "live and remembered values keep their objects");
}

static void test_slots(void)
{
    static uint64_t value[LIVE + ENDED];
    static char object[LIVE + ENDED];
    struct slots slots;
    open_slots(&slots, value, object);
    BREAKS(slots.used, slots.room + 1, slots_check(&slots), "slots are used, with room for");
    BREAKS(slots.slot, NULL, slots_check(&slots), "263 slots are used, with room for");
    BREAKS_TO(slots.slot[0].generation, 0, slots_check(&slots), "slot 0 has generation 0");
    BREAKS(slots.slot[0].generation, 1u << 24, slots_check(&slots), "slot 0 has generation 16777216");
    BREAKS(slots.slot[1].object, NULL, slots_check(&slots), "slot 1 is live, but has no object");
    BREAKS_TO(slots.slot[2].live, 0, slots_check(&slots), "of 263 slots 2 are live or retired, and 260 were freed");
    BREAKS(slots.slot[9].live, 1, slots_check(&slots), "slot 9 was freed, but is live");
    BREAKS(slots.slot[4].generation, (1u << 24) - 1, slots_check(&slots), "slot 4 is retired, but has no object");
    BREAKS(slots.slot[9].generation, (1u << 24) - 1, slots_check(&slots), "slot 9 was freed, but is retired");
    BREAKS(slots.slot[4].object, &slots, slots_check(&slots), "slot 4 is forgotten, but has an object");
    BREAKS(slots.slot[9].object, NULL, slots_check(&slots), "slot 9 is remembered, but has no object");
    BREAKS(slots.slot[9].next, 3, slots_check(&slots), "slot 3 is remembered, but has no object");
    BREAKS(slots.slot[262].next, 7, slots_check(&slots), "of 263 after 263 slots");
    BREAKS(slots.slot[262].next, 999, slots_check(&slots), "leads to slot 999 of 263 after 260 slots");
    BREAKS(slots.last_free, 4, slots_check(&slots), "slot 262 was freed last, but last_free is slot 4");
    BREAKS(slots.remembered, 7, slots_check(&slots), "256 slots are remembered from slot 7 on, but remembered is 7");
    BREAKS(slots.first_remembered, 0, slots_check(&slots), "slot 7 is forgotten, but has an object");
    BREAKS(slots.room, (1u << 24) + 1, slots_check(&slots), "263 slots are used, with room for 16777217");
    slots.slot[6].object = &slots;
    slots.first_remembered = 6;
    BREAKS(slots.remembered, 257, slots_check(&slots), "257 slots are remembered from slot 6 on, but remembered is 257");
    slots.slot[6].object = NULL;
    slots.first_remembered = 7;
    check_holds(slots_check_value(&slots, value[0], &object[0]), "a live value with its object");
    check_breaks(slots_check_value(&slots, value[0], &object[1]), "finds another object");
    check_breaks(slots_check_value(&slots, value[4], &object[4]), "is not live");
    slots_clear(&slots);
}

static void test_nothing_freed(void)
{
    static char object;
    struct slots slots;
    slots_init(&slots, 0x4142, SLOTS_NUMBERS, forget, NULL);
    slots_add(&slots, &object);
    check_holds(slots_check(&slots), "a single live value");
    BREAKS(slots.first_remembered, 0, slots_check(&slots), "0 slots are remembered from slot 0 on, but remembered is 0");
    slots_clear(&slots);
}

int main(void)
{
    test_slots();
    test_nothing_freed();
    return tap_done();
}
