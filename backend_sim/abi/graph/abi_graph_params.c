/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of nodes: reading them, and changing them in a graph or in an instance of it. */
#include <string.h>

#include "abi_graph.h"

/* ---- reading ---- */

/* Copies the part of the node's parameters at that member, of that size. */
static CUresult get(const char *function, CUgraphNode value, CUgraphNodeType type, void *out, const char *argument, size_t size)
{
    CUresult result = CUDA_SUCCESS;
    if (!out)
        return abi_graph_null(function, argument);
    abi_graphs_lock();
    const struct graph_node *node = abi_need_type(function, value, type, &result);
    if (node)
        memcpy(out, &abi_work_of(node)->params.kernel, size); /* all members begin at the same place */
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    ABI_INITIALISED(get(__func__, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, "nodeParams", sizeof *nodeParams));
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    ABI_INITIALISED(get(__func__, hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams, "nodeParams", sizeof *nodeParams));
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
    ABI_INITIALISED(get(__func__, hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, "nodeParams", sizeof *nodeParams));
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    ABI_INITIALISED(get(__func__, hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out, "event_out", sizeof *event_out));
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    ABI_INITIALISED(get(__func__, hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out, "event_out", sizeof *event_out));
}

/* As on a driver, the list is the node's own. */
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
    ABI_INITIALISED(get(__func__, hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams_out, "nodeParams_out",
                        sizeof *nodeParams_out));
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
    ABI_INITIALISED(get(__func__, hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params_out, "params_out", sizeof *params_out));
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    ABI_INITIALISED(get(__func__, hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out, "dptr_out", sizeof *dptr_out));
}

static CUresult get_copy(const char *function, CUgraphNode value, CUDA_MEMCPY3D *out)
{
    CUDA_MEMCPY_NODE_PARAMS held;
    CUresult result = out ? get(function, value, CU_GRAPH_NODE_TYPE_MEMCPY, &held, "nodeParams", sizeof held)
                          : abi_graph_null(function, "nodeParams");
    if (result == CUDA_SUCCESS)
        *out = held.copyParams;
    return result;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    ABI_INITIALISED(get_copy(__func__, hNode, nodeParams));
}

static CUresult get_child(const char *function, CUgraphNode value, CUgraph *out)
{
    CUresult result = CUDA_SUCCESS;
    if (!out)
        return abi_graph_null(function, "phGraph");
    abi_graphs_lock();
    const struct graph_node *node = abi_need_type(function, value, CU_GRAPH_NODE_TYPE_GRAPH, &result);
    if (node)
        *out = abi_graph_value(abi_work_of(node)->child);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    ABI_INITIALISED(get_child(__func__, hNode, phGraph));
}

/* ---- changing ---- */

/* Where parameters are changed: in the graph, or in an instance of it. */
struct place {
    const char *function;
    bool in_exec;
    CUgraphExec exec;
    CUgraphNode node;
};

/* With the lock. */
static struct graph_node *find(const struct place *place, CUgraphNodeType type, CUresult *result)
{
    if (!place->in_exec)
        return abi_need_type(place->function, place->node, type, result);
    const struct abi_exec *exec = abi_need_exec(place->function, place->exec, result);
    struct graph_node *node = exec ? abi_need_node_in(place->function, exec, place->node, result) : NULL;
    if (!node || abi_type_of(node) == type)
        return node;
    *result = abi_refuse(VMM_RULE_GRAPH_NODE_TYPE, place->function, "%p is a node of another type", (void *)place->node);
    return NULL;
}

/* Gives the node the new work. The instance's node stays enabled or disabled. */
static CUresult set(const struct place *place, struct abi_work *work)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    struct graph_node *node = find(place, work->params.type, &result);
    const char *why = node && place->in_exec ? abi_update_forbids(abi_work_of(node), work) : NULL;
    if (why)
        result = abi_refuse(VMM_RULE_GRAPH_PARAMS, place->function, "an instance cannot take that: %s", why);
    if (node && result == CUDA_SUCCESS) {
        work->disabled = abi_work_of(node)->disabled;
        if (!abi_node_set(node, work))
            result = abi_no_memory(place->function);
    }
    abi_graphs_unlock();
    return result;
}

static CUresult set_if(const struct place *place, CUresult result, struct abi_work *work)
{
    if (result == CUDA_SUCCESS)
        result = set(place, work);
    abi_work_drop(work);
    return result;
}

#define IN_GRAPH const struct place place = {__func__, false, NULL, hNode}
#define IN_EXEC const struct place place = {__func__, true, hGraphExec, hNode}

static CUresult set_kernel(vmm_system *sys, const struct place *place, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct abi_work work = {0};
    return set_if(place, abi_kernel_work(sys, place->function, params, &work), &work);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    IN_GRAPH;
    ABI_INITIALISED(set_kernel(sys, &place, nodeParams));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    IN_EXEC;
    ABI_INITIALISED(set_kernel(sys, &place, nodeParams));
}

static CUresult set_fill(vmm_system *sys, const struct place *place, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)
{
    struct abi_work work = {0};
    return set_if(place, abi_fill_work(sys, place->function, params, ctx, &work), &work);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    IN_GRAPH;
    ABI_INITIALISED(set_fill(sys, &place, nodeParams, abi_context_of_node(hNode)));
}

static CUresult set_fill_of_exec(vmm_system *sys, const struct place *place, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)
{
    CUresult result = abi_fill_context_check(sys, place->function, params, ctx);
    return result == CUDA_SUCCESS ? set_fill(sys, place, params, ctx) : result;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                        CUcontext ctx)
{
    IN_EXEC;
    ABI_INITIALISED(set_fill_of_exec(sys, &place, memsetParams, ctx));
}

static CUresult set_copy(vmm_system *sys, const struct place *place, const CUDA_MEMCPY3D *params, CUcontext ctx)
{
    struct abi_work work = {0};
    return set_if(place, abi_copy_work(sys, place->function, params, ctx, &work), &work);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)
{
    IN_GRAPH;
    ABI_INITIALISED(set_copy(sys, &place, nodeParams, abi_context_of_node(hNode)));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    IN_EXEC;
    ABI_INITIALISED(set_copy(sys, &place, copyParams, ctx));
}

static CUresult set_host(const struct place *place, const CUDA_HOST_NODE_PARAMS *params)
{
    struct abi_work work = {0};
    return set_if(place, abi_host_work(place->function, params, &work), &work);
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    IN_GRAPH;
    ABI_INITIALISED(set_host(&place, nodeParams));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    IN_EXEC;
    ABI_INITIALISED(set_host(&place, nodeParams));
}

static CUresult set_mem_op(const vmm_system *sys, const struct place *place, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    struct abi_work work = {0};
    return set_if(place, abi_mem_op_work(sys, place->function, params, &work), &work);
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    IN_GRAPH;
    ABI_INITIALISED(set_mem_op(sys, &place, nodeParams));
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    IN_EXEC;
    ABI_INITIALISED(set_mem_op(sys, &place, nodeParams));
}

static CUresult set_event(const vmm_system *sys, const struct place *place, CUgraphNodeType type, CUevent event)
{
    struct abi_work work = {0};
    return set_if(place, abi_event_work(sys, place->function, type, event, &work), &work);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    IN_GRAPH;
    ABI_INITIALISED(set_event(sys, &place, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    IN_GRAPH;
    ABI_INITIALISED(set_event(sys, &place, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    IN_EXEC;
    ABI_INITIALISED(set_event(sys, &place, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    IN_EXEC;
    ABI_INITIALISED(set_event(sys, &place, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}

/* The child of the instance's node is updated as a whole instance is. */
static CUresult set_child(vmm_system *sys, const struct place *place, CUgraph value)
{
    CUresult result = CUDA_SUCCESS;
    CUgraphExecUpdateResultInfo info;
    abi_graphs_lock();
    const struct graph *graph = abi_need_graph(place->function, value, &result);
    const struct graph_node *node = graph ? find(place, CU_GRAPH_NODE_TYPE_GRAPH, &result) : NULL;
    if (node && place->in_exec)
        result = abi_update(sys, place->function, abi_work_of(node)->child, graph, &info);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph)
{
    IN_EXEC;
    ABI_INITIALISED(set_child(sys, &place, childGraph));
}

/* Nodes that allocate and free keep their parameters. */
static CUresult set_memory(const struct place *place, CUgraphNodeType type)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    if (find(place, type, &result))
        result = abi_refuse(VMM_RULE_GRAPH_MEMORY_FIXED, place->function, "%p allocates or frees memory, which cannot be changed",
                            (void *)place->node);
    abi_graphs_unlock();
    return result;
}

/* ---- any type ---- */

static CUresult set_any(vmm_system *sys, const struct place *place, const CUgraphNodeParams *p)
{
    struct abi_work work = {0};
    CUresult result = abi_params_whole(place->function, p);
    if (result != CUDA_SUCCESS)
        return result;
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return set_child(sys, place, p->graph.graph);
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || p->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return set_memory(place, p->type);
    return set_if(place, abi_any_work(sys, place->function, p, &work), &work);
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    IN_GRAPH;
    ABI_INITIALISED(set_any(sys, &place, nodeParams));
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    IN_EXEC;
    ABI_INITIALISED(set_any(sys, &place, nodeParams));
}

/* ---- earlier versions ---- */

#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
#pragma GCC visibility push(default)
CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams);
CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams);
#pragma GCC visibility pop

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    ABI_INITIALISED(get(__func__, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, "nodeParams", sizeof *nodeParams));
}

static CUresult set_kernel_v1(vmm_system *sys, const struct place *place, const CUDA_KERNEL_NODE_PARAMS_v1 *old)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};
    if (!old)
        return abi_graph_null(place->function, "nodeParams");
    memcpy(&params, old, sizeof *old);
    return set_kernel(sys, place, &params);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    IN_GRAPH;
    ABI_INITIALISED(set_kernel_v1(sys, &place, nodeParams));
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    IN_EXEC;
    ABI_INITIALISED(set_kernel_v1(sys, &place, nodeParams));
}
