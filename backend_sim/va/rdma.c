/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma.h"

#include "rights.h"

/* Does the grant give a device rights that differ from its present ones? Only such grants matter here. */
static bool is_new(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc)
{
    return desc->location.type == VMM_MEM_LOCATION_TYPE_DEVICE && desc->flags &&
           sim_access_of(mapping->access, (unsigned)desc->location.id) != (unsigned)desc->flags;
}

enum rdma_bar rdma_bar(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc)
{
    const struct sim_handle *handle = mapping->handle;
    if (!is_new(mapping, desc))
        return RDMA_NONE;
    bool own = desc->location.id == handle->prop.location.id;
    if (own && handle->rdma_late && handle->rdma_late != mapping)
        return RDMA_LATE;
    return !own && !handle->rdma_first ? RDMA_PEER : RDMA_NONE;
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
