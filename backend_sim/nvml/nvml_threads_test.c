/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that initialise, query and shut down concurrently, also with forks, while the driver allocates in the same process. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "abi/cuda.h"
#include "abi/nvml.h"

#include "forks.h"
#include "share_rig.h"

enum { THREADS = 4, ROUNDS = 50, FORKS = 10 };

static atomic_bool over;
static atomic_uint wrong, asked;

static bool asks(void)
{
    nvmlDevice_t device;
    nvmlMemory_t memory = {0, 0, 0};
    nvmlProcessInfo_t list[4];
    unsigned count = 4;
    if (nvmlInit() != NVML_SUCCESS || nvmlDeviceGetHandleByIndex(1, &device) != NVML_SUCCESS)
        return false;
    bool good = nvmlDeviceGetMemoryInfo(device, &memory) == NVML_SUCCESS && memory.used % RIG_G == 0 && memory.used <= RIG_G &&
                nvmlDeviceGetComputeRunningProcesses(device, &count, list) == NVML_SUCCESS && count <= 1;
    return nvmlShutdown() == NVML_SUCCESS && good;
}

static void *ask(void *user)
{
    for (int i = 0; i < ROUNDS || !atomic_load(&over); i++) {
        atomic_fetch_add(&wrong, !asks());
        atomic_fetch_add(&asked, 1);
    }
    return user;
}

static void *allocate(void *user)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
    while (!atomic_load(&over)) {
        CUmemGenericAllocationHandle memory;
        atomic_fetch_add(&wrong, cuMemCreate(&memory, RIG_G, &prop, 0) != CUDA_SUCCESS || cuMemRelease(memory) != CUDA_SUCCESS);
    }
    return user;
}

static int child(unsigned start)
{
    (void)start;
    return asks() ? 0 : 1;
}

static void run(const char *spec)
{
    pthread_t thread[THREADS + 1];
    setenv("CUVMM_SIM", spec, 1);
    atomic_store(&over, false);
    for (int i = 0; i <= THREADS; i++)
        if (pthread_create(&thread[i], NULL, i < THREADS ? ask : allocate, NULL))
            tap_bail("no thread");
    struct forks_sum sum = forks_often(forks_scaled(FORKS), 0, child);
    tap_ok(!sum.hung && !sum.torn && !sum.wrong, "children of a program with threads look for themselves");
    atomic_store(&over, true);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(thread[i], NULL);
    tap_u64(atomic_load(&wrong), 0, "%d threads ask and shut down, one allocates: %u answers", THREADS, atomic_load(&asked));
    unsigned count;
    tap_u64(nvmlDeviceGetCount(&count), NVML_ERROR_UNINITIALIZED, "as many are undone as were made");
}

static int test(void)
{
    if (cuInit(0) != CUDA_SUCCESS)
        tap_bail("no driver");
    run("sim:h200x2,machine=threads");
    run("sim:h200x2"); /* without a name: queries libcuda.so.1 for its machine */
    return tap_done();
}

/* The machine ends with its process, and then its folder can be removed. */
int main(void)
{
    int status = 1;
    rig_begin();
    unsetenv("CUVMM_EXPLAIN");
    unsetenv("CUDA_VISIBLE_DEVICES");
    setenv("CUVMM_SIM", "sim:h200x2,machine=threads", 1);
    pid_t tester = fork();
    if (tester == 0)
        return test();
    waitpid(tester, &status, 0);
    rmdir(rig_root);
    return status != 0;
}
