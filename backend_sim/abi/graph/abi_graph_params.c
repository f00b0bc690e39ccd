/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of nodes: reading them, and changing them in a graph or in an instance of it. */
#include <string.h>

#include "abi_graph.h"

/* ---- reading ---- */

/* Copies that many bytes of the node's own parameters. */
static CUresult get(const char *function, CUgraphNode value, CUgraphNodeType type, void *out, const char *argument, size_t size)
{
    CUgraphNodeParams params;
    vmm_result result = VMM_SUCCESS;
    if (!out)
        return abi_graph_null(function, argument);
    const struct graph_node *node = graph_need_type(abi_graphs_lock()->graphs, abi_node(value), (vmm_graph_node_type)type, &result);
    if (node) {
        abi_params_of(graphs_work(node), &params);
        memcpy(out, &params.kernel, size); /* all members begin at the same offset */
    }
    return abi_graphs_answer(function, result);
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

/* As on a driver, the node gets its own copy of the list. */
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

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    ABI_GRAPH_CALL(__func__, graph_memcpy_node_get_params, abi_node(hNode), (vmm_memcpy3d *)(void *)nodeParams);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    ABI_GRAPH_CALL(__func__, graph_child_graph_node_get_graph, abi_node(hNode), (vmm_graph *)(void *)phGraph);
}

/* ---- changing ---- */

/* Where to change parameters: in the graph, or in an instance of it. */
struct place {
    const char *function;
    bool in_exec;
    CUgraphExec exec;
    CUgraphNode node;
};

/* Gives the node the new work, if its parameters are valid. Called with the lock held; releases it. */
static CUresult set(struct sim_process *process, const struct place *place, vmm_result result, const struct graph_work *work)
{
    if (result == VMM_SUCCESS && place->in_exec)
        result = graph_set_work_in(process, abi_exec(place->exec), abi_node(place->node), work);
    else if (result == VMM_SUCCESS)
        result = graph_set_work(process, abi_node(place->node), work);
    return abi_graphs_answer(place->function, result);
}

#define IN_GRAPH const struct place place = {__func__, false, NULL, hNode}
#define IN_EXEC const struct place place = {__func__, true, hGraphExec, hNode}

static CUresult set_kernel(vmm_system *sys, const struct place *place, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct abi_work work = {0};
    CUresult result = abi_kernel_work(sys, place->function, params, &work);
    if (result == CUDA_SUCCESS)
        result = set(abi_graphs_lock(), place, VMM_SUCCESS, &work.work);
    abi_work_drop(&work);
    return result;
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

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    ABI_GRAPH_CALL(__func__, graph_memset_node_set_params, abi_node(hNode), (const vmm_memset_node_params *)(const void *)nodeParams);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                        CUcontext ctx)
{
    ABI_GRAPH_CALL(__func__, graph_exec_memset_node_set_params, abi_exec(hGraphExec), abi_node(hNode),
                   (const vmm_memset_node_params *)(const void *)memsetParams, abi_context(ctx));
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)
{
    ABI_GRAPH_CALL(__func__, graph_memcpy_node_set_params, abi_node(hNode), (const vmm_memcpy3d *)(const void *)nodeParams);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    ABI_GRAPH_CALL(__func__, graph_exec_memcpy_node_set_params, abi_exec(hGraphExec), abi_node(hNode),
                   (const vmm_memcpy3d *)(const void *)copyParams, abi_context(ctx));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    ABI_GRAPH_CALL(__func__, graph_host_node_set_params, abi_node(hNode), (const vmm_host_node_params *)(const void *)nodeParams);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    ABI_GRAPH_CALL(__func__, graph_exec_host_node_set_params, abi_exec(hGraphExec), abi_node(hNode),
                   (const vmm_host_node_params *)(const void *)nodeParams);
}

static CUresult set_mem_op(struct sim_process *process, const struct place *place, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    struct mem_ops ops;
    struct graph_work work;
    return set(process, place, abi_mem_op_work(process, params, &ops, &work), &work);
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    IN_GRAPH;
    ABI_INITIALISED(set_mem_op(abi_graphs_lock(), &place, nodeParams));
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    IN_EXEC;
    ABI_INITIALISED(set_mem_op(abi_graphs_lock(), &place, nodeParams));
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    ABI_GRAPH_CALL(__func__, graph_event_record_node_set_event, abi_node(hNode), abi_event(event));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    ABI_GRAPH_CALL(__func__, graph_event_wait_node_set_event, abi_node(hNode), abi_event(event));
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    ABI_GRAPH_CALL(__func__, graph_exec_event_record_node_set_event, abi_exec(hGraphExec), abi_node(hNode), abi_event(event));
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    ABI_GRAPH_CALL(__func__, graph_exec_event_wait_node_set_event, abi_exec(hGraphExec), abi_node(hNode), abi_event(event));
}

/* The node, in the graph or in the instance. With the lock. */
static struct graph_node *find(const struct sim_process *process, const struct place *place, CUgraphNodeType type, vmm_result *result)
{
    const vmm_graph_node value = abi_node(place->node);
    struct graph_node *node = place->in_exec ? graph_need_node_in(process->graphs, abi_exec(place->exec), value, result)
                                             : graph_need_node(process->graphs, value, result);
    return graph_of_type(node, (vmm_graph_node_type)type, result);
}

/* A child graph whose node is in no instance stays as it is. */
static CUresult set_child(struct sim_process *process, const struct place *place, CUgraph value)
{
    const struct vmm_call_graph_exec_child_graph_node_set_params call = {
        {VMM_CALL_graph_exec_child_graph_node_set_params, 0}, abi_exec(place->exec), abi_node(place->node), abi_graph(value)};
    vmm_result result = VMM_SUCCESS;
    if (place->in_exec)
        result = sim_graph_exec_child_graph_node_set_params(process, &call);
    else if (graph_need(process->graphs, abi_graph(value), &result))
        find(process, place, CU_GRAPH_NODE_TYPE_GRAPH, &result);
    return abi_graphs_answer(place->function, result);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph)
{
    IN_EXEC;
    ABI_INITIALISED(set_child(abi_graphs_lock(), &place, childGraph));
}

/* Nodes that allocate and free keep their parameters. */
static CUresult set_memory(const struct sim_process *process, const struct place *place, CUgraphNodeType type)
{
    vmm_result result = VMM_SUCCESS;
    if (find(process, place, type, &result))
        result = graph_refuse(VMM_RULE_GRAPH_MEMORY_FIXED, 0, "%p allocates or frees memory, which cannot be changed",
                              (void *)place->node);
    return abi_graphs_answer(place->function, result);
}

/* ---- any type ---- */

static CUresult set_any(vmm_system *sys, const struct place *place, const CUgraphNodeParams *p)
{
    struct mem_ops ops;
    struct graph_work work;
    CUresult result = abi_params_whole(place->function, p);
    if (result != CUDA_SUCCESS)
        return result;
    if (p->type == CU_GRAPH_NODE_TYPE_KERNEL)
        return set_kernel(sys, place, &p->kernel);
    struct sim_process *process = abi_graphs_lock();
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return set_child(process, place, p->graph.graph);
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || p->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return set_memory(process, place, p->type);
    return set(process, place, abi_any_work(process, p, &ops, &work), &work);
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
