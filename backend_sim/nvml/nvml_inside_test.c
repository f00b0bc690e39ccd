/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that the environment names, machines without some features, shared state that cannot be inspected, and
 * failing allocations. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include <sys/wait.h>

#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include "abi/nvml.h"

#include "child.h"
#include "lifecycle.h"
#include "nvml_call.h"
#include "share_rig.h"

/* ---- which machine ---- */

static void environment(void)
{
    static const struct {
        const char *sim, *backend, *machine;
        const char *profile, *name; /* profile NULL: there is no machine, and the reason contains name */
    } worlds[] = {
        {NULL, NULL, NULL, "h100", ""},
        {"sim:h200x2", "sim:odd", NULL, "h200x2", ""},
        {NULL, "sim:odd", NULL, "odd", ""},
        {"", "trace=/dev/null | sim:odd", NULL, "odd", ""},
        {NULL, "cuda:/usr/lib/libcuda.so.1", NULL, "h100", ""},
        {"fault=mem_map:1|sim:min,machine=own", NULL, "other", "min", "own"},
        {"sim", NULL, "other", "h100", "other"},
        {"cuda", NULL, NULL, NULL, "CUVMM_SIM is \"cuda\", which is not simulated: expected sim:PROFILE"},
        {"sim:h100,machine=/", NULL, NULL, NULL, "machine="},
        {"sim:h100", NULL, "a/b", NULL, "CUVMM_MACHINE is \"a/b\""},
        {"|", NULL, NULL, NULL, "\"|\": "},
    };
    struct nvml_machine machine;
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        char why[SHARE_WHY] = "";
        const char *set[][2] = {{"CUVMM_SIM", worlds[i].sim}, {"CUVMM_BACKEND", worlds[i].backend}, {"CUVMM_MACHINE", worlds[i].machine}};
        for (size_t k = 0; k < 3; k++)
            set[k][1] ? setenv(set[k][0], set[k][1], 1) : unsetenv(set[k][0]);
        bool found = nvml_machine_find(&machine, why);
        tap_ok(found == (worlds[i].profile != NULL), "machine %zu: %s", i, why);
        if (found) {
            tap_text(machine.profile.name, worlds[i].profile, "its profile");
            tap_text(machine.name, worlds[i].name, "and its name");
        } else {
            tap_ok(strstr(why, worlds[i].name) != NULL, "the reason: %s", why);
        }
    }
    unsetenv("CUVMM_SIM");
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_MACHINE");
}

/* ---- machines without some features ---- */

static char profile_path[128];

static void open_machine(const char *text)
{
    char spec[160];
    snprintf(profile_path, sizeof profile_path, "%s/profile", rig_root);
    FILE *file = fopen(profile_path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file))
        tap_bail("no profile");
    snprintf(spec, sizeof spec, "sim:%s", profile_path);
    setenv("CUVMM_SIM", spec, 1);
    if (nvmlInit_v2() != NVML_SUCCESS)
        tap_bail("no machine");
    unlink(profile_path);
}

static nvmlDevice_t device(unsigned index)
{
    nvmlDevice_t found = NULL;
    nvmlDeviceGetHandleByIndex_v2(index, &found);
    return found;
}

static void unknown_chip(void)
{
    nvmlEnableState_t active;
    unsigned long set;
    unsigned long long errors;
    unsigned answer = 7, count = 0;
    nvmlGpuTopologyLevel_t level;
    nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_OK;
    open_machine("base = h100\ndevices = 2\npeers = all\nattribute.75 = 7\nattribute.134 = -1\nattribute.32 = 0\nattribute.37 = 0\n");
    tap_u64(nvmlDeviceGetArchitecture(device(0), &answer), NVML_SUCCESS, "a device of no architecture that is known");
    tap_u64(answer, NVML_DEVICE_ARCH_UNKNOWN, "the architecture is unknown");
    answer = 7;
    tap_u64(nvmlDeviceGetNumGpuCores(device(0), &answer), NVML_ERROR_NOT_SUPPORTED, "how many cores it has is not known");
    tap_u64(nvmlDeviceGetMemoryBusWidth(device(0), &answer), NVML_ERROR_NOT_SUPPORTED, "nor how wide its bus is");
    tap_u64(nvmlDeviceGetCurrPcieLinkGeneration(device(0), &answer), NVML_ERROR_NOT_SUPPORTED, "nor its link to the host");
    tap_u64(nvmlDeviceGetCurrPcieLinkWidth(device(0), &answer), NVML_ERROR_NOT_SUPPORTED, "nor the width of that");
    tap_u64(answer, 7, "nothing is written");
    tap_u64(nvmlDeviceGetNvLinkState(device(0), 0, &active), NVML_ERROR_NOT_SUPPORTED, "nor whether it has links");
    nvmlDeviceGetP2PStatus(device(0), device(1), NVML_P2P_CAPS_INDEX_NVLINK, &status);
    tap_u64(status, NVML_P2P_STATUS_NOT_SUPPORTED, "over which a peer would be reached");
    tap_u64(nvmlDeviceGetMemoryAffinity(device(0), 1, &set, 0), NVML_ERROR_NOT_SUPPORTED, "it is attached to no node");
    tap_u64(nvmlDeviceGetTotalEccErrors(device(0), NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC, &errors), NVML_ERROR_NOT_SUPPORTED,
            "and has no ECC whose errors would be counted");
    nvmlDeviceGetTopologyCommonAncestor(device(0), device(1), &level);
    tap_u64(level, NVML_TOPOLOGY_SYSTEM, "two of them share only the system");
    nvmlDeviceGetTopologyNearestGpus(device(0), NVML_TOPOLOGY_NODE, &count, NULL);
    tap_u64(count, 0, "and none is near");
    nvmlShutdown();
}

/* Links without a peer, links to each peer in turn, and output arrays smaller than the number of devices. */
static void wires(void)
{
    nvmlEnableState_t active = NVML_FEATURE_ENABLED;
    nvmlIntNvLinkDeviceType_t type = NVML_NVLINK_DEVICE_TYPE_UNKNOWN;
    nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_OK;
    nvmlPciInfo_t pci;
    nvmlDevice_t list[2];
    unsigned answer = 7, count = 2, wrong = 0;
    open_machine("base = h100\ndevices = 4\npeers = 0-1,0-2\n");
    tap_u64(nvmlDeviceGetNvLinkState(device(3), 0, &active), NVML_ERROR_NOT_SUPPORTED, "the links of a device without a peer lead nowhere");
    tap_u64(nvmlDeviceGetNvLinkRemoteDeviceType(device(3), 0, &type), NVML_ERROR_NOT_SUPPORTED, "there is nothing behind them");
    tap_u64(nvmlDeviceGetNvLinkCapability(device(3), 0, NVML_NVLINK_CAP_P2P_SUPPORTED, &answer), NVML_ERROR_NOT_SUPPORTED, "and they reach no device");
    nvmlDeviceGetP2PStatus(device(0), device(3), NVML_P2P_CAPS_INDEX_READ, &status);
    tap_u64(status, NVML_P2P_STATUS_NOT_SUPPORTED, "the others have no access to it");
    nvmlDeviceGetNvLinkRemoteDeviceType(device(0), 0, &type);
    tap_u64(type, NVML_NVLINK_DEVICE_TYPE_GPU, "without multicast devices are wired to each other");
    for (unsigned i = 0; i < NVML_NVLINK_MAX_LINKS; i++)
        wrong += nvmlDeviceGetNvLinkRemotePciInfo_v2(device(0), i, &pci) != NVML_SUCCESS || pci.bus != 2 + i % 2;
    tap_u64(wrong, 0, "links take turns between two peers");
    nvmlDeviceGetNvLinkRemotePciInfo_v2(device(2), 5, &pci);
    tap_ok(pci.bus == 1 && pci.pciDeviceId == 0x233010de, "all links of the third lead to the first");
    nvmlDeviceGetTopologyNearestGpus(device(3), NVML_TOPOLOGY_SYSTEM, &count, list);
    tap_ok(count == 2 && list[0] == device(0) && list[1] == device(1), "a list with room for two of three");
    nvmlShutdown();
}

static void one_of_all(void)
{
    nvmlEnableState_t active = NVML_FEATURE_ENABLED;
    nvmlIntNvLinkDeviceType_t type;
    open_machine("base = h200x2\ndevices = 1\n"); /* peers = all */
    tap_u64(nvmlDeviceGetNvLinkState(device(0), 0, &active), NVML_ERROR_NOT_SUPPORTED, "a single device has no peer, "
        "regardless of its profile");
    tap_u64(nvmlDeviceGetNvLinkRemoteDeviceType(device(0), 0, &type), NVML_ERROR_NOT_SUPPORTED, "and nothing behind its links");
    nvmlShutdown();
}

static void fabric(void)
{
    nvmlGpuFabricInfo_t info = {.state = 7};
    setenv("CUVMM_SIM", "sim:gb200x4", 1);
    nvmlInit_v2();
    nvmlDeviceGetGpuFabricInfo(device(3), &info);
    tap_ok(info.state == NVML_GPU_FABRIC_STATE_COMPLETED && info.status == NVML_SUCCESS && !info.cliqueId, "a machine with a channel");
    unsigned char none[NVML_GPU_FABRIC_UUID_LEN] = {0};
    tap_ok(memcmp(info.clusterUuid, none, sizeof none) != 0, "is in a cluster with a name");
    nvmlShutdown();
}

/* The data sheet's values for that architecture. */
static void blackwell(void)
{
    nvmlDeviceArchitecture_t architecture = 0;
    nvmlEnableState_t active = NVML_FEATURE_DISABLED;
    unsigned cores = 0, generation = 0, width = 0, version = 0, clock = 7;
    setenv("CUVMM_SIM", "sim:gb200x4", 1);
    nvmlInit_v2();
    tap_ok(nvmlDeviceGetArchitecture(device(1), &architecture) == NVML_SUCCESS && architecture == NVML_DEVICE_ARCH_BLACKWELL,
           "the architecture: %u", (unsigned)architecture);
    tap_ok(nvmlDeviceGetNumGpuCores(device(1), &cores) == NVML_SUCCESS && cores == 152 * 128, "%u cores", cores);
    tap_ok(nvmlDeviceGetMaxPcieLinkGeneration(device(1), &generation) == NVML_SUCCESS && generation == 5 &&
               nvmlDeviceGetMaxPcieLinkWidth(device(1), &width) == NVML_SUCCESS && width == 16, "PCIe %u.0 x%u", generation, width);
    tap_ok(nvmlDeviceGetNvLinkState(device(1), 17, &active) == NVML_SUCCESS && active == NVML_FEATURE_ENABLED &&
               nvmlDeviceGetNvLinkState(device(1), 18, &active) == NVML_ERROR_INVALID_ARGUMENT, "18 links");
    tap_ok(nvmlDeviceGetNvLinkVersion(device(1), 0, &version) == NVML_SUCCESS && version == NVML_NVLINK_VERSION_5_0, "of the fifth NVLink");
    tap_ok(nvmlDeviceGetMaxClockInfo(device(1), NVML_CLOCK_VIDEO, &clock) == NVML_ERROR_NOT_SUPPORTED && clock == 7,
           "the clock of its video engines is not known");
    tap_ok(nvmlDeviceGetMaxClockInfo(device(1), NVML_CLOCK_VIDEO, NULL) == NVML_ERROR_INVALID_ARGUMENT, "nor a place for it");
    nvmlShutdown();
}

static void imex_folder(void)
{
    nvmlGpuFabricInfo_t info = {.state = 7};
    setenv("CUVMM_SIM", "sim:h100,imex=/nowhere/at/all", 1);
    nvmlInit_v2();
    nvmlDeviceGetGpuFabricInfo(device(0), &info);
    tap_u64(info.state, NVML_GPU_FABRIC_STATE_NOT_SUPPORTED, "without the folder of channels there is no fabric");
    nvmlShutdown();
}

/* ---- shared state that cannot be inspected ---- */

static nvmlReturn_t ask(unsigned long long *used)
{
    nvmlMemory_t memory = {0, 0, 7};
    nvmlReturn_t result = nvmlDeviceGetMemoryInfo(device(0), &memory);
    *used = memory.used;
    return result;
}

static struct nvml_machine *the_machine(void)
{
    struct nvml_call call;
    if (nvml_enter(&call, "test") != NVML_SUCCESS)
        tap_bail("not initialised");
    nvml_leave(&call);
    return call.machine;
}

/* A process that stops while it holds the lock. */
static void held_up(void)
{
    int socket, status;
    char what;
    unsigned long long used;
    unsigned count = 0;
    setenv("CUVMM_SIM", "sim:h100,machine=held", 1);
    pid_t child = child_begin(&socket, 60);
    if (child == 0) {
        char why[SHARE_WHY];
        vmm_system *sys = rig_open("held");
        struct share *share = sys ? share_open_there("m-held", why) : NULL;
        if (!share || !share_lock(share) || write(socket, "x", 1) != 1)
            _exit(1);
        (void)!read(socket, &what, 1);
        share_unlock(share);
        (void)!write(socket, "x", 1);
        (void)!read(socket, &what, 1);
        share_close(share);
        rig_close(sys);
        _exit(0);
    }
    if (read(socket, &what, 1) != 1)
        tap_bail("the child does not hold the state");
    nvmlInit_v2();
    struct nvml_machine *machine = the_machine();
    char why[SHARE_WHY];
    machine->share = share_open_there("m-held", why);
    machine->stamp = life_stamp();
    machine->share->patience = 0;
    tap_u64(ask(&used), NVML_ERROR_TIMEOUT, "a process holds the machine's state: that takes too long");
    tap_ok(used == 7 && !the_machine()->share, "nothing is written");
    if (write(socket, "x", 1) != 1 || read(socket, &what, 1) != 1)
        tap_bail("the child has gone");
    tap_u64(ask(&used), NVML_SUCCESS, "the next look is another one");
    tap_u64(nvmlDeviceGetComputeRunningProcesses(device(0), &count, NULL), NVML_SUCCESS, "and processes are reported");
    (void)!write(socket, "x", 1);
    waitpid(child, &status, 0);
    close(socket);
    tap_u64((uint64_t)status, 0, "the process ends");
    nvmlShutdown();
}

static void not_a_machine(void)
{
    unsigned long long used;
    unsigned count = 0;
    char path[256];
    snprintf(path, sizeof path, "%s/m-wrong", rig_root);
    vmm_system *sys = rig_open("wrong");
    FILE *file = fopen(rig_path("wrong", "state"), "r+");
    const uint64_t version = 99;
    if (!sys || !file || fseek(file, 8, SEEK_SET) || fwrite(&version, sizeof version, 1, file) != 1 || fclose(file))
        tap_bail("no state");
    setenv("CUVMM_SIM", "sim:h100,machine=wrong", 1);
    nvmlInit_v2();
    tap_u64(ask(&used), NVML_ERROR_TIMEOUT, "a state of another version is none to look at");
    tap_u64(nvmlDeviceGetComputeRunningProcesses(device(0), &count, NULL), NVML_ERROR_TIMEOUT, "nor for processes");
    nvmlShutdown();
    rig_close(sys);
    rig_remove(path);
}

/* Another process may write any number. */
static void forged_use(void)
{
    unsigned long long used;
    vmm_system *sys = rig_open("forged");
    setenv("CUVMM_SIM", "sim:h100,machine=forged", 1);
    nvmlInit_v2();
    tap_ok(ask(&used) == NVML_SUCCESS && !used, "a machine without memory in use");
    struct share *share = the_machine()->share;
    atomic_store(&share->folder.state->slot[0].use.device[0], UINT64_C(1) << 60);
    tap_ok(ask(&used) == NVML_SUCCESS && used == 85017493504, "no more is in use than there is");
    atomic_store(&share->folder.state->slot[0].use.device[0], 0);
    nvmlShutdown();
    rig_close(sys);
}

/* ---- forks ---- */

/* A child looks at the machine itself; the second child is forked by a thread inside a call, and finds the protected
 * state unchanged. */
static void forks(void)
{
    unsigned long long used;
    int status[2] = {-1, -1};
    vmm_system *sys = rig_open("forks");
    vmm_mem_generic_allocation_handle memory;
    struct nvml_call call;
    setenv("CUVMM_SIM", "sim:h100,machine=forks", 1);
    nvmlInit_v2();
    rig_create(sys, RIG_G, &memory);
    tap_ok(ask(&used) == NVML_SUCCESS && used == RIG_G, "this process sees what is in use");
    for (int i = 0; i < 2; i++) {
        uint64_t patience = atomic_exchange(&life_patience, 1);
        if (i == 1 && nvml_enter(&call, "test") != NVML_SUCCESS)
            tap_bail("not initialised");
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            bool same = ask(&used) == NVML_SUCCESS && used == RIG_G && nvmlShutdown() == NVML_SUCCESS;
            _exit(same ? 0 : 1);
        }
        if (i == 1)
            nvml_leave(&call);
        waitpid(child, &status[i], 0);
        atomic_store(&life_patience, patience);
    }
    tap_u64((uint64_t)status[0], 0, "so does its child");
    tap_u64((uint64_t)status[1], 0, "and one that was made in the middle of a call");
    tap_ok(ask(&used) == NVML_SUCCESS && used == RIG_G, "the parent does not notice that");
    nvmlShutdown();
    rig_close(sys);
}

/* ---- failing allocations ---- */

static void requests(void)
{
    unsigned long long used;
    unsigned failures = 0;
    bool clean = true;
    vmm_system *sys = rig_open("few");
    setenv("CUVMM_SIM", "sim:h100,machine=few", 1);
    long live = inject_live;
    for (unsigned long nth = 1;; nth++) {
        inject_arm(nth);
        nvmlReturn_t begun = nvmlInit_v2(), asked = begun == NVML_SUCCESS ? ask(&used) : NVML_SUCCESS;
        bool failed = inject_disarm() != NULL;
        failures += failed;
        clean = clean && (begun == NVML_SUCCESS || begun == NVML_ERROR_DRIVER_NOT_LOADED) &&
                (asked == NVML_SUCCESS || asked == NVML_ERROR_TIMEOUT);
        if (begun == NVML_SUCCESS)
            nvmlShutdown();
        if (!failed)
            break;
    }
    tap_ok(failures > 5 && clean, "%u requests that fail one after the other, and each is reported", failures);
    tap_u64((uint64_t)inject_live, (uint64_t)live, "nothing is left behind");
    rig_close(sys);
}

int main(void)
{
    rig_begin();
    unsetenv("CUVMM_EXPLAIN");
    environment();
    unknown_chip();
    wires();
    one_of_all();
    fabric();
    blackwell();
    imex_folder();
    held_up();
    not_a_machine();
    forged_use();
    forks();
    requests();
    rig_end();
    return tap_done();
}
