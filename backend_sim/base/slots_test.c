/* SPDX-License-Identifier: Apache-2.0 */
/* slots: stale and forged values are never accepted as live ones. */
#include "slots.h"

#include <stdlib.h>

#include "tap.h"

#define TAG 0x4142

static int forgotten;

static void forget(void *user, void *object)
{
    (void)user;
    (void)object;
    forgotten++;
}

static char things[64];

/* Called at the end of every test: the table's invariants hold. */
static void end(struct slots *slots)
{
    const char *said = slots_check(slots);
    if (!tap_ok(!said, "the table is whole"))
        tap_note("%s", said);
    slots_clear(slots);
}

static void test_life(void)
{
    struct slots slots;
    void *object = NULL;
    forgotten = 0;
    slots_init(&slots, TAG, SLOTS_NUMBERS, forget, NULL);
    tap_ok(slots_find(&slots, 1, &object) == SLOT_FORGED && !object, "every value is forged in an empty table");
    uint64_t a = slots_add(&slots, &things[0]), b = slots_add(&slots, &things[1]);
    tap_ok(a && b && a != b, "values are distinct and never 0");
    tap_ok(slots_find(&slots, a, &object) == SLOT_LIVE && object == &things[0], "a live value finds its object");
    slots_end(&slots, a);
    tap_ok(slots_find(&slots, a, &object) == SLOT_STALE && object == &things[0],
           "an ended value is stale, and its object is remembered");
    tap_ok(slots_find(&slots, b, &object) == SLOT_LIVE && object == &things[1], "the other value stays live");
    tap_ok(slots_find(&slots, a ^ UINT64_C(1) << 60, &object) == SLOT_FORGED, "a value with another tag is forged");
    tap_ok(slots_find(&slots, a + (UINT64_C(1) << 24), &object) == SLOT_FORGED, "a value with a future generation is forged");
    tap_ok(slots_find(&slots, (uint64_t)TAG << 48, &object) == SLOT_FORGED, "generation 0 is forged");
    tap_ok(slots_find(&slots, a + 2, &object) == SLOT_FORGED, "a value with an unused index is forged");
    end(&slots);
    tap_u64((uint64_t)forgotten, 2, "clearing the table forgets both objects");
}

static void test_reuse(void)
{
    enum { ENDED = SLOTS_REMEMBERED + 3 };
    static uint64_t value[ENDED];
    struct slots slots;
    void *object;
    forgotten = 0;
    slots_init(&slots, TAG, SLOTS_NUMBERS, forget, NULL);
    for (int i = 0; i < ENDED; i++)
        value[i] = slots_add(&slots, &things[i % 64]);
    for (int i = 0; i < ENDED; i++)
        slots_end(&slots, value[i]);
    tap_u64((uint64_t)forgotten, 3, "the three oldest objects are forgotten, the others remembered");
    tap_ok(slots_find(&slots, value[2], &object) == SLOT_STALE && !object, "a forgotten value is stale");
    tap_ok(slots_find(&slots, value[3], &object) == SLOT_STALE && object == &things[3], "a remembered value has its object");
    uint64_t again[4];
    for (int i = 0; i < 4; i++)
        again[i] = slots_add(&slots, &things[4 + i]);
    tap_ok((uint32_t)again[0] << 8 == (uint32_t)value[0] << 8, "the slot freed first is reused first");
    tap_ok((uint32_t)again[3] << 8 == (uint32_t)(value[ENDED - 1] + 1) << 8, "a remembered slot is not reused");
    tap_ok(slots_find(&slots, value[0], &object) == SLOT_STALE && !object, "its old value stays stale");
    bool distinct = true;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < ENDED; j++)
            distinct = distinct && again[i] != value[j];
    tap_ok(distinct, "no value is ever reused");
    for (int i = 0; i < 3; i++)
        slots_end(&slots, again[i]);
    tap_ok(slots_find(&slots, value[5], &object) == SLOT_STALE && !object,
           "newly ended objects displace the oldest remembered ones");
    end(&slots);
}

static void count(void *user, void *object)
{
    (void)object;
    ++*(int *)user;
}

static void test_each(void)
{
    struct slots slots;
    int seen = 0;
    slots_init(&slots, TAG, SLOTS_NUMBERS, forget, NULL);
    uint64_t values[40];
    for (int i = 0; i < 40; i++)
        values[i] = slots_add(&slots, &things[i]);
    for (int i = 0; i < 40; i += 2)
        slots_end(&slots, values[i]);
    slots_each(&slots, count, &seen);
    tap_u64((uint64_t)seen, 20, "only live objects are visited");
    end(&slots);
}

static void test_retire(void)
{
    struct slots slots;
    void *object;
    slots_init(&slots, TAG, SLOTS_NUMBERS, forget, NULL);
    uint64_t a = slots_add(&slots, &things[0]);
    slots.slot[0].generation = (UINT32_C(1) << 24) - 1; /* as after sixteen million uses */
    a = (a & ~(UINT64_C(0xffffff) << 24)) | UINT64_C(0xffffff) << 24;
    tap_ok(slots_find(&slots, a, &object) == SLOT_LIVE, "the slot's last generation is live");
    slots_end(&slots, a);
    uint64_t b = slots_add(&slots, &things[1]), c = slots_add(&slots, &things[2]);
    tap_ok((uint32_t)b << 8 != (uint32_t)a << 8 && (uint32_t)c << 8 != (uint32_t)a << 8,
           "a slot whose generations are used up is retired");
    tap_ok(slots_find(&slots, a, &object) == SLOT_STALE, "the last value of a retired slot stays stale");
    end(&slots);
}

int main(void)
{
    test_life();
    test_reuse();
    test_each();
    test_retire();
    return tap_done();
}
