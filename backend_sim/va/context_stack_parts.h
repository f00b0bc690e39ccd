/* SPDX-License-Identifier: Apache-2.0 */
/* context_stack_parts.h - internals of context_stack.h, for its test, which breaks them. */
#ifndef SIM_CONTEXT_STACK_PARTS_H
#define SIM_CONTEXT_STACK_PARTS_H

#include "context_stack.h"

struct thread_stack {
    uint64_t id; /* of its process */
    struct thread_stack *in_process, **process_link; /* the column */
    struct thread_stack *in_thread, **thread_link;   /* the row */
    uint64_t *context;
    uint32_t depth, room;
};

#endif
