/* SPDX-License-Identifier: Apache-2.0 */
/* Events: each stands for a mark in the queue of work (queue.h), made by its latest record.
 *
 *     call                  event       queue
 *     record E on A         E -> 2      A: 1  2 mark
 *     B waits for E         E -> 2      A: 1  2 mark           B: 3 mark, needs 2
 *     record E on A again   E -> 5      A: 1  2 mark  4  5 mark    the wait keeps to 2
 *     destroy E                         the same: marks end when they are waited for
 */
#include <stdlib.h>

#include "call_graph.h"
#include "in_flight.h"
#include "heap.h"
#include "ipc_event.h"
#include "launch.h"
#include "order.h"
#include "pools.h"
#include "sim.h"

#define EVENT_FLAGS ((unsigned)(VMM_EVENT_BLOCKING_SYNC | VMM_EVENT_DISABLE_TIMING | VMM_EVENT_INTERPROCESS))

/* Used after a wait, during which another thread may have destroyed it. */
static bool find_event_again(const struct sim_process *process, vmm_event value, struct sim_event **event)
{
    void *object;
    bool live = slots_find(&process->events, (uint64_t)(uintptr_t)value, &object) == SLOT_LIVE;
    *event = object;
    return live;
}

/* Finds a live event. The refusal of an event that ended with its context differs from that of an unknown value, as long as the
 * context is not alive again. */
static vmm_result find_event(const struct sim_process *process, vmm_event value, struct sim_event **event)
{
    void *object, *context = NULL;
    uint64_t number = (uint64_t)(uintptr_t)value;
    if (!number)
        return vmm_detail_refuse(VMM_RULE_EVENT_NONE, 0, 0, NULL);
    enum slot_state state = slots_find(&process->events, number, &object);
    *event = object;
    if (state == SLOT_LIVE)
        return VMM_SUCCESS;
    vmm_object nearest = object ? sim_object_event(object) : (vmm_object){0};
    if (object && (*event)->ended.call != VMM_CALL_event_destroy)
        slots_find(&process->contexts, (*event)->context, &context);
    bool with_context = context && !sim_context_alive(process, context);
    return vmm_detail_refuse(with_context ? VMM_RULE_EVENT_ENDED : VMM_RULE_EVENT_UNKNOWN, number, 0, &nearest);
}

/* Checks an event for a call that does not report a fault: SUCCESS until another call has reported that the device of the
 * event's context is lost. The context is alive, because the event is. */
static vmm_result check_reported(struct sim_process *process, const struct sim_event *event)
{
    void *context;
    slots_find(&process->contexts, event->context, &context);
    return sim_context_lost_reported(process, context);
}

/* Checks an event for a call that waits: reports the fault unless the event was reached before it. */
static vmm_result check_reached(struct sim_process *process, const struct sim_event *event, bool reached)
{
    void *context;
    slots_find(&process->contexts, event->context, &context);
    if (!context)           /* LCOV_EXCL_BR_LINE: the context ended, and hundreds after it, during the wait */
        return VMM_SUCCESS; /* LCOV_EXCL_LINE: the same */
    const struct sim_fault *fault = &process->fault[((struct sim_context *)context)->device];
    bool before = !event->mark || (reached && event->recorded < fault->what.launch);
    return before ? sim_context_lost_reported(process, context) : sim_context_check(process, context, true);
}

static vmm_result check_flags(unsigned flags)
{
    if (flags & ~EVENT_FLAGS)
        return vmm_detail_refuse(VMM_RULE_EVENT_FLAGS, flags, EVENT_FLAGS, NULL);
    if ((flags & VMM_EVENT_INTERPROCESS) && !(flags & VMM_EVENT_DISABLE_TIMING))
        return vmm_detail_refuse(VMM_RULE_EVENT_INTERPROCESS, flags, flags | VMM_EVENT_DISABLE_TIMING, NULL);
    return VMM_SUCCESS;
}

vmm_result sim_event_create(struct sim_process *process, const struct vmm_call_event_create *call)
{
    const struct sim_context *context = sim_current(process);
    vmm_result result = context ? sim_context_lost_reported(process, context) : sim_no_context(process);
    if (result != VMM_SUCCESS)
        return result;
    if (!call->event)
        return vmm_detail_refuse(VMM_RULE_EVENT_NULL, 0, 0, NULL);
    result = check_flags(call->flags);
    if (result != VMM_SUCCESS)
        return result;
    struct sim_event *event = heap.calloc(1, sizeof *event);
    if (event && !(event->value = slots_add(&process->events, event))) {
        heap.free(event);
        event = NULL;
    }
    if (!event)
        return sim_out_of_host_memory();
    event->context = context->value;
    event->flags = call->flags;
    event->number = sim_process_number(process, VMM_OBJECT_EVENT);
    event->made = sim_origin(&call->head);
    *call->event = (vmm_event)(uintptr_t)event->value;
    return VMM_SUCCESS;
}

vmm_result sim_event_destroy(struct sim_process *process, const struct vmm_call_event_destroy *call)
{
    struct sim_event *event;
    vmm_result result = find_event(process, call->event, &event);
    if (result == VMM_SUCCESS)
        result = check_reported(process, event);
    if (result != VMM_SUCCESS)
        return result;
    const unsigned shared = event->shared;
    event->ended = sim_origin(&call->head);
    slots_end(&process->events, event->value);
    if (process->in_flight->order)
        order_end_event(process->in_flight->order, event->value);
    if (shared)
        ipc_event_drop(process, shared - 1);
    return VMM_SUCCESS;
}

static vmm_result event_record(struct sim_process *process, const struct vmm_call_event_record *call, bool for_pools)
{
    struct sim_event *event;
    struct sim_context *context;
    vmm_result result = sim_stream_context(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = find_event(process, call->event, &event);
    if (result == VMM_SUCCESS && context->value != event->context) {
        vmm_object nearest = sim_object_event(event);
        result = vmm_detail_refuse(VMM_RULE_EVENT_CONTEXT, event->value, 0, &nearest);
    }
    if (result == VMM_SUCCESS)
        result = sim_context_lost_reported(process, context);
    if (result != VMM_SUCCESS)
        return result;
    struct queue_place place = in_flight_place(process, context, call->stream);
    const bool to_share = event->flags & VMM_EVENT_INTERPROCESS;
    if (to_share) {
        result = ipc_event_before_record(process, &call->head, &place, event);
        if (result == VMM_SUCCESS && !find_event_again(process, call->event, &event)) /* LCOV_EXCL_BR_LINE: another thread ends it */
            return VMM_SUCCESS; /* LCOV_EXCL_LINE: the same */
    }
    if (result != VMM_SUCCESS)
        return result;
    if (for_pools)
        stream_clock_record(&process->in_flight->clocks, &place, &event->seen);
    else
        event->seen.count = 0;
    if (process->in_flight->order)
        order_record(process->in_flight->order, &place, event->value);
    result = in_flight_mark(process, &place, &call->head, 0, event);
    return result == VMM_SUCCESS && to_share ? ipc_event_recorded(process, call->event) : result;
}

vmm_result sim_event_record(struct sim_process *process, const struct vmm_call_event_record *call)
{
    return event_record(process, call, true);
}

vmm_result event_record_beside(struct sim_process *process, const struct vmm_call_event_record *call)
{
    return event_record(process, call, false);
}

/* Is this the first query of an event that a fault prevented? As measured, the driver still returns NOT_READY for it. Under the
 * other schedules the query itself runs into the fault. */
static bool not_reported_yet(struct sim_process *process, const struct sim_event *event)
{
    void *context;
    slots_find(&process->contexts, event->context, &context);
    if (process->options.schedule != SIM_DEVICE)
        return false;
    struct sim_fault *fault = &process->fault[((struct sim_context *)context)->device];
    if (!fault->lost || fault->reported || fault->queried || event->recorded < fault->what.launch)
        return false;
    fault->queried = true;
    return true;
}

/* The host now knows that the event's work is done; other processes may have ordered a shared event after any work. */
static void know(struct sim_process *process, uint64_t event, unsigned shared)
{
    struct order *order = process->in_flight->order;
    if (order && shared)
        lanes_host_knows_all(&order->lanes);
    else if (order)
        order_host_waits(order, event);
}

vmm_result sim_event_query(struct sim_process *process, const struct vmm_call_event_query *call)
{
    struct sim_event *event;
    vmm_result result = find_event(process, call->event, &event);
    if (result == VMM_SUCCESS && not_reported_yet(process, event))
        return VMM_ERROR_NOT_READY;
    if (result == VMM_SUCCESS)
        result = check_reached(process, event, in_flight_reached(process, event->mark));
    if (result != VMM_SUCCESS)
        return result;
    const unsigned shared = event->shared;
    const uint64_t value = event->value;
    bool done = in_flight_poll_mark(process, event->mark);
    if (shared)
        done = ipc_event_query(process, shared - 1);
    if (done)
        know(process, value, shared);
    return done ? VMM_SUCCESS : VMM_ERROR_NOT_READY;
}

/* Was the event's stream ordered after the free when it was recorded? */
static bool is_before(void *user, const struct region *region)
{
    const struct stream_clock_seen *seen = user;
    return region->mark->clock < seen->count && seen->seen[region->mark->clock] >= region->mark->tick;
}

/* Waits for the event's mark. The event is a copy, because another thread may destroy or record the event meanwhile. */
static vmm_result wait_for(struct sim_process *process, const struct sim_event event)
{
    bool reached = in_flight_reached(process, event.mark);
    vmm_result result = check_reached(process, &event, reached);
    if (result != VMM_SUCCESS)
        return result;
    if (!reached && in_flight_is_inside(process->in_flight)) /* the event may come after the running host function itself */
        return sim_refuse_inside(process);
    vmm_result memory = in_flight_wait_mark(process, event.mark);
    result = check_reached(process, &event, reached);
    return result == VMM_SUCCESS ? memory : result;
}

vmm_result sim_event_synchronize(struct sim_process *process, const struct vmm_call_event_synchronize *call)
{
    struct sim_event *event;
    vmm_result result = find_event(process, call->event, &event);
    if (result != VMM_SUCCESS)
        return result;
    const unsigned shared = event->shared;
    result = wait_for(process, *event);
    if (result == VMM_SUCCESS && shared)
        ipc_event_synchronize(process, shared - 1);
    if (result == VMM_SUCCESS)
        know(process, (uint64_t)(uintptr_t)call->event, shared);
    if (result == VMM_SUCCESS && process->first_pool && find_event_again(process, call->event, &event))
        sim_pools_return(process, false, is_before, &event->seen);
    return result;
}

static vmm_result check_wait_flags(unsigned flags)
{
    if (flags == VMM_EVENT_WAIT_DEFAULT)
        return VMM_SUCCESS;
    return vmm_detail_refuse(flags == VMM_EVENT_WAIT_EXTERNAL ? VMM_RULE_EVENT_WAIT_EXTERNAL : VMM_RULE_EVENT_WAIT_FLAGS,
                             flags, VMM_EVENT_WAIT_DEFAULT, NULL);
}

static vmm_result stream_wait(struct sim_process *process, const struct vmm_call_stream_wait_event *call, bool for_pools)
{
    struct sim_event *event;
    struct sim_context *context;
    vmm_result result = sim_stream_context(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_lost_reported(process, context);
    if (result == VMM_SUCCESS && call->flags != VMM_EVENT_WAIT_EXTERNAL)
        result = check_wait_flags(call->flags);
    if (result == VMM_SUCCESS)
        result = find_event(process, call->event, &event);
    if (result == VMM_SUCCESS)
        result = check_wait_flags(call->flags); /* after the event, as an H200 looked at it */
    /* analysers: uninitStructMember is wrong: find_event sets event when it succeeds */
    if (result != VMM_SUCCESS || !(event->mark || event->shared))
        return result;
    struct queue_place place = in_flight_place(process, context, call->stream);
    const unsigned shared = event->shared;
    if (event->mark) {
        if (for_pools)
            stream_clock_wait(&process->in_flight->clocks, &place, &event->seen);
        if (process->in_flight->order)
            order_wait(process->in_flight->order, &place, event->value);
        result = in_flight_mark(process, &place, &call->head, event->mark, NULL);
    }
    return result == VMM_SUCCESS && shared ? ipc_event_wait(process, &call->head, &place, shared - 1) : result;
}

vmm_result sim_stream_wait_event(struct sim_process *process, const struct vmm_call_stream_wait_event *call)
{
    return stream_wait(process, call, true);
}

vmm_result event_wait_beside(struct sim_process *process, const struct vmm_call_stream_wait_event *call)
{
    return stream_wait(process, call, false);
}
