/* SPDX-License-Identifier: Apache-2.0 */
/* Every implemented function of libnvidia-ml.so.1: its result, its refusals, and that a refused call writes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include "abi/nvml.h"

#include "os_inspect.h"
#include "tap.h"

#define UUID_0 "GPU-fdecdce3-c7e3-488b-a375-766d6d73696d"
#define UUID_1 "GPU-e6e0c050-40ec-4812-a375-766d6d73696d"

static nvmlDevice_t one, other, forged;

#define is(code, call, ...) tap_u64((uint64_t)(call), NVML_##code, __VA_ARGS__)
#define good(call) is(SUCCESS, call, "%s", #call)
#define wrong(call) is(ERROR_INVALID_ARGUMENT, call, "%s", #call)

/* ---- before and after ---- */

#define no(call) unanswered += (call) != NVML_ERROR_UNINITIALIZED

static void nothing_yet(void)
{
    unsigned unanswered = 0;
    char text[80];
    wrong(nvmlSystemGetNVMLVersion(NULL, 0)); /* this one checks its text first */
    no(nvmlShutdown());
    no(nvmlSystemGetDriverVersion(NULL, 0));
    no(nvmlSystemGetNVMLVersion(text, 0));
    no(nvmlSystemGetCudaDriverVersion(NULL));
    no(nvmlSystemGetCudaDriverVersion_v2(NULL));
    no(nvmlSystemGetProcessName(0, NULL, 0));
    no(nvmlSystemGetConfComputeState(NULL));
    no(nvmlSystemGetConfComputeSettings(NULL));
    no(nvmlUnitGetCount(NULL));
    no(nvmlGetExcludedDeviceCount(NULL));
    no(nvmlDeviceGetCount_v2(NULL));
    no(nvmlDeviceGetHandleByIndex_v2(0, NULL));
    no(nvmlDeviceGetHandleByUUID(NULL, NULL));
    no(nvmlDeviceGetHandleByUUIDV(NULL, NULL));
    no(nvmlDeviceGetHandleByPciBusId_v2(NULL, NULL));
    no(nvmlDeviceGetIndex(NULL, NULL));
    no(nvmlDeviceGetUUID(NULL, NULL, 0));
    no(nvmlDeviceGetMinorNumber(NULL, NULL));
    no(nvmlDeviceGetPciInfo_v2(NULL, NULL));
    no(nvmlDeviceGetPciInfo_v3(NULL, NULL));
    no(nvmlDeviceGetPciInfoExt(NULL, NULL));
    no(nvmlDeviceGetName(NULL, NULL, 0));
    no(nvmlDeviceGetBrand(NULL, NULL));
    no(nvmlDeviceGetCudaComputeCapability(NULL, NULL, NULL));
    no(nvmlDeviceGetArchitecture(NULL, NULL));
    no(nvmlDeviceGetBusType(NULL, NULL));
    no(nvmlDeviceGetNumGpuCores(NULL, NULL));
    no(nvmlDeviceGetMemoryBusWidth(NULL, NULL));
    no(nvmlDeviceIsMigDeviceHandle(NULL, NULL));
    no(nvmlDeviceGetMigMode(NULL, NULL, NULL));
    no(nvmlDeviceGetEccMode(NULL, NULL, NULL));
    no(nvmlDeviceGetDefaultEccMode(NULL, NULL));
    no(nvmlDeviceGetTotalEccErrors(NULL, (nvmlMemoryErrorType_t)0, (nvmlEccCounterType_t)0, NULL));
    no(nvmlDeviceGetPersistenceMode(NULL, NULL));
    no(nvmlDeviceGetComputeMode(NULL, NULL));
    no(nvmlDeviceGetDisplayMode(NULL, NULL));
    no(nvmlDeviceGetDisplayActive(NULL, NULL));
    no(nvmlDeviceGetMaxClockInfo(NULL, (nvmlClockType_t)0, NULL));
    no(nvmlDeviceGetMaxPcieLinkGeneration(NULL, NULL));
    no(nvmlDeviceGetGpuMaxPcieLinkGeneration(NULL, NULL));
    no(nvmlDeviceGetMaxPcieLinkWidth(NULL, NULL));
    no(nvmlDeviceGetCurrPcieLinkGeneration(NULL, NULL));
    no(nvmlDeviceGetCurrPcieLinkWidth(NULL, NULL));
    no(nvmlDeviceGetPcieLinkMaxSpeed(NULL, NULL));
    no(nvmlDeviceGetMemoryInfo(NULL, NULL));
    no(nvmlDeviceGetMemoryInfo_v2(NULL, NULL));
    no(nvmlDeviceGetComputeRunningProcesses_v2(NULL, NULL, NULL));
    no(nvmlDeviceGetComputeRunningProcesses_v3(NULL, NULL, NULL));
    no(nvmlDeviceGetGraphicsRunningProcesses_v2(NULL, NULL, NULL));
    no(nvmlDeviceGetGraphicsRunningProcesses_v3(NULL, NULL, NULL));
    no(nvmlDeviceGetMPSComputeRunningProcesses_v2(NULL, NULL, NULL));
    no(nvmlDeviceGetMPSComputeRunningProcesses_v3(NULL, NULL, NULL));
    no(nvmlDeviceGetP2PStatus(NULL, NULL, (nvmlGpuP2PCapsIndex_t)0, NULL));
    no(nvmlDeviceGetNvLinkState(NULL, 0, NULL));
    no(nvmlDeviceGetNvLinkVersion(NULL, 0, NULL));
    no(nvmlDeviceGetNvLinkCapability(NULL, 0, (nvmlNvLinkCapability_t)0, NULL));
    no(nvmlDeviceGetNvLinkRemotePciInfo_v2(NULL, 0, NULL));
    no(nvmlDeviceGetNvLinkRemoteDeviceType(NULL, 0, NULL));
    no(nvmlDeviceGetTopologyCommonAncestor(NULL, NULL, NULL));
    no(nvmlDeviceGetTopologyNearestGpus(NULL, (nvmlGpuTopologyLevel_t)0, NULL, NULL));
    no(nvmlDeviceGetCpuAffinity(NULL, 0, NULL));
    no(nvmlDeviceGetCpuAffinityWithinScope(NULL, 0, NULL, 0));
    no(nvmlDeviceGetMemoryAffinity(NULL, 0, NULL, 0));
    no(nvmlDeviceGetGpuFabricInfo(NULL, NULL));
    no(nvmlDeviceGetGpuFabricInfoV(NULL, NULL));
    no(nvmlDeviceGetFieldValues(NULL, 0, NULL));
    no(nvmlDeviceGetCount(NULL));
    no(nvmlDeviceGetHandleByIndex(0, NULL));
    no(nvmlDeviceGetHandleByPciBusId(NULL, NULL));
    no(nvmlDeviceGetPciInfo(NULL, NULL));
    no(nvmlDeviceGetComputeRunningProcesses(NULL, NULL, NULL));
    no(nvmlDeviceGetGraphicsRunningProcesses(NULL, NULL, NULL));
    no(nvmlDeviceGetMPSComputeRunningProcesses(NULL, NULL, NULL));
    no(nvmlDeviceGetNvLinkRemotePciInfo(NULL, 0, NULL));
    tap_u64(unanswered, 0, "without nvmlInit_v2 each function is refused for that reason, regardless of its arguments");
}

static void counted(void)
{
    unsigned count = 7;
    is(ERROR_UNINITIALIZED, nvmlDeviceGetCount_v2(&count), "nothing answers before nvmlInit_v2");
    is(ERROR_UNINITIALIZED, nvmlShutdown(), "and there is nothing to shut down");
    tap_u64(count, 7, "and nothing is written");
    good(nvmlInit());
    good(nvmlInit_v2());
    good(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH));
    good(nvmlInitWithFlags(4));
    good(nvmlShutdown());
    good(nvmlShutdown());
    good(nvmlShutdown());
    is(SUCCESS, nvmlDeviceGetCount(&count), "initialised three times, and two are left to undo");
    tap_u64(count, 2, "two devices");
    good(nvmlShutdown());
    is(ERROR_UNINITIALIZED, nvmlDeviceGetCount(&count), "all are undone");
}

/* ---- the system ---- */

static void versions(void)
{
    char text[80] = "-";
    int version = 0;
    is(ERROR_INSUFFICIENT_SIZE, nvmlSystemGetDriverVersion(text, 10), "a version needs 11 bytes");
    tap_text(text, "-", "nothing was written");
    good(nvmlSystemGetDriverVersion(text, 11));
    tap_text(text, "580.159.04", "the recorded driver");
    wrong(nvmlSystemGetDriverVersion(NULL, 80));
    good(nvmlSystemGetNVMLVersion(text, sizeof text));
    tap_text(text, "13.580.159.04", "NVML's version has CUDA's before it");
    wrong(nvmlSystemGetNVMLVersion(NULL, 80));
    good(nvmlSystemGetCudaDriverVersion(&version));
    tap_u64((uint64_t)version, 13000, "CUDA 13.0");
    good(nvmlSystemGetCudaDriverVersion_v2(&version));
    wrong(nvmlSystemGetCudaDriverVersion_v2(NULL));
    tap_text(nvmlErrorString(NVML_SUCCESS), "Success", "a code has a text");
    tap_text(nvmlErrorString(NVML_ERROR_RESET_TYPE_NOT_SUPPORTED), "Reset type is not supported for given device", "up to the last");
    tap_text(nvmlErrorString((nvmlReturn_t)77), "Unknown Error", "others have one together");
}

static void the_system(void)
{
    char text[OS_COMMAND] = "", program[OS_COMMAND]; /* which may belong to a tool that runs the test */
    unsigned count = 7;
    nvmlConfComputeSystemState_t state = {7, 7, 7};
    nvmlSystemConfComputeSettings_t settings = {.version = nvmlSystemConfComputeSettings_v1, .ccFeature = 7};
    good(nvmlSystemGetProcessName((unsigned)getpid(), text, sizeof text));
    os_command(os_pid(), program);
    tap_text(text, program, "a process has its program's name and folder");
    good(nvmlSystemGetProcessName((unsigned)getpid(), text, 3));
    tap_ok(strlen(text) == 2 && !strncmp(text, program, 2), "the name is cut to the room");
    wrong(nvmlSystemGetProcessName((unsigned)getpid(), text, 0));
    is(ERROR_NOT_FOUND, nvmlSystemGetProcessName(0x7fffffff, text, sizeof text), "the process does not exist");
    wrong(nvmlSystemGetProcessName(1, NULL, 80));
    good(nvmlUnitGetCount(&count));
    tap_u64(count, 0, "there are no units");
    wrong(nvmlUnitGetCount(NULL));
    count = 7;
    good(nvmlGetExcludedDeviceCount(&count));
    tap_u64(count, 0, "no device is excluded");
    good(nvmlSystemGetConfComputeState(&state));
    tap_ok(!state.environment && !state.ccFeature && !state.devToolsMode, "confidential computing is off");
    wrong(nvmlSystemGetConfComputeState(NULL));
    good(nvmlSystemGetConfComputeSettings(&settings));
    tap_ok(!settings.ccFeature && !settings.multiGpuMode && settings.version == nvmlSystemConfComputeSettings_v1, "in the settings, too");
    settings.version = 0;
    is(ERROR_ARGUMENT_VERSION_MISMATCH, nvmlSystemGetConfComputeSettings(&settings), "whose version is checked");
    wrong(nvmlSystemGetConfComputeSettings(NULL));
}

/* ---- which device ---- */

static void by_index_and_uuid(void)
{
    nvmlDevice_t device = NULL;
    nvmlUUID_t uuid = {.version = nvmlUUID_v1, .type = NVML_UUID_TYPE_ASCII, .value.str = UUID_1};
    good(nvmlDeviceGetHandleByIndex(0, &one));
    good(nvmlDeviceGetHandleByIndex_v2(1, &other));
    device = other;
    wrong(nvmlDeviceGetHandleByIndex_v2(2, &device));
    tap_ok(device == other, "a refused call has written nothing");
    wrong(nvmlDeviceGetHandleByIndex(2, &device));
    tap_ok(!device, "but the first form NULL");
    wrong(nvmlDeviceGetHandleByIndex(0, NULL));
    wrong(nvmlDeviceGetHandleByIndex_v2(0xffffffff, &device));
    wrong(nvmlDeviceGetHandleByIndex_v2(0, NULL));
    wrong(nvmlDeviceGetCount_v2(NULL));
    tap_ok(one != other && !device, "two devices, two handles, and none for a third");
    good(nvmlDeviceGetHandleByUUID(UUID_1, &device));
    tap_ok(device == other, "a UUID finds its device");
    is(ERROR_NOT_FOUND, nvmlDeviceGetHandleByUUID("GPU-fdecdce3", &device), "its beginning does not");
    wrong(nvmlDeviceGetHandleByUUID(NULL, &device));
    wrong(nvmlDeviceGetHandleByUUID(UUID_1, NULL));
    device = NULL;
    good(nvmlDeviceGetHandleByUUIDV(&uuid, &device));
    tap_ok(device == other, "so does a struct with it");
    uuid.type = NVML_UUID_TYPE_BINARY;
    memcpy(uuid.value.bytes, "\xfd\xec\xdc\xe3\xc7\xe3\x48\x8b\xa3\x75\x76\x6d\x6d\x73\x69\x6d", 16);
    good(nvmlDeviceGetHandleByUUIDV(&uuid, &device));
    tap_ok(device == one, "and its bytes");
    uuid.value.bytes[0] ^= 1;
    is(ERROR_NOT_FOUND, nvmlDeviceGetHandleByUUIDV(&uuid, &device), "other bytes name no device");
    uuid.type = 3;
    wrong(nvmlDeviceGetHandleByUUIDV(&uuid, &device));
    uuid.version = 1;
    is(ERROR_ARGUMENT_VERSION_MISMATCH, nvmlDeviceGetHandleByUUIDV(&uuid, &device), "nor has the struct another version");
    wrong(nvmlDeviceGetHandleByUUIDV(NULL, &device));
    wrong(nvmlDeviceGetHandleByUUIDV(&uuid, NULL));
}

static void by_bus(void)
{
    static const char *const here[] = {"00000000:02:00.0", "0000:02:00.0", "0:2:0", "02:00.0", "2:0.0"};
    static const char *const nowhere[] = {"0000:03:00.0", "0000:00:00.0", "1:02:00.0", "0:2:1.0", "1:2:0"};
    static const char *const nothing[] = {"", "two", "0000:02:00.0 ", "2", "0:2:0.0g", "2:0.0 ", "0:2:0.1", "2:0.1"};
    nvmlDevice_t device = NULL;
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
        device = NULL;
        is(SUCCESS, nvmlDeviceGetHandleByPciBusId_v2(here[i], &device), "%s", here[i]);
        tap_ok(device == other, "is the second device");
    }
    device = NULL;
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++)
        is(ERROR_NOT_FOUND, nvmlDeviceGetHandleByPciBusId_v2(nowhere[i], &device), "nothing is at %s", nowhere[i]);
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        is(ERROR_INVALID_ARGUMENT, nvmlDeviceGetHandleByPciBusId(nothing[i], &device), "\"%s\" is not an address", nothing[i]);
    tap_ok(!device, "no handle was written");
    wrong(nvmlDeviceGetHandleByPciBusId(NULL, &device));
    wrong(nvmlDeviceGetHandleByPciBusId("2:0.0", NULL));
}

static void names(void)
{
    char text[96] = "-";
    unsigned number = 7;
    good(nvmlDeviceGetIndex(other, &number));
    tap_u64(number, 1, "a handle has its index");
    wrong(nvmlDeviceGetIndex(NULL, &number));
    wrong(nvmlDeviceGetIndex(forged, &number));
    wrong(nvmlDeviceGetIndex(other, NULL));
    good(nvmlDeviceGetMinorNumber(one, &number));
    tap_u64(number, 0, "/dev/nvidia0");
    is(ERROR_INSUFFICIENT_SIZE, nvmlDeviceGetUUID(one, text, 40), "a UUID needs 41 bytes");
    tap_text(text, "-", "nothing was written");
    good(nvmlDeviceGetUUID(one, text, 41));
    tap_text(text, UUID_0, "the device's, as cuDeviceGetUuid and CUDA_VISIBLE_DEVICES have it");
    wrong(nvmlDeviceGetUUID(forged, text, 96));
    wrong(nvmlDeviceGetUUID(one, NULL, 96));
    good(nvmlDeviceGetName(one, text, sizeof text));
    tap_text(text, "NVIDIA H200", "and a name");
    wrong(nvmlDeviceGetName(forged, text, 96));
    is(ERROR_INSUFFICIENT_SIZE, nvmlDeviceGetName(one, text, 11), "the name needs room");
}

static bool untouched(const nvmlPciInfo_t *pci, size_t from)
{
    for (size_t i = from; i < sizeof *pci; i++)
        if (((const unsigned char *)pci)[i] != 0xee)
            return false;
    return true;
}

static void bus(void)
{
    nvmlPciInfo_t pci;
    nvmlPciInfoExt_t ext = {.version = nvmlPciInfoExt_v1};
    memset(&pci, 0xee, sizeof pci);
    good(nvmlDeviceGetPciInfo(other, &pci));
    tap_ok(pci.bus == 2 && !pci.domain && !pci.device && untouched(&pci, 32), "the first form writes as much as its struct had");
    tap_text(pci.busIdLegacy, "0000:02:00.0", "its address");
    good(nvmlDeviceGetPciInfo_v2(other, &pci));
    tap_ok(pci.pciSubSystemId == 415174878 && untouched(&pci, 36), "the second a little more");
    good(nvmlDeviceGetPciInfo_v3(other, &pci));
    tap_text(pci.busId, "00000000:02:00.0", "the third an address with a longer domain");
    tap_u64(pci.pciDeviceId, 0x233510de, "an H200 of NVIDIA, as recorded");
    wrong(nvmlDeviceGetPciInfo_v3(forged, &pci));
    wrong(nvmlDeviceGetPciInfo_v3(one, NULL));
    good(nvmlDeviceGetPciInfoExt(other, &ext));
    tap_ok(ext.bus == 2 && ext.baseClass == 3 && ext.subClass == 2 && ext.pciDeviceId == 0x233510de && ext.version == nvmlPciInfoExt_v1,
           "a 3D controller");
    tap_text(ext.busId, pci.busId, "at the same address");
    ext.version = 0;
    is(ERROR_ARGUMENT_VERSION_MISMATCH, nvmlDeviceGetPciInfoExt(other, &ext), "whose version is checked");
    wrong(nvmlDeviceGetPciInfoExt(other, NULL));
}

/* ---- descriptions ---- */

static void numbers(void)
{
    static const struct {
        const char *name;
        nvmlReturn_t (*ask)(nvmlDevice_t device, unsigned *answer);
        unsigned answer;
    } asked[] = {
#define ASK(name, answer) {#name, name, answer}
        ASK(nvmlDeviceGetArchitecture, NVML_DEVICE_ARCH_HOPPER),
        ASK(nvmlDeviceGetBusType, NVML_BUS_TYPE_PCIE),
        ASK(nvmlDeviceGetNumGpuCores, 132 * 128),
        ASK(nvmlDeviceGetMemoryBusWidth, 6016),
        ASK(nvmlDeviceIsMigDeviceHandle, 0),
        ASK(nvmlDeviceGetMaxPcieLinkGeneration, 5),
        ASK(nvmlDeviceGetGpuMaxPcieLinkGeneration, 5),
        ASK(nvmlDeviceGetCurrPcieLinkGeneration, 5),
        ASK(nvmlDeviceGetMaxPcieLinkWidth, 16),
        ASK(nvmlDeviceGetCurrPcieLinkWidth, 16),
        ASK(nvmlDeviceGetPcieLinkMaxSpeed, NVML_PCIE_LINK_MAX_SPEED_32000MBPS),
#undef ASK
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        unsigned answer = 0xeeeeeeee;
        is(ERROR_INVALID_ARGUMENT, asked[i].ask(forged, &answer), "%s of no device", asked[i].name);
        is(ERROR_INVALID_ARGUMENT, asked[i].ask(one, NULL), "%s to nowhere", asked[i].name);
        tap_u64(answer, 0xeeeeeeee, "nothing is written");
        is(SUCCESS, asked[i].ask(one, &answer), "%s", asked[i].name);
        tap_u64(answer, asked[i].answer, "its answer");
    }
}

static void states(void)
{
    static const struct {
        const char *name;
        nvmlReturn_t (*ask)(nvmlDevice_t device, nvmlEnableState_t *answer);
        nvmlEnableState_t answer;
    } asked[] = {
#define ASK(name, answer) {#name, name, answer}
        ASK(nvmlDeviceGetDefaultEccMode, NVML_FEATURE_ENABLED),
        ASK(nvmlDeviceGetPersistenceMode, NVML_FEATURE_DISABLED),
        ASK(nvmlDeviceGetDisplayMode, NVML_FEATURE_ENABLED),
        ASK(nvmlDeviceGetDisplayActive, NVML_FEATURE_DISABLED),
#undef ASK
    };
    nvmlEnableState_t current = NVML_FEATURE_DISABLED, pending = NVML_FEATURE_DISABLED;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        nvmlEnableState_t answer = (nvmlEnableState_t)7;
        is(ERROR_INVALID_ARGUMENT, asked[i].ask(forged, &answer), "%s of no device", asked[i].name);
        is(ERROR_INVALID_ARGUMENT, asked[i].ask(one, NULL), "%s to nowhere", asked[i].name);
        is(SUCCESS, asked[i].ask(one, &answer), "%s", asked[i].name);
        tap_u64(answer, asked[i].answer, "its answer");
    }
    good(nvmlDeviceGetEccMode(one, &current, &pending));
    tap_ok(current == NVML_FEATURE_ENABLED && pending == NVML_FEATURE_ENABLED, "memory is corrected, and will be");
    wrong(nvmlDeviceGetEccMode(one, NULL, &pending));
    wrong(nvmlDeviceGetEccMode(one, &current, NULL));
}

static void properties(void)
{
    nvmlBrandType_t brand = NVML_BRAND_UNKNOWN;
    nvmlComputeMode_t mode = NVML_COMPUTEMODE_PROHIBITED;
    unsigned long long errors = 7;
    unsigned current = 7, pending = 7, clock = 0;
    int major = 0, minor = 7;
    good(nvmlDeviceGetBrand(one, &brand));
    tap_u64(brand, NVML_BRAND_NVIDIA, "a device of NVIDIA");
    wrong(nvmlDeviceGetBrand(one, NULL));
    good(nvmlDeviceGetComputeMode(one, &mode));
    tap_u64(mode, NVML_COMPUTEMODE_DEFAULT, "any process may use it");
    wrong(nvmlDeviceGetComputeMode(one, NULL));
    good(nvmlDeviceGetCudaComputeCapability(one, &major, &minor));
    tap_ok(major == 9 && minor == 0, "compute capability 9.0");
    wrong(nvmlDeviceGetCudaComputeCapability(forged, &major, &minor));
    wrong(nvmlDeviceGetCudaComputeCapability(one, NULL, &minor));
    wrong(nvmlDeviceGetCudaComputeCapability(one, &major, NULL));
    good(nvmlDeviceGetMigMode(one, &current, &pending));
    tap_ok(!current && !pending, "it has no partitions");
    wrong(nvmlDeviceGetMigMode(one, NULL, &pending));
    wrong(nvmlDeviceGetMigMode(one, &current, NULL));
    good(nvmlDeviceGetTotalEccErrors(one, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_AGGREGATE_ECC, &errors));
    tap_u64(errors, 0, "and no errors");
    wrong(nvmlDeviceGetTotalEccErrors(one, NVML_MEMORY_ERROR_TYPE_COUNT, NVML_AGGREGATE_ECC, &errors));
    wrong(nvmlDeviceGetTotalEccErrors(one, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_ECC_COUNTER_TYPE_COUNT, &errors));
    wrong(nvmlDeviceGetTotalEccErrors(one, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC, NULL));
    good(nvmlDeviceGetMaxClockInfo(one, NVML_CLOCK_SM, &clock));
    tap_u64(clock, 1980, "MHz of a multiprocessor");
    good(nvmlDeviceGetMaxClockInfo(one, NVML_CLOCK_MEM, &clock));
    tap_u64(clock, 3201, "and of the memory");
    good(nvmlDeviceGetMaxClockInfo(one, NVML_CLOCK_VIDEO, &clock));
    tap_u64(clock, 1545, "and of the part for video");
    wrong(nvmlDeviceGetMaxClockInfo(one, NVML_CLOCK_COUNT, &clock));
    wrong(nvmlDeviceGetMaxClockInfo(one, NVML_CLOCK_SM, NULL));
    wrong(nvmlDeviceGetMaxClockInfo(forged, NVML_CLOCK_SM, &clock));
}

/* ---- memory of an unused machine ---- */

static void memory(void)
{
    nvmlMemory_t first = {7, 7, 7};
    nvmlMemory_v2_t second = {.version = nvmlMemory_v2};
    good(nvmlDeviceGetMemoryInfo(one, &first));
    tap_ok(first.total == 150109880320 && first.free == first.total && !first.used, "all of it is free");
    good(nvmlDeviceGetMemoryInfo_v2(one, &second));
    tap_ok(second.total == first.total && second.free == first.free && !second.used && !second.reserved, "in the second form, too");
    second.version = 2;
    is(ERROR_FUNCTION_NOT_FOUND, nvmlDeviceGetMemoryInfo_v2(one, &second), "whose version is checked");
    wrong(nvmlDeviceGetMemoryInfo(one, NULL));
    wrong(nvmlDeviceGetMemoryInfo_v2(one, NULL));
    wrong(nvmlDeviceGetMemoryInfo(forged, &first));
    wrong(nvmlDeviceGetMemoryInfo_v2(forged, &second));
}

static void no_processes(void)
{
    nvmlProcessInfo_v1_t first[1];
    nvmlProcessInfo_v2_t second[1];
    unsigned count;
#define LIST(call)                                     \
    do {                                               \
        count = 1;                                     \
        good(call);                                    \
        tap_u64(count, 0, "lists no process");             \
    } while (0)
    LIST(nvmlDeviceGetComputeRunningProcesses(one, &count, first));
    LIST(nvmlDeviceGetComputeRunningProcesses_v2(one, &count, second));
    LIST(nvmlDeviceGetComputeRunningProcesses_v3(one, &count, second));
    LIST(nvmlDeviceGetGraphicsRunningProcesses(one, &count, first));
    LIST(nvmlDeviceGetGraphicsRunningProcesses_v2(one, &count, second));
    LIST(nvmlDeviceGetGraphicsRunningProcesses_v3(one, &count, second));
    LIST(nvmlDeviceGetMPSComputeRunningProcesses(one, &count, first));
    LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2(one, &count, second));
    LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3(one, &count, second));
    good(nvmlDeviceGetComputeRunningProcesses_v3(one, &count, NULL)); /* there are none, so any room suffices */
    count = 1;
    good(nvmlDeviceGetComputeRunningProcesses_v3(one, &count, NULL));
    tap_u64(count, 0, "no process needs no room");
    count = 1;
    wrong(nvmlDeviceGetComputeRunningProcesses_v3(one, NULL, second));
    wrong(nvmlDeviceGetComputeRunningProcesses_v3(forged, &count, second));
    tap_u64(count, 1, "a refused call leaves the count");
}

/* ---- between devices ---- */

static void peers(void)
{
    nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_UNKNOWN;
    static const struct {
        bool self;
        nvmlGpuP2PCapsIndex_t what;
        nvmlGpuP2PStatus_t status;
    } expected[] = {
        {false, NVML_P2P_CAPS_INDEX_READ, NVML_P2P_STATUS_OK},
        {false, NVML_P2P_CAPS_INDEX_WRITE, NVML_P2P_STATUS_OK},
        {false, NVML_P2P_CAPS_INDEX_NVLINK, NVML_P2P_STATUS_OK},
        {false, NVML_P2P_CAPS_INDEX_ATOMICS, NVML_P2P_STATUS_OK},
        {false, NVML_P2P_CAPS_INDEX_PCI, NVML_P2P_STATUS_UNKNOWN},
        {true, NVML_P2P_CAPS_INDEX_READ, NVML_P2P_STATUS_NOT_SUPPORTED},
        {false, NVML_P2P_CAPS_INDEX_UNKNOWN, NVML_P2P_STATUS_UNKNOWN},
        {true, NVML_P2P_CAPS_INDEX_NVLINK, NVML_P2P_STATUS_NOT_SUPPORTED},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        is(SUCCESS, nvmlDeviceGetP2PStatus(one, expected[i].self ? one : other, expected[i].what, &status), "capability %d of %s",
           (int)expected[i].what, expected[i].self ? "a device and itself" : "two devices");
        tap_u64(status, expected[i].status, "its answer");
    }
    wrong(nvmlDeviceGetP2PStatus(one, other, NVML_P2P_CAPS_INDEX_READ, NULL));
    wrong(nvmlDeviceGetP2PStatus(forged, other, NVML_P2P_CAPS_INDEX_READ, &status));
    wrong(nvmlDeviceGetP2PStatus(one, forged, NVML_P2P_CAPS_INDEX_READ, &status));
}

static void links(void)
{
    nvmlEnableState_t active = NVML_FEATURE_DISABLED;
    nvmlIntNvLinkDeviceType_t type = NVML_NVLINK_DEVICE_TYPE_UNKNOWN;
    nvmlPciInfo_t pci;
    unsigned answer = 0;
    for (unsigned i = 0; i < NVML_NVLINK_MAX_LINKS; i++)
        if (nvmlDeviceGetNvLinkState(one, i, &active) != NVML_SUCCESS || active != NVML_FEATURE_ENABLED)
            tap_ok(false, "link %u is active", i);
    wrong(nvmlDeviceGetNvLinkState(one, NVML_NVLINK_MAX_LINKS, &active));
    wrong(nvmlDeviceGetNvLinkState(one, 0, NULL));
    wrong(nvmlDeviceGetNvLinkState(forged, 0, &active));
    good(nvmlDeviceGetNvLinkVersion(one, 17, &answer));
    tap_u64(answer, NVML_NVLINK_VERSION_4_0, "the fourth NVLink");
    wrong(nvmlDeviceGetNvLinkVersion(one, 18, &answer));
    for (unsigned what = 0; what < NVML_NVLINK_CAP_COUNT; what++) {
        is(SUCCESS, nvmlDeviceGetNvLinkCapability(one, 0, (nvmlNvLinkCapability_t)what, &answer), "capability %u of a link", what);
        tap_u64(answer, what == NVML_NVLINK_CAP_P2P_SUPPORTED || what == NVML_NVLINK_CAP_P2P_ATOMICS || what == NVML_NVLINK_CAP_VALID,
                "its answer");
    }
    wrong(nvmlDeviceGetNvLinkCapability(one, 0, NVML_NVLINK_CAP_COUNT, &answer));
    wrong(nvmlDeviceGetNvLinkCapability(one, 0, NVML_NVLINK_CAP_VALID, NULL));
    good(nvmlDeviceGetNvLinkRemoteDeviceType(one, 3, &type));
    tap_u64(type, NVML_NVLINK_DEVICE_TYPE_SWITCH, "a machine with multicast has a switch");
    wrong(nvmlDeviceGetNvLinkRemoteDeviceType(one, 18, &type));
    memset(&pci, 0xee, sizeof pci);
    good(nvmlDeviceGetNvLinkRemotePciInfo(one, 3, &pci));
    tap_ok(pci.bus == 3 && pci.pciDeviceId == 0x22a310de && untouched(&pci, 36), "behind the devices");
    good(nvmlDeviceGetNvLinkRemotePciInfo_v2(one, 3, &pci));
    tap_text(pci.busId, "00000000:03:00.0", "with an address");
    wrong(nvmlDeviceGetNvLinkRemotePciInfo_v2(one, 3, NULL));
}

static void topology(void)
{
    nvmlGpuTopologyLevel_t level = NVML_TOPOLOGY_SYSTEM;
    nvmlDevice_t list[2] = {NULL, NULL};
    unsigned count = 0;
    good(nvmlDeviceGetTopologyCommonAncestor(one, other, &level));
    tap_u64(level, NVML_TOPOLOGY_NODE, "devices of one node");
    is(ERROR_NOT_SUPPORTED, nvmlDeviceGetTopologyCommonAncestor(one, one, &level), "a device and itself");
    wrong(nvmlDeviceGetTopologyCommonAncestor(forged, one, &level));
    wrong(nvmlDeviceGetTopologyCommonAncestor(one, other, NULL));
    good(nvmlDeviceGetTopologyNearestGpus(one, NVML_TOPOLOGY_NODE, &count, NULL));
    tap_u64(count, 1, "one other is that near");
    good(nvmlDeviceGetTopologyNearestGpus(one, NVML_TOPOLOGY_NODE, &count, list));
    tap_ok(list[0] == other && count == 1, "the process is listed");
    count = 2;
    good(nvmlDeviceGetTopologyNearestGpus(one, NVML_TOPOLOGY_SYSTEM, &count, list));
    tap_ok(list[0] == other && !list[1] && count == 1, "also where there is room for more");
    good(nvmlDeviceGetTopologyNearestGpus(one, NVML_TOPOLOGY_HOSTBRIDGE, &count, list));
    tap_u64(count, 0, "none is nearer");
    good(nvmlDeviceGetTopologyNearestGpus(one, (nvmlGpuTopologyLevel_t)39, &count, list));
    tap_u64(count, 0, "nor below an invalid level");
    good(nvmlDeviceGetTopologyNearestGpus(one, (nvmlGpuTopologyLevel_t)60, &count, list));
    wrong(nvmlDeviceGetTopologyNearestGpus(one, NVML_TOPOLOGY_NODE, NULL, list));
    count = 1;
    wrong(nvmlDeviceGetTopologyNearestGpus(one, NVML_TOPOLOGY_NODE, &count, NULL));
}

static void sets(void)
{
    unsigned long set[64];
    uint64_t have = (uint64_t)sysconf(_SC_NPROCESSORS_CONF), bits = 0;
    memset(set, 0xee, sizeof set);
    good(nvmlDeviceGetCpuAffinity(one, 64, set));
    for (unsigned i = 0; i < 64 * 64; i++)
        bits += set[i / 64] >> i % 64 & 1;
    tap_u64(bits, have < 4096 ? have : 4096, "each processor of the host");
    memset(set, 0xee, sizeof set);
    good(nvmlDeviceGetCpuAffinityWithinScope(one, 1, set, NVML_AFFINITY_SCOPE_SOCKET));
    tap_ok((set[0] & 1) && set[1] == 0xeeeeeeeeeeeeeeee, "and no more than there is room for");
    wrong(nvmlDeviceGetCpuAffinity(one, 0, set));
    wrong(nvmlDeviceGetCpuAffinity(one, 1, NULL));
    wrong(nvmlDeviceGetCpuAffinity(forged, 1, set));
    wrong(nvmlDeviceGetCpuAffinityWithinScope(one, 1, set, 2));
    good(nvmlDeviceGetMemoryAffinity(one, 2, set, NVML_AFFINITY_SCOPE_NODE));
    tap_ok(set[0] == 1 && !set[1], "node 0");
    wrong(nvmlDeviceGetMemoryAffinity(one, 0, set, NVML_AFFINITY_SCOPE_NODE));
}

static void fabric(void)
{
    nvmlGpuFabricInfo_t first = {.state = 7};
    nvmlGpuFabricInfoV_t second;
    memset(&second, 0xee, sizeof second);
    good(nvmlDeviceGetGpuFabricInfo(one, &first));
    tap_ok(first.state == NVML_GPU_FABRIC_STATE_NOT_SUPPORTED && first.status == NVML_SUCCESS, "there is no fabric");
    wrong(nvmlDeviceGetGpuFabricInfo(one, NULL));
    is(ERROR_ARGUMENT_VERSION_MISMATCH, nvmlDeviceGetGpuFabricInfoV(one, &second), "a struct without a version");
    second.version = nvmlGpuFabricInfo_v2;
    good(nvmlDeviceGetGpuFabricInfoV(one, &second));
    tap_ok(!second.state && !second.healthMask && second.healthSummary == 0xee, "the second version is shorter");
    second.version = nvmlGpuFabricInfo_v3;
    good(nvmlDeviceGetGpuFabricInfoV(one, &second));
    tap_ok(!second.healthSummary && second.version == nvmlGpuFabricInfo_v3, "the third has no health");
    wrong(nvmlDeviceGetGpuFabricInfoV(one, NULL));
}

static void fields(void)
{
    nvmlFieldValue_t values[4] = {{.fieldId = NVML_FI_DEV_ECC_CURRENT},
                                  {.fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT},
                                  {.fieldId = 82, .value.ullVal = 7}, /* the memory's temperature */
                                  {.fieldId = NVML_FI_DEV_ECC_PENDING}};
    good(nvmlDeviceGetFieldValues(one, 4, values));
    tap_ok(!values[0].nvmlReturn && values[0].valueType == NVML_VALUE_TYPE_UNSIGNED_LONG_LONG && values[0].value.ullVal == 1, "ECC is on");
    tap_ok(!values[1].nvmlReturn && values[1].value.uiVal == 18, "18 links");
    tap_u64(values[2].nvmlReturn, NVML_ERROR_NOT_SUPPORTED, "a field that is not simulated has its own error");
    tap_ok(!values[3].nvmlReturn && values[3].value.uiVal == 1 && values[3].timestamp > 0, "and the later ones still get "
        "a result");
    wrong(nvmlDeviceGetFieldValues(one, 0, values));
    wrong(nvmlDeviceGetFieldValues(one, -1, values));
    wrong(nvmlDeviceGetFieldValues(one, 1, NULL));
    wrong(nvmlDeviceGetFieldValues(forged, 1, values));
}

/* ---- what refusals say ---- */

#define REFUSALS "backend_sim/nvml/nvml_refusals.txt"

/* The length of a handle at the beginning of the text, which differs from run to run, as NULL does between C libraries. */
static size_t handle_at(const char *text)
{
    const size_t length = strcspn(text, " ");
    return text[-1] == ' ' && strncmp(text + length, " is not a device:", 17) == 0 ? length : 0;
}

static size_t without_handles(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        size_t length = from > text ? handle_at(from) : 0;
        from += length;
        *to++ = length ? '#' : *from++;
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* All that was refused has said why, in the order of this file. */
static void explained(FILE *said, const char *write_to)
{
    static char text[1 << 17], line[512];
    rewind(said);
    text[fread(text, 1, sizeof text - 1, said)] = '\0';
    const size_t size = without_handles(text);
    const char *at = text;
    FILE *known = fopen(write_to ? write_to : REFUSALS, write_to ? "w" : "r");
    if (!known)
        tap_bail("%s cannot be opened", write_to ? write_to : REFUSALS);
    if (write_to)
        fwrite(text, 1, size, known);
    while (!write_to && fgets(line, sizeof line, known) && strncmp(at, line, strlen(line)) == 0)
        at += strlen(line);
    tap_ok(write_to || (!*at && feof(known)), "each refusal says what " REFUSALS " holds (--write FILE)%s%.*s", *at && !write_to ? ": " : "",
           write_to ? 0 : (int)strcspn(at, "\n"), at);
    fclose(known);
}

int main(int argc, char **argv)
{
    FILE *said = tmpfile();
    if (!said || dup2(fileno(said), STDERR_FILENO) < 0)
        tap_bail("no file");
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1); /* NVML does not check it */
    unsetenv("CUVMM_MACHINE");
    setenv("CUVMM_EXPLAIN", "1", 1);
    forged = (nvmlDevice_t)(void *)&forged;
    nothing_yet();
    counted();
    if (nvmlInit_v2() != NVML_SUCCESS)
        tap_bail("no machine");
    versions();
    the_system();
    by_index_and_uuid();
    by_bus();
    names();
    bus();
    numbers();
    states();
    properties();
    memory();
    no_processes();
    peers();
    links();
    topology();
    sets();
    fabric();
    fields();
    good(nvmlShutdown());
    explained(said, argc == 3 && !strcmp(argv[1], "--write") ? argv[2] : NULL);
    return tap_done();
}
