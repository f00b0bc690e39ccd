/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and pools of other processes. No call reports the size of imported memory. Memory is mapped whole, so the
 * first mapping shows its size. */
#include "shadow_state.h"
#include "sim_open.h"
#include "trace_descriptors.h"

/* The result for a descriptor of the other kind: nothing else about a descriptor yields NOT_SUPPORTED. */
static void other_kind(const struct vmm_call *call, const void *handle, const char *argument)
{
    vmm_detail_begin(call);
    vmm_detail_refuse(VMM_RULE_IMPORT_KIND, (uint64_t)(uintptr_t)handle, 0, NULL);
    vmm_detail_argument(argument);
}

static bool is_of_a_pool(const struct shadow *shadow, const struct vmm_call_mem_import_from_shareable_handle *import)
{
    return import->sh_handle_type == VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
           (import->sh_handle_type == VMM_MEM_HANDLE_TYPE_FABRIC && import->os_handle &&
            pairs_get(&shadow->pairs.fabrics, trace_fabric(import->os_handle)));
}

/* Only the backend knows the descriptor, and the shadow does not track the import. Arguments that are checked before
 * the descriptor are refused independently of it. */
bool shadow_imported_pool(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_mem_pool_import_from_shareable_handle *import = (const void *)call;
    if (call->id != VMM_CALL_mem_pool_import_from_shareable_handle)
        return false;
    if (inner == VMM_SUCCESS)
        shadow_call_forget_pool(call, &shadow->pairs);
    else if (!import->pool_out || import->flags)
        return false;
    else if (inner == VMM_ERROR_NOT_SUPPORTED && import->handle_type == VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        other_kind(call, import->handle, "handle");
    return true;
}

/* The new handle, of unknown size. If the backend reports no properties, it refers to an object that the shadow does
 * not track. */
static void adopt(struct shadow *shadow, const struct vmm_call *call, uint64_t handle)
{
    vmm_mem_allocation_prop prop;
    struct vmm_call_mem_get_allocation_properties_from_handle ask = {
        {VMM_CALL_mem_get_allocation_properties_from_handle, call->number}, &prop, handle};
    bool known = vmm_backend_call(shadow->backend.inner, &ask.head) == VMM_SUCCESS;
    vmm_detail_begin(call);
    uint64_t own = known ? sim_adopt_handle(shadow->sim, call, 0, &prop, true) : 0;
    pairs_set(&shadow->pairs.handles, handle, own);
    if (own)
        sim_show_handle(shadow->sim, own, handle);
}

/* Only the backend knows what is wrong with a descriptor or with an actual fabric handle. */
bool shadow_imported(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_mem_import_from_shareable_handle *import = (const void *)call;
    if (call->id != VMM_CALL_mem_import_from_shareable_handle)
        return false;
    if (inner == VMM_ERROR_NOT_SUPPORTED && import->handle && is_of_a_pool(shadow, import)) {
        other_kind(call, import->os_handle, "osHandle");
        return true;
    }
    if (inner != VMM_SUCCESS)
        return inner == VMM_ERROR_UNKNOWN || (import->sh_handle_type == VMM_MEM_HANDLE_TYPE_FABRIC && import->handle &&
                                              import->os_handle && inner != VMM_ERROR_NOT_SUPPORTED);
    if (import->handle && *import->handle)
        adopt(shadow, call, *import->handle);
    return true;
}
