/* SPDX-License-Identifier: Apache-2.0 */
/* Registered device code: launches in all forms and their results, functions, occupancy, variables, libraries. */
#include <limits.h>

#include "testing/emitted.h"

/* ---- the code that a compiler would emit for this file ---- */

static void vectorAdd(const float *a, const float *b, float *c, int n)
{
    void *args[] = {&a, &b, &c, &n};
    stub_launch((const void *)(uintptr_t)vectorAdd, args);
}

static void fill_span(void *at, uint64_t n, uint8_t value)
{
    void *args[] = {&at, &n, &value};
    stub_launch((const void *)(uintptr_t)fill_span, args);
}

static void count_up(void *at)
{
    void *args[] = {&at};
    stub_launch((const void *)(uintptr_t)count_up, args);
}

static void nobody(void)
{
    stub_launch((const void *)(uintptr_t)nobody, NULL);
}

static void unregistered(void)
{
}

#define STUB(function) ((const void *)(uintptr_t)(function))

static uint32_t counter;
static uint64_t table[100];
static char no_variable;
static void **image;

__attribute__((constructor)) static void register_all(void)
{
    image = __cudaRegisterFatBinary(&fat_binary);
    register_function(image, STUB(vectorAdd), "_Z9vectorAddPKfS0_Pfi");
    register_function(image, STUB(fill_span), "fill_span");
    register_function(image, STUB(count_up), "count_up");
    register_function(image, STUB(nobody), "_Z6nobodyv");
    register_variable(image, &counter, "counter", sizeof counter);
    register_variable(image, table, "table", sizeof table);
    register_variable(image, &no_variable, "no_variable", 1);
    __cudaRegisterFatBinaryEnd(image);
}

static void *device_memory(size_t size)
{
    void *made = NULL;
    OK(cudaMalloc(&made, size));
    return made;
}

static void copy(void *to, const void *from, size_t size)
{
    OK(cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, NULL));
    OK(cudaDeviceSynchronize());
}

static int byte_at(const void *at)
{
    unsigned char byte = 0;
    copy(&byte, at, 1);
    return byte;
}

/* ---- launches ---- */

/* On each device the kernel computes the sum in that device's memory. */
static void test_vector_add(int device)
{
    enum { N = 1000 };
    float a[N], b[N], c[N];
    OK(cudaSetDevice(device));
    float *x = device_memory(sizeof a), *y = device_memory(sizeof b), *z = device_memory(sizeof c);
    for (int i = 0; i < N; i++) {
        a[i] = (float)(i + device);
        b[i] = (float)(2 * i);
    }
    copy(x, a, sizeof a);
    copy(y, b, sizeof b);
    LAUNCH(dim((N + 255) / 256), dim(256), 0, NULL, vectorAdd(x, y, z, N));
    IS(cudaGetLastError(), Success);
    copy(c, z, sizeof c);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += (int)c[i] != 3 * i + device;
    EQUAL(wrong, 0);
    OK(cudaFree(x));
    OK(cudaFree(y));
    OK(cudaFree(z));
}

static void test_forms(void)
{
    unsigned char *at = device_memory(256);
    uint64_t n = 256;
    uint8_t value = 1;
    void *args[] = {&at, &n, &value};
    const void *stub = STUB(fill_span);
    cudaKernel_t kernel = NULL;
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative, .val.cooperative = 1};
    cudaLaunchConfig_t config = {.gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}, .attrs = &attribute, .numAttrs = 1};
    OK(cudaLaunchKernel(stub, dim(1), dim(1), args, 0, NULL));
    EQUAL(byte_at(at + 255), 1);
    value = 2;
    OK(cudaLaunchCooperativeKernel(stub, dim(1), dim(1), args, 0, NULL));
    EQUAL(byte_at(at + 255), 2);
    value = 3;
    OK(cudaLaunchKernelExC(&config, stub, args));
    EQUAL(byte_at(at + 255), 3);
    value = 4;
    OK(__cudaGetKernel(&kernel, stub));
    OK(__cudaLaunchKernel(kernel, dim(1), dim(1), args, 0, NULL));
    EQUAL(byte_at(at + 255), 4);
    value = 5;
    OK(cudaLaunchKernel(kernel, dim(1), dim(1), args, 0, NULL));
    EQUAL(byte_at(at + 255), 5);
    OK(cudaFree(at));
}

typedef cudaError_t (*launcher)(const void *, dim3, dim3, void **, size_t, cudaStream_t);

static cudaError_t launch_with(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
    const cudaLaunchConfig_t config = {grid, block, shared, stream, NULL, 0};
    return cudaLaunchKernelExC(&config, stub, args);
}

static cudaError_t launch_kernel(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
    cudaKernel_t kernel = NULL;
    (void)__cudaGetKernel(&kernel, stub);
    (void)cudaGetLastError();
    return __cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

/* A refused launch writes nothing. */
static void test_refused(launcher launch)
{
    unsigned char *at = device_memory(16);
    uint64_t n = 16;
    uint8_t value = 7;
    void *args[] = {&at, &n, &value}, *hole[] = {&at, NULL, &value};
    const void *stub = STUB(fill_span);
    const dim3 one = {1, 1, 1};
    OK(cudaMemcpyAsync(at, "0123456789abcdef", 16, cudaMemcpyDefault, NULL));
    static const dim3 wrong_grids[] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0x80000000, 1, 1}, {1, 65536, 1}, {1, 1, 65536}};
    static const dim3 wrong_blocks[] = {{0, 1, 1}, {1025, 1, 1}, {1, 1025, 1}, {1, 1, 65}, {32, 33, 1}, {0x80000000, 2, 1}};
    for (int i = 0; i < 6; i++) {
        REFUSED(launch(stub, wrong_grids[i], one, args, 0, NULL), ErrorInvalidValue);
        REFUSED(launch(stub, one, wrong_blocks[i], args, 0, NULL), ErrorInvalidValue);
    }
    REFUSED(launch(stub, one, one, hole, 0, NULL), ErrorInvalidValue);
    REFUSED(launch(stub, one, one, args, 0, (cudaStream_t)(uintptr_t)0x77), ErrorInvalidResourceHandle);
    REFUSED(launch(NULL, one, one, args, 0, NULL), ErrorInvalidDeviceFunction);
    REFUSED(launch(STUB(unregistered), one, one, args, 0, NULL), ErrorInvalidResourceHandle);
    REFUSED(launch(STUB(nobody), one, one, args, 0, NULL), ErrorSymbolNotFound);
    EQUAL(byte_at(at), '0');
    OK(launch(stub, one, one, args, (size_t)UINT_MAX + 1, NULL)); /* only the low 32 bits of the size count */
    EQUAL(byte_at(at), 7);
    OK(cudaFree(at));
}

/* A kernel that the program looked up itself is valid; the stream is not. */
static void test_refused_of_kernel(void)
{
    cudaKernel_t kernel = NULL;
    uint64_t at = 0;
    void *args[] = {&at};
    OK(cudaGetKernel(&kernel, STUB(count_up)));
    REFUSED(cudaLaunchKernel(kernel, dim(1), dim(1), args, 0, (cudaStream_t)(uintptr_t)0x77), ErrorInvalidResourceHandle);
    REFUSED(cudaLaunchKernelExC(NULL, STUB(fill_span), NULL), ErrorInvalidValue);
    cudaLaunchConfig_t config = {.gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}, .numAttrs = 1};
    REFUSED(cudaLaunchKernelExC(&config, STUB(fill_span), NULL), ErrorInvalidValue);
}

/* Evaluating an argument of a launch may launch another kernel: the configurations form a stack. */
static uint64_t nested(int depth, unsigned char *at)
{
    if (depth)
        LAUNCH(dim(1), dim(1), 0, NULL, fill_span(at + depth, nested(depth - 1, at), (uint8_t)depth));
    return 1;
}

static void test_configurations(void)
{
    enum { DEPTH = 40 };
    unsigned char *at = device_memory(DEPTH + 1), bytes[DEPTH + 1];
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    REFUSED(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), ErrorMissingConfiguration);
    (void)nested(DEPTH, at);
    copy(bytes, at, sizeof bytes);
    int wrong = 0;
    for (int i = 1; i <= DEPTH; i++)
        wrong += bytes[i] != i;
    EQUAL(wrong, 0);
    EQUAL(__cudaPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, (cudaStream_t)(uintptr_t)8), 0);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    tap_ok(grid.z == 3 && block.y == 5 && shared == 7 && stream == (cudaStream_t)(uintptr_t)8, "the pushed configuration "
        "is popped");
    REFUSED(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), ErrorMissingConfiguration);
    OK(cudaFree(at));
}

/* ---- functions ---- */

static void test_names(void)
{
    const char *name = NULL;
    cudaKernel_t kernel = NULL, again = NULL, kept = (cudaKernel_t)(uintptr_t)&counter;
    cudaFunction_t function = NULL;
    size_t offset = 9, size = 9;
    OK(cudaFuncGetName(&name, STUB(vectorAdd)));
    tap_text(name, "_Z9vectorAddPKfS0_Pfi", "a function's name is the registered one");
    OK(cudaGetKernel(&kernel, STUB(vectorAdd)));
    OK(cudaGetKernel(&again, STUB(vectorAdd)));
    tap_ok(kernel && kernel == again, "one function, one kernel");
    OK(cudaFuncGetName(&name, kernel));
    tap_text(name, "_Z9vectorAddPKfS0_Pfi", "so is that of its kernel");
    OK(cudaGetFuncBySymbol(&function, STUB(vectorAdd)));
    EQUAL(cuFuncGetName(&name, function), CUDA_SUCCESS);
    OK(cudaFuncGetParamInfo(STUB(vectorAdd), 3, &offset, &size));
    tap_ok(offset == 24 && size == 4, "the fourth parameter");
    REFUSED(cudaFuncGetParamInfo(STUB(vectorAdd), 4, &offset, &size), ErrorInvalidValue);
    REFUSED(cudaFuncGetParamInfo(NULL, 0, &offset, &size), ErrorInvalidDeviceFunction);
    REFUSED(cudaFuncGetParamInfo(STUB(unregistered), 0, &offset, &size), ErrorInvalidResourceHandle);
    REFUSED(cudaFuncGetName(&name, STUB(unregistered)), ErrorInvalidResourceHandle);
    REFUSED(cudaFuncGetName(&name, STUB(nobody)), ErrorSymbolNotFound);
    REFUSED(cudaFuncGetName(NULL, STUB(vectorAdd)), ErrorInvalidValue);
    REFUSED(cudaGetKernel(NULL, STUB(vectorAdd)), ErrorInvalidValue);
    again = kept;
    REFUSED(cudaGetKernel(&again, STUB(unregistered)), ErrorInvalidDeviceFunction);
    REFUSED(cudaGetKernel(&again, NULL), ErrorInvalidDeviceFunction);
    tap_ok(again == kept, "a refused call writes nothing");
    REFUSED(__cudaGetKernel(&again, STUB(nobody)), ErrorSymbolNotFound);
    tap_ok(again == (cudaKernel_t)(uintptr_t)STUB(nobody), "a stub gets its function back");
    OK(cudaGetFuncBySymbol(NULL, STUB(vectorAdd)));
    REFUSED(cudaGetFuncBySymbol(NULL, STUB(nobody)), ErrorSymbolNotFound);
    REFUSED(cudaGetFuncBySymbol(&function, STUB(unregistered)), ErrorInvalidDeviceFunction);
    REFUSED(cudaGetFuncBySymbol(&function, STUB(nobody)), ErrorSymbolNotFound);
}

static void test_attributes(void)
{
    struct cudaFuncAttributes attributes;
    cudaKernel_t kernel = NULL;
    memset(&attributes, 0xa5, sizeof attributes);
    OK(cudaFuncGetAttributes(&attributes, STUB(vectorAdd)));
    EQUAL(attributes.maxThreadsPerBlock, 1024);
    EQUAL(attributes.binaryVersion, 90);
    EQUAL(attributes.maxDynamicSharedSizeBytes, 49152);
    EQUAL(attributes.preferredShmemCarveout, -1);
    tap_ok(!attributes.sharedSizeBytes && !attributes.constSizeBytes && !attributes.localSizeBytes && !attributes.reserved[15],
           "the rest is 0");
    OK(cudaFuncSetAttribute(STUB(vectorAdd), cudaFuncAttributeMaxDynamicSharedMemorySize, 70000));
    OK(cudaFuncGetAttributes(&attributes, STUB(vectorAdd)));
    EQUAL(attributes.maxDynamicSharedSizeBytes, 70000);
    OK(cudaGetKernel(&kernel, STUB(vectorAdd)));
    OK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 80000, 0));
    OK(cudaFuncGetAttributes(&attributes, kernel));
    EQUAL(attributes.maxDynamicSharedSizeBytes, 70000); /* the function's setting stays */
    OK(cudaFuncSetAttribute(STUB(vectorAdd), cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    REFUSED(cudaFuncSetAttribute(STUB(vectorAdd), cudaFuncAttributePreferredSharedMemoryCarveout, 101), ErrorInvalidValue);
    REFUSED(cudaFuncSetAttribute(STUB(vectorAdd), (enum cudaFuncAttribute)4, 1), ErrorInvalidValue);
    REFUSED(cudaFuncSetAttribute(STUB(unregistered), cudaFuncAttributeMaxDynamicSharedMemorySize, 1), ErrorInvalidResourceHandle);
    REFUSED(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1, 9), ErrorInvalidDevice);
    REFUSED(cudaKernelSetAttributeForDevice(NULL, cudaFuncAttributeMaxDynamicSharedMemorySize, 1, 0), ErrorInvalidDeviceFunction);
    memset(&attributes, 0xa5, sizeof attributes);
    REFUSED(cudaFuncGetAttributes(&attributes, STUB(unregistered)), ErrorInvalidResourceHandle);
    tap_ok(attributes.numRegs == (int)0xa5a5a5a5, "a refused call writes nothing");
    REFUSED(cudaFuncGetAttributes(NULL, STUB(vectorAdd)), ErrorInvalidValue);
    OK(cudaFuncSetCacheConfig(STUB(vectorAdd), cudaFuncCachePreferL1));
    REFUSED(cudaFuncSetCacheConfig(STUB(vectorAdd), (enum cudaFuncCache)9), ErrorInvalidValue);
    REFUSED(cudaFuncSetCacheConfig(STUB(nobody), cudaFuncCachePreferL1), ErrorSymbolNotFound);
    OK(cudaFuncSetSharedMemConfig(STUB(vectorAdd), cudaSharedMemBankSizeEightByte));
    REFUSED(cudaFuncSetSharedMemConfig(STUB(vectorAdd), (enum cudaSharedMemConfig)9), ErrorInvalidValue);
    REFUSED(cudaFuncSetSharedMemConfig(STUB(nobody), cudaSharedMemBankSizeEightByte), ErrorSymbolNotFound);
}

static void test_occupancy(void)
{
    int count = 77;
    size_t shared = 77;
    cudaLaunchAttribute cluster = {.id = cudaLaunchAttributeClusterDimension, .val.clusterDim = {4, 1, 1}};
    cudaLaunchConfig_t config = {.gridDim = {64, 1, 1}, .blockDim = {128, 1, 1}, .attrs = &cluster, .numAttrs = 1};
    const void *stub = STUB(count_up);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, stub, 256, 0));
    EQUAL(count, 8);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, stub, 512, 0, cudaOccupancyDisableCachingOverride));
    EQUAL(count, 4);
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, stub, 2, 1024));
    EQUAL(shared, 49152);
    OK(cudaFuncSetAttribute(stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, stub, 2, 1024));
    EQUAL(shared, 116736);
    OK(cudaOccupancyMaxPotentialClusterSize(&count, stub, &config));
    EQUAL(count, 8);
    OK(cudaOccupancyMaxActiveClusters(&count, stub, &config));
    tap_ok(count > 0, "%d clusters at once", count);
    count = 77;
    REFUSED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, STUB(unregistered), 256, 0), ErrorInvalidResourceHandle);
    REFUSED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, STUB(nobody), 256, 0), ErrorSymbolNotFound);
    REFUSED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, NULL, 256, 0), ErrorInvalidDeviceFunction);
    REFUSED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, stub, 0, 0), ErrorInvalidValue);
    REFUSED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, stub, 256, 0), ErrorInvalidValue);
    REFUSED(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, STUB(nobody), 256, 0, 0), ErrorSymbolNotFound);
    REFUSED(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, STUB(nobody), 1, 32), ErrorSymbolNotFound);
    REFUSED(cudaOccupancyMaxActiveClusters(&count, STUB(nobody), &config), ErrorSymbolNotFound);
    REFUSED(cudaOccupancyMaxPotentialClusterSize(&count, STUB(nobody), &config), ErrorSymbolNotFound);
    REFUSED(cudaOccupancyMaxActiveClusters(&count, stub, NULL), ErrorInvalidValue);
    EQUAL(count, 77);
    config.dynamicSmemBytes = (size_t)UINT_MAX + 1;
    OK(cudaOccupancyMaxPotentialClusterSize(&count, stub, &config));
}

/* ---- variables ---- */

static void test_symbols(void)
{
    void *at = NULL, *there = NULL;
    size_t size = 0;
    uint32_t value = 0, two[2] = {5, 6};
    uint64_t *seen = device_memory(8);
    OK(cudaGetSymbolAddress(&at, &counter));
    OK(cudaGetSymbolSize(&size, &counter));
    EQUAL(size, 4);
    OK(cudaGetSymbolSize(&size, table));
    EQUAL(size, 800);
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
    EQUAL(value, 42); /* its initial value */
    LAUNCH(dim(1), dim(1), 0, NULL, count_up(seen));
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDefault));
    EQUAL(value, 43);
    copy(&there, seen, 8);
    OK(cudaGetSymbolAddress(&at, table));
    tap_ok(at == there, "a kernel sees the variable where the runtime says");
    OK(cudaMemcpyToSymbol(table, two, 8, 792, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToSymbolAsync(table, (char *)at + 792, 8, 0, cudaMemcpyDeviceToDevice, NULL));
    two[0] = 0;
    OK(cudaMemcpyFromSymbolAsync(two, table, 4, 0, cudaMemcpyDeviceToHost, NULL));
    OK(cudaDeviceSynchronize());
    EQUAL(two[0], 5);
    REFUSED(cudaMemcpyToSymbol(table, two, 8, 793, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpyToSymbol(table, two, 8, SIZE_MAX, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpyToSymbol(table, two, 8, 0, cudaMemcpyDeviceToHost), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpyToSymbol(two, two, 8, 0, cudaMemcpyHostToDevice), ErrorInvalidSymbol);
    REFUSED(cudaMemcpyToSymbolAsync(&no_variable, two, 1, 0, cudaMemcpyHostToDevice, NULL), ErrorSymbolNotFound);
    REFUSED(cudaMemcpyFromSymbol(two, table, 8, 0, cudaMemcpyHostToHost), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpyFromSymbol(two, two, 8, 0, cudaMemcpyDefault), ErrorInvalidSymbol);
    REFUSED(cudaMemcpyFromSymbolAsync(two, table, 801, 0, cudaMemcpyDefault, NULL), ErrorInvalidValue);
    REFUSED(cudaMemcpyFromSymbolAsync(two, table, 8, 0, cudaMemcpyDefault, (cudaStream_t)(uintptr_t)0x77), ErrorInvalidResourceHandle);
    REFUSED(cudaGetSymbolAddress(&at, &value), ErrorInvalidSymbol);
    REFUSED(cudaGetSymbolAddress(&at, NULL), ErrorInvalidSymbol);
    REFUSED(cudaGetSymbolAddress(NULL, &counter), ErrorInvalidValue);
    REFUSED(cudaGetSymbolSize(NULL, &counter), ErrorInvalidValue);
    REFUSED(cudaGetSymbolSize(&size, &no_variable), ErrorSymbolNotFound);
    OK(cudaFree(seen));
}

/* A variable has a value for each device. */
static void test_symbols_of_devices(void)
{
    uint32_t value = 7;
    OK(cudaSetDevice(1));
    OK(cudaMemcpyToSymbol(&counter, &value, 4, 0, cudaMemcpyHostToDevice));
    OK(cudaSetDevice(0));
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
    EQUAL(value, 43);
}

/* ---- libraries ---- */

static void test_libraries(void)
{
    cudaLibrary_t library = NULL;
    cudaKernel_t kernel = NULL;
    void *at = NULL, *counted = device_memory(8), *args[] = {&counted};
    size_t size = 0;
    OK(cudaLibraryLoadData(&library, no_entries, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&kernel, library, "count_up"));
    OK(cudaLaunchKernel(kernel, dim(1), dim(1), args, 0, NULL));
    OK(cudaLibraryGetGlobal(&at, &size, library, "table"));
    EQUAL(size, 800);
    uint64_t seen = 0;
    copy(&seen, counted, 8);
    EQUAL(seen, (uintptr_t)at);
    OK(cudaLibraryGetGlobal(NULL, &size, library, "counter"));
    EQUAL(size, 4);
    REFUSED(cudaLibraryGetKernel(&kernel, library, "_Z6nobodyv"), ErrorSymbolNotFound);
    REFUSED(cudaLibraryGetGlobal(&at, &size, library, "no_variable"), ErrorSymbolNotFound);
    REFUSED(cudaLibraryGetManaged(&at, &size, library, "no_variable"), ErrorSymbolNotFound);
    REFUSED(cudaLibraryGetUnifiedFunction(&at, library, NULL), ErrorInvalidValue);
    REFUSED(cudaLibraryLoadData(NULL, no_entries, NULL, NULL, 0, NULL, NULL, 0), ErrorInvalidValue);
    REFUSED(cudaLibraryLoadFromFile(&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0), ErrorFileNotFound);
    OK(cudaLibraryUnload(library));
    REFUSED(cudaLibraryUnload(library), ErrorInvalidResourceHandle);
    REFUSED(cudaLaunchKernel(kernel, dim(1), dim(1), args, 0, NULL), ErrorInvalidResourceHandle);
    OK(cudaFree(counted));
}

/* All symbols of an image are found, also a kernel without a twin: it runs from PTX, or its launch is refused. */
static void test_image(void)
{
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.shared .b64 bar;\n"
                              ".visible .entry theirs(.param .u64 at)\n{\nmbarrier.inval.shared.b64 [bar];\nret;\n}\n"
                              ".visible .entry store(.param .u64 at)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [at];\n"
                              "st.global.u32 [%rd1], 77;\nret;\n}\n";
    cudaLibrary_t library = NULL;
    cudaKernel_t kernels[3] = {NULL, NULL, NULL}, theirs = NULL;
    unsigned count = 0;
    const char *name = NULL;
    void *at = NULL, *args[] = {&at};
    int stored = 0;
    OK(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernelCount(&count, library));
    EQUAL(count, 2);
    OK(cudaLibraryEnumerateKernels(kernels, 3, library));
    tap_ok(kernels[0] && kernels[1] && !kernels[2], "two kernels are listed");
    OK(cudaLibraryGetKernel(&theirs, library, "theirs"));
    OK(cudaFuncGetName(&name, theirs));
    tap_text(name, "theirs", "its name is the image's");
    REFUSED(cudaLaunchKernel(theirs, dim(1), dim(1), args, 0, NULL), ErrorNotSupported);
    OK(cudaMalloc(&at, 64));
    OK(cudaLaunchKernel(kernels[1], dim(1), dim(1), args, 0, NULL));
    OK(cudaMemcpy(&stored, at, sizeof stored, cudaMemcpyDeviceToHost));
    tap_u64((uint64_t)stored, 77, "what its PTX says is done");
    OK(cudaFree(at));
    REFUSED(cudaLibraryGetKernelCount(NULL, library), ErrorInvalidValue);
    REFUSED(cudaLibraryEnumerateKernels(NULL, 1, library), ErrorInvalidValue);
    OK(cudaLibraryUnload(library));
}

/* ---- images that are unregistered, like those of a closed library ---- */

static void test_unregistered(void)
{
    static char twice, once;
    const char *name = NULL;
    void **first = __cudaRegisterFatBinary(&fat_binary), **second = __cudaRegisterFatBinary(&fat_binary);
    register_function(first, &twice, "vectorAdd");
    register_function(second, &twice, "nothing");
    register_function(second, &once, "nothing");
    register_variable(second, &once, "flag", 1);
    OK(cudaFuncGetName(&name, &twice));
    tap_text(name, "vectorAdd", "of two functions with the same address, the first is found");
    __cudaUnregisterFatBinary(first);
    OK(cudaFuncGetName(&name, &twice));
    tap_text(name, "nothing", "then the other one");
    OK(cudaLaunchKernel(&once, dim(1), dim(1), NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    __cudaUnregisterFatBinary(second);
    REFUSED(cudaFuncGetName(&name, &twice), ErrorInvalidResourceHandle);
    REFUSED(cudaLaunchKernel(&once, dim(1), dim(1), NULL, 0, NULL), ErrorInvalidResourceHandle);
    REFUSED(cudaGetSymbolAddress((void **)&name, &once), ErrorInvalidSymbol);
    first = __cudaRegisterFatBinary(&fat_binary);
    second = __cudaRegisterFatBinary(&fat_binary);
    register_function(first, &once, "nothing");
    register_function(second, &once, "vectorAdd");
    __cudaUnregisterFatBinary(second); /* the newer one first */
    OK(cudaLaunchKernel(&once, dim(1), dim(1), NULL, 0, NULL));
    __cudaUnregisterFatBinary(first);
    REFUSED(cudaFuncGetName(&name, &once), ErrorInvalidResourceHandle);
}

/* Anything but a fat binary's wrapper is an image without code; a NULL handle is ignored. */
static void test_no_image(void)
{
    static struct fat_binary_wrapper wrong = {5, 1, no_entries, NULL};
    static char function;
    void **bad = __cudaRegisterFatBinary(&wrong), **none = __cudaRegisterFatBinary(NULL);
    register_function(bad, &function, "nothing");
    REFUSED(cudaLaunchKernel(&function, dim(1), dim(1), NULL, 0, NULL), ErrorInvalidKernelImage);
    __cudaUnregisterFatBinary(bad);
    register_function(none, &function, "nothing");
    REFUSED(cudaLaunchKernel(&function, dim(1), dim(1), NULL, 0, NULL), ErrorInvalidKernelImage);
    __cudaUnregisterFatBinary(none);
    register_function(NULL, &function, "nothing");
    __cudaUnregisterFatBinary(NULL);
    REFUSED(cudaLaunchKernel(&function, dim(1), dim(1), NULL, 0, NULL), ErrorInvalidResourceHandle);
    EQUAL(__cudaInitModule(NULL), 0);
    REFUSED((cudaError_t)cudaPeekAtLastError(), ErrorInvalidResourceHandle);
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    test_vector_add(1);
    test_vector_add(0);
    test_forms();
    test_refused(cudaLaunchKernel);
    test_refused(cudaLaunchCooperativeKernel);
    test_refused(launch_with);
    test_refused(launch_kernel);
    test_refused_of_kernel();
    test_configurations();
    test_names();
    test_attributes();
    test_occupancy();
    test_symbols();
    test_symbols_of_devices();
    test_libraries();
    test_image();
    test_unregistered();
    test_no_image();
    EQUAL(__cudaInitModule(image), 1);
    return tap_done();
}

/* As compiled code does: after main, and after the runtime's own shutdown. */
__attribute__((destructor)) static void unregister_all(void)
{
    __cudaUnregisterFatBinary(image);
}
