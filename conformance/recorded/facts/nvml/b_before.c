/* SPDX-License-Identifier: Apache-2.0 */
/* B: before nvmlInit, and its count. Part of ../nvml.c. */
static void before_the_system(struct turn *turn)
{
    N("B", nvmlShutdown());
    N("B", nvmlSystemGetDriverVersion(NULL, 0));
    N("B", nvmlSystemGetNVMLVersion(NULL, 0));
    NA("B", out.i = 0, nvmlSystemGetCudaDriverVersion(&out.i));
    NA("B", out.i = 0, nvmlSystemGetCudaDriverVersion_v2(&out.i));
    N("B", nvmlSystemGetCudaDriverVersion(NULL));
    N("B", nvmlSystemGetProcessName(1, out.text, 80));
    N("B", nvmlSystemGetConfComputeState(&out.cc));
    NA("B", out.settings.version = nvmlSystemConfComputeSettings_v1, nvmlSystemGetConfComputeSettings(&out.settings));
    N("B", nvmlUnitGetCount(&out.u));
    N("B", nvmlGetExcludedDeviceCount(&out.u));
    N("B", nvmlDeviceGetCount(&out.u));
    N("B", nvmlDeviceGetCount_v2(&out.u));
    N("B", nvmlDeviceGetCount_v2(NULL));
    N("B", nvmlDeviceGetHandleByIndex(0, &out.device));
    N("B", nvmlDeviceGetHandleByIndex_v2(0, &out.device));
    N("B", nvmlDeviceGetHandleByIndex_v2(0, NULL));
    N("B", nvmlDeviceGetHandleByUUID("GPU-", &out.device));
    N("B", nvmlDeviceGetHandleByPciBusId_v2("0:0.0", &out.device));
}

static void before_devices(struct turn *turn)
{
    N("B", nvmlDeviceGetName(NULL, out.text, 96));
    N("B", nvmlDeviceGetIndex(NULL, &out.u));
    N("B", nvmlDeviceGetUUID(NULL, out.text, 96));
    N("B", nvmlDeviceGetPciInfo_v3(NULL, &out.pci));
    N("B", nvmlDeviceGetMemoryInfo(NULL, &out.memory));
    N("B", nvmlDeviceGetP2PStatus(NULL, NULL, NVML_P2P_CAPS_INDEX_READ, &out.p2p));
    N("B", nvmlDeviceGetNvLinkState(NULL, 0, &out.state));
    N("B", nvmlDeviceGetFieldValues(NULL, 1, out.fields));
    N("B", nvmlDeviceGetTopologyCommonAncestor(NULL, NULL, &out.level));
    N("B", nvmlDeviceGetCpuAffinity(NULL, 1, out.set));
    N("B", nvmlDeviceGetGpuFabricInfoV(NULL, &out.fabric3));
}

static nvmlReturn_t after(int inits, int shutdowns)
{
    nvmlReturn_t r = NVML_SUCCESS;
    for (int i = 0; i < inits; i++)
        r = nvmlInit_v2();
    for (int i = 0; i < shutdowns; i++)
        r = nvmlShutdown();
    if (!r)
        r = nvmlDeviceGetCount_v2(&out.u);
    for (int i = shutdowns; i < inits; i++)
        nvmlShutdown();
    return r;
}

static nvmlReturn_t with_flags(unsigned flags)
{
    nvmlReturn_t r = nvmlInitWithFlags(flags);
    if (!r)
        nvmlShutdown();
    return r;
}

static void before(struct turn *turn)
{
    before_the_system(turn);
    before_devices(turn);
    NV("B", after(1, 0), "%u", out.u);
    NV("B", after(2, 1), "%u", out.u);
    N("B", after(1, 1));
    N("B", after(2, 2));
    N("B", after(1, 2));
    N("B", with_flags(0));
    N("B", with_flags(NVML_INIT_FLAG_NO_GPUS));
    N("B", with_flags(NVML_INIT_FLAG_NO_ATTACH));
    N("B", with_flags(3));
    N("B", with_flags(4));
    N("B", with_flags(1u << 31));
    N("B", with_flags(0xffffffff));
}
