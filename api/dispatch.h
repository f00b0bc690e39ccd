/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.h - the way of a call to the outermost backend: number it, begin the thread's detail, pass it on, report.
 *
 *     vmm_mem_map(sys, ..)   finds the thread's piece  -->  vmm_dispatch                   any thread, parts of a call
 *     cuMemMap(..)           has found it, and within  -->  vmm_dispatch_part              of the program, and itself
 *                                                             \--> vmm_dispatch_short      one thread, nothing to clear
 *
 * Inline, so that what is known of a call when an entry point is compiled is not worked out again by each call.
 */
#ifndef CUVMM_DISPATCH_H
#define CUVMM_DISPATCH_H

#include "system.h"
#include "thread.h"

#if defined(__GNUC__) && defined(__OPTIMIZE__)
#define VMM_INLINE static inline __attribute__((always_inline))
#else
#define VMM_INLINE static inline
#endif

/* Does whatever the call needs. queries: as in the row of calls.def. */
vmm_result vmm_dispatch(vmm_system *sys, struct vmm_thread *thread, struct vmm_call *call, bool queries);

/* Passes the thread's detail to the report function; returns result. */
vmm_result vmm_tell(vmm_system *sys, vmm_result result);

/* May this thread's next call take the fast path? */
static inline bool vmm_is_short(const struct vmm_thread *thread)
{
    return ordinal_is_next(&thread->ordinals) && !vmm_detail_is_used(&thread->detail);
}

/* A call with that number, reported under its own name. Only where vmm_is_short. */
VMM_INLINE vmm_result vmm_dispatch_short(vmm_system *sys, struct vmm_thread *thread, struct vmm_call *call, uint16_t id,
                                         uint64_t number)
{
    call->number = number;
    vmm_detail_note_call(&thread->detail, vmm_call_driver_name((enum vmm_call_id)id), number);
    thread->stack = 0;
    vmm_result result = sys->top->ops->call[id](sys->top, call);
    thread->stack = 0; /* including a call that a host function made meanwhile */
    return thread->detail.severity == VMM_SEVERITY_NONE ? result : vmm_tell(sys, result);
}

/* A part of the program's call `within`, which is the thread's innermost call. */
VMM_INLINE vmm_result vmm_dispatch_part(vmm_system *sys, struct vmm_thread *thread, struct vmm_within *within,
                                        struct vmm_call *call, bool queries)
{
    const uint16_t id = call->id; /* a constant to the compiler until the first call */
    if (within->number || !vmm_is_own(within->entry, id) || !vmm_is_short(thread))
        return vmm_dispatch(sys, thread, call, queries);
    within->number = ordinal_draw(&sys->calls, 1);
    return vmm_dispatch_short(sys, thread, call, id, within->number);
}

#endif
