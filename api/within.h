/* SPDX-License-Identifier: Apache-2.0 */
/* within.h - calls of this interface that are parts of one call of the program.
 *
 *     program              libcuda.so.1                                     what is told
 *     cuMemHostAlloc(..)   mem_create, mem_address_reserve, mem_map, ...    call 7 (cuMemHostAlloc), for each of them
 *     cuMemMap(..)         mem_map                                          call 8 (cuMemMap)
 *
 * Between begin and end the calling thread's calls share one number, and what they make and say carries the program's name.
 * A part has the name of its own where that is the program's, so a call that is one of this interface is told as ever.
 */
#ifndef CUVMM_WITHIN_H
#define CUVMM_WITHIN_H

#include <stdbool.h>
#include <stdint.h>

#include "call.h"

/* The program's call that this thread is in; name is NULL where there is none. */
struct vmm_within {
    const char *name; /* the function's, with or without what the driver's symbols end with: "cuMemHostAlloc", "cuMemFree_v2" */
    uint64_t number;  /* 0 until its first part */
    uint16_t own;     /* the id of this interface's call of that name; VMM_CALL_COUNT where it has none */
};

extern _Thread_local struct vmm_within vmm_within_here;

/* Begins one, and hands back the one around it, which the end takes again: a host function may make calls inside a wait. */
struct vmm_within vmm_within_begin(const char *name); /* a constant of the program: its address is remembered */
static inline void vmm_within_end(struct vmm_within around)
{
    vmm_within_here = around;
}

/* What an object or a piece of work is noted to be made by: the part's own id, or a number for the program's name. */
uint16_t vmm_within_name(uint16_t id);
static inline uint16_t vmm_told_in(const struct vmm_within *within, uint16_t id)
{
    return !within->name || within->own == id ? id : vmm_within_name(id);
}
static inline uint16_t vmm_told_as(uint16_t id)
{
    return vmm_told_in(&vmm_within_here, id);
}

/* The name for either. */
const char *vmm_part_name(uint16_t told);
static inline const char *vmm_told_name(uint16_t told)
{
    return told < VMM_CALL_COUNT ? vmm_call_driver_name((enum vmm_call_id)told) : vmm_part_name(told);
}

/* Is it a program's name, of whose call what was made is only a part? */
static inline bool vmm_told_is_part(uint16_t told)
{
    return told >= VMM_CALL_COUNT;
}

#endif
