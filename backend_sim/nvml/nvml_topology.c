/* SPDX-License-Identifier: Apache-2.0 */
/* The position of devices: a profile only has the host node. The processors are the real host's, because programs
 * bind their threads to them. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "nvml_call.h"

/* For two devices. */
static nvmlGpuTopologyLevel_t ancestor(const struct nvml_machine *machine)
{
    return nvml_node(machine) < 0 ? NVML_TOPOLOGY_SYSTEM : NVML_TOPOLOGY_NODE;
}

static nvmlReturn_t common(const struct nvml_call *call, nvmlDevice_t device1, nvmlDevice_t device2,
                           nvmlGpuTopologyLevel_t *level)
{
    int one, other;
    nvmlReturn_t result = nvml_place(call, device1, &one);
    if (result == NVML_SUCCESS)
        result = nvml_asks(call, device2, level, "pathInfo", &other);
    if (result == NVML_SUCCESS && one == other)
        return nvml_refuse(call->name, NVML_ERROR_NOT_SUPPORTED, "both are device %d: expected two devices", one);
    if (result == NVML_SUCCESS)
        *level = ancestor(call->machine);
    return result;
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device1, nvmlDevice_t device2, nvmlGpuTopologyLevel_t *pathInfo)
{
    NVML(common(call, device1, device2, pathInfo));
}

/* The other devices at that level or nearer; an unknown level is accepted, as recorded. */
static nvmlReturn_t nearest(const struct nvml_call *call, nvmlDevice_t device, nvmlGpuTopologyLevel_t level, unsigned *count,
                            nvmlDevice_t *list)
{
    unsigned found = 0;
    int place;
    nvmlReturn_t result = nvml_asks(call, device, count, "count", &place);
    if (result != NVML_SUCCESS)
        return result;
    if (*count && !list)
        return nvml_null(call, "deviceArray");
    for (int i = 0; i < call->machine->profile.devices; i++)
        if (i != place && ancestor(call->machine) <= level) {
            if (found < *count)
                list[found] = nvml_handle(i);
            found++;
        }
    *count = *count && *count < found ? *count : found;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level, unsigned *count,
                                              nvmlDevice_t *deviceArray)
{
    NVML(nearest(call, device, level, count, deviceArray));
}

/* ---- sets of bits ---- */

enum { WORD = sizeof(unsigned long) * CHAR_BIT };

static nvmlReturn_t checked_set(const struct nvml_call *call, nvmlDevice_t device, unsigned size, const unsigned long *set,
                                nvmlAffinityScope_t scope)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, set, "the set", &place);
    if (result != NVML_SUCCESS)
        return result;
    if (!size)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "the size of the set is 0: expected words of %d bits", WORD);
    if (scope > NVML_AFFINITY_SCOPE_SOCKET)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "scope is %u: expected 0 (node) or 1 (socket)", scope);
    return NVML_SUCCESS;
}

static void set_bits(unsigned long *set, unsigned size, long from, long to)
{
    memset(set, 0, size * sizeof *set);
    for (long bit = from; bit < to && bit / WORD < (long)size; bit++)
        set[bit / WORD] |= 1UL << bit % WORD;
}

static nvmlReturn_t processors(const struct nvml_call *call, nvmlDevice_t device, unsigned size, unsigned long *set,
                               nvmlAffinityScope_t scope)
{
    nvmlReturn_t result = checked_set(call, device, size, set, scope);
    if (result == NVML_SUCCESS)
        set_bits(set, size, 0, sysconf(_SC_NPROCESSORS_CONF));
    return result;
}

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned cpuSetSize, unsigned long *cpuSet)
{
    NVML(processors(call, device, cpuSetSize, cpuSet, NVML_AFFINITY_SCOPE_NODE));
}

nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned cpuSetSize, unsigned long *cpuSet,
                                                 nvmlAffinityScope_t scope)
{
    NVML(processors(call, device, cpuSetSize, cpuSet, scope));
}

static nvmlReturn_t nodes(const struct nvml_call *call, nvmlDevice_t device, unsigned size, unsigned long *set,
                          nvmlAffinityScope_t scope)
{
    int node = nvml_node(call->machine);
    nvmlReturn_t result = checked_set(call, device, size, set, scope);
    if (result == NVML_SUCCESS && node < 0)
        return nvml_lacks(call, "the node of a device");
    if (result == NVML_SUCCESS)
        set_bits(set, size, node, node + 1);
    return result;
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned nodeSetSize, unsigned long *nodeSet,
                                         nvmlAffinityScope_t scope)
{
    NVML(nodes(call, device, nodeSetSize, nodeSet, scope));
}
