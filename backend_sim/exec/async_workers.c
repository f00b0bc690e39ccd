/* SPDX-License-Identifier: Apache-2.0 */
#include "async_workers.h"

#include <signal.h>
#include <time.h>

#include "in_flight.h"
#include "posix.h"
#include "process.h"

/* Nanoseconds until the worker next polls memory that work waits for: soon at first, later once per millisecond. */
static uint64_t until_next_look(unsigned looks)
{
    enum { FIRST = 20000, LAST = 1000000 };
    return looks < 16 ? FIRST : looks < 64 ? 5 * FIRST : LAST;
}

static void work(struct sim_process *process, enum async_workers_kind kind)
{
    unsigned looks = 0;
    struct in_flight *in_flight = process->in_flight;
    sim_machine_lock(process->machine);
    while (!in_flight->workers.stopping)
        if (in_flight_do_next(process, kind == ASYNC_WORKERS_HOST))
            looks = 0;
        else if (kind == ASYNC_WORKERS_WORK && in_flight->blocked)
            async_workers_wait(process, until_next_look(looks++));
        else
            sim_machine_wait(process->machine, &in_flight->changed);
    sim_machine_unlock(process->machine);
}

static void *work_thread(void *process)
{
    work(process, ASYNC_WORKERS_WORK);
    return NULL;
}

static void *host_thread(void *process)
{
    work(process, ASYNC_WORKERS_HOST);
    return NULL;
}

/* Starts a thread with all signals blocked except those of faults, so that the program's own threads receive the others. */
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

bool async_workers_start(struct sim_process *process, enum async_workers_kind kind)
{
    struct async_workers *workers = &process->in_flight->workers;
    if (workers->there[kind])
        return true;
    workers->process = life_stamp();
    workers->there[kind] = start(&workers->thread[kind], kind == ASYNC_WORKERS_HOST ? host_thread : work_thread, process);
    return workers->there[kind];
}

void async_workers_stop(struct sim_process *process)
{
    struct async_workers *workers = &process->in_flight->workers;
    bool mine = workers->process == life_stamp();
    workers->stopping = true;
    pthread_cond_broadcast(&process->in_flight->changed);
    for (int kind = 0; kind < ASYNC_WORKERS_KINDS; kind++) {
        if (!workers->there[kind])
            continue;
        sim_machine_unlock(process->machine);
        if (mine)
            pthread_join(workers->thread[kind], NULL);
        sim_machine_lock(process->machine);
    }
}

/* Detaches the thread, unless async_workers_stop is already joining it. */
void async_workers_lost(struct sim_process *process)
{
    struct async_workers *workers = &process->in_flight->workers;
    if (!workers->there[ASYNC_WORKERS_HOST] || !pthread_equal(workers->thread[ASYNC_WORKERS_HOST], pthread_self()) ||
        workers->stopping)
        return;
    pthread_detach(pthread_self());
    workers->there[ASYNC_WORKERS_HOST] = false;
    async_workers_start(process, ASYNC_WORKERS_HOST);
}

/* The time that many nanoseconds from now. */
static struct timespec after(uint64_t nanoseconds)
{
    enum { SECOND = 1000000000 };
    struct timespec until;
    posix.clock_gettime(CLOCK_REALTIME, &until);
    uint64_t rest = (uint64_t)until.tv_nsec + nanoseconds % SECOND;
    until.tv_sec += (time_t)(nanoseconds / SECOND + rest / SECOND);
    until.tv_nsec = (long)(rest % SECOND);
    return until;
}

/* Releases the lock until then; until the next change if whole is false. */
static bool release_until(struct sim_process *process, const struct timespec *until, bool whole)
{
    struct in_flight *in_flight = process->in_flight;
    int cancel = life_no_cancel();
    assert_locked(process->machine);
    sim_machine_note(process->machine, false);
    while (!in_flight->workers.stopping &&
           pthread_cond_timedwait(&in_flight->changed, &process->machine->lock.mutex, until) == 0 && whole)
        ;
    sim_machine_note(process->machine, true);
    life_may_cancel(cancel);
    readers_revoke(&process->machine->readers);
    return !in_flight->workers.stopping;
}

bool async_workers_pause(struct sim_process *process, uint64_t nanoseconds)
{
    const struct timespec until = after(nanoseconds);
    return release_until(process, &until, true);
}

void async_workers_wait(struct sim_process *process, uint64_t nanoseconds)
{
    const struct timespec until = after(nanoseconds);
    release_until(process, &until, false);
}
