/* SPDX-License-Identifier: Apache-2.0 */
/* context_stack.h - each thread's stack of contexts; the top is the thread's current one.
 *
 *   create C2:  [C1] -> [C1 C2]     set C3: [C1 C2] -> [C1 C3]     set NULL: [C1 C3] -> [C1]
 *
 * The stack stores values as the caller passed them; it does not check that a context is still alive. A thread accesses only
 * its own stacks. A thread may end while the simulated process is being closed: both walk lists under one lock that always
 * exists (LIFE_THREADS), so each stack is freed exactly once.
 *
 *                 process P       process Q
 *     thread A    [C1]            [C4 C5]      <- the end of A frees this row
 *     thread B    [C2 C3]                         the end of P frees this column
 *
 * Invariants (context_stack_check; context_stack_check_own checks only the calling thread's row, and its top here):
 *     a column     links all stacks with its id; a row links stacks of different ids; each stack is linked back from both
 *     depth        <= room, and there is room exactly where there are contexts to keep
 *     a context    on a stack is one that the process gave out, live or ended
 *     remembered   of a thread = the stack with that id in the thread's row, or none where the row has none
 */
#ifndef SIM_CONTEXT_STACK_H
#define SIM_CONTEXT_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct thread_stack;

struct context_stack {
    uint64_t id;                  /* unique in the program; never reused */
    struct thread_stack *stacks; /* of all threads, in this process */
};

/* False when the system has no thread key left. */
bool context_stack_init(struct context_stack *current);
/* Frees the stacks of all threads. No thread is inside a call. */
void context_stack_clear(struct context_stack *current);

/* The top of the calling thread's stack; 0 when the stack is empty. */
uint64_t context_stack_get(const struct context_stack *current);
/* Reserves room, so that the next context_stack_push of this thread succeeds. False when out of memory. */
bool context_stack_ready(struct context_stack *current);
/* False when out of memory: nothing has changed. */
bool context_stack_push(struct context_stack *current, uint64_t context);
/* Replaces the top, or pops it for 0. */
bool context_stack_set(struct context_stack *current, uint64_t context);

/* Did the process ever create that context? */
typedef bool context_stack_given(const void *user, uint64_t context);
/* No other thread is inside a call that changes its stack. */
const char *context_stack_check(const struct context_stack *current, context_stack_given *given, const void *user);
/* Regardless of other threads. */
const char *context_stack_check_own(const struct context_stack *current, context_stack_given *given, const void *user);

#endif
