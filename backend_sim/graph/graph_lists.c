/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of a graph's nodes and edges, and of a node's. */
#include <string.h>

#include "call_graph.h"

struct list {
    vmm_graph_node *node, *other; /* of edges: both ends */
    vmm_graph_edge_data *data;
    uint64_t room, count, there;
};

static void put(struct list *list, const struct graph_node *node, const struct graph_node *other, uint64_t data)
{
    list->there++;
    if (!list->node || list->count == list->room)
        return;
    list->node[list->count] = (vmm_graph_node)(uintptr_t)node->value;
    if (list->other)
        list->other[list->count] = (vmm_graph_node)(uintptr_t)other->value;
    if (list->data)
        memcpy(&list->data[list->count], &data, sizeof data);
    list->count++;
}

static void finish(struct list *list, uint64_t *count)
{
    for (uint64_t i = list->count; list->node && i < list->room; i++) {
        list->node[i] = NULL;
        if (list->other)
            list->other[i] = NULL;
        if (list->data && list->other)
            memset(&list->data[i], 0, sizeof list->data[i]);
    }
    *count = list->node ? list->count : list->there;
}

/* Takes the room from *count. */
static vmm_result begin(struct list *list, const uint64_t *count)
{
    list->room = list->node ? *count : 0;
    if (!list->node || list->room)
        return VMM_SUCCESS;
    return graph_refuse(VMM_RULE_GRAPH_LIST, 0, "there is a list, but its length is 0");
}

/* Would the list lose the data of an edge? */
static vmm_result check_loss(const struct list *list, const struct graph_edges *edges)
{
    for (size_t i = 0; list->node && !list->data && i < edges->count; i++)
        if (edges->edge[i].data)
            return graph_refuse(VMM_RULE_GRAPH_LOSSY, 0, "an edge has data, but edgeData is NULL");
    return VMM_SUCCESS;
}

vmm_result graph_list_nodes(const struct sim_graphs *all, vmm_graph value, vmm_graph_node *nodes, uint64_t *count, bool roots)
{
    vmm_result result = VMM_SUCCESS;
    struct list list = {.node = nodes};
    if (!count)
        return graph_null(roots ? "numRootNodes" : "numNodes");
    const struct graph *graph = graph_need(all, value, &result);
    if (!graph)
        return result;
    result = begin(&list, count);
    if (result != VMM_SUCCESS)
        return result;
    for (const struct graph_node *node = roots ? graph->first_root : graph->first; node; node = roots ? node->root_after : node->after)
        put(&list, node, NULL, 0);
    finish(&list, count);
    return VMM_SUCCESS;
}

vmm_result graph_list_edges(const struct sim_graphs *all, vmm_graph value, vmm_graph_node *from, vmm_graph_node *to,
                            vmm_graph_edge_data *data, uint64_t *count)
{
    vmm_result result = VMM_SUCCESS;
    struct list list = {.node = from, .other = to, .data = data};
    if (!count || !from != !to || (data && !from))
        return graph_null(count ? "from or to" : "numEdges");
    const struct graph *graph = graph_need(all, value, &result);
    if (!graph)
        return result;
    result = begin(&list, count);
    for (const struct graph_node *node = graph->first; node && result == VMM_SUCCESS; node = node->after)
        result = check_loss(&list, &node->out);
    if (result != VMM_SUCCESS)
        return result;
    for (const struct graph_node *node = graph->first; node; node = node->after)
        for (size_t i = 0; i < node->out.count; i++)
            put(&list, node, node->out.edge[i].node, node->out.edge[i].data);
    finish(&list, count);
    return VMM_SUCCESS;
}

vmm_result graph_list_ends(const struct sim_graphs *all, vmm_graph_node value, bool in, vmm_graph_node *nodes,
                           vmm_graph_edge_data *data, uint64_t *count)
{
    vmm_result result = VMM_SUCCESS;
    struct list list = {.node = nodes, .data = data};
    if (!count || (data && !nodes))
        return graph_null(count ? "the list of nodes" : "the number of nodes");
    const struct graph_node *node = graph_need_node(all, value, &result);
    if (!node)
        return result;
    const struct graph_edges *there = in ? &node->in : &node->out;
    result = begin(&list, count);
    if (result == VMM_SUCCESS)
        result = check_loss(&list, there);
    if (result != VMM_SUCCESS)
        return result;
    for (size_t i = 0; i < there->count; i++)
        put(&list, there->edge[i].node, NULL, there->edge[i].data);
    finish(&list, count);
    return VMM_SUCCESS;
}

/* ---- the calls ---- */

vmm_result sim_graph_get_nodes(struct sim_process *process, const struct vmm_call_graph_get_nodes *call)
{
    return graph_list_nodes(process->graphs, call->graph, call->nodes, call->num_nodes, false);
}

vmm_result sim_graph_get_root_nodes(struct sim_process *process, const struct vmm_call_graph_get_root_nodes *call)
{
    return graph_list_nodes(process->graphs, call->graph, call->root_nodes, call->num_root_nodes, true);
}

vmm_result sim_graph_get_edges(struct sim_process *process, const struct vmm_call_graph_get_edges *call)
{
    return graph_list_edges(process->graphs, call->graph, call->from, call->to, call->edge_data, call->num_edges);
}

vmm_result sim_graph_node_get_dependencies(struct sim_process *process, const struct vmm_call_graph_node_get_dependencies *call)
{
    return graph_list_ends(process->graphs, call->node, true, call->dependencies, call->edge_data, call->num_dependencies);
}

vmm_result sim_graph_node_get_dependent_nodes(struct sim_process *process,
                                              const struct vmm_call_graph_node_get_dependent_nodes *call)
{
    return graph_list_ends(process->graphs, call->node, false, call->dependent_nodes, call->edge_data, call->num_dependent_nodes);
}
