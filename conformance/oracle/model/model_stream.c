/* SPDX-License-Identifier: Apache-2.0 */
/* model_stream.c - streams and events: what they put in order, and what pools get back when a call waits. Between two calls every
 * stream is idle, except one that waits for a value (model_mem_op.c).
 */
#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

static int add_lane(struct model *m, uint64_t stream, int device)
{
    for (int i = 0; i < m->lanes; i++)
        if (m->lane[i].stream == stream && m->lane[i].device == device)
            return i;
    if (m->lanes == MODEL_LANES)
        return -1;
    m->lane[m->lanes] = (struct model_lane){stream, device};
    return m->lanes++;
}

void model_add_stream(struct model *model, uint64_t stream, int device)
{
    add_lane(model, stream, device);
}

void model_add_event(struct model *model, uint64_t event, int device)
{
    model->event[model->events++] = (struct model_event){.value = event, .device = device};
}

void model_idle(struct model *model)
{
    model->orders++;
}

int model_lane_of(struct model *model, uint64_t stream, struct model_answer *answer)
{
    int device = model_current_device(model);
    if (!stream && device < 0) {
        model_refuse(answer, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
        return -1;
    }
    if (!stream)
        return add_lane(model, 0, device);
    for (int i = 0; i < model->lanes; i++)
        if (model->lane[i].stream == stream)
            return i;
    answer->foreseen = false; /* a stream that the model does not know */
    return -1;
}

static struct model_event *event_of(struct model *m, vmm_event value)
{
    for (int i = 0; value && i < m->events; i++)
        if (m->event[i].value == (uint64_t)(uintptr_t)value)
            return &m->event[i];
    return NULL;
}

/* ---- what pools know of streams ---- */

struct view {
    struct model *model;
    int device; /* of the pool, or whose context waited */
    bool all;
    uint64_t slot; /* of the pool */
};

static bool is_ordered(const void *user, uint64_t in, uint64_t of, uint64_t mark)
{
    const struct view *view = user;
    bool within = false; /* does a stream of the context come after it? */
    for (int lane = 0; view->all && lane < view->model->lanes; lane++)
        within |= view->model->lane[lane].device == view->device && ((uint64_t)lane == of || mark <= view->model->after[lane][of]);
    return view->all ? within : mark <= view->model->after[in][of];
}

static bool is_complete(const void *user, uint64_t of, uint64_t mark)
{
    (void)user, (void)of, (void)mark;
    return true;
}

static uint64_t room(const void *user, uint64_t wanted)
{
    const struct view *view = user;
    model_pools_make_room(view->model, view->device, wanted > UINT64_MAX / view->slot ? UINT64_MAX : wanted * view->slot);
    return model_place_free(view->model, view->device) / view->slot;
}

uint64_t model_pool_take(struct model *model, struct model_pool *pool, uint64_t size, int lane)
{
    const struct view view = {model, pool->device, false, pool->heap.slot};
    const struct model_order order = {is_ordered, is_complete, room, &view};
    return model_heap_take(&pool->heap, size, (uint64_t)lane, &order);
}

static int place_of(const struct model_pool *pool)
{
    return model_on_host(pool) ? VMM_MAX_DEVICES : pool->device;
}

/* Was a pool ever used on the lane? */
static bool has_met(const struct model *m, int lane)
{
    bool met = false;
    for (size_t i = 0; i < m->pool_streams.count; i++)
        met |= m->pool_streams.stream[i] == (uint64_t)lane;
    return met;
}

void model_pools_return(struct model *model, int in, int device)
{
    const struct view view = {model, device, in < 0, 0};
    const struct model_order order = {is_ordered, is_complete, room, &view};
    bool any[VMM_MAX_DEVICES + 1] = {false}; /* of each device's memory, and the host's */
    const bool met = in < 0 || has_met(model, in); /* then lowered thresholds count, regardless of what it sees */
    for (size_t i = 0; i < model->pool_count; i++)
        if (!model->pools[i]->gone)
            any[place_of(model->pools[i])] |= model_heap_synchronise(&model->pools[i]->heap, false, in < 0 ? MODEL_LANES : (uint64_t)in, &order);
    for (size_t i = 0; i < model->pool_count; i++) {
        const bool lowered = model->pools[i]->heap.lowered && met;
        if (model->pools[i]->gone || !(lowered || any[place_of(model->pools[i])]))
            continue;
        model->pools[i]->heap.lowered &= !lowered;
        model_heap_trim(&model->pools[i]->heap, model->pools[i]->heap.threshold);
        model_pool_settle(model, model->pools[i]);
    }
}

/* ---- calls ---- */

MODEL_ON(stream_synchronize)
{
    int lane = model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a);
    if (lane < 0 || !model_succeeded(a))
        return;
    m->orders++;
    model_pools_return(m, lane, -1);
}

MODEL_ON(stream_query)
{
    int lane = model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a);
    if (lane < 0)
        return;
    if (lane == m->blocked)
        model_refuse(a, VMM_ERROR_NOT_READY, NULL);
    else if (model_succeeded(a))
        m->orders++;
}

MODEL_ON(ctx_synchronize)
{
    int device = model_current_device(m);
    (void)c;
    if (device < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    if (!model_succeeded(a))
        return;
    m->orders++;
    model_pools_return(m, -1, device);
}

void model_record(struct model *model, struct model_event *event, int lane)
{
    event->recorded = true;
    for (int of = 0; of < MODEL_LANES; of++)
        event->seen[of] = lane < 0 ? 0 : of == lane ? model->frees : model->after[lane][of];
}

void model_wait(struct model *model, int lane, const struct model_event *event)
{
    model->orders += event->recorded;
    for (int of = 0; event->recorded && of < MODEL_LANES; of++)
        if (event->seen[of] > model->after[lane][of])
            model->after[lane][of] = event->seen[of];
}

MODEL_ON(event_record)
{
    int lane = model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a);
    struct model_event *event = event_of(m, c->event);
    if (lane < 0)
        return;
    if (!event)
        model_refuse(a, VMM_ERROR_INVALID_HANDLE, c->event ? "VMM-EVENT-UNKNOWN" : "VMM-EVENT-NONE");
    else if (event->device != m->lane[lane].device)
        model_refuse(a, VMM_ERROR_INVALID_HANDLE, "VMM-EVENT-CONTEXT");
    else if (model_succeeded(a)) {
        model_record(m, event, lane);
        model_event_dropped(m, event);
    }
}

MODEL_ON(stream_wait_event)
{
    int lane = model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a);
    const struct model_event *event = event_of(m, c->event);
    if (lane < 0)
        return;
    if (c->flags && c->flags != VMM_EVENT_WAIT_EXTERNAL)
        model_refuse(a, INVALID, "VMM-EVENT-WAIT-FLAGS");
    else if (!event)
        model_refuse(a, VMM_ERROR_INVALID_HANDLE, c->event ? "VMM-EVENT-UNKNOWN" : "VMM-EVENT-NONE");
    else if (c->flags)
        model_refuse(a, VMM_ERROR_ILLEGAL_STATE, "VMM-EVENT-WAIT-EXTERNAL");
    else if (model_succeeded(a))
        model_wait(m, lane, event);
}
