/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations and frees in the order of a captured stream: nodes that allocate and free memory of the graph. */
#include "abi_capture.h"
#include "abi_capture_parts.h"
#include "abi_graph_alloc.h"

/* What the stream goes on from once the node is there. NULL again if it cannot: the node has ended. */
static struct graph_node *go_on(const char *function, struct capture_stream *stream, struct graph_node *node, CUresult *result)
{
    if (!node || capture_set(stream, &node, 1))
        return node;
    abi_node_end(node);
    *result = abi_no_memory(function);
    return NULL;
}

/* The properties of memory from the pool; those of the current device's own without one. */
static CUresult props_of(const vmm_system *sys, const char *function, const CUmemoryPool *pool, CUmemPoolProps *props)
{
    uint64_t value = pool ? (uint64_t)(uintptr_t)*pool : 0;
    struct abi_query_context context = {0};
    vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    CUresult result = CUDA_SUCCESS;
    if (!pool)
        result = abi_current(sys, function, &value, &context);
    else if (!abi_query_pool(sys, value, &at))
        result = abi_refuse_by(sys, VMM_RULE_POOL_UNKNOWN, function, value);
    props->location = (CUmemLocation){(CUmemLocationType)at.type, pool ? at.id : context.device};
    return result;
}

static CUresult add_alloc(vmm_system *sys, const char *function, vmm_stream stream, CUdeviceptr *dptr,
                          CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    struct capture_stream *found = abi_capture_going_on(function, stream, &result);
    if (found) { /* LCOV_EXCL_BR_LINE: unless another thread has just ended it */
        const struct abi_dependencies on = {found->reached.node, NULL, found->reached.count};
        struct graph_node *node = abi_graph_add_alloc(sys, function, found->capture->graph, &on, params, &result);
        if (go_on(function, found, node, &result))
            *dptr = params->dptr;
    }
    abi_graphs_unlock();
    return result;
}

CUresult abi_capture_add_alloc(vmm_system *sys, const char *function, vmm_stream stream, CUdeviceptr *dptr, size_t size,
                               const CUmemoryPool *pool)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = size, .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED}};
    CUresult result = abi_capture_goes_on(function, stream);
    if (dptr)
        *dptr = 0; /* measured: also where the call is refused */
    else if (result == CUDA_SUCCESS)
        result = abi_refuse(VMM_RULE_POOL_ALLOC_NULL, function, "dptr is NULL");
    if (result == CUDA_SUCCESS)
        result = props_of(sys, function, pool, &params.poolProps);
    if (result == CUDA_SUCCESS && size)
        result = abi_alloc_check(sys, function, &params);
    return result == CUDA_SUCCESS && size ? add_alloc(sys, function, stream, dptr, &params) : result;
}

CUresult abi_capture_add_free(const char *function, vmm_stream stream, CUdeviceptr dptr)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    struct capture_stream *found = abi_capture_going_on(function, stream, &result);
    if (found && dptr) {
        const struct abi_dependencies on = {found->reached.node, NULL, found->reached.count};
        go_on(function, found, abi_graph_add_free(function, found->capture->graph, &on, dptr, &result), &result);
    }
    abi_graphs_unlock();
    return result;
}
