#include "rdma.h"

vmm_result rdma_check_map(const struct sim_handle *handle)
{
    if (!handle->rdma_late)
        return VMM_SUCCESS;
    vmm_object nearest = sim_object_mapping(handle->rdma_late);
    return vmm_detail_refuse(VMM_RULE_MAP_RDMA_LATE, handle->shown, 0, &nearest);
}

static vmm_result refuse_grant(enum vmm_rule_id rule, uint64_t value, const struct sim_mapping *nearest)
{
    vmm_object object = sim_object_mapping(nearest);
    return vmm_detail_refuse(rule, value, 0, &object);
}

/* What the device did not have just so before; only that is looked at. */
static bool is_new(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc)
{
    return desc->location.type == VMM_MEM_LOCATION_TYPE_DEVICE && desc->flags &&
           sim_access_of(mapping->access, (unsigned)desc->location.id) != (unsigned)desc->flags;
}

vmm_result rdma_check_grant(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc)
{
    const struct sim_handle *handle = mapping->handle;
    if (!is_new(mapping, desc))
        return VMM_SUCCESS;
    bool own = desc->location.id == handle->prop.location.id;
    if (own && handle->rdma_late && handle->rdma_late != mapping)
        return refuse_grant(VMM_RULE_ACCESS_RDMA_LATE, mapping->start, handle->rdma_late);
    if (!own && !handle->rdma_first)
        return refuse_grant(VMM_RULE_ACCESS_RDMA_PEER, (uint64_t)desc->location.id, mapping);
    return VMM_SUCCESS;
}

void rdma_mapped(struct sim_mapping *mapping)
{
    if (!mapping->handle->rdma_first)
        mapping->handle->rdma_first = mapping;
}

void rdma_grant(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc)
{
    struct sim_handle *handle = mapping->handle;
    if (desc->location.type != VMM_MEM_LOCATION_TYPE_DEVICE || desc->location.id != handle->prop.location.id)
        return;
    if (!desc->flags && handle->rdma_late == mapping)
        handle->rdma_late = NULL;
    if (is_new(mapping, desc) && !handle->rdma_first)
        handle->rdma_late = mapping;
}

void rdma_unmapped(const struct sim_mapping *mapping)
{
    if (mapping->handle->rdma_first == mapping)
        mapping->handle->rdma_first = NULL;
    if (mapping->handle->rdma_late == mapping)
        mapping->handle->rdma_late = NULL;
}
