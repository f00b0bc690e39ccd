/* SPDX-License-Identifier: Apache-2.0 */
/* Edge values of each argument of libcuda.so.1's entry points, one at a time: which are refused, with which code, and without
 * writing outputs. */
#include <limits.h>
#include <unistd.h>

#include "testing/rig.h"

static CUmodule module;
static CUcontext context;

static CUfunction function(const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

/* ---- memory ---- */

static void test_pitch(void)
{
    CUdeviceptr p = 0x77;
    size_t pitch = 0x77;
    IS(cuMemAllocPitch(NULL, &pitch, 100, 10, 4), ERROR_INVALID_VALUE);
    IS(cuMemAllocPitch(&p, NULL, 100, 10, 4), ERROR_INVALID_VALUE);
    IS(cuMemAllocPitch(&p, &pitch, 100, 10, 5), ERROR_INVALID_VALUE);
    IS(cuMemAllocPitch(&p, &pitch, 0, 10, 4), ERROR_INVALID_VALUE);
    IS(cuMemAllocPitch(&p, &pitch, 100, 0, 4), ERROR_INVALID_VALUE);
    IS(cuMemAllocPitch(&p, &pitch, SIZE_MAX, 1, 4), ERROR_INVALID_VALUE);
    IS(cuMemAllocPitch(&p, &pitch, 100, SIZE_MAX, 4), ERROR_OUT_OF_MEMORY);
    tap_ok(p == 0 && pitch == 512, "no address, but the pitch is returned");
    IS(cuMemAllocPitch(&p, &pitch, 100, (size_t)1 << 50, 8), ERROR_OUT_OF_MEMORY);
    IS(cuMemAllocPitch(&p, &pitch, 100, 10, 5), ERROR_INVALID_VALUE);
    EQUAL(pitch, 0);
    static const unsigned elements[] = {4, 8, 16};
    for (size_t i = 0; i < 3; i++) {
        OK(cuMemAllocPitch(&p, &pitch, 513, 3, elements[i]));
        EQUAL(pitch, 1024);
        OK(cuMemFree(p));
    }
}

static void test_registered(void)
{
    static _Alignas(4096) char bytes[8192];
    CUdeviceptr p = (CUdeviceptr)(uintptr_t)bytes;
    unsigned value = 77;
    OK(cuMemHostRegister(bytes, sizeof bytes, 0));
    OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 5));
    EQUAL(value, CU_MEMORYTYPE_HOST);
    IS(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), ERROR_INVALID_VALUE);
    IS(cuPointerGetAttribute(&value, (CUpointer_attribute)9999, p), ERROR_INVALID_VALUE);
    IS(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + sizeof bytes), ERROR_INVALID_VALUE);
    EQUAL(value, CU_MEMORYTYPE_HOST);
    OK(cuMemHostUnregister(bytes));
}

static void test_copies(void)
{
    char here[64] = "from", there[64] = "";
    CUdeviceptr p = 0;
    CUcontext gone = NULL;
    OK(cuMemAlloc(&p, 4096));
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)there, (CUdeviceptr)(uintptr_t)here, 5));
    tap_text(there, "from", "a copy between two host buffers");
    IS(cuMemcpy((CUdeviceptr)(uintptr_t)there, 8, 5), ERROR_INVALID_VALUE);
    IS(cuMemcpy(8, (CUdeviceptr)(uintptr_t)here, 5), ERROR_INVALID_VALUE);
    OK(cuMemcpy(8, 8, 0));
    tap_text(there, "from", "an address in the first page is refused");
    OK(cuCtxCreate(&gone, NULL, 0, 0));
    OK(cuCtxDestroy(gone));
    OK(cuCtxSetCurrent(context));
    OK(cuMemcpyPeer(p, context, p + 64, context, 64));
    IS(cuMemcpyPeer(p, context, p + 64, gone, 64), ERROR_INVALID_CONTEXT);
    IS(cuMemcpyPeer(p, gone, p + 64, context, 64), ERROR_INVALID_CONTEXT);
    IS(cuMemcpyPeer(p, context, p + 64, (CUcontext)(uintptr_t)0x99, 64), ERROR_INVALID_CONTEXT);
    OK(cuMemcpyPeer(p, NULL, p + 64, context, 64)); /* 0 means the current context */
    OK(cuMemsetD8(p, 4, 128));
    OK(cuMemsetD8(p + 64, 5, 64));
    IS(cuMemcpyPeerAsync(p, context, p + 64, gone, 64, NULL), ERROR_INVALID_CONTEXT);
    OK(cuCtxSynchronize());
    EQUAL(byte_at(p), 4);
    OK(cuMemFree(p));
}

static void test_rows(void)
{
    CUdeviceptr p = 0;
    char here[64] = {1, 2, 3, 4, 5, 6, 7, 8}, back[64] = {0};
    OK(cuMemAlloc(&p, 4096));
    OK(cuMemsetD8(p, 9, 4096));
    const CUDA_MEMCPY2D whole = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = here, .srcPitch = 8,
                                 .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = p, .dstPitch = 8,
                                 .WidthInBytes = 4, .Height = 2};
    CUDA_MEMCPY2D copy = whole;
    IS(cuMemcpy2D(NULL), ERROR_INVALID_VALUE);
    copy.dstXInBytes = SIZE_MAX - 1;
    IS(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    copy = whole;
    copy.dstXInBytes = SIZE_MAX - 8;
    copy.dstPitch = 0;
    IS(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    copy = whole;
    copy.dstY = 1 << 20; /* past the allocation's end */
    IS(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    copy = whole;
    copy.srcMemoryType = (CUmemorytype)77;
    IS(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    copy = whole;
    copy.WidthInBytes = 0;
    OK(cuMemcpy2D(&copy));
    EQUAL(byte_at(p), 9);
    copy = whole;
    copy.srcPitch = copy.dstPitch = 0; /* rows without gaps */
    OK(cuMemcpy2DUnaligned(&copy));
    OK(cuMemcpyDtoH(back, p, 9));
    tap_ok(!memcmp(back, here, 8) && back[8] == 9, "two rows of four bytes are copied");
    OK(cuMemFree(p));
}

/* ---- devices and contexts ---- */

static void test_devices(void)
{
    int value = 77;
    CUdevice device = 77;
    char text[13] = "";
    unsigned mask = 7;
    IS(cuDeviceGetLuid(text, &mask, 0), ERROR_NOT_SUPPORTED);
    IS(cuDeviceGetLuid(text, &mask, 2), ERROR_INVALID_DEVICE);
    IS(cuDeviceGetLuid(text, NULL, 2), ERROR_INVALID_VALUE);
    IS(cuDeviceGetLuid(NULL, &mask, 2), ERROR_INVALID_VALUE);
    EQUAL(mask, 7);
    IS(cuDeviceGetPCIBusId(text, 12, 0), ERROR_INVALID_VALUE);
    IS(cuDeviceGetPCIBusId(text, 13, -1), ERROR_INVALID_DEVICE);
    OK(cuDeviceGetPCIBusId(text, 13, 1));
    OK(cuDeviceGetByPCIBusId(&device, text));
    EQUAL(device, 1);
    IS(cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 1), ERROR_INVALID_VALUE);
    IS(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 0), ERROR_INVALID_DEVICE);
    IS(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 2), ERROR_INVALID_DEVICE);
    IS(cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)99, 0, 1), ERROR_INVALID_VALUE);
    EQUAL(value, 77);
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 1));
    EQUAL(value, 0);
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 0, 1));
    EQUAL(value, 1);
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 0));
    EQUAL(value, 1);
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED, 0, 1));
    EQUAL(value, 0);
}

static void test_contexts(void)
{
    CUcontext made = NULL;
    CUexecAffinityParam affinity = {0};
    CUctxCreateParams params = {0};
    CUdevice device = 77;
    unsigned version = 0, flags = 77;
    unsigned long long id = 77;
    int active = 77;
    IS(cuCtxCreate_v3(&made, &affinity, 1, 0, 0), ERROR_UNSUPPORTED_EXEC_AFFINITY);
    params.execAffinityParams = &affinity;
    params.numExecAffinityParams = 1;
    IS(cuCtxCreate_v4(&made, &params, 0, 0), ERROR_UNSUPPORTED_EXEC_AFFINITY);
    tap_ok(!made, "no context is created for a part of a device");
    OK(cuCtxCreate_v3(&made, &affinity, 0, 0, 0));
    OK(cuCtxGetApiVersion(made, &version));
    EQUAL(version, 3020);
    OK(cuCtxDestroy(made));
    params.numExecAffinityParams = 0;
    OK(cuCtxCreate_v4(&made, &params, 0, 1));
    OK(cuCtxGetDevice_v2(&device, made));
    EQUAL(device, 1);
    IS(cuCtxGetDevice_v2(NULL, made), ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize_v2(made));
    OK(cuCtxSynchronize_v2(context));
    OK(cuCtxDestroy(made));
    OK(cuCtxSetCurrent(context));
    IS(cuCtxSynchronize_v2(made), ERROR_CONTEXT_IS_DESTROYED);
    IS(cuCtxGetId(context, NULL), ERROR_INVALID_VALUE);
    IS(cuCtxGetId((CUcontext)(uintptr_t)0x99, &id), ERROR_INVALID_CONTEXT);
    EQUAL(id, 77);
    IS(cuCtxGetApiVersion(context, NULL), ERROR_INVALID_VALUE);
    IS(cuDevicePrimaryCtxGetState(0, NULL, &active), ERROR_INVALID_VALUE);
    IS(cuDevicePrimaryCtxGetState(0, &flags, NULL), ERROR_INVALID_VALUE);
    IS(cuDevicePrimaryCtxGetState(7, &flags, &active), ERROR_INVALID_DEVICE);
    tap_ok(flags == 77 && active == 77, "the refused call writes nothing");
}

/* Pushes contexts up to the limit, and pops them all. */
static void test_stack(void)
{
    enum { DEPTH = 128 };
    CUcontext popped = NULL;
    int pushed = 0;
    while (pushed <= DEPTH && cuCtxPushCurrent(context) == CUDA_SUCCESS)
        pushed++;
    tap_ok(pushed == DEPTH - 1, "%d contexts are pushed on the current one", pushed);
    IS(cuCtxPushCurrent(context), ERROR_OUT_OF_MEMORY);
    while (pushed && cuCtxPopCurrent(NULL) == CUDA_SUCCESS)
        pushed--;
    OK(cuCtxPopCurrent(&popped));
    tap_ok(!pushed && popped == context, "all are popped again");
    IS(cuCtxPopCurrent(&popped), ERROR_INVALID_CONTEXT);
    IS(cuCtxPushCurrent(NULL), ERROR_INVALID_VALUE);
    IS(cuCtxPushCurrent((CUcontext)(uintptr_t)0x99), ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(context));
    IS(cuCtxPushCurrent((CUcontext)(uintptr_t)0x99), ERROR_INVALID_CONTEXT);
    CUcontext now = NULL;
    OK(cuCtxGetCurrent(&now));
    tap_ok(now == context, "an invalid context changes nothing");
}

static void test_peers(void)
{
    CUcontext other = NULL;
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    IS(cuCtxEnablePeerAccess(other, 1), ERROR_INVALID_VALUE);
    IS(cuCtxEnablePeerAccess((CUcontext)(uintptr_t)0x99, 0), ERROR_INVALID_CONTEXT);
    IS(cuCtxEnablePeerAccess(context, 0), ERROR_PEER_ACCESS_UNSUPPORTED);
    IS(cuCtxDisablePeerAccess(context), ERROR_PEER_ACCESS_NOT_ENABLED);
    IS(cuCtxDisablePeerAccess(other), ERROR_PEER_ACCESS_NOT_ENABLED);
    OK(cuCtxEnablePeerAccess(other, 0));
    IS(cuCtxEnablePeerAccess(other, 0), ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuCtxDisablePeerAccess(other));
    OK(cuDevicePrimaryCtxRelease(1));
    IS(cuCtxEnablePeerAccess(other, 0), ERROR_INVALID_CONTEXT);
}

/* ---- functions ---- */

static size_t shared_of(int threads)
{
    return threads > 64 ? 1 << 20 : 0;
}

static void test_functions(void)
{
    CUfunction f = function("gaps");
    size_t offset = 77, size = 77;
    int value = 77, grid = 77;
    OK(cuFuncGetParamInfo(f, 2, &offset, NULL));
    EQUAL(offset, 16);
    IS(cuFuncGetParamInfo(f, 2, NULL, &size), ERROR_INVALID_VALUE);
    IS(cuFuncGetParamInfo(f, 5, &offset, &size), ERROR_INVALID_VALUE);
    IS(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_PTX_VERSION, f), ERROR_INVALID_VALUE);
    IS(cuFuncGetAttribute(&value, (CUfunction_attribute)-1, f), ERROR_INVALID_VALUE);
    IS(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, f), ERROR_INVALID_VALUE);
    EQUAL(value, 77);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
    EQUAL(value, 90);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, f));
    EQUAL(value, 90);
    IS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PTX_VERSION, 1), ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, f));
    EQUAL(value, 50);
    IS(cuOccupancyAvailableDynamicSMemPerBlock(NULL, f, 1, 32), ERROR_INVALID_VALUE);
    IS(cuOccupancyAvailableDynamicSMemPerBlock(&size, f, 0, 32), ERROR_INVALID_VALUE);
    IS(cuOccupancyAvailableDynamicSMemPerBlock(&size, f, 1, 0), ERROR_INVALID_VALUE);
    IS(cuOccupancyAvailableDynamicSMemPerBlock(&size, f, 1, 1025), ERROR_INVALID_VALUE);
    IS(cuOccupancyAvailableDynamicSMemPerBlock(&size, f, 3, 1024), ERROR_INVALID_VALUE);
    EQUAL(size, 77);
    IS(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 32, 0), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxPotentialBlockSize(NULL, &value, f, NULL, 0, 0), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxPotentialBlockSize(&grid, NULL, f, NULL, 0, 0), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxPotentialBlockSize(&grid, &value, f, NULL, 0, -1), ERROR_INVALID_VALUE);
    tap_ok(grid == 77 && value == 50, "the refused call writes nothing");
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &value, f, NULL, 1 << 20, 0));
    tap_ok(!grid && !value, "no block fits with that much shared memory");
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &value, f, NULL, 0, 100));
    EQUAL(value, 64); /* the number of threads of 32 blocks, which 96 and 100 do not divide */
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &value, f, NULL, 0, 2000));
    EQUAL(value, 1024);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &value, f, shared_of, 0, 0));
    EQUAL(value, 64);
    IS(cuLaunchKernelEx(NULL, f, NULL, NULL), ERROR_INVALID_VALUE);
    const CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
                                   .numAttrs = 1};
    IS(cuLaunchKernelEx(&config, f, NULL, NULL), ERROR_INVALID_VALUE);
}

/* Options without values, values without options, and a size without a buffer. */
static void test_jit(void)
{
    CUmodule other = NULL;
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER};
    void *values[] = {(void *)8, NULL};
    OK(cuModuleLoadDataEx(&other, "ptx", 2, options, NULL));
    OK(cuModuleUnload(other));
    OK(cuModuleLoadDataEx(&other, "ptx", 2, NULL, values));
    tap_ok(values[0] == (void *)8, "an unknown option stays unchanged");
    OK(cuModuleUnload(other));
    OK(cuModuleLoadDataEx(&other, "ptx", 2, options, values));
    tap_ok(!values[0], "a missing buffer is not filled");
    OK(cuModuleUnload(other));
    values[0] = (void *)8;
    OK(cuModuleLoadDataEx(&other, "ptx", 1, options, values));
    tap_ok(!values[0], "nor is a buffer that was not passed");
    OK(cuModuleUnload(other));
}

/* ---- logs ---- */

static unsigned reported;
static bool calls_back;

static void hear(void *data, CUlogLevel level, char *message, size_t length)
{
    unsigned before = reported;
    if (length && calls_back)
        IS(cuMemFree(0x98), ERROR_INVALID_VALUE); /* which no callback receives */
    EQUAL(reported, before);
    reported += data == &reported && level == CU_LOG_LEVEL_ERROR && length == strlen(message);
}

static void test_logs(void)
{
    enum { MOST = 32 };
    CUlogsCallbackHandle handle[MOST + 1] = {NULL};
    CUlogIterator iterator = 0;
    char text[64] = "", path[] = "abi_arguments_test.XXXXXX";
    size_t size = sizeof text;
    IS(cuLogsRegisterCallback(NULL, NULL, &handle[0]), ERROR_INVALID_VALUE);
    IS(cuLogsRegisterCallback(hear, NULL, NULL), ERROR_INVALID_VALUE);
    for (int i = 0; i < MOST; i++)
        OK(cuLogsRegisterCallback(hear, &reported, &handle[i]));
    IS(cuLogsRegisterCallback(hear, &reported, &handle[MOST]), ERROR_OUT_OF_MEMORY);
    IS(cuMemFree(0x99), ERROR_INVALID_VALUE);
    EQUAL(reported, 2 * MOST); /* both refusals, to each callback */
    calls_back = true;
    IS(cuMemFree(0x99), ERROR_INVALID_VALUE);
    EQUAL(reported, 3 * MOST);
    for (int i = 0; i < MOST; i++)
        OK(cuLogsUnregisterCallback(handle[i]));
    IS(cuLogsUnregisterCallback(handle[0]), ERROR_INVALID_VALUE);
    IS(cuLogsCurrent(NULL, 0), ERROR_INVALID_VALUE);
    IS(cuLogsCurrent(&iterator, 1), ERROR_INVALID_VALUE);
    IS(cuLogsDumpToMemory(&iterator, NULL, &size, 0), ERROR_INVALID_VALUE);
    IS(cuLogsDumpToMemory(&iterator, text, NULL, 0), ERROR_INVALID_VALUE);
    IS(cuLogsDumpToMemory(&iterator, text, &size, 1), ERROR_INVALID_VALUE);
    size = 0;
    IS(cuLogsDumpToMemory(&iterator, text, &size, 0), ERROR_INVALID_VALUE);
    IS(cuLogsDumpToFile(&iterator, NULL, 0), ERROR_INVALID_VALUE);
    IS(cuLogsDumpToFile(&iterator, "/no/such/folder/file", 0), ERROR_INVALID_VALUE);
    EQUAL(iterator, 0);
    int file = mkstemp(path);
    if (file < 0)
        tap_bail("no file");
    IS(cuLogsDumpToFile(&iterator, path, 1), ERROR_INVALID_VALUE);
    OK(cuLogsDumpToFile(&iterator, path, 0));
    tap_ok(iterator > 0, "the iterator is after the last line");
    iterator = 0;
    tap_ok(lseek(file, 0, SEEK_END) > 0, "the file has the log");
    IS(cuLogsDumpToFile(NULL, "/dev/full", 0), ERROR_OPERATING_SYSTEM);
    OK(cuLogsCurrent(&iterator, 0));
    CUlogIterator last = --iterator;
    IS(cuLogsDumpToFile(&iterator, "/dev/full", 0), ERROR_OPERATING_SYSTEM); /* one line fails when the file is closed */
    for (int i = 0; i < 100; i++)
        if (cuMemFree(0x99) != CUDA_ERROR_INVALID_VALUE)
            tap_bail("such memory is not freed");
    IS(cuLogsDumpToFile(&iterator, "/dev/full", 0), ERROR_OPERATING_SYSTEM); /* many while they are written */
    EQUAL(iterator, last);
    close(file);
    unlink(path);
    OK(cuLogsCurrent(&iterator, 0));
    size = sizeof text;
    OK(cuLogsDumpToMemory(&iterator, text, &size, 0));
    tap_ok(size == 0 && !text[0], "after the last line the dump is empty");
}

#undef cuMemcpy3DBatchAsync
#undef cuMemcpy3DBatchAsync_v2
CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed, unsigned long long flags, CUstream stream);
CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *list, unsigned long long flags, CUstream stream);

int main(void)
{
    size_t failed = 7;
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    IS(cuMemcpy3DBatchAsync_v2(0, NULL, 0, CU_STREAM_PER_THREAD), ERROR_NOT_INITIALIZED);
    IS(cuMemcpy3DBatchAsync(0, NULL, &failed, 0, CU_STREAM_PER_THREAD), ERROR_NOT_INITIALIZED);
    EQUAL(failed, 7);
    context = begin();
    OK(cuModuleLoadData(&module, "any image"));
    test_pitch();
    test_registered();
    test_copies();
    test_rows();
    test_devices();
    test_contexts();
    test_stack();
    test_peers();
    test_functions();
    test_jit();
    test_logs();
    return tap_done();
}
