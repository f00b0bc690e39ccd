/* SPDX-License-Identifier: Apache-2.0 */
#include "call_early.h"

#include "call_ipc.h"
#include "call_managed.h"

/* Queries of arrays: before cuInit no arrays exist, so each query is refused for its arguments. */
static bool asks_of_array(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_array_3d_get_descriptor:
    case VMM_CALL_array_get_plane:
    case VMM_CALL_array_get_sparse_properties:
    case VMM_CALL_array_get_memory_requirements:
    case VMM_CALL_mipmapped_array_get_level:
    case VMM_CALL_mipmapped_array_get_sparse_properties:
    case VMM_CALL_mipmapped_array_get_memory_requirements: return true;
    default: return false;
    }
}

static bool has_first_argument(const struct vmm_call *call)
{
    size_t count;
    return vmm_call_scalar(call, &vmm_call_params((enum vmm_call_id)call->id, &count)[0]) != 0;
}

/* Refused for an argument: a NULL, flags, or a stream, when only the default streams exist. */
static bool is_refused(const struct vmm_call *call)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    const struct vmm_call_mem_map_array_async *map = &any->mem_map_array_async;
    enum vmm_call_id id = (enum vmm_call_id)call->id;
    size_t count;
    if (vmm_call_has(id, CALL_EARLY_NULL) && !has_first_argument(call))
        return true;
    switch (id) {
    case VMM_CALL_ipc_get_mem_handle: return !any->ipc_get_mem_handle.dptr;
    case VMM_CALL_ipc_get_event_handle: return !any->ipc_get_event_handle.event;
    case VMM_CALL_ipc_open_mem_handle: return !ipc_flags_ok(any->ipc_open_mem_handle.flags);
    case VMM_CALL_mem_map_array_async:
        return !map->map_info_list || !map->count || (uintptr_t)map->stream > (uintptr_t)VMM_STREAM_PER_THREAD;
    case VMM_CALL_memcpy_batch_async:
    case VMM_CALL_memcpy_3d_batch_async:
    case VMM_CALL_memcpy_batch_async_v1:
    case VMM_CALL_memcpy_3d_batch_async_v1: /* the stream is the last parameter */
        return vmm_call_params(id, &count) && !vmm_call_scalar(call, &vmm_call_params(id, &count)[count - 1]);
    default: return managed_refused_early(call);
    }
}

bool call_goes_first(const struct vmm_call *call, bool forked)
{
    const enum vmm_call_id id = (enum vmm_call_id)call->id;
    return vmm_call_has(id, CALL_EARLY) || (!forked && asks_of_array(id)) || is_refused(call);
}
