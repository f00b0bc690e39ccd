/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of calls on contexts, and on their streams, events and cuMemAlloc memory. See timeline_state.h. */
#include "timeline_state.h"

#include <string.h>

static struct timeline_thread *thread_of(struct timeline_reader *r)
{
    const size_t number = r->event->thread;
    if (number >= r->threads) {
        const size_t threads = number + 64;
        r->thread = text_grow(r->thread, threads * sizeof *r->thread);
        memset(r->thread + r->threads, 0, (threads - r->threads) * sizeof *r->thread);
        r->threads = threads;
    }
    return &r->thread[number];
}

/* A primary context stays current when it ends, and the next retain revives it: under its number, as a new object. */
static uint32_t current(struct timeline_reader *r)
{
    const struct timeline_thread *thread = thread_of(r);
    if (!thread->depth)
        return TIMELINE_NONE;
    const struct timeline_object *context = timeline_object_of(r, thread->context[thread->depth - 1]);
    return context ? r->timeline->numbered[TIMELINE_CONTEXT].object[context->number] : TIMELINE_NONE;
}

static void push(struct timeline_thread *thread, uint32_t context)
{
    if (thread->depth == TIMELINE_STACK) {
        memmove(thread->context, thread->context + 1, (TIMELINE_STACK - 1) * sizeof *thread->context);
        thread->depth--;
    }
    thread->context[thread->depth++] = context;
}

/* Streams, events and cuMemAlloc memory end with their context; VMM objects do not belong to a context. */
static void sweep(struct timeline_reader *r, uint32_t context)
{
    uint32_t next = context == TIMELINE_NONE ? context : r->holds[context].first;
    for (uint32_t i = next; i != TIMELINE_NONE; i = next) {
        next = r->holds[i].next;
        timeline_die(r, i);
    }
    if (context != TIMELINE_NONE)
        r->holds[context].first = TIMELINE_NONE;
}

static void create_context(struct timeline_reader *r)
{
    const uint32_t context = timeline_make(r, TIMELINE_CONTEXT, 0, 0);
    timeline_object_of(r, context)->location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, r->any->ctx_create.dev};
    push(thread_of(r), context);
}

/* The primary context of a device; NULL: the call is inconsistent. */
static struct timeline_primary *primary_of(struct timeline_reader *r, int device)
{
    if (device >= 0 && device < VMM_MAX_DEVICES)
        return &r->primary[device];
    timeline_complain(r, "no machine has a device %d", device);
    return NULL;
}

static bool retain_primary(struct timeline_reader *r)
{
    struct timeline_primary *primary = primary_of(r, r->any->device_primary_ctx_retain.dev);
    if (!primary)
        return false;
    if (!primary->retains || !timeline_lives(r, primary->context)) {
        primary->context = timeline_make(r, TIMELINE_CONTEXT, 0, 0);
        timeline_object_of(r, primary->context)->location =
            (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)(primary - r->primary)};
    }
    primary->retains++;
    return true;
}

/* A reset ends it until the next retain; earlier retains still count. */
static bool release_primary(struct timeline_reader *r, int device, bool reset)
{
    struct timeline_primary *primary = primary_of(r, device);
    if (!primary || !primary->retains)
        return primary != NULL;
    primary->retains -= !reset;
    if (reset || !primary->retains) {
        sweep(r, primary->context);
        timeline_die(r, primary->context);
    }
    return true;
}

/* Replaces the top of the thread's stack; NULL pops it. An unknown context, such as a destroyed one, counts as one. */
static void set_current(struct timeline_reader *r)
{
    struct timeline_thread *thread = thread_of(r);
    if (thread->depth)
        thread->depth--;
    if (r->any->ctx_set_current.ctx)
        push(thread, timeline_named_by(r, "ctx"));
}

static void destroy_context(struct timeline_reader *r)
{
    uint32_t context = timeline_named_by(r, "ctx");
    struct timeline_thread *thread = thread_of(r);
    timeline_die(r, context);
    sweep(r, context);
    if (thread->depth && thread->context[thread->depth - 1] == context)
        thread->depth--;
}

static void make_in_context(struct timeline_reader *r, enum timeline_kind kind)
{
    const uint32_t made = timeline_make(r, kind, 0, 0), context = current(r);
    timeline_object_of(r, made)->context = context;
    timeline_belongs(r, made, context);
}

/* Memory of a pool belongs to no context. */
static void allocate(struct timeline_reader *r, const vmm_deviceptr *dptr, uint64_t size, bool pooled)
{
    const uint32_t made = timeline_make(r, TIMELINE_ALLOCATION, dptr ? *dptr : 0, size), context = current(r);
    if (!pooled) {
        timeline_object_of(r, made)->context = context;
        timeline_belongs(r, made, context);
    }
    if (context != TIMELINE_NONE)
        timeline_object_of(r, made)->location = timeline_object_of(r, context)->location;
    timeline_place(r, made);
}

bool timeline_contexts(struct timeline_reader *r)
{
    const union vmm_any_call *any = r->any;
    switch ((enum vmm_call_id)any->head.id) {
    case VMM_CALL_ctx_create: create_context(r); break;
    case VMM_CALL_device_primary_ctx_retain: return retain_primary(r);
    case VMM_CALL_device_primary_ctx_release: return release_primary(r, any->device_primary_ctx_release.dev, false);
    case VMM_CALL_device_primary_ctx_reset: return release_primary(r, any->device_primary_ctx_reset.dev, true);
    case VMM_CALL_ctx_set_current: set_current(r); break;
    case VMM_CALL_ctx_destroy: destroy_context(r); break;
    case VMM_CALL_stream_create: make_in_context(r, TIMELINE_STREAM); break;
    case VMM_CALL_event_create: make_in_context(r, TIMELINE_EVENT); break;
    case VMM_CALL_stream_destroy: timeline_die(r, timeline_named_by(r, "stream")); break;
    case VMM_CALL_event_destroy: timeline_die(r, timeline_named_by(r, "event")); break;
    case VMM_CALL_mem_alloc: allocate(r, any->mem_alloc.dptr, any->mem_alloc.bytesize, false); break;
    case VMM_CALL_mem_alloc_managed: allocate(r, any->mem_alloc_managed.dptr, any->mem_alloc_managed.bytesize, false); break;
    case VMM_CALL_mem_alloc_async: allocate(r, any->mem_alloc_async.dptr, any->mem_alloc_async.bytesize, true); break;
    case VMM_CALL_mem_alloc_from_pool_async:
        allocate(r, any->mem_alloc_from_pool_async.dptr, any->mem_alloc_from_pool_async.bytesize, true);
        break;
    case VMM_CALL_mem_free:
    case VMM_CALL_mem_free_async: timeline_die(r, timeline_named_by(r, "dptr")); break;
    default: break;
    }
    return true;
}
