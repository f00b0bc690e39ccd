/* SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <time.h>

#include "lifecycle.h"

enum { SECOND = 1000000000 };

/* This thread waits at that door, so a signal handler that makes a call cannot wait there as well. Its address tells threads
 * apart. */
static _Thread_local struct turns *at_door;

static uint64_t clock_now(void)
{
    struct timespec now;
    posix.clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void spin_until(uint64_t moment)
{
    while (clock_now() < moment)
        ;
}

/* Did this thread's turn just end? If so, the thread makes calls in quick succession. */
static bool had_a_turn(struct turns *turns)
{
    if (atomic_load(&turns->holder) == &at_door)
        return atomic_load(&turns->due);
    return atomic_load(&turns->former) == &at_door && clock_now() < atomic_load(&turns->since) + TURNS_TRY;
}

static bool try_for_a_while(struct turns *turns, pthread_mutex_t *mutex)
{
    uint64_t now = clock_now(), end = now + TURNS_TRY;
    for (; now < end; now += TURNS_PAUSE) {
        if (!atomic_load_explicit(&turns->due, memory_order_relaxed) && posix.try_lock(mutex) == 0)
            return true;
        spin_until(now + TURNS_PAUSE);
    }
    return false;
}

/* Takes the lock if no other thread is taking it any more. */
static bool take_if_idle(struct turns *turns, pthread_mutex_t *mutex)
{
    unsigned before = atomic_load(&turns->taken);
    spin_until(clock_now() + TURNS_TRY);
    return before == atomic_load(&turns->taken) && posix.try_lock(mutex) == 0;
}

static void nap(uint64_t nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)nanoseconds}, NULL);
}

/* Watches until another thread's turn is over. Returns true if the lock was free, and now holds it. */
static bool look_on(struct turns *turns, pthread_mutex_t *mutex)
{
    for (uint64_t now = clock_now(), end; now < (end = atomic_load(&turns->since) + TURNS_LENGTH); now = clock_now()) {
        nap(end - now < TURNS_LOOK ? end - now : TURNS_LOOK);
        if (take_if_idle(turns, mutex))
            return true;
    }
    return false;
}

/* The call in progress usually ends soon; a longer one is worth sleeping for. */
static void take_when_due(struct turns *turns, pthread_mutex_t *mutex)
{
    atomic_store(&turns->due, true);
    uint64_t end = clock_now() + TURNS_TRY;
    bool taken = false;
    while (!(taken = posix.try_lock(mutex) == 0) && clock_now() < end)
        ;
    if (!taken)
        pthread_mutex_lock(mutex);
}

static void begin_turn(struct turns *turns)
{
    atomic_store(&turns->former, atomic_load(&turns->holder));
    atomic_store(&turns->holder, &at_door);
    atomic_store(&turns->since, clock_now());
    atomic_store(&turns->due, false);
}

/* The door opens before the next waiting thread is awake. A thread that has just had its turn would get there first,
 * and the others would wait for as long as two threads pass the lock to each other; so it steps back. */
static void get_to_door(struct turns *turns, bool had)
{
    if (had && atomic_load(&turns->waiting))
        nap(TURNS_LOOK);
    const uint64_t process = life_stamp();
    atomic_fetch_add(&turns->waiting, 1);
    pthread_mutex_lock(&turns->door);
    if (process == life_stamp()) /* LCOV_EXCL_BR_LINE: otherwise a signal handler has forked at this very moment, a race */
        atomic_fetch_sub(&turns->waiting, 1);
}

static void wait_at_door(struct turns *turns, pthread_mutex_t *mutex, bool had)
{
    struct turns *outer = at_door;
    get_to_door(turns, had);
    const uint64_t process = life_stamp();
    at_door = turns;
    if (!look_on(turns, mutex))
        take_when_due(turns, mutex);
    begin_turn(turns);
    at_door = outer;
    if (process == life_stamp()) /* otherwise a signal handler has forked, and the child has a new door */
        posix.pthread_mutex_unlock(&turns->door);
}

void turns_wait(struct turns *turns, pthread_mutex_t *mutex)
{
    const bool had = had_a_turn(turns);
    if (!had && try_for_a_while(turns, mutex))
        return;
    int cancel = life_no_cancel();
    if (at_door == turns)
        pthread_mutex_lock(mutex);
    else
        wait_at_door(turns, mutex, had);
    life_may_cancel(cancel);
}

void turns_init(struct turns *turns)
{
    *turns = (struct turns)TURNS_INITIALIZER;
    pthread_mutex_init(&turns->door, NULL);
}

void turns_end(struct turns *turns)
{
    pthread_mutex_destroy(&turns->door);
}
