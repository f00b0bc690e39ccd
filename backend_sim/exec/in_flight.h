/* SPDX-License-Identifier: Apache-2.0 */
/* in_flight.h - a process's work between the call that issues it and the call that waits for it.
 *
 *     call      launch K  fill F         unmap what K writes              stream_synchronize
 *     queue     [K]       [K][F]         [K][F]                           []
 *     late                               warning: K is not waited for     K faults, F is dropped: told here
 *     eager     K runs    F runs         the same warning                 nothing is left to do
 *
 * Under every schedule work stays in the queue until a call has waited for it, and until then it counts as in flight:
 * taking away what it uses is a mistake whether or not it happened to be done (VMM-UNMAP-IN-FLIGHT,
 * VMM-ACCESS-IN-FLIGHT). But for what the program can have seen to be done without a call (in_flight_shows): a host function that
 * has started proves that all is done that it comes after, and so do bytes that work wrote where the host can read them. Rights are those of the moment at which work is done. Once a fault took the device, what is
 * still queued for it is dropped.
 *
 * late: a waiting call does what it waits for, and nothing else is done. eager: all is done when it is issued. random:
 * by a seed, some of what may be done is at each issue and each wait. device: threads do it unasked (async_workers.h). At most IN_FLIGHT_MAX pieces of work are kept; who
 * issues more waits for the oldest, unless it is a host function.
 *
 * A host function runs on the thread that does the work, without the machine's lock; whoever needs its end meanwhile
 * waits for it. Calls made inside one do no work. So after in_flight_issue, in_flight_mark, in_flight_wait and in_flight_poll other
 * threads may have changed everything: what was looked up before must be looked up again.
 */
#ifndef SIM_IN_FLIGHT_H
#define SIM_IN_FLIGHT_H

#include <pthread.h>

#include "call.h"
#include "async_workers.h"
#include "open_options.h"
#include "queue.h"
#include "vmm.h"

struct sim_process;
struct sim_handle;
struct sim_mapping;
struct sim_context;
struct sim_event;
struct work;

enum { IN_FLIGHT_MAX = 4096 };

struct in_flight {
    struct queue queue;
    enum sim_schedule schedule;
    uint64_t random; /* state of the seeded choice */
    bool out_of_memory; /* the host's memory ended while work was done; told by the next call that waits */
    struct in_flight_inside *inside; /* host functions that run now */
    pthread_cond_t changed;       /* work was queued or done; goes with the machine's lock */
    struct async_workers workers;           /* of SIM_DEVICE */
};

/* A host function that runs, on the stack of its thread. */
struct in_flight_inside {
    pthread_t thread;
    const struct queue_place *place;
    struct in_flight_inside *next;
};

/* The host function of this process that the calling thread runs, or NULL. */
const struct in_flight_inside *in_flight_is_inside(const struct in_flight *in_flight);

void in_flight_open(struct in_flight *in_flight, const struct sim_options *options);
/* Before the end, in what may be a forked child: the threads that wait for work are the parent's there, and nobody waits for
 * them to leave. */
void in_flight_forget_waits(struct sim_process *process);
/* Drops all work undone. */
void in_flight_close(struct in_flight *in_flight);

/* The place of a stream as the API names it, for work in that context: NULL, a default stream, or a live stream. */
struct queue_place in_flight_place(const struct sim_process *process, const struct sim_context *context,
                                vmm_stream stream);

/* asked is the call that the program made, where the work is another one. Queues the call, a launch, a host function, or a copy or fill on a stream, whose arguments were checked; what it
 * points to is copied. SUCCESS, or SYSTEM-HOST-MEMORY: nothing is queued then. */
vmm_result in_flight_issue(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                        enum vmm_call_id asked);

/* Does what the scope covers, as far as it is not done, and forgets it: the host knows now. */
vmm_result in_flight_wait(struct sim_process *process, const struct queue_place *place, enum queue_scope scope);

/* Is everything done that in_flight_wait would wait for? If so, it is forgotten as well. If not, something is done now, so
 * that asking again ends (under schedule=device others do it); but nothing inside a host function, which may hold up just that. */
bool in_flight_poll(struct sim_process *process, const struct queue_place *place, enum queue_scope scope);

/* The work wrote bytes that the host can read without a call, or is about to. */
void in_flight_shows(struct sim_process *process, struct work *work);

/* Does the first piece of work that may be done and is, or is not, a host function. False where there is none. */
bool in_flight_do_next(struct sim_process *process, bool host_function);

/* In the midst of a kernel: lets that much time pass, as it would on a device, where schedule=device has it pass at all.
 * False where the kernel ends here: the device was lost meanwhile, or the process is being closed. */
bool in_flight_pause(struct sim_process *process, int device, uint64_t nanoseconds);

/* Queues a mark (queue.h) for the call, a record of an event or a stream's wait for one, that needs the mark numbered
 * after (0: none). The event, unless it is NULL, stands for it from now on. SUCCESS, or SYSTEM-HOST-MEMORY: nothing has
 * changed then. */
vmm_result in_flight_mark(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                       uint64_t after, struct sim_event *event);

/* Is all done that the mark of that number comes after? Nothing is done for it. True for 0, and for one that was waited
 * for. */
bool in_flight_reached(struct sim_process *process, uint64_t mark);
/* Does what the mark comes after, and forgets it: the host knows now. */
vmm_result in_flight_wait_mark(struct sim_process *process, uint64_t mark);
/* As in_flight_poll. */
bool in_flight_poll_mark(struct sim_process *process, uint64_t mark);

/* Is anything in flight at all? What follows is asked only then. */
static inline bool in_flight_any(const struct in_flight *in_flight)
{
    return in_flight->queue.first != NULL;
}

/* Addresses among which all are that work in flight uses; first > last: none. */
struct in_flight_used {
    uint64_t first, last;
};

/* What of [start, end) work in flight uses, so that of many mappings only those there need be asked about one by one. All of it
 * while some work cannot go on, since nobody knows where it would go with other rights. */
struct in_flight_used in_flight_used(struct sim_process *process, uint64_t start, uint64_t end);

static inline bool in_flight_uses(const struct in_flight_used *used, uint64_t start, uint64_t size)
{
    return used->first <= used->last && start <= used->last && (used->first <= start || used->first - start < size);
}

/* Warns of work in flight that uses a mapping in [start, end), all of which the call unmaps. */
void in_flight_unmapping(struct sim_process *process, uint64_t start, uint64_t end);
/* Warns of work in flight that uses a part of a multicast object, of which a replica is taken away. */
void in_flight_unbinding(struct sim_process *process, const struct sim_handle *object, uint64_t offset, uint64_t size);
/* Warns of work in flight that uses what a grant takes away from a mapping. */
void in_flight_granting(struct sim_process *process, const struct sim_mapping *mapping, const vmm_mem_access_desc *desc);

#endif
