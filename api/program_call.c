/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "program_call.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

enum { NAMES = 128 }; /* of calls that consist of several; there are about twenty */

static _Atomic(const char *) names[NAMES];

/* Without the driver's version and kind of stream: "cuMemFree_v2" is cuMemFree, "cuMemcpyHtoDAsync_v2_ptsz" cuMemcpyHtoDAsync. */
static size_t base_length(const char *name)
{
    const char *end = strchr(name, '_');
    return end ? (size_t)(end - name) : strlen(name);
}

static bool is(const char *name, const char *other)
{
    size_t length = base_length(name);
    return base_length(other) == length && strncmp(name, other, length) == 0;
}

/* 1 + the id of this interface's call of that name. */
static uint16_t look_up_own(const char *name)
{
    uint16_t id = 0;
    while (id < VMM_CALL_COUNT && !is(name, vmm_call_driver_names[id]))
        id++;
    return (uint16_t)(id + 1);
}

/* The name in a slot, stored there if the slot is free. NULL when memory is out. */
static const char *name_at(unsigned place, const char *name)
{
    const char *there = atomic_load(&names[place]);
    if (there)
        return there;
    char *own = heap.strndup(name, base_length(name));
    if (own && !atomic_compare_exchange_strong(&names[place], &there, own)) /* LCOV_EXCL_BR_LINE: another thread was quicker */
        heap.free(own); /* LCOV_EXCL_LINE: the same */
    /* analysers: malloc-leak is wrong: it is in the table */
    return there ? there : own; /* LCOV_EXCL_BR_LINE: another thread was quicker, just now */
}

/* NAMES if there is no room for it. */
static unsigned place_of(const char *name)
{
    unsigned place = 0;
    const char *there;
    while (place < NAMES && (there = name_at(place, name)) && !is(name, there))
        place++;
    return place < NAMES && there ? place : NAMES;
}

/* The number for an entry point's name; 0 if there is no room for it. */
static uint16_t number_for(struct vmm_entry_point *entry)
{
    uint16_t number = atomic_load_explicit(&entry->reported, memory_order_relaxed);
    if (number)
        return number;
    unsigned place = place_of(entry->name);
    if (place == NAMES)
        return 0;
    number = (uint16_t)(VMM_CALL_COUNT + place);
    atomic_store_explicit(&entry->reported, number, memory_order_relaxed);
    return number;
}

uint16_t vmm_part_of(struct vmm_entry_point *entry, uint16_t id)
{
    if (!atomic_load_explicit(&entry->own, memory_order_relaxed))
        atomic_store_explicit(&entry->own, look_up_own(entry->name), memory_order_relaxed);
    uint16_t number = vmm_is_own(entry, id) ? 0 : number_for(entry);
    return number ? number : id;
}

const char *vmm_part_name(uint16_t reported)
{
    return atomic_load(&names[reported - VMM_CALL_COUNT]);
}
