/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <inttypes.h>
#include <string.h>

#define NAME_MAX_LENGTH 128

size_t device_nearest(const char *device_name, int devices, bool *same_kind)
{
    struct sim_profile profile;
    size_t nearest = 0;
    int best = 0;
    const char *name;
    for (size_t i = 0; (name = sim_profile_builtin_name(i)); i++) {
        if (!sim_profile_builtin(name, &profile) || strncmp(profile.source, "recorded", 8) != 0)
            continue;
        int score = 1 + (profile.devices == devices) + 2 * (strcmp(profile.device_name, device_name) == 0);
        if (score > best) {
            best = score;
            nearest = i;
        }
    }
    *same_kind = best == 4;
    return nearest;
}

static vmm_mem_allocation_prop prop_at(vmm_mem_location_type type)
{
    vmm_mem_allocation_prop prop;
    memset(&prop, 0, sizeof prop);
    prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = type;
    return prop;
}

static vmm_result write_granularity(vmm_system *sys, const char *what, vmm_mem_location_type type, FILE *out)
{
    static const char *const names[] = {"minimum", "recommended"};
    vmm_mem_allocation_prop prop = prop_at(type);
    for (int option = 0; option < 2; option++) {
        uint64_t unit = 0;
        vmm_result result = vmm_mem_get_allocation_granularity(sys, &unit, &prop, option);
        if (result != VMM_SUCCESS)
            return result;
        fprintf(out, "granularity.%s.%s = %" PRIu64 "\n", what, names[option], unit);
    }
    return VMM_SUCCESS;
}

/* The attributes that the base lists; an older driver lacks the newest. */
static void write_attributes(vmm_system *sys, const struct sim_profile *base, FILE *out)
{
    for (int i = 0; i < base->attributes; i++) {
        int value = 0;
        if (vmm_device_get_attribute(sys, &value, base->attribute[i].attribute, 0) == VMM_SUCCESS)
            fprintf(out, "attribute.%d = %d\n", base->attribute[i].attribute, value);
    }
}

static vmm_result write_peers(vmm_system *sys, int devices, FILE *out)
{
    const char *separator = "";
    fputs("peers = ", out);
    for (int a = 0; a < devices; a++)
        for (int b = a + 1; b < devices; b++) {
            int can = 0;
            vmm_result result = vmm_device_can_access_peer(sys, &can, a, b);
            if (result != VMM_SUCCESS)
                return result;
            if (can) {
                fprintf(out, "%s%d-%d", separator, a, b);
                separator = ",";
            }
        }
    fputs(*separator ? "\n" : "none\n", out);
    return VMM_SUCCESS;
}

/* Found by trial: can fabric handles be made? */
static bool has_channel(vmm_system *sys, uint64_t size)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE);
    vmm_mem_generic_allocation_handle handle = 0;
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    return vmm_mem_create(sys, &handle, size, &prop, 0) == VMM_SUCCESS && vmm_mem_release(sys, handle) == VMM_SUCCESS;
}

/* Found by trial: can a part of physical memory be mapped? */
static bool maps_parts(vmm_system *sys, uint64_t size)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE);
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr ptr = 0;
    bool parts = false;
    if (vmm_mem_create(sys, &handle, 2 * size, &prop, 0) != VMM_SUCCESS)
        return false;
    if (vmm_mem_address_reserve(sys, &ptr, 2 * size, 0, 0, 0) == VMM_SUCCESS) {
        parts = vmm_mem_map(sys, ptr, size, 0, handle, 0) == VMM_SUCCESS;
        if (parts)
            vmm_mem_unmap(sys, ptr, size);
        vmm_mem_address_free(sys, ptr, 2 * size);
    }
    vmm_mem_release(sys, handle);
    return parts;
}

vmm_result device_profile(vmm_system *sys, const char *name, const char *source, FILE *out)
{
    struct sim_profile base;
    char device[NAME_MAX_LENGTH] = "";
    int devices = 0, compresses = 0;
    uint64_t memory = 0, unit = 0;
    bool same;
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE);
    vmm_result result = vmm_device_get_count(sys, &devices);
    if (result == VMM_SUCCESS)
        result = vmm_device_get_name(sys, device, sizeof device, 0);
    if (result == VMM_SUCCESS)
        result = vmm_device_total_mem(sys, &memory, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_get_allocation_granularity(sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    if (result != VMM_SUCCESS)
        return result;
    const char *nearest = sim_profile_builtin_name(device_nearest(device, devices, &same));
    if (!nearest || !sim_profile_builtin(nearest, &base))
        return VMM_ERROR_NOT_FOUND;
    vmm_device_get_attribute(sys, &compresses, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 0);
    fprintf(out, "base = %s\nname = %s\nsource = %s\n", nearest, name, source);
    fprintf(out, "devices = %d\ndevice.name = %s\ndevice.memory = %" PRIu64 "\n", devices, device, memory);
    fprintf(out, "compression.memory = %" PRIu64 "\n", compresses ? memory : 0);
    fprintf(out, "map.partial = %s\nfabric.imex = %s\n", maps_parts(sys, unit) ? "yes" : "no",
            has_channel(sys, unit) ? "yes" : "no");
    result = write_peers(sys, devices, out);
    if (result == VMM_SUCCESS)
        result = write_granularity(sys, "device", VMM_MEM_LOCATION_TYPE_DEVICE, out);
    if (result == VMM_SUCCESS)
        result = write_granularity(sys, "host", VMM_MEM_LOCATION_TYPE_HOST, out);
    write_attributes(sys, &base, out);
    return result;
}
