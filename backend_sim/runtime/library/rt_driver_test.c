/* SPDX-License-Identifier: Apache-2.0 */
/* No driver, an older one, one that cannot start, one without some functions; and calls while the process ends. The
 * results for missing and old drivers are those of the toolkit's libcudart.so.12.9.79 and 13.0.96. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rt_rig.h"

/* The body runs in a separate process, because a process looks for its driver only once. It returns the line of the
 * first failed check, or 0. */
static void in_child(const char *library, const char *version, const char *init, int (*body)(void), const char *what)
{
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        alarm(20);
        if (library)
            setenv("CUVMM_LIBCUDA", library, 1);
        setenv("FAKE_VERSION", version, 1);
        setenv("FAKE_INIT", init, 1);
        exit(body() ? 1 : 0);
    }
    bool ended = child > 0 && waitpid(child, &status, 0) == child;
    tap_ok(ended && status == 0, "%s: status 0x%x", what, (unsigned)status);
}

#define NEED(condition)                                        \
    do {                                                       \
        if (!(condition)) {                                    \
            printf("# line %d: %s\n", __LINE__, #condition);   \
            return __LINE__;                                   \
        }                                                      \
    } while (0)

static cudaError_t expected;

/* Every call returns it, and it is the last error; queries that need no driver succeed. */
static int all_answer(void)
{
    int value = 77;
    void *p = NULL;
    NEED(cudaGetDeviceCount(&value) == expected && value == 77);
    NEED(cudaGetDeviceCount(NULL) == expected);
    NEED(cudaSetDevice(0) == expected);
    NEED(cudaMalloc(&p, 1) == expected && !p);
    NEED(cudaFree(NULL) == expected);
    NEED(cudaDeviceSynchronize() == expected);
    NEED(cudaDeviceReset() == expected);
    NEED(cudaPeekAtLastError() == expected && cudaGetLastError() == expected && cudaGetLastError() == expected);
    NEED(cudaRuntimeGetVersion(&value) == cudaSuccess && value == 13000);
    return 0;
}

static int no_driver(void)
{
    int version = 77;
    expected = cudaErrorInsufficientDriver;
    NEED(all_answer() == 0);
    NEED(cudaDriverGetVersion(&version) == cudaSuccess && version == 0);
    return 0;
}

static int old_driver(void)
{
    int version = 77;
    expected = cudaErrorInsufficientDriver;
    NEED(all_answer() == 0);
    NEED(cudaDriverGetVersion(&version) == cudaSuccess && version == 12090);
    return 0;
}

static int mute_driver(void)
{
    expected = cudaErrorInsufficientDriver;
    return all_answer();
}

static int no_device(void)
{
    expected = cudaErrorNoDevice;
    return all_answer();
}

static int stub(void)
{
    expected = cudaErrorStubLibrary;
    return all_answer();
}

static int unknown_code(void)
{
    expected = cudaErrorUnknown;
    return all_answer();
}

/* If the driver lacks a function, only the call that needs it fails. */
static int small_driver(void)
{
    int value = 0;
    NEED(cudaGetDeviceCount(&value) == cudaSuccess && value == 1);
    NEED(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0) == cudaErrorCallRequiresNewerDriver);
    NEED(cudaSetDevice(0) == cudaErrorCallRequiresNewerDriver);
    NEED(cudaGetLastError() == cudaErrorCallRequiresNewerDriver && cudaGetLastError() == cudaSuccess);
    return 0;
}

/* ---- the end of a process ---- */

static void *memory;
static int ends;

static void use_late(void)
{
    int device;
    bool closed = cudaFree(memory) == cudaErrorCudartUnloading && cudaGetDevice(&device) == cudaErrorCudartUnloading &&
                  cudaSetDevice(1) == cudaErrorCudartUnloading && cudaGetLastError() == cudaErrorCudartUnloading;
    _exit(closed && ends == 1 ? 0 : 5);
}

static void use_early(void)
{
    ends += cudaFree(memory) == cudaSuccess && cudaMalloc(&memory, 1) == cudaSuccess;
}

/* An exit handler registered before the runtime's runs after the runtime has released its contexts, one registered
 * later runs before. */
static int handlers(void)
{
    NEED(atexit(use_late) == 0);
    NEED(cudaMalloc(&memory, 1 << 20) == cudaSuccess);
    NEED(atexit(use_early) == 0);
    return 0;
}

/* At the end the simulator reports leaks to standard error, which is a file here. */
static int says_no_leak(const char *file, int (*body)(void))
{
    char said[4096] = "";
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        setenv("CUVMM_EXPLAIN", "1", 1);
        exit(freopen(file, "w", stderr) && body() == 0 ? 0 : 1);
    }
    int status = -1;
    NEED(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    FILE *in = fopen(file, "r");
    NEED(in);
    size_t size = fread(said, 1, sizeof said - 1, in);
    fclose(in);
    unlink(file);
    if (size)
        printf("# %s\n", said);
    return strstr(said, "VMM-") != NULL;
}

static int frees_its_memory(void)
{
    void *p = NULL;
    NEED(cudaSetDevice(1) == cudaSuccess && cudaMalloc(&p, 1 << 20) == cudaSuccess && cudaFree(p) == cudaSuccess);
    NEED(cudaSetDevice(0) == cudaSuccess && cudaMalloc(&p, 1 << 20) == cudaSuccess && cudaFree(p) == cudaSuccess);
    pid_t child = fork();
    if (child == 0)
        exit(0); /* does not release its parent's contexts */
    NEED(child > 0 && waitpid(child, NULL, 0) == child);
    return 0;
}

static int resets(void)
{
    void *p = NULL;
    NEED(cudaMalloc(&p, 1 << 20) == cudaSuccess && cudaDeviceReset() == cudaSuccess);
    return 0;
}

static int keeps_addresses(void)
{
    CUdeviceptr at = 0;
    NEED(cudaFree(NULL) == cudaSuccess && cuMemAddressReserve(&at, (size_t)2 << 20, 0, 0, 0) == CUDA_SUCCESS);
    return 0;
}

static void *allocate_there(void *unused)
{
    void *p = NULL;
    (void)unused;
    return cudaSetDevice(1) == cudaSuccess && cudaMalloc(&p, 1 << 20) == cudaSuccess && cudaFree(p) == cudaSuccess ? NULL : &memory;
}

static int uses_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        NEED(pthread_create(&threads[i], NULL, allocate_there, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        void *wrong = &memory;
        NEED(pthread_join(threads[i], &wrong) == 0 && !wrong);
    }
    return 0;
}

static void test_leaks(void)
{
    char file[] = "/tmp/rt_driver_test.XXXXXX";
    int made = mkstemp(file);
    tap_ok(made >= 0 && close(made) == 0, "a file for what is said");
    EQUAL(says_no_leak(file, frees_its_memory), 0);
    EQUAL(says_no_leak(file, resets), 0);
    EQUAL(says_no_leak(file, uses_threads), 0);
    tap_ok(says_no_leak(file, keeps_addresses) > 0, "a leak is reported");
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    in_child("/nonexistent", "0", "0", no_driver, "no driver");
    in_child(RT_FAKE_DRIVER, "12090", "0", old_driver, "a driver of CUDA 12");
    in_child(RT_FAKE_DRIVER, "-1", "0", mute_driver, "a driver that does not return its version");
    in_child(RT_FAKE_DRIVER, "13000", "100", no_device, "a driver without devices");
    in_child(RT_FAKE_DRIVER, "13000", "34", stub, "a stub of a driver");
    in_child(RT_FAKE_DRIVER, "13000", "12345", unknown_code, "a code that the runtime has no name for");
    in_child(RT_FAKE_DRIVER, "13010", "0", small_driver, "a driver without most functions");
    in_child(NULL, "0", "0", handlers, "handlers at the end");
    test_leaks();
    return tap_done();
}
