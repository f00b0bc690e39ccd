/* SPDX-License-Identifier: Apache-2.0 */
#include "in_flight_parts.h"

#include "chance.h"
#include "dry_run.h"
#include "mem_op.h"
#include "order_feed.h"
#include "os.h"

void in_flight_open(struct in_flight *in_flight, const struct sim_options *options)
{
    *in_flight = (struct in_flight){.schedule = options->schedule, .random = options->seed, .queue.clock = os_nanoseconds,
                                     .dry_steps = DRY_FIRST};
    pthread_cond_init(&in_flight->changed, NULL);
    order_feed_open(in_flight, options);
}

void in_flight_forget(struct in_flight *in_flight, struct queue_item *item)
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
        in_flight_forget(in_flight, in_flight->queue.first);
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

uint64_t in_flight_draw(struct in_flight *in_flight)
{
    return chance_next(&in_flight->random);
}

static bool is_other(const struct queue_item *item)
{
    return !in_flight_is_host_function(item);
}

/* The first ready item that the last queue_want marked and that is not a host function, or NULL. */
static struct queue_item *first_wanted_other(const struct in_flight *in_flight)
{
    struct queue_item *item = in_flight->queue.undone;
    while (item && !(item->ready && item->wanted && is_other(item)))
        item = item->after;
    return item;
}

struct queue_item *in_flight_choose(struct in_flight *in_flight)
{
    if (in_flight->workers.there[ASYNC_WORKERS_HOST])
        return first_wanted_other(in_flight);
    if (in_flight->schedule != SIM_RANDOM)
        return queue_first_wanted(&in_flight->queue);
    size_t ready = queue_ready(&in_flight->queue);
    return ready ? queue_ready_at(&in_flight->queue, (size_t)(in_flight_draw(in_flight) % ready)) : NULL;
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

void in_flight_look_at_memory(struct sim_process *process)
{
    struct in_flight *in_flight = process->in_flight;
    struct queue_item *item = in_flight->blocked ? in_flight->queue.undone : NULL;
    for (; item; item = item->after)
        if (item->blocked && mem_op_may_go_on(process, (struct work *)item)) {
            set_blocked(in_flight, item, false);
            pthread_cond_broadcast(&in_flight->changed); /* so that a worker need not find out by polling */
        }
}

size_t in_flight_want(struct sim_process *process, const struct queue_aim *aim)
{
    in_flight_look_at_memory(process);
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
    process->in_flight->orders++; /* work that the function issues comes after its stream */
    sim_machine_unlock(process->machine);
    pthread_cleanup_push(host_call_lost, &call);
    function->fn(function->user_data);
    pthread_cleanup_pop(0);
    sim_machine_lock(process->machine);
    end_host_call(&call);
    *vmm_detail_here() = before;
}

void in_flight_do(struct sim_process *process, struct queue_item *item)
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

struct queue_item *in_flight_any_ready(const struct in_flight *in_flight)
{
    struct queue_item *item = in_flight->queue.undone;
    while (item && !(item->ready && (is_other(item) || !in_flight->workers.there[ASYNC_WORKERS_HOST])))
        item = item->after;
    return item;
}

bool in_flight_do_next(struct sim_process *process, bool host_function)
{
    assert_locked(process->machine);
    in_flight_look_at_memory(process);
    struct queue_item *item = queue_first_ready(&process->in_flight->queue, host_function ? in_flight_is_host_function : is_other);
    if (item)
        in_flight_do(process, item);
    return item != NULL;
}

bool in_flight_pause(struct sim_process *process, int device, uint64_t nanoseconds)
{
    if (process->in_flight->schedule != SIM_DEVICE)
        return true;
    return async_workers_pause(process, nanoseconds) && !process->fault[device].lost;
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
            in_flight_do(process, item);
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
