/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes of each type do when a launch comes to them, and in which order they come. */
#include <stdlib.h>
#include <string.h>

#include "abi_graph.h"
#include "abi_graph_launch_memory.h"
#include "abi_lane.h"
#include "abi_parts.h"
#include "abi_registered.h"
#include "branches.h"
#include "heap.h"

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
    const struct abi_lane *lane;
};

static CUresult issue_call(const struct issue *to, union vmm_any_call *call, enum vmm_call_id id)
{
    call->head = (struct vmm_call){(uint16_t)id, to->number};
    return (CUresult)abi_lane_issue(to->sys, call, id, to->lane);
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
    call.stream_batch_mem_op = abi_mem_op_call(p, to->stream);
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

/* ---- branches ---- */

/* A launch under way. */
struct launch {
    struct issue to;
    uint64_t own;           /* the context of the stream */
    struct graph_node **order;
    size_t *branch;         /* by the place in the order */
    struct graph_branch *branches;
    size_t known;           /* branches */
    struct abi_lane *lanes; /* by the branch */
    size_t *waited;         /* by branch and branch: the place in the order up to which the first has waited for the second */
};

/* The context whose device does the node's work; 0 for one that acts on the stream itself. One that has ended is as good as the stream's. */
static uint64_t key_of(void *user, const struct graph_node *node)
{
    const struct launch *launch = user;
    const CUgraphNodeParams *p = &abi_work_of(node)->params;
    struct abi_query_context found = {0};
    uint64_t context = launch->own;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: context = (uint64_t)(uintptr_t)p->kernel.ctx; break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: context = (uint64_t)(uintptr_t)p->memcpy.copyCtx; break;
    case CU_GRAPH_NODE_TYPE_MEMSET: context = (uint64_t)(uintptr_t)p->memset.ctx; break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: context = (uint64_t)(uintptr_t)p->memOp.ctx; break;
    case CU_GRAPH_NODE_TYPE_HOST: break;
    default: return 0;
    }
    return abi_query_context(launch->to.sys, context, &found) && found.alive ? context : launch->own;
}

/* Makes the branch of that number wait for another one, unless it has, up to that place in the order. */
static CUresult wait_for(const struct launch *launch, size_t branch, size_t other, size_t upto, size_t now)
{
    size_t *waited = &launch->waited[branch * launch->known + other];
    if (branch == other || *waited >= upto)
        return CUDA_SUCCESS;
    *waited = now;
    return (CUresult)abi_lane_wait(launch->to.sys, &launch->lanes[branch], &launch->lanes[other]);
}

/* Issues the node at that place in the order, after all that it depends on. */
static CUresult issue_at(struct launch *launch, size_t at)
{
    const struct graph_node *node = launch->order[at];
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < node->in.count && result == CUDA_SUCCESS; i++) {
        size_t before = node->in.edge[i].node->index;
        result = wait_for(launch, launch->branch[at], launch->branch[before], before + 1, at);
    }
    launch->to.lane = &launch->lanes[launch->branch[at]];
    return result != CUDA_SUCCESS || abi_work_of(node)->disabled ? result : issue_node(&launch->to, abi_work_of(node));
}

/* The other branches come after the stream's work so far, and the stream goes on after all of them. */
static CUresult issue_branches(struct launch *launch, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t number = launch->known > 1 ? abi_lane_number(launch->to.sys) : 0;
    for (size_t i = 0; i < launch->known; i++)
        launch->lanes[i] = (struct abi_lane){launch->to.stream, launch->branches[i].key, i ? number + i : 0};
    for (size_t i = 1; i < launch->known && result == CUDA_SUCCESS; i++)
        result = (CUresult)abi_lane_wait(launch->to.sys, &launch->lanes[i], &launch->lanes[0]);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = issue_at(launch, i);
    for (size_t i = 1; i < launch->known; i++) { /* also where a node could not be issued: those before it were */
        CUresult joined = (CUresult)abi_lane_wait(launch->to.sys, &launch->lanes[0], &launch->lanes[i]);
        result = result == CUDA_SUCCESS ? joined : result;
    }
    return result;
}

static uint64_t context_of(const vmm_system *sys, vmm_stream stream)
{
    struct abi_query_stream found;
    return abi_query_stream(sys, (uint64_t)(uintptr_t)stream, &found) ? found.context : abi_query_current(sys);
}

static CUresult issue_planned(struct launch *launch, size_t count)
{
    launch->known = graph_branches(launch->order, count, launch->own, key_of, launch, launch->branch, launch->branches);
    launch->lanes = heap.malloc(launch->known * sizeof *launch->lanes);
    launch->waited = heap.calloc(launch->known * launch->known, sizeof *launch->waited);
    CUresult result = launch->lanes && launch->waited ? issue_branches(launch, count) : abi_no_memory("cuGraphLaunch");
    heap.free(launch->lanes);
    heap.free(launch->waited);
    return result;
}

CUresult abi_graph_issue(vmm_system *sys, const struct graph *graph, vmm_stream stream)
{
    struct launch launch = {.to = {sys, stream, (uint32_t)vmm_last_detail()->call, NULL}, .own = context_of(sys, stream)};
    launch.order = heap.malloc((graph->count + 1) * sizeof *launch.order);
    launch.branch = heap.malloc((graph->count + 1) * sizeof *launch.branch);
    launch.branches = heap.malloc((graph->count + 1) * sizeof *launch.branches);
    CUresult result = launch.order && launch.branch && launch.branches ? issue_planned(&launch, graph_order(graph, launch.order))
                                                                        : abi_no_memory("cuGraphLaunch");
    heap.free(launch.order);
    heap.free(launch.branch);
    heap.free(launch.branches);
    return result;
}
