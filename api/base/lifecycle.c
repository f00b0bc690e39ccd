/* SPDX-License-Identifier: Apache-2.0 */
#include "lifecycle.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "os_fork.h"
#include "os_own.h"
#include "posix.h"

struct life_page life_page;
_Atomic uint64_t life_patience = LIFE_PATIENCE_MS;
static _Atomic uint64_t known; /* the last stamp of this process, or of its parent before the fork; 0: none yet */
static pid_t own;              /* the process number */

static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER; /* the outermost lock: one fork at a time */
static _Thread_local bool forks;                            /* this thread's fork holds it */
static struct life_lock *all[LIFE_RANKS];

LIFE_LOCK(list, LIFE_LIST, NULL)

/* ---- the list of locks ---- */

void life_know(struct life_lock *lock)
{
    lock->next = all[lock->rank];
    lock->link = &all[lock->rank];
    if (lock->next)
        lock->next->link = &lock->next;
    all[lock->rank] = lock;
}

void life_lock_init(struct life_lock *lock, enum life_rank rank, void (*forked)(struct life_lock *lock, bool whole))
{
    *lock = (struct life_lock){.rank = rank, .forked = forked};
    pthread_mutex_init(&lock->mutex, NULL);
    turns_init(&lock->turns);
    life_acquire(&list);
    life_know(lock);
    life_release(&list);
}

void life_lock_end(struct life_lock *lock)
{
    life_acquire(&list);
    *lock->link = lock->next;
    if (lock->next)
        lock->next->link = lock->link;
    life_release(&list);
    pthread_mutex_destroy(&lock->mutex);
    turns_end(&lock->turns);
}

/* ---- a fork ---- */

static uint64_t milliseconds(void)
{
    struct timespec now;
    posix.clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits by the monotonic clock. The holder may need this processor. */
static bool take_until(pthread_mutex_t *mutex, uint64_t deadline)
{
    const struct timespec moment = {.tv_nsec = 20000};
    for (unsigned tries = 0; posix.pthread_mutex_trylock(mutex); tries++) {
        if (milliseconds() >= deadline)
            return false;
        if (tries % 16)
            sched_yield();
        else
            nanosleep(&moment, NULL);
    }
    return true;
}

/* Locks of systems and machines come and go: only the holder of the list's lock may search them. */
static void before_fork(void)
{
    uint64_t deadline = milliseconds() + atomic_load(&life_patience);
    forks = take_until(&forking, deadline);
    atomic_store(&life_page.calm, 0);
    for (int rank = 0; forks && rank < LIFE_LAYER && (rank <= LIFE_LIST || list.taken); rank++)
        for (struct life_lock *lock = all[rank]; lock; lock = lock->next)
            lock->taken = take_until(&lock->mutex, deadline);
}

static void after_fork(void)
{
    atomic_store(&life_page.calm, 1);
    if (!forks) /* LCOV_EXCL_BR_LINE: only if another thread's fork has used up the waiting time */
        return; /* LCOV_EXCL_LINE: the same */
    for (int rank = LIFE_LAYER; rank-- > 0;)
        for (struct life_lock *lock = rank <= LIFE_LIST || list.taken ? all[rank] : NULL; lock; lock = lock->next)
            if (lock->taken) {
                lock->taken = false;
                posix.pthread_mutex_unlock(&lock->mutex);
            }
    forks = false;
    posix.pthread_mutex_unlock(&forking);
}

/* Unlocks what this thread's fork has taken, in the child as well; any other lock is held by a thread of the parent. */
static void free_lock(pthread_mutex_t *mutex, bool taken)
{
    if (taken)
        posix.pthread_mutex_unlock(mutex);
    else
        pthread_mutex_init(mutex, NULL);
}

static void free_locks(void)
{
    for (int rank = 0; rank < LIFE_RANKS; rank++)
        for (struct life_lock *lock = all[rank]; lock; lock = lock->next) {
            bool whole = forks && lock->taken;
            lock->taken = false;
            turns_init(&lock->turns);
            free_lock(&lock->mutex, whole);
            if (lock->forked)
                lock->forked(lock, whole);
        }
    free_lock(&forking, forks);
    forks = false;
}

static void begin(void);

/* One of the child's threads does the work; the others wait. */
uint64_t life_recognise(void)
{
    uint64_t last = atomic_load(&known), stamp;
    if (!last) { /* LCOV_EXCL_BR_LINE: a program's constructor that runs before ours, which no test has */
        begin(); /* LCOV_EXCL_LINE: the same */
        return atomic_load(&life_page.stamp); /* LCOV_EXCL_LINE: the same */
    }
    if (atomic_compare_exchange_strong(&known, &last, last + 1)) { /* LCOV_EXCL_BR_LINE: another thread was first, a race */
        os_own_lose();
        free_locks();
        own = getpid();
        atomic_store(&life_page.calm, 1);
        atomic_store(&life_page.stamp, last + 1);
    }
    while (!(stamp = atomic_load(&life_page.stamp))) /* LCOV_EXCL_BR_LINE: another thread of the child was first, a race */
        sched_yield(); /* LCOV_EXCL_LINE: the same */
    return stamp;
}

/* Threads that keep retaking a lock would leave a fork no chance. They do not wait for the fork's end, which may itself wait for
 * a lock that they hold. */
void life_hold_back(void)
{
    enum { TURNS = 20 };
    life_stamp();
    for (int turn = 0; turn < TURNS && !atomic_load(&life_page.calm); turn++)
        sched_yield(); /* LCOV_EXCL_LINE: only while a fork waits for a lock, a race */
}

/* Either the system has cleared the stamp, or it cannot, or it accepted the advice and ignored it, as qemu-user does. */
static void in_child(void)
{
    if (own != getpid())
        atomic_store(&life_page.stamp, 0);
    life_stamp(); /* does everything, unless an earlier handler already has */
}

/* Runs before the program registers its own handlers, if possible. A fork then takes these locks after the program's, whose
 * threads may hold theirs during a call. */
__attribute__((constructor)) static void begin(void)
{
    if (atomic_load(&known)) /* LCOV_EXCL_BR_LINE: a program's constructor has called first */
        return; /* LCOV_EXCL_LINE: the same */
    os_wipe_at_fork(&life_page, sizeof life_page); /* for children made by a bare clone(), which calls no handler */
    own = getpid();
    atomic_store(&known, 1);
    atomic_store(&life_page.calm, 1);
    atomic_store(&life_page.stamp, 1);
    pthread_atfork(before_fork, after_fork, in_child);
}
