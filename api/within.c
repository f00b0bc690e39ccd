/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "within.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 128 }; /* of calls that are made of several; there are some twenty */

_Thread_local struct vmm_within vmm_within_here;
static _Atomic(const char *) names[NAMES];

struct vmm_within vmm_within_begin(const char *name)
{
    struct vmm_within around = vmm_within_here;
    vmm_within_here = (struct vmm_within){.name = name};
    return around;
}

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

/* The name at a place, which is entered there where the place is free. NULL when memory is out. */
static const char *name_at(unsigned place, const char *name)
{
    const char *there = atomic_load(&names[place]);
    if (there)
        return there;
    char *own = strndup(name, base_length(name));
    if (own && !atomic_compare_exchange_strong(&names[place], &there, own))
        free(own);
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

uint16_t vmm_within_name(uint16_t id)
{
    const char *name = vmm_within_here.name;
    unsigned place = is(name, vmm_call_driver_names[id]) ? NAMES : place_of(name);
    return place < NAMES ? (uint16_t)(VMM_CALL_COUNT + place) : id;
}

const char *vmm_part_name(uint16_t told)
{
    return atomic_load(&names[told - VMM_CALL_COUNT]);
}
