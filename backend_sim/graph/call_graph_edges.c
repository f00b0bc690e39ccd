/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies between the nodes of a graph: several in one call, each with data of 64 bits, which an ordinary one has all 0. */
#include <string.h>

#include "call_graph.h"
#include "heap.h"

enum { TYPE_PROGRAMMATIC = 1, PORTS = 2 };

/* The ends of many edges, looked up. */
struct edges {
    const vmm_graph_edge_data *data; /* NULL: all 0 */
    struct graph_node **from, **to;
    uint64_t count;
};

static uint64_t data_of(const struct edges *edges, uint64_t at)
{
    uint64_t number = 0;
    _Static_assert(sizeof number == sizeof *edges->data, "the data of an edge is one number");
    if (edges->data)
        memcpy(&number, &edges->data[at], sizeof number);
    return number;
}

static bool is_valid(const struct edges *edges, uint64_t at)
{
    static const unsigned char zeros[sizeof edges->data->reserved];
    const vmm_graph_edge_data *data = edges->data ? &edges->data[at] : NULL;
    return !data || (data->type <= TYPE_PROGRAMMATIC && data->from_port <= PORTS && !data->to_port &&
                     memcmp(data->reserved, zeros, sizeof zeros) == 0);
}

static vmm_result find_nodes(const struct sim_process *process, const struct graph *graph, const vmm_graph_node *values,
                             const char *argument, uint64_t count, struct graph_node **nodes)
{
    for (uint64_t i = 0; i < count; i++) {
        nodes[i] = graphs_find_node(process->graphs, values[i]);
        if (!nodes[i] || nodes[i]->graph != graph)
            return graph_refuse(VMM_RULE_GRAPH_NODE, (uint64_t)(uintptr_t)values[i], "%s[%llu], %p, is not a node of that graph",
                                argument, (unsigned long long)i, (void *)values[i]);
    }
    return VMM_SUCCESS;
}

static vmm_result find_edges(const struct sim_process *process, const struct graph *graph, const vmm_graph_node *from,
                             const vmm_graph_node *to, struct edges *edges)
{
    const uint64_t most = UINT32_MAX; /* no driver has so many; the list would not fit into memory */
    if (edges->count > most)
        return graph_refuse_value(VMM_RULE_GRAPH_EDGE, "numDependencies", edges->count, "no graph has so many");
    if (edges->count && (!from || !to))
        return graph_null(from ? "to" : "from");
    edges->from = heap.malloc((edges->count + 1) * sizeof *edges->from);
    edges->to = heap.malloc((edges->count + 1) * sizeof *edges->to);
    if (!edges->from || !edges->to)
        return sim_out_of_host_memory();
    vmm_result result = find_nodes(process, graph, from, "from", edges->count, edges->from);
    if (result == VMM_SUCCESS)
        result = find_nodes(process, graph, to, "to", edges->count, edges->to);
    for (uint64_t i = 0; i < edges->count && result == VMM_SUCCESS; i++)
        if (!is_valid(edges, i))
            result = graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "the data of edge %llu is not valid", (unsigned long long)i);
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

/* As measured, the edges before the first one that is there already are added. Without memory none is. */
static vmm_result connect(const struct edges *edges)
{
    for (uint64_t made = 0; made < edges->count; made++) {
        if (graph_edge_between(edges->from[made], edges->to[made]))
            return graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "edge %llu is there already", (unsigned long long)made);
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
    const struct graph *graph = graph_need(process, call->graph, &result);
    if (graph)
        result = find_edges(process, graph, call->from, call->to, &edges);
    if (result == VMM_SUCCESS)
        result = check_ends(&edges);
    if (result == VMM_SUCCESS)
        result = connect(&edges);
    drop_edges(&edges);
    return result;
}

/* Without data an edge is removed whatever its data. */
static bool remove_one(const struct edges *edges, uint64_t at)
{
    const struct graph_edge *edge = graph_edge_between(edges->from[at], edges->to[at]);
    return edge && graph_disconnect(edges->from[at], edges->to[at], edges->data ? data_of(edges, at) : edge->data);
}

/* As measured, the edges before the first one that is not there are removed. */
vmm_result sim_graph_remove_dependencies(struct sim_process *process, const struct vmm_call_graph_remove_dependencies *call)
{
    vmm_result result = VMM_SUCCESS;
    struct edges edges = {.count = call->num_dependencies};
    const struct graph *graph = graph_need(process, call->graph, &result);
    if (graph)
        result = find_edges(process, graph, call->from, call->to, &edges);
    edges.data = call->edge_data; /* which is not checked here */
    for (uint64_t i = 0; i < edges.count && result == VMM_SUCCESS; i++)
        if (!remove_one(&edges, i))
            result = graph_refuse(VMM_RULE_GRAPH_EDGE, 0, "edge %llu is not there", (unsigned long long)i);
    drop_edges(&edges);
    return result;
}
