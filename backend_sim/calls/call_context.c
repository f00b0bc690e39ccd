/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and streams: their checks, and the waits for their work. */
#include <stdlib.h>

#include "arrays.h"
#include "call_copy.h"
#include "in_flight.h"
#include "heap.h"
#include "ipc_event.h"
#include "launch.h"
#include "share_event.h"
#include "mempool.h"
#include "pools.h"
#include "sim.h"

/* The scheduling and mapping flags that cuda.h lists. */
#define CONTEXT_FLAGS 0x1ffu

static vmm_result refuse_device(const struct sim_process *process, int device)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_DEVICE_ID, (uint64_t)(int64_t)device,
                                          (uint64_t)process->machine->profile.devices, NULL);
    vmm_detail_argument("dev");
    return result;
}

static vmm_result refuse_context(const struct sim_process *process, uint64_t value)
{
    void *context;
    bool forged = slots_find(&process->contexts, value, &context) == SLOT_FORGED;
    vmm_object object = context ? sim_object_context(context) : (vmm_object){0};
    return vmm_detail_refuse(forged ? VMM_RULE_CTX_FORGED : VMM_RULE_CTX_UNKNOWN, value, 0, &object);
}

/* Takes the addresses that the driver occupies in two chunks with the first context: all but the last 2 MiB of the lower chunk,
 * and the first 8 MiB of the upper. Skips a chunk that already contains memory of the program. False when out of memory. */
static bool open_context_va(struct sim_process *process)
{
    const struct sim_profile *profile = &process->machine->profile;
    uint64_t chunk = profile->va_chunk, unit = profile->va_granularity, from = process->window.context, lower, upper;
    if (process->context_va || !from || chunk < 8 * unit)
        return true;
    enum va_allocator_result result = va_allocator_take(&process->va, chunk - unit, chunk, from, &lower);
    if (result == VA_ALLOCATOR_TAKEN) {
        result = va_allocator_take(&process->va, 4 * unit, chunk, from + chunk, &upper);
        if (result == VA_ALLOCATOR_NO_MEMORY)
            va_allocator_free(&process->va, lower, chunk - unit);
        else
            process->context_taken[0] = (struct sim_reservation){.start = lower, .size = chunk - unit};
        if (result == VA_ALLOCATOR_TAKEN)
            process->context_taken[1] = (struct sim_reservation){.start = upper, .size = 4 * unit};
    }
    process->context_va = result != VA_ALLOCATOR_NO_MEMORY;
    return process->context_va;
}

static struct sim_context *new_context(struct sim_process *process, int device, bool primary,
                                       const struct vmm_call *call)
{
    struct sim_context *context = slots_ready(&process->contexts) ? heap.calloc(1, sizeof *context) : NULL;
    if (!context || !open_context_va(process)) {
        heap.free(context);
        sim_out_of_host_memory();
        return NULL;
    }
    context->value = context->shown = slots_add(&process->contexts, context);
    context->device = device;
    context->primary = primary;
    context->number = sim_process_number(process, VMM_OBJECT_CONTEXT);
    context->made = sim_origin(call);
    return context;
}

/* Ends the streams, events and allocations of a context; reservations, handles and mappings do not belong to it. */
struct sweep {
    struct sim_process *process;
    uint64_t context;
    struct sim_origin ended;
};

static void end_stream(void *user, void *object)
{
    struct sweep *sweep = user;
    struct sim_stream *stream = object;
    if (stream->context != sweep->context)
        return;
    stream->ended = sweep->ended;
    slots_end(&sweep->process->streams, stream->value);
}

static void end_event(void *user, void *object)
{
    struct sweep *sweep = user;
    struct sim_event *event = object;
    if (event->context != sweep->context)
        return;
    event->ended = sweep->ended;
    slots_end(&sweep->process->events, event->value);
}

/* Other processes cannot open its events any more. */
static void end_shared_events(const struct sim_process *process, uint64_t context)
{
    struct share *share = process->machine->share;
    if (!share || !share->events || !share_lock(share))
        return;
    share_event_end(share, ipc_event_context(process, context));
    share_unlock(share);
}

/* Waits for all work of a context that is about to end, so that no work uses its memory and streams any more. */
static void wait_for_context(struct sim_process *process, uint64_t context)
{
    struct queue_place place = {.context = context};
    in_flight_wait(process, &place, QUEUE_CONTEXT);
}

static void sweep_allocations(struct sim_process *process, const struct addrmap *map, const struct sweep *sweep)
{
    struct sim_allocation *allocation = addrmap_ceil(map, 0);
    while (allocation) {
        struct sim_allocation *next = addrmap_ceil(map, allocation->start + 1);
        if (allocation->context == sweep->context)
            sim_allocation_end(process, allocation, sweep->ended);
        allocation = next;
    }
}

static void sweep_context(struct sim_process *process, uint64_t context, const struct vmm_call *call)
{
    struct sweep sweep = {process, context, sim_origin(call)};
    slots_each(&process->streams, end_stream, &sweep);
    slots_each(&process->events, end_event, &sweep);
    end_shared_events(process, context);
    sweep_allocations(process, &process->allocations, &sweep);
    sweep_allocations(process, &process->adopted, &sweep);
    arrays_end_of(process, context, sweep.ended);
}

static void end_context(struct sim_process *process, struct sim_context *context, const struct vmm_call *call)
{
    sweep_context(process, context->value, call);
    if (context_stack_get(&process->current) == context->value)
        context_stack_set(&process->current, 0);
    context->ended = sim_origin(call);
    slots_end(&process->contexts, context->value);
}

static vmm_context context_value(uint64_t value)
{
    return (vmm_context)(uintptr_t)value;
}

vmm_result sim_device_primary_ctx_retain(struct sim_process *process,
                                         const struct vmm_call_device_primary_ctx_retain *call)
{
    if (!call->pctx)
        return vmm_detail_refuse(VMM_RULE_CTX_NULL, 0, 0, NULL);
    if (!sim_device_valid(process, call->dev))
        return refuse_device(process, call->dev);
    vmm_result result = sim_device_check(process, call->dev);
    if (result != VMM_SUCCESS)
        return result;
    struct sim_context *context = process->primary[call->dev];
    if (process->check_only)
        return VMM_SUCCESS;
    if (!context) {
        context = new_context(process, call->dev, true, &call->head);
        if (!context)
            return VMM_ERROR_OUT_OF_MEMORY;
        process->primary[call->dev] = context;
    }
    context->ended_primary = false;
    process->primary_retains[call->dev]++;
    *call->pctx = context_value(context->value);
    return VMM_SUCCESS;
}

vmm_result sim_device_primary_ctx_release(struct sim_process *process,
                                          const struct vmm_call_device_primary_ctx_release *call)
{
    if (!sim_device_valid(process, call->dev))
        return refuse_device(process, call->dev);
    if (process->primary_retains[call->dev] == 1)
        wait_for_context(process, process->primary[call->dev]->value);
    if (!process->primary_retains[call->dev])
        return vmm_detail_refuse(VMM_RULE_CTX_PRIMARY_UNUSED, (uint64_t)call->dev, 0, NULL);
    if (process->check_only)
        return VMM_SUCCESS;
    if (--process->primary_retains[call->dev] == 0) {
        struct sim_context *context = process->primary[call->dev];
        sweep_context(process, context->value, &call->head);
        context->ended_primary = true;
    }
    return VMM_SUCCESS;
}

vmm_result sim_device_primary_ctx_reset(struct sim_process *process,
                                        const struct vmm_call_device_primary_ctx_reset *call)
{
    if (!sim_device_valid(process, call->dev))
        return refuse_device(process, call->dev);
    if (process->primary_retains[call->dev])
        wait_for_context(process, process->primary[call->dev]->value);
    if (process->primary_retains[call->dev] && !process->check_only) {
        sweep_context(process, process->primary[call->dev]->value, &call->head);
        process->primary[call->dev]->ended_primary = true; /* until the next retain; earlier retains still count */
    }
    return VMM_SUCCESS;
}

vmm_result sim_ctx_create(struct sim_process *process, const struct vmm_call_ctx_create *call)
{
    if (!call->pctx)
        return vmm_detail_refuse(VMM_RULE_CTX_NULL, 0, 0, NULL);
    if (call->flags & ~CONTEXT_FLAGS)
        return vmm_detail_refuse(VMM_RULE_CTX_FLAGS, call->flags, CONTEXT_FLAGS, NULL);
    if (!sim_device_valid(process, call->dev))
        return refuse_device(process, call->dev);
    vmm_result result = sim_device_check(process, call->dev);
    if (result != VMM_SUCCESS)
        return result;
    if (process->check_only)
        return VMM_SUCCESS;
    if (!context_stack_ready(&process->current))
        return sim_out_of_host_memory();
    struct sim_context *context = new_context(process, call->dev, false, &call->head);
    if (!context)
        return VMM_ERROR_OUT_OF_MEMORY;
    context_stack_push(&process->current, context->value);
    *call->pctx = context_value(context->value);
    return VMM_SUCCESS;
}

/* Finds the context that a destroy names; refuses a primary one. */
static vmm_result check_destroy(const struct sim_process *process, uint64_t value, struct sim_context **context)
{
    void *object;
    if (slots_find(&process->contexts, value, &object) != SLOT_LIVE)
        return refuse_context(process, value);
    *context = object;
    if (!(*context)->primary)
        return VMM_SUCCESS;
    vmm_result result = refuse_context(process, value);
    vmm_detail_note("a primary context ends with cuDevicePrimaryCtxRelease");
    return result;
}

vmm_result sim_ctx_destroy(struct sim_process *process, const struct vmm_call_ctx_destroy *call)
{
    struct sim_context *context;
    uint64_t value = (uint64_t)(uintptr_t)call->ctx;
    if (!value) {
        vmm_result result = vmm_detail_refuse(VMM_RULE_CTX_NULL, 0, 0, NULL);
        vmm_detail_argument("ctx");
        return result;
    }
    vmm_result result = check_destroy(process, value, &context);
    if (result != VMM_SUCCESS)
        return result;
    wait_for_context(process, value);
    result = check_destroy(process, value, &context); /* another thread may have destroyed it meanwhile */
    if (result == VMM_SUCCESS && !process->check_only)
        end_context(process, context, &call->head);
    return result;
}

/* A destroyed context is accepted, as measured; a later call that needs a context is refused. */
vmm_result sim_ctx_set_current(struct sim_process *process, const struct vmm_call_ctx_set_current *call)
{
    void *context;
    uint64_t value = (uint64_t)(uintptr_t)call->ctx;
    if (value && slots_find(&process->contexts, value, &context) == SLOT_FORGED)
        return refuse_context(process, value);
    return process->check_only || context_stack_set(&process->current, value) ? VMM_SUCCESS : sim_out_of_host_memory();
}

vmm_result sim_ctx_get_current(struct sim_process *process, const struct vmm_call_ctx_get_current *call)
{
    if (!call->pctx)
        return vmm_detail_refuse(VMM_RULE_CTX_NULL, 0, 0, NULL);
    *call->pctx = context_value(context_stack_get(&process->current));
    return VMM_SUCCESS;
}

vmm_result sim_ctx_get_device(struct sim_process *process, const struct vmm_call_ctx_get_device *call)
{
    if (!call->device) {
        vmm_result result = vmm_detail_refuse(VMM_RULE_CTX_NULL, 0, 0, NULL);
        vmm_detail_argument("device");
        return result;
    }
    void *context;
    uint64_t value = context_stack_get(&process->current);
    slots_find(&process->contexts, value, &context);
    if (!value || !context)
        return sim_no_context(process);
    *call->device = ((struct sim_context *)context)->device; /* also for a context that has ended, as measured */
    return VMM_SUCCESS;
}

/* Is a stream of the context ordered after the free? */
struct within {
    const struct sim_process *process;
    uint64_t context;
};

static bool is_within(void *user, const struct region *region)
{
    const struct within *within = user;
    return stream_clock_context_after(&within->process->in_flight->clocks, within->context, region->mark->clock, region->mark->tick);
}

vmm_result sim_ctx_synchronize(struct sim_process *process, const struct vmm_call_ctx_synchronize *call)
{
    (void)call;
    vmm_result result = sim_wait_current(process, QUEUE_CONTEXT, true);
    struct sim_context *context = sim_current(process);
    if (result == VMM_SUCCESS && context && process->first_pool)
        sim_pools_return(process, true, is_within, &(struct within){process, context->value});
    return result;
}

vmm_result sim_stream_create(struct sim_process *process, const struct vmm_call_stream_create *call)
{
    if (!call->stream)
        return vmm_detail_refuse(VMM_RULE_STREAM_NULL, 0, 0, NULL);
    if (call->flags > VMM_STREAM_NON_BLOCKING)
        return vmm_detail_refuse(VMM_RULE_STREAM_FLAGS, call->flags, VMM_STREAM_NON_BLOCKING, NULL);
    struct sim_context *context = sim_current(process);
    if (!context) {
        *call->stream = (vmm_stream)UINTPTR_MAX; /* measured: the driver writes the output although it refuses */
        return sim_no_context(process);
    }
    vmm_result result = sim_context_check(process, context, false);
    if (result != VMM_SUCCESS)
        return result;
    struct sim_stream *stream = heap.calloc(1, sizeof *stream);
    if (stream && !(stream->value = slots_add(&process->streams, stream))) {
        heap.free(stream);
        stream = NULL;
    }
    if (!stream)
        return sim_out_of_host_memory();
    stream->context = context->value;
    stream->non_blocking = call->flags == VMM_STREAM_NON_BLOCKING;
    stream->number = sim_process_number(process, VMM_OBJECT_STREAM);
    stream->made = sim_origin(&call->head);
    *call->stream = (vmm_stream)(uintptr_t)stream->value;
    return VMM_SUCCESS;
}

/* Was it freed in the stream, and is the free done? */
static bool is_done_in(void *user, const struct region *region)
{
    const struct queue_item *item = region->mark->item;
    return region->lane->place.stream == *(const uint64_t *)user && (!item || item->state == QUEUE_DONE);
}

/* Is the stream at that place ordered after the free? */
struct after {
    const struct sim_process *process;
    struct queue_place place;
};

static bool is_after(void *user, const struct region *region)
{
    const struct after *after = user;
    return stream_clock_after(&after->process->in_flight->clocks, &after->place, region->mark->clock, region->mark->tick);
}

vmm_result sim_stream_destroy(struct sim_process *process, const struct vmm_call_stream_destroy *call)
{
    struct sim_stream *stream;
    void *context = NULL;
    if (!call->stream || call->stream == VMM_STREAM_LEGACY || call->stream == VMM_STREAM_PER_THREAD)
        return vmm_detail_refuse(VMM_RULE_STREAM_DEFAULT, (uint64_t)(uintptr_t)call->stream, 0, NULL);
    vmm_result result = sim_stream_check(process, call->stream, &stream);
    if (result != VMM_SUCCESS)
        return result;
    slots_find(&process->contexts, stream->context, &context);
    result = sim_context_check(process, context, false);
    if (result != VMM_SUCCESS)
        return result;
    stream->ended = sim_origin(&call->head);
    if (process->first_pool) {
        uint64_t value = stream->value;
        sim_pools_return(process, false, is_done_in, &value);
    }
    slots_end(&process->streams, stream->value);
    return VMM_SUCCESS;
}

/* Finds the context of a stream's work, for a call that waits; refuses if its device is lost. */
static vmm_result usable(struct sim_process *process, vmm_stream stream, struct sim_context **context)
{
    vmm_result result = sim_stream_context(process, stream, context);
    return result == VMM_SUCCESS ? sim_context_check(process, *context, true) : result;
}

/* The scope of a wait for a stream. A wait for the default stream covers everything that work issued there would wait for. */
static enum queue_scope scope_of(const struct queue_place *place)
{
    return place->kind == QUEUE_DEFAULT ? QUEUE_ORDERED : QUEUE_LANE;
}

/* memory: the faults that the wait found. */
static vmm_result wait_for(struct sim_process *process, vmm_stream stream, struct after *after, vmm_result *memory)
{
    struct sim_context *context;
    vmm_result result = usable(process, stream, &context);
    if (result != VMM_SUCCESS)
        return result;
    *after = (struct after){process, in_flight_place(process, context, stream)};
    *memory = in_flight_wait(process, &after->place, scope_of(&after->place));
    return VMM_SUCCESS;
}

vmm_result sim_stream_wait(struct sim_process *process, vmm_stream stream)
{
    struct sim_context *context;
    struct after after;
    vmm_result memory, result = wait_for(process, stream, &after, &memory);
    if (result == VMM_SUCCESS)
        result = usable(process, stream, &context);
    return result == VMM_SUCCESS ? memory : result;
}

vmm_result sim_stream_synchronize(struct sim_process *process, const struct vmm_call_stream_synchronize *call)
{
    struct sim_context *context;
    struct after after;
    vmm_result memory, result = wait_for(process, call->stream, &after, &memory);
    if (result != VMM_SUCCESS)
        return result;
    if (memory == VMM_SUCCESS && process->first_pool) {
        const bool met = stream_clock_has_met(&process->in_flight->clocks, &after.place); /* as measured */
        sim_pools_return(process, met, is_after, &after);
    }
    result = usable(process, call->stream, &context);
    return result == VMM_SUCCESS ? memory : result;
}

vmm_result sim_stream_query(struct sim_process *process, const struct vmm_call_stream_query *call)
{
    struct sim_context *context;
    vmm_result result = usable(process, call->stream, &context);
    if (result != VMM_SUCCESS)
        return result;
    struct queue_place place = in_flight_place(process, context, call->stream);
    return in_flight_poll(process, &place, scope_of(&place)) ? VMM_SUCCESS : VMM_ERROR_NOT_READY;
}
