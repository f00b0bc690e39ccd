/* SPDX-License-Identifier: Apache-2.0 */
#include "rt_table.h"

#include <stdint.h>

#include "heap.h"

enum { LEAST = 256 };

struct slot {
    const void *_Atomic key;
    void *_Atomic value;
};

struct rt_slots {
    size_t count, used; /* count is a power of two */
    struct rt_slots *older;
    struct slot slot[];
};

/* The first slot for a key; addresses differ in the middle bits. */
static size_t place_of(const struct rt_slots *slots, const void *key)
{
    uint64_t mixed = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) & (slots->count - 1);
}

/* The key's slot, or the empty one at which the search ends; there always is one. */
static struct slot *slot_of(struct rt_slots *slots, const void *key)
{
    size_t i = place_of(slots, key);
    for (;;) {
        const void *there = atomic_load_explicit(&slots->slot[i].key, memory_order_acquire);
        if (there == key || !there)
            return &slots->slot[i];
        i = (i + 1) & (slots->count - 1);
    }
}

void *rt_table_get(struct rt_table *table, const void *key)
{
    struct rt_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    return slots ? atomic_load_explicit(&slot_of(slots, key)->value, memory_order_acquire) : NULL;
}

static void set(struct rt_slots *slots, const void *key, void *value)
{
    struct slot *slot = slot_of(slots, key);
    slots->used += !atomic_load_explicit(&slot->key, memory_order_relaxed);
    atomic_store_explicit(&slot->value, value, memory_order_release);
    atomic_store_explicit(&slot->key, key, memory_order_release);
}

/* Moves the entries to a table of twice the size. */
static struct rt_slots *grow(struct rt_table *table, struct rt_slots *old)
{
    size_t count = old ? 2 * old->count : LEAST;
    struct rt_slots *slots = heap.calloc(1, sizeof *slots + count * sizeof slots->slot[0]);
    if (!slots)
        return NULL;
    slots->count = count;
    slots->older = old;
    for (size_t i = 0; old && i < old->count; i++) {
        void *value = atomic_load_explicit(&old->slot[i].value, memory_order_relaxed);
        if (value)
            set(slots, atomic_load_explicit(&old->slot[i].key, memory_order_relaxed), value);
    }
    atomic_store_explicit(&table->slots, slots, memory_order_release);
    return slots;
}

bool rt_table_put(struct rt_table *table, const void *key, void *value)
{
    struct rt_slots *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    bool there = slots && atomic_load_explicit(&slot_of(slots, key)->key, memory_order_relaxed) == key;
    if (!there && (!slots || 2 * (slots->used + 1) > slots->count))
        slots = grow(table, slots);
    if (slots)
        set(slots, key, value);
    return slots != NULL;
}

void rt_table_remove(struct rt_table *table, const void *key)
{
    struct rt_slots *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    if (slots)
        atomic_store_explicit(&slot_of(slots, key)->value, NULL, memory_order_release);
}
