/* SPDX-License-Identifier: Apache-2.0 */
/* W: wrong arguments of every function: nowhere to write, no device, a forged one, short texts and lists, other numbers and versions.
 * Part of ../nvml.c. */
#define FORGED ((nvmlDevice_t)(void *)out.set)

static void wrong_system(struct turn *turn)
{
    N("W", nvmlSystemGetDriverVersion(NULL, 80));
    N("W", nvmlSystemGetDriverVersion(out.text, 0));
    N("W", nvmlSystemGetDriverVersion(out.text, 4));
    N("W", nvmlSystemGetDriverVersion(out.text, 10));
    N("W", nvmlSystemGetDriverVersion(out.text, 11));
    N("W", nvmlSystemGetNVMLVersion(NULL, 80));
    N("W", nvmlSystemGetNVMLVersion(out.text, 13));
    N("W", nvmlSystemGetNVMLVersion(out.text, 14));
    N("W", nvmlSystemGetCudaDriverVersion(NULL));
    N("W", nvmlSystemGetCudaDriverVersion_v2(NULL));
    N("W", nvmlSystemGetProcessName((unsigned)getpid(), NULL, 80));
    N("W", nvmlSystemGetProcessName((unsigned)getpid(), out.text, 0));
    N("W", nvmlSystemGetProcessName((unsigned)getpid(), out.text, 2));
    N("W", nvmlSystemGetProcessName(0x7fffffff, out.text, 80));
    N("W", nvmlSystemGetProcessName(0, out.text, 80));
    N("W", nvmlSystemGetConfComputeState(NULL));
    N("W", nvmlSystemGetConfComputeSettings(NULL));
    NA("W", out.settings.version = 0, nvmlSystemGetConfComputeSettings(&out.settings));
    NA("W", out.settings.version = 1, nvmlSystemGetConfComputeSettings(&out.settings));
    N("W", nvmlUnitGetCount(NULL));
    N("W", nvmlGetExcludedDeviceCount(NULL));
    N("W", nvmlDeviceGetCount(NULL));
    N("W", nvmlDeviceGetCount_v2(NULL));
}

static nvmlReturn_t by_uuid(size_t length)
{
    char uuid[96];
    nvmlReturn_t r = nvmlDeviceGetUUID(one, uuid, sizeof uuid);
    uuid[length] = 0;
    return r ? r : nvmlDeviceGetHandleByUUID(uuid, &out.device);
}

static nvmlReturn_t by_uuid_v(unsigned version, unsigned type)
{
    nvmlUUID_t uuid = {.version = version, .type = type};
    nvmlReturn_t r = nvmlDeviceGetUUID(one, uuid.value.str, sizeof uuid.value.str);
    return r ? r : nvmlDeviceGetHandleByUUIDV(&uuid, &out.device);
}

static nvmlReturn_t by_bus(const char *format)
{
    char id[64];
    nvmlPciInfo_t pci;
    nvmlReturn_t r = nvmlDeviceGetPciInfo_v3(one, &pci);
    if (r)
        return r;
    snprintf(id, sizeof id, format, pci.domain, pci.bus, pci.device);
    r = nvmlDeviceGetHandleByPciBusId_v2(id, &out.device);
    return !r && out.device != one ? NVML_ERROR_UNKNOWN : r;
}

static void wrong_handles(struct turn *turn)
{
    N("W", nvmlDeviceGetHandleByIndex(0, NULL));
    N("W", nvmlDeviceGetHandleByIndex_v2(0, NULL));
    N("W", nvmlDeviceGetHandleByIndex_v2(devices, &out.device));
    N("W", nvmlDeviceGetHandleByIndex_v2(0xffffffff, &out.device));
    N("W", nvmlDeviceGetHandleByIndex(devices, &out.device));
    N("W", nvmlDeviceGetHandleByUUID(NULL, &out.device));
    N("W", nvmlDeviceGetHandleByUUID("GPU-", NULL));
    N("W", nvmlDeviceGetHandleByUUID("", &out.device));
    N("W", nvmlDeviceGetHandleByUUID("GPU-", &out.device));
    N("W", nvmlDeviceGetHandleByUUID("GPU-00000000-0000-0000-0000-000000000000", &out.device));
    N("W", by_uuid(40));
    N("W", by_uuid(39));
    N("W", by_uuid(12));
    N("W", by_uuid_v(nvmlUUID_v1, NVML_UUID_TYPE_ASCII));
    N("W", by_uuid_v(nvmlUUID_v1, NVML_UUID_TYPE_BINARY));
    N("W", by_uuid_v(nvmlUUID_v1, 0));
    N("W", by_uuid_v(nvmlUUID_v1, 3));
    N("W", by_uuid_v(0, NVML_UUID_TYPE_ASCII));
    N("W", by_uuid_v(1, NVML_UUID_TYPE_ASCII));
    N("W", nvmlDeviceGetHandleByUUIDV(NULL, &out.device));
    N("W", nvmlDeviceGetHandleByPciBusId_v2(NULL, &out.device));
    N("W", nvmlDeviceGetHandleByPciBusId_v2("0:0.0", NULL));
    N("W", nvmlDeviceGetHandleByPciBusId_v2("", &out.device));
    N("W", nvmlDeviceGetHandleByPciBusId_v2("two", &out.device));
    N("W", nvmlDeviceGetHandleByPciBusId_v2("ffff:ff:1f.0", &out.device));
    N("W", nvmlDeviceGetHandleByPciBusId("two", &out.device));
    N("W", by_bus("%08x:%02x:%02x.0"));
    N("W", by_bus("%04x:%02x:%02x.0"));
    N("W", by_bus("%x:%x:%x"));
    N("W", by_bus("%x:%x:%x.0"));
    N("W", by_bus("%08X:%02X:%02X.0"));
    N("W", by_bus("%04x:%02x:%02x.0 "));
    N("W", by_bus("%04x:%02x:%02x.1"));
    N("W", by_bus("%04x:%02x:%02x.0g"));
    N("W", by_bus("1%04x:%02x:%02x.0"));
}

/* A function with one output: no device, a forged one, nowhere to write. */
#define EACH(call, place)           \
    do {                            \
        N("W", call(NULL, place));  \
        N("W", call(FORGED, place)); \
        N("W", call(one, NULL));    \
    } while (0)

static void wrong_one_output(struct turn *turn)
{
    EACH(nvmlDeviceGetIndex, &out.u);
    EACH(nvmlDeviceGetMinorNumber, &out.u);
    EACH(nvmlDeviceGetPciInfo, &out.pci);
    EACH(nvmlDeviceGetPciInfo_v2, &out.pci);
    EACH(nvmlDeviceGetPciInfo_v3, &out.pci);
    EACH(nvmlDeviceGetPciInfoExt, &out.ext);
    EACH(nvmlDeviceGetBrand, &out.brand);
    EACH(nvmlDeviceGetArchitecture, &out.u);
    EACH(nvmlDeviceGetBusType, &out.u);
    EACH(nvmlDeviceGetNumGpuCores, &out.u);
    EACH(nvmlDeviceGetMemoryBusWidth, &out.u);
    EACH(nvmlDeviceIsMigDeviceHandle, &out.u);
    EACH(nvmlDeviceGetDefaultEccMode, &out.state);
    EACH(nvmlDeviceGetPersistenceMode, &out.state);
    EACH(nvmlDeviceGetComputeMode, &out.mode);
    EACH(nvmlDeviceGetDisplayMode, &out.state);
    EACH(nvmlDeviceGetDisplayActive, &out.state);
    EACH(nvmlDeviceGetMaxPcieLinkGeneration, &out.u);
    EACH(nvmlDeviceGetGpuMaxPcieLinkGeneration, &out.u);
    EACH(nvmlDeviceGetMaxPcieLinkWidth, &out.u);
    EACH(nvmlDeviceGetCurrPcieLinkGeneration, &out.u);
    EACH(nvmlDeviceGetCurrPcieLinkWidth, &out.u);
    EACH(nvmlDeviceGetPcieLinkMaxSpeed, &out.u);
    EACH(nvmlDeviceGetMemoryInfo, &out.memory);
    EACH(nvmlDeviceGetMemoryInfo_v2, &out.memory2);
    EACH(nvmlDeviceGetGpuFabricInfo, &out.fabric);
    EACH(nvmlDeviceGetGpuFabricInfoV, &out.fabric3);
}

/* Two outputs, texts, numbers and versions. */
static void wrong_others(struct turn *turn)
{
    N("W", nvmlDeviceGetCudaComputeCapability(NULL, &out.pair[0], &out.pair[1]));
    N("W", nvmlDeviceGetCudaComputeCapability(one, NULL, &out.pair[1]));
    N("W", nvmlDeviceGetCudaComputeCapability(one, &out.pair[0], NULL));
    N("W", nvmlDeviceGetMigMode(NULL, &out.two[0], &out.two[1]));
    N("W", nvmlDeviceGetMigMode(one, NULL, &out.two[1]));
    N("W", nvmlDeviceGetMigMode(one, &out.two[0], NULL));
    N("W", nvmlDeviceGetEccMode(NULL, &out.states[0], &out.states[1]));
    N("W", nvmlDeviceGetEccMode(one, NULL, &out.states[1]));
    N("W", nvmlDeviceGetEccMode(one, &out.states[0], NULL));
    N("W", nvmlDeviceGetTotalEccErrors(one, NVML_MEMORY_ERROR_TYPE_COUNT, NVML_AGGREGATE_ECC, &out.ull));
    N("W", nvmlDeviceGetTotalEccErrors(one, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_ECC_COUNTER_TYPE_COUNT, &out.ull));
    N("W", nvmlDeviceGetTotalEccErrors(one, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC, NULL));
    N("W", nvmlDeviceGetMaxClockInfo(one, NVML_CLOCK_COUNT, &out.u));
    N("W", nvmlDeviceGetMaxClockInfo(one, (nvmlClockType_t)99, &out.u));
    N("W", nvmlDeviceGetMaxClockInfo(one, NVML_CLOCK_SM, NULL));
    N("W", nvmlDeviceGetName(NULL, out.text, 96));
    N("W", nvmlDeviceGetName(FORGED, out.text, 96));
    N("W", nvmlDeviceGetName(one, NULL, 96));
    N("W", nvmlDeviceGetName(one, out.text, 0));
    N("W", nvmlDeviceGetName(one, out.text, 11));
    N("W", nvmlDeviceGetName(one, out.text, 12));
    N("W", nvmlDeviceGetUUID(NULL, out.text, 96));
    N("W", nvmlDeviceGetUUID(one, NULL, 96));
    N("W", nvmlDeviceGetUUID(one, out.text, 40));
    N("W", nvmlDeviceGetUUID(one, out.text, 41));
    NA("W", out.ext.version = 0, nvmlDeviceGetPciInfoExt(one, &out.ext));
    NA("W", out.memory2.version = 0, nvmlDeviceGetMemoryInfo_v2(one, &out.memory2));
    NA("W", out.memory2.version = 2, nvmlDeviceGetMemoryInfo_v2(one, &out.memory2));
    NA("W", out.fabric3.version = 0, nvmlDeviceGetGpuFabricInfoV(one, &out.fabric3));
    NA("W", out.fabric3.version = 3, nvmlDeviceGetGpuFabricInfoV(one, &out.fabric3));
}

static void wrong_links(struct turn *turn)
{
    N("W", nvmlDeviceGetP2PStatus(NULL, one, NVML_P2P_CAPS_INDEX_READ, &out.p2p));
    N("W", nvmlDeviceGetP2PStatus(one, NULL, NVML_P2P_CAPS_INDEX_READ, &out.p2p));
    N("W", nvmlDeviceGetP2PStatus(one, one, NVML_P2P_CAPS_INDEX_UNKNOWN, &out.p2p));
    N("W", nvmlDeviceGetP2PStatus(one, one, (nvmlGpuP2PCapsIndex_t)99, &out.p2p));
    N("W", nvmlDeviceGetP2PStatus(one, one, NVML_P2P_CAPS_INDEX_READ, NULL));
    N("W", nvmlDeviceGetNvLinkState(NULL, 0, &out.state));
    N("W", nvmlDeviceGetNvLinkState(one, 18, &out.state));
    N("W", nvmlDeviceGetNvLinkState(one, 36, &out.state));
    N("W", nvmlDeviceGetNvLinkState(one, 99, &out.state));
    N("W", nvmlDeviceGetNvLinkState(one, 0, NULL));
    N("W", nvmlDeviceGetNvLinkVersion(one, 18, &out.u));
    N("W", nvmlDeviceGetNvLinkVersion(one, 0, NULL));
    N("W", nvmlDeviceGetNvLinkCapability(one, 18, NVML_NVLINK_CAP_VALID, &out.u));
    N("W", nvmlDeviceGetNvLinkCapability(one, 0, NVML_NVLINK_CAP_COUNT, &out.u));
    N("W", nvmlDeviceGetNvLinkCapability(one, 0, NVML_NVLINK_CAP_VALID, NULL));
    N("W", nvmlDeviceGetNvLinkRemotePciInfo(one, 18, &out.pci));
    N("W", nvmlDeviceGetNvLinkRemotePciInfo_v2(one, 18, &out.pci));
    N("W", nvmlDeviceGetNvLinkRemotePciInfo_v2(one, 0, NULL));
    N("W", nvmlDeviceGetNvLinkRemoteDeviceType(one, 18, &out.remote));
    N("W", nvmlDeviceGetNvLinkRemoteDeviceType(one, 0, NULL));
    N("W", nvmlDeviceGetTopologyCommonAncestor(NULL, one, &out.level));
    N("W", nvmlDeviceGetTopologyCommonAncestor(one, NULL, &out.level));
    N("W", nvmlDeviceGetTopologyCommonAncestor(one, one, NULL));
    N("W", nvmlDeviceGetTopologyNearestGpus(one, NVML_TOPOLOGY_SYSTEM, NULL, out.list));
    NA("W", count = 8, nvmlDeviceGetTopologyNearestGpus(one, (nvmlGpuTopologyLevel_t)11, &count, out.list));
    NA("W", count = 8, nvmlDeviceGetTopologyNearestGpus(one, (nvmlGpuTopologyLevel_t)60, &count, out.list));
    N("W", nvmlDeviceGetCpuAffinity(NULL, 64, out.set));
    N("W", nvmlDeviceGetCpuAffinity(one, 64, NULL));
    N("W", nvmlDeviceGetCpuAffinity(one, 0, out.set));
    N("W", nvmlDeviceGetCpuAffinityWithinScope(one, 64, out.set, 2));
    N("W", nvmlDeviceGetCpuAffinityWithinScope(one, 0, out.set, 0));
    N("W", nvmlDeviceGetMemoryAffinity(one, 64, NULL, 0));
    N("W", nvmlDeviceGetMemoryAffinity(one, 0, out.set, 0));
    N("W", nvmlDeviceGetMemoryAffinity(one, 64, out.set, 2));
    N("W", nvmlDeviceGetFieldValues(NULL, 1, out.fields));
    N("W", nvmlDeviceGetFieldValues(one, 1, NULL));
    N("W", nvmlDeviceGetFieldValues(one, 0, out.fields));
    N("W", nvmlDeviceGetFieldValues(one, -1, out.fields));
}

#define LIST(call, place)                   \
    do {                                    \
        NA("W", count = 16, call(NULL, &count, place)); \
        N("W", call(one, NULL, place));     \
        NA("W", count = 1, call(one, &count, NULL));    \
    } while (0)

static void wrong_lists(struct turn *turn)
{
    LIST(nvmlDeviceGetComputeRunningProcesses, out.first);
    LIST(nvmlDeviceGetComputeRunningProcesses_v2, out.second);
    LIST(nvmlDeviceGetComputeRunningProcesses_v3, out.second);
    LIST(nvmlDeviceGetGraphicsRunningProcesses, out.first);
    LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, out.second);
    LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, out.second);
    LIST(nvmlDeviceGetMPSComputeRunningProcesses, out.first);
    LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, out.second);
    LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, out.second);
}

static void wrong(struct turn *turn)
{
    wrong_system(turn);
    wrong_handles(turn);
    wrong_one_output(turn);
    wrong_others(turn);
    wrong_links(turn);
    wrong_lists(turn);
}
