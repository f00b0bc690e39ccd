/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: creating and destroying them, their nodes and the nodes' parameters. A node is checked when it is made, and its
 * work is looked up again when a launch reaches it (call_graph_exec.c). */
#include "call_graph.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "copy_places.h"
#include "graph_alloc.h"
#include "launch.h"
#include "mem_op.h"
#include "mem_op_check.h"
#include "rows.h"

/* ---- refusals, and values ---- */

vmm_result graph_refuse(enum vmm_rule_id rule, uint64_t value, const char *format, ...)
{
    char note[sizeof((vmm_detail *)0)->note];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    vmm_result result = vmm_detail_refuse(rule, value, 0, NULL);
    vmm_detail_note("%s", note);
    return result;
}

vmm_result graph_refuse_value(enum vmm_rule_id rule, const char *argument, uint64_t value, const char *note)
{
    vmm_result result = graph_refuse(rule, value, "%s", note);
    vmm_detail_argument(argument);
    return result;
}

vmm_result graph_null(const char *argument)
{
    return graph_refuse(VMM_RULE_GRAPH_NULL, 0, "%s is NULL", argument);
}

const char *graph_shown(uint64_t value, char text[GRAPH_SHOWN])
{
    snprintf(text, GRAPH_SHOWN, value ? "0x%" PRIx64 : "NULL", value);
    return text;
}

static uint64_t number_of(const void *value)
{
    return (uint64_t)(uintptr_t)value;
}

struct graph *graph_need(const struct sim_graphs *all, vmm_graph value, vmm_result *result)
{
    struct graph *graph = graphs_find(all, value);
    char shown[GRAPH_SHOWN];
    if (!graph)
        *result = graph_refuse(VMM_RULE_GRAPH_UNKNOWN, number_of(value), "%s is not a graph", graph_shown(number_of(value), shown));
    return graph;
}

struct graph_node *graph_need_node(const struct sim_graphs *all, vmm_graph_node value, vmm_result *result)
{
    struct graph_node *node = graphs_find_node(all, value);
    char shown[GRAPH_SHOWN];
    if (!node)
        *result = graph_refuse(VMM_RULE_GRAPH_NODE, number_of(value), "%s is not a node", graph_shown(number_of(value), shown));
    return node;
}

struct graph_exec *graph_need_exec(const struct sim_graphs *all, vmm_graph_exec value, vmm_result *result)
{
    struct graph_exec *exec = graphs_find_exec(all, value);
    char shown[GRAPH_SHOWN];
    if (!exec)
        *result = graph_refuse(VMM_RULE_GRAPH_EXEC, number_of(value), "%s is not an instance of a graph",
                               graph_shown(number_of(value), shown));
    return exec;
}

vmm_result graph_fixed(const struct graph *graph, const char *what)
{
    if (!graphs_allocate(graph))
        return VMM_SUCCESS;
    return graph_refuse(VMM_RULE_GRAPH_MEMORY_FIXED, graph->value, "%p has nodes that allocate or free memory, and %s",
                        (void *)(uintptr_t)graph->value, what);
}

/* ---- graphs ---- */

static vmm_result give(struct graph *graph, vmm_graph *out)
{
    if (!graph)
        return sim_out_of_host_memory();
    *out = (vmm_graph)(uintptr_t)graph->value;
    return VMM_SUCCESS;
}

vmm_result sim_graph_create(struct sim_process *process, const struct vmm_call_graph_create *call)
{
    if (call->flags)
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", call->flags, "it must be 0");
    return call->graph ? give(graphs_make(process->graphs), call->graph) : graph_null("phGraph");
}

vmm_result sim_graph_destroy(struct sim_process *process, const struct vmm_call_graph_destroy *call)
{
    vmm_result result = VMM_SUCCESS;
    struct graph *graph = graph_need(process->graphs, call->graph, &result);
    if (!graph)
        return result;
    if (graphs_more(graph)->inside && !capture_within(process, graph))
        return graph_refuse(VMM_RULE_GRAPH_UNKNOWN, graph->value, "%p belongs to a node and ends with it", (void *)call->graph);
    if (capture_within(process, graph))
        return graph_refuse(VMM_RULE_CAPTURE_STATE, graph->value, "a stream is being captured into %p, or into the graph of a node in it",
                            (void *)call->graph);
    graphs_end(graph);
    return VMM_SUCCESS;
}

vmm_result sim_graph_clone(struct sim_process *process, const struct vmm_call_graph_clone *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->graph_clone)
        return graph_null("phGraphClone");
    const struct graph *graph = graph_need(process->graphs, call->original_graph, &result);
    if (graph)
        result = graph_fixed(graph, "cannot be copied");
    return result == VMM_SUCCESS ? give(graphs_copy(graph), call->graph_clone) : result;
}

/* ---- what nodes hold ---- */

/* Reports a fault of the current context's device, if there is one. */
static vmm_result check_device(struct sim_process *process)
{
    const struct sim_context *context = sim_current(process);
    return context ? sim_context_check(process, context, false) : VMM_SUCCESS;
}

int graph_device(const struct sim_process *process, vmm_context value)
{
    void *context;
    bool live = slots_find(&process->contexts, number_of(value), &context) == SLOT_LIVE;
    return live ? ((const struct sim_context *)context)->device : 0;
}

static vmm_context or_current(const struct sim_process *process, vmm_context context)
{
    return context ? context : (vmm_context)(uintptr_t)context_stack_get(&process->current);
}

static vmm_result check_fill(const struct sim_process *process, const vmm_memset_node_params *fill, vmm_context context)
{
    const uint64_t bytes = fill->width * fill->element_size;
    if (fill->dst % fill->element_size)
        return vmm_detail_refuse(VMM_RULE_SET_ALIGNMENT, fill->dst, fill->element_size, NULL);
    if (fill->height > 1 && (fill->pitch % fill->element_size || fill->pitch < bytes))
        return graph_refuse_value(VMM_RULE_GRAPH_PARAMS, "pitch", fill->pitch, "expected a multiple of an element's size that a row "
                                  "fits in");
    return rows_check_fill(process, graph_device(process, context), fill, graph_planned_in);
}

vmm_result graph_fill_check_again(const struct sim_process *process, const struct graph_work *fill)
{
    return graph_planned(process->graphs, fill->fill.dst, true) ? VMM_SUCCESS : check_fill(process, &fill->fill, fill->context);
}

vmm_result graph_context_check(const struct sim_process *process, vmm_context context)
{
    void *found;
    if (context && slots_find(&process->contexts, number_of(context), &found) == SLOT_STALE)
        return graph_refuse_value(VMM_RULE_CTX_ENDED, "ctx", number_of(context), "it was destroyed before the call");
    return VMM_SUCCESS;
}

/* As measured, NULL stands for the context of the memory; a device's memory that was mapped has none, page-locked memory has. */
static vmm_result choose_context(const struct sim_process *process, vmm_deviceptr at, vmm_context *context)
{
    const struct sim_allocation *allocation = sim_allocation_at(process, at);
    const struct sim_mapping *mapping = sim_mapping_at(process, at);
    if (!*context && mapping && !sim_on_host(mapping->handle->prop.location))
        return graph_refuse_value(VMM_RULE_GRAPH_PARAMS, "ctx", 0, "mapped memory belongs to no context, so a fill of it must "
                                                                   "name one");
    if (!*context && allocation)
        *context = (vmm_context)(uintptr_t)allocation->context;
    return graph_context_check(process, *context);
}

vmm_result graph_fill_in_context(struct sim_process *process, const vmm_memset_node_params *params, vmm_context context,
                                 struct graph_work *work)
{
    vmm_result result = params ? choose_context(process, params->dst, &context) : VMM_SUCCESS;
    return result == VMM_SUCCESS ? graph_fill_work(process, params, context, work) : result;
}

vmm_result graph_fill_work(struct sim_process *process, const vmm_memset_node_params *params, vmm_context context,
                           struct graph_work *work)
{
    if (!params)
        return graph_null("memsetParams");
    vmm_result result = check_device(process);
    if (result != VMM_SUCCESS)
        return result;
    unsigned size = params->element_size;
    if (size != 1 && size != 2 && size != 4)
        return graph_refuse_value(VMM_RULE_GRAPH_PARAMS, "elementSize", size, "an element has 1, 2 or 4 bytes");
    if (!params->width || !params->height)
        return graph_refuse(VMM_RULE_GRAPH_PARAMS, 0, "%" PRIu64 " elements in %" PRIu64 " rows: there is nothing to fill",
                            params->width, params->height);
    *work = (struct graph_work){.type = VMM_GRAPH_NODE_TYPE_MEMSET, .context = or_current(process, context), .fill = *params};
    return check_fill(process, params, work->context);
}

vmm_result graph_copy_work(struct sim_process *process, const vmm_memcpy3d *params, vmm_context context, bool open,
                           struct graph_work *work)
{
    if (!params)
        return graph_null("copyParams");
    vmm_result result = check_device(process);
    if (result != VMM_SUCCESS)
        return result;
    if (!params->width_in_bytes || !params->height || !params->depth)
        return graph_refuse(VMM_RULE_GRAPH_PARAMS, 0, "%" PRIu64 " bytes, %" PRIu64 " rows, %" PRIu64 " slices: there is nothing to copy",
                            params->width_in_bytes, params->height, params->depth);
    *work = (struct graph_work){.type = VMM_GRAPH_NODE_TYPE_MEMCPY, .context = or_current(process, context), .unnamed = !context,
                                .copy = *params};
    copy_places_note(process, work);
    return rows_check_copy(process, graph_device(process, work->context), open, params, graph_planned_in, &work->programs);
}

vmm_result graph_mem_op_work(const struct sim_process *process, vmm_context context, const struct vmm_call *call,
                             struct mem_ops *ops, struct graph_work *work)
{
    void *found;
    char shown[GRAPH_SHOWN];
    if (slots_find(&process->contexts, number_of(context), &found) == SLOT_FORGED)
        return graph_refuse(VMM_RULE_GRAPH_PARAMS, number_of(context), "ctx, %s, is not a context",
                            graph_shown(number_of(context), shown));
    vmm_result result = sim_mem_op_check_form(&process->machine->profile, call);
    if (result != VMM_SUCCESS)
        return result;
    mem_op_list(call, ops);
    *work = (struct graph_work){.type = VMM_GRAPH_NODE_TYPE_BATCH_MEM_OP, .context = context};
    work->ops = (struct vmm_call_stream_batch_mem_op){{VMM_CALL_stream_batch_mem_op, 0}, NULL, (unsigned)ops->count, ops->op, 0};
    return VMM_SUCCESS;
}

vmm_result graph_host_work(const vmm_host_node_params *params, struct graph_work *work)
{
    if (!params)
        return graph_null("nodeParams");
    if (!params->fn)
        return vmm_detail_refuse(VMM_RULE_HOSTFUNC_NULL, 0, 0, NULL);
    *work = (struct graph_work){.type = VMM_GRAPH_NODE_TYPE_HOST, .host = *params};
    return VMM_SUCCESS;
}

vmm_result graph_kernel_work(const struct sim_process *process, const vmm_kernel_node_params *params, struct graph_work *work)
{
    if (!params)
        return graph_null("nodeParams");
    *work = (struct graph_work){.type = VMM_GRAPH_NODE_TYPE_KERNEL, .context = or_current(process, NULL)};
    work->launch = (struct vmm_call_launch){{VMM_CALL_launch, 0},  params->kernel, params->grid_dim, params->block_dim,
                                            params->args, params->count,  NULL};
    return launch_check(process, &work->launch);
}

static vmm_result find_event(const struct sim_process *process, vmm_event event, void **object)
{
    if (slots_find(&process->events, number_of(event), object) == SLOT_LIVE)
        return VMM_SUCCESS;
    return vmm_detail_refuse(event ? VMM_RULE_EVENT_UNKNOWN : VMM_RULE_GRAPH_NULL, number_of(event), 0, NULL);
}

vmm_result graph_event_work(const struct sim_process *process, vmm_graph_node_type type, vmm_event event, struct graph_work *work)
{
    void *object;
    vmm_result result = find_event(process, event, &object);
    *work = (struct graph_work){.type = type, .event = event};
    if (result == VMM_SUCCESS)
        work->owner = ((const struct sim_event *)object)->context;
    return result;
}

vmm_result graph_event_check(const struct sim_process *process, vmm_event event)
{
    void *object;
    return find_event(process, event, &object);
}

/* ---- adding nodes ---- */

#define ADD(call) \
    process->graphs, &(const struct graph_add){(call)->graph_node, (call)->graph, (call)->dependencies, NULL, (call)->num_dependencies, false}

vmm_result graph_add_node(const struct sim_graphs *all, const struct graph_add *add, const struct graph_work *work)
{
    vmm_result result = VMM_SUCCESS;
    struct graph_ends ends = {NULL, NULL, 0};
    struct graph_add whole = *add;
    /* analysers: clang-analyzer-core.UndefinedBinaryOperatorResult is wrong: who calls this has written the work */
    whole.kernel = work->type == VMM_GRAPH_NODE_TYPE_KERNEL;
    if (!add->out)
        return graph_null("phGraphNode");
    struct graph *graph = graph_need(all, add->graph, &result);
    const struct graph_node *node = NULL;
    if (graph)
        result = graph_find_ends(all, graph, &whole, &ends);
    if (result == VMM_SUCCESS && !(node = graphs_add(graph, ends.node, ends.data, ends.count, work)))
        result = sim_out_of_host_memory();
    if (node)
        *add->out = (vmm_graph_node)(uintptr_t)node->value;
    graph_ends_drop(&ends);
    return result;
}

vmm_result sim_graph_add_empty_node(struct sim_process *process, const struct vmm_call_graph_add_empty_node *call)
{
    return graph_add_node(ADD(call), &(struct graph_work){.type = VMM_GRAPH_NODE_TYPE_EMPTY});
}

vmm_result sim_graph_add_memset_node(struct sim_process *process, const struct vmm_call_graph_add_memset_node *call)
{
    struct graph_work work;
    vmm_result result = graph_fill_in_context(process, call->memset_params, call->ctx, &work);
    return result == VMM_SUCCESS ? graph_add_node(ADD(call), &work) : result;
}

vmm_result sim_graph_add_memcpy_node(struct sim_process *process, const struct vmm_call_graph_add_memcpy_node *call)
{
    struct graph_work work;
    vmm_result result = graph_context_check(process, call->ctx);
    if (result == VMM_SUCCESS)
        result = graph_copy_work(process, call->copy_params, call->ctx, !call->ctx, &work);
    return result == VMM_SUCCESS ? graph_add_node(ADD(call), &work) : result;
}

vmm_result sim_graph_add_host_node(struct sim_process *process, const struct vmm_call_graph_add_host_node *call)
{
    struct graph_work work;
    vmm_result result = graph_host_work(call->node_params, &work);
    return result == VMM_SUCCESS ? graph_add_node(ADD(call), &work) : result;
}

vmm_result sim_graph_add_kernel_node(struct sim_process *process, const struct vmm_call_graph_add_kernel_node *call)
{
    struct graph_work work;
    vmm_result result = graph_kernel_work(process, call->node_params, &work);
    if (result == VMM_SUCCESS && !sim_current(process))
        result = sim_no_context(process);
    return result == VMM_SUCCESS ? graph_add_node(ADD(call), &work) : result;
}

vmm_result sim_graph_add_event_record_node(struct sim_process *process, const struct vmm_call_graph_add_event_record_node *call)
{
    struct graph_work work;
    vmm_result result = graph_event_work(process, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, call->event, &work);
    return result == VMM_SUCCESS ? graph_add_node(ADD(call), &work) : result;
}

vmm_result sim_graph_add_event_wait_node(struct sim_process *process, const struct vmm_call_graph_add_event_wait_node *call)
{
    struct graph_work work;
    vmm_result result = graph_event_work(process, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, call->event, &work);
    return result == VMM_SUCCESS ? graph_add_node(ADD(call), &work) : result;
}

/* Is it that graph, or the graph of a node in it? */
static bool lies_in(const struct graph *graph, const struct graph *outer)
{
    while (graph && graph != outer)
        graph = graphs_more(graph)->inside ? graphs_more(graph)->inside->graph : NULL;
    return graph != NULL;
}

/* A driver crashed on a graph within itself. */
static vmm_result check_child(const struct sim_graphs *all, const struct graph *child, vmm_graph into, bool move)
{
    if (child->value == number_of(into))
        return graph_refuse(VMM_RULE_GRAPH_PARAMS, child->value, "%p is the graph itself", (void *)into);
    if (lies_in(graphs_find(all, into), child))
        return graph_refuse(VMM_RULE_GRAPH_PARAMS, child->value, "%p is the graph of a node in it", (void *)into);
    if (!move && graphs_more(child)->inside)
        return graph_refuse(VMM_RULE_GRAPH_OF_NODE, child->value, "%p belongs to a node", (void *)(uintptr_t)child->value);
    if (move && graphs_more(child)->inside)
        return graph_refuse(VMM_RULE_GRAPH_PARAMS, child->value, "%p is a node's child already", (void *)(uintptr_t)child->value);
    return move ? VMM_SUCCESS : graph_fixed(child, "cannot be copied: move it into its parent");
}

vmm_result graph_add_child(const struct sim_graphs *all, const struct graph_add *add, vmm_graph value, bool move)
{
    vmm_result result = VMM_SUCCESS;
    struct graph *child = graph_need(all, value, &result);
    if (child)
        result = check_child(all, child, add->graph, move);
    if (result == VMM_SUCCESS)
        result = graph_add_node(all, add, &(const struct graph_work){.type = VMM_GRAPH_NODE_TYPE_GRAPH, .child = move ? NULL : child});
    if (result != VMM_SUCCESS || !move)
        return result;
    struct graph_node *node = graphs_find_node(all, *add->out);
    graphs_work(node)->child = child;
    graphs_more(child)->inside = node;
    return VMM_SUCCESS;
}

vmm_result sim_graph_add_child_graph_node(struct sim_process *process, const struct vmm_call_graph_add_child_graph_node *call)
{
    return graph_add_child(ADD(call), call->child_graph, false);
}

/* ---- a node ---- */

vmm_result sim_graph_destroy_node(struct sim_process *process, const struct vmm_call_graph_destroy_node *call)
{
    vmm_result result = VMM_SUCCESS;
    struct graph_node *node = graph_need_node(process->graphs, call->node, &result);
    if (node && capture_into(&process->graphs->captures, node->graph))
        return graph_refuse(VMM_RULE_CAPTURE_STATE, (uint64_t)(uintptr_t)call->node, "a stream is being captured into the graph of that node");
    if (node && graphs_work(node)->child && capture_within(process, graphs_work(node)->child))
        return graph_refuse(VMM_RULE_CAPTURE_STATE, (uint64_t)(uintptr_t)call->node, "a stream is being captured into the node's own graph");
    if (node && (result = graph_fixed(node->graph, "keeps its nodes")) == VMM_SUCCESS)
        graphs_end_node(node);
    return result;
}

vmm_result sim_graph_node_get_type(struct sim_process *process, const struct vmm_call_graph_node_get_type *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->type)
        return graph_null("type");
    const struct graph_node *node = graph_need_node(process->graphs, call->node, &result);
    if (node)
        *call->type = graphs_work(node)->type;
    return result;
}
