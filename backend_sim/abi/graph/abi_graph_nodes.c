/* SPDX-License-Identifier: Apache-2.0 */
/* Building graphs by nodes. */
#include <string.h>

#include "abi_graph.h"
#include "graph_alloc.h"

/* The common part of the calls that add a node. */
struct add {
    const char *function;
    struct graph_add to;
};

#define ADD(name, data)                                                                                            \
    const struct add add = {name, {(vmm_graph_node *)(void *)phGraphNode, abi_graph(hGraph), abi_nodes(dependencies), \
                                   (const vmm_graph_edge_data *)(const void *)(data), numDependencies, false}}
/* A call of the engine that adds a node. */
#define ADD_BY(function, name, ...)                                                                               \
    ABI_GRAPH_CALL(function, name, (vmm_graph_node *)(void *)phGraphNode, abi_graph(hGraph), abi_nodes(dependencies), \
                   numDependencies, __VA_ARGS__)

/* Adds the node if its parameters are valid. With the lock. */
static vmm_result added(struct sim_process *process, const struct add *add, vmm_result result, const struct graph_work *work)
{
    return result == VMM_SUCCESS ? graph_add_node(process->graphs, &add->to, work) : result;
}

static CUresult add_kernel(vmm_system *sys, const struct add *add, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct abi_work work = {0};
    CUresult result = abi_kernel_work(sys, add->function, params, &work);
    if (result == CUDA_SUCCESS)
        result = abi_graphs_answer(add->function, graph_add_node(abi_graphs_lock()->graphs, &add->to, &work.work));
    abi_work_drop(&work);
    return result;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    ADD(__func__, NULL);
    ABI_INITIALISED(add_kernel(sys, &add, nodeParams));
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    ADD_BY(__func__, graph_add_memset_node, (const vmm_memset_node_params *)(const void *)memsetParams, abi_context(ctx));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    ADD_BY(__func__, graph_add_memcpy_node, (const vmm_memcpy3d *)(const void *)copyParams, abi_context(ctx));
}

CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                            size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    ADD_BY(__func__, graph_add_host_node, (const vmm_host_node_params *)(const void *)nodeParams);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                             size_t numDependencies)
{
    ABI_GRAPH_CALL(__func__, graph_add_empty_node, (vmm_graph_node *)(void *)phGraphNode, abi_graph(hGraph),
                   abi_nodes(dependencies), numDependencies);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                   size_t numDependencies, CUevent event)
{
    ADD_BY(__func__, graph_add_event_record_node, abi_event(event));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, CUevent event)
{
    ADD_BY(__func__, graph_add_event_wait_node, abi_event(event));
}

/* Called with the lock held; releases it. */
static CUresult add_mem_op(struct sim_process *process, const struct add *add, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    struct mem_ops ops;
    struct graph_work work;
    vmm_result result = abi_mem_op_work(process, params, &ops, &work);
    return abi_graphs_answer(add->function, added(process, add, result, &work));
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    ADD(__func__, NULL);
    ABI_INITIALISED(add_mem_op(abi_graphs_lock(), &add, nodeParams));
}

/* ---- memory ---- */

static CUresult check_location(const vmm_system *sys, const char *function, CUmemLocation at)
{
    if (at.type == CU_MEM_LOCATION_TYPE_HOST || at.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return abi_refuse(VMM_RULE_GRAPH_MEMORY_KIND, function, "poolProps.location.type is %d: graph memory must be on a device",
                          (int)at.type);
    if (at.type != CU_MEM_LOCATION_TYPE_DEVICE || at.id < 0 || at.id >= abi_query_profile(sys)->devices)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "poolProps.location is type %d, id %d, which is not a device", (int)at.type,
                          at.id);
    return CUDA_SUCCESS;
}

static CUresult check_props(const vmm_system *sys, const char *function, const CUmemPoolProps *props)
{
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED && props->allocType != CU_MEM_ALLOCATION_TYPE_MANAGED)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "poolProps.allocType is %d", (int)props->allocType);
    for (size_t i = 0; i < sizeof props->reserved; i++)
        if (props->reserved[i])
            return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "poolProps.reserved is not 0");
    CUresult result = check_location(sys, function, props->location);
    if (result == CUDA_SUCCESS && props->handleTypes)
        result = abi_refuse(VMM_RULE_GRAPH_MEMORY_KIND, function, "poolProps.handleTypes is %d: graph memory cannot be exported",
                            (int)props->handleTypes);
    return result;
}

static CUresult check_access(const vmm_system *sys, const char *function, const CUmemAccessDesc *access)
{
    if (access->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        CUresult result = abi_device(sys, function, access->location.id);
        if (result != CUDA_SUCCESS)
            return result;
    }
    if (access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_GRAPH_MEMORY_KIND, function, "accessDescs: flags are %d, but graph memory can only be read-write",
                      (int)access->flags);
}

static CUresult check_alloc(const vmm_system *sys, const char *function, const CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    if (!p)
        return abi_graph_null(function, "nodeParams");
    if (!p->bytesize)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "bytesize is 0");
    CUresult result = check_props(sys, function, &p->poolProps);
    if (result == CUDA_SUCCESS && p->accessDescCount && !p->accessDescs)
        result = abi_refuse(VMM_RULE_GRAPH_MEMORY_ACCESS, function, "accessDescCount is %zu, and accessDescs is NULL",
                            p->accessDescCount);
    for (size_t i = 0; i < p->accessDescCount && result == CUDA_SUCCESS; i++)
        result = check_access(sys, function, &p->accessDescs[i]);
    return result;
}


/* A bit for each device that the parameters give rights to. */
static uint32_t peers_of(const CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    uint32_t peers = 0;
    for (size_t i = 0; i < params->accessDescCount; i++)
        if (params->accessDescs[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            peers |= UINT32_C(1) << params->accessDescs[i].location.id;
    return peers;
}

/* Finds where to add the node. With the lock. */
static struct graph *find_place(const struct sim_process *process, const struct add *add, struct graph_ends *ends, vmm_result *result)
{
    struct graph *graph = NULL;
    *result = VMM_SUCCESS;
    if (!add->to.out)
        *result = graph_null("phGraphNode");
    else if ((graph = graph_need(process->graphs, add->to.graph, result)))
        *result = graph_find_ends(process->graphs, graph, &add->to, ends);
    return *result == VMM_SUCCESS ? graph : NULL;
}

/* Releases the lock. */
static CUresult answer(const struct add *add, const struct graph_node *node, struct graph_ends *ends, vmm_result result)
{
    if (node)
        *add->to.out = (vmm_graph_node)(uintptr_t)node->value;
    graph_ends_drop(ends);
    return abi_graphs_answer(add->function, result);
}

static CUresult add_alloc(vmm_system *sys, const struct add *add, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUresult checked = check_alloc(sys, add->function, params);
    if (checked != CUDA_SUCCESS)
        return checked;
    vmm_result result;
    struct graph_ends ends = {NULL, NULL, 0};
    struct abi_work work = {.shown = {.params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC}}};
    const struct graph_allocation wanted = {params->poolProps.location.id, params->bytesize, peers_of(params)};
    const struct graph_node *node = NULL;
    work.shown.params.alloc = *params;
    work.work.shown = &work.shown;
    struct sim_process *process = abi_graphs_lock();
    struct graph *graph = find_place(process, add, &ends, &result);
    if (graph && (node = graph_add_alloc(process, graph, &ends, &wanted, &work.work, &result)))
        params->dptr = graphs_work(node)->memory->at;
    return answer(add, node, &ends, result);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    ADD(__func__, NULL);
    ABI_INITIALISED(add_alloc(sys, &add, nodeParams));
}

static CUresult add_free(const struct add *add, CUdeviceptr dptr)
{
    vmm_result result;
    struct graph_ends ends = {NULL, NULL, 0};
    struct graph_work work = {0};
    const struct graph_node *node = NULL;
    struct graph *graph = find_place(abi_graphs_lock(), add, &ends, &result);
    if (graph)
        node = graph_add_free(graph, &ends, dptr, &work, &result);
    return answer(add, node, &ends, result);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                               size_t numDependencies, CUdeviceptr dptr)
{
    ADD(__func__, NULL);
    ABI_INITIALISED(add_free(&add, dptr));
}

/* ---- child graphs ---- */

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, CUgraph childGraph)
{
    ADD_BY(__func__, graph_add_child_graph_node, abi_graph(childGraph));
}

/* ---- any type ---- */

static CUresult add_any(vmm_system *sys, const struct add *add, CUgraphNodeParams *p)
{
    CUresult result = abi_params_whole(add->function, p);
    if (result != CUDA_SUCCESS)
        return result;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return add_kernel(sys, add, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return add_alloc(sys, add, &p->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return add_free(add, p->free.dptr);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return abi_graphs_answer(add->function, graph_add_child(abi_graphs_lock()->graphs, &add->to, abi_graph(p->graph.graph),
                                                                p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE));
    default: break;
    }
    struct mem_ops ops;
    struct graph_work work;
    struct sim_process *process = abi_graphs_lock();
    vmm_result made = abi_any_work(process, p, &ops, &work);
    return abi_graphs_answer(add->function, added(process, add, made, &work));
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    ADD(__func__, dependencyData);
    ABI_INITIALISED(add_any(sys, &add, nodeParams));
}

/* ---- earlier versions ---- */

#undef cuGraphAddKernelNode
#undef cuGraphAddNode
#pragma GCC visibility push(default)
CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams);
CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                        CUgraphNodeParams *nodeParams);
#pragma GCC visibility pop

static CUresult add_kernel_v1(vmm_system *sys, const struct add *add, const CUDA_KERNEL_NODE_PARAMS_v1 *old)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};
    if (!old)
        return abi_graph_null(add->function, "nodeParams");
    memcpy(&params, old, sizeof *old);
    return add_kernel(sys, add, &params);
}

CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    ADD(__func__, NULL);
    ABI_INITIALISED(add_kernel_v1(sys, &add, nodeParams));
}

CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                        CUgraphNodeParams *nodeParams)
{
    ADD(__func__, NULL);
    ABI_INITIALISED(add_any(sys, &add, nodeParams));
}

/* ---- graphs ---- */

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    ABI_GRAPH_CALL(__func__, graph_create, (vmm_graph *)(void *)phGraph, flags);
}

CUresult cuGraphDestroy(CUgraph hGraph)
{
    ABI_GRAPH_CALL(__func__, graph_destroy, abi_graph(hGraph));
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    ABI_GRAPH_CALL(__func__, graph_clone, (vmm_graph *)(void *)phGraphClone, abi_graph(originalGraph));
}

CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    ABI_GRAPH_CALL(__func__, graph_node_find_in_clone, (vmm_graph_node *)(void *)phNode, abi_node(hOriginalNode),
                   abi_graph(hClonedGraph));
}

CUresult cuGraphDestroyNode(CUgraphNode hNode)
{
    ABI_GRAPH_CALL(__func__, graph_destroy_node, abi_node(hNode));
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    ABI_GRAPH_CALL(__func__, graph_node_get_type, abi_node(hNode), (vmm_graph_node_type *)(void *)type);
}
