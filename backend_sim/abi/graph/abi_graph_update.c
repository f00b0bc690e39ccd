/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of instances: a graph's nodes are paired with the instance's from the last ones on, each with its dependencies in their
 * order, and each node of the instance takes over the work of its partner.
 *
 *     instance   0 > 1 > 2 > 3      the last nodes are paired in their order: 3 with c, then what they depend on: 2 with b ...
 *     graph      x > a > b > c
 */
#include <string.h>

#include "abi_graph.h"
#include "abi_graph_alloc.h"
#include "heap.h"

/* ---- what a node can take over ---- */

static bool is_rows(const CUDA_MEMCPY3D *copy)
{
    return copy->Height > 1 || copy->Depth > 1;
}

static const char *fill_forbids(const CUDA_MEMSET_NODE_PARAMS_v2 *now, const CUDA_MEMSET_NODE_PARAMS_v2 *next)
{
    if (now->ctx != next->ctx)
        return "the context differs";
    if (now->height > 1 || next->height > 1)
        return now->width == next->width && now->height == next->height && now->pitch == next->pitch &&
                       now->elementSize == next->elementSize
                   ? NULL
                   : "a fill of several rows can only move";
    return NULL;
}

static const char *copy_forbids(const CUDA_MEMCPY_NODE_PARAMS *now, const CUDA_MEMCPY_NODE_PARAMS *next)
{
    const CUDA_MEMCPY3D *a = &now->copyParams, *b = &next->copyParams;
    if (a->srcMemoryType != b->srcMemoryType || a->dstMemoryType != b->dstMemoryType)
        return "the types of memory differ";
    if (!is_rows(a) && !is_rows(b))
        return NULL;
    return a->WidthInBytes == b->WidthInBytes && a->Height == b->Height && a->Depth == b->Depth && a->srcPitch == b->srcPitch &&
                   a->dstPitch == b->dstPitch
               ? NULL
               : "a copy of several rows can only move";
}

static bool flushes(const CUstreamBatchMemOpParams *op)
{
    return (op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64) &&
           (op->waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH);
}

/* As documented (cuda.h 13.0, cuGraphExecBatchMemOpNodeSetParams); no driver was asked. */
static const char *mem_op_forbids(const CUDA_BATCH_MEM_OP_NODE_PARAMS *now, const CUDA_BATCH_MEM_OP_NODE_PARAMS *next)
{
    if (now->ctx != next->ctx || now->count != next->count)
        return "the context or the number of operations differs";
    for (unsigned i = 0; i < now->count; i++)
        if (now->paramArray[i].operation != next->paramArray[i].operation ||
            flushes(&now->paramArray[i]) != flushes(&next->paramArray[i]))
            return "an operation is of another kind, or flushes and did not, or the other way round";
    return NULL;
}

const char *abi_update_forbids(const struct abi_work *now, const struct abi_work *next)
{
    if (now->memory != next->memory) /* no driver was asked */
        return "it allocates or frees other memory";
    switch (next->params.type) {
    case CU_GRAPH_NODE_TYPE_MEMSET: return fill_forbids(&now->params.memset, &next->params.memset);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_forbids(&now->params.memcpy, &next->params.memcpy);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return mem_op_forbids(&now->params.memOp, &next->params.memOp);
    default: return NULL;
    }
}

/* ---- pairs ---- */

struct pairs {
    struct graph_node **of; /* by the index of an instance's node: its partner */
    CUgraphExecUpdateResultInfo *info;
};

static bool differ(struct pairs *pairs, CUgraphExecUpdateResult how, const struct graph_node *node)
{
    pairs->info->result = how;
    pairs->info->errorNode = node ? abi_node_value(node) : NULL;
    return false;
}

/* The next node on which nothing depends, after that one (NULL: the first). */
static struct graph_node *next_last(const struct graph *graph, struct graph_node *node)
{
    node = node ? node->after : graph->first;
    while (node && node->out.count)
        node = node->after;
    return node;
}

/* Pairs the two; *fresh: they were not paired yet. */
static bool pair(struct pairs *pairs, const struct graph_node *now, struct graph_node *next, bool *fresh)
{
    struct graph_node **partner = &pairs->of[now->index];
    *fresh = !*partner;
    if ((*partner && *partner != next) || (next->left && next->left != now->index + 1) || now->in.count != next->in.count)
        return differ(pairs, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, next);
    *partner = next;
    next->left = now->index + 1;
    return true;
}

static bool pair_last(struct pairs *pairs, const struct graph *instance, const struct graph *graph, struct graph_node **order,
                      size_t *known)
{
    struct graph_node *now = next_last(instance, NULL), *next = next_last(graph, NULL);
    const struct graph_node *first = next;
    bool fresh;
    for (; now && next; now = next_last(instance, now), next = next_last(graph, next)) {
        if (!pair(pairs, now, next, &fresh))
            return false;
        order[(*known)++] = now;
    }
    if (!now && !next)
        return true;
    return differ(pairs, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, first);
}

/* order has room for all nodes. */
static bool pair_all(struct pairs *pairs, const struct graph *instance, const struct graph *graph, struct graph_node **order)
{
    size_t known = 0;
    bool fresh;
    if (instance->count != graph->count)
        return differ(pairs, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL);
    if (!pair_last(pairs, instance, graph, order, &known))
        return false;
    for (size_t at = 0; at < known; at++) {
        const struct graph_node *now = order[at], *next = pairs->of[now->index];
        for (size_t i = 0; i < now->in.count; i++) {
            if (!pair(pairs, now->in.edge[i].node, next->in.edge[i].node, &fresh))
                return false;
            if (fresh)
                order[known++] = now->in.edge[i].node;
        }
    }
    return true;
}

/* ---- one graph and its children: first all checks, then all changes ---- */

static CUresult walk(const vmm_system *sys, const char *function, struct graph *instance, const struct graph *graph, bool change,
                     CUgraphExecUpdateResultInfo *info);

static CUresult refuse(const char *function, const CUgraphExecUpdateResultInfo *info, const char *what)
{
    return abi_refuse(VMM_RULE_GRAPH_UPDATE, function, "result %d, at node %p: %s", (int)info->result, (void *)info->errorNode,
                      what);
}

static CUresult check_node(const vmm_system *sys, const char *function, const struct graph_node *now,
                           const struct graph_node *next, struct pairs *pairs)
{
    const struct abi_work *from = abi_work_of(now), *to = abi_work_of(next);
    if (from->params.type != to->params.type) {
        differ(pairs, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, next);
        return refuse(function, pairs->info, "the node is of another type");
    }
    const char *why = abi_update_forbids(from, to);
    if (why) {
        differ(pairs, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, next);
        return refuse(function, pairs->info, why);
    }
    if (from->params.type == CU_GRAPH_NODE_TYPE_MEMSET && !abi_memory_planned(to->params.memset.dst, true) && abi_fill_check(sys, function, &to->params.memset) != CUDA_SUCCESS) {
        differ(pairs, CU_GRAPH_EXEC_UPDATE_ERROR, next);
        return refuse(function, pairs->info, "its memory cannot be filled");
    }
    return from->child ? walk(sys, function, from->child, to->child, false, pairs->info) : CUDA_SUCCESS;
}

static CUresult change_node(const vmm_system *sys, const char *function, struct graph_node *now, const struct graph_node *next,
                            struct pairs *pairs)
{
    struct abi_work *work = abi_work_of(now);
    if (work->child)
        return walk(sys, function, work->child, abi_work_of(next)->child, true, pairs->info);
    bool disabled = work->disabled;
    if (!abi_node_set(now, abi_work_of(next)))
        return abi_no_memory(function);
    abi_work_of(now)->disabled = disabled;
    return CUDA_SUCCESS;
}

static CUresult walk_pairs(const vmm_system *sys, const char *function, struct graph *instance, bool change, struct pairs *pairs)
{
    CUresult result = CUDA_SUCCESS;
    for (struct graph_node *now = instance->first; now && result == CUDA_SUCCESS; now = now->after)
        result = change ? change_node(sys, function, now, pairs->of[now->index], pairs)
                        : check_node(sys, function, now, pairs->of[now->index], pairs);
    return result;
}

static CUresult walk(const vmm_system *sys, const char *function, struct graph *instance, const struct graph *graph, bool change,
                     CUgraphExecUpdateResultInfo *info)
{
    struct pairs pairs = {heap.calloc(instance->count + 1, sizeof *pairs.of), info};
    struct graph_node **order = heap.malloc((instance->count + 1) * sizeof *order);
    CUresult result;
    graph_number(instance);
    for (struct graph_node *node = graph->first; node; node = node->after)
        node->left = 0;
    if (!pairs.of || !order)
        result = abi_no_memory(function);
    else if (!pair_all(&pairs, instance, graph, order))
        result = refuse(function, info, "the nodes or their dependencies differ");
    else
        result = walk_pairs(sys, function, instance, change, &pairs);
    heap.free(pairs.of);
    heap.free(order);
    return result;
}

CUresult abi_update(const vmm_system *sys, const char *function, struct graph *instance, const struct graph *graph,
                    CUgraphExecUpdateResultInfo *info)
{
    *info = (CUgraphExecUpdateResultInfo){CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL};
    CUresult result = walk(sys, function, instance, graph, false, info);
    return result == CUDA_SUCCESS ? walk(sys, function, instance, graph, true, info) : result;
}

/* ---- the first version: nodes are paired in the order in which they were added ---- */

/* Were as many nodes added to both, in children too? Those that have been removed since count. */
static bool as_many(const struct graph *a, const struct graph *b)
{
    const struct graph_node *x = a->first, *y = b->first;
    bool same = abi_more_of(a)->made == abi_more_of(b)->made;
    for (; same && x && y; x = x->after, y = y->after)
        if (abi_work_of(x)->child && abi_work_of(y)->child)
            same = as_many(abi_work_of(x)->child, abi_work_of(y)->child);
    return same && !x == !y;
}

static bool same_dependencies(const struct graph_node *a, const struct graph_node *b)
{
    if (a->in.count != b->in.count)
        return false;
    for (size_t i = 0; i < a->in.count; i++)
        if (a->in.edge[i].node->index != b->in.edge[i].node->index)
            return false;
    return true;
}

static CUresult check_old(const char *function, const struct graph *instance, const struct graph *graph,
                          CUgraphExecUpdateResultInfo *info)
{
    const struct graph_node *now = instance->first, *next = graph->first;
    if (!as_many(instance, graph)) {
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
        return refuse(function, info, "the graphs have had different numbers of nodes");
    }
    graph_number(instance);
    graph_number(graph);
    for (; now; now = now->after, next = next->after)
        if (!same_dependencies(now, next)) {
            info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
            info->errorNode = abi_node_value(graph->first);
            return refuse(function, info, "the dependencies differ");
        }
    return CUDA_SUCCESS;
}

/* ---- the calls ---- */

static CUresult update(const vmm_system *sys, CUgraphExec value, CUgraph of, bool old, CUgraphExecUpdateResultInfo *out)
{
    static const char name[] = "cuGraphExecUpdate";
    CUgraphExecUpdateResultInfo info = {CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL};
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    const struct abi_exec *exec = abi_need_exec(name, value, &result);
    const struct graph *graph = exec ? abi_need_graph(name, of, &result) : NULL;
    if (graph && old)
        result = check_old(name, exec->graph, graph, &info);
    if (graph && result == CUDA_SUCCESS)
        result = abi_update(sys, name, exec->graph, graph, &info);
    if (out) {
        memset(out, 0, sizeof *out); /* with the bytes between its members, as the driver does */
        out->result = info.result;
        out->errorNode = info.errorNode;
    }
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    ABI_INITIALISED(update(sys, hGraphExec, hGraph, false, resultInfo));
}

#undef cuGraphExecUpdate
#pragma GCC visibility push(default)
CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out);
#pragma GCC visibility pop

static CUresult update_v1(const vmm_system *sys, CUgraphExec value, CUgraph of, CUgraphNode *node, CUgraphExecUpdateResult *how)
{
    CUgraphExecUpdateResultInfo info;
    CUresult result = update(sys, value, of, true, &info);
    if (node)
        *node = info.errorNode;
    if (how)
        *how = info.result;
    return result;
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out)
{
    ABI_INITIALISED(update_v1(sys, hGraphExec, hGraph, hErrorNode_out, updateResult_out));
}
