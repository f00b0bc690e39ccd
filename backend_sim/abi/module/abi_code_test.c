/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of plugins through libcuda.so.1: found by name, launched in all forms, and subject to the device's access rights. */
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/rig.h"

static CUmodule module;

static CUfunction function(const char *name)
{
    CUfunction f = NULL;
    cuModuleGetFunction(&f, module, name);
    return f;
}

/* A path that could block the caller, or cannot be read, is not an image; a link to an image is. */
static void no_files(void)
{
    CUmodule loaded;
    CUlibrary library;
    char folder[] = "/tmp/cuvmm-code-XXXXXX", pipe[64], link[64];
    if (!mkdtemp(folder))
        tap_bail("no folder");
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    if (mkfifo(pipe, 0600) || symlink("/proc/self/exe", link))
        tap_bail("no pipe");
    alarm(20);
    IS(cuModuleLoad(&loaded, folder), ERROR_FILE_NOT_FOUND);
    IS(cuModuleLoad(&loaded, pipe), ERROR_FILE_NOT_FOUND);
    IS(cuLibraryLoadFromFile(&library, pipe, NULL, NULL, 0, NULL, NULL, 0), ERROR_FILE_NOT_FOUND);
    OK(cuModuleLoad(&loaded, link));
    OK(cuModuleUnload(loaded));
    alarm(0);
    unlink(pipe);
    unlink(link);
    rmdir(folder);
}

/* A variable that no plugin has: a lookup in a loaded module reports it as missing and returns 0. */
static void test_globals(CUmodule gone)
{
    size_t bytes = 7;
    CUdeviceptr at = 7;
    IS(cuModuleGetGlobal(&at, &bytes, module, NULL), ERROR_INVALID_VALUE);
    OK(cuModuleUnload(gone));
    IS(cuModuleGetGlobal(&at, &bytes, gone, "table"), ERROR_INVALID_HANDLE);
    tap_ok(!at && !bytes, "a refused call writes 0");
    IS(cuModuleGetGlobal(NULL, &bytes, module, "absent"), ERROR_NOT_FOUND);
    EQUAL(bytes, 0);
    IS(cuModuleGetGlobal(&at, NULL, module, "absent"), ERROR_NOT_FOUND);
    EQUAL(at, 0);
}

static void test_images(void)
{
    CUlibrary library = NULL;
    CUmodule other = NULL;
    CUkernel kernel = NULL;
    CUfunction f = NULL;
    CUmoduleLoadingMode mode;
    CUcontext now = NULL;
    OK(cuCtxGetCurrent(&now));
    OK(cuCtxSetCurrent(NULL));
    IS(cuModuleLoadData(&other, "any image"), ERROR_INVALID_CONTEXT);
    tap_ok(!other, "no module is loaded without a context");
    OK(cuCtxSetCurrent(now));
    OK(cuModuleLoadData(&module, "any image"));
    OK(cuModuleLoadDataEx(&other, "another", 0, NULL, NULL));
    OK(cuModuleUnload(other));
    IS(cuModuleUnload(other), ERROR_INVALID_HANDLE);
    OK(cuModuleLoadFatBinary(&other, "a third"));
    OK(cuModuleGetFunction(&f, other, "vectorAdd"));
    OK(cuModuleUnload(other));
    IS(cuModuleGetFunction(&f, other, "vectorAdd"), ERROR_INVALID_HANDLE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), ERROR_INVALID_HANDLE);
    IS(cuModuleLoad(&other, "/no/such/file"), ERROR_FILE_NOT_FOUND);
    no_files();
    IS(cuModuleLoadData(&other, NULL), ERROR_INVALID_VALUE);
    OK(cuModuleLoad(&other, "/proc/self/exe"));
    OK(cuModuleGetLoadingMode(&mode));
    test_globals(other);
    OK(cuLibraryLoadData(&library, "code", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "nothing"));
    OK(cuKernelGetFunction(&f, kernel));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuLaunchKernel((CUfunction)(void *)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuLibraryGetModule(&other, library));
    OK(cuModuleGetFunction(&f, other, "nothing"));
    OK(cuLibraryUnload(library));
    IS(cuKernelGetFunction(&f, kernel), ERROR_INVALID_HANDLE);
    IS(cuLibraryLoadFromFile(&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0), ERROR_FILE_NOT_FOUND);
}

/* Measured: a kernel's parameters are returned only if a context is current, a function's always. */
static void test_params_without_context(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUcontext now = NULL;
    size_t offset = 9, bytes = 9;
    CUfunction f = function("vectorAdd");
    OK(cuLibraryLoadData(&library, "code", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "vectorAdd"));
    OK(cuKernelGetParamInfo(kernel, 1, &offset, &bytes));
    EQUAL(offset, 8);
    OK(cuCtxGetCurrent(&now));
    OK(cuCtxSetCurrent(NULL));
    offset = 9;
    IS(cuKernelGetParamInfo(kernel, 1, &offset, &bytes), ERROR_INVALID_CONTEXT);
    EQUAL(offset, 9);
    IS(cuKernelGetParamInfo(kernel, 99, &offset, &bytes), ERROR_INVALID_CONTEXT);
    IS(cuKernelGetParamInfo(NULL, 1, &offset, &bytes), ERROR_INVALID_VALUE);
    OK(cuFuncGetParamInfo(f, 1, &offset, &bytes));
    EQUAL(offset, 8);
    OK(cuCtxSetCurrent(now));
    IS(cuKernelGetParamInfo(kernel, 99, &offset, &bytes), ERROR_INVALID_VALUE);
    OK(cuLibraryUnload(library));
}

/* A compiler without messages still terminates the caller's log buffers, because programs print them. */
static void test_jit_logs(void)
{
    CUmodule other = NULL;
    CUlibrary library = NULL;
    char info[8] = "1234567", error[8] = "1234567", lone[8] = "1234567";
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER, CU_JIT_WALL_TIME,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS};
    void *values[] = {(void *)8, info, (void *)1, error, (void *)8, (void *)32};
    IS(cuModuleLoadDataEx(&other, NULL, 6, options, values), ERROR_INVALID_VALUE);
    tap_text(info, "1234567", "a refused load writes no log");
    OK(cuModuleLoadDataEx(&other, "ptx", 6, options, values));
    tap_text(info, "", "the log is empty");
    tap_text(error, "", "the error log is empty");
    tap_ok(!values[0] && !values[2] && !values[4], "no bytes were logged, in no time");
    tap_ok(values[5] == (void *)32, "other options stay unchanged");
    OK(cuModuleUnload(other));
    values[0] = NULL;
    info[0] = 'x';
    OK(cuModuleLoadDataEx(&other, "ptx", 2, options, values));
    tap_ok(info[0] == 'x', "a buffer of size 0 is not written");
    OK(cuModuleUnload(other));
    values[1] = lone;
    OK(cuModuleLoadDataEx(&other, "ptx", 1, options + 1, values + 1));
    tap_text(lone, "1234567", "a buffer without a size is not written");
    OK(cuModuleUnload(other));
    values[3] = error, values[4] = (void *)8, error[0] = 'x';
    OK(cuLibraryLoadData(&library, "code", options + 3, values + 3, 2, NULL, NULL, 0));
    tap_text(error, "", "libraries behave the same");
    OK(cuLibraryUnload(library));
    OK(cuModuleLoadDataEx(&other, "ptx", 2, NULL, NULL));
    OK(cuModuleUnload(other));
}

static void test_names(void)
{
    CUfunction f = NULL;
    const char *name = NULL;
    OK(cuModuleGetFunction(&f, module, "vectorAdd"));
    tap_ok(function("vectorAdd") == f, "a name always yields the same function");
    OK(cuModuleGetFunction(&f, module, "_Z9vectorAddPKfS0_Pfi"));
    OK(cuFuncGetName(&name, f));
    tap_text(name, "_Z9vectorAddPKfS0_Pfi", "a mangled name is found by its plain name");
    OK(cuModuleGetFunction(&f, module, "_ZN3one7nothingEv"));
    OK(cuModuleGetFunction(&f, module, "_Z7nothingIfEvv"));
    tap_note("a missing kernel is reported once:");
    IS(cuModuleGetFunction(&f, module, "_Z6nobodyv"), ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&f, module, "_Z6nobodyv"), ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&f, module, "_Z99x"), ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&f, module, "sum"), ERROR_NOT_FOUND); /* a kernel of this project that CUVMM_KERNELS does not list */
    IS(cuModuleGetFunction(&f, module, NULL), ERROR_INVALID_VALUE);
    IS(cuModuleGetFunction(NULL, module, "vectorAdd"), ERROR_INVALID_VALUE);
}

static void test_threads(CUdeviceptr at)
{
    float a[100], b[100], c[100] = {0};
    CUdeviceptr x = at, y = at + 4096, z = at + 8192;
    int n = 100, wrong = 0;
    void *params[] = {&x, &y, &z, &n};
    for (int i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
    OK(cuMemcpyHtoD(x, a, sizeof a));
    OK(cuMemcpyHtoD(y, b, sizeof b));
    OK(cuLaunchKernel(function("vectorAdd"), 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(c, z, sizeof c));
    for (int i = 0; i < n; i++)
        wrong += c[i] < (float)(3 * i) || c[i] > (float)(3 * i);
    EQUAL(wrong, 0);
    uint64_t counted[2] = {0};
    void *one[] = {&x};
    OK(cuMemsetD8(x, 0, 16));
    OK(cuLaunchKernel(function("count_threads"), 2, 3, 4, 5, 6, 7, 0, NULL, one, NULL));
    OK(cuMemcpyDtoH(counted, x, sizeof counted));
    EQUAL(counted[0], 2 * 3 * 4 * 5 * 6 * 7);
    EQUAL(counted[1], 3 * 100 + 6 * 10 + 5);
}

struct gaps {
    uint8_t a;
    uint64_t b;
    int32_t c[2];
    uint16_t d;
    CUdeviceptr e;
};

static void test_parameters(CUdeviceptr at)
{
    struct gaps g = {1, 20, {3, 4}, 500, at};
    void *params[] = {&g.a, &g.b, &g.c, &g.d, &g.e}, *hole[] = {&g.a, NULL, &g.c, &g.d, &g.e};
    size_t size = sizeof g, small = 8, offset = 0, bytes = 0;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &g, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    void *short_extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &g, CU_LAUNCH_PARAM_BUFFER_SIZE, &small, CU_LAUNCH_PARAM_END};
    CUfunction f = function("gaps");
    uint64_t sum = 0;
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(&sum, at, sizeof sum));
    EQUAL(sum, 1 + 20 + 3000 + 400 + 500);
    g.a = 2;
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH(&sum, at, sizeof sum));
    EQUAL(sum, 2 + 20 + 3000 + 400 + 500);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, short_extra), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 65, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 64, 32, 1, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1u << 31, 1u << 31, 4, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 65536, 1, 1, 1, 1, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 0, 1, 1, 1, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, hole, NULL), ERROR_INVALID_VALUE);
    OK(cuFuncGetParamInfo(f, 2, &offset, &bytes));
    tap_ok(offset == offsetof(struct gaps, c) && bytes == 8, "a parameter's offset and size");
    IS(cuFuncGetParamInfo(f, 5, &offset, &bytes), ERROR_INVALID_VALUE);
}

static void test_forms(CUdeviceptr at)
{
    uint64_t n = 64;
    uint8_t value = 5;
    void *params[] = {&at, &n, &value};
    CUlaunchAttribute attribute[1] = {{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, attribute, 1};
    CUfunction f = function("fill_span");
    OK(cuLaunchKernelEx(&config, f, params, NULL));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(at + 63), 5);
    attribute[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    IS(cuLaunchKernelEx(&config, f, params, NULL), ERROR_NOT_SUPPORTED);
    IS(cuLaunchKernelEx(NULL, f, params, NULL), ERROR_INVALID_VALUE);
    value = 6;
    OK(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(at), 6);
    IS(cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 70000, 1, 1, 1, 1, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 64, 64, 1, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, (CUstream)(uintptr_t)0x77, params, NULL), ERROR_INVALID_HANDLE);
    IS(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), ERROR_INVALID_HANDLE);
}

static size_t shared_of(int block)
{
    return (size_t)block * 1024;
}

/* The reported value is the driver's, as recorded: it excludes the 1 KiB that each block takes for itself. */
static void test_shared_memory(CUfunction f)
{
    static const struct {
        int blocks, size;
        size_t shared;
    } told[] = {{1, 1024, 232448}, {2, 1024, 116736}, {4, 128, 58368}, {10, 64, 23296}, {16, 128, 14592}, {32, 1, 7296}};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        size_t shared = 0;
        OK(cuOccupancyAvailableDynamicSMemPerBlock(&shared, f, told[i].blocks, told[i].size));
        EQUAL(shared, told[i].shared);
    }
    size_t shared = 77;
    IS(cuOccupancyAvailableDynamicSMemPerBlock(&shared, f, 3, 1024), ERROR_INVALID_VALUE);
    IS(cuOccupancyAvailableDynamicSMemPerBlock(&shared, f, 0, 32), ERROR_INVALID_VALUE);
    IS(cuOccupancyAvailableDynamicSMemPerBlock(&shared, f, 1, 1025), ERROR_INVALID_VALUE);
    IS(cuOccupancyAvailableDynamicSMemPerBlock(NULL, f, 1, 32), ERROR_INVALID_VALUE);
    IS(cuOccupancyAvailableDynamicSMemPerBlock(&shared, (CUfunction)(void *)&shared, 1, 32), ERROR_INVALID_HANDLE);
    EQUAL(shared, 77);
}

static void test_function_attributes(void)
{
    int value = -1, grid = 0, block = 0;
    CUfunction f = function("vectorAdd");
    CUmodule of = NULL;
    OK(cuFuncGetModule(&of, f));
    tap_ok(of == module, "the function's module is returned");
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    EQUAL(value, 1024);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 70000));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    EQUAL(value, 70000);
    IS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 3), ERROR_INVALID_VALUE);
    IS(cuFuncGetAttribute(&value, (CUfunction_attribute)999, f), ERROR_INVALID_VALUE);
    OK(cuFuncSetCacheConfig(f, CU_FUNC_CACHE_PREFER_L1));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 256, 0));
    EQUAL(value, 8);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, f, 32, 100 * 1024, 0));
    EQUAL(value, 0); /* more than the function is allowed */
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, f, 32, 100 * 1024, 0));
    EQUAL(value, 2);
    IS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 0, 0), ERROR_INVALID_VALUE);
    test_shared_memory(f);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
    tap_ok(block == 1024 && grid == 2 * 132, "%d blocks of %d threads", grid, block);
    OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, f, shared_of, 0, 512, 0));
    tap_ok(block * 1024 <= 227 * 1024, "the largest number of threads with enough shared memory: %d", block);
}

/* Registered memory, and memory that devices and the host share. */
static void test_host_memory(void)
{
    static uint8_t memory[256];
    void *pinned = NULL;
    CUdeviceptr at = 0;
    uint64_t n = sizeof memory;
    uint8_t value = 9;
    void *params[] = {&at, &n, &value};
    OK(cuMemHostRegister(memory, sizeof memory, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&at, memory, 0));
    OK(cuLaunchKernel(function("fill_span"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemHostUnregister(memory)); /* waits for the kernel */
    tap_ok(memory[0] == 9 && memory[255] == 9, "a kernel writes registered memory");
    OK(cuMemHostAlloc(&pinned, 256, CU_MEMHOSTALLOC_DEVICEMAP));
    at = (CUdeviceptr)(uintptr_t)pinned;
    OK(cuLaunchKernel(function("fill_span"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    EQUAL(((uint8_t *)pinned)[255], 9);
    OK(cuMemFreeHost(pinned));
}

/* A plugin's kernel runs only once, even if memory is mapped twice: its accesses are not known in advance. */
static void test_aliases(void)
{
    enum { G = 2 << 20 };
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc desc = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr at = 0;
    uint64_t n = 16;
    uint8_t value = 9;
    void *params[] = {&at, &n, &value};
    OK(cuMemCreate(&handle, G, &prop, 0));
    OK(cuMemAddressReserve(&at, 2 * G, 0, 0, 0));
    OK(cuMemMap(at, G, 0, handle, 0));
    OK(cuMemMap(at + G, G, 0, handle, 0));
    OK(cuMemSetAccess(at, 2 * G, &desc, 1));
    OK(cuLaunchKernel(function("fill_span"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(at + G + 15), 9);
    OK(cuMemUnmap(at, 2 * G));
    OK(cuMemAddressFree(at, 2 * G));
    OK(cuMemRelease(handle));
}

/* The length of the cuLogs* log since then. */
static size_t logged(CUlogIterator since)
{
    char text[2000];
    size_t size = sizeof text;
    OK(cuLogsDumpToMemory(&since, text, &size, 0));
    return size;
}

/* A kernel's flag in registered memory proves that the fill before it is done. ThreadSanitizer reports the kernel's plain write
 * as a race, which it is in C, but not on a device. */
__attribute__((no_sanitize("thread"))) static bool is_raised(const uint8_t *flag)
{
    return *(const volatile uint8_t *)flag;
}

static void test_flag_in_registered_memory(void)
{
    static _Alignas(8) uint8_t memory[64];
    enum { SIZE = 2 << 20 };
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at = 0, flag = (CUdeviceptr)(uintptr_t)memory;
    CUlogIterator before;
    uint64_t n = sizeof memory;
    uint8_t value = 1;
    void *params[] = {&flag, &n, &value};
    OK(cuMemHostRegister((void *)(uintptr_t)flag, sizeof memory, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemAddressReserve(&at, SIZE, 0, 0, 0));
    OK(cuMemCreate(&handle, SIZE, &prop, 0));
    OK(cuMemMap(at, SIZE, 0, handle, 0));
    OK(cuMemSetAccess(at, SIZE, &desc, 1));
    OK(cuMemsetD8Async(at, 1, SIZE, NULL));
    OK(cuLaunchKernel(function("fill_span"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    while (!is_raised(&memory[63]))
        sched_yield();
    OK(cuLogsCurrent(&before, 0));
    OK(cuMemUnmap(at, SIZE));
    EQUAL(logged(before), 0);
    OK(cuCtxSynchronize());
    OK(cuMemAddressFree(at, SIZE));
    OK(cuMemRelease(handle));
    OK(cuMemHostUnregister((void *)(uintptr_t)flag));
}

static void test_call_inside(CUdeviceptr at)
{
    CUresult (*call)(void) = cuCtxSynchronize;
    int answer = -1;
    void *params[] = {&call, &at};
    OK(cuLaunchKernel(function("calls"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(&answer, at, sizeof answer));
    EQUAL(answer, CUDA_ERROR_NOT_PERMITTED);
}

/* Memory that was never written reads as zero, in pieces of at most a page; host memory is read as a whole. */
static void test_fresh(CUdeviceptr out)
{
    static _Alignas(4096) char here[8192];
    uint64_t n = 10000, seen[2] = {77, 77};
    CUdeviceptr fresh = 0, p = (CUdeviceptr)(uintptr_t)here;
    void *params[] = {&fresh, &n, &out};
    OK(cuMemAlloc(&fresh, 65536));
    OK(cuLaunchKernel(function("look_at"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(seen, out, sizeof seen));
    tap_ok(seen[0] == 0 && seen[1] == 3, "never-written memory is zero, in three pieces");
    OK(cuMemHostRegister(here, sizeof here, 0));
    here[5] = 1;
    params[0] = &p;
    n = sizeof here;
    OK(cuLaunchKernel(function("look_at"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(seen, out, sizeof seen));
    tap_ok(seen[0] == 2 && seen[1] == 1, "a kernel reads a byte of the host, and the word around it");
    OK(cuMemHostUnregister(here));
    OK(cuMemFree(fresh));
}

static void test_kernels_that_cannot_run(void)
{
    static char bytes[40000];
    CUfunction f = NULL;
    void *params[] = {bytes};
    IS(cuModuleGetFunction(&f, module, "old"), ERROR_NOT_FOUND);
    tap_ok(!f, "a kernel built for another version is not found");
    IS(cuLaunchKernel(function("wide"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
}

/* A kernel has access to memory that was allocated next to registered host memory. */
static void test_made_beside_registered(void)
{
    static unsigned char mine[4096];
    void *made = NULL;
    uint64_t n = 100;
    uint8_t value = 6;
    OK(cuMemHostRegister(mine, sizeof mine, 0));
    OK(cuMemAllocHost(&made, 4096));
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)made;
    void *params[] = {&at, &n, &value};
    memset(made, 0, 4096);
    OK(cuLaunchKernel(function("fill_span"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    const unsigned char *seen = made;
    tap_ok(seen[0] == 6 && seen[99] == 6 && !seen[100] && !mine[0], "exactly a hundred bytes are filled");
    OK(cuMemsetD8(at, 3, 10));
    OK(cuMemcpyDtoD(at + 200, at, 10));
    tap_ok(seen[209] == 3 && !seen[210], "fills and copies have access as well");
    OK(cuMemFreeHost(made));
    OK(cuMemHostUnregister(mine));
}

/* This test runs last, because the device is lost. */
static void test_fault(CUdeviceptr at)
{
    uint64_t n = 1 << 20;
    uint8_t value = 1;
    CUdeviceptr more = 0;
    void *params[] = {&at, &n, &value};
    OK(cuLaunchKernel(function("fill_span"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    IS(cuCtxSynchronize(), ERROR_ILLEGAL_ADDRESS);
    IS(cuMemAlloc(&more, 16), ERROR_ILLEGAL_ADDRESS);
}

int main(void)
{
    CUdeviceptr at = 0;
    setenv("CUVMM_KERNELS", "/no/such.so:" ABI_TEST_KERNELS, 1);
    begin();
    OK(cuMemAlloc(&at, 65536));
    test_images();
    test_params_without_context();
    test_jit_logs();
    test_names();
    test_threads(at);
    test_parameters(at);
    test_forms(at);
    test_function_attributes();
    test_host_memory();
    test_flag_in_registered_memory();
    test_aliases();
    test_call_inside(at);
    test_fresh(at);
    test_kernels_that_cannot_run();
    test_made_beside_registered();
    test_fault(at);
    return tap_done();
}
