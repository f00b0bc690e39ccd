/* SPDX-License-Identifier: Apache-2.0 */
/* program_call.h - calls of this interface that are parts of one call of the program.
 *
 *     program              libcuda.so.1                                     what is reported
 *     cuMemHostAlloc(..)   mem_create, mem_address_reserve, mem_map, ...    call 7 (cuMemHostAlloc), for each of them
 *     cuMemMap(..)         mem_map                                          call 8 (cuMemMap)
 *
 * Between begin and end a thread's calls share one number, and their objects and messages carry the program's name. A part
 * keeps its own name if that is the program's call, so a call of this interface is reported as usual.
 */
#ifndef CUVMM_PROGRAM_CALL_H
#define CUVMM_PROGRAM_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"

/* A function that the program calls. It caches what was looked up for its name, and must outlive all calls of it. */
struct vmm_entry_point {
    const char *name; /* with or without the suffix of the driver's symbols: "cuMemHostAlloc", "cuMemFree_v2" */
    _Atomic uint16_t own;      /* 1 + the id of this interface's call of that name, VMM_CALL_COUNT if there is none; 0: not
                                  looked up yet */
    _Atomic uint16_t reported; /* the number for its name; 0 until a part needs it */
};
/* Put this first in such a function. */
#define VMM_ENTRY_POINT(entry) static struct vmm_entry_point entry = {.name = __func__}

/* A call of one. */
struct vmm_within {
    struct vmm_entry_point *entry;
    uint64_t number; /* 0 until its first part */
};

/* The calls that a thread is in: more than one if a wait calls a host function that makes calls. Beyond VMM_WITHIN_MOST a
 * call is reported as part of the enclosing one. They stay in place, because a host function may end its thread
 * in the middle of a call. */
enum { VMM_WITHIN_MOST = 8 };
struct vmm_within_calls {
    unsigned depth;
    struct vmm_within call[VMM_WITHIN_MOST];
};

/* Enters one and returns the innermost; each must be left again. */
static inline struct vmm_within *vmm_within_begin(struct vmm_within_calls *calls, struct vmm_entry_point *entry)
{
    unsigned depth = calls->depth++;
    if (depth >= VMM_WITHIN_MOST)
        return &calls->call[VMM_WITHIN_MOST - 1];
    calls->call[depth] = (struct vmm_within){entry, 0};
    return &calls->call[depth];
}
static inline void vmm_within_end(struct vmm_within_calls *calls)
{
    calls->depth--;
}

/* The innermost, or NULL. */
static inline struct vmm_within *vmm_within_now(struct vmm_within_calls *calls)
{
    unsigned depth = calls->depth < VMM_WITHIN_MOST ? calls->depth : VMM_WITHIN_MOST;
    return depth ? &calls->call[depth - 1] : NULL;
}

/* Does the entry point have the name of this interface's call with that id? False until it has been looked up. */
static inline bool vmm_is_own(const struct vmm_entry_point *entry, uint16_t id)
{
    return atomic_load_explicit(&entry->own, memory_order_relaxed) == id + 1;
}

/* The id under which an object or a work item is recorded: the part's own id, or a number for the program's name. */
uint16_t vmm_part_of(struct vmm_entry_point *entry, uint16_t id);
static inline uint16_t vmm_reported_in(const struct vmm_within *within, uint16_t id)
{
    return !within || vmm_is_own(within->entry, id) ? id : vmm_part_of(within->entry, id);
}

/* The name for either. */
const char *vmm_part_name(uint16_t reported);
static inline const char *vmm_reported_name(uint16_t reported)
{
    return reported < VMM_CALL_COUNT ? vmm_call_driver_name((enum vmm_call_id)reported) : vmm_part_name(reported);
}

/* Does it stand for a program's name, so that the recorded object is only part of that call? */
static inline bool vmm_reported_is_part(uint16_t reported)
{
    return reported >= VMM_CALL_COUNT;
}

#endif
