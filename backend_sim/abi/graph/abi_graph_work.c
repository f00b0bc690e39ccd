/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes of each type accept, and what they do when a launch comes to them. */
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

CUresult abi_fill_work(vmm_system *sys, const char *function, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context,
                       struct abi_work *work)
{
    if (!params)
        return abi_null(function, "memsetParams");
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
        return abi_null(function, "copyParams");
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
        return abi_null(function, "nodeParams");
    CUresult result = abi_launch_work(sys, function, params, work);
    work->params.kernel.ctx = or_current(sys, params->ctx);
    return result;
}

CUresult abi_host_work(const char *function, const CUDA_HOST_NODE_PARAMS *params, struct abi_work *work)
{
    if (!params)
        return abi_null(function, "nodeParams");
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
        return abi_null(function, "event");
    if (!abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached))
        return abi_refuse(VMM_RULE_EVENT_UNKNOWN, function, "%p is not an event", (void *)event);
    work->params.type = type;
    work->params.eventRecord.event = event; /* eventWait has it in the same place */
    return CUDA_SUCCESS;
}

static struct vmm_call_stream_batch_mem_op call_of(const CUDA_BATCH_MEM_OP_NODE_PARAMS *p, vmm_stream stream)
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
        return abi_null(function, "nodeParams");
    if (!abi_query_context(sys, (uint64_t)(uintptr_t)params->ctx, &found)) /* measured of NULL: the current one does not stand in */
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, function, "ctx, %p, is not a context", (void *)params->ctx);
    const struct vmm_call_stream_batch_mem_op call = call_of(params, NULL);
    work->params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    work->params.memOp = *params;
    return abi_mem_op_form(sys, &call.head);
}

CUresult abi_any_work(vmm_system *sys, const char *function, const CUgraphNodeParams *p, struct abi_work *work)
{
    const CUDA_MEMSET_NODE_PARAMS fill = {p->memset.dst,         p->memset.pitch, p->memset.value,
                                          p->memset.elementSize, p->memset.width, p->memset.height};
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
        return abi_null(function, "nodeParams");
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

/* ---- work that only the host can do: bytes of registered and pageable memory ---- */

struct host_bytes {
    void *to;
    const void *from; /* NULL: a fill */
    size_t count;
    unsigned size, value;
};

static void move_bytes(void *user)
{
    struct host_bytes *b = user;
    if (b->from)
        memmove(b->to, b->from, b->count);
    for (size_t i = 0; !b->from && i < b->count; i++)
        memcpy((unsigned char *)b->to + i * b->size, &b->value, b->size);
    heap.free(b);
}

struct issue {
    vmm_system *sys;
    vmm_stream stream;
    uint32_t number; /* of the program's call */
};

static CUresult issue_call(const struct issue *to, union vmm_any_call *call, enum vmm_call_id id)
{
    call->head = (struct vmm_call){(uint16_t)id, to->number};
    return (CUresult)abi_query_issue(to->sys, call, id, to->stream);
}

static CUresult issue_host(const struct issue *to, CUhostFn fn, void *data)
{
    union vmm_any_call call;
    call.launch_host_func = (struct vmm_call_launch_host_func){{0, 0}, to->stream, fn, data};
    return issue_call(to, &call, VMM_CALL_launch_host_func);
}

static CUresult issue_bytes(const struct issue *to, const struct host_bytes *bytes)
{
    struct host_bytes *kept = heap.malloc(sizeof *kept);
    if (!kept)
        return abi_no_memory("cuGraphLaunch");
    *kept = *bytes;
    CUresult result = issue_host(to, move_bytes, kept);
    if (result != CUDA_SUCCESS)
        heap.free(kept);
    return result;
}

/* ---- fills ---- */

/* Little-endian, as the devices are. */
static CUresult issue_row(const struct issue *to, const CUDA_MEMSET_NODE_PARAMS_v2 *p, CUdeviceptr at)
{
    union vmm_any_call call;
    if (abi_is_registered(at))
        return issue_bytes(to, &(struct host_bytes){(void *)(uintptr_t)at, NULL, p->width, p->elementSize, p->value});
    switch (p->elementSize) {
    case 1:
        call.memset_d8_async =
            (struct vmm_call_memset_d8_async){{0, 0}, at, (unsigned char)p->value, p->width, to->stream};
        return issue_call(to, &call, VMM_CALL_memset_d8_async);
    case 2:
        call.memset_d16_async =
            (struct vmm_call_memset_d16_async){{0, 0}, at, (unsigned short)p->value, p->width, to->stream};
        return issue_call(to, &call, VMM_CALL_memset_d16_async);
    default:
        call.memset_d32_async = (struct vmm_call_memset_d32_async){{0, 0}, at, p->value, p->width, to->stream};
        return issue_call(to, &call, VMM_CALL_memset_d32_async);
    }
}

static CUresult issue_fill(const struct issue *to, const CUDA_MEMSET_NODE_PARAMS_v2 *p)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; row < p->height && result == CUDA_SUCCESS; row++)
        result = issue_row(to, p, p->dst + row * p->pitch);
    return result;
}

/* ---- copies ---- */

/* One side of a copy: where row y of slice z begins. */
struct side {
    CUdeviceptr base;
    size_t pitch, height;
    bool host;
};

static struct side side_of(const struct issue *to, CUmemorytype type, CUdeviceptr device, const void *host, size_t x, size_t y,
                           size_t z, size_t pitch, size_t height, const CUDA_MEMCPY3D *copy)
{
    struct side side = {.pitch = pitch ? pitch : copy->WidthInBytes + x, .height = height ? height : copy->Height + y};
    CUdeviceptr base = type == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)host : device;
    side.host = abi_is_registered(base) || !abi_query_device_address(to->sys, base);
    if (type == CU_MEMORYTYPE_DEVICE && !abi_is_registered(base))
        side.host = false; /* an address where nothing is mapped faults */
    side.base = base + (z * side.height + y) * side.pitch + x;
    return side;
}

static CUresult issue_line(const struct issue *to, CUdeviceptr dst, bool to_host, CUdeviceptr src, bool from_host, size_t size)
{
    union vmm_any_call call;
    if (to_host && from_host)
        return issue_bytes(to, &(struct host_bytes){(void *)(uintptr_t)dst, (const void *)(uintptr_t)src, size, 1, 0});
    if (to_host) {
        call.memcpy_dtoh_async =
            (struct vmm_call_memcpy_dtoh_async){{0, 0}, (void *)(uintptr_t)dst, src, size, to->stream};
        return issue_call(to, &call, VMM_CALL_memcpy_dtoh_async);
    }
    if (from_host) {
        call.memcpy_htod_async =
            (struct vmm_call_memcpy_htod_async){{0, 0}, dst, (const void *)(uintptr_t)src, size, to->stream};
        return issue_call(to, &call, VMM_CALL_memcpy_htod_async);
    }
    call.memcpy_dtod_async = (struct vmm_call_memcpy_dtod_async){{0, 0}, dst, src, size, to->stream};
    return issue_call(to, &call, VMM_CALL_memcpy_dtod_async);
}

static CUresult issue_copy(const struct issue *to, const CUDA_MEMCPY3D *p)
{
    const struct side dst = side_of(to, p->dstMemoryType, p->dstDevice, p->dstHost, p->dstXInBytes, p->dstY, p->dstZ,
                                    p->dstPitch, p->dstHeight, p);
    const struct side src = side_of(to, p->srcMemoryType, p->srcDevice, p->srcHost, p->srcXInBytes, p->srcY, p->srcZ,
                                    p->srcPitch, p->srcHeight, p);
    CUresult result = CUDA_SUCCESS;
    for (size_t z = 0; z < p->Depth; z++)
        for (size_t y = 0; y < p->Height && result == CUDA_SUCCESS; y++)
            result = issue_line(to, dst.base + (z * dst.height + y) * dst.pitch, dst.host,
                                src.base + (z * src.height + y) * src.pitch, src.host, p->WidthInBytes);
    return result;
}

/* ---- nodes ---- */

static CUresult issue_kernel(const struct issue *to, const struct abi_work *work)
{
    union vmm_any_call call;
    call.launch = work->launch;
    call.launch.stream = to->stream;
    return issue_call(to, &call, VMM_CALL_launch);
}

static CUresult issue_mem_op(const struct issue *to, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    union vmm_any_call call;
    call.stream_batch_mem_op = call_of(p, to->stream);
    return p->count ? issue_call(to, &call, VMM_CALL_stream_batch_mem_op) : CUDA_SUCCESS;
}

/* An event that was destroyed since is left out, as measured. */
static CUresult issue_event(const struct issue *to, CUgraphNodeType type, CUevent event)
{
    bool recorded, reached;
    if (!abi_query_event(to->sys, (uint64_t)(uintptr_t)event, &recorded, &reached))
        return CUDA_SUCCESS;
    if (type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        return (CUresult)vmm_stream_wait_event(to->sys, to->stream, abi_event(event), 0);
    CUresult result = (CUresult)vmm_event_record(to->sys, abi_event(event), to->stream);
    if (result == CUDA_SUCCESS)
        abi_event_recorded((uint64_t)(uintptr_t)event);
    return result;
}

static CUresult issue_node(const struct issue *to, const struct abi_work *work)
{
    switch (work->params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return issue_kernel(to, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return issue_copy(to, &work->params.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: return issue_fill(to, &work->params.memset);
    case CU_GRAPH_NODE_TYPE_HOST: return issue_host(to, work->params.host.fn, work->params.host.userData);
    case CU_GRAPH_NODE_TYPE_GRAPH: return abi_graph_issue(to->sys, work->child, to->stream);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return issue_mem_op(to, &work->params.memOp);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return abi_launch_alloc(to->sys, work, to->stream);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: abi_launch_free(to->sys, work); return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return issue_event(to, work->params.type, work->params.eventRecord.event);
    default: return CUDA_SUCCESS;
    }
}

CUresult abi_graph_check_launch(const vmm_system *sys, const char *function, const struct graph *graph)
{
    CUresult result = CUDA_SUCCESS;
    for (const struct graph_node *node = graph->first; node && result == CUDA_SUCCESS; node = node->after) {
        const struct abi_work *work = abi_work_of(node);
        const struct vmm_call_stream_batch_mem_op call = call_of(&work->params.memOp, NULL);
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

CUresult abi_graph_issue(vmm_system *sys, const struct graph *graph, vmm_stream stream)
{
    const struct issue to = {sys, stream, (uint32_t)vmm_last_detail()->call};
    struct graph_node **order = heap.malloc((graph->count + 1) * sizeof *order);
    if (!order)
        return abi_no_memory("cuGraphLaunch");
    size_t count = graph_order(graph, order);
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (!abi_work_of(order[i])->disabled)
            result = issue_node(&to, abi_work_of(order[i]));
    heap.free(order);
    return result;
}
