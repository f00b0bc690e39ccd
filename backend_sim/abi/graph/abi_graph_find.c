/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_graph.h"

struct graph *abi_need_graph(const char *function, CUgraph value, CUresult *result)
{
    struct graph *graph = abi_graph_of(value);
    if (!graph)
        *result = abi_refuse(VMM_RULE_GRAPH_UNKNOWN, function, "%p is not a graph", (void *)value);
    return graph;
}

struct graph_node *abi_need_node(const char *function, CUgraphNode value, CUresult *result)
{
    struct graph_node *node = abi_node_of(value);
    if (!node)
        *result = abi_refuse(VMM_RULE_GRAPH_NODE, function, "%p is not a node", (void *)value);
    return node;
}

static const char *type_name(CUgraphNodeType type)
{
    static const char *const names[] = {"a kernel",     "a copy",   "a fill",      "a host function", "a child graph",
                                        "an empty",     "an event wait", "an event record", "a semaphore", "a semaphore",
                                        "an allocation", "a free",  "a memory operation", "a conditional"};
    return names[type];
}

struct graph_node *abi_need_type(const char *function, CUgraphNode value, CUgraphNodeType type, CUresult *result)
{
    struct graph_node *node = abi_need_node(function, value, result);
    if (!node || abi_type_of(node) == type)
        return node;
    *result = abi_refuse(VMM_RULE_GRAPH_NODE_TYPE, function, "%p is %s node, not %s node", (void *)value,
                         type_name(abi_type_of(node)), type_name(type));
    return NULL;
}

struct abi_exec *abi_need_exec(const char *function, CUgraphExec value, CUresult *result)
{
    struct abi_exec *exec = abi_exec_of(value);
    if (!exec)
        *result = abi_refuse(VMM_RULE_GRAPH_EXEC, function, "%p is not an instance of a graph", (void *)value);
    return exec;
}

/* Also in the graphs of its child graph nodes. */
static struct graph_node *find_in(const struct graph *graph, uint64_t origin)
{
    struct graph_node *found = graph_find_origin(graph, origin);
    for (const struct graph_node *node = graph->first; node && !found; node = node->after)
        if (abi_work_of(node)->child)
            found = find_in(abi_work_of(node)->child, origin);
    return found;
}

struct graph_node *abi_need_node_in(const char *function, const struct abi_exec *exec, CUgraphNode value, CUresult *result)
{
    struct graph_node *node = value ? find_in(exec->graph, (uint64_t)(uintptr_t)value) : NULL;
    if (!node)
        *result = abi_refuse(VMM_RULE_GRAPH_NODE, function, "%p is not a node of the graph that the instance was made from",
                             (void *)value);
    return node;
}
