/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals on other machines and under layers that make calls fail, each in a process of its own; and invalid handles. */
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rig.h"

struct world {
    const char *name, *spec, *layers;
    CUresult want; /* the result of pinning host memory */
};

static const struct world worlds[] = {
    {"as usual", "sim:h100", "", CUDA_SUCCESS},
    {"no host memory for devices", "sim:min", "", CUDA_ERROR_NOT_SUPPORTED},
    {"no host addresses", "sim:h100,arena=none", "", CUDA_ERROR_OUT_OF_MEMORY},
    {"no memory", "sim:h100", "fault=mem_create:1", CUDA_ERROR_OUT_OF_MEMORY},
    {"no addresses", "sim:h100", "fault=mem_address_reserve:1", CUDA_ERROR_OUT_OF_MEMORY},
    {"no mapping", "sim:h100", "fault=mem_map:1", CUDA_ERROR_OUT_OF_MEMORY},
    {"no rights", "sim:h100", "fault=mem_set_access:1", CUDA_ERROR_OUT_OF_MEMORY},
    {"no stream", "sim:h100", "fault=stream_create:1", CUDA_ERROR_OUT_OF_MEMORY},
};

static int pin_in(const struct world *world)
{
    CUcontext context;
    CUstream stream;
    void *p = NULL;
    setenv("CUVMM_SIM", world->spec, 1);
    setenv("CUVMM_LAYERS", world->layers, 1);
    if (cuInit(0) != CUDA_SUCCESS || cuCtxCreate(&context, NULL, 0, 0) != CUDA_SUCCESS)
        return 1;
    bool no_stream = strstr(world->layers, "stream") != NULL;
    if ((cuStreamCreateWithPriority(&stream, 0, -1) == CUDA_SUCCESS) == no_stream)
        return 2;
    if (no_stream)
        return 0;
    CUresult got = cuMemHostAlloc(&p, 100, 0);
    if (got != world->want)
        return 3;
    if (got == CUDA_SUCCESS)
        return cuMemFreeHost(p) == CUDA_SUCCESS ? 0 : 4;
    /* nothing leaks: a second call finds as much free memory */
    size_t before = 0, after = 0;
    cuMemGetInfo(&before, NULL);
    cuMemHostAlloc(&p, 100, 0);
    cuMemGetInfo(&after, NULL);
    return before == after ? 0 : 5;
}

static void test_worlds(void)
{
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        int status = -1;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            exit(pin_in(&worlds[i]));
        waitpid(child, &status, 0);
        tap_u64((uint64_t)status, 0, "pinned memory: %s", worlds[i].name);
    }
}

static void test_functions(void)
{
    CUfunction none = (CUfunction)(uintptr_t)0x1230;
    CUkernel kernel = (CUkernel)(uintptr_t)0x1230;
    CUmodule module = NULL;
    CUlibrary library = NULL;
    CUdeviceptr at;
    const char *name;
    int value, grid, block;
    size_t offset;
    IS(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, none), ERROR_INVALID_HANDLE);
    IS(cuFuncSetAttribute(none, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 1), ERROR_INVALID_HANDLE);
    IS(cuFuncSetCacheConfig(none, CU_FUNC_CACHE_PREFER_L1), ERROR_INVALID_HANDLE);
    IS(cuFuncSetSharedMemConfig(none, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE), ERROR_INVALID_HANDLE);
    IS(cuFuncGetName(&name, none), ERROR_INVALID_HANDLE);
    IS(cuFuncGetModule(&module, none), ERROR_INVALID_HANDLE);
    IS(cuFuncGetParamInfo(none, 0, &offset, NULL), ERROR_INVALID_HANDLE);
    IS(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0), ERROR_INVALID_HANDLE);
    IS(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, kernel, 0), ERROR_INVALID_HANDLE);
    IS(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0), ERROR_INVALID_HANDLE);
    IS(cuKernelGetName(&name, kernel), ERROR_INVALID_HANDLE);
    IS(cuKernelGetLibrary(&library, kernel), ERROR_INVALID_HANDLE);
    IS(cuKernelGetParamInfo(kernel, 0, &offset, NULL), ERROR_INVALID_HANDLE);
    IS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, none, 32, 0), ERROR_INVALID_HANDLE);
    IS(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, none, 32, 0, 9), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxPotentialBlockSize(&grid, &block, none, NULL, 0, 0), ERROR_INVALID_HANDLE);
    IS(cuModuleGetGlobal(&at, &offset, module, "x"), ERROR_INVALID_HANDLE);
    IS(cuModuleGetGlobal(&at, &offset, NULL, NULL), ERROR_INVALID_HANDLE);
    IS(cuLibraryGetModule(&module, library), ERROR_INVALID_HANDLE);
    IS(cuLibraryGetModule(NULL, library), ERROR_INVALID_VALUE);
    IS(cuLibraryUnload(library), ERROR_INVALID_HANDLE);
    OK(cuLibraryLoadFromFile(&library, "/dev/null", NULL, NULL, 0, NULL, NULL, 0));
    IS(cuModuleUnload((CUmodule)(void *)library), ERROR_INVALID_HANDLE);
}

static void test_our_kernels(void)
{
    CUmodule module;
    CUfunction f = NULL;
    CUdeviceptr at = 0;
    uint64_t n = 16, value = 5;
    size_t offset = 0, size = 0;
    int blocks = 0;
    void *params[] = {&at, &n, &value};
    OK(cuMemAlloc(&at, 64));
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&f, module, "fill"));
    OK(cuFuncGetParamInfo(f, 1, &offset, &size));
    tap_ok(offset == 8 && size == 8, "parameters of this project's kernels are 64-bit words");
    OK(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(at + 15), 5);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 2000, 0));
    EQUAL(blocks, 0);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1, 0));
    EQUAL(blocks, 32);
    OK(cuMemFree(at));
}

static void test_registered(void)
{
    static char room[128], *memory = room + 32;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)memory, found = 0;
    size_t size = 0;
    unsigned flag = 9;
    OK(cuMemHostRegister(memory, 64, CU_MEMHOSTREGISTER_READ_ONLY));
    OK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at + 1));
    EQUAL(found, at + 1);
    OK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_HOST_POINTER, at));
    OK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at + 9));
    EQUAL(found, at);
    OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at));
    EQUAL(size, 64);
    OK(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, at));
    EQUAL(flag, 0);
    OK(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_MAPPED, at));
    EQUAL(flag, 1);
    IS(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_MAPPED, at + 64), ERROR_INVALID_VALUE);
    IS(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MAPPED, at), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(memory - 5, 10, 0), ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    IS(cuMemHostRegister(memory, SIZE_MAX, 0), ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(memory), ERROR_INVALID_VALUE);
    OK(cuMemHostUnregister(memory));
}

static void test_many_lines(void)
{
    char *text = malloc(100000);
    size_t size = 100000;
    CUlogIterator from = 0;
    for (int i = 0; i < 150; i++)
        cuCtxPushCurrent(NULL);
    OK(cuLogsDumpToMemory(&from, text, &size, 0));
    int lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    EQUAL(lines, 100);
    size = 100000;
    OK(cuLogsDumpToMemory(&from, text, &size, 0));
    EQUAL(size, 0);
    IS(cuLogsDumpToMemory(&from, text, &size, 1), ERROR_INVALID_VALUE);
    IS(cuLogsCurrent(&from, 1), ERROR_INVALID_VALUE);
    free(text);
}

/* Each argument alone is invalid. */
static void test_arguments(void)
{
    static const unsigned grids[][6] = {{0, 1, 1, 1, 1, 1},           {1, 0, 1, 1, 1, 1},     {1, 1, 0, 1, 1, 1},
                                        {1, 1, 1, 0, 1, 1},           {1, 1, 1, 1, 0, 1},     {1, 1, 1, 1, 1, 0},
                                        {0x80000000u, 1, 1, 1, 1, 1}, {1, 65536, 1, 1, 1, 1}, {1, 1, 65536, 1, 1, 1},
                                        {1, 1, 1, 1025, 1, 1},        {1, 1, 1, 1, 1025, 1},  {1, 1, 1, 1, 1, 65},
                                        {1, 1, 1, 512, 2, 2}};
    CUlibrary library;
    CUmodule module;
    CUfunction f;
    CUdevice device = 7;
    void *p = NULL;
    CUdeviceptr at = 0;
    OK(cuLibraryLoadData(&library, "code", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetModule(&module, library));
    OK(cuModuleGetFunction(&f, module, "fill"));
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++)
        IS(cuLaunchKernel(f, grids[i][0], grids[i][1], grids[i][2], grids[i][3], grids[i][4], grids[i][5], 0, NULL, NULL, NULL),
           ERROR_INVALID_VALUE);
    size_t none = 0;
    void *unknown[] = {(void *)99, &none, CU_LAUNCH_PARAM_END},
        *half[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &none, CU_LAUNCH_PARAM_END};
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, unknown), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, half), ERROR_INVALID_VALUE);
    OK(cuLibraryUnload(library));
    IS(cuLibraryLoadData(NULL, "code", NULL, NULL, 0, NULL, NULL, 0), ERROR_INVALID_VALUE);
    IS(cuLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0), ERROR_INVALID_VALUE);
    IS(cuDeviceGetByPCIBusId(NULL, "0000:01:00.0"), ERROR_INVALID_VALUE);
    IS(cuDeviceGetByPCIBusId(&device, NULL), ERROR_INVALID_VALUE);
    IS(cuDeviceGetByPCIBusId(&device, "nowhere"), ERROR_INVALID_VALUE);
    IS(cuDeviceGetByPCIBusId(&device, "0001:01:00.0"), ERROR_INVALID_DEVICE);
    IS(cuDeviceGetByPCIBusId(&device, "0000:01:01.0"), ERROR_INVALID_DEVICE);
    IS(cuDeviceGetByPCIBusId(&device, "0000:01:00.1"), ERROR_INVALID_DEVICE);
    EQUAL(device, 7);
    IS(cuMemHostAlloc(NULL, 100, 0), ERROR_INVALID_VALUE);
    OK(cuMemHostAlloc(&p, 0, 0)); /* size 0 and a NULL address */
    tap_ok(p == NULL, "no memory");
    IS(cuMemHostAlloc(&p, 100, 8), ERROR_INVALID_VALUE);
    IS(cuMemHostGetDevicePointer(NULL, &p, 0), ERROR_INVALID_VALUE);
    IS(cuMemHostGetDevicePointer(&at, &p, 1), ERROR_INVALID_VALUE);
    IS(cuMemHostGetDevicePointer(&at, &p, 0), ERROR_INVALID_VALUE);
    EQUAL(at, 0);
    EQUAL((uintptr_t)p, 0);
}

/* Every attribute of both kinds of memory: known or refused, and in a list with some NULL destinations. */
static void test_pointer_attributes(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr at = 0, mapped = 0;
    int reported[2] = {0, 0};
    OK(cuMemAlloc(&at, 64));
    OK(cuMemCreate(&memory, 2 << 20, &prop, 0));
    OK(cuMemAddressReserve(&mapped, 2 << 20, 0, 0, 0));
    OK(cuMemMap(mapped, 2 << 20, 0, memory, 0));
    for (int i = 0; i < 2; i++)
        for (int attribute = 1; attribute <= 22; attribute++) {
            unsigned char value[64] = {0};
            CUresult got = cuPointerGetAttribute(value, (CUpointer_attribute)attribute, i ? mapped : at);
            reported[i] += got == CUDA_SUCCESS;
            if (got != CUDA_SUCCESS && got != CUDA_ERROR_INVALID_VALUE && got != CUDA_ERROR_NOT_SUPPORTED)
                reported[i] -= 100;
        }
    EQUAL(reported[0] > 10 && reported[1] > 10, 1);
    CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS};
    unsigned type = 0;
    void *data[] = {&type, NULL};
    IS(cuPointerGetAttributes(2, list, data, at), ERROR_INVALID_VALUE);
    OK(cuMemUnmap(mapped, 2 << 20));
    OK(cuMemAddressFree(mapped, 2 << 20));
    OK(cuMemRelease(memory));
    OK(cuMemFree(at));
}

int main(void)
{
    test_worlds();
    setenv("CUVMM_KERNELS", "/no/such/kernels.so:cuvmm", 1); /* a missing library is reported, and the others still work */
    begin();
    test_functions();
    test_our_kernels();
    test_registered();
    test_arguments();
    test_pointer_attributes();
    test_many_lines();
    return tap_done();
}
