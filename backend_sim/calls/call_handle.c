/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of physical memory: release, retain, properties. */
#include "sim.h"

/* Finds a handle by value. *handle: the live handle, an ended one that is still remembered, or NULL. */
static enum slot_state find(const struct sim_process *process, uint64_t value, struct sim_handle **handle)
{
    void *object;
    enum slot_state state = slots_find(&process->handles, value, &object);
    *handle = object;
    return state;
}

static vmm_result refuse_handle(enum vmm_rule_id rule, uint64_t value, const struct sim_handle *handle)
{
    vmm_object nearest = handle ? sim_object_handle(handle) : (vmm_object){0};
    vmm_result result = vmm_detail_refuse(rule, value, 0, &nearest);
    if (handle && !handle->refs && handle->maps)
        vmm_detail_note("all references are released; %u mapping%s still hold%s the memory", handle->maps,
                        handle->maps == 1 ? "" : "s", handle->maps == 1 ? "s" : "");
    return result;
}

struct sim_handle *sim_handle_live(const struct sim_process *process, uint64_t value, enum vmm_rule_id stale,
                                   enum vmm_rule_id forged)
{
    struct sim_handle *handle;
    enum slot_state state = find(process, value, &handle);
    if (state == SLOT_LIVE)
        return handle;
    refuse_handle(state == SLOT_STALE ? stale : forged, value, handle);
    return NULL;
}

vmm_result sim_mem_release(struct sim_process *process, const struct vmm_call_mem_release *call)
{
    if (!call->handle)
        return vmm_detail_refuse(VMM_RULE_RELEASE_HANDLE_ZERO, 0, 0, NULL);
    struct sim_handle *handle =
        sim_handle_live(process, call->handle, VMM_RULE_RELEASE_HANDLE_STALE, VMM_RULE_RELEASE_HANDLE_FORGED);
    if (!handle)
        return VMM_ERROR_INVALID_VALUE;
    if (!handle->refs)
        return refuse_handle(VMM_RULE_RELEASE_HANDLE_STALE, call->handle, handle);
    if (process->check_only)
        return VMM_SUCCESS;
    handle->refs--;
    if (!handle->refs && !handle->maps)
        sim_warn_bound(handle);
    sim_handle_settle(process, handle, sim_origin(&call->head));
    return VMM_SUCCESS;
}

vmm_result sim_mem_retain_allocation_handle(struct sim_process *process,
                                            const struct vmm_call_mem_retain_allocation_handle *call)
{
    if (!call->handle)
        return vmm_detail_refuse(VMM_RULE_RETAIN_NULL_HANDLE, 0, 0, NULL);
    if (!call->addr)
        return vmm_detail_refuse(VMM_RULE_RETAIN_ADDRESS_ZERO, 0, 0, NULL);
    struct sim_mapping *mapping = sim_mapping_at(process, call->addr);
    if (!mapping || !sim_reservation_at(process, call->addr)) {
        vmm_object nearest = sim_object_nearest(process, call->addr);
        vmm_result result = vmm_detail_refuse(VMM_RULE_RETAIN_NOT_MAPPED, call->addr, 0, &nearest);
        if (mapping)
            vmm_detail_note("the mapping runs past its reservation here, and no reservation covers this address");
        return result;
    }
    if (process->check_only)
        return VMM_SUCCESS;
    mapping->handle->refs++;
    mapping->handle->retained = sim_origin(&call->head);
    *call->handle = mapping->handle->value;
    return VMM_SUCCESS;
}

enum { HIDDEN_DEVICE = -2 }; /* CU_DEVICE_INVALID: the driver's value for a device that is not visible to the process */

vmm_result sim_mem_get_allocation_properties_from_handle(
    struct sim_process *process, const struct vmm_call_mem_get_allocation_properties_from_handle *call)
{
    struct sim_handle *handle;
    if (!call->prop)
        return vmm_detail_refuse(VMM_RULE_PROPERTIES_NULL_PROP, 0, 0, NULL);
    if (!call->handle)
        return vmm_detail_refuse(VMM_RULE_PROPERTIES_HANDLE_ZERO, 0, 0, NULL);
    enum slot_state state = find(process, call->handle, &handle);
    if (state == SLOT_FORGED)
        return refuse_handle(VMM_RULE_PROPERTIES_HANDLE_FORGED, call->handle, NULL);
    if (handle && handle->team_size)
        return refuse_handle(VMM_RULE_PROPERTIES_MULTICAST, call->handle, handle);
    if (!handle) /* its slot is in use again: a driver would read another handle's properties */
        return refuse_handle(VMM_RULE_PROPERTIES_HANDLE_STALE, call->handle, NULL);
    vmm_object nearest = sim_object_handle(handle);
    if (state == SLOT_STALE &&
        !sim_warn_or_refuse(process, VMM_RULE_PROPERTIES_HANDLE_STALE, call->handle, 0, &nearest))
        return VMM_ERROR_INVALID_VALUE;
    *call->prop = handle->prop;
    if (handle->prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE && !sim_device_valid(process, handle->prop.location.id))
        call->prop->location.id = HIDDEN_DEVICE;
    return VMM_SUCCESS;
}
