/* SPDX-License-Identifier: Apache-2.0 */
/* async_workers.h - schedule=device: threads that do a process's work before a call waits for it, as a device and driver do.
 *
 *     program          launch K, host function F on S         query S        ...        query S, or a flag that F sets
 *     schedule=late    [K][F]                                 K is done                 F is called here
 *     these threads    K is done at once                      NOT_READY                 SUCCESS
 *                      F is called after it, on a thread of its own
 *
 * There are two threads, started when there is work for them: one for host functions, which may wait for anything, and one for
 * all other work. A thread that waits in a call does work as well, but calls no host function. A host function counts as
 * running until it returns, and a kernel that takes its time (async_workers_pause) until it ends.
 *
 * Call all functions under the machine's lock.
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
    uint64_t process;           /* that started them (life_stamp); a forked child has no workers */
};

/* Call after queueing work: starts the thread of that kind unless it exists. Returns false if the system cannot create a
 * thread. */
bool async_workers_start(struct sim_process *process, enum async_workers_kind kind);

/* Ends both threads, after the host function that is running; remaining work stays undone. Releases the lock during the wait.
 * */
void async_workers_stop(struct sim_process *process);

/* The calling thread ends inside a host function. If it is the worker for host functions, a new thread replaces it. */
void async_workers_lost(struct sim_process *process);

/* Releases the lock for that long, in the middle of a work item. Returns false if the process is being closed. */
bool async_workers_pause(struct sim_process *process, uint64_t nanoseconds);

/* Releases the lock until work is queued or done, but at most for that long. */
void async_workers_wait(struct sim_process *process, uint64_t nanoseconds);

#endif
