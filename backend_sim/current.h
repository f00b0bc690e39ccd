/* current.h - each thread's stack of contexts; the top is the thread's current one.
 *
 *   create C2:  [C1] -> [C1 C2]     set C3: [C1 C2] -> [C1 C3]     set NULL: [C1 C3] -> [C1]
 *
 * Values are kept as they were given; whether a context still lives is for others to say. Called with the machine's
 * lock held.
 */
#ifndef SIM_CURRENT_H
#define SIM_CURRENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct current_stack;

struct current {
    pthread_key_t key;            /* of the thread's stack */
    pthread_mutex_t *lock;        /* the machine's: threads leave at any time */
    struct current_stack *stacks; /* all threads' */
};

/* False when thread keys are out. */
bool current_init(struct current *current, pthread_mutex_t *lock);
/* Frees the stacks of all threads; called without the lock. */
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
