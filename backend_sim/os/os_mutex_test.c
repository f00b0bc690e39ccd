/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex that survives killed and stopped holders, two copies of the library in one process, forks, other PID namespaces and
 * clock changes. */
#define _GNU_SOURCE /* SYS_clock_gettime */
#include "os_mutex.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "child.h"
#include "os_own.h"
#include "passing.h"
#include "pid_namespace.h"
#include "random.h"
#include "share_rig.h"

/* ---- a wall clock that jumps ---- */

#ifdef __linux__
static _Atomic unsigned wall_clock_asked;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock == CLOCK_REALTIME) {
        wall_clock_asked++;
        *time = (struct timespec){.tv_sec = 1000000000 * (wall_clock_asked % 2 ? 1 : 2)}; /* years back and forth */
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, clock, time);
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
#endif

/* ---- the mutex, and a count that it guards ---- */

struct guarded {
    os_mutex mutex;
    uint64_t count, other; /* equal while the mutex is free */
    _Atomic uint64_t in;   /* how many hold the mutex */
};

struct door { /* a party, with its opening and mapping */
    int file;
    struct guarded *shared;
    struct os_party party;
    struct os_own own;
    uint64_t turn;
};

enum { LONG = 30000, SHORT = 200 };
#define MOST (getenv("CUVMM_RUN") ? UINT64_MAX : 2000) /* milliseconds; no upper bound under a tool, which slows the test down */

static const char *mutex_path(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/mutex", rig_root);
    return path;
}

static void open_door(struct door *door)
{
    *door = (struct door){.file = -1};
    door->own = (struct os_own){.file = &door->file};
    bool ok = os_own_add(&door->own);
    door->file = os_file_open(mutex_path(), OS_OPEN_MAKE);
    ok = ok && os_file_grow(door->file, os_page_size());
    door->shared = ok ? os_map(door->file, 0, os_page_size()) : NULL;
    door->own.size = os_page_size();
    door->own.memory = door->shared;
    if (!door->shared || !os_party_join(&door->party, &door->shared->mutex, door->file))
        tap_bail("no mutex");
}

static void close_door(struct door *door)
{
    os_own_remove(&door->own);
    os_unmap(door->shared, os_page_size());
    os_file_close(door->file);
}

static bool lock(struct door *door, unsigned milliseconds)
{
    return os_mutex_lock(&door->shared->mutex, &door->party, milliseconds, &door->turn);
}

static void unlock(struct door *door)
{
    os_mutex_unlock(&door->shared->mutex, &door->party);
}

/* Tries to lock; returns how many milliseconds that took. *had: whether it got the mutex. */
static uint64_t timed(struct door *door, unsigned milliseconds, bool *had)
{
    uint64_t began = os_milliseconds();
    *had = lock(door, milliseconds);
    return os_milliseconds() - began;
}

/* A child that takes the mutex and reports it; then it waits for a message, releases the mutex and reports that. */
static pid_t holder(int *socket)
{
    pid_t child = child_begin(socket, 60);
    if (child)
        return passing_wait(*socket) ? child : 0;
    struct door door;
    open_door(&door);
    bool ok = lock(&door, LONG);
    passing_go_on(*socket);
    passing_wait(*socket);
    unlock(&door);
    passing_go_on(*socket);
    _exit(!ok);
}

static void end(pid_t child, int socket)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(socket);
}

/* ---- within one process ---- */

static void two_parties(void)
{
    struct door a, b;
    bool had;
    open_door(&a);
    open_door(&b);
    tap_ok(a.party.ticket && b.party.ticket && a.party.ticket != b.party.ticket,
           "two parties in one process have distinct tickets");
    tap_ok(lock(&a, 0), "the first party takes the mutex");
    uint64_t took = timed(&b, SHORT, &had);
    tap_ok(!had && took >= SHORT && took < MOST,
           "the second party does not get it: the holder counts as alive (waited %" PRIu64 " ms", took);
    tap_ok(os_mutex_holder(&b.shared->mutex, &b.party, b.turn).process == (uint64_t)getpid(),
           "the second party knows the holder's process");
    took = timed(&b, LONG, &had);
    tap_ok(!had && took < SHORT, "a second attempt during the same turn fails at once");
    tap_ok(!os_mutex_await(&b.shared->mutex, &b.party, SHORT, b.turn), "waiting for the end of the turn times out");
    close_door(&b);
    open_door(&b);
    tap_ok(!lock(&b, 0), "closing another party does not release the mutex");
    unlock(&a);
    tap_ok(os_mutex_await(&b.shared->mutex, &b.party, LONG, b.turn) && lock(&b, 0),
           "the mutex is available after the holder unlocks it");
    unlock(&a);
    tap_ok(!lock(&a, 0), "unlocking by a party that does not hold the mutex has no effect");
    close_door(&b);
    tap_ok(lock(&a, 0), "the mutex is released when its holder's party ends");
    unlock(&a);
    close_door(&a);
}

/* A program may close files that it did not open: the mapping keeps the lock. */
static void closed_by_others(void)
{
    struct door a, b;
    open_door(&a);
    open_door(&b);
    bool had = lock(&a, 0);
    close(a.file);
    tap_ok(had && !lock(&b, 0), "a holder whose descriptor was closed still holds the mutex");
    os_unmap(a.shared, os_page_size());
    os_own_remove(&a.own);
    tap_ok(lock(&b, 0), "the mutex is released when the mapping is gone as well");
    unlock(&b);
    close_door(&b);
}

static void tickets(void)
{
    struct door a, b, c;
    open_door(&a);
    atomic_store(&a.shared->mutex.in.tickets, UINT32_MAX);
    open_door(&b);
    tap_ok(b.party.ticket, "no party gets ticket 0, which means free");
    atomic_store(&a.shared->mutex.in.tickets, a.party.ticket - 1);
    open_door(&c);
    tap_ok(c.party.ticket != a.party.ticket, "after all tickets were used, those still in use are skipped");
    atomic_store(&a.shared->mutex.in.word, UINT64_C(777777) << 32 | 5);
    tap_ok(lock(&a, 0), "a ticket that no party has counts as a dead holder");
    atomic_store(&a.shared->mutex.in.holder[0], 0);
    tap_ok(!lock(&b, 0) && !os_mutex_holder(&b.shared->mutex, &b.party, b.turn).process,
           "a holder that has not stored its number is unknown");
    os_mutex *mutex = &a.shared->mutex;
    atomic_store(&mutex->in.holder[0], (uint64_t)a.party.ticket << 32 | a.party.process);
    tap_ok(os_mutex_holder(mutex, &b.party, b.turn).process == a.party.process, "a holder that has stored both numbers is known");
    atomic_store(&mutex->in.holder[1], 0);
    tap_ok(!os_mutex_holder(mutex, &b.party, b.turn).process, "a holder that has stored one of its numbers is unknown");
    unlock(&a);
    close_door(&c);
    close_door(&b);
    close_door(&a);
}

/* ---- killed and stopped ---- */

static void killed(void)
{
    struct door door;
    int socket;
    bool had;
    open_door(&door);
    pid_t child = holder(&socket);
    tap_ok(child && !lock(&door, 0), "a child holds the mutex");
    end(child, socket);
    tap_ok(os_mutex_await(&door.shared->mutex, &door.party, 0, door.turn), "after the child is killed, its turn is over");
    uint64_t took = timed(&door, LONG, &had);
    tap_ok(had && took < MOST, "the next party gets the mutex, after %" PRIu64 " ms", took);
    unlock(&door);

    child = child_begin(&socket, 60);
    if (child == 0) { /* killed while its own child lives on */
        struct door own;
        open_door(&own);
        bool ok = lock(&own, LONG);
        if (fork() == 0) {
            bool zeros = own.file == -1 && !own.shared->mutex.in.word;
            passing_go_on(zeros && ok ? socket : -1);
            passing_wait(socket);
            _exit(0);
        }
        for (;;)
            pause();
    }
    tap_ok(passing_wait(socket), "a forked child has neither the file nor the mapping of its parent's party");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    took = timed(&door, LONG, &had);
    tap_ok(had && took < MOST, "the child does not keep the mutex after its parent is killed");
    unlock(&door);
    close(socket);

    /* A killed waiter must not leave others waiting. */
    had = lock(&door, 0);
    child = child_begin(&socket, 60);
    if (child == 0) {
        struct door own;
        open_door(&own);
        passing_go_on(socket);
        lock(&own, LONG);
        for (;;)
            pause();
    }
    passing_wait(socket);
    while (!(atomic_load(&door.shared->mutex.in.word) & 1)) /* until the child waits */
        sched_yield();
    end(child, socket);
    unlock(&door);
    tap_ok(had && lock(&door, 0), "a party gets the mutex although a waiter was killed");
    unlock(&door);
    close_door(&door);
}

static void stopped(void)
{
    struct door door;
    int socket, status;
    bool had;
    open_door(&door);
    pid_t child = holder(&socket);
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    uint64_t took = timed(&door, SHORT, &had);
    tap_ok(!had && took >= SHORT && took < MOST, "a stopped holder keeps the mutex; the wait took %" PRIu64 " ms", took);
    struct os_holder is = os_mutex_holder(&door.shared->mutex, &door.party, door.turn);
    tap_ok(is.process == (uint64_t)child && !is.elsewhere, "the stopped holder is known");
    for (int i = 0; i < 100; i++)
        took += timed(&door, LONG, &had);
    tap_ok(!had && took < MOST, "a hundred more attempts fail at once");
    kill(child, SIGCONT);
    passing_go_on(socket);
    tap_ok(passing_wait(socket), "after SIGCONT the holder continues and unlocks");
    took = timed(&door, LONG, &had);
    tap_ok(had && took < MOST, "another party gets the mutex");
    unlock(&door);
    waitpid(child, &status, 0);
    tap_ok(status == 0, "the holder exits normally");
    close(socket);
    close_door(&door);
}

/* ---- many at once ---- */

static _Noreturn void worker(int socket, uint64_t seed, uint64_t rounds)
{
    struct door door;
    uint64_t worst = 0, wrong = 0;
    bool had;
    open_door(&door);
    passing_go_on(socket);
    passing_wait(socket);
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t took = timed(&door, LONG, &had);
        worst = took > worst ? took : worst;
        wrong += !had || atomic_fetch_add(&door.shared->in, 1) != 0 || door.shared->count != door.shared->other;
        door.shared->count++;
        for (volatile uint64_t spin = random_below(&seed, 50); spin; spin--)
            ;
        door.shared->other++;
        atomic_fetch_sub(&door.shared->in, 1);
        unlock(&door);
    }
    _exit(wrong ? 1 : worst >= MOST ? 2 : 0);
}

static void many(void)
{
    enum { ALL = 6 };
    struct door door;
    int socket[ALL];
    pid_t child[ALL];
    uint64_t seed = random_seed(20261122), rounds = random_rounds(5000);
    unsigned wrong = 0, late = 0;
    open_door(&door);
    for (int i = 0; i < ALL; i++) {
        child[i] = child_begin(&socket[i], 300);
        if (child[i] == 0)
            worker(socket[i], seed + (uint64_t)i, rounds);
    }
    for (int i = 0; i < ALL; i++)
        passing_wait(socket[i]);
    for (int i = 0; i < ALL; i++)
        passing_go_on(socket[i]);
    for (int i = 0; i < ALL; i++) {
        int status = -1;
        waitpid(child[i], &status, 0);
        wrong += !WIFEXITED(status) || WEXITSTATUS(status) == 1;
        late += WIFEXITED(status) && WEXITSTATUS(status) == 2;
        close(socket[i]);
    }
    tap_ok(!wrong && door.shared->count == ALL * rounds, "%d processes were inside one at a time, %" PRIu64 " times", ALL,
           door.shared->count);
    tap_u64(late, 0, "no process waited for two seconds");
    close_door(&door);
}

/* Processes are killed at random points, most of them while they hold the mutex: the next party always gets it. */
static void many_killed(void)
{
    struct door door;
    uint64_t seed = random_seed(4712);
    unsigned rounds = random_rounds(60), inside = 0, slow = 0;
    open_door(&door);
    for (unsigned i = 0; i < rounds; i++) {
        int socket;
        bool had;
        pid_t child = child_begin(&socket, 60);
        if (child == 0) {
            struct door own;
            open_door(&own);
            passing_go_on(socket);
            for (;;) {
                lock(&own, LONG);
                unlock(&own);
            }
        }
        passing_wait(socket);
        for (volatile uint64_t spin = random_below(&seed, 20000); spin; spin--)
            ;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        inside += atomic_load(&door.shared->mutex.in.word) >> 32 != 0;
        slow += timed(&door, LONG, &had) >= MOST || !had;
        unlock(&door);
        close(socket);
    }
    tap_note("%u of %u processes were killed while they held the mutex", inside, rounds);
    tap_u64(slow, 0, "after each of %u kills the next party got the mutex at once", rounds);
    close_door(&door);
}

/* ---- another PID namespace ---- */

#ifdef __linux__
/* Process 1 of a new PID namespace. */
static pid_t elsewhere(int *socket, pid_t *first)
{
    pid_t child = pid_namespace_begin(socket, first);
    if (child)
        return child;
    struct door door;
    open_door(&door);
    bool ok = lock(&door, LONG);
    passing_go_on(*socket);
    passing_wait(*socket);
    unlock(&door);
    _exit(!ok);
}

static void namespaces(void)
{
    struct door door;
    int socket, status = -1;
    bool had;
    open_door(&door);
    pid_t first, child = elsewhere(&socket, &first);
    if (!first) {
        tap_skip("this system cannot create a PID namespace", "a holder in another PID namespace");
    } else {
        passing_wait(socket);
        uint64_t took = timed(&door, SHORT, &had);
        struct os_holder is = os_mutex_holder(&door.shared->mutex, &door.party, door.turn);
        tap_ok(!had && took >= SHORT, "a holder in another PID namespace counts as alive");
        tap_ok(is.process == 1 && is.elsewhere, "the holder is process 1 in its namespace");
        passing_go_on(socket);
        tap_ok(os_mutex_await(&door.shared->mutex, &door.party, LONG, door.turn) && lock(&door, LONG),
               "the mutex is available after that holder unlocks it");
        unlock(&door);
    }
    waitpid(child, &status, 0);
    tap_u64((uint64_t)status, 0, "the holder exits normally");
    close(socket);
    close_door(&door);
}
#endif

int main(void)
{
    rig_begin();
    two_parties();
    closed_by_others();
    tickets();
    killed();
    stopped();
    many();
    many_killed();
#ifdef __linux__
    namespaces();
    unsigned asked = wall_clock_asked;
    tap_ok(!asked && time(NULL) != time(NULL) && wall_clock_asked == 2, "no wait depends on the wall clock");
#endif
    os_file_remove(OS_NOWHERE, mutex_path());
    rig_end();
    return tap_done();
}
