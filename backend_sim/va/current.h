/* SPDX-License-Identifier: Apache-2.0 */
/* current.h - each thread's stack of contexts; the top is the thread's current one.
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
#ifndef SIM_CURRENT_H
#define SIM_CURRENT_H

#include <stdbool.h>
#include <stdint.h>

struct current_stack;

struct current {
    uint64_t id;                  /* among all of the program; never used again */
    struct current_stack *stacks; /* all threads' */
};

/* False when thread keys are out. */
bool current_init(struct current *current);
/* Frees the stacks of all threads, which are in no call. */
void current_clear(struct current *current);

/* The top, 0 when there is none. */
uint64_t current_get(const struct current *current);
/* Makes sure that the next current_push of this thread succeeds; false when memory is out. */
bool current_ready(struct current *current);
/* False when memory is out: nothing has changed. */
bool current_push(struct current *current, uint64_t context);
/* Replaces the top, or pops it for 0. */
bool current_set(struct current *current, uint64_t context);

#endif
