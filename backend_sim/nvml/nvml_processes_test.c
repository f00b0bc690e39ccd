/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in use, as reported by libnvidia-ml.so.1: on this process's own machine, and on one that 64 processes share,
 * with eight devices. Inspection neither creates a machine nor keeps one alive. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "abi/cuda.h"
#include "abi/nvml.h"

#include "child.h"
#include "share_rig.h"

enum { CROWD = 64, DEVICES = 8 };

static unsigned long long used(int index)
{
    nvmlDevice_t device;
    nvmlMemory_t memory = {0, 0, 0};
    if (nvmlDeviceGetHandleByIndex((unsigned)index, &device) != NVML_SUCCESS || nvmlDeviceGetMemoryInfo(device, &memory) != NVML_SUCCESS)
        tap_bail("nothing is reported of device %d", index);
    return memory.total - memory.free == memory.used ? memory.used : 1;
}

/* The memory of a device that a process uses; 0: it is not in the list. */
static unsigned long long used_by(int index, pid_t pid)
{
    nvmlProcessInfo_t list[CROWD];
    nvmlDevice_t device;
    unsigned count = CROWD;
    nvmlDeviceGetHandleByIndex((unsigned)index, &device);
    if (nvmlDeviceGetComputeRunningProcesses(device, &count, list) != NVML_SUCCESS)
        tap_bail("no list of device %d", index);
    for (unsigned i = 0; i < count; i++)
        if (list[i].pid == (unsigned)pid && list[i].gpuInstanceId == ~0U && list[i].computeInstanceId == ~0U)
            return list[i].usedGpuMemory;
    return 0;
}

static CUmemGenericAllocationHandle create(int device, uint64_t size, bool exportable)
{
    CUmemGenericAllocationHandle memory = 0;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    prop.requestedHandleTypes = exportable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
    return cuMemCreate(&memory, size, &prop, 0) == CUDA_SUCCESS ? memory : 0;
}

/* ---- this process's own machine ---- */

/* In a child, so that the 64 processes do not share the state of an earlier test. */
static void own_machine(void)
{
    CUmemGenericAllocationHandle memory;
    int status = 0, socket;
    pid_t child = child_begin(&socket, 60);
    if (child == 0) {
        setenv("CUVMM_SIM", "sim:h200x2", 1);
        setenv("CUDA_VISIBLE_DEVICES", "1", 1);
        int wrong = nvmlInit() != NVML_SUCCESS;
        wrong += used(0) || used(1) || used_by(1, getpid()); /* no process has opened it */
        wrong += cuInit(0) != CUDA_SUCCESS || used(1);
        memory = create(0, 3 * RIG_G, false);
        wrong += used(0) != 0 || used(1) != 3 * RIG_G || used_by(1, getpid()) != 3 * RIG_G || used_by(0, getpid());
        pid_t grandchild = fork();
        if (grandchild == 0) /* the machine is its parent's */
            _exit(used(1) != 0 || nvmlShutdown() != NVML_SUCCESS);
        waitpid(grandchild, &status, 0);
        wrong += status != 0 || used(1) != 3 * RIG_G;
        wrong += cuMemRelease(memory) != CUDA_SUCCESS || used(1) != 0;
        _exit(wrong);
    }
    waitpid(child, &status, 0);
    close(socket);
    tap_u64((uint64_t)status, 0, "a machine without a name: libcuda.so.1 of this process is asked, for all its devices");
}

/* ---- two processes ---- */

enum { GO = 1 };

static void wait_for(int socket)
{
    char what;
    if (read(socket, &what, 1) != 1)
        _exit(99);
}

static void tell(int socket)
{
    char what = GO;
    if (write(socket, &what, 1) != 1)
        tap_bail("the other process is gone");
}

/* Two blocks on device 0, one of which is exported; 3 MiB on device 1. */
static _Noreturn void worker(int socket)
{
    int fd = -1;
    CUdeviceptr at = 0;
    CUcontext context;
    CUdevice second;
    if (cuInit(0) != CUDA_SUCCESS)
        _exit(1);
    tell(socket); /* an initialised process that holds no memory */
    wait_for(socket);
    CUmemGenericAllocationHandle shared = create(0, 2 * RIG_G, true);
    if (!create(0, RIG_G, false) || cuMemExportToShareableHandle(&fd, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
        _exit(2);
    if (cuDeviceGet(&second, 1) || cuDevicePrimaryCtxRetain(&context, second) || cuCtxSetCurrent(context) || cuMemAlloc(&at, 3 << 20))
        _exit(3);
    tell(socket);
    wait_for(socket);
    _exit(0); /* still holding everything */
}

static void two_processes(void)
{
    int socket, status = 0;
    setenv("CUVMM_SIM", "sim:h200x2,machine=pair", 1);
    if (nvmlInit() != NVML_SUCCESS)
        tap_bail("no machine");
    tap_ok(used(0) == 0 && used_by(0, getpid()) == 0, "no process uses the machine");
    tap_u64(rig_machines(), 0, "and looking makes none");
    pid_t child = child_begin(&socket, 60);
    if (child == 0)
        worker(socket);
    wait_for(socket);
    tap_ok(used(0) == 0 && used_by(0, child) == 0, "a process that holds nothing");
    tell(socket);
    wait_for(socket);
    tap_u64(used(0), 3 * RIG_G, "device 0: what is private, and what was exported");
    tap_u64(used_by(0, child), 3 * RIG_G, "by that process");
    unsigned long long small = used(1);
    tap_ok(small >= 3 << 20 && small < 2 * RIG_G + 1 && used_by(1, child) == small, "device 1: what cuMemAlloc took");
    pid_t grandchild = fork();
    if (grandchild == 0) /* a child keeps its parent's count, and looks at the machine itself */
        _exit(used(0) != 3 * RIG_G || nvmlShutdown() != NVML_SUCCESS || nvmlShutdown() != NVML_ERROR_UNINITIALIZED);
    waitpid(grandchild, &status, 0);
    tap_u64((uint64_t)status, 0, "a child of the process that looks sees the same, and counts for itself");
    tap_u64(used(0), 3 * RIG_G, "the parent does not notice that");
    tell(socket);
    waitpid(child, &status, 0);
    close(socket);
    tap_u64((uint64_t)status, 0, "the process ends");
    tap_ok(used(0) == 0 && used(1) == 0 && used_by(0, child) == 0, "and what it held is free");
    tap_u64(rig_machines(), 1, "the machine stays while it is looked at");
    nvmlShutdown();
    tap_u64(rig_machines(), 0, "and goes with nvmlShutdown");
}

/* ---- the message about a refused query on standard error ---- */

static void no_list(nvmlDevice_t device)
{
    char text[256] = "";
    unsigned count = 1;
    FILE *said = tmpfile();
    int before = dup(STDERR_FILENO);
    if (!said || before < 0 || dup2(fileno(said), STDERR_FILENO) < 0)
        tap_bail("standard error cannot be heard");
    setenv("CUVMM_EXPLAIN", "1", 1);
    nvmlReturn_t result = nvmlDeviceGetComputeRunningProcesses(device, &count, NULL);
    unsetenv("CUVMM_EXPLAIN");
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(said);
    text[fread(text, 1, sizeof text - 1, said)] = '\0';
    fclose(said);
    tap_u64(result, NVML_ERROR_INVALID_ARGUMENT, "room for one, and no list");
    tap_text(text, "cuvmm: libnvidia-ml.so.1: nvmlDeviceGetComputeRunningProcesses_v3: infos is NULL\n", "the reason names it");
    tap_u64(count, 1, "the count stays");
}

/* ---- many ---- */

static _Noreturn void one_of_many(int socket, int number)
{
    if (cuInit(0) != CUDA_SUCCESS || !create(number % DEVICES, (uint64_t)(number + 1) * RIG_G, false))
        _exit(1);
    tell(socket);
    wait_for(socket);
    _exit(0);
}

/* The first version has a shorter struct; programs look it up by its name. */
static void old_form(nvmlDevice_t device)
{
    nvmlReturn_t (*ask)(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_v1_t *list) = NULL;
    nvmlProcessInfo_v1_t list[CROWD / DEVICES + 1];
    unsigned count = CROWD / DEVICES, wrong = 0;
    unsigned long long sum = 0;
    memset(list, 0xee, sizeof list);
    *(void **)&ask = dlsym(RTLD_DEFAULT, "nvmlDeviceGetComputeRunningProcesses");
    tap_u64(ask(device, &count, list), NVML_SUCCESS, "the first form lists them, too");
    for (unsigned i = 0; i < count; i++) {
        sum += list[i].usedGpuMemory;
        wrong += used_by(DEVICES - 1, (pid_t)list[i].pid) != list[i].usedGpuMemory;
    }
    tap_ok(!wrong && count == CROWD / DEVICES && sum == used(DEVICES - 1) && list[count].pid == 0xeeeeeeee, "with the same bytes");
}

static void crowd(void)
{
    static pid_t child[CROWD];
    static int socket[CROWD];
    unsigned long long all[DEVICES] = {0};
    nvmlProcessInfo_t few[CROWD / DEVICES];
    nvmlDevice_t device;
    unsigned count = CROWD / DEVICES - 1, wrong = 0;
    int status, bad = 0;
    setenv("CUVMM_SIM", "sim:max", 1);
    setenv("CUVMM_MACHINE", "crowd", 1);
    for (int i = 0; i < CROWD; i++) {
        child[i] = child_begin(&socket[i], 60);
        if (child[i] == 0)
            one_of_many(socket[i], i);
        wait_for(socket[i]); /* one after the other, because 64 at once take long to agree on the creator of the machine */
        all[i % DEVICES] += (unsigned long long)(i + 1) * RIG_G;
    }
    if (nvmlInit() != NVML_SUCCESS)
        tap_bail("no machine");
    for (int i = 0; i < CROWD; i++)
        wrong += used_by(i % DEVICES, child[i]) != (unsigned long long)(i + 1) * RIG_G || used_by((i + 1) % DEVICES, child[i]);
    tap_u64(wrong, 0, "%d processes, each in the list of its device alone", CROWD);
    for (int i = 0; i < DEVICES; i++)
        wrong += used(i) != all[i];
    tap_u64(wrong, 0, "%d devices, each with the sum of its processes", DEVICES);
    nvmlDeviceGetHandleByIndex(7, &device);
    memset(few, 0xee, sizeof few);
    tap_u64(nvmlDeviceGetComputeRunningProcesses(device, &count, few), NVML_ERROR_INSUFFICIENT_SIZE, "a list that is too short by one");
    tap_ok(count == CROWD / DEVICES && few[0].pid == 0xeeeeeeee, "returns the length that is needed, and is not written");
    tap_u64(nvmlDeviceGetComputeRunningProcesses(device, &count, few), NVML_SUCCESS, "the room is sufficient");
    old_form(device);
    count = 0;
    tap_u64(nvmlDeviceGetComputeRunningProcesses(device, &count, NULL), NVML_ERROR_INSUFFICIENT_SIZE, "0 queries the number");
    tap_u64(count, CROWD / DEVICES, "eight");
    no_list(device);
    kill(child[0], SIGKILL);
    waitpid(child[0], &status, 0);
    tap_u64(used(0), all[0] - RIG_G, "the memory of a killed process is free at the next look");
    for (int i = 1; i < CROWD; i++)
        tell(socket[i]);
    for (int i = 1; i < CROWD; i++) {
        waitpid(child[i], &status, 0);
        bad += status != 0;
    }
    tap_ok(!bad && used(0) == 0, "all end");
    nvmlShutdown();
    unsetenv("CUVMM_MACHINE");
}

int main(void)
{
    rig_begin();
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUVMM_EXPLAIN");
    own_machine();
    two_processes();
    crowd();
    rig_end();
    return tap_done();
}
