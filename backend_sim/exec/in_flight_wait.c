/* SPDX-License-Identifier: Apache-2.0 */
#include "in_flight_parts.h"

#include <inttypes.h>

#include "mem_op.h"
#include "objects.h"
#include "order_feed.h"
#include "os_share.h"
#include "refusal.h"

/* A thread that polls in a loop releases the lock for this many nanoseconds, so that the async workers get it. */
enum { A_MOMENT = 50000 };

/* Can something outside the queue satisfy a wait: another thread of the program, or another process? */
static bool others_may_write(const struct sim_process *process)
{
    if (!os_is_single_thread())
        return true;
    for (const struct queue_item *item = process->in_flight->queue.undone; item; item = item->after)
        if (item->blocked && mem_op_is_shared(process, (const struct work *)item))
            return true;
    return false;
}

static bool is_running(const struct in_flight *in_flight)
{
    const struct queue_item *item = in_flight->queue.undone;
    while (item && item->state != QUEUE_RUNNING)
        item = item->after;
    return item != NULL;
}

/* Waits until something may have changed: an item was done, or memory for which work waits. Under schedule=device the
 * worker polls the memory. Returns false if nothing ever can change: no work is ready or running, and only the calling thread
 * could write. */
static bool wait_for_change(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    if (!in_flight->blocked || in_flight->workers.there[ASYNC_WORKERS_WORK]) {
        sim_machine_wait(process->machine, &in_flight->changed);
        return true;
    }
    if (in_flight->schedule != SIM_DEVICE && !is_running(in_flight) && !others_may_write(process))
        return false;
    async_workers_wait(process, A_MOMENT);
    return true;
}

/* Does the next item. While the wanted items wait for a value in memory, does any ready item, as a device would, because it may
 * write the value. If there is none, waits for a change; returns false if there can be none. */
static bool go_on(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    struct queue_item *item = in_flight_choose(in_flight);
    if (!item && in_flight->blocked)
        item = in_flight_any_ready(in_flight);
    if (item)
        in_flight_do(process, item);
    return item || wait_for_change(process);
}

/* Stores the time at which a mark was done in its event, if that still stands for it. */
static void keep_time(const struct sim_process *process, const struct queue_item *item)
{
    const struct vmm_call_event_record *record = &((const struct work *)item)->call.event_record;
    void *object;
    if (slots_find(&process->events, (uint64_t)(uintptr_t)record->event, &object) != SLOT_LIVE)
        return;
    struct sim_event *event = object;
    if (event->mark == item->number)
        event->when = item->when;
}

/* Forgets an item that is done. */
static void forget_done(const struct sim_process *process, struct queue_item *item)
{
    if (item->timed)
        keep_time(process, item);
    in_flight_forget(process->in_flight, item);
}

static void forget_wanted(const struct sim_process *process)
{
    struct queue_item *next;
    for (struct queue_item *item = process->in_flight->queue.first; item; item = next) {
        next = item->after;
        if (item->wanted)
            forget_done(process, item);
    }
}

/* Does the waiting thread do the work, in order of issue? */
static bool is_in_order(const struct in_flight *in_flight)
{
    return in_flight->schedule == SIM_LATE || in_flight->schedule == SIM_EAGER;
}

/* Does the marked items in order, up to the first that is not plain, without marking again after each one. False when it did
 * nothing. */
static bool go_on_in_order(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    struct queue_item *item = queue_next_wanted(&in_flight->queue, NULL);
    bool some = false;
    for (; item && in_flight_is_plain(item) && !in_flight->blocked; item = queue_next_wanted(&in_flight->queue, item)) {
        in_flight_do(process, item);
        some = true;
    }
    return some;
}

/* The wait can never end. Nothing is forgotten: once the program has written the value, the same call succeeds. */
static vmm_result refuse_never(const struct sim_process *process)
{
    const struct queue_item *item = process->in_flight->queue.undone; /* nothing comes before it, so it is a waiting item */
    const struct work *work = (const struct work *)item;
    const uint64_t address = mem_op_waits_at(work);
    vmm_object nearest = sim_object_nearest(process, address);
    vmm_result result = vmm_detail_refuse(VMM_RULE_MEMOP_NEVER, address, 0, &nearest);
    vmm_detail_note("%s, issued by call %" PRIu64 " on device %d, waits at 0x%" PRIx64 "; no remaining work could write there",
                    vmm_reported_name(work->issued_by), work->call.head.number, queue_place_of(item)->device, address);
    vmm_detail_issued(work_site(work));
    return result;
}

static vmm_result waited(struct in_flight *in_flight)
{
    in_flight->orders++;
    if (!in_flight->out_of_memory)
        return VMM_SUCCESS;
    in_flight->out_of_memory = false;
    return sim_out_of_host_memory();
}

static vmm_result wait_for(struct sim_process *process, const struct queue_aim *aim)
{
    struct in_flight *in_flight = process->in_flight;
    while (in_flight_want(process, aim))
        if ((!is_in_order(in_flight) || in_flight->blocked || !go_on_in_order(process)) && !go_on(process))
            return refuse_never(process);
    forget_wanted(process);
    return waited(in_flight);
}

vmm_result in_flight_wait_oldest(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    struct queue_item *oldest = in_flight->queue.first;
    if (in_flight->blocked) /* it may be the waiting one, and the program may issue the write later */
        return VMM_SUCCESS;
    bool here = oldest->state == QUEUE_DONE || (in_flight->schedule != SIM_RANDOM && in_flight_is_plain(oldest));
    if (!here) {
        const struct queue_aim aim = {QUEUE_ITEM, *queue_place_of(oldest), oldest->number};
        return wait_for(process, &aim);
    }
    if (oldest->state != QUEUE_DONE)
        in_flight_do(process, oldest);
    if (!oldest->blocked)
        forget_done(process, oldest);
    return waited(in_flight);
}

vmm_result in_flight_wait_unpromised(struct sim_process *process, const struct queue_place *place, enum queue_scope scope)
{
    assert_locked(process->machine);
    struct queue_aim aim = in_flight_aim(process, place, scope);
    return wait_for(process, &aim);
}

/* The host knows that work now. */
static void know(struct sim_process *process, const struct queue_place *place, enum queue_scope scope)
{
    if (process->in_flight->order)
        lanes_host_waits(&process->in_flight->order->lanes, place, scope);
}

vmm_result in_flight_wait(struct sim_process *process, const struct queue_place *place, enum queue_scope scope)
{
    vmm_result result = in_flight_wait_unpromised(process, place, scope);
    if (result == VMM_SUCCESS)
        know(process, place, scope);
    return result;
}

bool in_flight_reached(struct sim_process *process, uint64_t mark)
{
    assert_locked(process->machine);
    const struct queue_aim aim = {.scope = QUEUE_ITEM, .until = mark};
    return !in_flight_want(process, &aim);
}

uint64_t in_flight_time(const struct sim_process *process, const struct sim_event *event)
{
    const struct queue_item *item = event->when ? NULL : process->in_flight->queue.last;
    while (item && item->number > event->mark)
        item = item->before;
    return item && item->number == event->mark ? item->when : event->when;
}

vmm_result in_flight_wait_mark(struct sim_process *process, uint64_t mark)
{
    assert_locked(process->machine);
    const struct queue_aim aim = {.scope = QUEUE_ITEM, .until = mark};
    return wait_for(process, &aim);
}

static bool poll_for(struct sim_process *process, const struct queue_aim *aim)
{
    struct in_flight *in_flight = process->in_flight;
    if (in_flight_want(process, aim)) {
        bool leaves = in_flight_is_inside(in_flight) || in_flight->schedule == SIM_DEVICE;
        struct queue_item *item = leaves ? NULL : in_flight_choose(in_flight);
        if (!item && !leaves && in_flight->blocked)
            item = in_flight_any_ready(in_flight);
        if (item)
            in_flight_do(process, item);
        else if (in_flight->schedule == SIM_DEVICE)
            async_workers_pause(process, A_MOMENT);
        return false;
    }
    in_flight->orders++;
    forget_wanted(process);
    return true;
}

bool in_flight_poll(struct sim_process *process, const struct queue_place *place, enum queue_scope scope)
{
    assert_locked(process->machine);
    struct queue_aim aim = in_flight_aim(process, place, scope);
    bool done_all = poll_for(process, &aim);
    if (done_all)
        know(process, place, scope);
    return done_all;
}

bool in_flight_poll_mark(struct sim_process *process, uint64_t mark)
{
    assert_locked(process->machine);
    const struct queue_aim aim = {.scope = QUEUE_ITEM, .until = mark};
    return poll_for(process, &aim);
}

void in_flight_look_from(struct sim_process *process, const struct queue_place *place)
{
    assert_locked(process->machine);
    const struct queue_aim aim = in_flight_aim(process, place, QUEUE_ORDERED);
    queue_want(&process->in_flight->queue, &aim);
}
