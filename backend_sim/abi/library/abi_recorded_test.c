/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, limits and captures as a driver answers (conformance/recorded/facts, answers). */
#include <pthread.h>

#include "testing/rig.h"

/* ---- limits ---- */

static size_t limit_after(CUlimit limit, size_t size)
{
    size_t value = 77;
    OK(cuCtxSetLimit(limit, size));
    OK(cuCtxGetLimit(&value, limit));
    return value;
}

static void test_limits(void)
{
    size_t value = 0;
    OK(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
    EQUAL(value, 8650752);
    OK(cuCtxGetLimit(&value, CU_LIMIT_PERSISTING_L2_CACHE_SIZE));
    EQUAL(value, 9830400);
    OK(cuCtxGetLimit(&value, CU_LIMIT_SHMEM_SIZE));
    EQUAL(value, 232448);
    OK(cuCtxGetLimit(&value, CU_LIMIT_CIG_ENABLED));
    EQUAL(value, 0);
    IS(cuCtxGetLimit(&value, CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED), ERROR_UNSUPPORTED_LIMIT);
    IS(cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 1), ERROR_NOT_PERMITTED);
    EQUAL(limit_after(CU_LIMIT_STACK_SIZE, 4097), 4112);
    EQUAL(limit_after(CU_LIMIT_STACK_SIZE, 4111), 4111); /* uses the same amount of memory, so it is reported as it was set */
    EQUAL(limit_after(CU_LIMIT_STACK_SIZE, 4095), 4096);
    IS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 524288), ERROR_INVALID_VALUE);
    IS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1000000000), ERROR_INVALID_VALUE);
    EQUAL(limit_after(CU_LIMIT_PRINTF_FIFO_SIZE, 1), 524288);
    EQUAL(limit_after(CU_LIMIT_MALLOC_HEAP_SIZE, 16777217), 16842752);
    EQUAL(limit_after(CU_LIMIT_MALLOC_HEAP_SIZE, SIZE_MAX), 0); /* rounding up wraps around */
    EQUAL(limit_after(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 1), 32);
    EQUAL(limit_after(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 1 << 20), 599186);
    EQUAL(limit_after(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1), 3276800);
    EQUAL(limit_after(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 128), 128);
    IS(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129), ERROR_INVALID_VALUE);
}

/* ---- settings ---- */

static void test_settings(void)
{
    unsigned flags = 0;
    CUsharedconfig banks = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
    OK(cuCtxSetFlags(CU_CTX_SCHED_SPIN | CU_CTX_COREDUMP_ENABLE));
    OK(cuCtxGetFlags(&flags));
    EQUAL(flags, CU_CTX_SCHED_SPIN | CU_CTX_MAP_HOST);
    IS(cuCtxSetFlags(CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD), ERROR_INVALID_VALUE);
    IS(cuCtxSetFlags(256), ERROR_INVALID_VALUE);
    IS(cuDevicePrimaryCtxSetFlags(0, CU_CTX_MAP_HOST), ERROR_INVALID_VALUE);
    IS(cuDevicePrimaryCtxSetFlags(0, 3), ERROR_INVALID_VALUE);
    IS(cuCtxCreate(&(CUcontext){NULL}, NULL, 3, 0), ERROR_INVALID_VALUE);
    OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    OK(cuCtxGetSharedMemConfig(&banks));
    EQUAL(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    IS(cuCtxGetSharedMemConfig(NULL), ERROR_INVALID_VALUE);
}

/* ---- attributes ---- */

static int attribute(CUdevice_attribute which, CUdevice device)
{
    int value = -77;
    OK(cuDeviceGetAttribute(&value, which, device));
    return value;
}

static void test_attributes(void)
{
    EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 0), 65536);
    EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 0), 2046);
    EQUAL(attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0), 1980000);
    EQUAL(attribute(CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0), 1);
    EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0), 1);
    EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID, 0), 0);
}

/* ---- functions ---- */

static void test_functions(void)
{
    CUmodule module;
    CUfunction f, none = NULL;
    CUlibrary library;
    CUkernel kernel;
    const char *name = NULL;
    int value = 0;
    size_t size = 0;
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&f, module, "fill_span"));
    OK(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "fill_span"));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    EQUAL(value, 49152);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, f));
    EQUAL(value, -1);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 2));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, f));
    EQUAL(value, 1);
    IS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 3), ERROR_INVALID_VALUE);
    IS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449), ERROR_INVALID_VALUE);
    IS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1), ERROR_INVALID_VALUE);
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&size, f, 1, 256));
    EQUAL(size, 49152);
    IS(cuFuncSetCacheConfig(f, (CUfunc_cache)4), ERROR_INVALID_VALUE);
    IS(cuFuncSetCacheConfig(f, (CUfunc_cache)-1), ERROR_INVALID_VALUE);
    IS(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 9), ERROR_INVALID_DEVICE);
    IS(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL, 9), ERROR_INVALID_HANDLE);
    IS(cuKernelGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0), ERROR_INVALID_VALUE);
    IS(cuKernelGetName(&name, NULL), ERROR_INVALID_VALUE);
    IS(cuFuncGetName(&name, NULL), ERROR_INVALID_VALUE);
    IS(cuFuncGetModule(&module, NULL), ERROR_INVALID_VALUE);
    none = f;
    IS(cuModuleGetFunction(&none, module, "no such kernel"), ERROR_NOT_FOUND);
    tap_ok(none == NULL, "a missing function is returned as 0");
    IS(cuModuleGetFunction(&none, NULL, "fill_span"), ERROR_INVALID_HANDLE);
}

/* ---- captures ---- */

/* The status after a call that a graph cannot hold, while the stream is captured. */
static CUstreamCaptureStatus status_after(CUstream stream, CUstreamCaptureMode mode, CUresult want)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUdeviceptr p = 7;
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture(stream, mode));
    EQUAL(cuMemAlloc(&p, 4096), want);
    OK(cuStreamIsCapturing(stream, &status));
    if (want == CUDA_SUCCESS)
        OK(cuMemFree(p));
    else
        EQUAL(p, 0);
    EQUAL(cuStreamEndCapture(stream, &graph), want == CUDA_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    tap_ok((graph != NULL) == (want == CUDA_SUCCESS), "only a valid capture yields a graph");
    if (graph)
        OK(cuGraphDestroy(graph));
    return status;
}

static void *begin_elsewhere(void *stream)
{
    CUcontext context;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuStreamBeginCapture((CUstream)stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    return NULL;
}

static void test_captures(void)
{
    CUstream stream;
    CUstreamCaptureStatus status;
    CUdeviceptr p = 0;
    size_t pitch = 0;
    unsigned flags = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EQUAL(status_after(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
          CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EQUAL(status_after(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
          CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EQUAL(status_after(stream, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuCtxSynchronize(), ERROR_STREAM_CAPTURE_UNSUPPORTED); /* in any mode */
    IS(cuCtxSynchronize(), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    IS(cuMemAllocPitch(&p, &pitch, 100, 1, 4), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EQUAL(pitch, 512);
    IS(cuStreamGetFlags(stream, &flags), ERROR_STREAM_CAPTURE_UNSUPPORTED); /* and not INVALIDATED, like work on the stream */
    IS(cuMemsetD8Async(p, 1, 1, stream), ERROR_STREAM_CAPTURE_INVALIDATED);
    IS(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    IS(cuStreamEndCapture(NULL, NULL), ERROR_ILLEGAL_STATE);
    pthread_t thread; /* another thread's capture does not count here */
    pthread_create(&thread, NULL, begin_elsewhere, stream);
    pthread_join(thread, NULL);
    OK(cuMemAlloc(&p, 64));
    OK(cuStreamIsCapturing(stream, &status));
    EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemFree(p));
}

int main(void)
{
    CUcontext context;
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    test_limits();
    test_settings();
    test_attributes();
    test_functions();
    test_captures();
    return tap_done();
}
