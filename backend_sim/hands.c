#include "hands.h"

#include <signal.h>
#include <time.h>

#include "flight.h"
#include "os.h"
#include "process.h"

/* ---- forks: the lock must not be in the hand of a thread that the child does not have ---- */

static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER; /* guards the list; before any machine's lock */
static struct sim_process *all;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Processes of one machine share its lock, which is taken once. */
static bool first_of_its_machine(const struct sim_process *process)
{
    const struct sim_process *p = all;
    while (p->machine != process->machine)
        p = p->flight.hands.next;
    return p == process;
}

static void before_fork(void)
{
    pthread_mutex_lock(&forking);
    for (struct sim_process *p = all; p; p = p->flight.hands.next)
        if (first_of_its_machine(p))
            sim_machine_lock(p->machine);
}

static void after_fork(void)
{
    for (struct sim_process *p = all; p; p = p->flight.hands.next)
        if (first_of_its_machine(p))
            sim_machine_unlock(p->machine);
    pthread_mutex_unlock(&forking);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* Takes both locks in their order, with the machine's in hand: others may have been in meanwhile. */
static void take_forking(struct sim_process *process)
{
    sim_machine_unlock(process->machine);
    pthread_mutex_lock(&forking);
    sim_machine_lock(process->machine);
}

static void enlist(struct sim_process *process)
{
    pthread_once(&once, watch_forks);
    take_forking(process);
    struct sim_process *p = all;
    while (p && p != process)
        p = p->flight.hands.next;
    if (!p) {
        process->flight.hands.next = all;
        all = process;
    }
    pthread_mutex_unlock(&forking);
}

static void strike_off(struct sim_process *process)
{
    take_forking(process);
    struct sim_process **p = &all;
    while (*p && *p != process)
        p = &(*p)->flight.hands.next;
    if (*p)
        *p = process->flight.hands.next;
    pthread_mutex_unlock(&forking);
}

/* ---- the threads ---- */

static void work(struct sim_process *process, enum hands_kind kind)
{
    struct flight *flight = &process->flight;
    sim_machine_lock(process->machine);
    while (!flight->hands.stopping)
        if (!flight_do_next(process, kind == HANDS_HOST))
            sim_machine_wait(process->machine, &flight->changed);
    sim_machine_unlock(process->machine);
}

static void *work_thread(void *process)
{
    work(process, HANDS_WORK);
    return NULL;
}

static void *host_thread(void *process)
{
    work(process, HANDS_HOST);
    return NULL;
}

/* Signals are the program's, for its own threads to take. */
static bool start(pthread_t *thread, void *(*code)(void *), struct sim_process *process)
{
    sigset_t own, before;
    sigfillset(&own);
    sigdelset(&own, SIGSEGV);
    sigdelset(&own, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &own, &before);
    bool started = !pthread_create(thread, NULL, code, process);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool hands_start(struct sim_process *process, enum hands_kind kind)
{
    struct hands *hands = &process->flight.hands;
    if (hands->there[kind])
        return true;
    if (!hands->there[HANDS_WORK] && !hands->there[HANDS_HOST]) {
        enlist(process);
        hands->depth = os_fork_depth();
    }
    if (!hands->there[kind]) /* another thread may have been quicker while the lock was let go */
        hands->there[kind] = start(&hands->thread[kind], kind == HANDS_HOST ? host_thread : work_thread, process);
    return hands->there[kind];
}

void hands_stop(struct sim_process *process)
{
    struct hands *hands = &process->flight.hands;
    bool mine = hands->depth == os_fork_depth();
    if (!mine) /* for all it knows the parent's threads wait there, whom a broadcast and its end would wait for */
        pthread_cond_init(&process->flight.changed, NULL);
    hands->stopping = true;
    pthread_cond_broadcast(&process->flight.changed);
    for (int kind = 0; kind < HANDS_KINDS; kind++) {
        if (!hands->there[kind])
            continue;
        sim_machine_unlock(process->machine);
        if (mine)
            pthread_join(hands->thread[kind], NULL);
        sim_machine_lock(process->machine);
    }
    strike_off(process);
}

bool hands_pause(struct sim_process *process, uint64_t nanoseconds)
{
    enum { SECOND = 1000000000 };
    struct flight *flight = &process->flight;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t rest = (uint64_t)until.tv_nsec + nanoseconds % SECOND;
    until.tv_sec += (time_t)(nanoseconds / SECOND + rest / SECOND);
    until.tv_nsec = (long)(rest % SECOND);
    while (!flight->hands.stopping &&
           pthread_cond_timedwait(&flight->changed, &process->machine->lock, &until) == 0)
        ;
    readers_shut(&process->machine->readers);
    return !flight->hands.stopping;
}
