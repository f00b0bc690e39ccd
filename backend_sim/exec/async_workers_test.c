/* SPDX-License-Identifier: Apache-2.0 */
/* async_workers, through the API: the order of work, calls made while work runs, several processes of one machine, fork, and
 * closing while work runs. */
#ifdef __linux__
#include <malloc.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "in_flight.h"
#include "process.h"
#include "system.h"
#include "tap.h"

#define SPEC "sim:h100,schedule=device"
#define OK(call) tap_u64((uint64_t)(call), VMM_SUCCESS, "%s", #call)

enum { PATIENCE_MS = 20000, ROUNDS = 200, FORKS = 100 };

static void sleep_a_millisecond(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static bool becomes(const atomic_int *value, int wanted)
{
    for (int waited = 0; *value != wanted && waited < PATIENCE_MS; waited++)
        sleep_a_millisecond();
    return *value == wanted;
}

static atomic_int count, gate, entered;
static pthread_t caller;

static void add_one(void *unused)
{
    (void)unused;
    caller = pthread_self();
    atomic_fetch_add(&count, 1);
}

static void nothing(void *unused)
{
    (void)unused;
}

static void wait_at_gate(void *unused)
{
    (void)unused;
    entered = 1;
    becomes(&gate, 1);
}

static vmm_system *open_system(vmm_stream *stream)
{
    vmm_system *sys = NULL;
    vmm_context context = NULL;
    if (vmm_open(SPEC, &sys) || vmm_init(sys, 0) || vmm_device_primary_ctx_retain(sys, &context, 0) ||
        vmm_ctx_set_current(sys, context) || vmm_stream_create(sys, stream, VMM_STREAM_NON_BLOCKING))
        tap_bail("%s cannot be opened", SPEC);
    return sys;
}

static unsigned byte_at(vmm_system *sys, vmm_deviceptr at)
{
    unsigned char byte = 0;
    return vmm_memcpy_dtoh(sys, &byte, at, 1) == VMM_SUCCESS ? byte : 256;
}

static void test_runs_by_itself(vmm_system *sys, vmm_stream stream)
{
    OK(vmm_launch_host_func(sys, stream, add_one, NULL));
    tap_ok(becomes(&count, 1), "a host function runs although the program makes no call");
    OK(vmm_stream_synchronize(sys, stream));
    tap_ok(!pthread_equal(caller, pthread_self()), "the host function runs on another thread");
}

static sigset_t worker_mask;

static void read_mask(void *unused)
{
    (void)unused;
    pthread_sigmask(SIG_SETMASK, NULL, &worker_mask);
}

/* Signals still reach the program's own threads; the async workers receive only those of faults. */
static void test_signals(void)
{
    sigset_t own, before, after;
    vmm_stream stream = NULL;
    unsigned changed = 0, wrong = 0;
    vmm_system *sys = open_system(&stream);
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &before, &own);
    OK(vmm_launch_host_func(sys, stream, read_mask, NULL));
    OK(vmm_stream_synchronize(sys, stream));
    pthread_sigmask(SIG_SETMASK, &own, &after);
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGSEGV, SIGBUS};
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bool of_faults = numbers[i] == SIGSEGV || numbers[i] == SIGBUS;
        changed += sigismember(&after, numbers[i]) != sigismember(&before, numbers[i]);
        wrong += sigismember(&worker_mask, numbers[i]) != !of_faults;
    }
    tap_ok(!changed && !wrong, "the async workers block every signal but those of faults, and leave this thread's mask alone");
    vmm_close(sys);
}

/* Each stream keeps its order, and a blocked stream blocks no other. */
static void test_order(vmm_system *sys, vmm_stream held)
{
    vmm_stream other = NULL;
    vmm_deviceptr p = 0;
    OK(vmm_stream_create(sys, &other, VMM_STREAM_NON_BLOCKING));
    OK(vmm_mem_alloc(sys, &p, 64));
    OK(vmm_memset_d8(sys, p, 1, 64));
    gate = entered = 0;
    OK(vmm_launch_host_func(sys, held, wait_at_gate, NULL));
    OK(vmm_memset_d8_async(sys, p, 2, 64, held));
    tap_ok(becomes(&entered, 1), "the host function runs and waits at the gate");
    OK(vmm_memset_d8_async(sys, p + 32, 3, 32, other));
    OK(vmm_stream_synchronize(sys, other));
    tap_u64(byte_at(sys, p), 1, "later work in the same stream is not done");
    tap_u64(byte_at(sys, p + 32), 3, "work in another stream is done");
    tap_u64(vmm_stream_query(sys, held), VMM_ERROR_NOT_READY, "a query of the blocked stream answers NOT_READY");
    gate = 1;
    OK(vmm_stream_synchronize(sys, held));
    tap_u64(byte_at(sys, p + 32), 2, "the fill after the host function is done last");
    OK(vmm_mem_free(sys, p));
    OK(vmm_stream_destroy(sys, other));
}

/* The worker for host functions is busy with one. A thread that waits for other work must not call the next one. */
static void test_waits_for_others(vmm_system *sys, vmm_stream held)
{
    vmm_stream next = NULL, other = NULL;
    vmm_deviceptr p = 0;
    int wrong = 0;
    OK(vmm_stream_create(sys, &next, VMM_STREAM_NON_BLOCKING));
    OK(vmm_stream_create(sys, &other, VMM_STREAM_NON_BLOCKING));
    OK(vmm_mem_alloc(sys, &p, 64));
    gate = entered = count = 0;
    OK(vmm_launch_host_func(sys, held, wait_at_gate, NULL));
    tap_ok(becomes(&entered, 1), "a host function runs");
    OK(vmm_launch_host_func(sys, next, add_one, NULL));
    for (int i = 0; i < ROUNDS; i++)
        wrong += vmm_memset_d8_async(sys, p, 4, 64, other) != VMM_SUCCESS || vmm_stream_synchronize(sys, other) != VMM_SUCCESS;
    tap_ok(!wrong && !count, "a thread that waits for other work does not call the next host function");
    gate = 1;
    OK(vmm_stream_synchronize(sys, next));
    tap_ok(count == 1 && !pthread_equal(caller, pthread_self()), "the worker for host functions calls it once it is free");
    OK(vmm_stream_synchronize(sys, held));
    OK(vmm_mem_free(sys, p));
    OK(vmm_stream_destroy(sys, next));
    OK(vmm_stream_destroy(sys, other));
}

static void test_many(vmm_system *sys, vmm_stream stream)
{
    count = 0;
    int wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        wrong += vmm_launch_host_func(sys, stream, add_one, NULL) != VMM_SUCCESS;
        if (i % 7 == 0)
            wrong += vmm_stream_synchronize(sys, stream) != VMM_SUCCESS || count != i + 1;
    }
    wrong += vmm_stream_synchronize(sys, stream) != VMM_SUCCESS;
    tap_ok(!wrong && count == ROUNDS, "each of %d host functions is called once, before the wait for it returns", ROUNDS);
}

/* Closing waits for the running host function and drops the work queued after it. */
static void test_close(void)
{
    vmm_stream stream = NULL;
    vmm_system *sys = open_system(&stream);
    gate = entered = count = 0;
    OK(vmm_launch_host_func(sys, stream, wait_at_gate, NULL));
    OK(vmm_launch_host_func(sys, stream, add_one, NULL));
    tap_ok(becomes(&entered, 1), "a host function runs");
    gate = 1;
    vmm_close(sys);
    tap_ok(count <= 1, "the system closes and calls no host function after the running one");
}

struct pause {
    struct sim_process *process;
    uint64_t nanoseconds, took;
    bool whole;
    atomic_int began;
};

static uint64_t now_in_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *pause_here(void *user)
{
    struct pause *pause = user;
    sim_machine_lock(pause->process->machine);
    uint64_t before = now_in_nanoseconds();
    pause->began = 1;
    pause->whole = async_workers_pause(pause->process, pause->nanoseconds);
    pause->took = now_in_nanoseconds() - before;
    sim_machine_unlock(pause->process->machine);
    return NULL;
}

/* A pause lasts as long as requested, also across the end of a second and with spurious wake-ups; it ends early when the
 * process is being closed. */
static void test_pause(vmm_system *sys)
{
    struct sim_process *process = (struct sim_process *)sys->top;
    const uint64_t second = 1000000000, left = second - now_in_nanoseconds() % second, waits[] = {0, 2000000, left + 1000000};
    bool right = true;
    for (int i = 0; i < 3; i++) {
        struct pause pause = {process, waits[i], 0, false, 0};
        pause_here(&pause);
        right = right && pause.whole && pause.took >= pause.nanoseconds;
    }
    tap_ok(right, "a pause lasts at least as long as requested");
    struct pause longer = {process, UINT64_C(30000000000), 0, true, 0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, pause_here, &longer) || !becomes(&longer.began, 1))
        tap_bail("no thread");
    for (int i = 0; i < 3; i++) {
        sim_machine_lock(process->machine);
        process->in_flight->workers.stopping = i == 2;
        pthread_cond_broadcast(&process->in_flight->changed);
        sim_machine_unlock(process->machine);
        for (int turn = 0; turn < 100; turn++)
            sched_yield(); /* gives the pause a chance to wake up early */
    }
    pthread_join(thread, NULL);
    tap_ok(!longer.whole && longer.took < longer.nanoseconds, "a pause ends early when the process is being closed");
    sim_machine_lock(process->machine);
    process->in_flight->workers.stopping = false;
    sim_machine_unlock(process->machine);
}

/* A kernel that waits for the host lets time pass only where other threads run, and not after its device is lost. An hour would
 * exceed any test's time. */
static void test_kernel_pause(vmm_system *sys)
{
    const uint64_t hour = UINT64_C(3600000000000);
    struct sim_process *process = (struct sim_process *)sys->top;
    sim_machine_lock(process->machine);
    tap_ok(in_flight_pause(process, 0, 1), "a kernel continues after its pause");
    process->fault[0].lost = true;
    tap_ok(!in_flight_pause(process, 0, 1), "but not on a device that is lost meanwhile");
    process->fault[0].lost = false;
    sim_machine_unlock(process->machine);
    vmm_system *late = NULL;
    if (vmm_open("sim:h100,schedule=late", &late) || vmm_init(late, 0))
        tap_bail("the machine cannot be opened");
    process = (struct sim_process *)late->top;
    sim_machine_lock(process->machine);
    tap_ok(in_flight_pause(process, 0, hour), "without async workers a kernel does not pause");
    sim_machine_unlock(process->machine);
    vmm_close(late);
}

/* pthread_atfork calls prepare handlers in reverse order of registration: this one is registered before the engine's, so it
 * runs after the engine's. */
static struct sim_machine *forked[3];
static unsigned forks, unlocked;

static void look_before_fork(void)
{
    for (int i = 0; i < 3; i++) {
        forks += forked[i] != NULL;
        if (forked[i] && pthread_mutex_trylock(&forked[i]->lock.mutex) == 0) {
            pthread_mutex_unlock(&forked[i]->lock.mutex);
            unlocked++;
        }
    }
}

__attribute__((constructor(101))) static void look(void)
{
    pthread_atfork(look_before_fork, NULL, NULL);
}

static struct sim_machine *machine_of(const vmm_system *sys)
{
    return ((struct sim_process *)sys->top)->machine;
}

/* Forks while the async workers are busy: the child closes its copy, and no lock stays held. */
static void test_fork(vmm_system *sys, vmm_stream stream)
{
    int wrong = 0;
    vmm_stream streams[2] = {NULL};
    vmm_system *others[2]; /* these come before it in the list of machines that a fork locks */
    for (int i = 0; i < 2; i++) {
        others[i] = open_system(&streams[i]);
        OK(vmm_launch_host_func(others[i], streams[i], nothing, NULL));
    }
    fflush(NULL);
    forked[0] = machine_of(sys);
    for (int i = 0; i < FORKS; i++) {
        int status = -1;
        vmm_launch_host_func(sys, stream, add_one, NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            vmm_close(sys);
            vmm_close(others[1]);
            vmm_close(others[0]);
            _exit(0);
        }
        wrong += waitpid(child, &status, 0) != child || status != 0;
    }
    tap_ok(forks == FORKS && !unlocked, "a fork holds the machine's lock, so no other thread holds it in the child");
    forked[0] = NULL;
    tap_ok(!wrong, "forked children can close their copies of the systems");
    OK(vmm_stream_synchronize(sys, stream));
    for (int i = 0; i < 2; i++)
        vmm_close(others[i]);
}

/* Systems closed in a different order than they were opened: a fork locks the machines of the remaining ones. */
static void test_gone(void)
{
    static const int orders[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
    unsigned wrong = 0;
    forks = unlocked = 0;
    for (int o = 0; o < 3; o++) {
        vmm_system *systems[3];
        for (int i = 0; i < 3; i++) {
            vmm_stream stream = NULL;
            systems[i] = open_system(&stream);
            forked[i] = machine_of(systems[i]);
            wrong += vmm_launch_host_func(systems[i], stream, nothing, NULL) != VMM_SUCCESS;
            wrong += vmm_stream_synchronize(systems[i], stream) != VMM_SUCCESS;
        }
        for (int i = 0; i < 3; i++) {
            int status = -1;
            forked[orders[o][i]] = NULL;
            vmm_close(systems[orders[o][i]]);
            fflush(NULL);
            pid_t child = fork();
            if (child == 0)
                _exit(0);
            wrong += waitpid(child, &status, 0) != child || status != 0;
        }
    }
    tap_ok(!wrong && forks == 3 * (2 + 1) && !unlocked, "a fork locks the machines that are still open, and no closed one");
}

/* Several processes of one machine: a fork takes its lock once. */
static void test_one_machine(void)
{
    enum { PROCESSES = 4 };
    vmm_system *systems[PROCESSES];
    vmm_stream stream = NULL;
    unsigned wrong = 0;
    systems[0] = open_system(&stream);
    forks = unlocked = 0;
    forked[0] = machine_of(systems[0]);
    for (int i = 0; i < PROCESSES; i++) {
        vmm_context context = NULL;
        int status = -1;
        if (i > 0)
            wrong += vmm_attach(systems[0], &systems[i]) || vmm_init(systems[i], 0) ||
                     vmm_ctx_create(systems[i], &context, 0, 0) || vmm_stream_create(systems[i], &stream, 0);
        wrong += vmm_launch_host_func(systems[i], stream, nothing, NULL) != VMM_SUCCESS;
        wrong += vmm_stream_synchronize(systems[i], stream) != VMM_SUCCESS;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        wrong += waitpid(child, &status, 0) != child || status != 0;
    }
    forked[0] = NULL;
    for (int i = 0; i < PROCESSES; i++)
        vmm_close(systems[i]);
    tap_ok(!wrong && forks == PROCESSES && !unlocked, "a fork takes the lock of a machine with several processes once");
}

/* Systems of one machine, opened again and closed in every order: each leaves the list of the machine's processes alone but for
 * itself, whatever its address. */
static void test_leave_machine(void)
{
    enum { PROCESSES = 3, ORDERS = 6 };
    static const int orders[ORDERS][PROCESSES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    vmm_system *systems[PROCESSES];
    vmm_stream stream = NULL;
    unsigned wrong = 0;
    vmm_system *first = open_system(&stream);
    struct sim_machine *machine = machine_of(first);
    for (int i = 0; i < PROCESSES; i++)
        wrong += vmm_attach(first, &systems[i]) != VMM_SUCCESS;
    for (int order = 0; order < ORDERS; order++)
        for (int i = 0; i < PROCESSES; i++) {
            const int place = orders[order][i];
            struct sim_process *gone = (struct sim_process *)systems[place]->top;
            vmm_close(systems[place]);
            unsigned left = 0;
            sim_machine_lock(machine);
            for (struct sim_process *p = machine->processes; p; p = p->machine_next, left++)
                wrong += p == gone;
            sim_machine_unlock(machine);
            wrong += left != PROCESSES || vmm_attach(first, &systems[place]) != VMM_SUCCESS;
        }
    for (int i = 0; i < PROCESSES; i++)
        vmm_close(systems[i]);
    vmm_close(first);
    tap_u64(wrong, 0, "a process that leaves its machine removes only itself from the list");
}

int main(void)
{
    vmm_stream stream = NULL, second = NULL;
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0xa5); /* overwrites freed memory, so that a use-after-free shows */
#endif
    vmm_system *sys = open_system(&stream), *other = open_system(&second);
    test_runs_by_itself(sys, stream);
    test_signals();
    test_order(sys, stream);
    test_waits_for_others(sys, stream);
    test_many(sys, stream);
    test_many(other, second);
    test_fork(sys, stream);
    test_pause(other);
    test_kernel_pause(other);
    vmm_close(other);
    vmm_close(sys);
    test_close();
    test_gone();
    test_one_machine();
    test_leave_machine();
    return tap_done();
}
