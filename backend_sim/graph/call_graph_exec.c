/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of graphs: made, launched and ended.
 *
 *     launch     each node's work is issued to the stream, after what it depends on, and finds the mappings and rights of then
 *     fault      as if the program had issued the work itself: the device is lost when its turn comes
 */
#include "call_graph.h"

#include "heap.h"
#include "in_flight.h"
#include "kernels.h"
#include "launch.h"
#include "team_share.h"

/* ---- making ---- */

static vmm_result check_flags(uint64_t flags)
{
    const uint64_t frees = VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, by_device = VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    const uint64_t allowed = frees | by_device | VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if (flags & ~allowed)
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, "this call takes AUTO_FREE_ON_LAUNCH, DEVICE_LAUNCH and "
                                  "USE_NODE_PRIORITY");
    if ((flags & frees) && (flags & by_device))
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, "a graph that a device launches cannot free its memory when "
                                  "it is launched");
    return VMM_SUCCESS;
}

/* Checks the fills again, as measured, and that the events are there: a driver crashed. In children too. */
static vmm_result check_nodes(const struct sim_process *process, const struct graph *graph)
{
    vmm_result result = VMM_SUCCESS;
    for (const struct graph_node *node = graph->first; node && result == VMM_SUCCESS; node = node->after) {
        const struct graph_work *work = graphs_work(node);
        switch (work->type) {
        case VMM_GRAPH_NODE_TYPE_MEMSET: result = graph_fill_check(process, &work->fill, work->context); break;
        case VMM_GRAPH_NODE_TYPE_EVENT_RECORD:
        case VMM_GRAPH_NODE_TYPE_WAIT_EVENT: result = graph_event_check(process, work->event); break;
        case VMM_GRAPH_NODE_TYPE_GRAPH: result = check_nodes(process, work->child); break;
        default: break;
        }
    }
    return result;
}

/* Has neither the graph nor a child of it a cycle? */
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
        if (graphs_work(node)->type == VMM_GRAPH_NODE_TYPE_GRAPH)
            result = check_cycles(graphs_work(node)->child);
    return result;
}

vmm_result sim_graph_instantiate(struct sim_process *process, const struct vmm_call_graph_instantiate *call)
{
    vmm_result result = check_flags(call->flags);
    if (result == VMM_SUCCESS && !call->graph_exec)
        result = graph_null("phGraphExec");
    if (result != VMM_SUCCESS)
        return result;
    const struct sim_context *context = sim_current(process);
    result = context ? sim_context_check(process, context, false) : sim_no_context(process);
    const struct graph *graph = result == VMM_SUCCESS ? graph_need(process, call->graph, &result) : NULL;
    if (graph)
        result = check_cycles(graph);
    if (result == VMM_SUCCESS)
        result = check_nodes(process, graph);
    if (result != VMM_SUCCESS)
        return result;
    const struct graph_exec *exec = graphs_instantiate(graph, call->flags);
    if (!exec)
        return sim_out_of_host_memory();
    *call->graph_exec = (vmm_graph_exec)(uintptr_t)exec->value;
    return VMM_SUCCESS;
}

/* As measured, without the flag USE_NODE_PRIORITY. */
vmm_result sim_graph_exec_get_flags(struct sim_process *process, const struct vmm_call_graph_exec_get_flags *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->flags)
        return graph_null("flags");
    const struct graph_exec *exec = graph_need_exec(process, call->graph_exec, &result);
    if (exec)
        *call->flags = exec->flags & ~(uint64_t)VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    return result;
}

vmm_result sim_graph_exec_destroy(struct sim_process *process, const struct vmm_call_graph_exec_destroy *call)
{
    vmm_result result = VMM_SUCCESS;
    struct graph_exec *exec = graph_need_exec(process, call->graph_exec, &result);
    if (exec)
        graphs_end_exec(process->graphs, exec);
    return result;
}

/* ---- launching ---- */

/* Where a launch issues its work, and for which call. */
struct issue {
    struct sim_process *process;
    const struct vmm_call *call;
    vmm_stream stream;
};

/* The context is looked up again for each node: a host function of an earlier one may have ended it. */
static vmm_result issue_call(const struct issue *to, union vmm_any_call *work)
{
    struct sim_context *context;
    vmm_result result = sim_stream_context(to->process, to->stream, &context);
    if (result != VMM_SUCCESS)
        return result;
    struct queue_place place = in_flight_place(to->process, context, to->stream);
    work->head.number = to->call->number;
    return in_flight_issue(to->process, &place, &work->head, (enum vmm_call_id)to->call->id);
}

static vmm_result issue_row(const struct issue *to, const vmm_memset_node_params *p, vmm_deviceptr at)
{
    union vmm_any_call work;
    switch (p->element_size) {
    case 1:
        work.memset_d8_async = (struct vmm_call_memset_d8_async){{VMM_CALL_memset_d8_async, 0}, at, (unsigned char)p->value,
                                                                 p->width, NULL};
        break;
    case 2:
        work.memset_d16_async = (struct vmm_call_memset_d16_async){{VMM_CALL_memset_d16_async, 0}, at, (unsigned short)p->value,
                                                                   p->width, NULL};
        break;
    default:
        work.memset_d32_async =
            (struct vmm_call_memset_d32_async){{VMM_CALL_memset_d32_async, 0}, at, p->value, p->width, NULL};
    }
    return issue_call(to, &work);
}

static vmm_result issue_fill(const struct issue *to, const vmm_memset_node_params *p)
{
    vmm_result result = VMM_SUCCESS;
    for (size_t row = 0; row < p->height && result == VMM_SUCCESS; row++)
        result = issue_row(to, p, p->dst + row * p->pitch);
    return result;
}

static vmm_result issue_copy(const struct issue *to, const union vmm_any_call *copy)
{
    union vmm_any_call work = *copy;
    return issue_call(to, &work);
}

static vmm_result issue_kernel(const struct issue *to, const struct vmm_call_launch *launch)
{
    union vmm_any_call work = {.launch = *launch};
    const char *why = kernels_is_multimem(launch->kernel) ? team_look_at_all(to->process->machine) : NULL;
    work.launch.stream = to->stream;
    return why ? sim_machine_unreachable(why) : issue_call(to, &work);
}

static vmm_result issue_host(const struct issue *to, const vmm_host_node_params *p)
{
    union vmm_any_call work = {
        .launch_host_func = {{VMM_CALL_launch_host_func, 0}, to->stream, p->fn, p->user_data}};
    return issue_call(to, &work);
}

/* An event that was destroyed since is left out, as measured. */
static vmm_result issue_event(const struct issue *to, vmm_graph_node_type type, vmm_event event)
{
    void *object;
    if (slots_find(&to->process->events, (uint64_t)(uintptr_t)event, &object) != SLOT_LIVE)
        return VMM_SUCCESS;
    const struct vmm_call head = {(uint16_t)(type == VMM_GRAPH_NODE_TYPE_EVENT_RECORD ? VMM_CALL_event_record
                                                                                     : VMM_CALL_stream_wait_event),
                                  to->call->number};
    if (type == VMM_GRAPH_NODE_TYPE_EVENT_RECORD)
        return sim_event_record(to->process, &(struct vmm_call_event_record){head, event, to->stream});
    return sim_stream_wait_event(to->process, &(struct vmm_call_stream_wait_event){head, to->stream, event, 0});
}

static vmm_result issue_node(const struct issue *to, const struct graph_work *work)
{
    switch (work->type) {
    case VMM_GRAPH_NODE_TYPE_KERNEL: return issue_kernel(to, &work->launch);
    case VMM_GRAPH_NODE_TYPE_MEMCPY: return issue_copy(to, &work->copy);
    case VMM_GRAPH_NODE_TYPE_MEMSET: return issue_fill(to, &work->fill);
    case VMM_GRAPH_NODE_TYPE_HOST: return issue_host(to, &work->host);
    case VMM_GRAPH_NODE_TYPE_GRAPH: return graph_issue(to->process, to->call, work->child, to->stream);
    case VMM_GRAPH_NODE_TYPE_EVENT_RECORD:
    case VMM_GRAPH_NODE_TYPE_WAIT_EVENT: return issue_event(to, work->type, work->event);
    default: return VMM_SUCCESS;
    }
}

vmm_result graph_issue(struct sim_process *process, const struct vmm_call *call, const struct graph *graph, vmm_stream stream)
{
    const struct issue to = {process, call, stream};
    struct graph_node **order = heap.malloc((graph->count + 1) * sizeof *order);
    if (!order)
        return sim_out_of_host_memory();
    size_t count = graph_order(graph, order);
    vmm_result result = VMM_SUCCESS;
    for (size_t i = 0; i < count && result == VMM_SUCCESS; i++)
        if (!graphs_work(order[i])->disabled)
            result = issue_node(&to, graphs_work(order[i]));
    heap.free(order);
    return result;
}

/* An upload makes the first launch faster, and there is nothing to do for it here. */
static vmm_result check_launch(struct sim_process *process, vmm_graph_exec value, vmm_stream stream, struct graph_exec **exec)
{
    struct sim_context *context;
    vmm_result result = VMM_SUCCESS;
    *exec = graph_need_exec(process, value, &result);
    if (*exec)
        result = sim_stream_context(process, stream, &context);
    return result == VMM_SUCCESS ? sim_context_check(process, context, false) : result;
}

vmm_result sim_graph_launch(struct sim_process *process, const struct vmm_call_graph_launch *call)
{
    struct graph_exec *exec;
    vmm_result result = check_launch(process, call->graph_exec, call->stream, &exec);
    if (result != VMM_SUCCESS)
        return result;
    exec->launches++; /* a host function of it may destroy it */
    result = graph_issue(process, &call->head, exec->graph, call->stream);
    graphs_end_launch(exec);
    return result;
}

vmm_result sim_graph_upload(struct sim_process *process, const struct vmm_call_graph_upload *call)
{
    struct graph_exec *exec;
    return check_launch(process, call->graph_exec, call->stream, &exec);
}
