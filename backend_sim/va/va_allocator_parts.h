/* SPDX-License-Identifier: Apache-2.0 */
/* va_allocator_parts.h - the inside of va_allocator.h: va_allocator.c changes it, va_allocator_check.c checks it. */
#ifndef SIM_VA_ALLOCATOR_PARTS_H
#define SIM_VA_ALLOCATOR_PARTS_H

#include "va_allocator.h"

struct chunk {
    uint64_t start;
    uint64_t used; /* bytes of it that are taken */
};

/* A multiple of unit, at least n; the greatest one where there is none. */
static inline uint64_t va_allocator_round_up(uint64_t n, uint64_t unit)
{
    return n > UINT64_MAX - (unit - 1) ? UINT64_MAX / unit * unit : (n + unit - 1) / unit * unit;
}

#endif
