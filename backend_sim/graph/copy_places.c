/* SPDX-License-Identifier: Apache-2.0 */
#include "copy_places.h"

#include "call_graph.h"
#include "translate.h"

/* The device whose memory is there; -1 if none. */
static int device_at(const struct sim_process *process, uint64_t address)
{
    const struct sim_mapping *mapping = sim_mapping_at(process, address);
    const struct sim_allocation *allocation = sim_allocation_at(process, address);
    vmm_mem_location location = {.type = VMM_MEM_LOCATION_TYPE_INVALID};
    if (mapping)
        location = mapping->handle->prop.location;
    else if (allocation && !allocation->managed)
        location = allocation->pooled
                       ? ((const struct sim_piece *)(const void *)allocation)->pool->props.location
                       : (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, graph_device(process, (vmm_context)(uintptr_t)allocation->context)};
    return location.type == VMM_MEM_LOCATION_TYPE_DEVICE ? location.id : -1;
}

/* The device, and one bit for each device with rights; 0 if it is not device memory. */
static uint64_t place_at(const struct sim_process *process, uint64_t address)
{
    const int device = device_at(process, address);
    uint64_t rights = 0;
    for (int i = 0; i < process->machine->profile.devices; i++)
        rights |= (uint64_t)(translate_rights(process, i, address) != 0) << i;
    return device < 0 ? 0 : rights << 8 | (uint64_t)(device + 1);
}

static uint64_t source_of(const vmm_memcpy3d *copy)
{
    return copy->src_memory_type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)copy->src_host : copy->src_device;
}

static uint64_t destination_of(const vmm_memcpy3d *copy)
{
    return copy->dst_memory_type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)copy->dst_host : copy->dst_device;
}

void copy_places_note(const struct sim_process *process, struct graph_work *work)
{
    const vmm_memcpy3d *copy = &work->copy;
    work->from = copy->src_memory_type == VMM_MEMORYTYPE_ARRAY ? 0 : place_at(process, source_of(copy));
    work->to = copy->dst_memory_type == VMM_MEMORYTYPE_ARRAY ? 0 : place_at(process, destination_of(copy));
}

bool copy_places_same(uint64_t now, uint64_t next)
{
    return now == next; /* mapped memory of the host is another place, too, as measured on an H200 */
}

static bool had_rights(uint64_t place, int device)
{
    return !place || (place >> (8 + device) & 1);
}

bool copy_places_had_rights(const struct graph_work *work, int device)
{
    return had_rights(work->from, device) && had_rights(work->to, device);
}
