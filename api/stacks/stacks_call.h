/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_call.h - the stack of the call in progress, which is captured once however many objects the call makes or ends.
 *
 *     cuMemUnmap of 1,000 mappings     call_stack() 1,000 times     one capture
 */
#ifndef CUVMM_STACKS_CALL_H
#define CUVMM_STACKS_CALL_H

#include "stacks.h"
#include "thread.h"

/* Call it on a thread of the program that is in a call; returns 0 if stacks are off. */
static inline uint32_t call_stack(void)
{
    if (!stacks_wanted())
        return 0;
    struct vmm_thread *thread = vmm_this_thread();
    if (!thread->stack)
        thread->stack = stacks_here();
    return thread->stack;
}

#endif
