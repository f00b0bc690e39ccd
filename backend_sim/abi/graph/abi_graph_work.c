/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes of each type accept. */
#include <stdlib.h>
#include <string.h>

#include "abi_graph.h"
#include "abi_graph_launch_memory.h"
#include "abi_host.h"
#include "abi_pack.h"
#include "abi_parts.h"
#include "abi_registered.h"
#include "abi_rows.h"
#include "heap.h"

/* ---- checks ---- */

/* Reports a fault of the current context, if there is one. */
static CUresult check_device(vmm_system *sys)
{
    return abi_query_current(sys) ? (CUresult)vmm_memset_d8_async(sys, 0, 0, 0, NULL) : CUDA_SUCCESS;
}

static CUcontext or_current(const vmm_system *sys, CUcontext context)
{
    return context ? context : (CUcontext)(uintptr_t)abi_query_current(sys);
}

/* The device of the node's context; 0 for one that has ended. */
static int device_of(const vmm_system *sys, CUcontext context)
{
    struct abi_query_context found;
    return abi_query_context(sys, (uint64_t)(uintptr_t)context, &found) ? found.device : 0;
}

CUresult abi_fill_check(const vmm_system *sys, const char *function, const CUDA_MEMSET_NODE_PARAMS_v2 *p)
{
    const struct abi_fill fill = {p->dst, p->pitch, p->width, p->height, p->elementSize, p->value};
    return abi_rows_check_fill(sys, function, device_of(sys, p->ctx), &fill);
}

CUresult abi_context_check(const vmm_system *sys, const char *function, CUcontext context)
{
    struct abi_query_context found;
    if (context && abi_query_context(sys, (uint64_t)(uintptr_t)context, &found) && !found.alive)
        return abi_refuse(VMM_RULE_CTX_ENDED, function, "ctx, %p, was destroyed before the call", (void *)context);
    return CUDA_SUCCESS;
}

CUresult abi_fill_context_check(const vmm_system *sys, const char *function, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    uint64_t left;
    if (params && !context && abi_query_there(sys, params->dst, &left) == ABI_QUERY_MAPPED)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function,
                          "ctx is NULL: mapped memory belongs to no context, so a fill of it names one");
    return abi_context_check(sys, function, context);
}

CUresult abi_fill_work(vmm_system *sys, const char *function, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context,
                       struct abi_work *work)
{
    if (!params)
        return abi_graph_null(function, "memsetParams");
    CUresult result = check_device(sys);
    if (result != CUDA_SUCCESS)
        return result;
    unsigned size = params->elementSize;
    if (size != 1 && size != 2 && size != 4)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "elementSize is %u: an element has 1, 2 or 4 bytes", size);
    if (!params->width || !params->height)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "%zu elements in %zu rows: there is nothing to fill", params->width,
                          params->height);
    work->params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    work->params.memset = (CUDA_MEMSET_NODE_PARAMS_v2){params->dst,   params->pitch,  params->value, size,
                                                       params->width, params->height, or_current(sys, context)};
    return abi_fill_check(sys, function, &work->params.memset);
}

CUresult abi_copy_work(vmm_system *sys, const char *function, const CUDA_MEMCPY3D *p, CUcontext context,
                       struct abi_work *work)
{
    if (!p)
        return abi_graph_null(function, "copyParams");
    CUresult result = check_device(sys);
    if (result != CUDA_SUCCESS)
        return result;
    if (!p->WidthInBytes || !p->Height || !p->Depth)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "%zu bytes, %zu rows, %zu slices: there is nothing to copy",
                          p->WidthInBytes, p->Height, p->Depth);
    work->params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    work->params.memcpy = (CUDA_MEMCPY_NODE_PARAMS){.copyCtx = or_current(sys, context), .copyParams = *p};
    return abi_rows_check_copy(sys, function, device_of(sys, work->params.memcpy.copyCtx), p);
}

CUresult abi_kernel_work(vmm_system *sys, const char *function, const CUDA_KERNEL_NODE_PARAMS *params, struct abi_work *work)
{
    if (!params)
        return abi_graph_null(function, "nodeParams");
    CUresult result = abi_launch_work(sys, function, params, work);
    work->params.kernel.ctx = or_current(sys, params->ctx);
    return result;
}

CUresult abi_host_work(const char *function, const CUDA_HOST_NODE_PARAMS *params, struct abi_work *work)
{
    if (!params)
        return abi_graph_null(function, "nodeParams");
    if (!params->fn)
        return abi_refuse(VMM_RULE_HOSTFUNC_NULL, function, "fn is NULL");
    work->params.type = CU_GRAPH_NODE_TYPE_HOST;
    work->params.host = *params;
    return CUDA_SUCCESS;
}

CUresult abi_event_work(const vmm_system *sys, const char *function, CUgraphNodeType type, CUevent event, struct abi_work *work)
{
    bool recorded, reached;
    if (!event)
        return abi_graph_null(function, "event");
    if (!abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached))
        return abi_refuse(VMM_RULE_EVENT_UNKNOWN, function, "%p is not an event", (void *)event);
    work->params.type = type;
    work->params.eventRecord.event = event; /* eventWait has it in the same place */
    return CUDA_SUCCESS;
}

struct vmm_call_stream_batch_mem_op abi_mem_op_call(const CUDA_BATCH_MEM_OP_NODE_PARAMS *p, vmm_stream stream)
{
    return (struct vmm_call_stream_batch_mem_op){
        {VMM_CALL_stream_batch_mem_op, 0}, stream, p->count, (const vmm_stream_batch_mem_op_params *)(const void *)p->paramArray,
        p->flags};
}

CUresult abi_mem_op_work(const vmm_system *sys, const char *function, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params,
                         struct abi_work *work)
{
    struct abi_query_context found;
    if (!params)
        return abi_graph_null(function, "nodeParams");
    if (!abi_query_context(sys, (uint64_t)(uintptr_t)params->ctx, &found)) /* measured of NULL: the current one does not stand in */
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "ctx, %p, is not a context", (void *)params->ctx);
    const struct vmm_call_stream_batch_mem_op call = abi_mem_op_call(params, NULL);
    work->params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    work->params.memOp = *params;
    return abi_mem_op_form(sys, &call.head);
}

CUresult abi_any_work(vmm_system *sys, const char *function, const CUgraphNodeParams *p, struct abi_work *work)
{
    const CUDA_MEMSET_NODE_PARAMS fill = {p->memset.dst,         p->memset.pitch, p->memset.value,
                                          p->memset.elementSize, p->memset.width, p->memset.height};
    CUresult context = CUDA_SUCCESS;
    if (p->type == CU_GRAPH_NODE_TYPE_MEMSET)
        context = abi_fill_context_check(sys, function, &fill, p->memset.ctx);
    else if (p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        context = abi_context_check(sys, function, p->memcpy.copyCtx);
    if (context != CUDA_SUCCESS)
        return context;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return abi_kernel_work(sys, function, &p->kernel, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return abi_copy_work(sys, function, &p->memcpy.copyParams, p->memcpy.copyCtx, work);
    case CU_GRAPH_NODE_TYPE_MEMSET: return abi_fill_work(sys, function, &fill, p->memset.ctx, work);
    case CU_GRAPH_NODE_TYPE_HOST: return abi_host_work(function, &p->host, work);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return abi_mem_op_work(sys, function, &p->memOp, work);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return abi_event_work(sys, function, p->type, p->eventRecord.event, work);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return abi_event_work(sys, function, p->type, p->eventWait.event, work);
    default: work->params.type = p->type; return CUDA_SUCCESS;
    }
}

/* The bytes of a type's own parameters; the rest of the union is reserved. */
static size_t size_of(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return sizeof(CUDA_KERNEL_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return sizeof(CUDA_MEMCPY_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_MEMSET: return sizeof(CUDA_MEMSET_NODE_PARAMS_v2);
    case CU_GRAPH_NODE_TYPE_HOST: return sizeof(CUDA_HOST_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_GRAPH: return sizeof(CUDA_CHILD_GRAPH_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return sizeof(CUDA_MEM_ALLOC_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return sizeof(CUDA_MEM_FREE_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return sizeof(CUevent);
    default: return 0;
    }
}

static bool is_zero(const void *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (((const unsigned char *)bytes)[i])
            return false;
    return true;
}

CUresult abi_params_whole(const char *function, const CUgraphNodeParams *p)
{
    if (!p)
        return abi_graph_null(function, "nodeParams");
    if ((unsigned)p->type > CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "type %d is not a CUgraphNodeType", (int)p->type);
    if (!is_zero(p->reserved0, 0, sizeof p->reserved0) || p->reserved2)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "a reserved part of the parameters is not 0");
    if (!size_of(p->type) && p->type != CU_GRAPH_NODE_TYPE_EMPTY)
        return abi_refuse(VMM_RULE_ENTRY_ABSENT, function, "nodes of type %d are not simulated", (int)p->type);
    if (!is_zero(p->reserved1, size_of(p->type), sizeof p->reserved1))
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "the parameters have bytes behind those of type %d", (int)p->type);
    return CUDA_SUCCESS;
}

CUcontext abi_context_of_node(CUgraphNode value)
{
    CUcontext context = NULL;
    abi_graphs_lock();
    const struct graph_node *node = abi_node_of(value);
    if (node && abi_type_of(node) == CU_GRAPH_NODE_TYPE_MEMSET)
        context = abi_work_of(node)->params.memset.ctx;
    else if (node && abi_type_of(node) == CU_GRAPH_NODE_TYPE_MEMCPY)
        context = abi_work_of(node)->params.memcpy.copyCtx;
    abi_graphs_unlock();
    return context;
}

CUresult abi_graph_check_launch(const vmm_system *sys, const char *function, const struct graph *graph)
{
    CUresult result = CUDA_SUCCESS;
    for (const struct graph_node *node = graph->first; node && result == CUDA_SUCCESS; node = node->after) {
        const struct abi_work *work = abi_work_of(node);
        const struct vmm_call_stream_batch_mem_op call = abi_mem_op_call(&work->params.memOp, NULL);
        if (work->child)
            result = abi_graph_check_launch(sys, function, work->child);
        else if (work->params.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
            result = (CUresult)abi_query_mem_op(sys, device_of(sys, work->params.memOp.ctx), &call.head);
        if (!work->child && result != CUDA_SUCCESS) {
            const vmm_detail detail = *vmm_last_detail();
            abi_report(NULL, &detail);
        }
    }
    return result;
}
