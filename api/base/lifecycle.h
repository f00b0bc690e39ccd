/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.h - forks, cancellation and ends of threads: the identity of the process, and the order of all locks of this library.
 *
 *     thread A     in a call, holds a lock         goes on                                        parent
 *     thread B     fork()  [waits for A] [takes every lock in order]  fork  [gives them back]     parent
 *                                                                      |
 *                                                                      +--> what is the parent's alone is lost (os_own.h),
 *                                                                           then every lock is free    child
 *
 * Lock order, from the outside in: the rows of enum life_rank. A thread that holds a lock takes only locks of later rows, and
 * holds at most one lock of a row that has several; a fork takes all of them in that order. So the child finds the guarded state
 * as it is between two calls. If a fork cannot take a lock within LIFE_PATIENCE_MS (a kernel runs under it, or the forking
 * thread itself holds it, in a signal handler), it goes ahead without it: the child initialises the lock anew, and the
 * lock's owner is notified that the guarded state may be half changed. A fork never takes a mutex that processes share, because
 * no child could unlock it.
 *
 * Threads that contend for a lock take turns (turns.h). The door at which they wait for their turn belongs to the
 * lock: a thread that holds the door holds no lock of a later row, and takes that lock next.
 *
 * A fork does not take locks of LIFE_LAYER, because foreign code runs under them that may itself wait for that fork: a driver,
 * or this library acting as one. In a child their owners do without them.
 *
 * A thread is not cancelled while it holds a lock: code that may reach a cancellation point there defers
 * cancellation (life_no_cancel) only around that point, because deferring costs as much as a lock. A host function may end its
 * thread (in_flight.c), and a signal handler may jump out of a copy that touches unmapped host memory (call_copy.c). Jumping out
 * of a host function, a kernel or a report is not supported: it would leave the call that runs it unfinished.
 *
 * vfork and posix_spawn call no handlers and need none: what runs there until the exec makes no calls.
 */
#ifndef SIM_LIFECYCLE_H
#define SIM_LIFECYCLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "posix.h"
#include "turns.h"

enum life_rank {
    LIFE_OPENING, /* abi_system.c: held while the machine of libcuda.so.1 is opened */
    LIFE_LIST,    /* lifecycle.c: the list of locks */
    LIFE_FAULTS,  /* host_fault.c: the address ranges to explain; never held during a call */
    LIFE_MACHINE, /* machine.h; inside it the mutexes of shared state (share.h, share_nodes.h) */
    LIFE_THREADS, /* context_stack.c: each thread's contexts */
    LIFE_TABLE,   /* the tables of abi_*.c, and a system's report function */
    LIFE_LEAF,    /* kernels/registered.c, inside the table of plugins */
    LIFE_LAYER,   /* not taken by a fork: layers and the CUDA backend; still ordered before LIFE_MACHINE */
    LIFE_RANKS
};

enum { LIFE_PATIENCE_MS = 200 };
/* the waiting time in milliseconds; longer in tests of the lock order, which a timeout would hide */
extern _Atomic uint64_t life_patience;

struct life_lock {
    pthread_mutex_t mutex;
    struct turns turns; /* of the threads that contend for the mutex */
    enum life_rank rank;
    bool taken; /* by the fork in progress */
    /* Called in a child for a lock whose holder does not exist there; whole is true if no thread was changing the guarded
     * state. NULL: the guarded state needs no repair. */
    void (*forked)(struct life_lock *lock, bool whole);
    struct life_lock *next, **link;
};

/* A static lock of a source file. */
#define LIFE_LOCK(name, rank_, forked_)                                                                    \
    static struct life_lock name = {.mutex = PTHREAD_MUTEX_INITIALIZER, .turns = TURNS_INITIALIZER, .rank = (rank_), \
                                    .forked = forked_};                                            \
    __attribute__((constructor)) static void name##_is_known(void)                                         \
    {                                                                                                      \
        life_know(&name);                                                                                  \
    }
void life_know(struct life_lock *lock);

/* A lock that ends. Do not call either function while holding a lock of LIFE_FAULTS or later. */
void life_lock_init(struct life_lock *lock, enum life_rank rank, void (*forked)(struct life_lock *lock, bool whole));
void life_lock_end(struct life_lock *lock);

/* The system clears it in every forked child: 0 until the first query. */
enum { LIFE_PAGE = 4096 };
extern struct life_page {
    _Alignas(LIFE_PAGE) _Atomic uint64_t stamp;
    _Atomic uint64_t calm; /* 0 also during a fork */
    char rest[LIFE_PAGE - 2 * sizeof(_Atomic uint64_t)];
} life_page;
uint64_t life_recognise(void);

/* The identity of this process: 1, in its children 2, in theirs 3. Costs one load, and takes no lock. */
static inline uint64_t life_stamp(void)
{
    uint64_t stamp = atomic_load_explicit(&life_page.stamp, memory_order_acquire);
    return stamp ? stamp : life_recognise();
}

/* Call it before taking a lock: a child recognises itself, and threads of a forking parent let the fork go first. */
void life_hold_back(void);
static inline void life_acquire(struct life_lock *lock)
{
    if (!atomic_load_explicit(&life_page.calm, memory_order_acquire))
        life_hold_back();
    turns_lock(&lock->turns, &lock->mutex);
}

static inline bool life_try_acquire(struct life_lock *lock)
{
    life_stamp();
    return posix.pthread_mutex_trylock(&lock->mutex) == 0;
}

static inline void life_release(struct life_lock *lock)
{
    posix.pthread_mutex_unlock(&lock->mutex);
}

/* Defers cancellation of this thread until life_may_cancel gets the returned value. */
static inline int life_no_cancel(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void life_may_cancel(int before)
{
    pthread_setcancelstate(before, &before);
}

#endif
