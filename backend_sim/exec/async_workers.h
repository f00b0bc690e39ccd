/* SPDX-License-Identifier: Apache-2.0 */
/* async_workers.h - schedule=device: threads of a process that do its work unasked, as a device and its driver would.
 *
 *     program          launch K, host function F on S         query S        ...        query S, or a flag that F sets
 *     schedule=late    [K][F]                                 K is done                 F is called here
 *     these threads    K is done at once                      NOT_READY                 SUCCESS
 *                      F is called after it, on a thread of its own
 *
 * Two of them, started when there is work for them: one for host functions, which may wait for what they like, and one for
 * all else. Who waits in a call does work as well, but calls no host function. What a host function or a kernel that
 * takes its time (async_workers_pause) is in the midst of counts as running.
 *
 * All is called with the machine's lock held.
 */
#ifndef SIM_ASYNC_WORKERS_H
#define SIM_ASYNC_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_process;

enum async_workers_kind { ASYNC_WORKERS_WORK, ASYNC_WORKERS_HOST, ASYNC_WORKERS_KINDS };

struct async_workers {
    pthread_t thread[ASYNC_WORKERS_KINDS];
    bool there[ASYNC_WORKERS_KINDS];
    bool stopping;
    uint64_t process;           /* by which they were started (life_stamp): a child has none */
};

/* There may be work: starts the thread of that kind unless it is there. False when the system gives none. */
bool async_workers_start(struct sim_process *process, enum async_workers_kind kind);

/* Both end, after the host function that runs; what is not done stays undone. The lock is let go meanwhile. */
void async_workers_stop(struct sim_process *process);

/* The calling thread ends in a host function. If it is the one that calls them, another takes its place. */
void async_workers_lost(struct sim_process *process);

/* Lets the others in for that long, in the midst of a piece of work. False when the process is being closed. */
bool async_workers_pause(struct sim_process *process, uint64_t nanoseconds);

#endif
