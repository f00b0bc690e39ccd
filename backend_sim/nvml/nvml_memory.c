/* SPDX-License-Identifier: Apache-2.0 */
/* A device's memory in use, and the processes that use it. */
#include "nvml_call.h"

/* A process that holds the state's lock is stopped; it may continue later. */
static nvmlReturn_t use_of(const struct nvml_call *call, int place, struct share_inspect_use *use)
{
    char why[SHARE_WHY];
    if (nvml_machine_use(call->machine, place, use, why))
        return NVML_SUCCESS;
    return nvml_refuse(call->name, NVML_ERROR_TIMEOUT, "machine %s cannot be inspected: %s", call->machine->name, why);
}

/* ---- memory ---- */

/* total = reserved + used + free */
static nvmlReturn_t memory(const struct nvml_call *call, int place, nvmlMemory_v2_t *memory)
{
    const struct sim_profile *profile = &call->machine->profile;
    uint64_t all = profile->device_memory - profile->device_reserved;
    struct share_inspect_use use;
    nvmlReturn_t result = use_of(call, place, &use);
    if (result != NVML_SUCCESS)
        return result;
    *memory = (nvmlMemory_v2_t){.version = nvmlMemory_v2, .total = profile->device_memory, .reserved = profile->device_reserved};
    memory->used = use.used < all ? use.used : all; /* other processes may have written any number there */
    memory->free = all - memory->used;
    return NVML_SUCCESS;
}

static nvmlReturn_t memory_1(const struct nvml_call *call, nvmlDevice_t device, nvmlMemory_t *to)
{
    nvmlMemory_v2_t is;
    int place;
    nvmlReturn_t result = nvml_asks(call, device, to, "memory", &place);
    if (result == NVML_SUCCESS)
        result = memory(call, place, &is);
    if (result == NVML_SUCCESS)
        *to = (nvmlMemory_t){.total = is.total, .free = is.free, .used = is.used + is.reserved};
    return result;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    NVML(memory_1(call, device, memory));
}

static nvmlReturn_t memory_2(const struct nvml_call *call, nvmlDevice_t device, nvmlMemory_v2_t *to)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, to, "memory", &place);
    if (result == NVML_SUCCESS)
        result = to->version == nvmlMemory_v2 ? NVML_SUCCESS : nvml_refuse(call->name, NVML_ERROR_FUNCTION_NOT_FOUND, "version is 0x%x: expected nvmlMemory_v2, 0x%x",
                                                                          to->version, nvmlMemory_v2);
    return result == NVML_SUCCESS ? memory(call, place, to) : result;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    NVML(memory_2(call, device, memory));
}

/* ---- processes ---- */

enum process_kind { COMPUTES, NONE /* graphics and MPS processes are not simulated */ };

struct list {
    nvmlProcessInfo_v1_t *v1; /* one of the two; both NULL: the caller wants only the number */
    nvmlProcessInfo_v2_t *v2;
};

static void store(const struct list *list, const struct share_inspect_use *use)
{
    for (unsigned i = 0; list->v1 && i < use->processes; i++)
        list->v1[i] = (nvmlProcessInfo_v1_t){.pid = (unsigned)use->process[i].pid, .usedGpuMemory = use->process[i].bytes};
    for (unsigned i = 0; list->v2 && i < use->processes; i++)
        list->v2[i] = (nvmlProcessInfo_v2_t){.pid = (unsigned)use->process[i].pid,
                                             .usedGpuMemory = use->process[i].bytes,
                                             .gpuInstanceId = ~0U,
                                             .computeInstanceId = ~0U};
}

static nvmlReturn_t processes(const struct nvml_call *call, nvmlDevice_t device, enum process_kind kind, unsigned *count,
                              struct list list)
{
    struct share_inspect_use use = {.used = 0};
    int place;
    nvmlReturn_t result = nvml_asks(call, device, count, "infoCount", &place);
    if (result == NVML_SUCCESS && kind == COMPUTES)
        result = use_of(call, place, &use);
    if (result != NVML_SUCCESS)
        return result;
    if (*count && use.processes && !list.v1 && !list.v2)
        return nvml_null(call, "infos");
    unsigned room = *count;
    *count = use.processes;
    if (room < use.processes)
        return nvml_refuse(call->name, NVML_ERROR_INSUFFICIENT_SIZE, "infos has room for %u processes, but there are %u", room,
                           use.processes);
    store(&list, &use);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned *infoCount, nvmlProcessInfo_v1_t *infos)
{
    NVML(processes(call, device, COMPUTES, infoCount, (struct list){.v1 = infos}));
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned *infoCount, nvmlProcessInfo_v2_t *infos)
{
    NVML(processes(call, device, COMPUTES, infoCount, (struct list){.v2 = infos}));
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *infoCount, nvmlProcessInfo_t *infos)
{
    NVML(processes(call, device, COMPUTES, infoCount, (struct list){.v2 = infos}));
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned *infoCount, nvmlProcessInfo_v1_t *infos)
{
    NVML(processes(call, device, NONE, infoCount, (struct list){.v1 = infos}));
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned *infoCount, nvmlProcessInfo_v2_t *infos)
{
    NVML(processes(call, device, NONE, infoCount, (struct list){.v2 = infos}));
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned *infoCount, nvmlProcessInfo_t *infos)
{
    NVML(processes(call, device, NONE, infoCount, (struct list){.v2 = infos}));
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned *infoCount, nvmlProcessInfo_v1_t *infos)
{
    NVML(processes(call, device, NONE, infoCount, (struct list){.v1 = infos}));
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned *infoCount, nvmlProcessInfo_v2_t *infos)
{
    NVML(processes(call, device, NONE, infoCount, (struct list){.v2 = infos}));
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *infoCount, nvmlProcessInfo_t *infos)
{
    NVML(processes(call, device, NONE, infoCount, (struct list){.v2 = infos}));
}
