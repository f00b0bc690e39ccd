/* SPDX-License-Identifier: Apache-2.0 */
#include "in_flight_parts.h"

#include "arrays.h"
#include "heap.h"
#include "order_feed.h"
#include "pool_use.h"
#include "refusal.h"

/* The first item that is ready, marked or not. Fast path: usually the item just issued is the only one left, and it is plain.
 * */
static struct queue_item *first_of_all(struct queue *queue)
{
    if (queue->left == 1 && in_flight_is_plain(queue->last))
        return queue->last;
    if (queue->left == 1 && queue->last->mark && queue->last->state == QUEUE_WAITING)
        queue_done(queue, queue->last);
    if (!queue->left)
        return NULL;
    queue_look(queue);
    return queue_ready_at(queue, 0);
}

/* The next item that the schedule does at an issue, or NULL. */
static struct queue_item *at_once(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    in_flight_look_at_memory(process);
    if (in_flight->schedule == SIM_EAGER)
        return first_of_all(&in_flight->queue);
    if (in_flight->schedule != SIM_RANDOM || in_flight_draw(in_flight) % 2 == 0)
        return NULL;
    queue_look(&in_flight->queue);
    return in_flight_choose(in_flight);
}

/* Does the work that the schedule does at an issue, without waiting for another thread. */
static void at_issue(struct sim_process *process)
{
    for (struct queue_item *item; (item = at_once(process)) != NULL;)
        in_flight_do(process, item);
}

/* Makes sure that some thread of the process does the queued work. */
static void wake_workers(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    if (in_flight->schedule != SIM_DEVICE)
        return;
    async_workers_start(process, in_flight_is_host_function(in_flight->queue.last) ? ASYNC_WORKERS_HOST : ASYNC_WORKERS_WORK);
    pthread_cond_broadcast(&in_flight->changed);
}

/* Ends an issue, after the item was queued. Work issued inside a host function is left for later: waiting there could deadlock
 * on that very function. */
static vmm_result issued(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    wake_workers(process);
    if (in_flight_is_inside(in_flight))
        return VMM_SUCCESS;
    at_issue(process);
    return in_flight->queue.count <= IN_FLIGHT_MAX ? VMM_SUCCESS : in_flight_wait_oldest(process);
}

/* work: NULL if host memory was exhausted. */
static vmm_result issue(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call, struct work *work)
{
    process->in_flight->orders += place->kind == QUEUE_DEFAULT; /* it orders streams before and after it */
    if (work && queue_add(&process->in_flight->queue, &work->item, place)) {
        if (process->in_flight->order)
            order_feed_issue(process, place, work, (const union vmm_any_call *)(const void *)call);
        return issued(process);
    }
    if (work)
        work_free(work);
    return sim_out_of_host_memory();
}

vmm_result in_flight_issue(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                           enum vmm_call_id issued_by)
{
    assert_locked(process->machine);
    return issue(process, place, call, work_new(call, vmm_reported_call((uint16_t)issued_by)));
}

vmm_result in_flight_issue_copy(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                                enum vmm_call_id issued_by, struct transfer_rights rights)
{
    assert_locked(process->machine);
    struct work *work = work_new(call, vmm_reported_call((uint16_t)issued_by));
    if (work)
        work->rights = rights;
    return issue(process, place, call, work);
}

vmm_result in_flight_issue_binds(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                                 struct array_binds *binds)
{
    assert_locked(process->machine);
    struct work *work = work_new(call, vmm_reported_call(call->id));
    if (work)
        work->binds = binds;
    else
        array_binds_free(binds);
    return issue(process, place, call, work);
}

vmm_result in_flight_mark(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                          uint64_t after, struct sim_event *event)
{
    assert_locked(process->machine);
    struct work *work = work_new(call, vmm_reported_call(call->id));
    process->in_flight->orders += after != 0;
    if (work && queue_add_mark(&process->in_flight->queue, &work->item, place, after)) {
        if (event) { /* before any work runs, which may release the lock */
            event->mark = work->item.number;
            event->recorded = call->number;
            event->when = 0;
            if (!(event->flags & VMM_EVENT_DISABLE_TIMING))
                queue_time_mark(&process->in_flight->queue, &work->item);
        }
        return issued(process);
    }
    if (work)
        work_free(work);
    return sim_out_of_host_memory();
}

vmm_result in_flight_mark_quietly(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                                  uint64_t after)
{
    assert_locked(process->machine);
    struct work *work = work_new(call, vmm_reported_call(call->id));
    if (work && queue_add_mark(&process->in_flight->queue, &work->item, place, after)) {
        process->in_flight->orders++;
        process->in_flight->quiet = true;
        return VMM_SUCCESS;
    }
    if (work)
        work_free(work);
    return sim_out_of_host_memory();
}

vmm_result in_flight_marked(struct sim_process *process)
{
    bool quiet = process->in_flight->quiet;
    process->in_flight->quiet = false;
    return quiet ? issued(process) : VMM_SUCCESS;
}

/* ---- stream-ordered frees ---- */

/* The newest item, if it stands for frees at the place: nothing has been issued since, so it can stand for the next one as
 * well. */
static struct free_mark *newest_free(const struct in_flight *in_flight, const struct queue_place *place)
{
    struct queue_item *item = in_flight->queue.last;
    struct work *work = (struct work *)item;
    return item && work->freed && queue_same_lane(queue_place_of(item), place) ? work->freed : NULL;
}

static struct work *new_free(struct in_flight *in_flight, const struct queue_place *place, const struct vmm_call *call)
{
    struct stream_clock *clock = stream_clock_of(&in_flight->clocks, place);
    struct free_mark *mark = clock ? heap.calloc(1, sizeof *mark) : NULL;
    struct work *work = mark ? work_new(call, vmm_reported_call(call->id)) : NULL;
    if (work && queue_add_mark(&in_flight->queue, &work->item, place, 0)) {
        *mark = (struct free_mark){.item = &work->item, .tick = ++clock->now, .clock = clock->id};
        work->freed = mark;
        return work;
    }
    if (work)
        work_free(work);
    heap.free(mark);
    return NULL;
}

struct free_mark *in_flight_free_mark(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                                      bool *fresh)
{
    assert_locked(process->machine);
    struct free_mark *mark = newest_free(process->in_flight, place);
    *fresh = !mark;
    if (mark)
        return mark;
    struct work *work = new_free(process->in_flight, place, call);
    return work ? work->freed : NULL;
}

void in_flight_free_undo(struct sim_process *process)
{
    in_flight_forget(process->in_flight, process->in_flight->queue.last);
}

vmm_result in_flight_free_end(struct sim_process *process)
{
    return issued(process);
}
