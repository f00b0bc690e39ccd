/* SPDX-License-Identifier: Apache-2.0 */
/* model_capture.c - captured streams (facts: graphs): their work becomes nodes, one after what the stream has reached.
 *
 *     begin S     fill on S -> node 1     record E     wait E on T: T joins     copy on T -> node 2, after 1     wait on S     end S
 *
 * Not foreseen: calls of pools while a capture forbids what might wait, what a captured stream makes of allocations, frees, memory operations, boxes and launches, of an event of another
 * context or of none, and a capture without the stream's context.
 */
#include <stdlib.h>

#include "model_graph.h"
#include "model_managed.h"

#define INVALID VMM_ERROR_INVALID_VALUE

static bool null(const void *pointer, struct model_answer *a)
{
    return !pointer && !model_refuse(a, INVALID, "VMM-GRAPH-NULL");
}

/* The lane of a stream that was made known; -1 for others. */
static int lane_of(const struct model *m, vmm_stream stream)
{
    for (int i = 0; stream && i < m->lanes; i++)
        if (m->lane[i].stream == (uint64_t)(uintptr_t)stream)
            return i;
    return -1;
}

static struct model_held *held_by(const struct model *m, int lane)
{
    return lane >= 0 && m->graphs->lane[lane].capture ? &m->graphs->lane[lane] : NULL;
}

/* What an event stands for, if it was recorded in a captured stream. */
static struct model_held *kept_by(const struct model *m, vmm_event event)
{
    for (int i = 0; event && i < m->events; i++)
        if (m->event[i].value == (uint64_t)(uintptr_t)event && (m->graphs->event[i].capture || m->graphs->event[i].over))
            return &m->graphs->event[i];
    return NULL;
}

static const struct model_event *event_of(const struct model *m, vmm_event event)
{
    for (int i = 0; event && i < m->events; i++)
        if (m->event[i].value == (uint64_t)(uintptr_t)event)
            return &m->event[i];
    return NULL;
}

bool model_captured(const struct model *model, int lane)
{
    return held_by(model, lane) != NULL;
}

bool model_capturing(const struct model *model)
{
    bool any = false;
    for (int i = 0; i < MODEL_LANES; i++)
        any |= model->graphs->capture[i] != NULL;
    return any;
}

/* A capture in another mode than RELAXED forbids calls that might wait. */
bool model_may_query(const struct model *model)
{
    for (int i = 0; i < MODEL_LANES; i++)
        if (model->graphs->capture[i] && model->graphs->capture[i]->mode != VMM_STREAM_CAPTURE_MODE_RELAXED)
            return false;
    return true;
}

uint64_t model_host_calls(struct model *model)
{
    uint64_t calls = model->graphs->host_calls;
    model->graphs->host_calls = 0;
    return calls;
}

void model_event_dropped(struct model *model, const struct model_event *event)
{
    struct model_held *held = &model->graphs->event[event - model->event];
    held->capture = NULL;
    held->over = false;
    held->reached.count = 0;
}

static void spoil(struct model_capture *capture, const struct model_answer *a)
{
    capture->invalid |= !a->asked;
}

/* A call that captured streams forbid, which they end invalid of. */
static bool model_capture_forbids(struct model *model, struct model_answer *answer)
{
    bool any = false;
    for (int i = 0; i < MODEL_LANES; i++) {
        struct model_capture *capture = model->graphs->capture[i];
        if (!capture || capture->mode == VMM_STREAM_CAPTURE_MODE_RELAXED || model->graphs->thread_mode == VMM_STREAM_CAPTURE_MODE_RELAXED)
            continue;
        any = true;
        capture->invalid |= !answer->asked;
    }
    return any && !model_refuse(answer, VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
}

/* A wait for all work of the current context, which must have no captured stream. */
static bool is_waited_for(struct model *model, struct model_answer *answer)
{
    bool any = false;
    for (int i = 0; i < model->lanes; i++)
        if (model->graphs->lane[i].capture && model->lane[i].device == model_current_device(model)) {
            any = true;
            spoil(model->graphs->lane[i].capture, answer);
        }
    return any && !model_refuse(answer, VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
}

/* Does the call name the default stream, though no context is current? That counts first. */
static bool lacks_context(const struct model *m, vmm_stream stream, struct model_answer *a)
{
    return !stream && m->current < 0 && !model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
}

/* ---- begin and end ---- */

static bool is_mode(int mode, struct model_answer *a)
{
    return (mode >= VMM_STREAM_CAPTURE_MODE_GLOBAL && mode <= VMM_STREAM_CAPTURE_MODE_RELAXED) ||
           model_refuse(a, INVALID, "VMM-CAPTURE-MODE");
}

static bool may_capture(const struct model *m, vmm_stream stream, struct model_answer *a)
{
    if (!stream)
        return !lacks_context(m, stream, a) && model_refuse(a, VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-DEFAULT");
    a->foreseen &= lane_of(m, stream) >= 0;
    return a->foreseen;
}

static bool is_free(const struct model *m, vmm_stream stream, struct model_answer *a)
{
    return !held_by(m, lane_of(m, stream)) || model_refuse(a, VMM_ERROR_ILLEGAL_STATE, "VMM-CAPTURE-STATE");
}

static struct model_capture *begin(struct model *m, vmm_stream stream, int mode, struct model_graph *graph)
{
    const int lane = lane_of(m, stream);
    struct model_capture *capture = model_new(sizeof *capture);
    *capture = (struct model_capture){.origin = lane, .mode = mode, .graph = graph};
    m->graphs->capture[lane] = m->graphs->lane[lane].capture = capture;
    m->graphs->lane[lane].reached.count = 0;
    return capture;
}

MODEL_ON(stream_begin_capture)
{
    struct model_answer mode = *a;
    a->foreseen = c->stream || !m->driver || is_mode(c->mode, &mode); /* not observed: which of both mistakes counts */
    if (may_capture(m, c->stream, a) && is_mode(c->mode, a) && is_free(m, c->stream, a) && model_succeeded(a))
        begin(m, c->stream, c->mode, model_graph_new());
}

bool model_is_captured_into(const struct model *m, const struct model_graph *graph, bool within)
{
    for (int i = 0; i < MODEL_LANES; i++) {
        const struct model_graph *in = m->graphs->capture[i] ? m->graphs->capture[i]->graph : NULL;
        for (; in && in != graph; in = within && in->inside ? in->inside->graph : NULL)
            continue;
        if (in)
            return true;
    }
    return false;
}

MODEL_ON(stream_begin_capture_to_graph)
{
    if (!is_mode(c->mode, a))
        return;
    struct model_graph *graph = model_graph_of(m, c->graph);
    if (!graph)
        model_refuse(a, INVALID, "VMM-GRAPH-UNKNOWN");
    else if (!may_capture(m, c->stream, a) || !is_free(m, c->stream, a) || (c->num_dependencies && null(c->dependencies, a)))
        return;
    else if (c->num_dependencies > graph->count)
        model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
    for (uint64_t i = 0; a->result == VMM_SUCCESS && i < c->num_dependencies; i++) {
        const struct model_node *node = model_node_of(m, c->dependencies[i]);
        if (!node || node->graph != graph)
            model_refuse(a, INVALID, "VMM-GRAPH-NODE");
        for (uint64_t k = 0; k < i; k++)
            a->foreseen &= c->dependencies[k] != c->dependencies[i]; /* not observed: a node twice */
    }
    if (a->result == VMM_SUCCESS)
        model_edge_data_allowed(m, c->dependency_data, c->num_dependencies, a);
    if (a->result == VMM_SUCCESS && model_is_captured_into(m, graph, false)) {
        a->ends = c->num_dependencies != 0; /* seen four times */
        model_refuse(a, VMM_ERROR_ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    }
    if (!a->foreseen || !model_succeeded(a))
        return;
    begin(m, c->stream, c->mode, graph)->given = true;
    for (uint64_t i = 0; i < c->num_dependencies; i++)
        model_reach(&m->graphs->lane[lane_of(m, c->stream)].reached, model_node_of(m, c->dependencies[i]));
}

/* Has the stream that began it waited for the work of that lane? */
static bool has_waited(const struct model *m, const struct model_capture *capture, int lane)
{
    const struct model_reached *origin = &m->graphs->lane[capture->origin].reached;
    const struct model_held *held = &m->graphs->lane[lane];
    for (size_t k = 0; held->capture == capture && capture->worked[lane] && k < held->reached.count; k++) {
        bool reached = false;
        for (size_t o = 0; o < origin->count; o++)
            reached |= model_comes_after(origin->node[o], held->reached.node[k]);
        if (!reached)
            return false;
    }
    return true;
}

static bool is_joined(const struct model *m, const struct model_capture *capture)
{
    bool joined = true;
    for (int i = 0; i < MODEL_LANES; i++)
        joined &= has_waited(m, capture, i);
    return joined;
}

/* Whom it has waited for stays joined when its dependencies are replaced: a capture ended well after that. */
static void keep_joined(const struct model *m, struct model_capture *capture)
{
    for (int i = 0; i < MODEL_LANES; i++)
        capture->worked[i] &= !has_waited(m, capture, i);
}

/* Is a stream captured into the graph of one of its graph's nodes? */
static bool has_others_within(struct model *m, struct model_capture *capture)
{
    m->graphs->capture[capture->origin] = NULL;
    const bool others = model_is_captured_into(m, capture->graph, true);
    m->graphs->capture[capture->origin] = capture;
    return others;
}

/* Nothing is captured by it any more; kept: the graph is the program's. It stays where a stream is captured into the graph of one of its
 * nodes: ours, as a driver was not asked. */
static void leave(struct model *m, struct model_capture *capture, bool kept, struct model_answer *a)
{
    struct model_graphs *all = m->graphs;
    const bool within = has_others_within(m, capture);
    for (int i = 0; i < MODEL_LANES; i++)
        if (all->lane[i].capture == capture)
            all->lane[i].capture = NULL;
    for (int i = 0; i < m->events; i++)
        if (all->event[i].capture == capture) {
            all->event[i].capture = NULL;
            all->event[i].over = true;
            all->event[i].reached.count = 0;
        }
    if (!kept && capture->graph->inside)
        ; /* the node's */
    else if (!kept && within && !capture->given)
        model_graph_keep(m, capture->graph, capture->graph->value, a);
    else if (!kept && within)
        ; /* the program's, still */
    else if (!kept && capture->given)
        model_graph_end(m, capture->graph);
    else if (!kept)
        model_graph_free(capture->graph);
    all->capture[capture->origin] = NULL;
    free(capture);
}

MODEL_ON(stream_end_capture)
{
    struct model_held *held = held_by(m, lane_of(m, c->stream));
    struct model_capture *capture = held ? held->capture : NULL;
    a->writes_zero = true;
    if (lacks_context(m, c->stream, a))
        return;
    if (!capture) {
        model_refuse(a, VMM_ERROR_ILLEGAL_STATE, "VMM-CAPTURE-STATE");
        return;
    }
    if (capture->origin != lane_of(m, c->stream)) {
        spoil(capture, a);
        model_refuse(a, VMM_ERROR_STREAM_CAPTURE_UNMATCHED, "VMM-CAPTURE-UNMATCHED");
        return;
    }
    if (capture->invalid)
        model_refuse(a, VMM_ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    else if (!is_joined(m, capture))
        model_refuse(a, VMM_ERROR_STREAM_CAPTURE_UNJOINED, "VMM-CAPTURE-UNJOINED");
    const bool good = a->result == VMM_SUCCESS;
    /* A driver destroys a child graph, too, that such a capture went to: three of three processes used it afterwards, and ended */
    a->ends = m->driver && !(good && (c->graph || capture->given)) && (capture->graph->inside || has_others_within(m, capture));
    if (a->asked || a->actual != a->result)
        return;
    for (size_t i = 0; good && i < held->reached.count; i++)
        model_node_last(held->reached.node[i]);
    if (good && c->graph && capture->given)
        model_expect(a, "graph", (uint64_t)(uintptr_t)*c->graph, capture->graph->value);
    else if (good && c->graph && capture->graph->value)
        model_expect(a, "graph", (uint64_t)(uintptr_t)*c->graph, capture->graph->value);
    if (good && c->graph && !capture->given)
        model_graph_keep(m, capture->graph, (uint64_t)(uintptr_t)*c->graph, a);
    leave(m, capture, good && (c->graph || capture->given), a);
}

MODEL_ON(stream_is_capturing)
{
    if (null(c->capture_status, a) || model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a) < 0 || !model_succeeded(a))
        return;
    const struct model_held *held = held_by(m, lane_of(m, c->stream));
    model_expect(a, "capture_status", (uint64_t)*c->capture_status,
                 !held ? VMM_STREAM_CAPTURE_STATUS_NONE
                       : held->capture->invalid ? VMM_STREAM_CAPTURE_STATUS_INVALIDATED : VMM_STREAM_CAPTURE_STATUS_ACTIVE);
}

/* Each value of the list is one of the nodes, once. A node whose value was not told yet is no other than one that is left over. */
static void check_reached(struct model *m, const struct model_reached *reached, const vmm_graph_node *list, struct model_answer *a)
{
    struct model_node *unknown = NULL;
    uint64_t known = 0, strangers = 0, stranger = 0;
    for (size_t i = 0; i < reached->count; i++) {
        unknown = reached->node[i]->value ? unknown : reached->node[i];
        known += reached->node[i]->value != 0;
    }
    for (size_t i = 0; i < reached->count; i++) {
        bool found = false;
        for (size_t k = 0; k < reached->count; k++)
            found |= reached->node[k]->value == (uint64_t)(uintptr_t)list[i];
        strangers += !found;
        stranger = found ? stranger : (uint64_t)(uintptr_t)list[i];
    }
    model_expect(a, "dependencies that are not the stream's", strangers, reached->count - known);
    if (strangers == 1 && unknown)
        unknown->value = m->graphs->value[unknown->id] = stranger;
}

MODEL_ON(stream_get_capture_info)
{
    if (null(c->capture_status_out, a) || model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a) < 0)
        return;
    const struct model_held *held = held_by(m, lane_of(m, c->stream));
    const bool active = held && !held->capture->invalid;
    if (active && c->edge_data_out && !c->dependencies_out)
        a->writes_some = !model_refuse(a, INVALID, "VMM-GRAPH-NULL");
    if (!model_succeeded(a))
        return;
    model_expect(a, "capture_status_out", (uint64_t)*c->capture_status_out,
                 !held ? VMM_STREAM_CAPTURE_STATUS_NONE
                       : active ? VMM_STREAM_CAPTURE_STATUS_ACTIVE : VMM_STREAM_CAPTURE_STATUS_INVALIDATED);
    if (!active)
        return;
    struct model_capture *capture = held->capture;
    if (c->id_out) {
        model_expect(a, "id_out is 0", !*c->id_out, false);
        model_expect(a, "id_out", *c->id_out, capture->id ? capture->id : *c->id_out);
        capture->id = *c->id_out;
    }
    if (c->graph_out) {
        model_expect(a, "graph_out is NULL", !*c->graph_out, false);
        model_expect(a, "graph_out", (uint64_t)(uintptr_t)*c->graph_out,
                     capture->graph->value ? capture->graph->value : (uint64_t)(uintptr_t)*c->graph_out);
        capture->graph->value = (uint64_t)(uintptr_t)*c->graph_out;
    }
    if (c->num_dependencies_out)
        model_expect(a, "num_dependencies_out", *c->num_dependencies_out, held->reached.count);
    if (c->dependencies_out && held->reached.count && !a->wrong)
        check_reached(m, &held->reached, *c->dependencies_out, a);
    for (size_t i = 0; c->edge_data_out && i < held->reached.count && !a->wrong; i++)
        model_expect(a, "edge_data_out", vmm_graph_edge_number(&(*c->edge_data_out)[i]), 0);
}

int model_thread_mode(const struct model *model)
{
    return model->graphs->thread_mode;
}

/* Any value is accepted. */
MODEL_ON(thread_exchange_stream_capture_mode)
{
    if (null(c->mode, a) || !model_succeeded(a))
        return;
    model_expect(a, "mode", (uint64_t)*c->mode, (uint64_t)m->graphs->thread_mode);
    m->graphs->thread_mode = (int)m->before;
}

/* Nodes of the graph, besides what the stream has reached or instead of it; one that is listed twice counts once. */
MODEL_ON(stream_update_capture_dependencies)
{
    const int lane = lane_of(m, c->stream);
    struct model_held *held = held_by(m, lane);
    if (held && held->capture->invalid) {
        model_refuse(a, VMM_ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
        /* of a capture into a node's graph: seen once */
        a->ends = m->driver && c->num_dependencies && held->capture->graph->inside;
    } else if (held && c->flags > VMM_STREAM_SET_CAPTURE_DEPENDENCIES) {
        model_refuse(a, INVALID, "VMM-GRAPH-FLAGS");
    } else if (held) {
        if (c->num_dependencies && !null(c->dependencies, a) && c->num_dependencies > UINT32_MAX)
            model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
    } else {
        a->foreseen = lane >= 0 || !c->stream;
        if (!lacks_context(m, c->stream, a))
            model_refuse(a, VMM_ERROR_ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    }
    for (uint64_t i = 0; held && a->result == VMM_SUCCESS && i < c->num_dependencies; i++) {
        const struct model_node *node = model_node_of(m, c->dependencies[i]);
        if (!node || node->graph != held->capture->graph)
            model_refuse(a, INVALID, "VMM-GRAPH-NODE");
    }
    if (held && a->result == VMM_SUCCESS)
        model_edge_data_allowed(m, c->dependency_data, c->num_dependencies, a);
    if (!held || !a->foreseen || !model_succeeded(a))
        return;
    if (c->flags) {
        if (held->capture->origin == lane)
            keep_joined(m, held->capture);
        held->reached.count = 0;
        held->capture->worked[lane] = false; /* a capture ended well that had not waited for what it has now */
    }
    for (uint64_t i = 0; i < c->num_dependencies; i++)
        model_reach(&held->reached, model_node_of(m, c->dependencies[i]));
}

/* ---- work as nodes ---- */

static void add(struct model *m, struct model_held *held, const struct model_work *work, const struct model_answer *a)
{
    if (!model_succeeded(a))
        return;
    struct model_node *node = model_node_add(m, held->capture->graph, held->reached.node, held->reached.count, work);
    held->reached.count = 0;
    model_reach(&held->reached, node);
    held->capture->worked[held - m->graphs->lane] = true;
}

/* The memory of a fill is looked at when the graph is instantiated. */
static void add_fill(struct model *m, struct model_held *held, uint64_t to, uint64_t value, unsigned width, uint64_t n,
                     struct model_answer *a)
{
    struct model_work work = {.type = VMM_GRAPH_NODE_TYPE_MEMSET,
                              .fill = {.dst = to, .value = (unsigned)value, .element_size = width, .width = n, .height = 1}};
    const int lane = (int)(held - m->graphs->lane);
    work.device = m->lane[lane].device;
    if (!n)
        return;
    if (to % width) {
        model_refuse(a, INVALID, "VMM-SET-ALIGNMENT");
        return;
    }
    a->foreseen = m->current >= 0 && m->contexts[m->current].device == work.device;
    if (!a->foreseen)
        return;
    work.context = m->contexts[m->current].value;
    add(m, held, &work, a);
}

static void add_copy(struct model *m, struct model_held *held, const vmm_memcpy3d *copy, struct model_answer *a)
{
    struct model_work work = {.type = VMM_GRAPH_NODE_TYPE_MEMCPY, .device = m->lane[held - m->graphs->lane].device};
    if (!copy->width_in_bytes || !copy->height || !copy->depth)
        return;
    a->foreseen = m->current >= 0 && m->contexts[m->current].device == work.device;
    if (!a->foreseen)
        return;
    work.context = m->contexts[m->current].value;
    if (!model_box_allowed(m, work.device, copy, false, &work.copy, a))
        return;
    model_note_places(m, &work);
    add(m, held, &work, a);
}

/* A copy of adjacent bytes is a box of one row. */
static void add_line(struct model *m, struct model_held *held, struct model_transfer line, struct model_answer *a)
{
    vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = line.from, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                         .dst_device = line.to, .width_in_bytes = line.size, .height = 1, .depth = 1};
    if (line.kind == MODEL_FROM_PROGRAM) {
        copy.src_memory_type = VMM_MEMORYTYPE_HOST;
        copy.src_host = (const void *)(uintptr_t)line.from;
    }
    if (line.kind == MODEL_TO_PROGRAM) {
        copy.dst_memory_type = VMM_MEMORYTYPE_HOST;
        copy.dst_host = (void *)(uintptr_t)line.to;
    }
    add_copy(m, held, &copy, a);
}

static void add_work(struct model *m, struct model_held *held, const union vmm_any_call *c, struct model_answer *a)
{
#define FILL(name, width) \
    case VMM_CALL_##name: add_fill(m, held, c->name.dst, c->name.value, width, c->name.n, a); return
#define COPY(name, how) \
    case VMM_CALL_##name: \
        add_line(m, held, (struct model_transfer){how, (uint64_t)(uintptr_t)c->name.dst, (uint64_t)(uintptr_t)c->name.src, \
                                                  c->name.byte_count}, a); \
        return
    switch (c->head.id) {
    FILL(memset_d8_async, 1);
    FILL(memset_d16_async, 2);
    FILL(memset_d32_async, 4);
    COPY(memcpy_htod_async, MODEL_FROM_PROGRAM);
    COPY(memcpy_dtoh_async, MODEL_TO_PROGRAM);
    COPY(memcpy_dtod_async, MODEL_BETWEEN);
    case VMM_CALL_memcpy_3d_async: add_copy(m, held, c->memcpy_3d_async.p_copy, a); return;
    default: a->foreseen = false;
    }
#undef FILL
#undef COPY
}

/* ---- events ---- */

static void record(struct model *m, struct model_held *held, vmm_event value, struct model_answer *a)
{
    const struct model_event *event = event_of(m, value);
    a->foreseen = event && event->device == m->lane[held - m->graphs->lane].device;
    if (!a->foreseen || !model_succeeded(a))
        return;
    model_event_dropped(m, event);
    struct model_held *kept = &m->graphs->event[event - m->event];
    kept->capture = held->capture;
    for (size_t i = 0; i < held->reached.count; i++)
        model_reach(&kept->reached, held->reached.node[i]);
}

/* The stream waits for an event of an active capture. */
static void join(struct model *m, vmm_stream stream, const struct model_held *kept, struct model_answer *a)
{
    struct model_held *held = held_by(m, lane_of(m, stream));
    if (kept->capture->invalid) {
        a->foreseen = !held || !m->driver;
        model_refuse(a, INVALID, "VMM-CAPTURED-EVENT-OVER");
    } else if (held && held->capture != kept->capture) {
        spoil(held->capture, a);
        spoil(kept->capture, a);
        model_refuse(a, VMM_ERROR_STREAM_CAPTURE_MERGE, "VMM-CAPTURE-MERGE");
    } else if (!stream) {
        spoil(kept->capture, a);
        model_refuse(a, VMM_ERROR_STREAM_CAPTURE_IMPLICIT, "VMM-CAPTURE-IMPLICIT");
    } else if (model_succeeded(a)) {
        struct model_held *lane = &m->graphs->lane[lane_of(m, stream)];
        if (!held)
            lane->reached.count = 0;
        lane->capture = kept->capture;
        for (size_t i = 0; i < kept->reached.count; i++)
            model_reach(&lane->reached, kept->reached.node[i]);
    }
}

/* A captured stream waits for an event that no capture recorded. */
static void isolated(const struct model *m, struct model_held *held, vmm_event value, struct model_answer *a)
{
    const struct model_event *event = event_of(m, value);
    a->foreseen = event != NULL;
    if (!event || !event->recorded)
        return;
    spoil(held->capture, a);
    model_refuse(a, VMM_ERROR_STREAM_CAPTURE_ISOLATION, "VMM-CAPTURE-ISOLATION");
}

/* With a flag, the wait itself becomes a node, unless the capture in which the event was recorded is over. */
static void wait_outside(struct model *m, struct model_held *held, const struct model_held *kept, const struct vmm_call_stream_wait_event *c,
                         struct model_answer *a)
{
    const struct model_event *event = event_of(m, c->event);
    const struct model_work work = {.type = VMM_GRAPH_NODE_TYPE_WAIT_EVENT, .event = (uint64_t)(uintptr_t)c->event,
                                    .device = event ? event->device : 0};
    a->foreseen = event || c->flags != VMM_EVENT_WAIT_EXTERNAL;
    if (c->flags != VMM_EVENT_WAIT_EXTERNAL)
        model_refuse(a, INVALID, "VMM-EVENT-WAIT-FLAGS");
    else if (kept && (kept->over || kept->capture->invalid)) {
        a->foreseen = kept->over || !m->driver;
        spoil(held->capture, a); /* as without the flag: not observed */
        model_refuse(a, INVALID, "VMM-CAPTURED-EVENT-OVER");
    } else if (a->foreseen)
        add(m, held, &work, a);
}

/* False: neither the stream nor the event is a capture's. */
static bool waits(struct model *m, const struct vmm_call_stream_wait_event *c, struct model_answer *a)
{
    struct model_held *held = held_by(m, lane_of(m, c->stream)), *kept = kept_by(m, c->event);
    if (kept && lacks_context(m, c->stream, a))
        return true;
    if (held && held->capture->invalid)
        return !model_refuse(a, VMM_ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    if (c->flags && !held && (!kept || !(kept->over || kept->capture->invalid)))
        return false;
    if (c->flags && held)
        wait_outside(m, held, kept, c, a);
    else if (kept && kept->capture && !c->flags)
        join(m, c->stream, kept, a);
    else if (kept)
        model_refuse(a, INVALID, "VMM-CAPTURED-EVENT-OVER");
    else if (held)
        isolated(m, held, c->event, a);
    if (!c->flags && held && kept && kept->over)
        spoil(held->capture, a);
    return held || kept;
}

/* ---- which calls are a capture's concern ---- */

static bool is_box(uint16_t id)
{
    return id == VMM_CALL_memcpy_3d_async || id == VMM_CALL_memcpy_3d_peer_async;
}

/* The stream that a call issues work to; false for other calls. */
static bool issues(const struct vmm_call *call, vmm_stream *stream)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    const bool work = vmm_call_has((enum vmm_call_id)call->id, CALL_QUEUES) || is_box(call->id) || call->id == VMM_CALL_graph_upload;
    for (size_t i = 0; work && i < count; i++)
        if (params[i].kind == VMM_PARAM_STREAM) {
            *stream = (vmm_stream)(uintptr_t)vmm_call_scalar(call, &params[i]);
            return true;
        }
    return false;
}

bool model_stays_behind(const struct model *model, const struct vmm_call *call)
{
    vmm_stream stream;
    if (model_may_query(model))
        return false;
    return model_copies_array(call) ||
           (issues(call, &stream) && !held_by(model, lane_of(model, stream)) &&
            call->id != VMM_CALL_event_record && call->id != VMM_CALL_stream_wait_event && call->id != VMM_CALL_graph_upload);
}

/* A call on a captured stream that no graph holds, and that spoils the capture. */
static bool is_held(struct model *m, vmm_stream stream, struct model_answer *a)
{
    struct model_held *held = held_by(m, lane_of(m, stream));
    if (held)
        spoil(held->capture, a);
    return held && !model_refuse(a, VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
}

/* A wait for a stream, or a query: for a captured stream it affects only that capture. */
static bool asks(struct model *m, vmm_stream stream, struct model_answer *a)
{
    return is_held(m, stream, a) || lacks_context(m, stream, a) || model_capture_forbids(m, a);
}

/* Calls of arrays (facts: arrays, K): what no argument refuses is forbidden, and no graph holds a map. */
static bool decides_array(struct model *m, const union vmm_any_call *any, struct model_answer *a)
{
    switch (any->head.id) {
    case VMM_CALL_array_3d_create:
    case VMM_CALL_mipmapped_array_create: return m->current >= 0 && model_capture_forbids(m, a);
    case VMM_CALL_array_destroy: return any->array_destroy.h_array && model_capture_forbids(m, a);
    case VMM_CALL_mipmapped_array_destroy:
        return any->mipmapped_array_destroy.h_mipmapped_array && model_capture_forbids(m, a);
    case VMM_CALL_mem_map_array_async:
        return any->mem_map_array_async.map_info_list && any->mem_map_array_async.count &&
               is_held(m, any->mem_map_array_async.stream, a);
    default: return false;
    }
}

/* The same of managed memory (facts: managed, C). */
static bool decides_managed(struct model *m, const union vmm_any_call *any, struct model_answer *a)
{
    const struct vmm_call_mem_alloc_managed *alloc = &any->mem_alloc_managed;
    switch (any->head.id) {
    case VMM_CALL_mem_alloc_managed:
        if (m->current < 0 || !alloc->dptr || !alloc->bytesize || (alloc->flags != VMM_MEM_ATTACH_GLOBAL && alloc->flags != VMM_MEM_ATTACH_HOST))
            return false;
        return a->writes_zero = model_capture_forbids(m, a);
    case VMM_CALL_mem_advise: return m->current >= 0 && model_managed_heeds(m, &any->mem_advise) && model_capture_forbids(m, a);
    case VMM_CALL_mem_prefetch_async:
        return !any->mem_prefetch_async.flags && model_managed_place(any->mem_prefetch_async.location) && is_held(m, any->mem_prefetch_async.stream, a);
    case VMM_CALL_mem_prefetch_batch_async: return !any->mem_prefetch_batch_async.flags && is_held(m, any->mem_prefetch_batch_async.stream, a);
    case VMM_CALL_mem_discard_batch_async: return !any->mem_discard_batch_async.flags && is_held(m, any->mem_discard_batch_async.stream, a);
    case VMM_CALL_mem_discard_and_prefetch_batch_async:
        return !any->mem_discard_and_prefetch_batch_async.flags && is_held(m, any->mem_discard_and_prefetch_batch_async.stream, a);
    case VMM_CALL_stream_attach_mem_async:
        return is_held(m, any->stream_attach_mem_async.stream, a) || model_capture_forbids(m, a);
    default: return false;
    }
}

/* Does the call change a pool, which a capture was measured to forbid? */
static bool is_pools(uint16_t id)
{
    return id >= VMM_CALL_mem_pool_create && id <= VMM_CALL_mem_pool_import_pointer && id != VMM_CALL_device_get_default_mem_pool &&
            id != VMM_CALL_device_get_mem_pool && id != VMM_CALL_mem_get_default_mem_pool && id != VMM_CALL_mem_get_mem_pool;
}

static bool is_array(uint16_t id)
{
    return id >= VMM_CALL_array_3d_create && id <= VMM_CALL_mem_map_array_async;
}

static bool takes(struct model *m, struct model_held *held, const union vmm_any_call *any, struct model_answer *a)
{
    const bool launch = any->head.id == VMM_CALL_graph_launch || any->head.id == VMM_CALL_graph_upload;
    if (launch || any->head.id == VMM_CALL_memcpy_3d_peer_async)
        a->foreseen = false; /* not observed of the second: here as a query of the stream */
    else if (any->head.id == VMM_CALL_memcpy_3d_async && !any->memcpy_3d_async.p_copy && !held->capture->invalid)
        model_refuse(a, INVALID, "VMM-BOX-NULL");
    else if (held->capture->invalid)
        a->writes_zero = !model_refuse(a, VMM_ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED") &&
                         (any->head.id == VMM_CALL_mem_alloc_async || any->head.id == VMM_CALL_mem_alloc_from_pool_async);
    else if (any->head.id == VMM_CALL_event_record)
        record(m, held, any->event_record.event, a);
    else
        add_work(m, held, any, a);
    return true;
}

bool model_capture_decides(struct model *model, const struct vmm_call *call, struct model_answer *answer)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    vmm_stream stream;
    if (call->id == VMM_CALL_stream_wait_event)
        return waits(model, &any->stream_wait_event, answer);
    if (!model_capturing(model))
        return false;
    switch (call->id) {
    case VMM_CALL_stream_query:
    case VMM_CALL_stream_synchronize: return asks(model, any->stream_query.stream, answer);
    case VMM_CALL_ctx_synchronize: return is_waited_for(model, answer);
    case VMM_CALL_graph_instantiate:
        return model_known_flags(any->graph_instantiate.flags) && model->current >= 0 && model_capture_forbids(model, answer);
    case VMM_CALL_mem_free:
    case VMM_CALL_graph_exec_destroy: return model_capture_forbids(model, answer);
    default: break;
    }
    if (is_array(call->id))
        return decides_array(model, any, answer);
    if (call->id >= VMM_CALL_mem_alloc_managed && call->id <= VMM_CALL_mem_discard_and_prefetch_batch_async)
        return decides_managed(model, any, answer);
    if (is_pools(call->id) && !model_may_query(model)) {
        answer->foreseen = false;
        return true;
    }
    struct model_held *held = issues(call, &stream) ? held_by(model, lane_of(model, stream)) : NULL;
    return held && takes(model, held, any, answer);
}
