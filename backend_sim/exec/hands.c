/* SPDX-License-Identifier: Apache-2.0 */
#include "hands.h"

#include <signal.h>
#include <time.h>

#include "flight.h"
#include "posix.h"
#include "process.h"

static void work(struct sim_process *process, enum hands_kind kind)
{
    struct flight *flight = process->flight;
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
    bool started = !posix.pthread_create(thread, NULL, code, process);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool hands_start(struct sim_process *process, enum hands_kind kind)
{
    struct hands *hands = &process->flight->hands;
    if (hands->there[kind])
        return true;
    hands->process = life_stamp();
    hands->there[kind] = start(&hands->thread[kind], kind == HANDS_HOST ? host_thread : work_thread, process);
    return hands->there[kind];
}

void hands_stop(struct sim_process *process)
{
    struct hands *hands = &process->flight->hands;
    bool mine = hands->process == life_stamp();
    hands->stopping = true;
    pthread_cond_broadcast(&process->flight->changed);
    for (int kind = 0; kind < HANDS_KINDS; kind++) {
        if (!hands->there[kind])
            continue;
        sim_machine_unlock(process->machine);
        if (mine)
            pthread_join(hands->thread[kind], NULL);
        sim_machine_lock(process->machine);
    }
}

/* One that is waited for by hands_stop is left to it. */
void hands_lost(struct sim_process *process)
{
    struct hands *hands = &process->flight->hands;
    if (!hands->there[HANDS_HOST] || !pthread_equal(hands->thread[HANDS_HOST], pthread_self()) || hands->stopping)
        return;
    pthread_detach(pthread_self());
    hands->there[HANDS_HOST] = false;
    hands_start(process, HANDS_HOST);
}

bool hands_pause(struct sim_process *process, uint64_t nanoseconds)
{
    enum { SECOND = 1000000000 };
    struct flight *flight = process->flight;
    struct timespec until;
    posix.clock_gettime(CLOCK_REALTIME, &until);
    uint64_t rest = (uint64_t)until.tv_nsec + nanoseconds % SECOND;
    until.tv_sec += (time_t)(nanoseconds / SECOND + rest / SECOND);
    until.tv_nsec = (long)(rest % SECOND);
    int cancel = life_no_cancel();
    assert_locked(process->machine);
    sim_machine_note(process->machine, false);
    while (!flight->hands.stopping &&
           pthread_cond_timedwait(&flight->changed, &process->machine->lock.mutex, &until) == 0)
        ;
    sim_machine_note(process->machine, true);
    life_may_cancel(cancel);
    readers_shut(&process->machine->readers);
    return !flight->hands.stopping;
}
