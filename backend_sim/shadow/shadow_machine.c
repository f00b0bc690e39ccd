/* SPDX-License-Identifier: Apache-2.0 */
/* Queries a backend for its machine, and opens a simulator of that machine. */
#include <stdio.h>
#include <string.h>

#include "shadow_call.h"
#include "sim_open.h"

/* Makes one query; false when the backend refuses it. */
static bool ask(struct vmm_backend *inner, void *call)
{
    return vmm_backend_call(inner, call) == VMM_SUCCESS;
}

static bool attribute(struct vmm_backend *inner, int number, int *value)
{
    struct vmm_call_device_get_attribute call = {{VMM_CALL_device_get_attribute, 0}, value, number, 0};
    return ask(inner, &call);
}

static bool granularity(struct vmm_backend *inner, vmm_mem_location_type type, uint64_t size[2])
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
    for (int option = 0; option < 2; option++) {
        struct vmm_call_mem_get_allocation_granularity call = {
            {VMM_CALL_mem_get_allocation_granularity, 0}, &size[option], &prop, option};
        if (!ask(inner, &call))
            return false;
    }
    return true;
}

static void peers(struct vmm_backend *inner, struct sim_profile *profile)
{
    for (int i = 0; i < profile->devices; i++)
        for (int j = 0; j < profile->devices; j++) {
            int can = 0;
            struct vmm_call_device_can_access_peer call = {{VMM_CALL_device_can_access_peer, 0}, &can, i, j};
            if (ask(inner, &call) && can)
                profile->peers[i] |= UINT32_C(1) << j;
        }
}

/* The attributes that decide which memory can be created, and which operations it supports. */
static void attributes(struct vmm_backend *inner, struct sim_profile *profile)
{
    static const int wanted[] = {
        VMM_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
        VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED,
        VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
        VMM_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED,
        VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
        VMM_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        int value;
        if (!attribute(inner, wanted[i], &value))
            continue;
        profile->attribute[profile->attributes].attribute = wanted[i];
        profile->attribute[profile->attributes++].value = value;
    }
}

static bool describe(struct vmm_backend *inner, struct sim_profile *profile)
{
    struct vmm_call_driver_get_version version = {{VMM_CALL_driver_get_version, 0}, &profile->driver_version};
    struct vmm_call_device_get_count count = {{VMM_CALL_device_get_count, 0}, &profile->devices};
    struct vmm_call_device_total_mem total = {{VMM_CALL_device_total_mem, 0}, &profile->device_memory, 0};
    memset(profile, 0, sizeof *profile);
    if (!ask(inner, &version) || !ask(inner, &count) || !ask(inner, &total) || profile->devices > VMM_MAX_DEVICES ||
        !granularity(inner, VMM_MEM_LOCATION_TYPE_DEVICE, profile->device_granularity) ||
        !granularity(inner, VMM_MEM_LOCATION_TYPE_HOST, profile->host_granularity))
        return false;
    snprintf(profile->name, sizeof profile->name, "shadow");
    profile->host_memory = UINT64_C(1) << 50;
    profile->compression_memory = profile->device_memory;
    profile->imex = true; /* without a channel, the backend refuses the call */
    profile->va_granularity = profile->device_granularity[0] > (UINT64_C(2) << 20) ? profile->device_granularity[0]
                                                                                   : UINT64_C(2) << 20;
    profile->va_start = profile->va_granularity;
    profile->va_end = UINT64_C(1) << 47;
    profile->va_alignment_max = UINT64_C(1) << 46;
    profile->va_hint_max = UINT64_C(1) << 56;
    peers(inner, profile);
    attributes(inner, profile);
    return true;
}

bool shadow_machine(struct vmm_backend *inner, int nodes, struct vmm_backend **sim)
{
    struct sim_profile profile;
    struct vmm_backend *made;
    struct vmm_call_init init = {{VMM_CALL_init, 0}, 0};
    const struct sim_options options = {.schedule = SIM_EAGER}; /* only the inner backend runs the work itself */
    bool known = describe(inner, &profile);
    profile.host_nodes = nodes;
    if (!known || sim_open_profile(&profile, &options, false, &made) != VMM_SUCCESS)
        return false;
    *sim = made;
    return ask(made, &init);
}
