/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of instances: a graph's nodes are paired with the instance's from the leaves on, each with its dependencies in their
 * order, and each node of the instance takes over the work of its partner.
 *
 *     instance   0 > 1 > 2 > 3      the leaves are paired in their order: 3 with c, then what they depend on: 2 with b ...
 *     graph      x > a > b > c
 */
#include <string.h>

#include "call_graph.h"
#include "copy_places.h"
#include "heap.h"
#include "user_objects.h"

/* ---- what a node can adopt ---- */

static bool is_rows(const vmm_memcpy3d *copy)
{
    return copy->height > 1 || copy->depth > 1;
}

static const char *fill_forbids(const struct graph_work *now, const struct graph_work *next)
{
    const vmm_memset_node_params *a = &now->fill, *b = &next->fill;
    if (now->context != next->context)
        return "the context differs";
    bool rows = a->height > 1 || b->height > 1;
    bool same = a->width == b->width && a->height == b->height && a->pitch == b->pitch && a->element_size == b->element_size;
    return rows && !same ? "only the address of a fill of several rows can change" : NULL;
}

static bool same_sides(const vmm_memcpy3d *a, const vmm_memcpy3d *b)
{
    return a->src_array == b->src_array && a->dst_array == b->dst_array && a->src_host == b->src_host && a->src_device == b->src_device && a->src_x_in_bytes == b->src_x_in_bytes && a->src_y == b->src_y &&
           a->src_z == b->src_z && a->src_pitch == b->src_pitch && a->src_height == b->src_height && a->dst_host == b->dst_host &&
           a->dst_device == b->dst_device && a->dst_x_in_bytes == b->dst_x_in_bytes && a->dst_y == b->dst_y && a->dst_z == b->dst_z &&
           a->dst_pitch == b->dst_pitch && a->dst_height == b->dst_height;
}

/* An identical description changes nothing, even in fields that the memory types make irrelevant, as measured. */
static const char *copy_forbids(const struct graph_work *now, const struct graph_work *next)
{
    const vmm_memcpy3d *a = &now->copy, *b = &next->copy;
    if (now->unnamed && !next->unnamed) /* the reverse is accepted, as measured */
        return "the node was added without a context, but this names one";
    if (now->programs != next->programs)
        return "one side has changed between the program's memory and other memory";
    if (a->src_memory_type != b->src_memory_type || a->dst_memory_type != b->dst_memory_type)
        return "the types of memory differ";
    if (!copy_places_same(now->from, next->from) || !copy_places_same(now->to, next->to))
        return "one side is memory of another device, or other devices have rights to it";
    if (!is_rows(a) && !is_rows(b))
        return NULL;
    return a->width_in_bytes == b->width_in_bytes && a->height == b->height && a->depth == b->depth && same_sides(a, b)
               ? NULL
               : "a copy of several rows or layers cannot change";
}

static bool flushes(const vmm_stream_batch_mem_op_params *op)
{
    return mem_op_waits(op->operation) && (op->wait_value.flags & VMM_STREAM_WAIT_VALUE_FLUSH);
}

/* As documented (cuda.h 13.0, cuGraphExecBatchMemOpNodeSetParams); not tested on a driver. */
static const char *mem_op_forbids(const struct graph_work *now, const struct graph_work *next)
{
    const vmm_stream_batch_mem_op_params *a = now->ops.param_array, *b = next->ops.param_array;
    if (now->context != next->context || now->ops.count != next->ops.count)
        return "the context or the number of operations differs";
    for (unsigned i = 0; i < now->ops.count; i++)
        if (a[i].operation != b[i].operation || flushes(&a[i]) != flushes(&b[i]))
            return "the kind of an operation, or whether it flushes, has changed";
    return NULL;
}

const char *graph_update_forbids(const struct graph_work *now, const struct graph_work *next)
{
    if (now->memory != next->memory) /* no driver was asked */
        return "it allocates or frees other memory";
    switch (next->type) {
    case VMM_GRAPH_NODE_TYPE_MEMSET: return fill_forbids(now, next);
    case VMM_GRAPH_NODE_TYPE_MEMCPY: return copy_forbids(now, next);
    case VMM_GRAPH_NODE_TYPE_BATCH_MEM_OP: return mem_op_forbids(now, next);
    case VMM_GRAPH_NODE_TYPE_KERNEL: return now->context == next->context ? NULL : "the kernel belongs to another context";
    case VMM_GRAPH_NODE_TYPE_EVENT_RECORD: /* as measured on two H200 for a wait */
    case VMM_GRAPH_NODE_TYPE_WAIT_EVENT: return now->owner == next->owner ? NULL : "the event belongs to another context";
    default: return NULL;
    }
}

/* ---- pairs ---- */

struct pairs {
    struct graph_node **of; /* by the index of an instance's node: its partner */
    struct graph_update_answer *answer;
};

static bool differ(struct pairs *pairs, enum graph_update_how how, struct graph_node *node)
{
    *pairs->answer = (struct graph_update_answer){how, node};
    return false;
}

/* Pairs the two; *fresh: they were not paired yet. */
static bool pair(struct pairs *pairs, const struct graph_node *now, struct graph_node *next, bool *fresh)
{
    struct graph_node **partner = &pairs->of[now->index];
    *fresh = !*partner;
    if ((*partner && *partner != next) || (next->left && next->left != now->index + 1) || now->in.count != next->in.count)
        return differ(pairs, GRAPH_UPDATE_TOPOLOGY, next);
    *partner = next;
    next->left = now->index + 1;
    return true;
}

static bool pair_last(struct pairs *pairs, const struct graph *instance, const struct graph *graph, struct graph_node **order,
                      size_t *known)
{
    struct graph_node *now = instance->first_leaf, *next = graph->first_leaf;
    bool fresh;
    for (; now && next; now = now->leaf_after, next = next->leaf_after) {
        if (!pair(pairs, now, next, &fresh))
            return false;
        order[(*known)++] = now;
    }
    if (!now && !next)
        return true;
    return differ(pairs, GRAPH_UPDATE_TOPOLOGY, graph->first_leaf);
}

/* order has room for all nodes. */
static bool pair_all(struct pairs *pairs, const struct graph *instance, const struct graph *graph, struct graph_node **order)
{
    size_t known = 0;
    bool fresh;
    if (instance->count != graph->count)
        return differ(pairs, GRAPH_UPDATE_TOPOLOGY, NULL);
    if (!pair_last(pairs, instance, graph, order, &known))
        return false;
    for (size_t at = 0; at < known; at++) {
        const struct graph_node *now = order[at], *next = pairs->of[now->index];
        for (size_t i = 0; i < now->in.count; i++) {
            if (!pair(pairs, now->in.edge[i].node, next->in.edge[i].node, &fresh))
                return false;
            if (fresh)
                order[known++] = now->in.edge[i].node;
        }
    }
    return true;
}

/* ---- one graph and its children: first all checks, then all changes ---- */

static vmm_result walk(const struct sim_process *process, struct graph *instance, const struct graph *graph, bool change,
                       struct graph_update_answer *answer);

static vmm_result refuse(const struct graph_update_answer *answer, const char *what)
{
    const uint64_t node = answer->node ? answer->node->value : 0;
    char shown[GRAPH_SHOWN];
    return graph_refuse(VMM_RULE_GRAPH_UPDATE, node, "result %d, at node %s: %s", answer->how, graph_shown(node, shown), what);
}

/* As measured, an unchanged node may have lost its memory. */
static bool is_same_fill(const vmm_memset_node_params *a, const vmm_memset_node_params *b)
{
    return a->dst == b->dst && a->pitch == b->pitch && a->value == b->value && a->element_size == b->element_size && a->width == b->width &&
           a->height == b->height;
}

static vmm_result check_node(const struct sim_process *process, const struct graph_node *now, struct graph_node *next,
                             struct pairs *pairs)
{
    const struct graph_work *from = graphs_work(now), *to = graphs_work(next);
    if (from->type != to->type) {
        differ(pairs, GRAPH_UPDATE_NODE_TYPE, next);
        return refuse(pairs->answer, "the node has a different type");
    }
    const char *why = graph_update_forbids(from, to);
    if (why) {
        differ(pairs, GRAPH_UPDATE_PARAMETERS, next);
        return refuse(pairs->answer, why);
    }
    if (from->type == VMM_GRAPH_NODE_TYPE_MEMSET && !is_same_fill(&from->fill, &to->fill) && graph_fill_check_again(process, to) != VMM_SUCCESS) {
        differ(pairs, GRAPH_UPDATE_ERROR, next);
        return refuse(pairs->answer, "its memory cannot be filled");
    }
    return from->child ? walk(process, from->child, to->child, false, pairs->answer) : VMM_SUCCESS;
}

static vmm_result change_node(const struct sim_process *process, struct graph_node *now, const struct graph_node *next,
                              struct pairs *pairs)
{
    const struct graph_work *work = graphs_work(now);
    return work->child ? walk(process, work->child, graphs_work(next)->child, true, pairs->answer)
                       : graph_replace_work(now, graphs_work(next));
}

static vmm_result walk_pairs(const struct sim_process *process, struct graph *instance, bool change, struct pairs *pairs)
{
    vmm_result result = VMM_SUCCESS;
    for (struct graph_node *now = instance->last; now && result == VMM_SUCCESS; now = now->before) /* the latest first, as measured */
        result = change ? change_node(process, now, pairs->of[now->index], pairs)
                        : check_node(process, now, pairs->of[now->index], pairs);
    return result;
}

static vmm_result walk(const struct sim_process *process, struct graph *instance, const struct graph *graph, bool change,
                       struct graph_update_answer *answer)
{
    struct pairs pairs = {heap.calloc(instance->count + 1, sizeof *pairs.of), answer};
    struct graph_node **order = heap.malloc((instance->count + 1) * sizeof *order);
    vmm_result result;
    graph_number(instance);
    for (struct graph_node *node = graph->first; node; node = node->after)
        node->left = 0;
    if (!pairs.of || !order)
        result = sim_out_of_host_memory();
    else if (!pair_all(&pairs, instance, graph, order))
        result = refuse(answer, "the nodes or their dependencies differ");
    else
        result = walk_pairs(process, instance, change, &pairs);
    heap.free(pairs.of);
    heap.free(order);
    return result;
}

vmm_result graph_update(const struct sim_process *process, struct graph *instance, const struct graph *graph,
                        struct graph_update_answer *answer)
{
    *answer = (struct graph_update_answer){GRAPH_UPDATE_DONE, NULL};
    vmm_result result = walk(process, instance, graph, false, answer);
    if (result == VMM_SUCCESS && !user_objects_update(graphs_more(instance), graphs_more(graph), graphs_of(graph)))
        result = sim_out_of_host_memory();
    return result == VMM_SUCCESS ? walk(process, instance, graph, true, answer) : result;
}

/* ---- the first version: nodes are paired in the order in which they were added ---- */

/* Were as many nodes added to both, in children too? Nodes that were removed later count as well. */
static bool as_many(const struct graph *a, const struct graph *b)
{
    const struct graph_node *x = a->first, *y = b->first;
    bool same = graphs_more(a)->made == graphs_more(b)->made;
    for (; same && x && y; x = x->after, y = y->after)
        if (graphs_work(x)->child && graphs_work(y)->child)
            same = as_many(graphs_work(x)->child, graphs_work(y)->child);
    return same && !x == !y;
}

static bool same_dependencies(const struct graph_node *a, const struct graph_node *b)
{
    if (a->in.count != b->in.count)
        return false;
    for (size_t i = 0; i < a->in.count; i++)
        if (a->in.edge[i].node->index != b->in.edge[i].node->index)
            return false;
    return true;
}

vmm_result graph_update_as_added(const struct graph *instance, const struct graph *graph, struct graph_update_answer *answer)
{
    const struct graph_node *now = instance->first, *next = graph->first;
    if (!as_many(instance, graph)) {
        *answer = (struct graph_update_answer){GRAPH_UPDATE_NOT_SUPPORTED, NULL};
        return refuse(answer, "the graphs had different numbers of nodes");
    }
    graph_number(instance);
    graph_number(graph);
    for (; now; now = now->after, next = next->after)
        if (!same_dependencies(now, next)) {
            *answer = (struct graph_update_answer){GRAPH_UPDATE_TOPOLOGY, graph->first};
            return refuse(answer, "the dependencies differ");
        }
    return VMM_SUCCESS;
}

/* ---- the call ---- */

vmm_result graph_update_exec(const struct sim_process *process, vmm_graph_exec value, vmm_graph of, bool old,
                             struct graph_update_answer *answer)
{
    vmm_result result = VMM_SUCCESS;
    *answer = (struct graph_update_answer){GRAPH_UPDATE_DONE, NULL};
    const struct graph_exec *exec = graph_need_exec(process->graphs, value, &result);
    const struct graph *graph = exec ? graph_need(process->graphs, of, &result) : NULL;
    if (graph && graphs_more(graph)->inside)
        return graph_refuse(VMM_RULE_GRAPH_UNKNOWN, graph->value, "%p belongs to a node: an instance cannot be updated from "
                                                                  "it", (void *)of);
    if (graph && old)
        result = graph_update_as_added(exec->graph, graph, answer);
    return graph && result == VMM_SUCCESS ? graph_update(process, exec->graph, graph, answer) : result;
}

vmm_result sim_graph_exec_update(struct sim_process *process, const struct vmm_call_graph_exec_update *call)
{
    struct graph_update_answer answer;
    vmm_graph_exec_update_result_info *info = call->result_info;
    vmm_result result = graph_update_exec(process, call->graph_exec, call->graph, false, &answer);
    if (info) {
        memset(info, 0, sizeof *info); /* with the bytes between its members, as the driver does */
        info->result = (vmm_graph_exec_update_result)answer.how;
        info->error_node = (vmm_graph_node)(uintptr_t)(answer.node ? answer.node->value : 0);
    }
    return result;
}
