/* SPDX-License-Identifier: Apache-2.0 */
/* turns: which thread waits where, with a clock and a lock that this test controls; then threads that really contend for one
 * lock. */
#include "turns.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lifecycle.h"
#include "tap.h"

/* The clock advances by CLOCK_STEP each time it is read. The lock stays held for the next `busy` tries, and on_try is
 * called at each. */
enum { CLOCK_STEP = 50 };
static _Atomic bool simulated;
/* So many tries fail as a whole turn has, and another few hundred: with a mistake in it the test ends as well. */
enum { LONG = 1000 };
static uint64_t time_is;
static unsigned busy, tries, tries_while_due;
static void (*on_try)(void);

static struct turns turns = TURNS_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int test_clock(clockid_t which, struct timespec *now)
{
    if (!simulated)
        return clock_gettime(which, now);
    time_is += CLOCK_STEP;
    *now = (struct timespec){.tv_sec = (time_t)(time_is / 1000000000), .tv_nsec = (long)(time_is % 1000000000)};
    return 0;
}

static int test_try(pthread_mutex_t *lock)
{
    if (!simulated)
        return pthread_mutex_trylock(lock);
    tries++;
    tries_while_due += turns.due;
    if (on_try)
        on_try();
    if (!busy)
        return pthread_mutex_trylock(lock);
    busy--;
    turns.taken++;
    return EBUSY;
}

/* The library's own table is not linked. */
const struct posix posix = {.clock_gettime = test_clock, .try_lock = test_try, .pthread_mutex_trylock = pthread_mutex_trylock,
                            .pthread_mutex_unlock = pthread_mutex_unlock};

/* How long it takes to get the lock, by the test's clock, if the next `busy` tries fail. */
static uint64_t take(unsigned fail)
{
    uint64_t start = time_is;
    busy = fail;
    tries = tries_while_due = 0;
    turns_lock(&turns, &mutex);
    pthread_mutex_unlock(&mutex);
    return time_is - start;
}

static void begin(uint64_t since, const void *holder, const void *former)
{
    on_try = NULL;
    turns.since = since;
    turns.holder = holder;
    turns.former = former;
    turns.due = false;
}

static const void *me; /* this thread's id, as turns stores it */

static void test_soon(void)
{
    begin(0, NULL, NULL);
    tap_u64(take(0), 0, "a free lock: no look at the clock");
    tap_u64(tries, 1, "one try");
    tap_u64(turns.taken, 1, "counted");
    tap_ok(take(3) <= TURNS_TRY && tries == 4 && !turns.holder, "held for a moment: tried again, and no turn begins");
}

static void test_turn(void)
{
    begin(0, NULL, NULL);
    time_is = UINT64_C(1) << 40;
    uint64_t took = take(LONG);
    me = turns.holder;
    tap_ok(took >= 2 * TURNS_TRY && took < 3 * TURNS_TRY && tries_while_due > 5,
           "a thread without a turn has the lock: after a while of trying this one is due, and tries on");
    tap_ok(me && turns.since > time_is - 10 * CLOCK_STEP && !turns.due, "then its turn begins");
    tap_u64(busy > 0, 1, "it waits for the mutex itself where the call in progress is long");
    static const char other;
    begin(time_is, &other, NULL);
    took = take(LONG);
    tap_ok(took >= TURNS_LENGTH && took < TURNS_LENGTH + 5 * TURNS_TRY, "a turn of another thread is waited for");
    tap_ok(turns.holder == me && turns.former == &other && !turns.due, "and over");
    begin(time_is - TURNS_LENGTH + 10 * TURNS_TRY, &other, NULL);
    took = take(LONG);
    tap_ok(took >= 9 * TURNS_TRY && took < 15 * TURNS_TRY, "a turn that is almost over is waited for so long");
}

static void test_gone(void)
{
    static const char other;
    begin(time_is, &other, NULL);
    uint64_t took = take(1 + TURNS_TRY / TURNS_PAUSE);
    tap_ok(took < 5 * TURNS_TRY && turns.holder == me && !tries_while_due,
           "a thread whose turn it is has gone away: the lock is taken at the first look");
}

static void test_had_a_turn(void)
{
    static const char other;
    begin(time_is - 2 * TURNS_LENGTH, &other, NULL);
    turns.due = true;
    uint64_t took = take(0);
    tap_ok(took >= TURNS_TRY && tries == 1 && tries_while_due == 1,
           "another thread is due: a free lock is left to it, without a try, and then this thread is due");
    begin(time_is - 2 * TURNS_LENGTH, me, NULL);
    turns.due = true;
    tap_ok(take(0) < TURNS_TRY, "likewise at the end of a turn of its own, but at once");
    begin(time_is, &other, me);
    tap_ok(take(1) >= TURNS_TRY && tries == 2 && turns.holder == me, "its turn was over just now: it looks on, without trying before");
    begin(time_is - 2 * TURNS_TRY, &other, me);
    tap_ok(take(2) < TURNS_TRY && tries == 3 && turns.holder == &other, "its turn was over some time ago: it tries again");
}

static uint64_t real_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Another thread was woken and has not arrived yet: the one whose turn just ended lets it go first. */
static void test_others_wait(void)
{
    begin(time_is - 2 * TURNS_LENGTH, me, NULL);
    turns.due = true;
    turns.waiting = 1;
    uint64_t start = real_now();
    take(0);
    tap_ok(real_now() - start >= TURNS_LOOK && turns.waiting == 1, "after its turn a thread comes to the door behind those that wait");
    turns.waiting = 0;
}

static void call_in_handler(void)
{
    if (!turns.due)
        return;
    on_try = NULL;
    turns_lock(&turns, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* A signal handler makes a call while its thread waits at the door. */
static void test_handler(void)
{
    begin(0, NULL, NULL);
    on_try = call_in_handler;
    take(100);
    tap_ok(!on_try && turns.holder == me && !turns.due, "the handler of a signal does not wait at the door where its thread is");
}

static void fork_in_handler(void)
{
    if (!turns.due)
        return;
    on_try = NULL;
    if (fork() == 0) {
        turns_init(&turns); /* as in every child (lifecycle.c) */
        return;
    }
}

static int child_goes_on(void)
{
    const pid_t parent = getpid();
    int status = 0;
    begin(0, NULL, NULL);
    on_try = fork_in_handler;
    fflush(NULL);
    take(100);
    if (getpid() != parent)
        _exit(turns.due || take(3) > TURNS_TRY || pthread_mutex_trylock(&turns.door));
    wait(&status);
    return status;
}

/* ---- threads ---- */

enum { THREADS = 4, CALLS = 20000 };
static unsigned count;

static void *want(void *user)
{
    for (unsigned i = 0; i < CALLS; i++) {
        turns_lock(&turns, &mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return user;
}

static void test_threads(void)
{
    pthread_t thread[THREADS];
    simulated = false;
    turns_end(&turns);
    turns_init(&turns);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, want, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    tap_u64(count, THREADS * CALLS, "threads that want one lock at once exclude each other");
    tap_u64(turns.taken, THREADS * CALLS, "each call is counted");
    tap_ok(!turns.due && !turns.waiting, "and none is due any more, or waits");
}

int main(void)
{
    simulated = true;
    test_soon();
    test_turn();
    test_gone();
    test_had_a_turn();
    test_others_wait();
    test_handler();
    tap_u64((uint64_t)child_goes_on(), 0, "a child that a handler forks meanwhile has a door of its own, and no thread is due");
    test_threads();
    return tap_done();
}
