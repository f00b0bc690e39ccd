/* SPDX-License-Identifier: Apache-2.0 */
/* shadow_state.h - the shadow's state, and its parts: each is called under the shadow's lock.
 *
 *     call of the program -> shadow.c (who is called first) -> shadow_compare.c   the two answers
 *                                                          -> shadow_import.c    memory of other processes
 *                                                          -> shadow_memory.c    ordinary memory, in the driver's places
 *                                                          -> shadow_opaque.c    what is not followed: a range, a handle
 */
#ifndef CUVMM_SHADOW_STATE_H
#define CUVMM_SHADOW_STATE_H

#include "adopt.h"
#include "lifecycle.h"
#include "range_set.h"
#include "shadow_call.h"

/* A descriptor from an export, by its number; an earlier export with that number must have been closed. */
struct shadow_descriptor {
    int file, tag;       /* of the opening, os_file_tag */
    uint64_t handle;     /* the simulator's */
    vmm_site made;
};

struct shadow {
    struct vmm_backend backend; /* must be first */
    struct vmm_backend *sim;    /* NULL until the machine is known */
    /* held while a call runs on both sides (for a call that waits: on the simulator) and is compared; taken before the
     * simulator's lock */
    struct life_lock lock;
    struct shadow_pairs pairs;
    struct range_set opaque;    /* addresses of mappings that the shadow does not track */
    struct range_set reserved;  /* reservations that the simulator lacks */
    struct shadow_descriptor *descriptors;
    size_t descriptor_count, descriptor_room;
    struct pairs descriptor_of; /* number + 1 -> index in descriptors + 1 */
    uint64_t exports;           /* their number so far: the next one's tag */
    /* life_stamp() of the process that queried the machine; a forked child has no access to the backend either */
    _Atomic uint64_t process;
    int nodes;                  /* NUMA nodes of the host, as far as is known */
    bool runtime;               /* a CUDA runtime may make some of the calls */
    bool lost;
    /* the backend's driver has shut down before the program's end: the shadow compares nothing any more */
    bool ended;
};

/* Are the backend's calls compared with the simulator's? */
static inline bool shadow_follows(const struct shadow *shadow)
{
    return shadow->sim && !shadow->lost && !shadow->ended;
}

/* Was the call made to learn whether the thread has a context? Then the result says nothing about the program. */
bool shadow_is_a_try(const struct shadow *shadow, const struct vmm_call *call, vmm_result result);

/* Was the simulator's handle released? found is the simulator's finding. The thread's record is overwritten. */
bool shadow_is_stale(struct shadow *shadow, uint64_t handle, vmm_detail *found);
/* Was the call refused because it was made inside a host function? If so, the reason is in the thread's record. */
bool shadow_refused_inside(struct shadow *shadow, const struct vmm_call *call, vmm_result result);

/* ---- shadow_compare.c ---- */

/* Repeats a call that the backend has executed on the simulator, and explains the result. */
void shadow_compare(struct shadow *shadow, struct vmm_call *call, vmm_result inner);
/* Reports two different results, with that rule. */
void shadow_say_difference(const struct vmm_call *call, enum vmm_rule_id rule, vmm_result inner, vmm_result sim);

/* ---- shadow_import.c ---- */

/* Handles the result of an import; returns whether that was complete. */
bool shadow_imported(struct shadow *shadow, const struct vmm_call *call, vmm_result inner);
bool shadow_imported_pool(struct shadow *shadow, const struct vmm_call *call, vmm_result inner);

/* ---- shadow_export.c ---- */

/* Records an export: a pool's fabric handle, an IPC handle of memory, a descriptor of memory. */
void shadow_note_export(struct shadow *shadow, const struct vmm_call *call, vmm_result inner);
/* Was that call refused because the process opens its own memory? If so, the reason is in the thread's record. */
bool shadow_opened_own(struct shadow *shadow, const struct vmm_call *call, vmm_result inner);
/* Reports each open descriptor of memory whose handle was released, and returns their number. Called without the
 * lock, which it takes for each and not during the report. report may be NULL. */
uint64_t shadow_open_descriptors(struct shadow *shadow, vmm_report_fn report, void *user);

/* ---- shadow_memory.c ---- */

bool shadow_allocates(enum vmm_call_id id);
bool shadow_frees(enum vmm_call_id id);
/* The backend has allocated or opened memory, or refused to. */
void shadow_allocated(struct shadow *shadow, const struct vmm_call *call, vmm_result inner);
/* A complete free: called without the lock, which it takes before and after the backend's call. The memory is dropped before
 * that call, because the backend may give its addresses to another thread before the call returns. */
vmm_result shadow_free(struct shadow *shadow, struct vmm_call *call);
/* A copy between two arbitrary addresses counts as a copy from or to the host if the simulator knows only one of them. False
 * if it knows neither. */
bool shadow_direct(struct shadow *shadow, union vmm_any_call *call);
/* Does the call query memory whose attributes only the backend knows? */
bool shadow_asks_of_memory(struct shadow *shadow, const struct vmm_call *call);
/* The backend accepted a copy that runs past an allocation's end. */
bool shadow_ran_past(struct shadow *shadow, const struct vmm_call *call);

/* ---- shadow_opaque.c ---- */

/* Does the call name untracked addresses? If so, nothing is compared, and shadow_pass_opaque updates them. */
bool shadow_is_opaque(const struct shadow *shadow, const struct vmm_call *call);
void shadow_pass_opaque(struct shadow *shadow, const struct vmm_call *call, vmm_result inner);
/* Does the copy concern memory whose rights only the backend knows, such as that of a pool? */
bool shadow_copies_memory(struct shadow *shadow, const struct vmm_call *call);
/* The call named an untracked handle or context. */
void shadow_pass_unknown(struct shadow *shadow, const struct vmm_call *call, vmm_result inner);
/* The two results contradict each other: the object of the call is no longer tracked. */
void shadow_give_up(struct shadow *shadow, const struct shadow_call *made, const struct vmm_call *call, vmm_result inner,
                    vmm_result sim);
/* Sets the simulator's current context to the thread's context on the backend, if that became current unseen. False
 * if there is none. */
bool shadow_learn_context(struct shadow *shadow, const struct vmm_call *call);

#endif
