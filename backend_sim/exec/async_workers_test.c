/* SPDX-License-Identifier: Apache-2.0 */
/* Work that goes on by itself, through the API: order, what is open while it goes on, several processes of one machine, and
 * closing in the midst of it. */
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

static void nap(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static bool comes(const atomic_int *value, int wanted)
{
    for (int waited = 0; *value != wanted && waited < PATIENCE_MS; waited++)
        nap();
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
    comes(&gate, 1);
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

static void test_unasked(vmm_system *sys, vmm_stream stream)
{
    OK(vmm_launch_host_func(sys, stream, add_one, NULL));
    tap_ok(comes(&count, 1), "a host function is called while no call is made");
    OK(vmm_stream_synchronize(sys, stream));
    tap_ok(!pthread_equal(caller, pthread_self()), "and not on this thread");
}

static sigset_t of_their_thread;

static void look_at_mask(void *unused)
{
    (void)unused;
    pthread_sigmask(SIG_SETMASK, NULL, &of_their_thread);
}

/* Signals come to the program's threads as before, and to those that do the work none but those of faults. */
static void test_signals(void)
{
    sigset_t own, before, after;
    vmm_stream stream = NULL;
    unsigned changed = 0, wrong = 0;
    vmm_system *sys = open_system(&stream);
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &before, &own);
    OK(vmm_launch_host_func(sys, stream, look_at_mask, NULL));
    OK(vmm_stream_synchronize(sys, stream));
    pthread_sigmask(SIG_SETMASK, &own, &after);
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGSEGV, SIGBUS};
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bool of_faults = numbers[i] == SIGSEGV || numbers[i] == SIGBUS;
        changed += sigismember(&after, numbers[i]) != sigismember(&before, numbers[i]);
        wrong += sigismember(&of_their_thread, numbers[i]) != !of_faults;
    }
    tap_ok(!changed && !wrong, "signals are the program's own threads' to take");
    vmm_close(sys);
}

/* Streams keep their order, and one that is held up holds up no other. */
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
    tap_ok(comes(&entered, 1), "the host function waits");
    OK(vmm_memset_d8_async(sys, p + 32, 3, 32, other));
    OK(vmm_stream_synchronize(sys, other));
    tap_u64(byte_at(sys, p), 1, "what is behind it in its stream is not done");
    tap_u64(byte_at(sys, p + 32), 3, "what is in another one is");
    tap_u64(vmm_stream_query(sys, held), VMM_ERROR_NOT_READY, "asking says so");
    gate = 1;
    OK(vmm_stream_synchronize(sys, held));
    tap_u64(byte_at(sys, p + 32), 2, "the fill behind it is done last");
    OK(vmm_mem_free(sys, p));
    OK(vmm_stream_destroy(sys, other));
}

/* The thread of host functions is at one; whoever waits for other work calls none of those that are ready. */
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
    tap_ok(comes(&entered, 1), "a host function is at work");
    OK(vmm_launch_host_func(sys, next, add_one, NULL));
    for (int i = 0; i < ROUNDS; i++)
        wrong += vmm_memset_d8_async(sys, p, 4, 64, other) != VMM_SUCCESS || vmm_stream_synchronize(sys, other) != VMM_SUCCESS;
    tap_ok(!wrong && !count, "waits for other work do not call the next one");
    gate = 1;
    OK(vmm_stream_synchronize(sys, next));
    tap_ok(count == 1 && !pthread_equal(caller, pthread_self()), "its thread does, when it is free");
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
    tap_ok(!wrong && count == ROUNDS, "each of %d host functions is called once, before a wait ends", ROUNDS);
}

/* Closing waits for the host function that runs, and drops what is behind it. */
static void test_close(void)
{
    vmm_stream stream = NULL;
    vmm_system *sys = open_system(&stream);
    gate = entered = count = 0;
    OK(vmm_launch_host_func(sys, stream, wait_at_gate, NULL));
    OK(vmm_launch_host_func(sys, stream, add_one, NULL));
    tap_ok(comes(&entered, 1), "a host function runs");
    gate = 1;
    vmm_close(sys);
    tap_ok(count <= 1, "and the system closes");
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

/* A pause takes its time, also over the end of a second and while others come and go, and ends early when all ends. */
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
    tap_ok(right, "a pause is as long as it is to be");
    struct pause longer = {process, UINT64_C(30000000000), 0, true, 0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, pause_here, &longer) || !comes(&longer.began, 1))
        tap_bail("no thread");
    for (int i = 0; i < 3; i++) {
        sim_machine_lock(process->machine);
        process->in_flight->workers.stopping = i == 2;
        pthread_cond_broadcast(&process->in_flight->changed);
        sim_machine_unlock(process->machine);
        for (int turn = 0; turn < 100; turn++)
            sched_yield(); /* so that it wakes, and goes on sleeping */
    }
    pthread_join(thread, NULL);
    tap_ok(!longer.whole && longer.took < longer.nanoseconds, "and cut short at the end");
    sim_machine_lock(process->machine);
    process->in_flight->workers.stopping = false;
    sim_machine_unlock(process->machine);
}

/* Handlers before a fork are called in the opposite order of their registration: this one, known before the engine's, after
 * them. */
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

/* Forks while the threads are at work: the child gives back its copy, and nothing is left locked. */
static void test_fork(vmm_system *sys, vmm_stream stream)
{
    int wrong = 0;
    vmm_stream streams[2] = {NULL};
    vmm_system *others[2]; /* which come before it in the list of those that are locked */
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
    tap_ok(forks == FORKS && !unlocked, "a fork has the machine's lock, which no other thread can hold in the child then");
    forked[0] = NULL;
    tap_ok(!wrong, "forked children close what they have a copy of");
    OK(vmm_stream_synchronize(sys, stream));
    for (int i = 0; i < 2; i++)
        vmm_close(others[i]);
}

/* Systems that are closed in another order than they were opened in: a fork has the machines of those that are left. */
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
    tap_ok(!wrong && forks == 3 * (2 + 1) && !unlocked, "what was closed is no matter to a fork, and the others are");
}

/* Processes of one machine, whose lock a fork takes once, wherever they lie in memory. */
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
    tap_ok(!wrong && forks == PROCESSES && !unlocked, "a fork has the lock of a machine with several processes");
}

int main(void)
{
    vmm_stream stream = NULL, second = NULL;
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0xa5); /* what is freed does not look as it did */
#endif
    vmm_system *sys = open_system(&stream), *other = open_system(&second);
    test_unasked(sys, stream);
    test_signals();
    test_order(sys, stream);
    test_waits_for_others(sys, stream);
    test_many(sys, stream);
    test_many(other, second);
    test_fork(sys, stream);
    test_pause(other);
    vmm_close(other);
    vmm_close(sys);
    test_close();
    test_gone();
    test_one_machine();
    return tap_done();
}
