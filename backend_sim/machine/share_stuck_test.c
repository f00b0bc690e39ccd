/* SPDX-License-Identifier: Apache-2.0 */
/* A process is stopped while it holds a machine's lock: other processes get that error once, within two seconds, can still use
 * their private memory, and continue when it does. Also with processes of another PID namespace, and with parents that are killed
 * while a child lives. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "child.h"
#include "passing.h"
#include "pid_namespace.h"
#include "process.h"
#include "share_rig.h"
#include "system.h"

typedef vmm_mem_generic_allocation_handle handle_t;

/* Milliseconds of own_milliseconds(); no upper bound under a tool that runs threads in turns. */
#define MOST (getenv("CUVMM_RUN") ? UINT64_MAX : 2000)
#define AT_ONCE (getenv("CUVMM_RUN") ? UINT64_MAX : 400)

static struct share *share_of(const vmm_system *sys)
{
    return ((struct sim_process *)sys->top)->machine->share;
}

/* A clock that stops while this thread is runnable but not running, because no bound of a call can cover that time.
 * It is os_milliseconds() where the system does not count that time. */
static uint64_t own_milliseconds(void)
{
    unsigned long long delay = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file && fscanf(file, "%*u %llu", &delay) != 1)
        delay = 0;
    if (file)
        fclose(file);
    return os_milliseconds() - delay / 1000000;
}

static uint64_t own_since(uint64_t began)
{
    uint64_t now = own_milliseconds();
    return now > began ? now - began : 0; /* rounding can set the clock back by one */
}

/* ---- the process that is stopped ---- */

/* Creates memory with its own bytes, takes the lock, reports that, and waits for a message; then it continues and checks its
 * memory. */
static pid_t holder(int *socket, const char *machine)
{
    pid_t child = child_begin(socket, 120);
    if (child && !passing_wait(*socket)) /* kill with 0 or -1 would hit other processes */
        tap_bail("no process holds the lock");
    if (child)
        return child;
    handle_t handle = 0;
    vmm_system *sys = rig_open(machine);
    bool ok = rig_create(sys, RIG_G, &handle) == VMM_SUCCESS;
    vmm_deviceptr at = rig_map(sys, handle, RIG_G);
    ok = ok && !vmm_memset_d8(sys, at, 5, RIG_G) && share_lock(share_of(sys));
    if (ok)
        passing_go_on(*socket);
    passing_wait(*socket);
    share_unlock(share_of(sys));
    ok = ok && rig_byte(sys, at) == 5 && rig_byte(sys, at + RIG_G - 1) == 5 && rig_create(sys, RIG_G, &handle) == VMM_SUCCESS;
    rig_close(sys);
    _exit(!ok);
}

static void stop(pid_t child)
{
    kill(child, SIGSTOP);
    waitpid(child, NULL, WUNTRACED);
}

/* ---- calls, and how long they take ---- */

static struct {
    vmm_result result;
    uint64_t began, own_began;
    uint64_t waited, took; /* by os_milliseconds() and own_milliseconds() */
    char rule[64], note[256];
} last;

static uint64_t called(vmm_result result)
{
    const vmm_detail *detail = vmm_last_detail();
    last.waited = os_milliseconds() - last.began;
    last.took = own_since(last.own_began);
    last.result = result;
    snprintf(last.rule, sizeof last.rule, "%s", result && detail->rule ? detail->rule : "");
    snprintf(last.note, sizeof last.note, "%s", detail->note);
    return last.took;
}

#define TIMED(call) (last.own_began = own_milliseconds(), last.began = os_milliseconds(), called(call))

static bool refused_for(pid_t holder)
{
    char named[64], way[64];
    snprintf(named, sizeof named, "process %ld (", (long)holder);
    snprintf(way, sizeof way, "(kill -CONT %ld)", (long)holder);
    return last.result == VMM_ERROR_OPERATING_SYSTEM && !strcmp(last.rule, "VMM-SHARE-STATE") &&
           !strncmp(last.note, named, strlen(named)) && strstr(last.note, "is stopped") && strstr(last.note, way);
}

/* ---- a thread that uses private memory ---- */

struct private_work {
    vmm_system *sys;
    vmm_context context;
    handle_t handle;
    _Atomic uint64_t rounds, worst;
    atomic_bool end;
};

/* Leaves the processor to others between its rounds, of which there are hundreds a second. */
static void *work(void *user)
{
    struct private_work *own = user;
    const struct timespec pause = {.tv_nsec = 1000000};
    vmm_ctx_set_current(own->sys, own->context);
    while (!atomic_load(&own->end)) {
        uint64_t began = own_milliseconds();
        vmm_deviceptr at = rig_map(own->sys, own->handle, RIG_G);
        if (!at || vmm_memset_d8(own->sys, at, 3, 64) || rig_byte(own->sys, at) != 3)
            break;
        rig_unmap(own->sys, at, RIG_G);
        uint64_t took = own_since(began);
        if (took > atomic_load(&own->worst))
            atomic_store(&own->worst, took);
        atomic_fetch_add(&own->rounds, 1);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---- tests ---- */

static void all_calls_at_once(vmm_system *sys, handle_t shared, pid_t child)
{
    handle_t handle = 0;
    vmm_deviceptr at = 0;
    uint64_t bytes, total, began = own_milliseconds();
    int fd = -1;
    TIMED(rig_create(sys, RIG_G, &handle));
    bool reported = refused_for(child);
    TIMED(vmm_mem_alloc(sys, &at, RIG_G));
    reported = reported && refused_for(child);
    TIMED(vmm_mem_get_info(sys, &bytes, &total));
    reported = reported && refused_for(child);
    TIMED(vmm_mem_export_to_shareable_handle(sys, &fd, shared, RIG_FD, 0));
    reported = reported && refused_for(child);
    uint64_t took = own_since(began);
    tap_ok(reported && took < AT_ONCE, "every later call that needs the lock is refused at once, four in %" PRIu64 " ms", took);
    tap_ok(!handle && !at && fd == -1, "the refused calls change nothing");
}

/* Another thread keeps making calls meanwhile. */
static void first_wait(vmm_system *sys, handle_t own, pid_t child)
{
    struct private_work beside = {.sys = sys, .handle = own};
    handle_t handle = 0;
    pthread_t thread;
    vmm_ctx_get_current(sys, &beside.context);
    if (pthread_create(&thread, NULL, work, &beside))
        tap_bail("no thread");
    for (uint64_t began = os_milliseconds(); !atomic_load(&beside.rounds) && os_milliseconds() - began < 10000;)
        sched_yield();
    uint64_t before = atomic_load(&beside.rounds);
    TIMED(rig_create(sys, RIG_G, &handle));
    uint64_t rounds = atomic_load(&beside.rounds) - before;
    atomic_store(&beside.end, true);
    pthread_join(thread, NULL);
    tap_ok(refused_for(child), "a call that needs the lock reports its holder: %s", last.note);
    tap_ok(last.waited >= 1000 && last.took < MOST, "after %" PRIu64 " ms", last.waited);
    tap_ok(rounds >= 10, "a thread that needs no lock continued meanwhile: %" PRIu64 " rounds", rounds);
    tap_ok(beside.worst < 1000, "the longest of its calls took %" PRIu64 " ms", (uint64_t)beside.worst);
}

/* Meanwhile, another process opens the machine and closes it. */
static void visitor(pid_t child)
{
    vmm_system *sys = NULL;
    tap_result(vmm_open("sim:" RIG_PROFILE ",machine=stuck", &sys), VMM_SUCCESS, "the machine can be opened");
    TIMED(vmm_init(sys, 0));
    tap_ok(refused_for(child) && last.waited >= 1000 && last.took < MOST,
           "a new process gets the same report, after %" PRIu64 " ms", last.took);
    TIMED(vmm_init(sys, 0));
    tap_ok(refused_for(child) && last.took < AT_ONCE, "its second call is refused at once");
    uint64_t began = own_milliseconds();
    rig_close(sys);
    tap_ok(own_since(began) < AT_ONCE, "closing takes no time");
}

static void stopped_in_the_lock(void)
{
    int socket, status = -1;
    handle_t own = 0, shared = 0, later = 0;
    vmm_system *sys = rig_open("stuck");
    uint64_t all = rig_free(sys);
    rig_create(sys, RIG_G, &own);
    rig_create(sys, RIG_G, &shared);
    int fd = rig_export(sys, shared);
    pid_t child = holder(&socket, "stuck");
    stop(child);
    first_wait(sys, own, child);
    all_calls_at_once(sys, shared, child);
    visitor(child);
    close(fd);
    TIMED(vmm_mem_release(sys, shared));
    tap_ok(!last.result && last.took < AT_ONCE, "exported memory is released");
    tap_ok(rig_create(sys, RIG_G, &later) && !later, "the machine is still blocked");
    kill(child, SIGCONT);
    passing_go_on(socket);
    waitpid(child, &status, 0);
    tap_u64((uint64_t)status, 0, "after SIGCONT the process finds its memory unchanged, and continues");
    tap_ok(TIMED(rig_create(sys, RIG_G, &later)) < MOST && !last.result, "other processes continue as well");
    tap_u64(rig_free(sys), all - 2 * RIG_G, "the memory released meanwhile is free");
    close(socket);
    rig_close(sys);
}

/* The process is continued while a call waits: the call succeeds. */
struct waker {
    const vmm_system *sys;
    pid_t child;
    int socket;
};

static void *wake(void *user)
{
    const struct waker *waker = user;
    while (!atomic_load(&share_of(waker->sys)->turn)) /* until a thread's wait has failed */
        sched_yield();
    kill(waker->child, SIGCONT);
    passing_go_on(waker->socket);
    return NULL;
}

static void continued_in_time(void)
{
    int status = -1;
    handle_t handle = 0;
    pthread_t thread;
    vmm_system *sys = rig_open("stuck");
    struct waker waker = {.sys = sys};
    waker.child = holder(&waker.socket, "stuck");
    stop(waker.child);
    if (pthread_create(&thread, NULL, wake, &waker))
        tap_bail("no thread");
    TIMED(rig_create(sys, RIG_G, &handle));
    pthread_join(thread, NULL);
    tap_ok(!last.result && !last.rule[0] && last.took < MOST && handle,
           "a call waits for a process that is continued in time, %" PRIu64 " ms, no more",
           last.took);
    waitpid(waker.child, &status, 0);
    tap_u64((uint64_t)status, 0, "the process is unharmed");
    close(waker.socket);
    rig_close(sys);
}

/* The process that held the lock is dead. */
static void free_at_once(vmm_system *sys, uint64_t all, const char *what, const char *with)
{
    handle_t handle = 0;
    tap_ok(TIMED(rig_create(sys, RIG_G, &handle)) < AT_ONCE && !last.result, "%s", what);
    tap_u64(rig_free(sys), all - RIG_G, "%s", with);
    rig_close(sys);
}

static void killed_when_stopped(void)
{
    int socket;
    handle_t handle = 0;
    vmm_system *sys = rig_open("stuck");
    uint64_t all = rig_free(sys);
    pid_t child = holder(&socket, "stuck");
    stop(child);
    share_of(sys)->patience = 0;
    tap_ok(!share_lock_patiently(share_of(sys)) && !atomic_load(&share_of(sys)->stuck),
           "a caller with a short timeout does not wait long enough to know");
    share_of(sys)->patience = 50;
    TIMED(rig_create(sys, RIG_G, &handle));
    tap_ok(refused_for(child), "stopped");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    free_at_once(sys, all, "the process is killed: the machine is free at once", "and so is its memory");
    close(socket);
}

/* The process is dead, but its child lives. */
static void parent_killed(void)
{
    int socket;
    handle_t handle = 0;
    vmm_system *sys = rig_open("stuck");
    uint64_t all = rig_free(sys);
    pid_t child = child_begin(&socket, 60);
    if (child == 0) {
        vmm_system *own = rig_open("stuck");
        rig_create(own, RIG_G, &handle);
        share_lock(share_of(own));
        if (fork() == 0) { /* lives on, without any access */
            passing_go_on(socket);
            passing_wait(socket);
            _exit(0);
        }
        for (;;)
            pause();
    }
    passing_wait(socket);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    free_at_once(sys, all, "a child does not keep its dead parent's lock", "a child does not keep its dead parent's memory");
    close(socket);
}

/* ---- another PID namespace ---- */

static pid_t elsewhere(int *socket, pid_t *first)
{
    pid_t child = pid_namespace_begin(socket, first);
    if (child)
        return child;
    handle_t handle = 0;
    vmm_system *sys = rig_open("stuck");
    bool ok = rig_create(sys, RIG_G, &handle) == VMM_SUCCESS;
    vmm_deviceptr at = rig_map(sys, handle, RIG_G);
    int fd = ok && !vmm_memset_d8(sys, at, 6, RIG_G) ? rig_export(sys, handle) : -1;
    passing_send(*socket, fd);
    passing_wait(*socket);
    ok = ok && share_lock(share_of(sys));
    passing_go_on(*socket);
    passing_wait(*socket);
    share_unlock(share_of(sys));
    rig_close(sys);
    _exit(!ok);
}

/* The mutex's word: its holder, and whether others wait (os_mutex.h). */
static uint64_t lock_word(const vmm_system *sys)
{
    return atomic_load(&share_of(sys)->folder.state->mutex.in.word);
}

/* Process 1 of a new PID namespace, which takes the lock at once, or on a message. */
static pid_t first_process(int *socket, pid_t *first, bool holds)
{
    pid_t child = pid_namespace_begin(socket, first);
    if (child)
        return child;
    handle_t handle = 0;
    vmm_system *sys = rig_open("stuck");
    if (holds)
        share_lock(share_of(sys));
    passing_go_on(*socket);
    passing_wait(*socket); /* looking at the lock would not do, because opening the machine takes it for a moment as well */
    if (!holds)
        rig_create(sys, RIG_G, &handle);
    for (;;)
        pause();
}

/* Waits until the word shows a waiter; false if none appears within ten seconds. */
static bool somebody_waits(const vmm_system *sys)
{
    for (uint64_t began = os_milliseconds(); !(lock_word(sys) & 1);) {
        if (os_milliseconds() - began > 10000)
            return false;
        sched_yield();
    }
    return true;
}

static void kill_first(pid_t first, pid_t parent)
{
    kill(first, SIGKILL);
    waitpid(parent, NULL, 0);
}

/* Two processes with the same number: the death of one must not count as the death of the other. */
static void two_first_processes(void)
{
    int holding, waiting;
    handle_t handle = 0;
    pid_t first_holding = 0, first_waiting = 0;
    vmm_system *sys = rig_open("stuck");
    pid_t waits = first_process(&waiting, &first_waiting, false);
    if (!first_waiting) {
        waitpid(waits, NULL, 0);
        tap_skip("this system cannot create a PID namespace", "processes with one number in two PID namespaces");
    } else {
        passing_wait(waiting);
        pid_t holds = first_process(&holding, &first_holding, true);
        bool right = first_holding && passing_wait(holding) && passing_go_on(waiting) && somebody_waits(sys);
        kill_first(first_waiting, waits);
        share_of(sys)->patience = 50;
        TIMED(rig_create(sys, RIG_G, &handle));
        tap_ok(right && last.result == VMM_ERROR_OPERATING_SYSTEM && !strcmp(last.rule, "VMM-SHARE-STATE"),
               "process 1 of one PID namespace keeps the lock when process 1 of another is killed");
        if (first_holding)
            kill_first(first_holding, holds);
        tap_ok(TIMED(rig_create(sys, RIG_G, &handle)) < AT_ONCE && !last.result, "the lock is free after the holder is killed");
        close(holding);
    }
    close(waiting);
    rig_close(sys);
}

static void namespaces(void)
{
    int socket, status = -1;
    handle_t copy = 0, handle = 0;
    vmm_system *sys = rig_open("stuck");
    uint64_t all = rig_free(sys);
    pid_t first, child = elsewhere(&socket, &first);
    int fd = first ? passing_receive(socket) : -1;
    if (!first) {
        waitpid(child, NULL, 0);
        tap_skip("this system cannot create a PID namespace", "a process of another PID namespace");
    } else {
        tap_u64(rig_free(sys), all - RIG_G, "a process of another PID namespace has its memory, and counts as alive");
        tap_result(rig_import(sys, fd, &copy), VMM_SUCCESS, "memory of that process is imported");
        vmm_deviceptr at = rig_map(sys, copy, RIG_G);
        tap_ok(rig_byte(sys, at) == 6 && rig_byte(sys, at + RIG_G - 1) == 6, "the importer sees its bytes");
        passing_go_on(socket);
        passing_wait(socket);
        share_of(sys)->patience = 50;
        TIMED(rig_create(sys, RIG_G, &handle));
        tap_ok(last.result == VMM_ERROR_OPERATING_SYSTEM && strstr(last.note, "a process of another PID namespace has held"),
               "while that process holds the lock, other calls are refused: %s", last.note);
        passing_go_on(socket);
        waitpid(child, &status, 0);
        tap_u64((uint64_t)status, 0, "the process continues");
        tap_ok(rig_byte(sys, at) == 6 && rig_free(sys) == all - RIG_G, "its exported memory counts once after its end");
        close(fd);
    }
    close(socket);
    rig_close(sys);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    rig_begin();
    stopped_in_the_lock();
    continued_in_time();
    killed_when_stopped();
    parent_killed();
    namespaces();
    two_first_processes();
    rig_end();
    return tap_done();
}
