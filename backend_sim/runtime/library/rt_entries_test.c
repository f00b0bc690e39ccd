/* SPDX-License-Identifier: Apache-2.0 */
/* Every entry point without a driver, and the device calls on a driver with nothing but contexts. */
#include <dlfcn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rt_rig.h"

typedef int (*entry_point)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static const char *const names[] = {
#define IF_BOTH(symbol) #symbol,
#define IF_IN13(symbol) #symbol,
#define IF_IN12(symbol)
#define IF_DONE(symbol, libraries) IF_##libraries(symbol)
#define IF_ABSENT(symbol, libraries)
#define RT_ENTRY(symbol, libraries, here) IF_##here(symbol, libraries)
#include "runtime_entries.def"
};

/* Functions called by compiled code do not return an error code; texts, versions and tables need no driver. */
static bool is_other(const char *name)
{
    static const char *const others[] = {"cudaGetErrorName", "cudaGetErrorString", "cudaRuntimeGetVersion", "cudaDriverGetVersion",
                                         "cudaGetExportTable", "cudaCreateChannelDesc"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return strncmp(name, "__", 2) == 0;
}

/* Runs in a child, because a process looks for its driver only once. */
static void in_child(const char *library, int (*body)(void), const char *what)
{
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        alarm(20);
        setenv("CUVMM_LIBCUDA", library, 1);
        setenv("FAKE_VERSION", "13000", 1);
        setenv("FAKE_CONTEXT", "1", 1);
        exit(body() ? 1 : 0);
    }
    bool ended = child > 0 && waitpid(child, &status, 0) == child;
    tap_ok(ended && status == 0, "%s: status 0x%x", what, (unsigned)status);
}

/* As the toolkit's libraries do, regardless of the arguments. */
static int all_need_a_driver(void)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *symbol = dlsym(RTLD_DEFAULT, names[i]);
        entry_point call;
        memcpy(&call, &symbol, sizeof call);
        int result = !symbol ? -1 : is_other(names[i]) ? (int)cudaErrorInsufficientDriver : call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        if (result != (int)cudaErrorInsufficientDriver && ++wrong)
            printf("# %s answers %d\n", names[i], result);
    }
    return wrong;
}

#define NEEDS_NEWER(call)                                                        \
    do {                                                                         \
        cudaError_t result_ = (call);                                            \
        if (result_ != cudaErrorCallRequiresNewerDriver && ++wrong)              \
            printf("# %s answers %s\n", #call, cudaGetErrorName(result_));       \
    } while (0)

/* A call that needs a missing driver function is refused. */
static int devices_need_their_functions(void)
{
    int wrong = 0, value = 0, list[] = {0};
    unsigned flags = 0;
    size_t size = 0;
    char bus[16];
    void *found = NULL;
    struct cudaDeviceProp prop;
    enum cudaFuncCache cache;
    enum cudaSharedMemConfig config;
    cudaLogsCallbackHandle callback;
    cudaLogIterator at = 0;
    if (cudaGetDevice(&value) != cudaSuccess)
        return 1;
    NEEDS_NEWER(cudaSetDevice(0));
    NEEDS_NEWER(cudaDeviceSynchronize());
    NEEDS_NEWER(cudaSetDeviceFlags(0));
    NEEDS_NEWER(cudaGetDeviceFlags(&flags));
    NEEDS_NEWER(cudaInitDevice(0, 0, 0));
    NEEDS_NEWER(cudaInitDevice(0, 0, cudaInitDeviceFlagsAreValid));
    NEEDS_NEWER(cudaGetDeviceProperties(&prop, 0));
    memset(&prop, 0, sizeof prop);
    NEEDS_NEWER(cudaChooseDevice(&value, &prop));
    NEEDS_NEWER(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    NEEDS_NEWER(cudaDeviceGetByPCIBusId(&value, "0:0"));
    NEEDS_NEWER(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    NEEDS_NEWER(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
    NEEDS_NEWER(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    NEEDS_NEWER(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
    NEEDS_NEWER(cudaDeviceGetCacheConfig(&cache));
    NEEDS_NEWER(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeDefault));
    NEEDS_NEWER(cudaDeviceGetSharedMemConfig(&config));
    NEEDS_NEWER(cudaDeviceGetStreamPriorityRange(&value, &value));
    NEEDS_NEWER(cudaCtxResetPersistingL2Cache());
    NEEDS_NEWER(cudaDeviceCanAccessPeer(&value, 0, 1));
    NEEDS_NEWER(cudaDeviceEnablePeerAccess(1, 0));
    NEEDS_NEWER(cudaDeviceDisablePeerAccess(1));
    NEEDS_NEWER(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    NEEDS_NEWER(cudaGetDriverEntryPoint("cuInit", &found, 0, NULL));
    NEEDS_NEWER(cudaGetDriverEntryPointByVersion("cuInit", &found, 12000, 0, NULL));
    NEEDS_NEWER(cudaProfilerStart());
    NEEDS_NEWER(cudaProfilerStop());
    NEEDS_NEWER(cudaLogsRegisterCallback(NULL, NULL, &callback));
    NEEDS_NEWER(cudaLogsUnregisterCallback(NULL));
    NEEDS_NEWER(cudaLogsCurrent(&at, 0));
    NEEDS_NEWER(cudaLogsDumpToFile(&at, "/dev/null", 0));
    NEEDS_NEWER(cudaLogsDumpToMemory(&at, bus, &size, 0));
    if (cudaSetValidDevices(list, 1) != cudaSuccess)
        wrong++;
    return wrong;
}

/* A missing entry point is refused, and that is the last error. */
static void test_absent(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "cudaCreateTextureObject");
    entry_point call;
    memcpy(&call, &symbol, sizeof call);
    tap_ok(symbol != NULL, "an unimplemented entry point has a symbol");
    for (int i = 0; i < 2; i++) {
        EQUAL(call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), cudaErrorNotSupported);
        IS(cudaGetLastError(), ErrorNotSupported);
    }
}

int main(void)
{
    in_child("/nonexistent", all_need_a_driver, "every entry point needs a driver");
    in_child(RT_FAKE_DRIVER, devices_need_their_functions, "those of devices need its functions");
    test_absent();
    return tap_done();
}
