/* SPDX-License-Identifier: Apache-2.0 */
/* Forks: the identity of a process, however it was created, and locks that a child can take whichever thread held them. */
#define _GNU_SOURCE /* syscall, vfork */
#include "lifecycle.h"

#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forks.h"
#include "os_fork.h"
#include "os_own.h"
#include "process.h"
#include "system.h"
#include "tap.h"

LIFE_LOCK(table, LIFE_TABLE, NULL)
LIFE_LOCK(layer, LIFE_LAYER, NULL)

/* What the forked functions of locks were called with. */
static int whole_locks, torn_locks;

static void in_child(struct life_lock *lock, bool whole)
{
    (void)lock;
    whole_locks += whole;
    torn_locks += !whole;
}

static struct life_lock owned;

/* ---- children ---- */

typedef pid_t (*maker)(void);

/* A fork that calls no handlers, as in a sandbox or a signal handler. */
static pid_t plain_fork(void)
{
#if defined(SYS_clone) && (defined(__x86_64__) || defined(__aarch64__))
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#elif defined(SYS_fork)
    return (pid_t)syscall(SYS_fork);
#else
    return fork();
#endif
}

/* The exit status of a child that runs code. */
static int child_says(maker make, int (*code)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = make();
    if (child == 0) {
        alarm(30);
        forks_begin();
        _exit(code());
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int stamp(void)
{
    return (int)life_stamp();
}

static int stamp_of_child(void)
{
    return 10 * stamp() + child_says(fork, stamp);
}

/* Takes and releases locks of every kind. */
static int takes_all(void)
{
    life_acquire(&table);
    life_release(&table);
    life_acquire(&layer);
    life_release(&layer);
    life_acquire(&owned);
    life_release(&owned);
    return 10 * whole_locks + torn_locks;
}

/* An emulator may accept the advice and ignore it. */
static bool page_is_wiped(void)
{
    int status = -1;
    unsigned char *page = os_map(-1, 0, os_page_size());
    if (!page || !os_wipe_at_fork(page, os_page_size()))
        return false;
    page[0] = 1;
    fflush(NULL);
    pid_t child = plain_fork();
    if (child == 0)
        syscall(SYS_exit_group, page[0]);
    waitpid(child, &status, 0);
    os_unmap(page, os_page_size());
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Does the library recognise a child in which none of its handlers ran? */
static bool wipes(void)
{
    bool can = FORKS_JUDGED && os_wipe_at_fork(&life_page, sizeof life_page) && page_is_wiped();
    if (!can)
        tap_skip(FORKS_JUDGED ? "this system cannot clear memory at a fork" : FORKS_UNJUDGED, "a child without handlers");
    return can;
}

static void test_stamps(void)
{
    char page[2 * LIFE_PAGE];
    tap_u64(life_stamp(), 1, "the first process has stamp 1");
    tap_u64((uint64_t)child_says(fork, stamp), 2, "a child has stamp 2");
    tap_u64((uint64_t)child_says(fork, stamp_of_child), 23, "the child's child has stamp 3");
    if (wipes())
        tap_u64((uint64_t)child_says(plain_fork, stamp), 2, "so does a child for whose fork no handler ran");
    tap_ok(!os_wipe_at_fork(page + 1 - (uintptr_t)page % 2, LIFE_PAGE), "only whole pages are cleared");
    pid_t child = vfork();
    if (child == 0)
        _exit(0); /* analysers: vfork is wrong: the child does nothing else */
    waitpid(child, NULL, 0);
    tap_u64(life_stamp(), 1, "this process keeps stamp 1, after vfork too");
}

/* ---- locks held by other threads ---- */

struct holder {
    struct life_lock *lock;
    sem_t has, let_go;
    pthread_t thread;
};

static void *hold(void *user)
{
    struct holder *holder = user;
    life_acquire(holder->lock);
    sem_post(&holder->has);
    sem_wait(&holder->let_go);
    life_release(holder->lock);
    return NULL;
}

static void begin_holding(struct holder *holder, struct life_lock *lock)
{
    holder->lock = lock;
    sem_init(&holder->has, 0, 0);
    sem_init(&holder->let_go, 0, 0);
    if (pthread_create(&holder->thread, NULL, hold, holder))
        tap_bail("no thread");
    sem_wait(&holder->has);
}

static void end_holding(struct holder *holder)
{
    sem_post(&holder->let_go);
    pthread_join(holder->thread, NULL);
    sem_destroy(&holder->has);
    sem_destroy(&holder->let_go);
}

/* A thread that is due (turns.h) belongs to the parent and does not exist in the child. */
static int due_in_child(void)
{
    life_stamp();
    return owned.turns.due;
}

static void test_held(void)
{
    struct holder holder;
    life_lock_init(&owned, LIFE_MACHINE, in_child);
    tap_u64((uint64_t)child_says(fork, takes_all), 10, "a free lock: the guarded state is whole");
    begin_holding(&holder, &owned);
    tap_u64((uint64_t)child_says(fork, takes_all), 1,
            "a thread holds the lock for long: the child gets it, and the forked function is called");
    if (wipes())
        tap_u64((uint64_t)child_says(plain_fork, takes_all), 1, "likewise in a child without handlers");
    tap_ok(!life_try_acquire(&owned), "in the parent the lock is still held");
    owned.turns.due = true;
    tap_u64((uint64_t)child_says(fork, due_in_child), 0, "a thread that is due in the parent is not in the child");
    owned.turns.due = false;
    end_holding(&holder);
    tap_ok(life_try_acquire(&owned), "the lock can be taken after its release");
    tap_u64((uint64_t)child_says(fork, takes_all), 1, "the forking thread holds the lock: the forked function is called");
    life_release(&owned);
    begin_holding(&holder, &layer);
    tap_u64((uint64_t)child_says(fork, takes_all), 10, "a fork does not wait for layers, and the child can take their locks");
    end_holding(&holder);
    begin_holding(&holder, &table);
    tap_u64((uint64_t)child_says(fork, takes_all), 10, "a blocked lock does not affect the locks before it");
    end_holding(&holder);
    life_lock_end(&owned);
    tap_u64((uint64_t)child_says(fork, stamp), 2, "a lock that has ended does not affect a fork");
}

/* ---- resources of one process ---- */

static int kept_file;
static unsigned char *kept_bytes;
static int lost_before_told; /* set when a lock's forked function was called */

static bool kept(void)
{
    return kept_file >= 0 && kept_bytes[0] == 7;
}

static void told_of_fork(struct life_lock *lock, bool whole)
{
    (void)lock;
    (void)whole;
    lost_before_told = kept_file == -1 && !kept_bytes[0];
}

/* The first query of the stamp comes after the fork: from then on the child has none of the parent's resources. */
static int has_lost(void)
{
    int file = kept_file < 0 ? lost_before_told : 0;
    life_stamp();
    return 10 * file + (kept_file == -1 && !kept_bytes[0]) + 2 * lost_before_told;
}

static void test_own(void)
{
    struct life_lock lock;
    struct os_own own = {.file = &kept_file, .size = os_page_size()};
    kept_file = os_file_new();
    bool made = kept_file >= 0 && os_file_grow(kept_file, own.size);
    own.memory = kept_bytes = made ? os_map(kept_file, 0, own.size) : NULL;
    if (!kept_bytes || !os_own_add(&own))
        tap_bail("no file to keep");
    kept_bytes[0] = 7;
    life_lock_init(&lock, LIFE_MACHINE, told_of_fork);
    tap_u64((uint64_t)child_says(fork, has_lost), 13,
            "a child has lost its parent's file and memory before any forked function is called");
    if (wipes())
        tap_u64((uint64_t)child_says(plain_fork, has_lost), 3, "without handlers the child loses them at its first query");
    tap_ok(kept(), "the parent keeps both");
    os_own_remove(&own);
    tap_u64((uint64_t)child_says(fork, has_lost), 0, "resources that were removed from the list stay in a child");
    life_lock_end(&lock);
    os_unmap(kept_bytes, own.size);
    os_file_close(kept_file);
}

/* ---- a machine during a change ---- */

static vmm_system *sys;

static struct sim_machine *machine_of(void)
{
    return ((struct sim_process *)sys->top)->machine;
}

static void see(void *user, const vmm_object *object)
{
    (void)object;
    ++*(int *)user;
}

/* The number of the first failed check, or 0. */
static int finds_it_torn(void)
{
    int seen = 0, version = 0;
    vmm_system *peer = NULL, *own = NULL;
    if (vmm_init(sys, 0) != VMM_ERROR_NOT_INITIALIZED || !vmm_last_detail()->rule ||
        strcmp(vmm_last_detail()->rule, "VMM-INIT-FORKED") != 0 || !strstr(vmm_last_detail()->note, "open another one"))
        return 1;
    if (vmm_attach(sys, &peer) != VMM_ERROR_NOT_INITIALIZED || peer || !strstr(vmm_last_detail()->note, "open another one"))
        return 2;
    if (vmm_visit(sys, see, &seen) != VMM_ERROR_NOT_INITIALIZED || seen)
        return 3;
    if (vmm_leaks(sys, NULL, NULL) != 0)
        return 4;
    if (vmm_driver_get_version(sys, &version) != VMM_SUCCESS || version <= 0)
        return 5;
    vmm_close(sys);
    if (vmm_open("sim:min", &own) != VMM_SUCCESS || vmm_init(own, 0) != VMM_SUCCESS)
        return 6;
    vmm_close(own);
    return 0;
}

static int finds_it_whole(void)
{
    int seen = 0;
    return vmm_init(sys, 0) != VMM_SUCCESS || vmm_visit(sys, see, &seen) != VMM_SUCCESS || !seen;
}

static void test_torn(void)
{
    struct holder holder;
    if (vmm_open("sim:min", &sys) != VMM_SUCCESS)
        tap_bail("no system");
    if (!FORKS_JUDGED) {
        tap_skip(FORKS_UNJUDGED, "a machine during a change");
    } else {
        tap_u64((uint64_t)child_says(fork, finds_it_whole), 0, "a child initialises what its parent opened, and uses it");
        begin_holding(&holder, &machine_of()->lock);
        tap_u64((uint64_t)child_says(fork, finds_it_torn), 0,
                "after a fork during another thread's call, the child reads nothing of it");
        end_holding(&holder);
        atomic_store(&machine_of()->alone, true); /* as in a single-threaded program that forks in a signal handler */
        tap_u64((uint64_t)child_says(fork, finds_it_torn), 0, "nor after a fork during the forking thread's own call");
        atomic_store(&machine_of()->alone, false);
    }
    tap_result(vmm_init(sys, 0), VMM_SUCCESS, "the parent continues");
    vmm_close(sys);
}

/* ---- threads that fork concurrently ---- */

enum { FORKERS = 4, FORKS = 25 };

static void *forks_again(void *wrong)
{
    for (int i = 0; i < FORKS; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            forks_begin();
            _exit(FORKS_JUDGED && (life_stamp() != 2 || takes_all() % 10 > 1));
        }
        *(unsigned *)wrong += child < 0 || waitpid(child, &status, 0) != child || (FORKS_JUDGED && status);
    }
    return NULL;
}

static void test_at_once(void)
{
    pthread_t thread[FORKERS];
    unsigned wrong[FORKERS] = {0}, all = 0;
    life_lock_init(&owned, LIFE_MACHINE, in_child);
    fflush(NULL);
    for (int i = 0; i < FORKERS; i++)
        if (pthread_create(&thread[i], NULL, forks_again, &wrong[i]))
            tap_bail("no thread");
    for (int i = 0; i < FORKERS; i++) {
        pthread_join(thread[i], NULL);
        all += wrong[i];
    }
    tap_u64(all, 0, "threads that fork concurrently: %d children", FORKERS * FORKS);
    tap_ok(life_try_acquire(&owned) && life_try_acquire(&table), "all locks are free afterwards");
    life_release(&owned);
    life_release(&table);
    life_lock_end(&owned);
}

int main(void)
{
    test_stamps();
    test_held();
    test_own();
    test_torn();
    test_at_once();
    return tap_done();
}
