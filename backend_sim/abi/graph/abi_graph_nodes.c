/* SPDX-License-Identifier: Apache-2.0 */
/* Building graphs by nodes. */
#include <string.h>

#include "abi_graph.h"
#include "abi_graph_alloc.h"
#include "abi_pack.h"
#include "heap.h"

/* What the calls that add a node have in common. */
struct add {
    const char *function;
    CUgraphNode *out;
    CUgraph graph;
    const CUgraphNode *on;
    const CUgraphEdgeData *data;
    size_t count;
};

/* ---- the parameters of each call, as what a node holds ---- */

static CUresult add_node(const struct add *add, const struct abi_work *work)
{
    CUresult result = CUDA_SUCCESS;
    if (!add->out)
        return abi_graph_null(add->function, "phGraphNode");
    abi_graphs_lock();
    struct graph *graph = abi_need_graph(add->function, add->graph, &result);
    struct abi_ends ends = {0};
    if (graph)
        result = abi_find_ends(add->function, graph, add->on, add->data, add->count, &ends);
    struct graph_node *node = NULL;
    if (result == CUDA_SUCCESS && !(node = abi_graph_add(graph, ends.node, ends.data, add->count, work)))
        result = abi_no_memory(add->function);
    if (node)
        *add->out = abi_node_value(node);
    abi_ends_drop(&ends);
    abi_graphs_unlock();
    return result;
}

/* Adds the node if its parameters are valid, and frees the work. */
static CUresult added(const struct add *add, CUresult result, struct abi_work *work)
{
    if (result == CUDA_SUCCESS)
        result = add_node(add, work);
    abi_work_drop(work);
    return result;
}

#define ADD(out, ...) const struct add add = {__func__, out, hGraph, dependencies, __VA_ARGS__, numDependencies}

static CUresult add_kernel(vmm_system *sys, const struct add *add, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct abi_work work = {0};
    return added(add, abi_kernel_work(sys, add->function, params, &work), &work);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_kernel(sys, &add, nodeParams));
}

static CUresult add_fill(vmm_system *sys, const struct add *add, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)
{
    struct abi_work work = {0};
    CUresult result = abi_fill_context_check(sys, add->function, params, ctx);
    return added(add, result == CUDA_SUCCESS ? abi_fill_work(sys, add->function, params, ctx, &work) : result, &work);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_fill(sys, &add, memsetParams, ctx));
}

static CUresult add_copy(vmm_system *sys, const struct add *add, const CUDA_MEMCPY3D *params, CUcontext ctx)
{
    struct abi_work work = {0};
    CUresult result = abi_context_check(sys, add->function, ctx);
    return added(add, result == CUDA_SUCCESS ? abi_copy_work(sys, add->function, params, ctx, &work) : result, &work);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_copy(sys, &add, copyParams, ctx));
}

static CUresult add_host(const struct add *add, const CUDA_HOST_NODE_PARAMS *params)
{
    struct abi_work work = {0};
    return added(add, abi_host_work(add->function, params, &work), &work);
}

CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                            size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_host(&add, nodeParams));
}

static CUresult add_empty(const struct add *add)
{
    struct abi_work work = {.params = {.type = CU_GRAPH_NODE_TYPE_EMPTY}};
    return added(add, CUDA_SUCCESS, &work);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                             size_t numDependencies)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_empty(&add));
}

static CUresult add_event(const vmm_system *sys, const struct add *add, CUgraphNodeType type, CUevent event)
{
    struct abi_work work = {0};
    return added(add, abi_event_work(sys, add->function, type, event, &work), &work);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                   size_t numDependencies, CUevent event)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_event(sys, &add, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, CUevent event)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_event(sys, &add, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}

static CUresult add_mem_op(const vmm_system *sys, const struct add *add, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    struct abi_work work = {0};
    return added(add, abi_mem_op_work(sys, add->function, params, &work), &work);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_mem_op(sys, &add, nodeParams));
}

/* ---- memory ---- */

static CUresult add_memory(vmm_system *sys, const struct add *add, CUDA_MEM_ALLOC_NODE_PARAMS *alloc, CUdeviceptr dptr)
{
    CUresult result = CUDA_SUCCESS;
    struct abi_ends ends = {0};
    const struct graph_node *node = NULL;
    if (!add->out)
        return abi_graph_null(add->function, "phGraphNode");
    abi_graphs_lock();
    struct graph *graph = abi_need_graph(add->function, add->graph, &result);
    if (graph)
        result = abi_find_ends(add->function, graph, add->on, add->data, add->count, &ends);
    const struct abi_dependencies on = {ends.node, ends.data, add->count};
    if (result == CUDA_SUCCESS)
        node = alloc ? abi_graph_add_alloc(sys, add->function, graph, &on, alloc, &result)
                     : abi_graph_add_free(add->function, graph, &on, dptr, &result);
    if (node)
        *add->out = abi_node_value(node);
    abi_ends_drop(&ends);
    abi_graphs_unlock();
    return result;
}

static CUresult add_alloc(vmm_system *sys, const struct add *add, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUresult result = abi_alloc_check(sys, add->function, params);
    return result == CUDA_SUCCESS ? add_memory(sys, add, params, 0) : result;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_alloc(sys, &add, nodeParams));
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                               size_t numDependencies, CUdeviceptr dptr)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_memory(sys, &add, NULL, dptr));
}

/* ---- child graphs ---- */

/* The graph that becomes the node's: a copy, or the graph itself. */
static struct graph *take_child(const char *function, CUgraph value, CUgraph into, bool move, CUresult *result)
{
    struct graph *child = abi_need_graph(function, value, result);
    if (!child)
        return NULL;
    if (value == into || (move && abi_more_of(child)->inside)) { /* a driver crashed on a graph within itself */
        *result = abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "%p is %s", (void *)value,
                             value == into ? "the graph itself" : "a node's child already");
        return NULL;
    }
    if (!move && (*result = abi_graph_without_memory(function, child, "cannot be copied: move it into its parent")) != CUDA_SUCCESS)
        return NULL;
    struct graph *taken = move ? child : abi_graph_copy(child);
    if (!taken)
        *result = abi_no_memory(function);
    return taken;
}

static CUresult add_child(const struct add *add, CUgraph value, bool move)
{
    CUresult result = CUDA_SUCCESS;
    const struct abi_work work = {.params = {.type = CU_GRAPH_NODE_TYPE_GRAPH}};
    abi_graphs_lock();
    struct graph *child = take_child(add->function, value, add->graph, move, &result);
    abi_graphs_unlock();
    if (!child)
        return result;
    result = add_node(add, &work);
    abi_graphs_lock();
    struct graph_node *node = result == CUDA_SUCCESS ? abi_node_of(*add->out) : NULL;
    if (node) {
        abi_work_of(node)->child = child;
        abi_more_of(child)->inside = node;
    } else if (!move) {
        abi_graph_end(child);
    }
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, CUgraph childGraph)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_child(&add, childGraph, false));
}

/* ---- any type ---- */

static CUresult add_any(vmm_system *sys, const struct add *add, CUgraphNodeParams *p)
{
    CUresult result = abi_params_whole(add->function, p);
    if (result != CUDA_SUCCESS)
        return result;
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return add_child(add, p->graph.graph, p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return add_alloc(sys, add, &p->alloc);
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return add_memory(sys, add, NULL, p->free.dptr);
    struct abi_work work = {0};
    return added(add, abi_any_work(sys, add->function, p, &work), &work);
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    ADD(phGraphNode, dependencyData);
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
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_kernel_v1(sys, &add, nodeParams));
}

CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                        CUgraphNodeParams *nodeParams)
{
    ADD(phGraphNode, NULL);
    ABI_INITIALISED(add_any(sys, &add, nodeParams));
}

/* ---- graphs ---- */

static CUresult create(CUgraph *out, unsigned flags)
{
    static const char name[] = "cuGraphCreate";
    if (flags)
        return abi_refuse(VMM_RULE_GRAPH_FLAGS, name, "flags is 0x%x: it must be 0", flags);
    if (!out)
        return abi_graph_null(name, "phGraph");
    abi_graphs_lock();
    const struct graph *graph = abi_graph_new();
    if (graph)
        *out = abi_graph_value(graph);
    abi_graphs_unlock();
    return graph ? CUDA_SUCCESS : abi_no_memory(name);
}

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    ABI_INITIALISED(create(phGraph, flags));
}

static CUresult destroy(CUgraph value)
{
    static const char name[] = "cuGraphDestroy";
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    struct graph *graph = abi_need_graph(name, value, &result);
    if (graph && abi_more_of(graph)->inside)
        result = abi_refuse(VMM_RULE_GRAPH_UNKNOWN, name, "%p belongs to a node and ends with it", (void *)value);
    else if (graph && capture_into(&abi_captures, graph))
        result = abi_refuse(VMM_RULE_CAPTURE_STATE, name, "a stream is being captured into %p", (void *)value);
    else if (graph)
        abi_graph_end(graph);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphDestroy(CUgraph hGraph)
{
    ABI_INITIALISED(destroy(hGraph));
}

static CUresult clone_graph(CUgraph *out, CUgraph value)
{
    static const char name[] = "cuGraphClone";
    CUresult result = CUDA_SUCCESS;
    if (!out)
        return abi_graph_null(name, "phGraphClone");
    abi_graphs_lock();
    const struct graph *graph = abi_need_graph(name, value, &result), *copy = NULL;
    if (graph && (result = abi_graph_without_memory(name, graph, "cannot be copied")) == CUDA_SUCCESS &&
        !(copy = abi_graph_copy(graph)))
        result = abi_no_memory(name);
    if (copy)
        *out = abi_graph_value(copy);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    ABI_INITIALISED(clone_graph(phGraphClone, originalGraph));
}

static CUresult find(CUgraphNode *out, CUgraphNode value, CUgraph in)
{
    static const char name[] = "cuGraphNodeFindInClone";
    CUresult result = CUDA_SUCCESS;
    if (!out || !value)
        return abi_graph_null(name, out ? "hOriginalNode" : "phNode");
    abi_graphs_lock();
    const struct graph *graph = abi_need_graph(name, in, &result);
    const struct graph_node *node = graph ? graph_find_origin(graph, (uint64_t)(uintptr_t)value) : NULL;
    if (graph)
        *out = node ? abi_node_value(node) : NULL;
    if (graph && !node)
        result = abi_refuse(VMM_RULE_GRAPH_NODE, name, "%p has no copy in that graph", (void *)value);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    ABI_INITIALISED(find(phNode, hOriginalNode, hClonedGraph));
}

static CUresult destroy_node(CUgraphNode value)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    static const char name[] = "cuGraphDestroyNode";
    struct graph_node *node = abi_need_node(name, value, &result);
    if (node && (result = abi_graph_without_memory(name, node->graph, "keeps its nodes")) == CUDA_SUCCESS)
        abi_node_end(node);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphDestroyNode(CUgraphNode hNode)
{
    ABI_INITIALISED(destroy_node(hNode));
}

static CUresult type_of(CUgraphNode value, CUgraphNodeType *type)
{
    static const char name[] = "cuGraphNodeGetType";
    CUresult result = CUDA_SUCCESS;
    if (!type)
        return abi_graph_null(name, "type");
    abi_graphs_lock();
    const struct graph_node *node = abi_need_node(name, value, &result);
    if (node)
        *type = abi_type_of(node);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    ABI_INITIALISED(type_of(hNode, type));
}
