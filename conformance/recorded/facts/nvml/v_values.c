/* SPDX-License-Identifier: Apache-2.0 */
/* V: what each function writes. Part of ../nvml.c. */
static void system_values(struct turn *turn)
{
    NV("V", nvmlSystemGetDriverVersion(out.text, 80), "%s", out.text);
    NV("V", nvmlSystemGetNVMLVersion(out.text, 80), "%s", out.text);
    NV("V", nvmlSystemGetCudaDriverVersion(&out.i), "%d", out.i);
    NV("V", nvmlSystemGetCudaDriverVersion_v2(&out.i), "%d", out.i);
    NV("V", nvmlSystemGetProcessName((unsigned)getpid(), out.text, 80), "%s", strrchr(out.text, '/') ? "with its folder" : "bare");
    NV("V", nvmlSystemGetProcessName((unsigned)getpid(), out.text, 6), "letters=%d", strnlen(out.text, 80) == 5);
    NV("V", nvmlSystemGetConfComputeState(&out.cc), "%u %u %u", out.cc.environment, out.cc.ccFeature, out.cc.devToolsMode);
    NVA("V", out.settings.version = nvmlSystemConfComputeSettings_v1, nvmlSystemGetConfComputeSettings(&out.settings), "%u %u %u %u",
        out.settings.environment, out.settings.ccFeature, out.settings.devToolsMode, out.settings.multiGpuMode);
    NV("V", nvmlUnitGetCount(&out.u), "%u", out.u);
    NV("V", nvmlGetExcludedDeviceCount(&out.u), "%u", out.u);
    NV("V", nvmlDeviceGetCount(&out.u), "%u", out.u);
    NV("V", nvmlDeviceGetCount_v2(&out.u), "%u", out.u);
}

/* The driver's own name of device 0 is the same as NVML's. */
static bool same_uuid(const char *text)
{
    CUuuid uuid;
    char ours[64];
    const unsigned char *b = (const unsigned char *)uuid.bytes;
    if (cuInit(0) || cuDeviceGetUuid(&uuid, 0))
        return false;
    snprintf(ours, sizeof ours, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4], b[5],
             b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    return !strcmp(ours, text);
}

static bool same_bus(const char *text)
{
    char theirs[32] = "";
    return !cuInit(0) && !cuDeviceGetPCIBusId(theirs, sizeof theirs, 0) && !strcasecmp(theirs, text);
}

static bool untouched(size_t from)
{
    for (size_t i = from; i < 256; i++)
        if (out.bytes[i] != 0xee)
            return false;
    return true;
}

static void which(struct turn *turn)
{
    NV("V", nvmlDeviceGetHandleByIndex(0, &out.device), "same=%d", out.device == one);
    NV("V", nvmlDeviceGetHandleByIndex_v2(0, &out.device), "same=%d", out.device == one);
    NV("V", by_uuid(40), "same=%d", out.device == one);
    NV("V", nvmlDeviceGetIndex(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetMinorNumber(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetUUID(one, out.text, 96), "cuda=%d", same_uuid(out.text));
    NV("V", nvmlDeviceGetName(one, out.text, 96), "%s", out.text);
    NV("V", nvmlDeviceGetPciInfo(one, &out.pci), "cuda=%d untouched=%d", same_bus(out.pci.busIdLegacy), untouched(32));
    NV("V", nvmlDeviceGetPciInfo_v2(one, &out.pci), "cuda=%d untouched=%d", same_bus(out.pci.busIdLegacy), untouched(36));
    NV("V", nvmlDeviceGetPciInfo_v3(one, &out.pci), "cuda=%d %d device=%x subsystem=%x untouched=%d", same_bus(out.pci.busIdLegacy),
       same_bus(out.pci.busId + 4), out.pci.pciDeviceId, out.pci.pciSubSystemId, untouched(sizeof out.pci));
    NVA("V", out.ext.version = nvmlPciInfoExt_v1, nvmlDeviceGetPciInfoExt(one, &out.ext), "cuda=%d device=%x subsystem=%x class=%x %x",
        same_bus(out.ext.busId + 4), out.ext.pciDeviceId, out.ext.pciSubSystemId, out.ext.baseClass, out.ext.subClass);
}

static void what(struct turn *turn)
{
    NV("V", nvmlDeviceGetBrand(one, &out.brand), "%d", (int)out.brand);
    NV("V", nvmlDeviceGetCudaComputeCapability(one, &out.pair[0], &out.pair[1]), "%d %d", out.pair[0], out.pair[1]);
    NV("V", nvmlDeviceGetArchitecture(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetBusType(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetNumGpuCores(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetMemoryBusWidth(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceIsMigDeviceHandle(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetMigMode(one, &out.two[0], &out.two[1]), "%u %u", out.two[0], out.two[1]);
    NV("V", nvmlDeviceGetEccMode(one, &out.states[0], &out.states[1]), "%d %d", (int)out.states[0], (int)out.states[1]);
    NV("V", nvmlDeviceGetDefaultEccMode(one, &out.state), "%d", (int)out.state);
    for (int type = 0; type < 2; type++)
        for (int counter = 0; counter < 2; counter++)
            NV("V", nvmlDeviceGetTotalEccErrors(one, (nvmlMemoryErrorType_t)type, (nvmlEccCounterType_t)counter, &out.ull), "%llu", out.ull);
    NV("V", nvmlDeviceGetPersistenceMode(one, &out.state), "%d", (int)out.state);
    NV("V", nvmlDeviceGetComputeMode(one, &out.mode), "%d", (int)out.mode);
    NV("V", nvmlDeviceGetDisplayMode(one, &out.state), "%d", (int)out.state);
    NV("V", nvmlDeviceGetDisplayActive(one, &out.state), "%d", (int)out.state);
    for (int clock = 0; clock < 4; clock++)
        NV("V", nvmlDeviceGetMaxClockInfo(one, (nvmlClockType_t)clock, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetMaxPcieLinkGeneration(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetGpuMaxPcieLinkGeneration(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetMaxPcieLinkWidth(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetCurrPcieLinkGeneration(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetCurrPcieLinkWidth(one, &out.u), "%u", out.u);
    NV("V", nvmlDeviceGetPcieLinkMaxSpeed(one, &out.u), "%u", out.u);
}

static unsigned bits(const unsigned long *set, size_t words)
{
    unsigned all = 0;
    for (size_t i = 0; i < words; i++)
        all += (unsigned)__builtin_popcountl(set[i]);
    return all;
}

static bool all_processors(const unsigned long *set)
{
    return bits(set, 64) == (unsigned)sysconf(_SC_NPROCESSORS_CONF);
}

static void between(struct turn *turn)
{
    for (int index = 0; index < 5; index++)
        NV("V", nvmlDeviceGetP2PStatus(one, one, (nvmlGpuP2PCapsIndex_t)index, &out.p2p), "%d", (int)out.p2p);
    for (unsigned link = 0; link < 18; link += 17) {
        NV("V", nvmlDeviceGetNvLinkState(one, link, &out.state), "%d", (int)out.state);
        NV("V", nvmlDeviceGetNvLinkVersion(one, link, &out.u), "%u", out.u);
        for (int cap = 0; cap < 6; cap++)
            NV("V", nvmlDeviceGetNvLinkCapability(one, link, (nvmlNvLinkCapability_t)cap, &out.u), "%u", out.u);
        NV("V", nvmlDeviceGetNvLinkRemoteDeviceType(one, link, &out.remote), "%d", (int)out.remote);
        NV("V", nvmlDeviceGetNvLinkRemotePciInfo(one, link, &out.pci), "device=%x", out.pci.pciDeviceId);
        NV("V", nvmlDeviceGetNvLinkRemotePciInfo_v2(one, link, &out.pci), "device=%x", out.pci.pciDeviceId);
    }
    NV("V", nvmlDeviceGetTopologyCommonAncestor(one, one, &out.level), "%d", (int)out.level);
    for (int level = 0; level <= 50; level += 10) {
        NVA("V", count = 8, nvmlDeviceGetTopologyNearestGpus(one, (nvmlGpuTopologyLevel_t)level, &count, out.list), "%u", count);
        NVA("V", count = 0, nvmlDeviceGetTopologyNearestGpus(one, (nvmlGpuTopologyLevel_t)level, &count, NULL), "%u", count);
    }
    NV("V", nvmlDeviceGetCpuAffinity(one, 64, out.set), "all=%d", all_processors(out.set));
    NV("V", nvmlDeviceGetCpuAffinity(one, 1, out.set), "more=%d", untouched(8));
    for (unsigned scope = 0; scope < 2; scope++) {
        NV("V", nvmlDeviceGetCpuAffinityWithinScope(one, 64, out.set, scope), "all=%d", all_processors(out.set));
        NV("V", nvmlDeviceGetMemoryAffinity(one, 64, out.set, scope), "nodes=%u first=%lx", bits(out.set, 64), out.set[0]);
    }
    NV("V", nvmlDeviceGetGpuFabricInfo(one, &out.fabric), "state=%d status=%d", out.fabric.state, out.fabric.state == 3 ? (int)out.fabric.status : 0);
    NVA("V", out.fabric3.version = nvmlGpuFabricInfo_v2, nvmlDeviceGetGpuFabricInfoV(one, &out.fabric3), "state=%d", out.fabric3.state);
    NVA("V", out.fabric3.version = nvmlGpuFabricInfo_v3, nvmlDeviceGetGpuFabricInfoV(one, &out.fabric3), "state=%d", out.fabric3.state);
}

static nvmlReturn_t field(unsigned id, unsigned scope)
{
    out.fields[0].fieldId = id;
    out.fields[0].scopeId = scope;
    return nvmlDeviceGetFieldValues(one, 1, out.fields);
}

#define FIELD(id)                                                                                                                            \
    NV("V", field(id, 0), "%s type=%d value=%llu", code(out.fields[0].nvmlReturn), out.fields[0].nvmlReturn ? 0 : (int)out.fields[0].valueType, \
       out.fields[0].nvmlReturn ? 0 : out.fields[0].value.ullVal)

static void field_values(struct turn *turn)
{
    FIELD(NVML_FI_DEV_ECC_CURRENT);
    FIELD(NVML_FI_DEV_ECC_PENDING);
    FIELD(NVML_FI_DEV_NVLINK_LINK_COUNT);
    FIELD(0);
    FIELD(9999);
    NV("V", field(NVML_FI_DEV_ECC_CURRENT, 7), "%s time=%d", code(out.fields[0].nvmlReturn), out.fields[0].timestamp > 1600000000000000);
}

static void values(struct turn *turn)
{
    system_values(turn);
    which(turn);
    what(turn);
    between(turn);
    field_values(turn);
}
