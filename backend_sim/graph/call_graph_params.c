/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of nodes: reading them, and changing them in a graph or an instance, whose nodes are identified by the
 * graph's. */
#include "call_graph.h"

static uint64_t number_of(const void *value)
{
    return (uint64_t)(uintptr_t)value;
}

/* ---- finding nodes ---- */

static const char *type_name(vmm_graph_node_type type)
{
    static const char *const names[] = {"a kernel",     "a copy",   "a fill",      "a host function", "a child graph",
                                        "an empty",     "an event wait", "an event record", "a semaphore", "a semaphore",
                                        "an allocation", "a free",  "a memory operation", "a conditional"};
    return names[type];
}

struct graph_node *graph_of_type(struct graph_node *node, vmm_graph_node_type type, vmm_result *result)
{
    if (!node || graphs_work(node)->type == type)
        return node;
    *result = graph_refuse(VMM_RULE_GRAPH_NODE_TYPE, node->value, "%p is %s node, not %s node", (void *)(uintptr_t)node->value,
                           type_name(graphs_work(node)->type), type_name(type));
    return NULL;
}

struct graph_node *graph_need_type(const struct sim_graphs *all, vmm_graph_node value, vmm_graph_node_type type, vmm_result *result)
{
    return graph_of_type(graph_need_node(all, value, result), type, result);
}

/* Also in the graphs of its child graph nodes. */
static struct graph_node *find_origin(const struct graph *graph, uint64_t origin)
{
    struct graph_node *found = graph_find_origin(graph, origin);
    for (const struct graph_node *node = graph->first; node && !found; node = node->after)
        if (graphs_work(node)->child)
            found = find_origin(graphs_work(node)->child, origin);
    return found;
}

struct graph_node *graph_need_node_in(const struct sim_graphs *all, vmm_graph_exec exec, vmm_graph_node value, vmm_result *result)
{
    const struct graph_exec *found = graph_need_exec(all, exec, result);
    struct graph_node *node = found && value ? find_origin(found->graph, number_of(value)) : NULL;
    char shown[GRAPH_SHOWN];
    if (found && !node)
        *result = graph_refuse(VMM_RULE_GRAPH_NODE, number_of(value), "%s is not a node of the graph that the instance was made from",
                               graph_shown(number_of(value), shown));
    return node;
}

vmm_result sim_graph_node_find_in_clone(struct sim_process *process, const struct vmm_call_graph_node_find_in_clone *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->node || !call->original_node)
        return graph_null(call->node ? "hOriginalNode" : "phNode");
    const struct graph *graph = graph_need(process->graphs, call->cloned_graph, &result);
    if (!graph)
        return result;
    const struct graph_node *node = graph_find_origin(graph, number_of(call->original_node));
    *call->node = node ? (vmm_graph_node)(uintptr_t)node->value : NULL;
    if (node)
        return VMM_SUCCESS;
    return graph_refuse(VMM_RULE_GRAPH_NODE, number_of(call->original_node), "%p has no copy in that graph",
                        (void *)call->original_node);
}

/* ---- reading ---- */

vmm_result sim_graph_child_graph_node_get_graph(struct sim_process *process,
                                                const struct vmm_call_graph_child_graph_node_get_graph *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->graph)
        return graph_null("phGraph");
    const struct graph_node *node =
        graph_need_type(process->graphs, call->node, VMM_GRAPH_NODE_TYPE_GRAPH, &result);
    if (node)
        *call->graph = (vmm_graph)(uintptr_t)graphs_work(node)->child->value;
    return result;
}

static vmm_result get_event(const struct sim_process *process, vmm_graph_node value, vmm_graph_node_type type, vmm_event *event)
{
    vmm_result result = VMM_SUCCESS;
    if (!event)
        return graph_null("event_out");
    const struct graph_node *node = graph_need_type(process->graphs, value, type, &result);
    if (node)
        *event = graphs_work(node)->event;
    return result;
}

vmm_result sim_graph_event_record_node_get_event(struct sim_process *process,
                                                 const struct vmm_call_graph_event_record_node_get_event *call)
{
    return get_event(process, call->node, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, call->event_out);
}

vmm_result sim_graph_event_wait_node_get_event(struct sim_process *process,
                                               const struct vmm_call_graph_event_wait_node_get_event *call)
{
    return get_event(process, call->node, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, call->event_out);
}

vmm_result sim_graph_memset_node_get_params(struct sim_process *process, const struct vmm_call_graph_memset_node_get_params *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->node_params)
        return graph_null("nodeParams");
    const struct graph_node *node = graph_need_type(process->graphs, call->node, VMM_GRAPH_NODE_TYPE_MEMSET, &result);
    if (node)
        *call->node_params = graphs_work(node)->fill;
    return result;
}

vmm_result sim_graph_host_node_get_params(struct sim_process *process, const struct vmm_call_graph_host_node_get_params *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->node_params)
        return graph_null("nodeParams");
    const struct graph_node *node = graph_need_type(process->graphs, call->node, VMM_GRAPH_NODE_TYPE_HOST, &result);
    if (node)
        *call->node_params = graphs_work(node)->host;
    return result;
}

vmm_result sim_graph_memcpy_node_get_params(struct sim_process *process, const struct vmm_call_graph_memcpy_node_get_params *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->node_params)
        return graph_null("nodeParams");
    const struct graph_node *node = graph_need_type(process->graphs, call->node, VMM_GRAPH_NODE_TYPE_MEMCPY, &result);
    if (node)
        *call->node_params = graphs_work(node)->copy;
    return result;
}

/* ---- changing ---- */

vmm_result graph_replace_work(struct graph_node *node, const struct graph_work *work)
{
    const bool disabled = graphs_work(node)->disabled;
    if (!graphs_set(node, work))
        return sim_out_of_host_memory();
    graphs_work(node)->disabled = disabled;
    return VMM_SUCCESS;
}

/* As measured on two H200 and on an H200, a kernel without a context is checked last. */
static bool lacks_context(const struct graph_node *node, const struct graph_work *work)
{
    return node && work->type == VMM_GRAPH_NODE_TYPE_KERNEL && !work->context;
}

vmm_result graph_set_work(const struct sim_process *process, vmm_graph_node value, const struct graph_work *work)
{
    vmm_result result = VMM_SUCCESS;
    struct graph_node *node = graph_need_type(process->graphs, value, work->type, &result);
    if (lacks_context(node, work))
        return sim_no_context(process);
    return node ? graph_replace_work(node, work) : result;
}

vmm_result graph_set_work_in(const struct sim_process *process, vmm_graph_exec exec, vmm_graph_node value, const struct graph_work *work)
{
    vmm_result result = VMM_SUCCESS;
    struct graph_node *node = graph_of_type(graph_need_node_in(process->graphs, exec, value, &result), work->type, &result);
    if (lacks_context(node, work))
        return sim_no_context(process);
    const char *why = node ? graph_update_forbids(graphs_work(node), work) : NULL;
    if (why)
        return graph_refuse(VMM_RULE_GRAPH_PARAMS, number_of(value), "an instance cannot accept that: %s", why);
    return node ? graph_replace_work(node, work) : result;
}

static vmm_result set(const struct sim_process *process, vmm_graph_node value, vmm_result checked, const struct graph_work *work)
{
    return checked == VMM_SUCCESS ? graph_set_work(process, value, work) : checked;
}

static vmm_result set_in(const struct sim_process *process, vmm_graph_exec exec, vmm_graph_node value, vmm_result checked,
                         const struct graph_work *work)
{
    return checked == VMM_SUCCESS ? graph_set_work_in(process, exec, value, work) : checked;
}

/* The context of a fill stays; for a value that is not a fill it does not matter. */
vmm_result sim_graph_memset_node_set_params(struct sim_process *process, const struct vmm_call_graph_memset_node_set_params *call)
{
    struct graph_work work;
    const struct graph_node *node = graphs_find_node(process->graphs, call->node);
    return set(process, call->node,
               graph_fill_work(process, call->node_params, node ? graphs_work(node)->context : NULL, &work), &work);
}

vmm_result sim_graph_exec_memset_node_set_params(struct sim_process *process,
                                                 const struct vmm_call_graph_exec_memset_node_set_params *call)
{
    struct graph_work work;
    return set_in(process, call->graph_exec, call->node, graph_fill_in_context(process, call->memset_params, call->ctx, &work), &work);
}

/* From now on a copy belongs to the current context, or to none, as measured on an H200. */
vmm_result sim_graph_memcpy_node_set_params(struct sim_process *process, const struct vmm_call_graph_memcpy_node_set_params *call)
{
    struct graph_work work;
    const struct graph_node *node = graphs_find_node(process->graphs, call->node);
    const vmm_context context = node && !graphs_work(node)->unnamed ? graphs_work(node)->context : NULL;
    vmm_result result = graph_copy_work(process, call->node_params, sim_current(process) ? NULL : context, !sim_current(process), &work);
    work.unnamed = !sim_current(process);
    return set(process, call->node, result, &work);
}

vmm_result sim_graph_exec_memcpy_node_set_params(struct sim_process *process,
                                                 const struct vmm_call_graph_exec_memcpy_node_set_params *call)
{
    struct graph_work work;
    vmm_result result = graph_copy_work(process, call->copy_params, call->ctx, false, &work);
    if (result == VMM_SUCCESS && !call->ctx) { /* no context changes none */
        const struct graph_node *node = graph_need_node_in(process->graphs, call->graph_exec, call->node, &result);
        work.unnamed = node && graphs_work(node)->unnamed;
    }
    return set_in(process, call->graph_exec, call->node, result, &work);
}

vmm_result sim_graph_kernel_node_set_params(struct sim_process *process, const struct vmm_call_graph_kernel_node_set_params *call)
{
    struct graph_work work;
    return set(process, call->node, graph_kernel_work(process, call->node_params, &work), &work);
}

vmm_result sim_graph_exec_kernel_node_set_params(struct sim_process *process,
                                                 const struct vmm_call_graph_exec_kernel_node_set_params *call)
{
    struct graph_work work;
    return set_in(process, call->graph_exec, call->node, graph_kernel_work(process, call->node_params, &work), &work);
}

vmm_result sim_graph_host_node_set_params(struct sim_process *process, const struct vmm_call_graph_host_node_set_params *call)
{
    struct graph_work work;
    return set(process, call->node, graph_host_work(call->node_params, &work), &work);
}

vmm_result sim_graph_exec_host_node_set_params(struct sim_process *process,
                                               const struct vmm_call_graph_exec_host_node_set_params *call)
{
    struct graph_work work;
    return set_in(process, call->graph_exec, call->node, graph_host_work(call->node_params, &work), &work);
}

vmm_result sim_graph_event_record_node_set_event(struct sim_process *process,
                                                 const struct vmm_call_graph_event_record_node_set_event *call)
{
    struct graph_work work;
    return set(process, call->node, graph_event_work(process, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, call->event, &work), &work);
}

vmm_result sim_graph_event_wait_node_set_event(struct sim_process *process,
                                               const struct vmm_call_graph_event_wait_node_set_event *call)
{
    struct graph_work work;
    return set(process, call->node, graph_event_work(process, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, call->event, &work), &work);
}

vmm_result sim_graph_exec_event_record_node_set_event(struct sim_process *process,
                                                      const struct vmm_call_graph_exec_event_record_node_set_event *call)
{
    struct graph_work work;
    return set_in(process, call->graph_exec, call->node,
                  graph_event_work(process, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, call->event, &work), &work);
}

vmm_result sim_graph_exec_event_wait_node_set_event(struct sim_process *process,
                                                    const struct vmm_call_graph_exec_event_wait_node_set_event *call)
{
    struct graph_work work;
    return set_in(process, call->graph_exec, call->node,
                  graph_event_work(process, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, call->event, &work), &work);
}

/* The child of the instance's node is updated as a whole instance is. */
vmm_result sim_graph_exec_child_graph_node_set_params(struct sim_process *process,
                                                      const struct vmm_call_graph_exec_child_graph_node_set_params *call)
{
    vmm_result result = VMM_SUCCESS;
    struct graph_update_answer answer;
    const struct graph *graph = graph_need(process->graphs, call->child_graph, &result);
    struct graph_node *node = graph ? graph_need_node_in(process->graphs, call->graph_exec, call->node, &result) : NULL;
    node = graph_of_type(node, VMM_GRAPH_NODE_TYPE_GRAPH, &result);
    return node ? graph_update(process, graphs_work(node)->child, graph, &answer) : result;
}

/* ---- disabled nodes ---- */

/* Kernels, copies and fills can be disabled. */
static struct graph_node *switchable(const struct sim_process *process, vmm_graph_exec exec, vmm_graph_node value,
                                     vmm_result *result)
{
    struct graph_node *node = graph_need_node_in(process->graphs, exec, value, result);
    if (!node || graphs_work(node)->type <= VMM_GRAPH_NODE_TYPE_MEMSET)
        return node;
    *result = graph_refuse(VMM_RULE_GRAPH_NODE_TYPE, number_of(value),
                           "%p is not a kernel, copy or fill; only those can be disabled", (void *)value);
    return NULL;
}

vmm_result sim_graph_node_set_enabled(struct sim_process *process, const struct vmm_call_graph_node_set_enabled *call)
{
    vmm_result result = VMM_SUCCESS;
    struct graph_node *node = switchable(process, call->graph_exec, call->node, &result);
    if (node)
        graphs_work(node)->disabled = !call->is_enabled;
    return result;
}

vmm_result sim_graph_node_get_enabled(struct sim_process *process, const struct vmm_call_graph_node_get_enabled *call)
{
    vmm_result result = VMM_SUCCESS;
    if (!call->is_enabled)
        return graph_null("isEnabled");
    const struct graph_node *node = switchable(process, call->graph_exec, call->node, &result);
    if (node)
        *call->is_enabled = !graphs_work(node)->disabled;
    return result;
}
