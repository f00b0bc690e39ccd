/* SPDX-License-Identifier: Apache-2.0 */
/* in_flight_parts.h - what the files of in_flight.h share:
 *
 *     in_flight_issue.c     queues work and marks, and does what the schedule does at an issue
 *     in_flight.c           does work items, and knows which are ready
 *     in_flight_wait.c      does what a call waits for, and removes it from the queue
 *
 * Only for those files, and under the machine's lock.
 */
#ifndef SIM_IN_FLIGHT_PARTS_H
#define SIM_IN_FLIGHT_PARTS_H

#include "in_flight.h"
#include "process.h"
#include "work.h"

static inline bool in_flight_is_host_function(const struct queue_item *item)
{
    return ((const struct work *)item)->call.head.id == VMM_CALL_launch_host_func;
}

/* Can this thread do the item now without releasing the lock? Not a host function, which releases it, nor an item that another
 * thread is doing. */
static inline bool in_flight_is_plain(const struct queue_item *item)
{
    return item->state == QUEUE_WAITING && !item->blocked && !item->mark && !in_flight_is_host_function(item);
}

/* All of the scope that has been issued by now. */
static inline struct queue_aim in_flight_aim(const struct sim_process *process, const struct queue_place *place,
                                             enum queue_scope scope)
{
    return (struct queue_aim){scope, *place, process->in_flight->queue.issued};
}

/* Flags items as queue_want does, according to the current contents of memory; returns how many are wanted. */
size_t in_flight_want(struct sim_process *process, const struct queue_aim *aim);

/* Unblocks work whose memory now holds the awaited value. There is no notification of memory changes, so call this before
 * looking for ready work. */
void in_flight_look_at_memory(struct sim_process *process);

/* The next item to do, among those flagged last; NULL if none is ready. Leaves host functions to their worker if there
 * is one. */
struct queue_item *in_flight_choose(struct in_flight *in_flight);
/* The first ready item, wanted or not, that this thread may do, or NULL. */
struct queue_item *in_flight_any_ready(const struct in_flight *in_flight);
/* The next number of the seeded schedule. */
uint64_t in_flight_draw(struct in_flight *in_flight);

/* Does the item, which is ready. A host function releases the lock. The item may be freed afterwards, unless it is blocked. */
void in_flight_do(struct sim_process *process, struct queue_item *item);
/* Removes the item from the queue and frees it. */
void in_flight_forget(struct in_flight *in_flight, struct queue_item *item);

/* Waits for the oldest item, which makes room in the queue. */
vmm_result in_flight_wait_oldest(struct sim_process *process);

#endif
