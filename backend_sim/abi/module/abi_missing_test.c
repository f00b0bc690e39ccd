/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and variables that an image contains but no plugin has: they are found and described, but a launch is refused. */
#include <unistd.h>

#include "image_rig.h"
#include "testing/rig.h"

static const struct rig_kernel kernels[] = {
    {.name = "_Z5firstPfic", .param = {8, 4, 1}, .registers = 40, .frame = 800, .shared = 1024 + 256, .threads = {128, 1, 1}},
    {.name = "second", .param = {4, 5000, 2}, .registers = 128},
    {.name = "nothing", .param = {8}}, /* as declared by a plugin, without parameters */
    {.name = "clusters", .cluster = {2, 1, 1}},
};
enum { KERNELS = 4 };
static const struct rig_variable variables[] = {{"word", 4, "abcd"}, {"fixed", 8, "12345678"}, {"zeros", 400, NULL}, {"counter", 16, NULL}};

static struct rig_bytes cubin;
static CUmodule module;

static CUfunction function(const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static void check_attribute(CUfunction f, CUfunction_attribute attribute, int want)
{
    int value = -7;
    OK(cuFuncGetAttribute(&value, attribute, f));
    tap_u64((uint64_t)value, (uint64_t)want, "attribute %d", (int)attribute);
}

static void test_description(void)
{
    CUfunction f = function("_Z5firstPfic"), other = NULL;
    const char *name = NULL;
    size_t offset = 0, size = 0;
    CUmodule of = NULL;
    tap_ok(function("_Z5firstPfic") == f, "a name always yields the same function");
    OK(cuFuncGetName(&name, f));
    tap_text(name, "_Z5firstPfic", "its name");
    OK(cuFuncGetModule(&of, f));
    tap_ok(of == module, "its module");
    OK(cuFuncGetParamInfo(f, 2, &offset, &size));
    tap_ok(offset == 12 && size == 1, "a parameter");
    IS(cuFuncGetParamInfo(f, 3, &offset, &size), ERROR_INVALID_VALUE);
    check_attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 128);
    check_attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 256);
    check_attribute(f, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 8);
    check_attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 800);
    check_attribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 40);
    check_attribute(f, CU_FUNC_ATTRIBUTE_PTX_VERSION, 90);
    check_attribute(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION, 90);
    check_attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 48 * 1024 - 256);
    check_attribute(function("clusters"), CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2);
    check_attribute(function("second"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 512);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 256));
    IS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 255), ERROR_INVALID_VALUE);
    check_attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 256);
    IS(cuModuleGetFunction(&other, module, "helper"), ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&other, module, "first"), ERROR_NOT_FOUND);
}

/* Registers and static shared memory count. */
static void test_occupancy(void)
{
    int blocks = -1, grid = 0, block = 0;
    size_t shared = 0;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("second"), 256, 0));
    EQUAL(blocks, 2); /* 16 warps of 128 registers a thread */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("second"), 1024, 0));
    EQUAL(blocks, 0);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function("_Z5firstPfic"), NULL, 0, 0));
    EQUAL(block, 128);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("_Z5firstPfic"), 128, 100 * 1024));
    EQUAL(blocks, 2);
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&shared, function("_Z5firstPfic"), 2, 128));
    EQUAL(shared, 116736 - 256);
}

static void test_lists(void)
{
    CUlibrary library = NULL;
    CUfunction functions[6] = {NULL};
    CUkernel found[6] = {NULL}, kernel = NULL;
    CUmodule plain = NULL;
    unsigned count = 99;
    int value = 0;
    const char *name = NULL;
    OK(cuModuleGetFunctionCount(&count, module));
    EQUAL(count, KERNELS);
    OK(cuModuleEnumerateFunctions(functions, 2, module));
    tap_ok(functions[0] == function("_Z5firstPfic") && functions[1] == function("second") && !functions[2], "as many as there is room for");
    OK(cuModuleEnumerateFunctions(functions, 6, module));
    tap_ok(functions[2] == function("nothing") && functions[3] && !functions[4], "or as there are");
    OK(cuLibraryLoadData(&library, cubin.at, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernelCount(&count, library));
    EQUAL(count, KERNELS);
    OK(cuLibraryEnumerateKernels(found, 6, library));
    OK(cuLibraryGetKernel(&kernel, library, "second"));
    tap_ok(found[1] == kernel && !found[4], "a library's kernels");
    OK(cuKernelGetName(&name, kernel));
    tap_text(name, "second", "their names");
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
    EQUAL(value, 128);
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, kernel, 0));
    IS(cuLibraryGetKernelCount(NULL, library), ERROR_INVALID_VALUE);
    IS(cuLibraryEnumerateKernels(NULL, 1, library), ERROR_INVALID_VALUE);
    IS(cuModuleEnumerateFunctions(NULL, 1, module), ERROR_INVALID_VALUE);
    IS(cuModuleGetFunctionCount(NULL, module), ERROR_INVALID_VALUE);
    OK(cuLibraryUnload(library));
    IS(cuKernelGetName(&name, kernel), ERROR_INVALID_HANDLE);
    IS(cuLibraryGetKernelCount(&count, library), ERROR_INVALID_HANDLE);
    IS(cuModuleEnumerateFunctions(functions, 2, (CUmodule)(void *)library), ERROR_INVALID_HANDLE);
    OK(cuModuleLoadData(&plain, "no image"));
    OK(cuModuleGetFunctionCount(&count, plain));
    EQUAL(count, 0);
    OK(cuModuleEnumerateFunctions(functions, 2, plain));
    OK(cuModuleUnload(plain));
}

static void test_variables(void)
{
    CUdeviceptr at = 0, again = 0;
    size_t bytes = 0;
    char read[16] = "";
    CUlibrary library = NULL;
    OK(cuModuleGetGlobal(&at, &bytes, module, "word"));
    EQUAL(bytes, 4);
    OK(cuMemcpyDtoH(read, at, 4));
    tap_text(read, "abcd", "its initial value");
    OK(cuMemsetD8(at, 'z', 4));
    OK(cuModuleGetGlobal(&again, NULL, module, "word"));
    tap_ok(again == at && byte_at(again) == 'z', "it stays");
    OK(cuModuleGetGlobal(NULL, &bytes, module, "zeros"));
    EQUAL(bytes, 400);
    OK(cuModuleGetGlobal(&at, &bytes, module, "counter"));
    EQUAL(bytes, 4); /* the plugin's */
    IS(cuModuleGetGlobal(&at, &bytes, module, "second"), ERROR_INVALID_VALUE);
    IS(cuModuleGetGlobal(&at, &bytes, module, "absent"), ERROR_NOT_FOUND);
    OK(cuLibraryLoadData(&library, cubin.at, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetGlobal(&at, &bytes, library, "word"));
    tap_ok(at != again && byte_at(at) == 'a', "each image has its own");
    OK(cuDevicePrimaryCtxReset(0));
    begin();
    OK(cuLibraryGetGlobal(&again, &bytes, library, "word"));
    tap_u64(byte_at(again), 'a', "and each context");
    OK(cuLibraryUnload(library));
    tap_u64(byte_at(again), 256, "until it is unloaded");
    OK(cuModuleLoadData(&module, cubin.at));
}

/* A launch's other refusals stay the same. */
static void test_refused(void)
{
    CUfunction f = function("_Z5firstPfic");
    CUdeviceptr p = 0;
    int n = 0;
    char c = 0;
    void *params[] = {&p, &n, &c}, *hole[] = {&p, NULL, &c};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0};
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), ERROR_NOT_SUPPORTED);
    IS(cuLaunchKernelEx(&config, f, params, NULL), ERROR_NOT_SUPPORTED);
    IS(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params), ERROR_NOT_SUPPORTED);
    IS(cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 129, 1, 1, 0, NULL, params, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, hole, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(function("clusters"), 3, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), ERROR_INVALID_CLUSTER_SIZE);
    OK(cuLaunchKernel(function("nothing"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)); /* the plugin's */
    OK(cuCtxSynchronize());
}

static void test_refused_in_graphs(void)
{
    CUfunction f = function("clusters");
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUstream stream = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUDA_KERNEL_NODE_PARAMS params = {.func = f, .gridDimX = 2, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1,
                                      .blockDimZ = 1};
    size_t nodes = 9;
    OK(cuGraphCreate(&graph, 0));
    IS(cuGraphAddKernelNode(&node, graph, NULL, 0, &params), ERROR_NOT_SUPPORTED);
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    EQUAL(nodes, 0);
    OK(cuGraphDestroy(graph));
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    IS(cuLaunchKernel(f, 2, 1, 1, 1, 1, 1, 0, stream, NULL, NULL), ERROR_NOT_SUPPORTED);
    OK(cuStreamIsCapturing(stream, &status));
    tap_u64(status, CU_STREAM_CAPTURE_STATUS_ACTIVE, "the refused launch changed nothing");
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

/* Images in files: a whole one, one that ends early, and one that is larger than its first part. */
static void test_files(void)
{
    char path[] = "/tmp/cuvmm-image-XXXXXX";
    CUmodule loaded = NULL;
    CUlibrary library = NULL;
    unsigned count = 9;
    int file = mkstemp(path);
    struct rig_bytes large = {NULL, 0, 0};
    struct rig_kernel many[600];
    char name[600][16];
    if (file < 0 || write(file, cubin.at, cubin.size) != (ssize_t)cubin.size)
        tap_bail("no file");
    OK(cuModuleLoad(&loaded, path));
    OK(cuModuleGetFunctionCount(&count, loaded));
    EQUAL(count, KERNELS);
    OK(cuModuleUnload(loaded));
    if (ftruncate(file, (off_t)cubin.size - 8))
        tap_bail("no file");
    OK(cuModuleLoad(&loaded, path));
    OK(cuModuleGetFunctionCount(&count, loaded));
    tap_u64(count, 0, "nothing is found in a damaged image");
    CUfunction f = NULL;
    IS(cuModuleGetFunction(&f, loaded, "second"), ERROR_NOT_FOUND);
    OK(cuModuleUnload(loaded));
    for (int i = 0; i < 600; i++) {
        snprintf(name[i], sizeof name[i], "many%d", i);
        many[i] = (struct rig_kernel){.name = name[i]};
    }
    rig_cubin(&large, 90, many, 600, NULL, 0);
    if (pwrite(file, large.at, large.size, 0) != (ssize_t)large.size)
        tap_bail("no file");
    OK(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernelCount(&count, library));
    EQUAL(count, 600);
    OK(cuLibraryUnload(library));
    close(file);
    unlink(path);
    free(large.at);
}

/* A module with more kernels than 16 bits can number. */
static void test_many(void)
{
    enum { MANY = 65537 };
    char *text = malloc(64 * (size_t)MANY + 64), *at = text;
    CUfunction *found = calloc(MANY, sizeof *found), f = NULL;
    CUmodule many = NULL;
    unsigned count = 0, wrong = 0;
    if (!text || !found)
        tap_bail("no memory");
    at += sprintf(at, ".version 8.0\n.target sm_90\n");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, ".visible .entry k%d(.param .u64 a) { ret; }\n", i);
    OK(cuModuleLoadData(&many, text));
    CUmodule older = NULL;
    OK(cuModuleLoadData(&older, text));
    OK(cuModuleEnumerateFunctions(found, MANY, older));
    free(text); /* the image is no longer needed */
    OK(cuModuleGetFunctionCount(&count, many));
    EQUAL(count, MANY);
    OK(cuModuleEnumerateFunctions(found, MANY, many));
    for (int i = 0; i < MANY; i += 7) {
        char name[16];
        const char *told = "";
        snprintf(name, sizeof name, "k%d", i);
        wrong += cuModuleGetFunction(&f, many, name) != CUDA_SUCCESS || f != found[i] || cuFuncGetName(&told, f) != CUDA_SUCCESS ||
                 strcmp(told, name) != 0;
    }
    EQUAL(wrong, 0);
    OK(cuModuleUnload(older)); /* whose functions are among the other's */
    EQUAL(cuFuncGetModule(&older, found[5]), CUDA_SUCCESS);
    tap_ok(older == many, "the other module's functions stay");
    OK(cuModuleUnload(many));
    IS(cuFuncGetModule(&many, found[5]), ERROR_INVALID_HANDLE);
    free(found);
}

/* An image's own variables in two contexts, of which one ends and begins again. */
static void test_contexts(void)
{
    CUlibrary library = NULL;
    CUcontext here = NULL, there = NULL, again = NULL;
    CUdeviceptr first = 0, second = 0, zeros = 0, later = 0;
    char text[4] = "";
    OK(cuCtxGetCurrent(&here));
    OK(cuLibraryLoadData(&library, cubin.at, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetGlobal(&first, NULL, library, "word"));
    OK(cuLibraryGetGlobal(&zeros, NULL, library, "zeros"));
    OK(cuMemsetD8(first, 'x', 4));
    OK(cuCtxCreate(&there, NULL, 0, 0));
    OK(cuLibraryGetGlobal(&second, NULL, library, "word"));
    tap_ok(second != first, "each context has its own");
    OK(cuMemcpyDtoH(text, second, 4));
    tap_ok(memcmp(text, "abcd", 4) == 0, "with the initial value");
    OK(cuCtxSetCurrent(here));
    OK(cuLibraryGetGlobal(&later, NULL, library, "word"));
    EQUAL(later, first);
    OK(cuLibraryGetGlobal(&later, NULL, library, "fixed")); /* new in the older of two contexts */
    OK(cuMemcpyDtoH(text, later, 4));
    tap_ok(memcmp(text, "1234", 4) == 0, "in a context before another one");
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuDevicePrimaryCtxRetain(&again, 0)); /* the same value, which is the current context */
    OK(cuLibraryGetGlobal(&later, NULL, library, "word"));
    OK(cuMemcpyDtoH(text, later, 4));
    tap_ok(memcmp(text, "abcd", 4) == 0, "a context that begins again has it anew");
    OK(cuCtxDestroy(there));
    OK(cuCtxSetCurrent(here));
    OK(cuLibraryUnload(library));
}

int main(void)
{
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    begin();
    rig_cubin(&cubin, 90, kernels, KERNELS, variables, 4);
    OK(cuModuleLoadData(&module, cubin.at));
    test_description();
    test_occupancy();
    test_lists();
    test_variables();
    test_refused();
    test_refused_in_graphs();
    test_files();
    test_many();
    OK(cuModuleUnload(module));
    test_contexts(); /* which ends the primary context */
    free(cubin.at);
    return tap_done();
}
