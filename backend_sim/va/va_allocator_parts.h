/* SPDX-License-Identifier: Apache-2.0 */
/* va_allocator_parts.h - internals of the VA allocator: va_allocator.c changes them, va_allocator_check.c checks them. */
#ifndef SIM_VA_ALLOCATOR_PARTS_H
#define SIM_VA_ALLOCATOR_PARTS_H

#include "va_allocator.h"

struct chunk {
    uint64_t start;
    uint64_t used; /* bytes that are taken */
};

/* The smallest multiple of unit that is at least n; where none fits 64 bits, the largest multiple that does. */
static inline uint64_t va_allocator_round_up(uint64_t n, uint64_t unit)
{
    return n > UINT64_MAX - (unit - 1) ? UINT64_MAX / unit * unit : (n + unit - 1) / unit * unit;
}

#endif
