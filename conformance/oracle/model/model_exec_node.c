/* SPDX-License-Identifier: Apache-2.0 */
/* model_exec_node.c - what nodes of instances hold. */
#include "model_graph_parts.h"

static struct model_node *node_of_exec(const struct model *m, vmm_graph_exec exec, vmm_graph_node value, struct model_answer *a)
{
    const struct model_exec *found = model_exec_of(m, exec);
    struct model_node *node = found ? model_copy_of(m, found->graph, (uint64_t)(uintptr_t)value, true) : NULL;
    if (!node)
        model_refuse(a, INVALID, found ? "VMM-GRAPH-NODE" : "VMM-GRAPH-EXEC");
    return node;
}

/* Which memory a pool has there: another number once it has given that back; 0: none. */
static uint64_t pool_memory(const struct model *m, uint64_t address)
{
    for (size_t i = 0; i < m->pool_count; i++) {
        const struct model_pool *pool = m->pools[i];
        const uint64_t slot = (address - pool->start) / (pool->heap.slot ? pool->heap.slot : 1);
        if (!pool->gone && pool->based && address >= pool->start && slot < pool->heap.slots)
            return pool->heap.backed[slot] ? pool->heap.turn[slot] : 0;
    }
    return 0;
}

/* Memory that other processes may be given: a driver refused once that a copy no longer uses it. */
static bool is_shareable(struct model *m, uint64_t address)
{
    const struct model_mapping *there = model_mapping_at(m, address);
    const struct model_memory *memory = there ? model_memory_of(m, there->handle) : NULL;
    return memory && memory->prop.requested_handle_types;
}

/* Memory that may be compressed: a driver refused three times that a copy comes to use it, or no longer does; what it was when the copy
 * was described counts. */
static bool is_compressible(struct model *m, uint64_t address)
{
    const struct model_mapping *there = model_mapping_at(m, address);
    const struct model_memory *memory = there ? model_memory_of(m, there->handle) : NULL;
    return memory && memory->prop.alloc_flags.compression_type;
}

static uint64_t place_at(struct model *m, uint64_t address)
{
    const struct model_mapping *there = model_memory_at(m, address);
    const struct model_block *block = model_block_at(m, address);
    const struct model_mapping *mapping = model_mapping_at(m, address);
    const struct model_memory *memory = mapping ? model_memory_of(m, mapping->handle) : NULL;
    const int device = memory ? memory->prop.location.id : block ? block->pool->device : 0;
    uint64_t place = 1 + (uint64_t)device;
    if (!there || !model_in_device(m, there))
        return 0;
    for (int i = 0; i < VMM_MAX_DEVICES; i++)
        place |= (uint64_t)(model_device_rights(there, i) != 0) << (8 + i);
    return place;
}

static bool is_for_host(struct model *m, uint64_t address, int device)
{
    const struct model_mapping *there = model_mapping_at(m, address);
    return there && !model_in_device(m, there) && !model_device_rights(there, device);
}

void model_note_places(struct model *model, struct model_work *work)
{
    const vmm_memcpy3d *asked = &work->copy.asked;
    work->from = place_at(model, asked->src_memory_type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)asked->src_host : asked->src_device);
    work->to = place_at(model, asked->dst_memory_type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)asked->dst_host : asked->dst_device);
    work->by_host = is_for_host(model, work->copy.row.to, work->device) || is_for_host(model, work->copy.row.from, work->device);
    work->shared = (is_shareable(model, work->copy.row.to) ? 1u : 0u) | (is_shareable(model, work->copy.row.from) ? 2u : 0u);
    work->packed = is_compressible(model, work->copy.row.to) || is_compressible(model, work->copy.row.from);
}

static void note_work(struct model *m, struct model_work *work)
{
    work->memory = pool_memory(m, work->copy.row.to);
    work->packed |= work->type == VMM_GRAPH_NODE_TYPE_MEMCPY &&
                    (is_compressible(m, work->copy.row.to) || is_compressible(m, work->copy.row.from));
}

static void set_in(struct model *m, struct model_node *node, struct model_work *work, struct model_answer *a)
{
    node = model_node_is(node, work->type, a);
    if (!node || !model_succeeded(a))
        return;
    work->disabled = node->work.disabled;
    work->unnamed &= node->work.unnamed;
    work->crashes |= node->work.crashes;
    node->work = *work;
    note_work(m, &node->work);
}

static bool has_rows(const vmm_memcpy3d *p)
{
    return p->height > 1 || p->depth > 1;
}

static bool has_same_places(const vmm_memcpy3d *is, const vmm_memcpy3d *next)
{
    const uint64_t from[][2] = {{(uintptr_t)is->src_host, (uintptr_t)next->src_host}, {is->src_device, next->src_device},
                                {is->src_x_in_bytes, next->src_x_in_bytes}, {is->src_y, next->src_y}, {is->src_z, next->src_z},
                                {is->src_height, next->src_height}, {(uintptr_t)is->dst_host, (uintptr_t)next->dst_host},
                                {is->dst_device, next->dst_device}, {is->dst_x_in_bytes, next->dst_x_in_bytes}, {is->dst_y, next->dst_y},
                                {is->dst_z, next->dst_z}, {is->dst_height, next->dst_height}};
    bool same = true;
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++)
        same &= from[i][0] == from[i][1];
    return same;
}

/* A fill keeps its context, and a kernel; a copy without one stays so, and keeps the types of its memory and the devices of that; one of several rows keeps its shape, and a copy of them stays as it is. */
bool model_work_fits(const struct model_work *now, const struct model_work *then)
{
    const vmm_memset_node_params *a = &now->fill, *b = &then->fill;
    const vmm_memcpy3d *is = &now->copy.asked, *next = &then->copy.asked;
    if (now->type == VMM_GRAPH_NODE_TYPE_MEMSET)
        return now->context == then->context &&
               ((a->height <= 1 && b->height <= 1) || (a->width == b->width && a->height == b->height && a->pitch == b->pitch &&
                                                       a->element_size == b->element_size));
    if (now->type == VMM_GRAPH_NODE_TYPE_EVENT_RECORD || now->type == VMM_GRAPH_NODE_TYPE_WAIT_EVENT)
        return now->device == then->device;
    if (now->type == VMM_GRAPH_NODE_TYPE_KERNEL)
        return now->device == then->device;
    if (now->type != VMM_GRAPH_NODE_TYPE_MEMCPY)
        return true;
    if (now->from != then->from || now->to != then->to) /* mapped memory of the host is another place, too */
        return false;
    const bool types = is->src_memory_type == next->src_memory_type && is->dst_memory_type == next->dst_memory_type;
    const bool same = is->width_in_bytes == next->width_in_bytes && is->height == next->height && is->depth == next->depth &&
                      is->src_pitch == next->src_pitch && is->dst_pitch == next->dst_pitch && has_same_places(is, next);
    return types && (!now->unnamed || then->unnamed) && now->copy.row.kind == then->copy.row.kind && ((!has_rows(is) && !has_rows(next)) || same);
}

void model_note_memory(struct model *m, struct model_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        note_work(m, &graph->node[i]->work);
        if (graph->node[i]->work.child)
            model_note_memory(m, graph->node[i]->work.child);
    }
}

bool model_has_other_memory(struct model *m, const struct model_work *work)
{
    const struct model_transfer *row = &work->copy.row;
    return work->type == VMM_GRAPH_NODE_TYPE_MEMCPY && row->kind == MODEL_FROM_PROGRAM && work->memory != pool_memory(m, row->to);
}

static void set_fitting(struct model *m, struct model_node *node, struct model_work *work, struct model_answer *a)
{
    if (node && !model_work_fits(&node->work, work))
        model_refuse(a, INVALID, "VMM-GRAPH-PARAMS");
    else if (node)
        set_in(m, node, work, a);
}

MODEL_ON(graph_exec_memset_node_set_params)
{
    struct model_work work = {0};
    bool fits = model_context_given(m, c->memset_params, c->ctx, a) && model_fill_work(m, c->memset_params, c->ctx, &work, a);
    struct model_node *node = fits ? node_of_exec(m, c->graph_exec, c->node, a) : NULL;
    set_fitting(m, model_node_is(node, VMM_GRAPH_NODE_TYPE_MEMSET, a), &work, a);
}

MODEL_ON(graph_exec_memcpy_node_set_params)
{
    struct model_work work = {0};
    struct model_node *node = model_copy_work(m, c->copy_params, c->ctx, false, &work, a) ? node_of_exec(m, c->graph_exec, c->node, a) : NULL;
    const bool changes = node && (node->work.shared != work.shared || node->work.packed || is_compressible(m, work.copy.row.to) ||
                                  is_compressible(m, work.copy.row.from));
    if (m->driver && changes && node->work.type == VMM_GRAPH_NODE_TYPE_MEMCPY && model_work_fits(&node->work, &work))
        a->foreseen = false;
    else
        set_fitting(m, model_node_is(node, VMM_GRAPH_NODE_TYPE_MEMCPY, a), &work, a);
}

MODEL_ON(graph_exec_kernel_node_set_params)
{
    struct model_work work = {0};
    struct model_node *node = model_kernel_work(m, c->node_params, &work, a) ? node_of_exec(m, c->graph_exec, c->node, a) : NULL;
    node = model_node_is(node, VMM_GRAPH_NODE_TYPE_KERNEL, a);
    if (node && m->current < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    else
        set_fitting(m, node, &work, a);
}

static void set_event_in(struct model *m, vmm_graph_exec exec, vmm_graph_node value, int type, vmm_event event, struct model_answer *a)
{
    struct model_work work = {0};
    struct model_node *node = model_event_work(m, type, event, &work, a) ? node_of_exec(m, exec, value, a) : NULL;
    set_fitting(m, model_node_is(node, type, a), &work, a);
}

MODEL_ON(graph_exec_event_record_node_set_event)
{
    set_event_in(m, c->graph_exec, c->node, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, c->event, a);
}

MODEL_ON(graph_exec_event_wait_node_set_event)
{
    set_event_in(m, c->graph_exec, c->node, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, c->event, a);
}

MODEL_ON(graph_exec_host_node_set_params)
{
    struct model_work work = {0};
    struct model_node *node = model_host_work(c->node_params, &work, a) ? node_of_exec(m, c->graph_exec, c->node, a) : NULL;
    if (node)
        set_in(m, node, &work, a);
}

/* Kernels, copies and fills can be left out. */
static struct model_node *switchable(struct model *m, vmm_graph_exec exec, vmm_graph_node value, struct model_answer *a)
{
    struct model_node *node = node_of_exec(m, exec, value, a);
    if (node && node->work.type > VMM_GRAPH_NODE_TYPE_MEMSET)
        model_refuse(a, INVALID, "VMM-GRAPH-NODE-TYPE");
    return node && node->work.type <= VMM_GRAPH_NODE_TYPE_MEMSET ? node : NULL;
}

MODEL_ON(graph_node_set_enabled)
{
    struct model_node *node = switchable(m, c->graph_exec, c->node, a);
    if (node && model_succeeded(a))
        node->work.disabled = !c->is_enabled;
}

MODEL_ON(graph_node_get_enabled)
{
    const struct model_node *node = model_graph_null(c->is_enabled, a) ? NULL : switchable(m, c->graph_exec, c->node, a);
    if (node && model_succeeded(a))
        model_expect(a, "is_enabled", *c->is_enabled, !node->work.disabled);
}
