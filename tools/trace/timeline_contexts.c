/* SPDX-License-Identifier: Apache-2.0 */
/* What calls do to contexts, and to the streams, events and memory of cuMemAlloc that are theirs. See timeline_state.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "timeline_state.h"

#include <string.h>

static struct timeline_thread *thread_of(struct timeline_reader *r)
{
    return &r->thread[r->call->thread];
}

/* A primary context stays current when it ends, and the next retain revives it: under its number, as a new object. */
static uint32_t current(struct timeline_reader *r)
{
    const struct timeline_thread *thread = thread_of(r);
    if (!thread->depth)
        return TIMELINE_NONE;
    const struct timeline_object *context = timeline_object_of(r, thread->context[thread->depth - 1]);
    return context ? r->numbered[TIMELINE_CONTEXT].object[context->number] : TIMELINE_NONE;
}

static void push(struct timeline_thread *thread, uint32_t context)
{
    if (thread->depth == TIMELINE_STACK) {
        memmove(thread->context, thread->context + 1, (TIMELINE_STACK - 1) * sizeof *thread->context);
        thread->depth--;
    }
    thread->context[thread->depth++] = context;
}

/* Streams, events and memory of cuMemAlloc go with their context; virtual memory management is not the context's. */
static void sweep(struct timeline_reader *r, uint32_t context)
{
    for (uint32_t i = context == TIMELINE_NONE ? context : context + 1; i < r->timeline->objects; i++)
        if (r->timeline->object[i].context == context)
            timeline_die(r, i);
}

static bool create_context(struct timeline_reader *r)
{
    uint64_t device;
    if (!timeline_argument(r, "dev", &device))
        return false;
    uint32_t context = timeline_make(r, TIMELINE_CONTEXT, "pctx", 0, 0);
    if (context == TIMELINE_NONE)
        return false;
    timeline_object_of(r, context)->location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)device};
    push(thread_of(r), context);
    return true;
}

/* The primary context of the device that the call names; NULL: malformed. */
static struct timeline_primary *primary_of(struct timeline_reader *r)
{
    uint64_t device;
    if (!timeline_argument(r, "dev", &device))
        return NULL;
    if (device < VMM_MAX_DEVICES)
        return &r->primary[device];
    trace_line_complain(&r->line, r->complaint, "\"dev\"", "no machine has a device %lld", (long long)device);
    return NULL;
}

static bool retain_primary(struct timeline_reader *r)
{
    struct timeline_primary *primary = primary_of(r);
    if (!primary)
        return false;
    if (!primary->retains || !timeline_lives(r, primary->context)) {
        uint32_t context = timeline_make(r, TIMELINE_CONTEXT, "pctx", 0, 0);
        if (context == TIMELINE_NONE)
            return false;
        timeline_object_of(r, context)->location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)(primary - r->primary)};
        primary->context = context;
    }
    primary->retains++;
    return true;
}

/* A reset ends it until the next retain; those before it still count. */
static bool release_primary(struct timeline_reader *r, bool reset)
{
    struct timeline_primary *primary = primary_of(r);
    if (!primary || !primary->retains)
        return primary != NULL;
    primary->retains -= !reset;
    if (reset || !primary->retains) {
        sweep(r, primary->context);
        timeline_die(r, primary->context);
    }
    return true;
}

/* Replaces the top of the thread's stack, which NULL pops. A context that is not known, as one that was destroyed, is one. */
static bool set_current(struct timeline_reader *r)
{
    struct timeline_thread *thread = thread_of(r);
    uint64_t value;
    if (!timeline_argument(r, "ctx", &value))
        return false;
    if (thread->depth)
        thread->depth--;
    if (value)
        push(thread, timeline_named_by(r, "ctx"));
    return true;
}

static bool destroy_context(struct timeline_reader *r)
{
    uint32_t context = timeline_named_by(r, "ctx");
    struct timeline_thread *thread = thread_of(r);
    timeline_die(r, context);
    sweep(r, context);
    if (thread->depth && thread->context[thread->depth - 1] == context)
        thread->depth--;
    return true;
}

static bool make_in_context(struct timeline_reader *r, enum timeline_kind kind, const char *key)
{
    uint32_t made = timeline_make(r, kind, key, 0, 0);
    if (made != TIMELINE_NONE)
        timeline_object_of(r, made)->context = current(r);
    return made != TIMELINE_NONE;
}

/* Memory of a pool belongs to no context. */
static bool allocate(struct timeline_reader *r, bool pooled)
{
    uint64_t start, size;
    if (!timeline_number(r, r->at.out, "dptr", &start) || !timeline_argument(r, "bytesize", &size))
        return false;
    uint32_t made = timeline_make(r, TIMELINE_ALLOCATION, "dptr", start, size);
    if (made == TIMELINE_NONE)
        return false;
    const struct timeline_object *context = timeline_object_of(r, current(r));
    if (!pooled)
        timeline_object_of(r, made)->context = current(r);
    if (context)
        timeline_object_of(r, made)->location = context->location;
    timeline_place(r, made);
    return true;
}

static bool end_named(struct timeline_reader *r, const char *key)
{
    timeline_die(r, timeline_named_by(r, key));
    return true;
}

bool timeline_contexts(struct timeline_reader *r)
{
    switch (r->call->id) {
    case VMM_CALL_ctx_create: return create_context(r);
    case VMM_CALL_device_primary_ctx_retain: return retain_primary(r);
    case VMM_CALL_device_primary_ctx_release: return release_primary(r, false);
    case VMM_CALL_device_primary_ctx_reset: return release_primary(r, true);
    case VMM_CALL_ctx_set_current: return set_current(r);
    case VMM_CALL_ctx_destroy: return destroy_context(r);
    case VMM_CALL_stream_create: return make_in_context(r, TIMELINE_STREAM, "stream");
    case VMM_CALL_event_create: return make_in_context(r, TIMELINE_EVENT, "event");
    case VMM_CALL_stream_destroy: return end_named(r, "stream");
    case VMM_CALL_event_destroy: return end_named(r, "event");
    case VMM_CALL_mem_alloc:
    case VMM_CALL_mem_alloc_managed: return allocate(r, false);
    case VMM_CALL_mem_alloc_async:
    case VMM_CALL_mem_alloc_from_pool_async: return allocate(r, true);
    case VMM_CALL_mem_free:
    case VMM_CALL_mem_free_async: return end_named(r, "dptr");
    default: return true;
    }
}

#else
typedef int timeline_contexts_needs_jansson;
#endif
