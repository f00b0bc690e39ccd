/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies between the nodes of a graph: several in one call, each with 64 bits of data, all 0 for an ordinary one. */
#include <string.h>

#include "call_graph.h"
#include "heap.h"

enum { TYPE_PROGRAMMATIC = 1, PORTS = 2 };

static uint64_t number_of(const vmm_graph_edge_data *data)
{
    uint64_t number = 0;
    _Static_assert(sizeof number == sizeof *data, "the data of an edge is one number");
    if (data)
        memcpy(&number, data, sizeof number);
    return number;
}

vmm_result graph_check_edge_data(const vmm_graph_edge_data *data, uint64_t count)
{
    static const unsigned char zeros[sizeof data->reserved];
    for (uint64_t i = 0; data && i < count; i++)
        if (data[i].type > TYPE_PROGRAMMATIC || data[i].from_port > PORTS || data[i].to_port ||
            memcmp(data[i].reserved, zeros, sizeof zeros) != 0)
            return graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "the data of edge %llu is not valid", (unsigned long long)i);
    return VMM_SUCCESS;
}

static bool is_kernel(const struct graph_node *node)
{
    return graphs_work(node)->type == VMM_GRAPH_NODE_TYPE_KERNEL;
}

/* An edge of the second type, as documented: from one of a kernel's two other ports to a kernel. Only kernels have those ports,
 * as measured on two H200. */
static vmm_result check_ports(const vmm_graph_edge_data *data, const struct graph_node *from, bool to_kernel, uint64_t at)
{
    if (data->type != TYPE_PROGRAMMATIC && data->from_port && !is_kernel(from))
        return graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "edge %llu leads from port %u of a node that is not a kernel",
                            (unsigned long long)at,
                            data->from_port);
    if (data->type != TYPE_PROGRAMMATIC || (data->from_port && is_kernel(from) && to_kernel))
        return VMM_SUCCESS;
    return graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "edge %llu is programmatic and leads from %s port %u to %s", (unsigned long long)at,
                        is_kernel(from) ? "a kernel's" : "another node's", data->from_port, to_kernel ? "a kernel" : "another node");
}

/* All nodes of a list, which must belong to the graph. */
static vmm_result find_nodes(const struct sim_graphs *all, const struct graph *graph, const vmm_graph_node *values,
                             const char *argument, uint64_t count, struct graph_node **nodes)
{
    for (uint64_t i = 0; i < count; i++) {
        nodes[i] = graphs_find_node(all, values[i]);
        const uint64_t value = (uint64_t)(uintptr_t)values[i];
        char shown[GRAPH_SHOWN];
        if (!nodes[i] || nodes[i]->graph != graph)
            return graph_refuse(VMM_RULE_GRAPH_NODE, value, "%s[%llu], %s, is not a node of that graph", argument,
                                (unsigned long long)i, graph_shown(value, shown));
    }
    return VMM_SUCCESS;
}

/* ---- what a new node depends on ---- */

static vmm_result refuse_twice(struct graph_node *const *nodes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < i; k++)
            if (nodes[k] == nodes[i])
                return graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "dependencies %llu and %llu are the same node", (unsigned long long)k,
                                    (unsigned long long)i);
    return VMM_SUCCESS;
}

vmm_result graph_find_ends(const struct sim_graphs *all, const struct graph *graph, const struct graph_add *add,
                           struct graph_ends *ends)
{
    if (add->count > graph->count)
        return graph_refuse_value(VMM_RULE_GRAPH_EDGE, "numDependencies", add->count, "the graph has fewer nodes");
    if (add->count && !add->on)
        return graph_null("dependencies");
    ends->node = heap.malloc((add->count + 1) * sizeof *ends->node);
    ends->data = heap.malloc((add->count + 1) * sizeof *ends->data);
    if (!ends->node || !ends->data)
        return sim_out_of_host_memory();
    ends->count = add->count;
    vmm_result result = find_nodes(all, graph, add->on, "dependencies", add->count, ends->node);
    if (result == VMM_SUCCESS)
        result = graph_check_edge_data(add->data, add->count);
    for (uint64_t i = 0; result == VMM_SUCCESS && add->data && i < add->count; i++)
        result = check_ports(&add->data[i], ends->node[i], add->kernel, i);
    if (result == VMM_SUCCESS)
        result = refuse_twice(ends->node, add->count);
    for (uint64_t i = 0; i < add->count; i++)
        ends->data[i] = number_of(add->data ? &add->data[i] : NULL);
    return result;
}

void graph_ends_drop(struct graph_ends *ends)
{
    heap.free(ends->node);
    heap.free(ends->data);
}

/* ---- adding and removing ---- */

/* The ends of many edges, looked up. */
struct edges {
    const vmm_graph_edge_data *data; /* NULL: all 0 */
    struct graph_node **from, **to;
    uint64_t count;
};

static uint64_t data_of(const struct edges *edges, uint64_t at)
{
    return number_of(edges->data ? &edges->data[at] : NULL);
}

static vmm_result find_edges(const struct sim_graphs *all, const struct graph *graph, const vmm_graph_node *from,
                             const vmm_graph_node *to, struct edges *edges)
{
    const uint64_t most = UINT32_MAX; /* no driver supports that many; the list would not fit into memory */
    if (edges->count > most)
        return graph_refuse_value(VMM_RULE_GRAPH_EDGE, "numDependencies", edges->count, "no graph has that many");
    if (edges->count && (!from || !to))
        return graph_null(from ? "to" : "from");
    edges->from = heap.malloc((edges->count + 1) * sizeof *edges->from);
    edges->to = heap.malloc((edges->count + 1) * sizeof *edges->to);
    if (!edges->from || !edges->to)
        return sim_out_of_host_memory();
    vmm_result result = find_nodes(all, graph, from, "from", edges->count, edges->from);
    if (result == VMM_SUCCESS)
        result = find_nodes(all, graph, to, "to", edges->count, edges->to);
    if (result == VMM_SUCCESS)
        result = graph_check_edge_data(edges->data, edges->count);
    for (uint64_t i = 0; result == VMM_SUCCESS && edges->data && i < edges->count; i++)
        result = check_ports(&edges->data[i], edges->from[i], is_kernel(edges->to[i]), i);
    return result;
}

static void drop_edges(struct edges *edges)
{
    heap.free(edges->from);
    heap.free(edges->to);
}

static vmm_result check_ends(const struct edges *edges)
{
    for (uint64_t i = 0; i < edges->count; i++)
        if (edges->from[i] == edges->to[i])
            return graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "edge %llu leads from a node to itself", (unsigned long long)i);
    return VMM_SUCCESS;
}

/* As measured, the edges before the first one that already exists are added. Without memory none is. */
static vmm_result connect(const struct edges *edges)
{
    for (uint64_t made = 0; made < edges->count; made++) {
        if (graph_edge_between(edges->from[made], edges->to[made]))
            return graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "edge %llu already exists", (unsigned long long)made);
        if (graph_connect(edges->from[made], edges->to[made], data_of(edges, made)))
            continue;
        while (made--)
            graph_disconnect(edges->from[made], edges->to[made], data_of(edges, made));
        return sim_out_of_host_memory();
    }
    return VMM_SUCCESS;
}

vmm_result sim_graph_add_dependencies(struct sim_process *process, const struct vmm_call_graph_add_dependencies *call)
{
    vmm_result result = VMM_SUCCESS;
    struct edges edges = {.data = call->edge_data, .count = call->num_dependencies};
    const struct graph *graph = graph_need(process->graphs, call->graph, &result);
    if (!graph)
        return result;
    result = find_edges(process->graphs, graph, call->from, call->to, &edges);
    if (result == VMM_SUCCESS)
        result = check_ends(&edges);
    if (result == VMM_SUCCESS)
        result = connect(&edges);
    drop_edges(&edges);
    return result;
}

/* Without data an edge is removed whatever its data. Reserved bytes do not count, as measured of most of them, nor where an edge of type 0
 * comes from, as measured once on an H200. */
static bool remove_one(const struct edges *edges, uint64_t at)
{
    const struct graph_edge *edge = graph_edge_between(edges->from[at], edges->to[at]);
    vmm_graph_edge_data data = {0};
    if (edges->data)
        data = (vmm_graph_edge_data){.from_port = edges->data[at].type ? edges->data[at].from_port : 0, .to_port = edges->data[at].to_port, .type = edges->data[at].type};
    return edge && graph_disconnect(edges->from[at], edges->to[at], edges->data ? number_of(&data) : edge->data);
}

/* As measured, the edges before the first one that does not exist are removed. */
vmm_result sim_graph_remove_dependencies(struct sim_process *process, const struct vmm_call_graph_remove_dependencies *call)
{
    vmm_result result = VMM_SUCCESS;
    struct edges edges = {.count = call->num_dependencies};
    const struct graph *graph = graph_need(process->graphs, call->graph, &result);
    if (!graph)
        return result;
    result = graph_fixed(graph, "keeps its edges");
    if (result == VMM_SUCCESS)
        result = find_edges(process->graphs, graph, call->from, call->to, &edges);
    edges.data = call->edge_data; /* which is not checked here */
    for (uint64_t i = 0; i < edges.count && result == VMM_SUCCESS; i++)
        if (!remove_one(&edges, i))
            result = graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "edge %llu does not exist", (unsigned long long)i);
    drop_edges(&edges);
    return result;
}
