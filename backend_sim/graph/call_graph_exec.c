/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of graphs: creating, launching and destroying them.
 *
 *     launch     each node's work is issued to the stream, after what it depends on, and finds the mappings and rights of then
 *     fault      as if the program had issued the work itself: the device is lost when its turn comes
 */
#include "call_graph.h"
#include "copy_places.h"

#include "graph_launch_memory.h"
#include "heap.h"
#include "mem_op_check.h"

/* ---- making ---- */

bool graph_known_flags(uint64_t flags, bool uploads)
{
    const uint64_t frees = VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, by_device = VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    return !(flags & ~(frees | by_device | VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY |
                       (uploads ? VMM_GRAPH_INSTANTIATE_FLAG_UPLOAD : 0)));
}

vmm_result graph_check_flags(uint64_t flags, bool uploads)
{
    const uint64_t frees = VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, by_device = VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    if (!graph_known_flags(flags, uploads))
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, uploads
                                  ? "this call takes AUTO_FREE_ON_LAUNCH, UPLOAD, DEVICE_LAUNCH and USE_NODE_PRIORITY"
                                  : "this call takes AUTO_FREE_ON_LAUNCH, DEVICE_LAUNCH and USE_NODE_PRIORITY");
    if ((flags & frees) && (flags & by_device))
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, "a graph for device launches cannot free its memory on "
                                  "launch");
    return VMM_SUCCESS;
}

/* As measured, a copy for which no context was named belongs to the context that is current now, whose device must have had
 * rights to the memory when the copy was described. */
static vmm_result check_copy(const struct sim_process *process, const struct graph_node *node)
{
    const struct graph_work *work = graphs_work(node);
    if (!work->unnamed || copy_places_had_rights(work, sim_current(process)->device))
        return VMM_SUCCESS;
    return graph_refuse(VMM_RULE_GRAPH_PARAMS, node->value, "%p, a copy that was added without a context, uses memory to which "
                        "the current context's device had no rights at that time", (void *)(uintptr_t)node->value);
}

/* Checks the fills again, as measured, and that the events exist: a driver crashed. In children too. */
static vmm_result check_nodes(const struct sim_process *process, const struct graph *graph)
{
    vmm_result result = VMM_SUCCESS;
    for (const struct graph_node *node = graph->first; node && result == VMM_SUCCESS; node = node->after) {
        const struct graph_work *work = graphs_work(node);
        switch (work->type) {
        case VMM_GRAPH_NODE_TYPE_MEMSET: result = graph_fill_check_again(process, work); break;
        case VMM_GRAPH_NODE_TYPE_MEMCPY: result = check_copy(process, node); break;
        case VMM_GRAPH_NODE_TYPE_EVENT_RECORD:
        case VMM_GRAPH_NODE_TYPE_WAIT_EVENT: result = graph_event_check(process, work->event); break;
        case VMM_GRAPH_NODE_TYPE_GRAPH: result = check_nodes(process, work->child); break;
        default: break;
        }
    }
    return result;
}

/* A device can launch only kernels, copies and fills, and needs at least one of them. */
static bool suits_device(const struct graph *graph)
{
    bool suits = graph->first != NULL;
    for (const struct graph_node *node = graph->first; node && suits; node = node->after) {
        const struct graph_work *work = graphs_work(node);
        suits = work->type == VMM_GRAPH_NODE_TYPE_KERNEL || work->type == VMM_GRAPH_NODE_TYPE_MEMCPY || work->type == VMM_GRAPH_NODE_TYPE_MEMSET ||
                (work->child && suits_device(work->child));
    }
    return suits;
}

/* Are the graph and its children free of cycles? */
static vmm_result check_cycles(const struct graph *graph)
{
    struct graph_node **order = heap.malloc((graph->count + 1) * sizeof *order);
    if (!order)
        return sim_out_of_host_memory();
    size_t known = graph_order(graph, order);
    heap.free(order);
    if (known < graph->count)
        return graph_refuse(VMM_RULE_GRAPH_CYCLE, graph->value, "%zu of %zu nodes depend on a cycle", graph->count - known,
                            graph->count);
    vmm_result result = VMM_SUCCESS;
    for (const struct graph_node *node = graph->first; node && result == VMM_SUCCESS; node = node->after)
        if (graphs_work(node)->child)
            result = check_cycles(graphs_work(node)->child);
    return result;
}

vmm_result graph_instantiate(struct sim_process *process, vmm_graph_exec *out, vmm_graph value, uint64_t flags,
                             struct graph_node **cycle)
{
    const struct sim_context *context = sim_current(process);
    vmm_result result = context ? sim_context_check(process, context, false) : sim_no_context(process);
    if (result == VMM_SUCCESS)
        result = graph_check_flags(flags, true); /* flags that the call does not accept were already refused */
    const struct graph *given = graphs_find(process->graphs, value);
    if (result == VMM_SUCCESS && given && graphs_more(given)->inside) /* seen before a NULL for the instance, as measured on an H200 */
        return graph_refuse(VMM_RULE_GRAPH_OF_NODE, given->value, "%p belongs to a node", (void *)value);
    if (result == VMM_SUCCESS && !out)
        result = graph_null("phGraphExec");
    struct graph *graph = result == VMM_SUCCESS ? graph_need(process->graphs, value, &result) : NULL;
    if (!graph)
        return result;
    if (graphs_more(graph)->instances)
        result = graph_fixed(graph, "has an instance already");
    if (result == VMM_SUCCESS && (result = check_cycles(graph)) == VMM_ERROR_INVALID_VALUE)
        *cycle = graph->first;
    if (result == VMM_SUCCESS && (flags & VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) && !suits_device(graph))
        result = graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, "a device can launch only graphs of kernels, copies "
                                                                          "and fills");
    if (result == VMM_SUCCESS)
        result = check_nodes(process, graph);
    if (result != VMM_SUCCESS)
        return result;
    const struct graph_exec *exec = graphs_instantiate(graph, flags);
    if (!exec)
        return sim_out_of_host_memory();
    *out = (vmm_graph_exec)(uintptr_t)exec->value;
    return VMM_SUCCESS;
}

vmm_result sim_graph_instantiate(struct sim_process *process, const struct vmm_call_graph_instantiate *call)
{
    struct graph_node *cycle;
    return graph_known_flags(call->flags, false) ? graph_instantiate(process, call->graph_exec, call->graph, call->flags, &cycle)
                                                 : graph_check_flags(call->flags, false);
}

/* As measured, without the flag USE_NODE_PRIORITY. */
vmm_result sim_graph_exec_get_flags(struct sim_process *process, const struct vmm_call_graph_exec_get_flags *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->flags)
        return graph_null("flags");
    const struct graph_exec *exec = graph_need_exec(process->graphs, call->graph_exec, &result);
    if (exec)
        *call->flags = exec->flags & ~(uint64_t)VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    return result;
}

vmm_result sim_graph_exec_destroy(struct sim_process *process, const struct vmm_call_graph_exec_destroy *call)
{
    vmm_result result = VMM_SUCCESS;
    struct graph_exec *exec = graph_need_exec(process->graphs, call->graph_exec, &result);
    if (exec)
        graphs_end_exec(exec);
    return result;
}

/* ---- launching ---- */

/* Checks what a driver checks of nodes before it launches any: the memory of memory operations. */
static vmm_result check_operations(const struct sim_process *process, const struct graph *graph)
{
    vmm_result result = VMM_SUCCESS;
    for (const struct graph_node *node = graph->first; node && result == VMM_SUCCESS; node = node->after) {
        const struct graph_work *work = graphs_work(node);
        if (work->child)
            result = check_operations(process, work->child);
        else if (work->type == VMM_GRAPH_NODE_TYPE_BATCH_MEM_OP)
            result = sim_mem_op_check(process, graph_device(process, work->context), &work->ops.head);
    }
    return result;
}

/* runs: the nodes' work is issued. An upload makes the first launch faster, and allocates memory for it. */
static vmm_result launch(struct sim_process *process, const struct vmm_call *call, vmm_graph_exec value, vmm_stream stream, bool runs)
{
    struct sim_context *context;
    struct graph_launch_memory memory;
    vmm_result result = VMM_SUCCESS;
    struct graph_exec *exec = graph_need_exec(process->graphs, value, &result);
    if (!exec)
        return result;
    result = sim_stream_context(process, stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    if (result == VMM_SUCCESS && runs)
        result = check_operations(process, exec->graph);
    if (result == VMM_SUCCESS)
        result = graph_launch_memory_begin(process, call, exec, !runs, &memory);
    if (result != VMM_SUCCESS)
        return result;
    exec->launches++; /* a host function of it may destroy it */
    if (runs)
        result = graph_issue(process, call, exec->graph, stream);
    graph_launch_memory_end(process, call, exec, stream, result == VMM_SUCCESS, &memory);
    graphs_end_launch(exec);
    return result;
}

vmm_result sim_graph_launch(struct sim_process *process, const struct vmm_call_graph_launch *call)
{
    return launch(process, &call->head, call->graph_exec, call->stream, true);
}

vmm_result graph_check_upload(const struct sim_process *process, vmm_stream stream)
{
    const bool is_default = !stream || stream == VMM_STREAM_LEGACY || stream == VMM_STREAM_PER_THREAD;
    return is_default && !sim_current(process) ? sim_no_context(process) : VMM_SUCCESS;
}

vmm_result sim_graph_upload(struct sim_process *process, const struct vmm_call_graph_upload *call)
{
    const vmm_result result = graph_check_upload(process, call->stream);
    return result == VMM_SUCCESS ? launch(process, &call->head, call->graph_exec, call->stream, false) : result;
}
