/* SPDX-License-Identifier: Apache-2.0 */
#include "in_flight.h"

#include <inttypes.h>

#include "chance.h"
#include "kernels.h"
#include "mem_op.h"
#include "heap.h"
#include "objects.h"
#include "os.h"
#include "os_share.h"
#include "order_feed.h"
#include "process.h"
#include "rights.h"
#include "refusal.h"
#include "work.h"

/* A thread that polls in a loop releases the lock for this many nanoseconds, so that the async workers get it. */
enum { A_MOMENT = 50000 };

void in_flight_open(struct in_flight *in_flight, const struct sim_options *options)
{
    *in_flight = (struct in_flight){.schedule = options->schedule, .random = options->seed, .queue.clock = os_nanoseconds};
    pthread_cond_init(&in_flight->changed, NULL);
    order_feed_open(in_flight, options);
}

/* Hands the time at which a mark was done to its event, if that still stands for it. */
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

static void forget(struct in_flight *in_flight, struct queue_item *item)
{
    in_flight->blocked -= item->blocked;
    struct work *work = (struct work *)item;
    if (work->freed) {
        work->freed->item = NULL;
        free_mark_settle(work->freed);
    }
    queue_remove(&in_flight->queue, item);
    if (in_flight->order)
        order_feed_done(in_flight, work);
    work_free(work);
}

void in_flight_forget_waits(struct sim_process *process)
{
    if (process->opened != life_stamp())
        pthread_cond_init(&process->in_flight->changed, NULL);
}

void in_flight_close(struct in_flight *in_flight)
{
    while (in_flight->queue.first)
        forget(in_flight, in_flight->queue.first);
    stream_clocks_clear(&in_flight->clocks);
    order_feed_close(in_flight);
    pthread_cond_destroy(&in_flight->changed);
}

const struct in_flight_inside *in_flight_is_inside(const struct in_flight *in_flight)
{
    const struct in_flight_inside *inside = in_flight->inside;
    while (inside && !pthread_equal(inside->thread, pthread_self()))
        inside = inside->next;
    return inside;
}

struct queue_place in_flight_place(const struct sim_process *process, const struct sim_context *context, vmm_stream stream)
{
    uint64_t value = (uint64_t)(uintptr_t)stream;
    struct queue_place place = {
        .context = context->value, .stream = value, .device = context->device, .kind = QUEUE_BLOCKING};
    void *object;
    if (!stream || stream == VMM_STREAM_LEGACY) {
        place.stream = 0;
        place.kind = QUEUE_DEFAULT;
    } else if (stream == VMM_STREAM_PER_THREAD) {
        place.thread = (uint64_t)(uintptr_t)pthread_self();
    } else if (slots_find(&process->streams, value, &object) == SLOT_LIVE &&
               ((struct sim_stream *)object)->non_blocking) {
        place.kind = QUEUE_NON_BLOCKING;
    }
    return place;
}

static uint64_t draw(struct in_flight *in_flight)
{
    return chance_next(&in_flight->random);
}

static bool is_host_function(const struct queue_item *item)
{
    return ((const struct work *)item)->call.head.id == VMM_CALL_launch_host_func;
}

static bool is_other(const struct queue_item *item)
{
    return !is_host_function(item);
}

/* The first ready item that the last queue_want marked and that is not a host function, or NULL. */
static struct queue_item *first_wanted_other(const struct in_flight *in_flight)
{
    struct queue_item *item = in_flight->queue.undone;
    while (item && !(item->ready && item->wanted && is_other(item)))
        item = item->after;
    return item;
}

/* The next item to do, of those that were marked last; NULL when none is ready. Leaves host functions to their worker if there
 * is one. */
static struct queue_item *choose(struct in_flight *in_flight)
{
    if (in_flight->workers.there[ASYNC_WORKERS_HOST])
        return first_wanted_other(in_flight);
    if (in_flight->schedule != SIM_RANDOM)
        return queue_first_wanted(&in_flight->queue);
    size_t ready = queue_ready(&in_flight->queue);
    return ready ? queue_ready_at(&in_flight->queue, (size_t)(draw(in_flight) % ready)) : NULL;
}

/* A host function that is being called. */
struct host_call {
    struct sim_process *process;
    struct queue_item *item;
    struct in_flight_inside here;
};

/* ---- waits for values in memory ---- */

static void set_blocked(struct in_flight *in_flight, struct queue_item *item, bool blocked)
{
    in_flight->blocked += (size_t)blocked - (size_t)item->blocked;
    item->blocked = blocked;
}

/* Unblocks the work whose memory holds by now what it waits for. Nothing announces that memory has changed, so call this before
 * looking for ready work. */
static void look_at_memory(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    struct queue_item *item = in_flight->blocked ? in_flight->queue.undone : NULL;
    for (; item; item = item->after)
        if (item->blocked && mem_op_may_go_on(process, (struct work *)item)) {
            set_blocked(in_flight, item, false);
            pthread_cond_broadcast(&in_flight->changed); /* a worker need not find it out by itself */
        }
}

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

/* Flags items as queue_want does, by what memory holds now. */
static size_t want(struct sim_process *process, const struct queue_aim *aim)
{
    look_at_memory(process);
    return queue_want(&process->in_flight->queue, aim);
}

/* ---- doing work ---- */

/* Marks the item as done and wakes the waiting threads. The item may be freed from here on: do not use it again. */
static void done(struct sim_process *process, struct queue_item *item)
{
    if (process->in_flight->order)
        order_feed_done(process->in_flight, (struct work *)item);
    queue_done(&process->in_flight->queue, item);
    pthread_cond_broadcast(&process->in_flight->changed);
}

/* Removes a host function from the running ones. With the machine's lock, after the function. */
static void end_host_call(struct host_call *call)
{
    struct in_flight_inside **link = &call->process->in_flight->inside;
    while (*link != &call->here)
        link = &(*link)->next;
    *link = call->here.next;
}

/* Cleans up after a host function that never returns, because it ended its thread or the thread was cancelled in it. */
static void host_call_lost(void *user)
{
    struct host_call *call = user;
    sim_machine_lock(call->process->machine);
    end_host_call(call);
    done(call->process, call->item);
    async_workers_lost(call->process);
    sim_machine_unlock(call->process->machine);
}

/* Calls a host function without the machine's lock. The function may make calls, which overwrite the thread's detail, so the
 * detail is restored afterwards. */
static void call_host(struct sim_process *process, struct queue_item *item)
{
    const struct vmm_call_launch_host_func *function = &((const struct work *)item)->call.launch_host_func;
    struct host_call call = {process, item, {pthread_self(), queue_place_of(item), process->in_flight->inside}};
    const vmm_detail before = *vmm_last_detail();
    process->in_flight->inside = &call.here;
    process->in_flight->orders++; /* what the function issues comes after its stream */
    sim_machine_unlock(process->machine);
    pthread_cleanup_push(host_call_lost, &call);
    function->fn(function->user_data);
    pthread_cleanup_pop(0);
    sim_machine_lock(process->machine);
    end_host_call(&call);
    *vmm_detail_here() = before;
}

static void do_item(struct sim_process *process, struct queue_item *item)
{
    struct work *work = (struct work *)item;
    bool lost = process->fault[queue_place_of(item)->device].lost;
    item->state = QUEUE_RUNNING;
    bool waits = false;
    if (work->call.head.id == VMM_CALL_launch_host_func && !lost) {
        queue_seen(&process->in_flight->queue, item);
        if (process->in_flight->order)
            order_feed_seen(process, work, true);
        call_host(process, item);
    } else if (!lost && !work_do(process, work, &waits)) {
        process->in_flight->out_of_memory = true;
    }
    if (waits) {
        item->state = QUEUE_WAITING;
        set_blocked(process->in_flight, item, true);
    } else {
        done(process, item);
    }
}

void in_flight_host_visible(struct sim_process *process, struct work *work)
{
    queue_seen(&process->in_flight->queue, &work->item);
    if (process->in_flight->order)
        order_feed_seen(process, work, false);
}

/* The first ready item, wanted or not, that this thread may do, or NULL. */
static struct queue_item *any_ready(const struct in_flight *in_flight)
{
    struct queue_item *item = in_flight->queue.undone;
    while (item && !(item->ready && (is_other(item) || !in_flight->workers.there[ASYNC_WORKERS_HOST])))
        item = item->after;
    return item;
}

static bool is_running(const struct in_flight *in_flight)
{
    const struct queue_item *item = in_flight->queue.undone;
    while (item && item->state != QUEUE_RUNNING)
        item = item->after;
    return item != NULL;
}

/* Waits until something may have changed: an item was done, or memory for which work waits. Under schedule=device the worker
 * looks at the memory. False when nothing ever can: no work is ready or running, and only the calling thread could write. */
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

/* Does the next item. While the wanted ones wait for a value in memory, does any that is ready, because a device would, and that
 * may be what writes the value. Without any, waits for a change; false when there can be none. */
static bool go_on(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    struct queue_item *item = choose(in_flight);
    if (!item && in_flight->blocked)
        item = any_ready(in_flight);
    if (item)
        do_item(process, item);
    return item || wait_for_change(process);
}

bool in_flight_do_next(struct sim_process *process, bool host_function)
{
    assert_locked(process->machine);
    look_at_memory(process);
    struct queue_item *item = queue_first_ready(&process->in_flight->queue, host_function ? is_host_function : is_other);
    if (item)
        do_item(process, item);
    return item != NULL;
}

bool in_flight_pause(struct sim_process *process, int device, uint64_t nanoseconds)
{
    if (process->in_flight->schedule != SIM_DEVICE)
        return true;
    return async_workers_pause(process, nanoseconds) && !process->fault[device].lost;
}

static struct queue_aim aim_at(const struct sim_process *process, const struct queue_place *place,
                               enum queue_scope scope)
{
    return (struct queue_aim){scope, *place, process->in_flight->queue.issued};
}

/* Forgets an item that is done. */
static void forget_done(const struct sim_process *process, struct queue_item *item)
{
    if (item->timed)
        keep_time(process, item);
    forget(process->in_flight, item);
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

/* Can this thread do the item now without releasing the lock? Not a host function, which releases it, nor an item that another
 * thread is doing. */
static bool is_plain(const struct queue_item *item)
{
    return item->state == QUEUE_WAITING && !item->blocked && !item->mark && !is_host_function(item);
}

/* Does the marked items in order, up to the first that is not plain, without marking again after each one. False when it did
 * nothing. */
static bool go_on_in_order(struct sim_process *process)
{
    struct queue_item *item = queue_next_wanted(&process->in_flight->queue, NULL);
    bool some = false;
    for (; item && is_plain(item) && !process->in_flight->blocked; item = queue_next_wanted(&process->in_flight->queue, item)) {
        do_item(process, item);
        some = true;
    }
    return some;
}

/* The wait can never end. Nothing is forgotten: once the program has written the value, the same call succeeds. */
static vmm_result refuse_never(const struct sim_process *process)
{
    const struct queue_item *item = process->in_flight->queue.undone; /* nothing comes before it, so it is one that waits */
    const struct work *work = (const struct work *)item;
    const uint64_t address = mem_op_waits_at(work);
    vmm_object nearest = sim_object_nearest(process, address);
    vmm_result result = vmm_detail_refuse(VMM_RULE_MEMOP_NEVER, address, 0, &nearest);
    vmm_detail_note("%s, issued by call %" PRIu64 " on device %d, waits at 0x%" PRIx64 "; no work that could write there is left",
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
    while (want(process, aim))
        if ((!is_in_order(in_flight) || in_flight->blocked || !go_on_in_order(process)) && !go_on(process))
            return refuse_never(process);
    forget_wanted(process);
    return waited(in_flight);
}

/* Waits for the oldest item. Nothing comes before it, so a plain one is done at once, without marking the queue. */
static vmm_result wait_for_oldest(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    struct queue_item *oldest = in_flight->queue.first;
    if (in_flight->blocked) /* it may be the one that waits, and a program issues its write later */
        return VMM_SUCCESS;
    bool here = oldest->state == QUEUE_DONE || (in_flight->schedule != SIM_RANDOM && is_plain(oldest));
    if (!here) {
        const struct queue_aim aim = {QUEUE_ITEM, *queue_place_of(oldest), oldest->number};
        return wait_for(process, &aim);
    }
    if (oldest->state != QUEUE_DONE)
        do_item(process, oldest);
    if (!oldest->blocked)
        forget_done(process, oldest);
    return waited(in_flight);
}

vmm_result in_flight_wait_unpromised(struct sim_process *process, const struct queue_place *place, enum queue_scope scope)
{
    assert_locked(process->machine);
    struct queue_aim aim = aim_at(process, place, scope);
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
    return !want(process, &aim);
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
    if (want(process, aim)) {
        bool leaves = in_flight_is_inside(in_flight) || in_flight->schedule == SIM_DEVICE;
        struct queue_item *item = leaves ? NULL : choose(in_flight);
        if (!item && !leaves && in_flight->blocked)
            item = any_ready(in_flight);
        if (item)
            do_item(process, item);
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
    struct queue_aim aim = aim_at(process, place, scope);
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

/* The first item that is ready, marked or not. Fast path: usually the item just issued is the only one left, and it is plain.
 * */
static struct queue_item *first_of_all(struct queue *queue)
{
    if (queue->left == 1 && is_plain(queue->last))
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
    look_at_memory(process);
    if (in_flight->schedule == SIM_EAGER)
        return first_of_all(&in_flight->queue);
    if (in_flight->schedule != SIM_RANDOM || draw(in_flight) % 2 == 0)
        return NULL;
    queue_look(&in_flight->queue);
    return choose(in_flight);
}

/* Does the work that the schedule does at an issue, without waiting for another thread. */
static void at_issue(struct sim_process *process)
{
    for (struct queue_item *item; (item = at_once(process)) != NULL;)
        do_item(process, item);
}

/* Makes sure that some thread of the process does the queued work. */
static void wake_workers(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    if (in_flight->schedule != SIM_DEVICE)
        return;
    async_workers_start(process, is_host_function(in_flight->queue.last) ? ASYNC_WORKERS_HOST : ASYNC_WORKERS_WORK);
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
    return in_flight->queue.count <= IN_FLIGHT_MAX ? VMM_SUCCESS : wait_for_oldest(process);
}

vmm_result in_flight_issue(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                           enum vmm_call_id issued_by)
{
    assert_locked(process->machine);
    struct work *work = work_new(call, vmm_reported_call((uint16_t)issued_by));
    process->in_flight->orders += place->kind == QUEUE_DEFAULT; /* streams before and after it are ordered by it */
    if (work && queue_add(&process->in_flight->queue, &work->item, place)) {
        if (process->in_flight->order)
            order_feed_issue(process, place, work, (const union vmm_any_call *)(const void *)call);
        return issued(process);
    }
    if (work)
        work_free(work);
    return sim_out_of_host_memory();
}

vmm_result in_flight_mark(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                          uint64_t after, struct sim_event *event)
{
    assert_locked(process->machine);
    struct work *work = work_new(call, vmm_reported_call(call->id));
    process->in_flight->orders += after != 0;
    if (work && queue_add_mark(&process->in_flight->queue, &work->item, place, after)) {
        if (event) { /* before any work is done, which may release the lock */
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

/* ---- frees in the order of a stream ---- */

/* The newest item, if it stands for frees at the place: nothing has been issued since, so it stands for the next one as well. */
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
    forget(process->in_flight, process->in_flight->queue.last);
}

vmm_result in_flight_free_end(struct sim_process *process)
{
    return issued(process);
}

/* Completes the marks that nothing blocks, and flags what an item issued at the place now would wait for. */
void in_flight_look_from(struct sim_process *process, const struct queue_place *place)
{
    assert_locked(process->machine);
    const struct queue_aim aim = aim_at(process, place, QUEUE_ORDERED);
    queue_want(&process->in_flight->queue, &aim);
}

/* ---- memory and rights removed from in-flight work ---- */

void in_flight_lost_memory(struct sim_process *process)
{
    assert_locked(process->machine);
    struct in_flight *in_flight = process->in_flight;
    struct queue_item *item = in_flight->blocked ? in_flight->queue.undone : NULL;
    for (; item; item = item->after)
        if (item->blocked && !mem_op_has_memory(process, (struct work *)item)) {
            set_blocked(in_flight, item, false);
            do_item(process, item);
        }
}

void in_flight_rights_changed(struct sim_process *process, const struct sim_mapping *mapping, uint64_t before)
{
    assert_locked(process->machine);
    struct in_flight *in_flight = process->in_flight;
    struct queue_item *item = in_flight->blocked && before != mapping->access ? in_flight->queue.undone : NULL;
    for (; item; item = item->after) {
        struct work *work = (struct work *)item;
        unsigned device = (unsigned)queue_place_of(item)->device;
        if (!item->blocked || mem_op_waits_at(work) - mapping->start >= mapping->size ||
            sim_access_of(before, device) == sim_access_of(mapping->access, device))
            continue;
        mem_op_fault(process, work);
        set_blocked(in_flight, item, false);
        done(process, item);
    }
}

static const char *name_of(const struct work *work)
{
    return work->call.head.id == VMM_CALL_launch ? vmm_kernel_name(work->call.launch.kernel)
                                                 : vmm_reported_name(work->issued_by);
}

/* Only the first warning about a call is reported. */
static void warn(enum vmm_rule_id rule, const struct work *work, const struct access_set_range *range,
                 const struct sim_mapping *mapping, uint64_t value)
{
    bool reported = vmm_last_detail()->severity != VMM_SEVERITY_NONE;
    vmm_object nearest = sim_object_mapping(mapping);
    uint64_t from = range->first > mapping->start ? range->first : mapping->start;
    vmm_detail_warn(rule, value, 0, &nearest);
    if (reported)
        return;
    vmm_detail_issued(work_site(work));
    vmm_detail_note("%s, %s by call %" PRIu64 " on device %d, %s the granule at 0x%" PRIx64 "; no call has waited for it",
                    name_of(work), work->call.head.id == VMM_CALL_launch ? "launched" : "issued",
                    work->call.head.number, queue_place_of(&work->item)->device,
                    range->need == VMM_MEM_ACCESS_FLAGS_PROT_READ ? "reads" : "writes", from);
}

/* A range of addresses in a mapping. */
struct part {
    const struct sim_mapping *mapping;
    uint64_t start, size;
};

/* Warns about the first in-flight work on the device (-1: any) that needs one of the rights on the part. False when there is none.
 * */
static bool warn_of(struct sim_process *process, enum vmm_rule_id rule, const struct part *part, int device,
                    unsigned rights, uint64_t value)
{
    for (struct queue_item *item = process->in_flight->queue.first; item; item = item->after) {
        struct work *work = (struct work *)item;
        int of = queue_place_of(item)->device;
        if (process->fault[of].lost || (device >= 0 && of != device) || queue_known(&process->in_flight->queue, item))
            continue;
        const struct access_set_range *range = access_set_in(work_accesses(work, process), part->start, part->size, rights);
        if (range) {
            warn(rule, work, range, part->mapping, value);
            return true;
        }
    }
    return false;
}

struct in_flight_used in_flight_used(struct sim_process *process, uint64_t start, uint64_t end)
{
    assert_locked(process->machine);
    struct in_flight_used used = {UINT64_MAX, 0};
    for (struct queue_item *item = process->in_flight->queue.first; item; item = item->after) {
        const struct access_set *accesses = work_accesses((struct work *)item, process);
        if (!accesses->complete)
            return (struct in_flight_used){start, end};
        for (size_t i = 0; i < accesses->count; i++) {
            const struct access_set_range *range = &accesses->range[i];
            if (range->last < start || range->first >= end)
                continue;
            used.first = range->first < used.first ? range->first : used.first;
            used.last = range->last > used.last ? range->last : used.last;
        }
    }
    return used;
}

void in_flight_unmapping(struct sim_process *process, uint64_t start, uint64_t end)
{
    assert_locked(process->machine);
    const struct in_flight_used used = in_flight_used(process, start, end);
    uint64_t from = used.first > start ? used.first : start;
    bool warned = false;
    for (const struct sim_mapping *m = from < end ? sim_mapping_in(process, from, end - from) : NULL;
         m && !warned && in_flight_uses(&used, m->start, m->size); m = sim_mapping_after(process, m->start + m->size, end)) {
        const struct part all = {m, m->start, m->size};
        warned = warn_of(process, VMM_RULE_UNMAP_IN_FLIGHT, &all, -1, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, start);
    }
}

/* The part of a mapping that shows [offset, offset + size) of its memory or multicast object; empty when there is none. */
static struct part part_of(const struct sim_mapping *mapping, uint64_t offset, uint64_t size)
{
    uint64_t first = mapping->offset > offset ? mapping->offset : offset;
    uint64_t mapped = mapping->offset + mapping->size, end = offset + size < mapped ? offset + size : mapped;
    return (struct part){mapping, mapping->start + (first - mapping->offset), end > first ? end - first : 0};
}

void in_flight_unbinding(struct sim_process *process, const struct sim_handle *object, uint64_t offset, uint64_t size)
{
    assert_locked(process->machine);
    bool warned = false;
    for (const struct sim_mapping *m = addrmap_ceil(&process->mappings, 0); m && !warned;
         m = addrmap_ceil(&process->mappings, m->start + 1)) {
        const struct part part = part_of(m, offset, size);
        warned = m->handle == object && part.size &&
                 warn_of(process, VMM_RULE_UNBIND_IN_FLIGHT, &part, -1, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, offset);
    }
}

void in_flight_granting(struct sim_process *process, const struct sim_mapping *mapping, const vmm_mem_access_desc *desc)
{
    assert_locked(process->machine);
    if (desc->location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return;
    unsigned lost = sim_access_of(mapping->access, (unsigned)desc->location.id) & ~(unsigned)desc->flags;
    const struct part all = {mapping, mapping->start, mapping->size};
    if (lost)
        warn_of(process, VMM_RULE_ACCESS_IN_FLIGHT, &all, desc->location.id, lost, (uint64_t)desc->flags);
}
