/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's device and last error, through the exported functions. */
#include <pthread.h>

#include "testing/rt_rig.h"

/* The forms whose stream 0 is the per-thread default stream. */
cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **funcPtr, unsigned long long flags,
                                         enum cudaDriverEntryPointQueryResult *driverStatus);
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **funcPtr, unsigned int cudaVersion, unsigned long long flags,
                                                  enum cudaDriverEntryPointQueryResult *driverStatus);

static void test_versions(void)
{
    int version = 0;
    OK(cudaDriverGetVersion(&version));
    EQUAL(version, 13000);
    OK(cudaRuntimeGetVersion(&version));
    EQUAL(version, 13000);
    REFUSED(cudaDriverGetVersion(NULL), ErrorInvalidValue);
    REFUSED(cudaRuntimeGetVersion(NULL), ErrorInvalidValue);
}

static void test_device(void)
{
    int count = 0, device = -1;
    OK(cudaGetDeviceCount(&count));
    EQUAL(count, 2);
    OK(cudaGetDevice(&device));
    EQUAL(device, 0);
    OK(cudaSetDevice(1));
    OK(cudaGetDevice(&device));
    EQUAL(device, 1);
    REFUSED(cudaSetDevice(2), ErrorInvalidDevice);
    REFUSED(cudaSetDevice(-1), ErrorInvalidDevice);
    OK(cudaGetDevice(&device));
    EQUAL(device, 1);
    REFUSED(cudaGetDevice(NULL), ErrorInvalidValue);
    REFUSED(cudaGetDeviceCount(NULL), ErrorInvalidValue);
}

static void *other_thread(void *unused)
{
    int device = -1;
    (void)unused;
    OK(cudaGetDevice(&device));
    EQUAL(device, 0);
    IS(cudaPeekAtLastError(), Success);
    return NULL;
}

/* Each thread has a device and a last error of its own. */
static void test_threads(void)
{
    pthread_t thread;
    IS(cudaSetDevice(9), ErrorInvalidDevice);
    tap_ok(!pthread_create(&thread, NULL, other_thread, NULL), "a second thread");
    pthread_join(thread, NULL);
    IS(cudaGetLastError(), ErrorInvalidDevice);
}

/* Both APIs share the primary context. */
static void test_driver(void)
{
    CUcontext context = NULL, own = NULL;
    CUdevice device = -1;
    OK(cudaSetDevice(1));
    EQUAL(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    EQUAL(cuCtxGetDevice(&device), CUDA_SUCCESS);
    EQUAL(device, 1);
    EQUAL(cuCtxCreate_v2(&own, 0, 0), CUDA_SUCCESS);
    OK(cudaGetDevice(&device));
    EQUAL(device, 0);
    EQUAL(cuCtxDestroy(own), CUDA_SUCCESS);
    OK(cudaGetDevice(&device));
    EQUAL(device, 1);
}

static void test_texts(void)
{
    tap_text(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation", "a code's name");
    tap_text(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory", "a code's text");
    tap_text(cudaGetErrorName((cudaError_t)2000), "unrecognized error code", "no code's name");
    tap_text(cudaGetErrorString((cudaError_t)-1), "unrecognized error code", "no code's text");
}


static void test_properties(void)
{
    struct cudaDeviceProp prop;
    CUuuid uuid;
    size_t bytes = 0;
    char name[256] = "";
    memset(&prop, 0x77, sizeof prop);
    OK(cudaGetDeviceProperties(&prop, 1));
    EQUAL(cuDeviceGetName(name, sizeof name, 1), CUDA_SUCCESS);
    tap_text(prop.name, name, "its name");
    EQUAL(cuDeviceGetUuid(&uuid, 1), CUDA_SUCCESS);
    tap_ok(memcmp(&uuid, &prop.uuid, sizeof uuid) == 0, "its UUID");
    EQUAL(cuDeviceTotalMem(&bytes, 1), CUDA_SUCCESS);
    EQUAL(prop.totalGlobalMem, bytes);
    EQUAL(prop.major, 9);
    EQUAL(prop.minor, 0);
    EQUAL(prop.multiProcessorCount, 132);
    EQUAL(prop.warpSize, 32);
    EQUAL(prop.maxThreadsDim[2], 64);
    EQUAL(prop.memPitch, 2147483647);
    EQUAL(prop.totalConstMem, 65536);
    EQUAL(prop.sharedMemPerBlockOptin, 232448);
    EQUAL(prop.clusterLaunch, 1);
    EQUAL(prop.unifiedFunctionPointers, 1);
    EQUAL(prop.luidDeviceNodeMask, 0);
    EQUAL(prop.reserved[55], 0);
    memset(&prop, 0x77, sizeof prop);
    REFUSED(cudaGetDeviceProperties(&prop, 2), ErrorInvalidDevice);
    EQUAL(prop.name[0], 0x77);
    REFUSED(cudaGetDeviceProperties(NULL, 0), ErrorInvalidValue);
}

static void test_choice(void)
{
    struct cudaDeviceProp prop;
    int device = -1;
    memset(&prop, 0, sizeof prop);
    OK(cudaChooseDevice(&device, &prop));
    EQUAL(device, 0);
    prop.pciBusID = 1;
    OK(cudaGetDeviceProperties(&prop, 1));
    prop.totalGlobalMem *= 2;
    device = -1;
    OK(cudaChooseDevice(&device, &prop));
    tap_ok(device == 0 || device == 1, "a device is chosen");
    REFUSED(cudaChooseDevice(NULL, &prop), ErrorInvalidValue);
    REFUSED(cudaChooseDevice(&device, NULL), ErrorInvalidValue);
}

static void test_attributes(void)
{
    char bus[32] = "";
    int value = 0, device = -1;
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EQUAL(value, 132);
    REFUSED(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)0, 0), ErrorInvalidValue);
    REFUSED(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0), ErrorInvalidValue);
    REFUSED(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 2), ErrorInvalidDevice);
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
    OK(cudaDeviceGetByPCIBusId(&device, bus));
    EQUAL(device, 1);
    REFUSED(cudaDeviceGetPCIBusId(bus, 5, 1), ErrorInvalidValue);
    REFUSED(cudaDeviceGetPCIBusId(bus, sizeof bus, 7), ErrorInvalidDevice);
    REFUSED(cudaDeviceGetByPCIBusId(&device, "nonsense"), ErrorInvalidValue);
    REFUSED(cudaDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"), ErrorInvalidDevice);
    REFUSED(cudaDeviceGetByPCIBusId(NULL, bus), ErrorInvalidValue);
}

static void test_settings(void)
{
    size_t size = 0;
    int least = 7, greatest = 7;
    enum cudaFuncCache cache = cudaFuncCachePreferNone;
    enum cudaSharedMemConfig config = cudaSharedMemBankSizeEightByte;
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    OK(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    EQUAL(size, 4096);
    REFUSED(cudaDeviceGetLimit(NULL, cudaLimitStackSize), ErrorInvalidValue);
    REFUSED(cudaDeviceGetLimit(&size, cudaLimitDevRuntimeSyncDepth), ErrorUnsupportedLimit);
    REFUSED(cudaDeviceSetLimit((enum cudaLimit)99, 1), ErrorInvalidValue);
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    OK(cudaDeviceGetCacheConfig(&cache));
    EQUAL(cache, cudaFuncCachePreferShared);
    REFUSED(cudaDeviceSetCacheConfig((enum cudaFuncCache)9), ErrorInvalidValue);
    OK(cudaDeviceGetSharedMemConfig(&config));
    EQUAL(config, cudaSharedMemBankSizeFourByte);
    OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeDefault));
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EQUAL(least, 0);
    EQUAL(greatest, -5);
    OK(cudaDeviceGetStreamPriorityRange(NULL, NULL));
    OK(cudaCtxResetPersistingL2Cache());
    OK(cudaProfilerStart());
    OK(cudaProfilerStop());
}

static void test_peers(void)
{
    int value = -1;
    OK(cudaSetDevice(0));
    OK(cudaDeviceCanAccessPeer(&value, 0, 1));
    EQUAL(value, 1);
    REFUSED(cudaDeviceCanAccessPeer(&value, 0, 2), ErrorInvalidDevice);
    OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    EQUAL(value, 1);
    REFUSED(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0), ErrorInvalidDevice);
    REFUSED(cudaDeviceDisablePeerAccess(1), ErrorPeerAccessNotEnabled);
    REFUSED(cudaDeviceDisablePeerAccess(3), ErrorInvalidDevice);
    REFUSED(cudaDeviceEnablePeerAccess(1, 1), ErrorInvalidValue);
    REFUSED(cudaDeviceEnablePeerAccess(0, 0), ErrorPeerAccessUnsupported);
    REFUSED(cudaDeviceEnablePeerAccess(2, 0), ErrorInvalidDevice);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    REFUSED(cudaDeviceEnablePeerAccess(1, 0), ErrorPeerAccessAlreadyEnabled);
    OK(cudaDeviceDisablePeerAccess(1));
    REFUSED(cudaDeviceDisablePeerAccess(1), ErrorPeerAccessNotEnabled);
}

static void test_flags(void)
{
    unsigned flags = 77;
    CUcontext own = NULL;
    OK(cudaDeviceReset());
    EQUAL(cuCtxSetCurrent(NULL), CUDA_SUCCESS);
    OK(cudaGetDeviceFlags(&flags));
    EQUAL(flags & ~(unsigned)cudaDeviceScheduleMask, cudaDeviceMapHost);
    OK(cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceMapHost));
    OK(cudaGetDeviceFlags(&flags));
    EQUAL(flags, cudaDeviceScheduleYield | cudaDeviceMapHost);
    REFUSED(cudaSetDeviceFlags(3), ErrorInvalidValue);
    REFUSED(cudaSetDeviceFlags(0x200), ErrorInvalidValue);
    REFUSED(cudaGetDeviceFlags(NULL), ErrorInvalidValue);
    EQUAL(cuCtxCreate_v2(&own, CU_CTX_SCHED_SPIN, 0), CUDA_SUCCESS);
    OK(cudaGetDeviceFlags(&flags));
    EQUAL(flags & 7u, cudaDeviceScheduleSpin);
    EQUAL(cuCtxDestroy(own), CUDA_SUCCESS);
    OK(cudaInitDevice(1, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid));
    OK(cudaInitDevice(0, 77, 0));
    OK(cudaInitDevice(0, 77, 2));
    REFUSED(cudaInitDevice(2, 0, 0), ErrorInvalidDevice);
    REFUSED(cudaInitDevice(0, 7, cudaInitDeviceFlagsAreValid), ErrorInvalidValue);
    OK(cudaGetDeviceFlags(&flags));
    EQUAL(flags, cudaDeviceScheduleYield | cudaDeviceMapHost);
    OK(cudaSetDevice(1));
    OK(cudaGetDeviceFlags(&flags));
    EQUAL(flags, cudaDeviceScheduleBlockingSync | cudaDeviceMapHost);
    OK(cudaSetDevice(0));
}

static void *a_new_thread(void *device)
{
    void *p = NULL;
    int now = -1;
    OK(cudaGetDevice(&now));
    EQUAL(now, *(int *)device);
    OK(cudaMalloc(&p, 1));
    OK(cudaGetDevice(&now));
    EQUAL(now, *(int *)device);
    OK(cudaFree(p));
    return NULL;
}

static void expect_in_new_thread(int device)
{
    pthread_t thread;
    tap_ok(!pthread_create(&thread, NULL, a_new_thread, &device), "a thread begins");
    pthread_join(thread, NULL);
}

/* The device of a thread that sets none. */
static void test_valid_devices(void)
{
    int list[3] = {1, 0, 2};
    expect_in_new_thread(0);
    OK(cudaSetValidDevices(list, 2));
    expect_in_new_thread(1);
    REFUSED(cudaSetValidDevices(list, 3), ErrorInvalidValue);
    REFUSED(cudaSetValidDevices(NULL, 1), ErrorInvalidValue);
    REFUSED(cudaSetValidDevices(list, -1), ErrorInvalidValue);
    REFUSED(cudaSetValidDevices(&list[2], 1), ErrorInvalidDevice);
    expect_in_new_thread(1);
    OK(cudaSetValidDevices(NULL, 0));
    expect_in_new_thread(0);
}

static void test_entry_points(void)
{
    void *found = NULL, *wanted = NULL;
    enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointVersionNotSufficent;
    CUdriverProcAddressQueryResult query;
    OK(cudaGetDriverEntryPoint("cuMemAlloc", &found, cudaEnableDefault, &status));
    EQUAL(status, cudaDriverEntryPointSuccess);
    EQUAL(cuGetProcAddress("cuMemAlloc", &wanted, 13000, 0, &query), CUDA_SUCCESS);
    tap_ok(found && found == wanted, "the driver's own function");
    OK(cudaGetDriverEntryPoint("cuMemcpyAsync", &found, cudaEnablePerThreadDefaultStream, NULL));
    EQUAL(cuGetProcAddress("cuMemcpyAsync", &wanted, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &query), CUDA_SUCCESS);
    tap_ok(found && found == wanted, "its form for threads' own streams");
    OK(cudaGetDriverEntryPoint_ptsz("cuMemcpyAsync", &found, cudaEnableDefault, NULL));
    tap_ok(found == wanted, "which is the default of the form");
    OK(cudaGetDriverEntryPointByVersion_ptsz("cuMemcpyAsync", &found, 12000, cudaEnableLegacyStream, NULL));
    tap_ok(found && found != wanted, "unless the other is asked for");
    OK(cudaGetDriverEntryPointByVersion("cuMulticastCreate", &found, 11000, cudaEnableDefault, &status));
    EQUAL(status, cudaDriverEntryPointVersionNotSufficent);
    tap_ok(!found, "newer than the version");
    OK(cudaGetDriverEntryPointByVersion("cuNoSuchName", &found, 12000, cudaEnableDefault, &status));
    EQUAL(status, cudaDriverEntryPointSymbolNotFound);
    REFUSED(cudaGetDriverEntryPointByVersion("cuInit", &found, 13010, cudaEnableDefault, &status), ErrorInvalidValue);
    OK(cudaGetDriverEntryPoint("cuInit", &found, 3, &status));
    REFUSED(cudaGetDriverEntryPoint(NULL, &found, 0, &status), ErrorInvalidValue);
    REFUSED(cudaGetDriverEntryPoint("cuInit", NULL, 0, &status), ErrorInvalidValue);
}

static void test_tables(void)
{
    const cudaUUID_t id = {{0}};
    const void *table = &id;
    IS(cudaGetExportTable(&table, &id), ErrorUnknown);
    tap_ok(!table, "there is no table");
    IS(cudaGetExportTable(&table, &id), ErrorUnknown);
    IS(cudaGetExportTable(NULL, &id), ErrorInvalidValue);
    IS(cudaGetExportTable(&table, NULL), ErrorInvalidValue);
    IS(cudaGetLastError(), Success);
}

static int heard;

static void hear(void *data, cudaLogLevel level, char *message, size_t length)
{
    heard += data == &heard && level == cudaLogLevelError && message && length;
}

static void test_logs(void)
{
    cudaLogsCallbackHandle callback = NULL;
    cudaLogIterator now = 0;
    char text[2048] = "";
    size_t size = sizeof text;
    OK(cudaLogsCurrent(&now, 0));
    OK(cudaLogsRegisterCallback(hear, &heard, &callback));
    IS(cudaFree((void *)(uintptr_t)4096), ErrorInvalidValue);
    EQUAL(heard, 1);
    OK(cudaLogsUnregisterCallback(callback));
    OK(cudaLogsDumpToMemory(&now, text, &size, 0));
    tap_ok(size > 0 && text[0], "the log has the reason");
    OK(cudaLogsDumpToFile(NULL, "/dev/null", 0));
    REFUSED(cudaLogsCurrent(NULL, 0), ErrorInvalidValue);
    REFUSED(cudaLogsRegisterCallback(NULL, NULL, NULL), ErrorInvalidValue);
    REFUSED(cudaLogsDumpToMemory(NULL, NULL, NULL, 0), ErrorInvalidValue);
    REFUSED(cudaLogsDumpToFile(NULL, "/dev/null", 1), ErrorInvalidValue);
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    test_versions();
    test_device();
    test_threads();
    test_driver();
    test_texts();
    test_properties();
    test_choice();
    test_attributes();
    test_settings();
    test_peers();
    test_flags();
    test_valid_devices();
    test_entry_points();
    test_tables();
    test_logs();
    return tap_done();
}
