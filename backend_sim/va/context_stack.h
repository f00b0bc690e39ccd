/* SPDX-License-Identifier: Apache-2.0 */
/* context_stack.h - each thread's stack of contexts; the top is the thread's current one.
 *
 *   create C2:  [C1] -> [C1 C2]     set C3: [C1 C2] -> [C1 C3]     set NULL: [C1 C3] -> [C1]
 *
 * Values are kept as they were given; whether a context still lives is for others to say. A thread looks at stacks of its own
 * alone. It may end while the simulated process is closed: whoever comes second finds nothing left to free, since both go by
 * lists that one lock guards, which is always there (LIFE_THREADS).
 *
 *                 process P       process Q
 *     thread A    [C1]            [C4 C5]      <- the end of A frees this row
 *     thread B    [C2 C3]                         the end of P frees this column
 */
#ifndef SIM_CONTEXT_STACK_H
#define SIM_CONTEXT_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct context_stack_stack;

struct context_stack {
    uint64_t id;                  /* among all of the program; never used again */
    struct context_stack_stack *stacks; /* all threads' */
};

/* False when thread keys are out. */
bool context_stack_init(struct context_stack *current);
/* Frees the stacks of all threads, which are in no call. */
void context_stack_clear(struct context_stack *current);

/* The top, 0 when there is none. */
uint64_t context_stack_get(const struct context_stack *current);
/* Makes sure that the next context_stack_push of this thread succeeds; false when memory is out. */
bool context_stack_ready(struct context_stack *current);
/* False when memory is out: nothing has changed. */
bool context_stack_push(struct context_stack *current, uint64_t context);
/* Replaces the top, or pops it for 0. */
bool context_stack_set(struct context_stack *current, uint64_t context);

#endif
