/* SPDX-License-Identifier: Apache-2.0 */
/* Granularity and creation of physical memory. */
#include <stdlib.h>

#include "call_fabric.h"
#include "order_feed.h"
#include "pools.h"
#include "sim.h"

#define KNOWN_TYPES                                                                                                   \
    (VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | VMM_MEM_HANDLE_TYPE_WIN32 | VMM_MEM_HANDLE_TYPE_WIN32_KMT |          \
     VMM_MEM_HANDLE_TYPE_FABRIC)
#define WINDOWS_TYPES (VMM_MEM_HANDLE_TYPE_WIN32 | VMM_MEM_HANDLE_TYPE_WIN32_KMT)
#define KNOWN_USAGE (VMM_MEM_CREATE_USAGE_TILE_POOL | VMM_MEM_CREATE_USAGE_HW_DECOMPRESS)

static bool attribute(const struct sim_process *process, vmm_device_attribute number)
{
    return sim_machine_has(process->machine, number);
}

/* A rule that the properties break, regardless of the size, and the value that breaks it. */
struct breach {
    enum vmm_rule_id rule;
    uint64_t value, expected;
};

static bool breach(struct breach *breach, enum vmm_rule_id rule, int64_t value, uint64_t expected)
{
    *breach = (struct breach){rule, (uint64_t)value, expected};
    return true;
}

static bool location_breach(const struct sim_process *process, const vmm_mem_allocation_prop *prop, struct breach *b)
{
    vmm_mem_location_type type = prop->location.type;
    if (type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return breach(b, VMM_RULE_CREATE_NUMA_CURRENT, type, 0);
    if (type < VMM_MEM_LOCATION_TYPE_DEVICE || type > VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return breach(b, VMM_RULE_CREATE_LOCATION_TYPE, type, 0);
    if (type == VMM_MEM_LOCATION_TYPE_HOST && prop->requested_handle_types)
        return breach(b, VMM_RULE_CREATE_HOST_SHARED, prop->requested_handle_types, 0);
    if (type == VMM_MEM_LOCATION_TYPE_HOST_NUMA && (prop->location.id < 0 || prop->location.id >= sim_host_nodes(process)))
        return breach(b, VMM_RULE_CREATE_NUMA_ID, prop->location.id, (uint64_t)sim_host_nodes(process));
    return false;
}

static bool device_breach(const struct sim_process *process, const vmm_mem_allocation_prop *prop, struct breach *b)
{
    if (prop->location.type == VMM_MEM_LOCATION_TYPE_DEVICE && !sim_device_valid(process, prop->location.id))
        return breach(b, VMM_RULE_CREATE_DEVICE_ID, prop->location.id, (uint64_t)process->machine->profile.devices);
    return false;
}

/* Finds properties that host memory cannot have. */
static bool host_breach(const vmm_mem_allocation_prop *prop, struct breach *b)
{
    if (prop->location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return false;
    if (prop->alloc_flags.compression_type)
        return breach(b, VMM_RULE_CREATE_HOST_COMPRESSION, prop->alloc_flags.compression_type, 0);
    if (prop->alloc_flags.gpu_direct_rdma_capable)
        return breach(b, VMM_RULE_CREATE_HOST_RDMA, prop->alloc_flags.gpu_direct_rdma_capable, 0);
    return false;
}

static bool prop_breach(const vmm_mem_allocation_prop *prop, struct breach *b)
{
    const unsigned char *reserved = prop->alloc_flags.reserved;
    if (prop->type != VMM_MEM_ALLOCATION_TYPE_PINNED)
        return breach(b, VMM_RULE_CREATE_TYPE, prop->type, VMM_MEM_ALLOCATION_TYPE_PINNED);
    if (prop->requested_handle_types & WINDOWS_TYPES)
        return breach(b, VMM_RULE_CREATE_HANDLE_TYPE_WINDOWS, prop->requested_handle_types, 0);
    if (prop->alloc_flags.compression_type > VMM_MEM_ALLOCATION_COMP_GENERIC)
        return breach(b, VMM_RULE_CREATE_COMPRESSION_TYPE, prop->alloc_flags.compression_type,
                      VMM_MEM_ALLOCATION_COMP_GENERIC);
    for (int i = 0; i < 3; i++) /* the driver ignores the fourth byte, as measured */
        if (reserved[i])
            return breach(b, VMM_RULE_CREATE_RESERVED, reserved[i], 0);
    if (prop->win32_handle_meta_data)
        return breach(b, VMM_RULE_CREATE_WIN32_META, (int64_t)(uintptr_t)prop->win32_handle_meta_data, 0);
    return host_breach(prop, b);
}

static bool capability_breach(const struct sim_process *process, const vmm_mem_allocation_prop *prop,
                              struct breach *b)
{
    int types = prop->requested_handle_types;
    switch (prop->location.type) {
    case VMM_MEM_LOCATION_TYPE_DEVICE:
        if (!attribute(process, VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
            return breach(b, VMM_RULE_CREATE_UNSUPPORTED, prop->location.id, 0);
        break;
    case VMM_MEM_LOCATION_TYPE_HOST:
        if (!attribute(process, VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
            return breach(b, VMM_RULE_CREATE_HOST_UNSUPPORTED, prop->location.type, 0);
        break;
    default:
        if (!attribute(process, VMM_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
            return breach(b, VMM_RULE_CREATE_NUMA_UNSUPPORTED, prop->location.type, 0);
    }
    if ((types & VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) &&
        !attribute(process, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED))
        return breach(b, VMM_RULE_CREATE_FD_UNSUPPORTED, types, 0);
    if ((types & VMM_MEM_HANDLE_TYPE_FABRIC) &&
        !attribute(process, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED))
        return breach(b, VMM_RULE_CREATE_FABRIC_UNSUPPORTED, types, 0);
    return false;
}

/* Finds a conflict with a usage: a tile pool cannot be shared, and memory with a usage cannot be compressible. */
static bool usage_breach(const vmm_mem_allocation_prop *prop, struct breach *b)
{
    unsigned usage = prop->alloc_flags.usage;
    bool shared = prop->requested_handle_types || prop->alloc_flags.gpu_direct_rdma_capable;
    if ((usage & VMM_MEM_CREATE_USAGE_TILE_POOL) && shared)
        return breach(b, VMM_RULE_CREATE_TILE_POOL, prop->alloc_flags.usage, 0);
    if ((usage & (VMM_MEM_CREATE_USAGE_TILE_POOL | VMM_MEM_CREATE_USAGE_HW_DECOMPRESS)) && prop->alloc_flags.compression_type)
        return breach(b, VMM_RULE_CREATE_USAGE_COMPRESSION, prop->alloc_flags.usage, 0);
    return false;
}

static vmm_result refuse(const struct breach *b)
{
    return vmm_detail_refuse(b->rule, b->value, b->expected, NULL);
}

vmm_result sim_mem_get_allocation_granularity(struct sim_process *process,
                                              const struct vmm_call_mem_get_allocation_granularity *call)
{
    struct breach b;
    if (!call->granularity)
        return vmm_detail_refuse(VMM_RULE_GRANULARITY_NULL, 0, 0, NULL);
    if (!call->prop)
        return vmm_detail_refuse(VMM_RULE_GRANULARITY_NULL_PROP, 0, 0, NULL);
    if (call->option != VMM_MEM_ALLOC_GRANULARITY_MINIMUM && call->option != VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return vmm_detail_refuse(VMM_RULE_GRANULARITY_OPTION, (uint64_t)(int64_t)call->option,
                                 VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED, NULL);
    if (location_breach(process, call->prop, &b) || device_breach(process, call->prop, &b) ||
        prop_breach(call->prop, &b)) {
        bool pass = sim_warn_or_refuse(process, VMM_RULE_GRANULARITY_PROP_UNCHECKED, b.value, b.expected, NULL);
        vmm_detail_argument(vmm_rule_row(b.rule)->argument);
        vmm_detail_note("cuMemCreate refuses these properties: %s", vmm_rule_row(b.rule)->id);
        if (!pass)
            return VMM_ERROR_INVALID_VALUE;
    }
    *call->granularity = sim_granularity(process, call->prop->location.type, call->option);
    return VMM_SUCCESS;
}

/* Computes the properties that the memory will have, without the requests that this machine drops. */
static void obtain(const struct sim_process *process, const vmm_mem_allocation_prop *requested, uint64_t size,
                   vmm_mem_allocation_prop *prop)
{
    struct sim_machine *machine = process->machine;
    bool device = requested->location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    bool rdma = requested->alloc_flags.gpu_direct_rdma_capable &&
                attribute(process, VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
    bool compressed = requested->alloc_flags.compression_type && !rdma && /* so it is on a device */
                      attribute(process, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED) &&
                      size <= machine->profile.compression_memory &&
                      sim_machine_compressed(machine, requested->location.id) <= machine->profile.compression_memory - size;
    *prop = (vmm_mem_allocation_prop){
        .type = requested->type,
        .requested_handle_types = requested->requested_handle_types & KNOWN_TYPES,
        .location = {device ? VMM_MEM_LOCATION_TYPE_DEVICE : VMM_MEM_LOCATION_TYPE_HOST_NUMA,
                     requested->location.type == VMM_MEM_LOCATION_TYPE_HOST ? 0 : requested->location.id},
        .alloc_flags = {.compression_type = compressed ? requested->alloc_flags.compression_type : 0,
                        .gpu_direct_rdma_capable = rdma},
    };
}

/* Warns about requests that the driver ignores. Returns false in strict mode if one of them is an error. */
static bool pass_quirks(const struct sim_process *process, const vmm_mem_allocation_prop *requested,
                        const vmm_mem_allocation_prop *got)
{
    int unknown_types = requested->requested_handle_types & ~KNOWN_TYPES;
    unsigned usage = requested->alloc_flags.usage, rdma = requested->alloc_flags.gpu_direct_rdma_capable;
    if (unknown_types && !sim_warn_or_refuse(process, VMM_RULE_CREATE_HANDLE_TYPE_UNKNOWN,
                                             (uint64_t)(int64_t)requested->requested_handle_types, KNOWN_TYPES, NULL))
        return false;
    if (rdma > 1 && !sim_warn_or_refuse(process, VMM_RULE_CREATE_RDMA_VALUE, rdma, 1, NULL))
        return false;
    if (usage & ~(unsigned)KNOWN_USAGE &&
        !sim_warn_or_refuse(process, VMM_RULE_CREATE_USAGE_UNKNOWN, usage, KNOWN_USAGE, NULL))
        return false;
    if (requested->alloc_flags.reserved[3] &&
        !sim_warn_or_refuse(process, VMM_RULE_CREATE_RESERVED_LAST, requested->alloc_flags.reserved[3], 0, NULL))
        return false;
    if (usage & VMM_MEM_CREATE_USAGE_HW_DECOMPRESS) /* tile pools use theirs when tiles are mapped */
        sim_warn_or_refuse(process, VMM_RULE_CREATE_USAGE_DROPPED, usage, 0, NULL);
    if (rdma && !got->alloc_flags.gpu_direct_rdma_capable)
        sim_warn_or_refuse(process, VMM_RULE_CREATE_RDMA_NOT_OBTAINED, rdma, 0, NULL);
    if (requested->alloc_flags.compression_type != got->alloc_flags.compression_type)
        sim_warn_or_refuse(process, VMM_RULE_CREATE_COMPRESSION_NOT_OBTAINED, requested->alloc_flags.compression_type, 0,
                           NULL);
    return true;
}

/* From this size on, a tile pool that is too large is refused like other memory. Measured: not yet at 1 << 44. */
#define TILE_POOL_LIMIT (UINT64_C(1) << 45)

/* Refuses a creation for lack of memory; requested are the call's properties, location is where the memory would have been. */
static vmm_result refuse_memory(const struct sim_process *process, uint64_t size, const vmm_mem_allocation_prop *requested,
                                vmm_mem_location location)
{
    uint64_t left = sim_machine_free_bytes(process->machine, location);
    if (requested->location.type == VMM_MEM_LOCATION_TYPE_HOST && !sim_device_valid(process, requested->location.id)) {
        vmm_result result = vmm_detail_refuse(VMM_RULE_CREATE_HOST_ID, (uint64_t)(int64_t)requested->location.id, 0, NULL);
        vmm_detail_note("%llu bytes were requested, %llu are free", (unsigned long long)size, (unsigned long long)left);
        return result;
    }
    if (location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return vmm_detail_refuse(VMM_RULE_CREATE_MEMORY, size, left, NULL);
    vmm_object nearest = sim_object_device(process, location.id);
    if ((requested->alloc_flags.usage & VMM_MEM_CREATE_USAGE_TILE_POOL) && size < TILE_POOL_LIMIT) { /* not OUT_OF_MEMORY */
        vmm_result result =
            vmm_detail_refuse(VMM_RULE_CREATE_TILE_POOL, VMM_MEM_CREATE_USAGE_TILE_POOL, left, &nearest);
        vmm_detail_note("a tile pool of %llu bytes exceeds the free memory", (unsigned long long)size);
        return result;
    }
    return vmm_detail_refuse(VMM_RULE_CREATE_MEMORY, size, left, &nearest);
}

static vmm_result make(struct sim_process *process, const struct vmm_call_mem_create *call,
                       const vmm_mem_allocation_prop *prop, const struct imex_place *place)
{
    if (process->check_only)
        return VMM_SUCCESS;
    struct sim_handle *handle = sim_handle_ready(process);
    struct sim_block *block = handle ? sim_block_new(process->machine, call->size, prop) : NULL;
    if (!block) {
        sim_handle_drop(process, handle);
        return sim_out_of_host_memory();
    }
    block->fabric = *place;
    sim_handle_begin(process, handle, block, sim_origin(&call->head));
    if (process->in_flight->order)
        order_feed_created(process, block);
    handle->tile_pool = call->prop->alloc_flags.usage & VMM_MEM_CREATE_USAGE_TILE_POOL;
    handle->decompress = call->prop->alloc_flags.usage & VMM_MEM_CREATE_USAGE_HW_DECOMPRESS;
    *call->handle = handle->value;
    return VMM_SUCCESS;
}

static vmm_result check_arguments(const struct sim_process *process, const struct vmm_call_mem_create *call)
{
    struct breach b;
    if (!call->handle)
        return vmm_detail_refuse(VMM_RULE_CREATE_NULL_HANDLE, 0, 0, NULL);
    if (!call->prop)
        return vmm_detail_refuse(VMM_RULE_CREATE_NULL_PROP, 0, 0, NULL);
    if (call->flags)
        return vmm_detail_refuse(VMM_RULE_CREATE_FLAGS, call->flags, 0, NULL);
    if (!call->size)
        return vmm_detail_refuse(VMM_RULE_CREATE_SIZE_ZERO, 0, 0, NULL);
    if (location_breach(process, call->prop, &b))
        return refuse(&b);
    uint64_t unit = sim_granularity(process, call->prop->location.type, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (sim_past(call->size, unit))
        return vmm_detail_refuse(VMM_RULE_CREATE_SIZE_GRANULARITY, call->size, unit, NULL);
    if (device_breach(process, call->prop, &b) || prop_breach(call->prop, &b) ||
        capability_breach(process, call->prop, &b) || usage_breach(call->prop, &b))
        return refuse(&b);
    return VMM_SUCCESS;
}

/* Checks the budget and creates the memory. No other process can take memory meanwhile: the caller has begun a change of the
 * machine. */
static vmm_result take_memory(struct sim_process *process, const struct vmm_call_mem_create *call,
                              const struct sim_channel *channel)
{
    vmm_mem_allocation_prop prop;
    obtain(process, call->prop, call->size, &prop);
    if (call->size > sim_pools_room(process, prop.location, call->size))
        return refuse_memory(process, call->size, call->prop, prop.location);
    if ((prop.requested_handle_types & VMM_MEM_HANDLE_TYPE_FABRIC) && channel->number == IMEX_NONE) {
        vmm_detail_refuse(VMM_RULE_CREATE_FABRIC_IMEX, (uint64_t)prop.requested_handle_types, 0, NULL);
        vmm_detail_note("%s", channel->why);
        return VMM_ERROR_NOT_PERMITTED;
    }
    if (!pass_quirks(process, call->prop, &prop))
        return VMM_ERROR_INVALID_VALUE;
    return make(process, call, &prop, &channel->place);
}

vmm_result sim_mem_create(struct sim_process *process, const struct vmm_call_mem_create *call)
{
    struct sim_channel channel;
    vmm_result result = check_arguments(process, call);
    if (result == VMM_SUCCESS)
        result = sim_fabric_channel(process, (uint64_t)call->prop->requested_handle_types, &channel);
    if (result != VMM_SUCCESS)
        return result;
    if (!sim_machine_begin(process->machine))
        return sim_machine_unreachable(share_why(process->machine->share));
    result = take_memory(process, call, &channel);
    sim_machine_end(process->machine);
    return result;
}
