/* SPDX-License-Identifier: Apache-2.0 */
/* turns.h - threads that all want one lock take turns of many calls at it, instead of handing it over at each call.
 *
 *   each call     A B A B A B        what the lock guards moves from core to core; a call takes 5 to 30 times as long
 *   by turns      AAAAAAAAAAAA       A calls as fast as alone
 *                   B looks on BBBBBBBBBBBB        the first of those that wait; then A is, or C
 *                   C sleeps   C looks on  CCCC
 *
 * A thread that finds the lock held tries again for TURNS_TRY, which is enough where threads make a call now and then.
 * Otherwise it waits at the door, where one thread at a time watches the lock: it takes the lock once no other thread is
 * taking it, and becomes due once the current thread's turn has lasted TURNS_LENGTH. While a thread is due, others stay away
 * from the lock, so it gets the lock as soon as the call in progress is over. The thread whose turn has just ended does not
 * compete: it goes straight to the door, behind the threads that already wait there.
 *
 * The mutex alone is the lock. This file only decides when to try it; a wrong decision cannot break mutual exclusion.
 */
#ifndef CUVMM_TURNS_H
#define CUVMM_TURNS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "posix.h"

/* Nanoseconds. A turn is long compared with the time that moving the guarded data between processors takes, 5 to 30
 * microseconds (docs/bench.md). */
enum { TURNS_TRY = 1000, TURNS_PAUSE = 200, TURNS_LENGTH = 500000, TURNS_LOOK = 100000 };

struct turns {
    atomic_bool due;        /* the thread at the door */
    _Atomic unsigned taken; /* how often the lock was taken */
    _Atomic unsigned waiting; /* threads at the door, except for the one that watches */
    pthread_mutex_t door;
    _Atomic uint64_t since; /* when the last turn began, by the monotonic clock; turns that began without a wait do not count */
    _Atomic(const void *) holder, former; /* the thread whose turn that was, and the one before */
};
#define TURNS_INITIALIZER {.door = PTHREAD_MUTEX_INITIALIZER}

void turns_init(struct turns *turns);
void turns_end(struct turns *turns);

/* Locks the mutex, by turns. */
void turns_wait(struct turns *turns, pthread_mutex_t *mutex);
static inline void turns_lock(struct turns *turns, pthread_mutex_t *mutex)
{
    if (atomic_load_explicit(&turns->due, memory_order_relaxed) || posix.try_lock(mutex))
        turns_wait(turns, mutex);
    atomic_store_explicit(&turns->taken, atomic_load_explicit(&turns->taken, memory_order_relaxed) + 1, memory_order_relaxed);
}

#endif
