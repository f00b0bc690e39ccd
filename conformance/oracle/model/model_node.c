/* SPDX-License-Identifier: Apache-2.0 */
/* model_node.c - what nodes of graphs hold. */
#include "model_graph_parts.h"
#include "model_managed.h"

#include <stdlib.h>
#include <string.h>

enum { KERNELS = 15, FILL_ARGUMENTS = 3, MOST_THREADS = 1024 };

/* ---- what nodes hold ---- */

static int device_of(const struct model *m, vmm_context context)
{
    for (size_t i = 0; i < m->context_count; i++)
        if (m->contexts[i].value == context)
            return m->contexts[i].device;
    return -1;
}

bool model_fill_allowed(struct model *model, const struct model_work *work, struct model_answer *answer)
{
    const vmm_memset_node_params *p = &work->fill;
    const uint64_t row = p->width * p->element_size;
    const struct model_transfer all = {
        .kind = MODEL_FILL, .to = p->dst, .size = (p->height - 1) * (p->height > 1 ? p->pitch : 0) + row};
    if (p->dst % p->element_size)
        return model_refuse(answer, INVALID, "VMM-SET-ALIGNMENT");
    if (p->height > 1 && (p->pitch % p->element_size || p->pitch < row))
        return model_refuse(answer, INVALID, "VMM-GRAPH-PARAMS");
    if (model_outside_blocks(model, all.to, all.size))
        answer->foreseen = false; /* what a pool has of freed memory is not followed */
    const struct model_managed *managed = model_managed_at(model, p->dst);
    if (managed && p->height > 1 && all.size > managed->size - (p->dst - managed->start)) {
        answer->foreseen &= !model->driver; /* not observed */
        return model_refuse(answer, INVALID, "VMM-ROWS-END");
    }
    return answer->foreseen && model_transfer_allowed(model, work->device, &all, answer);
}

bool model_context_given(struct model *m, const vmm_memset_node_params *p, vmm_context context, struct model_answer *a)
{
    const struct model_mapping *mapping = p && !context ? model_mapping_at(m, p->dst) : NULL;
    return !mapping || !mapping->handle || !model_in_device(m, mapping) || model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
}

bool model_fill_work(struct model *m, const vmm_memset_node_params *p, vmm_context context, struct model_work *work,
                     struct model_answer *a)
{
    if (model_graph_null(p, a))
        return false;
    if (p->element_size != 1 && p->element_size != 2 && p->element_size != 4)
        return model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    if (!p->width || !p->height)
        return model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    *work = (struct model_work){.type = VMM_GRAPH_NODE_TYPE_MEMSET, .fill = *p};
    work->context = context || m->current < 0 ? context : m->contexts[m->current].value;
    work->device = device_of(m, work->context);
    a->foreseen = work->device >= 0; /* not observed: a node without a context */
    return a->foreseen && model_fill_allowed(m, work, a);
}

bool model_copy_work(struct model *m, const vmm_memcpy3d *p, vmm_context context, bool open, struct model_work *work,
                     struct model_answer *a)
{
    if (model_graph_null(p, a))
        return false;
    if (!p->width_in_bytes || !p->height || !p->depth)
        return model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    *work = (struct model_work){.type = VMM_GRAPH_NODE_TYPE_MEMCPY};
    work->context = context || m->current < 0 ? context : m->contexts[m->current].value;
    work->device = device_of(m, work->context);
    work->unnamed = !context;
    a->foreseen = work->device >= 0; /* as of a fill */
    if (!a->foreseen || !model_box_allowed(m, work->device, p, open, &work->copy, a))
        return false;
    model_note_places(m, work);
    return true;
}

bool model_host_work(const vmm_host_node_params *p, struct model_work *work, struct model_answer *a)
{
    *work = (struct model_work){.type = VMM_GRAPH_NODE_TYPE_HOST};
    return !model_graph_null(p, a) && (p->fn || model_refuse(a, INVALID, "VMM-HOSTFUNC-NULL"));
}

bool model_kernel_work(const struct model *m, const vmm_kernel_node_params *p, struct model_work *work, struct model_answer *a)
{
    if (model_graph_null(p, a))
        return false;
    if (p->kernel < 0 || p->kernel >= KERNELS)
        return model_refuse(a, INVALID, "VMM-LAUNCH-KERNEL");
    if (!p->grid_dim || p->grid_dim > INT32_MAX || !p->block_dim || p->block_dim > MOST_THREADS)
        return model_refuse(a, INVALID, "VMM-LAUNCH-DIMENSIONS");
    a->foreseen = p->kernel == VMM_KERNEL_FILL;
    if (a->foreseen && p->count != FILL_ARGUMENTS)
        return model_refuse(a, INVALID, "VMM-LAUNCH-ARGUMENTS");
    *work = (struct model_work){.type = VMM_GRAPH_NODE_TYPE_KERNEL, .device = model_current_device(m)};
    if (a->foreseen)
        work->kernel = (struct model_access){.start = p->args[0], .size = p->args[1], .writes = true, .value = (uint8_t)p->args[2]};
    return a->foreseen;
}

bool model_event_work(const struct model *m, int type, vmm_event event, struct model_work *work, struct model_answer *a)
{
    *work = (struct model_work){.type = type, .event = (uint64_t)(uintptr_t)event};
    for (int i = 0; i < m->events; i++)
        if (m->event[i].value == work->event) {
            work->device = m->event[i].device;
            return true;
        }
    return event ? model_refuse(a, VMM_ERROR_INVALID_HANDLE, "VMM-EVENT-UNKNOWN") : !model_graph_null(event, a);
}

/* ---- adding nodes ---- */

struct add {
    vmm_graph_node *out;
    vmm_graph graph;
    const vmm_graph_node *on;
    uint64_t count;
};

#define ADD (&(const struct add){c->graph_node, c->graph, c->dependencies, c->num_dependencies})

static bool find_ends(struct model *m, const struct model_graph *graph, const struct add *add, struct model_node **ends,
                      struct model_answer *a)
{
    if (!model_find_nodes(m, graph, add->on, add->count, ends, a))
        return false;
    for (uint64_t i = 0; i < add->count; i++)
        for (uint64_t k = 0; k < i; k++)
            if (ends[k] == ends[i])
                return model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
    return true;
}

static void add_node(struct model *m, const struct add *add, const struct model_work *work, struct model_answer *a)
{
    struct model_graph *graph = model_graph_null(add->out, a) ? NULL : need_graph(m, add->graph, a);
    if (!graph)
        return;
    if (add->count > graph->count) {
        model_refuse(a, INVALID, "VMM-GRAPH-EDGE");
        return;
    }
    if (add->count && model_graph_null(add->on, a))
        return;
    struct model_node **ends = model_new((add->count + 1) * sizeof *ends);
    if (find_ends(m, graph, add, ends, a) && model_succeeded(a))
        model_node_know(m, model_node_add(m, graph, ends, add->count, work), (uint64_t)(uintptr_t)*add->out, a);
    free(ends);
}

MODEL_ON(graph_add_empty_node)
{
    add_node(m, ADD, &(struct model_work){.type = VMM_GRAPH_NODE_TYPE_EMPTY}, a);
}

#define ADDS(name, of)                                \
    MODEL_ON(graph_add_##name)                        \
    {                                                 \
        struct model_work work = {0};                 \
        if (of)                                       \
            add_node(m, ADD, &work, a);               \
    }

ADDS(memset_node, model_context_given(m, c->memset_params, c->ctx, a) && model_fill_work(m, c->memset_params, c->ctx, &work, a))
ADDS(memcpy_node, model_copy_work(m, c->copy_params, c->ctx, !c->ctx, &work, a))
ADDS(host_node, model_host_work(c->node_params, &work, a))
ADDS(kernel_node, model_kernel_work(m, c->node_params, &work, a) &&
                      (m->current >= 0 || model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT")))
ADDS(event_record_node, model_event_work(m, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, c->event, &work, a))
ADDS(event_wait_node, model_event_work(m, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, c->event, &work, a))

static bool lies_in(const struct model_graph *graph, const struct model_graph *outer)
{
    for (; graph && graph != outer; graph = graph->inside ? graph->inside->graph : NULL)
        continue;
    return graph != NULL;
}

/* A driver crashed on a graph within itself; within the graph of one of its nodes was not observed, and is refused alike. Nor was
 * which of several mistakes counts where the graph is a node's. */
MODEL_ON(graph_add_child_graph_node)
{
    const struct model_work work = {.type = VMM_GRAPH_NODE_TYPE_GRAPH, .child = need_graph(m, c->child_graph, a)};
    const bool within = work.child && lies_in(model_graph_of(m, c->graph), work.child);
    a->foreseen = !within || !m->driver;
    if (within) {
        model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    } else if (work.child && work.child->inside) {
        struct model_answer rest = {.asked = true, .foreseen = true, .actual = (vmm_result)-1}; /* so that nothing is added */
        if (m->driver)
            add_node(m, ADD, &work, &rest);
        a->foreseen = rest.result == VMM_SUCCESS;
        model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-GRAPH-OF-NODE");
    } else if (work.child)
        add_node(m, ADD, &work, a);
}

MODEL_ON(graph_destroy_node)
{
    struct model_node *node = need_node(m, c->node, a);
    const bool within = node && node->work.child && model_is_captured_into(m, node->work.child, true);
    if (node && within && !model_is_captured_into(m, node->graph, false))
        a->foreseen = !m->driver;
    if (node && (within || model_is_captured_into(m, node->graph, false)))
        model_refuse(a, VMM_ERROR_ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    else if (node && model_succeeded(a))
        model_node_end(m, node);
}

/* ---- asking nodes ---- */

struct model_node *model_node_is(struct model_node *node, int type, struct model_answer *a)
{
    if (node && node->work.type != type)
        model_refuse(a, INVALID, "VMM-GRAPH-NODE-TYPE");
    return node && node->work.type == type ? node : NULL;
}

MODEL_ON(graph_node_get_type)
{
    const struct model_node *node = model_graph_null(c->type, a) ? NULL : need_node(m, c->node, a);
    if (node && model_succeeded(a))
        model_expect(a, "type", (uint64_t)*c->type, (uint64_t)node->work.type);
}

MODEL_ON(graph_node_find_in_clone)
{
    if (model_graph_null(c->node, a) || model_graph_null(c->original_node, a))
        return;
    const struct model_graph *graph = need_graph(m, c->cloned_graph, a);
    struct model_node *node = graph ? model_copy_of(m, graph, (uint64_t)(uintptr_t)c->original_node, false) : NULL;
    if (graph && !node)
        a->writes_zero = !model_refuse(a, INVALID, "VMM-GRAPH-NODE");
    else if (graph && model_succeeded(a))
        model_node_know(m, node, (uint64_t)(uintptr_t)*c->node, a);
}

MODEL_ON(graph_child_graph_node_get_graph)
{
    struct model_node *node = model_graph_null(c->graph, a) ? NULL : model_node_is(need_node(m, c->node, a), VMM_GRAPH_NODE_TYPE_GRAPH, a);
    if (!node || !model_succeeded(a))
        return;
    struct model_graph *child = node->work.child;
    if (!child->value)
        model_expect(a, "graph equals another one", model_graph_of(m, *c->graph) || !*c->graph, false);
    else
        model_expect(a, "graph", (uint64_t)(uintptr_t)*c->graph, child->value);
    child->value = (uint64_t)(uintptr_t)*c->graph;
    child->tag = child->tag ? child->tag : m->tag;
}

static void get_event(struct model *m, vmm_graph_node value, int type, const vmm_event *out, struct model_answer *a)
{
    const struct model_node *node = model_graph_null(out, a) ? NULL : model_node_is(need_node(m, value, a), type, a);
    if (node && model_succeeded(a))
        model_expect(a, "event_out", (uint64_t)(uintptr_t)*out, node->work.event);
}

MODEL_ON(graph_event_record_node_get_event)
{
    get_event(m, c->node, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, c->event_out, a);
}

MODEL_ON(graph_event_wait_node_get_event)
{
    get_event(m, c->node, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, c->event_out, a);
}

MODEL_ON(graph_memcpy_node_get_params)
{
    const struct model_node *node = model_graph_null(c->node_params, a) ? NULL : model_node_is(need_node(m, c->node, a), VMM_GRAPH_NODE_TYPE_MEMCPY, a);
    if (!node || !model_succeeded(a))
        return;
    const vmm_memcpy3d *is = &node->work.copy.asked;
    for (int i = 0; i < VMM_BOX_SIZES; i++)
        model_expect(a, vmm_box_sizes[i].name, *vmm_box_size_at(c->node_params, &vmm_box_sizes[i]), *vmm_box_size_at(is, &vmm_box_sizes[i]));
    model_expect(a, "src_memory_type", (uint64_t)c->node_params->src_memory_type, (uint64_t)is->src_memory_type);
    model_expect(a, "dst_memory_type", (uint64_t)c->node_params->dst_memory_type, (uint64_t)is->dst_memory_type);
    model_expect(a, "src", vmm_box_src(c->node_params), vmm_box_src(is));
    model_expect(a, "dst", vmm_box_dst(c->node_params), vmm_box_dst(is));
}

/* ---- changing nodes ---- */

static void set(struct model *m, vmm_graph_node value, const struct model_work *work, struct model_answer *a)
{
    struct model_node *node = model_node_is(need_node(m, value, a), work->type, a);
    if (node && model_succeeded(a))
        node->work = *work;
}

/* The context of a fill stays. */
MODEL_ON(graph_memset_node_set_params)
{
    struct model_work work = {0};
    const struct model_node *node = model_node_of(m, c->node);
    if (node && node->work.type < VMM_GRAPH_NODE_TYPE_MEMSET)
        a->foreseen = false; /* not observed: whose rights count for a kernel or copy, which is refused for its type */
    else if (model_fill_work(m, c->node_params, node ? node->work.context : NULL, &work, a))
        set(m, c->node, &work, a);
}

MODEL_ON(graph_memcpy_node_set_params)
{
    struct model_work work = {0};
    const struct model_node *node = model_node_of(m, c->node);
    if (node && node->work.type == VMM_GRAPH_NODE_TYPE_KERNEL)
        a->foreseen = false; /* as above */
    else {
        const vmm_context context = node && !node->work.unnamed ? node->work.context : NULL;
        const bool may = model_copy_work(m, c->node_params, m->current >= 0 ? NULL : context, m->current < 0, &work, a);
        work.unnamed = m->current < 0; /* its context is the current one from now on, or none */
        if (may)
            set(m, c->node, &work, a);
    }
}

MODEL_ON(graph_kernel_node_set_params)
{
    struct model_work work = {0};
    const struct model_node *node = model_node_of(m, c->node);
    if (!model_kernel_work(m, c->node_params, &work, a))
        return;
    if (node && node->work.type == VMM_GRAPH_NODE_TYPE_KERNEL && m->current < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    else
        set(m, c->node, &work, a);
}

MODEL_ON(graph_host_node_set_params)
{
    struct model_work work = {0};
    if (model_host_work(c->node_params, &work, a))
        set(m, c->node, &work, a);
}

MODEL_ON(graph_event_record_node_set_event)
{
    struct model_work work = {0};
    if (model_event_work(m, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, c->event, &work, a))
        set(m, c->node, &work, a);
}

MODEL_ON(graph_event_wait_node_set_event)
{
    struct model_work work = {0};
    if (model_event_work(m, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, c->event, &work, a))
        set(m, c->node, &work, a);
}
