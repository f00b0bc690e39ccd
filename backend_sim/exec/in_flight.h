/* SPDX-License-Identifier: Apache-2.0 */
/* in_flight.h - a process's work between the call that issues it and the call that waits for it.
 *
 *     call      launch K  fill F         unmap what K writes              stream_synchronize
 *     queue     [K]       [K][F]         [K][F]                           []
 *     late                               warning: K is not waited for     K faults, F is dropped: reported here
 *     eager     K runs    F runs         the same warning                 nothing is left to do
 *
 * Under every schedule work stays in the queue until a call has waited for it, and until then it is in flight: unmapping the
 * memory or revoking the rights that it uses is a mistake whether or not it has been done (VMM-UNMAP-IN-FLIGHT,
 * VMM-ACCESS-IN-FLIGHT). The exception is work that the program can observe to be done without a call (in_flight_host_visible):
 * a host function that has started proves that everything before it is done, and so do bytes that work wrote where the host can
 * read them. Work runs with the rights at the time it runs. Once a fault has cost the process a device,
     the work still queued for it is dropped.
 *
 * late: a waiting call does the work it waits for, and no other. eager: work is done when it is issued. random: at each issue
 * and each wait, a seed picks some of the work that is ready. device: async workers do it (async_workers.h). The queue holds
 * at most IN_FLIGHT_MAX work items; a call that issues more waits for the oldest, unless that is a host function.
 *
 * A host function runs on the thread that does the work, without the machine's lock; a thread that needs it to end waits
 * for it. Calls made inside a host function do no work. Because in_flight_issue, in_flight_mark, in_flight_wait and
 * in_flight_poll may release the lock, look up every object again after them: a pointer from before may be a use-after-free.
 */
#ifndef SIM_IN_FLIGHT_H
#define SIM_IN_FLIGHT_H

#include <pthread.h>

#include "call.h"
#include "async_workers.h"
#include "open_options.h"
#include "queue.h"
#include "stream_clock.h"
#include "transfer.h"
#include "vmm.h"

struct array_binds;
struct sim_process;
struct sim_handle;
struct sim_mapping;
struct sim_context;
struct sim_event;
struct free_mark;
struct order;
struct work;
struct written;

enum { IN_FLIGHT_MAX = 4096 };

struct in_flight {
    struct queue queue;
    enum sim_schedule schedule;
    uint64_t random; /* state of the seeded choice */
    size_t blocked; /* work items that are blocked at a wait for a value in memory (mem_op.h) */
    struct stream_clocks clocks;
    bool quiet;        /* a mark was queued, and in_flight_marked must follow */
    struct order *order;     /* order_feed.h; NULL if the order of accesses is not tracked */
    struct written *written; /* the same; NULL if writes are not tracked either */
    bool order_of_streams;   /* unordered accesses are reported */
    uint64_t dry_steps; /* steps that dry runs may still make (dry_run.h) */
    uint64_t orders;   /* the number of waits by calls and by streams, each of which may order streams (pool_use.h) */
    bool out_of_memory; /* host memory ran out while work ran; the next call that waits reports it */
    struct in_flight_inside *inside; /* the running host functions */
    pthread_cond_t changed;       /* work was queued or done; used with the machine's lock */
    struct async_workers workers;           /* used under SIM_DEVICE only */
};

/* A running host function; lives on the stack of its thread. */
struct in_flight_inside {
    pthread_t thread;
    const struct queue_place *place;
    struct in_flight_inside *next;
};

/* The host function of this process that the calling thread is running, or NULL. */
const struct in_flight_inside *in_flight_is_inside(const struct in_flight *in_flight);

void in_flight_open(struct in_flight *in_flight, const struct sim_options *options);
/* Call before the process closes, in what may be a forked child: the threads that wait for work exist only in the parent, so
 * the child does not wait for them to leave. */
void in_flight_forget_waits(struct sim_process *process);
/* Drops all remaining work. */
void in_flight_close(struct in_flight *in_flight);

/* The queue place of a stream, for work in that context; stream is NULL, a default stream, or a live stream. */
struct queue_place in_flight_place(const struct sim_process *process, const struct sim_context *context,
                                   vmm_stream stream);

/* Queues the call: a launch, a host function, or a copy or fill on a stream. The caller has checked the arguments; what they
 * point to is copied. issued_by is the call that the program made, if that is a different one. Returns SUCCESS, or
 * SYSTEM-HOST-MEMORY with nothing queued. */
vmm_result in_flight_issue(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                           enum vmm_call_id issued_by);

/* The same for a copy or fill that uses these devices' rights. */
vmm_result in_flight_issue_copy(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                                enum vmm_call_id issued_by, struct transfer_rights rights);

/* Queues the call's array mappings (arrays.h): the work then owns the list. */
vmm_result in_flight_issue_binds(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                                 struct array_binds *binds);

/* Does the remaining work that the scope covers and removes it from the queue: it is no longer in flight. */
vmm_result in_flight_wait(struct sim_process *process, const struct queue_place *place, enum queue_scope scope);

/* The same for a wait that the documentation does not guarantee: the program cannot rely on it. */
vmm_result in_flight_wait_unpromised(struct sim_process *process, const struct queue_place *place, enum queue_scope scope);

/* Is all work done that in_flight_wait would wait for? If so, removes it from the queue as well. If not, does some work now,
 * so that polling in a loop ends (under schedule=device the workers do it). Inside a host function it does none, because the
 * work may wait for that very function. */
bool in_flight_poll(struct sim_process *process, const struct queue_place *place, enum queue_scope scope);

/* Call when the work wrote, or is about to write, bytes that the host can read without a call. */
void in_flight_host_visible(struct sim_process *process, struct work *work);

/* Does the first work item that is ready and is, or is not, a host function. False when there is none. */
bool in_flight_do_next(struct sim_process *process, bool host_function);

/* Called in the middle of a kernel: waits that long, as the kernel would on a device; only under schedule=device. Returns
 * false if the kernel must end now: the device was lost during the wait, or the process is being closed. */
bool in_flight_pause(struct sim_process *process, int device, uint64_t nanoseconds);

/* Queues a mark (queue.h) for the call, which records an event or makes a stream wait for one. The mark depends on the mark
 * numbered after (0: none). The event, unless it is NULL, then stands for the new mark. Returns SUCCESS, or
 * SYSTEM-HOST-MEMORY with nothing changed. */
vmm_result in_flight_mark(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                          uint64_t after, struct sim_event *event);

/* The same in two steps, for a caller that changes other state in between: the mark is queued, and no work is done before
 * in_flight_marked. */
vmm_result in_flight_mark_quietly(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                                  uint64_t after);
vmm_result in_flight_marked(struct sim_process *process);

/* A mark for the call's frees at the place, in stream order (region.h): the newest item if that is one already, or a fresh one.
 * The caller adds the freed memory, then calls in_flight_free_end for a fresh one, or in_flight_free_undo if it could not. NULL
 * when host memory is exhausted. */
struct free_mark *in_flight_free_mark(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                                      bool *fresh);
void in_flight_free_undo(struct sim_process *process);
vmm_result in_flight_free_end(struct sim_process *process);

/* Flags as wanted (queue.h) the work that an item issued at the place now would wait for, and completes the marks that nothing
 * blocks. */
void in_flight_look_from(struct sim_process *process, const struct queue_place *place);

/* Is all work done that precedes the mark of that number? Does no work itself. True for 0 and for a mark that was already
 * waited for. */
bool in_flight_reached(struct sim_process *process, uint64_t mark);
/* When the event's mark was done, in nanoseconds of a monotonic clock. 0 if that is unknown, or if the event has no timing. */
uint64_t in_flight_time(const struct sim_process *process, const struct sim_event *event);
/* Does the work that precedes the mark and removes it from the queue: it is no longer in flight. */
vmm_result in_flight_wait_mark(struct sim_process *process, uint64_t mark);
/* As in_flight_poll, for a mark. */
bool in_flight_poll_mark(struct sim_process *process, uint64_t mark);

/* Call after the rights to a mapping changed from those in before (process.h): a wait that polls it with such a right faults,
 * even if it may still read, as measured on H200. */
void in_flight_rights_changed(struct sim_process *process, const struct sim_mapping *mapping, uint64_t before);

/* Call after memory was unmapped: a wait that polls it (mem_op.h) faults now, as measured, rather than when a
 * call next polls, because memory may be mapped there again by then. */
void in_flight_lost_memory(struct sim_process *process);

/* Is any work in flight? in_flight_hazards.h is only for that case. */
static inline bool in_flight_any(const struct in_flight *in_flight)
{
    return in_flight->queue.first != NULL;
}

/* Would a wait find nothing to do, and nothing to report? */
static inline bool in_flight_idle(const struct in_flight *in_flight)
{
    return !in_flight_any(in_flight) && !in_flight->out_of_memory;
}

#endif
