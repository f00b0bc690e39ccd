/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes of each type accept and return. */
#include <string.h>

#include "abi_graph.h"
#include "abi_pack.h"
#include "graph_alloc.h"

CUresult abi_kernel_work(vmm_system *sys, const char *function, const CUDA_KERNEL_NODE_PARAMS *params, struct abi_work *work)
{
    if (!params)
        return abi_graph_null(function, "nodeParams");
    CUresult result = abi_launch_work(sys, function, params, false, work);
    const CUcontext context = params->ctx ? params->ctx : (CUcontext)(uintptr_t)abi_query_current(sys);
    work->shown.params.kernel.ctx = context;
    work->work.context = abi_context(context);
    return result;
}

vmm_result abi_mem_op_work(const struct sim_process *process, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct mem_ops *ops,
                           struct graph_work *work)
{
    if (!params)
        return graph_null("nodeParams");
    const struct vmm_call_stream_batch_mem_op call = {
        {VMM_CALL_stream_batch_mem_op, 0}, NULL, params->count,
        (const vmm_stream_batch_mem_op_params *)(const void *)params->paramArray, params->flags};
    return graph_mem_op_work(process, abi_context(params->ctx), &call.head, ops, work);
}

vmm_result abi_any_work(struct sim_process *process, const CUgraphNodeParams *p, struct mem_ops *ops, struct graph_work *work)
{
    vmm_result result;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (p->memcpy.flags || p->memcpy.reserved)
            return graph_refuse_value(VMM_RULE_GRAPH_PARAMS, "flags", (uint64_t)p->memcpy.flags, "flags and reserved fields "
                                                                                                 "are 0");
        result = graph_context_check(process, abi_context(p->memcpy.copyCtx));
        if (result != VMM_SUCCESS)
            return result;
        return graph_copy_work(process, (const vmm_memcpy3d *)(const void *)&p->memcpy.copyParams, abi_context(p->memcpy.copyCtx), false,
                               work);
    case CU_GRAPH_NODE_TYPE_MEMSET: /* both versions begin alike */
        return graph_fill_in_context(process, (const vmm_memset_node_params *)(const void *)&p->memset, abi_context(p->memset.ctx), work);
    case CU_GRAPH_NODE_TYPE_HOST: return graph_host_work((const vmm_host_node_params *)(const void *)&p->host, work);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return abi_mem_op_work(process, &p->memOp, ops, work);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: /* eventWait has it at the same offset */
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return graph_event_work(process, (vmm_graph_node_type)p->type, abi_event(p->eventRecord.event), work);
    default: *work = (struct graph_work){.type = (vmm_graph_node_type)p->type}; return VMM_SUCCESS;
    }
}

/* A captured allocation returns its real parameters. */
static CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(const struct graph_memory *memory)
{
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, memory->range->device}},
        .bytesize = memory->size, .dptr = memory->at};
}

void abi_params_of(const struct graph_work *work, CUgraphNodeParams *p)
{
    const struct abi_shown *shown = work->shown;
    memset(p, 0, sizeof *p);
    p->type = (CUgraphNodeType)work->type;
    const CUcontext context = (CUcontext)(void *)work->context;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: p->kernel = shown->params.kernel; break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: p->alloc = shown ? shown->params.alloc : alloc_params(work->memory); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        p->memcpy.copyCtx = context;
        memcpy(&p->memcpy.copyParams, &work->copy, sizeof work->copy);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memcpy(&p->memset, &work->fill, sizeof work->fill);
        p->memset.ctx = context;
        break;
    case CU_GRAPH_NODE_TYPE_HOST: p->host = (CUDA_HOST_NODE_PARAMS){work->host.fn, work->host.user_data}; break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        p->memOp.ctx = context;
        p->memOp.count = work->ops.count;
        p->memOp.paramArray = (CUstreamBatchMemOpParams *)(uintptr_t)work->ops.param_array; /* of one layout (api/cuda_abi_test.c) */
        p->memOp.flags = work->ops.flags;
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: p->eventRecord.event = (CUevent)(void *)work->event; break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: p->free.dptr = work->memory->at; break;
    default: break;
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
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "a reserved field of the parameters is not 0");
    if (!size_of(p->type) && p->type != CU_GRAPH_NODE_TYPE_EMPTY)
        return abi_refuse(VMM_RULE_ENTRY_ABSENT, function, "nodes of type %d are not simulated", (int)p->type);
    if (!is_zero(p->reserved1, size_of(p->type), sizeof p->reserved1))
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "the parameters have bytes beyond those of type %d", (int)p->type);
    return CUDA_SUCCESS;
}
