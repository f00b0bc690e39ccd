/* SPDX-License-Identifier: Apache-2.0 */
/* Instances: made, launched, changed and ended. */
#include <stdio.h>


#include "abi_capture.h"
#include "abi_graph.h"
#include "abi_graph_alloc.h"
#include "heap.h"
#include "posix.h"

/* ---- making ---- */

enum {
    FREES = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
    UPLOADS = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
    BY_DEVICE = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
    BY_PRIORITY = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
};

static CUresult check_flags(const char *function, uint64_t flags, uint64_t allowed)
{
    if (flags & ~allowed)
        return abi_refuse(VMM_RULE_GRAPH_FLAGS, function, "flags 0x%llx: this call takes 0x%llx", (unsigned long long)flags,
                          (unsigned long long)allowed);
    if ((flags & FREES) && (flags & BY_DEVICE))
        return abi_refuse(VMM_RULE_GRAPH_FLAGS, function, "flags 0x%llx: a graph that a device launches cannot free its memory "
                          "when it is launched", (unsigned long long)flags);
    return CUDA_SUCCESS;
}

static bool has_event(const struct abi_work *work)
{
    return work->params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD || work->params.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
}

static CUresult check_event(const vmm_system *sys, const char *function, CUevent event)
{
    bool recorded, reached;
    if (abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_EVENT_UNKNOWN, function, "a node's event, %p, has been destroyed", (void *)event);
}

/* Checks the fills again, as measured, and that the events are there: a driver crashed. In children too. With the lock. */
static CUresult check_nodes(const vmm_system *sys, const char *function, const struct graph *graph)
{
    CUresult result = CUDA_SUCCESS;
    for (const struct graph_node *node = graph->first; node && result == CUDA_SUCCESS; node = node->after) {
        const struct abi_work *work = abi_work_of(node);
        if (work->params.type == CU_GRAPH_NODE_TYPE_MEMSET && !abi_memory_planned(work->params.memset.dst, true))
            result = abi_fill_check(sys, function, &work->params.memset);
        else if (has_event(work))
            result = check_event(sys, function, work->params.eventRecord.event);
        else if (work->child)
            result = check_nodes(sys, function, work->child);
    }
    return result;
}

/* Has neither the graph nor a child of it a cycle? With the lock. */
static CUresult check_cycles(const char *function, const struct graph *graph)
{
    struct graph_node **order = heap.malloc((graph->count + 1) * sizeof *order);
    if (!order)
        return abi_no_memory(function);
    size_t known = graph_order(graph, order);
    heap.free(order);
    if (known < graph->count)
        return abi_refuse(VMM_RULE_GRAPH_CYCLE, function, "%zu of %zu nodes depend on a cycle", graph->count - known, graph->count);
    CUresult result = CUDA_SUCCESS;
    for (const struct graph_node *node = graph->first; node && result == CUDA_SUCCESS; node = node->after)
        if (abi_work_of(node)->child)
            result = check_cycles(function, abi_work_of(node)->child);
    return result;
}

struct made {
    CUgraphInstantiateResult result;
    CUgraphNode node;
};

static CUresult make(vmm_system *sys, const char *function, CUgraphExec *out, CUgraph value, uint64_t flags,
                     struct made *made)
{
    uint64_t context;
    struct abi_query_context found;
    CUresult result = out ? abi_current(sys, function, &context, &found) : abi_graph_null(function, "phGraphExec");
    if (result == CUDA_SUCCESS)
        result = (CUresult)vmm_memset_d8_async(sys, 0, 0, 0, NULL); /* reports a fault */
    *made = (struct made){CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
    if (result != CUDA_SUCCESS)
        return result;
    abi_graphs_lock();
    struct graph *graph = abi_need_graph(function, value, &result);
    if (graph && abi_more_of(graph)->instances)
        result = abi_graph_without_memory(function, graph, "has an instance already");
    if (graph && result == CUDA_SUCCESS && (result = check_cycles(function, graph)) == CUDA_ERROR_INVALID_VALUE)
        *made = (struct made){CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, abi_node_value(graph->first)};
    if (result == CUDA_SUCCESS)
        result = check_nodes(sys, function, graph);
    const struct abi_exec *exec = result == CUDA_SUCCESS ? abi_exec_new(graph, flags) : NULL;
    if (result == CUDA_SUCCESS && !exec)
        result = abi_no_memory(function);
    if (exec) {
        *out = (CUgraphExec)(uintptr_t)exec->value;
        made->result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    }
    abi_graphs_unlock();
    return result;
}

static CUresult with_flags(vmm_system *sys, const char *function, CUgraphExec *out, CUgraph graph, uint64_t flags)
{
    struct made made;
    CUresult result = check_flags(function, flags, FREES | BY_DEVICE | BY_PRIORITY);
    return result == CUDA_SUCCESS ? make(sys, function, out, graph, flags, &made) : result;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(with_flags(sys, "cuGraphInstantiate", phGraphExec, hGraph, flags));
}

/* An upload makes the first launch faster, and there is nothing to do for it here. */
static CUresult with_params(vmm_system *sys, CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    static const char name[] = "cuGraphInstantiateWithParams";
    struct made made = {CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
    if (!params)
        return abi_graph_null(name, "instantiateParams");
    CUresult result = check_flags(name, params->flags, FREES | UPLOADS | BY_DEVICE | BY_PRIORITY);
    if (result == CUDA_SUCCESS)
        result = make(sys, name, out, graph, params->flags, &made);
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
    ABI_INITIALISED(with_params(sys, phGraphExec, hGraph, instantiateParams));
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(with_params(sys, phGraphExec, hGraph, instantiateParams));
}

#undef cuGraphInstantiate
#pragma GCC visibility push(default)
CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                            size_t bufferSize);
CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                               size_t bufferSize);
#pragma GCC visibility pop

static CUresult with_log(vmm_system *sys, CUgraphExec *out, CUgraph graph, CUgraphNode *node, char *log, size_t size)
{
    struct made made;
    CUresult result = make(sys, "cuGraphInstantiate", out, graph, 0, &made);
    if (node)
        *node = made.node;
    if (log && size)
        log[0] = 0;
    return result;
}

CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(with_log(sys, phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize));
}

CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                               size_t bufferSize)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(with_log(sys, phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize));
}

/* ---- ending, and what it was made with ---- */

static CUresult destroy(CUgraphExec value)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    struct abi_exec *exec = abi_need_exec("cuGraphExecDestroy", value, &result);
    if (exec)
        abi_exec_end(exec);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(destroy(hGraphExec));
}

/* As measured, without CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY. */
static CUresult flags_of(CUgraphExec value, cuuint64_t *flags)
{
    static const char name[] = "cuGraphExecGetFlags";
    CUresult result = CUDA_SUCCESS;
    if (!flags)
        return abi_graph_null(name, "flags");
    abi_graphs_lock();
    const struct abi_exec *exec = abi_need_exec(name, value, &result);
    if (exec)
        *flags = exec->flags & ~(uint64_t)BY_PRIORITY;
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    ABI_INITIALISED(flags_of(hGraphExec, flags));
}

/* ---- nodes that are left out ---- */

/* Kernels, copies and fills can be. With the lock. */
static struct graph_node *switchable(const char *function, CUgraphExec value, CUgraphNode of, CUresult *result)
{
    const struct abi_exec *exec = abi_need_exec(function, value, result);
    struct graph_node *node = exec ? abi_need_node_in(function, exec, of, result) : NULL;
    if (!node || abi_type_of(node) <= CU_GRAPH_NODE_TYPE_MEMSET)
        return node;
    *result = abi_refuse(VMM_RULE_GRAPH_NODE_TYPE, function, "%p is no kernel, copy or fill, which alone can be disabled",
                         (void *)of);
    return NULL;
}

static CUresult enable(CUgraphExec exec, CUgraphNode of, bool enabled)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    struct graph_node *node = switchable("cuGraphNodeSetEnabled", exec, of, &result);
    if (node)
        abi_work_of(node)->disabled = !enabled;
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    ABI_INITIALISED(enable(hGraphExec, hNode, isEnabled != 0));
}

static CUresult is_enabled(CUgraphExec exec, CUgraphNode of, unsigned *enabled)
{
    static const char name[] = "cuGraphNodeGetEnabled";
    CUresult result = CUDA_SUCCESS;
    if (!enabled)
        return abi_graph_null(name, "isEnabled");
    abi_graphs_lock();
    const struct graph_node *node = switchable(name, exec, of, &result);
    if (node)
        *enabled = !abi_work_of(node)->disabled;
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled)
{
    ABI_INITIALISED(is_enabled(hGraphExec, hNode, isEnabled));
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
    CUresult result = CUDA_SUCCESS;
    if (!path)
        return abi_graph_null(name, "path");
    abi_graphs_lock();
    const struct graph *graph = abi_need_graph(name, value, &result);
    FILE *file = graph ? posix.fopen(path, "w") : NULL;
    if (graph && !file)
        result = abi_refuse(VMM_RULE_CODE_SYSTEM, name, "%s cannot be written", path);
    if (file) {
        draw(file, graph);
        fclose(file);
    }
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    (void)flags;
    ABI_INITIALISED(print(hGraph, path));
}
