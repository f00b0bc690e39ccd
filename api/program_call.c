/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "program_call.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

enum { NAMES = 128 }; /* of calls that are made of several; there are some twenty */
enum { KNOWN = 512, ID_BITS = 16 };

static _Atomic(const char *) names[NAMES];
static _Atomic uint64_t known[KNOWN];

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

/* Lookup results, each in one word so that threads need no lock: the name's address, with the id in the lower bits. An address
 * that is too large for that is never cached. */
static _Atomic uint64_t *entry_of(const char *name)
{
    return &known[((uintptr_t)name ^ (uintptr_t)name >> 8) % KNOWN];
}

/* A separate function, so that the fast path of all calls saves no registers for it. */
__attribute__((noinline)) static uint16_t look_up_own(const char *name)
{
    uint16_t id = 0;
    while (id < VMM_CALL_COUNT && !is(name, vmm_call_driver_names[id]))
        id++;
    atomic_store_explicit(entry_of(name), (uint64_t)(uintptr_t)name << ID_BITS | id, memory_order_relaxed);
    return id;
}

static uint16_t own_of(const char *name)
{
    uint64_t there = atomic_load_explicit(entry_of(name), memory_order_relaxed);
    return there >> ID_BITS == (uintptr_t)name ? (uint16_t)there : look_up_own(name);
}

void vmm_within_begin(struct vmm_within_calls *calls, const char *name)
{
    unsigned depth = calls->depth++;
    if (depth < VMM_WITHIN_MOST)
        calls->call[depth] = (struct vmm_within){.name = name, .own = own_of(name)};
}

/* The name at a place, stored there if the place is free. NULL when memory is out. */
static const char *name_at(unsigned place, const char *name)
{
    const char *there = atomic_load(&names[place]);
    if (there)
        return there;
    char *own = heap.strndup(name, base_length(name));
    if (own && !atomic_compare_exchange_strong(&names[place], &there, own))
        heap.free(own); /* LCOV_EXCL_LINE: another thread was quicker, just now */
    /* analysers: malloc-leak is wrong: it is in the table */
    return there ? there : own;
}

/* NAMES where there is no room for it. */
static unsigned place_of(const char *name)
{
    unsigned place = 0;
    const char *there;
    while (place < NAMES && (there = name_at(place, name)) && !is(name, there))
        place++;
    return place < NAMES && there ? place : NAMES;
}

uint16_t vmm_within_name(struct vmm_within *within, uint16_t id)
{
    unsigned place = within->reported ? (unsigned)within->reported - VMM_CALL_COUNT : place_of(within->name);
    if (place == NAMES)
        return id;
    within->reported = (uint16_t)(VMM_CALL_COUNT + place);
    return within->reported;
}

const char *vmm_part_name(uint16_t reported)
{
    return atomic_load(&names[reported - VMM_CALL_COUNT]);
}
