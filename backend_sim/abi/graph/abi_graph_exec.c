/* SPDX-License-Identifier: Apache-2.0 */
/* Instances: creating, launching, changing and destroying them. */
#include <stdio.h>

#include "abi_capture.h"
#include "abi_graph.h"
#include "posix.h"

/* ---- making ---- */

struct made {
    CUgraphInstantiateResult result;
    CUgraphNode node;
};

static CUresult make(const char *function, CUgraphExec *out, CUgraph graph, uint64_t flags, struct made *made)
{
    struct graph_node *cycle = NULL;
    struct sim_process *process = abi_graphs_lock();
    vmm_result result = graph_instantiate(process, (vmm_graph_exec *)(void *)out, abi_graph(graph), flags, &cycle);
    *made = cycle                   ? (struct made){CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, abi_node_value(cycle)}
            : result == VMM_SUCCESS ? (struct made){CUDA_GRAPH_INSTANTIATE_SUCCESS, NULL}
                                    : (struct made){CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
    return abi_graphs_answer(function, result);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    if (graph_known_flags(flags, false))
        ABI_NO_CAPTURE();
    ABI_GRAPH_CALL("cuGraphInstantiate", graph_instantiate, (vmm_graph_exec *)(void *)phGraphExec, abi_graph(hGraph), flags);
}

/* An upload makes the first launch faster on a driver; here it has nothing to do. */
static CUresult with_params(CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    static const char name[] = "cuGraphInstantiateWithParams";
    struct made made = {CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
    if (!params)
        return abi_graph_null(name, "instantiateParams");
    abi_graphs_lock();
    CUresult result = abi_graphs_answer(name, graph_check_flags(params->flags, true));
    if (result == CUDA_SUCCESS)
        result = make(name, out, graph, params->flags, &made);
    params->result_out = made.result;
    params->hErrNode_out = made.node;
    return result;
}

#undef cuGraphInstantiateWithParams
#pragma GCC visibility push(default)
CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams);
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams);
#pragma GCC visibility pop

CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(with_params(phGraphExec, hGraph, instantiateParams));
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(with_params(phGraphExec, hGraph, instantiateParams));
}

#undef cuGraphInstantiate
#pragma GCC visibility push(default)
CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                            size_t bufferSize);
CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                               size_t bufferSize);
#pragma GCC visibility pop

static CUresult with_log(CUgraphExec *out, CUgraph graph, CUgraphNode *node, char *log, size_t size)
{
    struct made made;
    CUresult result = make("cuGraphInstantiate", out, graph, 0, &made);
    if (node)
        *node = made.node;
    if (log && size)
        log[0] = 0;
    return result;
}

CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize));
}

CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                               size_t bufferSize)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize));
}

/* ---- destruction, and creation flags ---- */

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    ABI_NO_CAPTURE();
    ABI_GRAPH_CALL(__func__, graph_exec_destroy, abi_exec(hGraphExec));
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    ABI_GRAPH_CALL(__func__, graph_exec_get_flags, abi_exec(hGraphExec), flags);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    ABI_GRAPH_CALL(__func__, graph_node_set_enabled, abi_exec(hGraphExec), abi_node(hNode), isEnabled);
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled)
{
    ABI_GRAPH_CALL(__func__, graph_node_get_enabled, abi_exec(hGraphExec), abi_node(hNode), isEnabled);
}

/* ---- a picture ---- */

static void draw(FILE *file, const struct graph *graph)
{
    graph_number(graph);
    fprintf(file, "digraph dot {\nsubgraph cluster_0 {\nlabel=\"graph\"\n");
    for (const struct graph_node *node = graph->first; node; node = node->after)
        fprintf(file, "\"node_%zu\" [label=\"%zu: type %d\"];\n", node->index, node->index, (int)abi_type_of(node));
    for (const struct graph_node *node = graph->first; node; node = node->after)
        for (size_t i = 0; i < node->out.count; i++)
            fprintf(file, "\"node_%zu\" -> \"node_%zu\";\n", node->index, node->out.edge[i].node->index);
    fprintf(file, "}\n}\n");
}

static CUresult print(CUgraph value, const char *path)
{
    static const char name[] = "cuGraphDebugDotPrint";
    vmm_result result = VMM_SUCCESS;
    if (!path)
        return abi_graph_null(name, "path");
    const struct graph *graph = graph_need(abi_graphs_lock()->graphs, abi_graph(value), &result);
    FILE *file = graph ? posix.fopen(path, "w") : NULL;
    if (graph && !file)
        result = graph_refuse(VMM_RULE_CODE_SYSTEM, 0, "%s cannot be written", path);
    if (file) {
        draw(file, graph);
        fclose(file);
    }
    return abi_graphs_answer(name, result);
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    (void)flags;
    ABI_INITIALISED(print(hGraph, path));
}
