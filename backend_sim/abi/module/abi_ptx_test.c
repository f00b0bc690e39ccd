/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels run from the PTX of what was loaded: as text, in fat binaries, beside cubins. */
#include <unistd.h>

#include "image_rig.h"
#include "testing/device.h"
#include "testing/heard.h"

static char *text;
static CUmodule module;

static void test_add(CUmodule in)
{
    enum { N = 1000 };
    float a[N], b[N], c[N];
    int n = N - 1;
    unsigned wrong = 0;
    CUdeviceptr at;
    OK(cuMemAlloc(&at, 3 * sizeof a));
    CUdeviceptr second = at + sizeof a, third = second + sizeof b;
    void *params[] = {&at, &second, &third, &n};
    for (int i = 0; i < N; i++) {
        a[i] = (float)i / 3;
        b[i] = (float)(N - i);
    }
    OK(cuMemcpyHtoD(at, a, sizeof a));
    OK(cuMemcpyHtoD(second, b, sizeof b));
    OK(launch(kernel_in(in, "add"), (N + 255) / 256, 256, 0, params));
    OK(cuMemcpyDtoH(c, third, sizeof c));
    for (int i = 0; i < N - 1; i++)
        wrong += c[i] != a[i] + b[i];
    tap_u64(wrong, 0, "sums");
    tap_ok(c[N - 1] == 0, "and no more than n");
    OK(cuMemFree(at));
}

static void check_attribute(CUfunction f, CUfunction_attribute attribute, int want)
{
    int value = -7;
    OK(cuFuncGetAttribute(&value, attribute, f));
    tap_u64((uint64_t)value, (uint64_t)want, "attribute %d", (int)attribute);
}

static void test_attributes(void)
{
    int registers = 0;
    size_t offset = 0, size = 0;
    check_attribute(kernel_in(module, "bounded"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 128);
    check_attribute(kernel_in(module, "turn"), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 256);
    check_attribute(kernel_in(module, "scale"), CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 16);
    check_attribute(kernel_in(module, "scale"), CU_FUNC_ATTRIBUTE_PTX_VERSION, 80);
    check_attribute(kernel_in(module, "scale"), CU_FUNC_ATTRIBUTE_BINARY_VERSION, 90);
    OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel_in(module, "add")));
    tap_ok(registers >= 4 && registers <= 32, "add needs %d registers", registers);
    OK(cuFuncGetParamInfo(kernel_in(module, "add"), 3, &offset, &size));
    tap_ok(offset == 24 && size == 4, "a parameter");
}

/* Initial values, of which one is an address, constant memory, and what a program stores there. */
static void test_variables(void)
{
    int out[5] = {0}, by = 7, five = 5, hundred = 100;
    CUdeviceptr at, total, factors, other;
    size_t bytes = 0;
    CUmodule second = NULL;
    OK(cuMemAlloc(&at, sizeof out));
    void *params[] = {&at}, *add[] = {&by};
    OK(launch(kernel_in(module, "scale"), 1, 5, 0, params));
    OK(cuMemcpyDtoH(out, at, sizeof out));
    tap_ok(out[0] == 1000 && out[3] == 4000 && out[4] == 1000, "initial values: %d, %d, %d", out[0], out[3], out[4]);
    OK(cuModuleGetGlobal(&total, &bytes, module, "total"));
    EQUAL(bytes, 4);
    OK(cuModuleGetGlobal(&factors, &bytes, module, "factors"));
    EQUAL(bytes, 16);
    OK(cuMemcpyHtoD(factors, &five, sizeof five));
    OK(cuMemcpyHtoD(total, &hundred, sizeof hundred));
    OK(launch(kernel_in(module, "count"), 3, 10, 0, add));
    OK(launch(kernel_in(module, "scale"), 1, 5, 0, params));
    OK(cuMemcpyDtoH(out, at, sizeof out));
    tap_ok(out[0] == 5 * 310 && out[1] == 620, "as they are now: %d, %d", out[0], out[1]);
    IS(cuModuleGetGlobal(&other, NULL, module, "scale"), ERROR_INVALID_VALUE);
    IS(cuModuleGetGlobal(&other, NULL, module, "absent"), ERROR_NOT_FOUND);
    OK(cuModuleLoadData(&second, text));
    OK(cuModuleGetGlobal(&other, NULL, second, "total"));
    tap_ok(other != total && byte_at(other) == (1000 & 255), "each module has its own");
    OK(cuModuleUnload(second));
    tap_u64(byte_at(other), 256, "until it is unloaded");
    OK(cuMemFree(at));
}

static void test_contexts(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUcontext here = NULL, there = NULL;
    CUdeviceptr first = 0, second = 0;
    int by = 1;
    void *params[] = {&by};
    OK(cuCtxGetCurrent(&here));
    OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "count"));
    OK(cuLibraryGetGlobal(&first, NULL, library, "total"));
    OK(launch((CUfunction)(void *)kernel, 1, 5, 0, params));
    OK(cuCtxSynchronize());
    OK(cuCtxCreate(&there, NULL, 0, 0));
    OK(cuLibraryGetGlobal(&second, NULL, library, "total"));
    OK(launch((CUfunction)(void *)kernel, 1, 6, 0, params));
    OK(cuCtxSynchronize());
    tap_u64(byte_at(first), 1005 & 255, "each context has its own variables");
    tap_u64(byte_at(second), 1006 & 255, "and launches use those");
    OK(cuCtxDestroy(there));
    OK(cuCtxSetCurrent(here));
    OK(cuDevicePrimaryCtxReset(0));
    use_device(0);
    OK(cuLibraryGetGlobal(&first, NULL, library, "total"));
    tap_u64(byte_at(first), 1000 & 255, "one that begins again has them anew");
    OK(cuLibraryUnload(library));
    OK(cuModuleLoadData(&module, text)); /* the other copy ended with its context */
}

static void test_shared(void)
{
    int words[64], n = 64;
    CUdeviceptr at;
    CUfunction turn = kernel_in(module, "turn");
    CUlaunchConfig config = {1, 1, 1, 64, 1, 1, 256, NULL, NULL, 0};
    for (int i = 0; i < 64; i++)
        words[i] = i;
    OK(cuMemAlloc(&at, sizeof words));
    OK(cuMemcpyHtoD(at, words, sizeof words));
    void *params[] = {&at, &n};
    OK(cuLaunchKernelEx(&config, turn, params, NULL));
    OK(cuMemcpyDtoH(words, at, sizeof words));
    tap_ok(words[0] == 63 && words[5] == 63 && words[63] == 63, "static and dynamic shared memory");
    REFUSED(launch(turn, 1, 64, 48 * 1024, params), ERROR_INVALID_VALUE, "VMM-LAUNCH-ARGUMENTS");
    OK(cuFuncSetAttribute(turn, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 * 1024));
    OK(launch(turn, 1, 64, 48 * 1024, params));
    OK(cuCtxSynchronize());
    OK(cuMemFree(at));
}

static void test_host_memory(void)
{
    enum { WORDS = 1000 };
    uint64_t *words = calloc(WORDS, sizeof *words), *pinned = NULL, value = 5;
    CUdeviceptr at = 0;
    OK(cuMemHostRegister(words, WORDS * sizeof *words, 0));
    OK(cuMemHostGetDevicePointer(&at, words, 0));
    void *params[] = {&at, &value};
    OK(launch(kernel_in(module, "fill"), 10, 100, 0, params));
    OK(cuCtxSynchronize());
    tap_ok(words[0] == 5 && words[999] == 1004, "registered memory of the host");
    test_add(module); /* in the device's memory, while there is some */
    OK(cuMemHostUnregister(words));
    OK(cuMemHostAlloc((void **)&pinned, 4096, 0));
    OK(cuMemHostGetDevicePointer(&at, pinned, 0));
    OK(launch(kernel_in(module, "fill"), 1, 100, 0, params));
    OK(cuCtxSynchronize());
    tap_ok(pinned[99] == 104, "memory of cuMemHostAlloc");
    OK(cuMemFreeHost(pinned));
    free(words);
}

/* What was written to standard output meanwhile. */
static void test_print(void)
{
    char printed[400] = "";
    double much = 2.5;
    CUdeviceptr none = 0;
    void *params[] = {&none, &much};
    CUfunction greet = kernel_in(module, "greet");
    FILE *file = tmpfile();
    fflush(stdout);
    int out = dup(1);
    dup2(fileno(file), 1);
    CUresult launched = launch(greet, 2, 2, 0, params);
    fflush(stdout);
    long before = lseek(fileno(file), 0, SEEK_END);
    CUresult waited = cuCtxSynchronize();
    fflush(stdout);
    dup2(out, 1);
    close(out);
    rewind(file);
    printed[fread(printed, 1, sizeof printed - 1, file)] = '\0';
    fclose(file);
    IS(launched, SUCCESS);
    IS(waited, SUCCESS);
    tap_ok(before == 0, "nothing before the program waits, and not %ld bytes", before);
    tap_ok(strstr(printed, "hello 0 2.5 device\nhello 1 2.5 device\nhello 2 2.5 device\nhello 3 2.5 device\n") != NULL, "printed: %s", printed);
}

/* *address = malloc(size), in the current context's heap; -1: the launch failed. */
static CUdeviceptr allocated(CUmodule in, uint64_t size)
{
    CUdeviceptr at = 0, address = 0;
    void *params[] = {&at, &size};
    OK(cuMemAlloc(&at, sizeof address));
    OK(launch(kernel_in(in, "take"), 1, 1, 0, params));
    OK(cuMemcpyDtoH(&address, at, sizeof address));
    OK(cuMemFree(at));
    return address;
}

/* As large as the limit says when the module's variables are made, and as long-lived as these. */
static void test_heap(void)
{
    static const char heap_text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b64 r) malloc(.param .b64 a);\n"
                                    ".extern .func free(.param .b64 a);\n.visible .entry take(.param .u64 out, .param .u64 size) { .reg .b64 %d<4>; "
                                    "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [size];\ncall (%d2), malloc, (%d1); st.global.u64 [%d0], %d2; ret; }\n"
                                    ".visible .entry drop(.param .u64 at) { .reg .b64 %d<4>; ld.param.u64 %d0, [at]; call free, (%d0); ret; }\n";
    enum { MIB = 1 << 20 };
    static const size_t limits[] = {0, 32 * MIB, SIZE_MAX, SIZE_MAX / 2}; /* of the last two, one wraps around to 0, and neither is a size to be had */
    size_t was = 0;
    OK(cuCtxGetLimit(&was, CU_LIMIT_MALLOC_HEAP_SIZE));
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        CUmodule small = NULL;
        CUdeviceptr one = 0, end = 0;
        size_t bytes = 0;
        if (limits[i])
            OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, limits[i]));
        const uint64_t most = limits[i] == 32 * MIB ? 32 * MIB : 8 * MIB;
        OK(cuModuleLoadData(&small, heap_text));
        tap_u64(allocated(small, most), 0, "no block is as large as the heap");
        one = allocated(small, most / 2);
        end = allocated(small, most / 2 - 64);
        tap_ok(one && end > one && one % 16 == 0, "two share it");
        void *params[] = {&one};
        OK(launch(kernel_in(small, "drop"), 1, 1, 0, params));
        tap_u64(allocated(small, most / 2), one, "the next kernel gets memory that a kernel frees");
        OK(cuMemcpyDtoH(&bytes, one, sizeof bytes)); /* it is memory of the device */
        OK(cuModuleUnload(small));
    }
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, was));
}

static void test_graph(void)
{
    int by = 10;
    CUdeviceptr total;
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream;
    void *params[] = {&by};
    OK(cuModuleGetGlobal(&total, NULL, module, "total"));
    OK(cuMemsetD8(total, 0, 4));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(kernel_in(module, "count"), 1, 1, 1, 2, 1, 1, 0, stream, params, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    tap_u64(byte_at(total), 40, "a captured launch runs as often as its graph");
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

/* ---- fat binaries ---- */

static void load_and_add(const void *image, const char *what)
{
    CUmodule loaded = NULL;
    tap_note("%s", what);
    OK(cuModuleLoadData(&loaded, image));
    test_add(loaded);
    OK(cuModuleUnload(loaded));
}

static void test_fat_binaries(void)
{
    static const struct rig_kernel kernels[] = {{.name = "add", .param = {8, 8, 8, 4}, .registers = 40}, {.name = "other"}};
    struct rig_bytes cubin = {NULL, 0, 0}, both = {NULL, 0, 0}, packed = {NULL, 0, 0}, lz4 = {NULL, 0, 0}, wrong = {NULL, 0, 0};
    CUmodule loaded = NULL;
    size_t size = strlen(text);
    rig_cubin(&cubin, 90, kernels, 2, NULL, 0);
    rig_fatbin(&both);
    rig_entry(&both, RIG_CUBIN, 90, 0, cubin.at, cubin.size, 0);
    rig_entry(&both, RIG_PTX, 80, 0, text, size, 0);
    load_and_add(both.at, "beside a cubin");
    OK(cuModuleLoadData(&loaded, both.at));
    check_attribute(kernel_in(loaded, "add"), CU_FUNC_ATTRIBUTE_NUM_REGS, 40);
    REFUSED(launch(kernel_in(loaded, "other"), 1, 1, 0, NULL), ERROR_NOT_SUPPORTED, "VMM-LAUNCH-MISSING");
    OK(cuModuleUnload(loaded));
    rig_lz4(&packed, text, size);
    rig_fatbin(&lz4);
    rig_entry(&lz4, RIG_PTX, 80, RIG_LZ4, packed.at, packed.size, size);
    load_and_add(lz4.at, "packed");
    rig_entry(&lz4, RIG_CUBIN, 90, 0, cubin.at, cubin.size, 0);
    load_and_add(lz4.at, "packed beside a cubin");
    rig_fatbin(&wrong);
    rig_entry(&wrong, RIG_CUBIN, 90, 0, cubin.at, cubin.size, 0);
    rig_entry(&wrong, RIG_PTX, 80, 0, ".version 8.0\n.target sm_80\n.entry add { rot; }\n", 48, 0);
    OK(cuModuleLoadData(&loaded, wrong.at)); /* it is read at a lookup */
    CUdeviceptr none = 0;
    int n = 0;
    void *params[] = {&none, &none, &none, &n};
    REFUSED(launch(kernel_in(loaded, "add"), 1, 1, 0, params), ERROR_NOT_SUPPORTED, "VMM-LAUNCH-MISSING");
    tap_ok(strstr(heard, "line 3, column 14 of its PTX"), "it says what is wrong with the PTX: %s", heard);
    OK(cuModuleUnload(loaded));
    OK(cuModuleLoadData(&loaded, cubin.at));
    REFUSED(launch(kernel_in(loaded, "add"), 1, 1, 0, params), ERROR_NOT_SUPPORTED, "VMM-LAUNCH-MISSING");
    tap_ok(strstr(heard, "-gencode arch=compute_90,code=compute_90"), "and how to keep PTX: %s", heard);
    OK(cuModuleUnload(loaded));
    free(cubin.at), free(both.at), free(packed.at), free(lz4.at), free(wrong.at);
}

/* ---- refusals ---- */

static void test_log(void)
{
    char log[200] = "?", info[8] = "?";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log, info, (void *)sizeof info};
    CUmodule none = NULL;
    CUlibrary library = NULL;
    static const char bad[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n  add.s32 %r1, 1;\n}\n";
    REFUSED(cuModuleLoadDataEx(&none, bad, 4, options, values), ERROR_INVALID_PTX, "VMM-CODE-PTX");
    tap_ok(strncmp(log, "error: line 6, column ", 22) == 0 && (size_t)values[1] == strlen(log), "the log: %s", log);
    tap_ok(info[0] == '\0' && !values[3] && !none, "nothing else");
    values[1] = (void *)10;
    memset(log, '?', sizeof log);
    REFUSED(cuLibraryLoadData(&library, bad, options, values, 4, NULL, NULL, 0), ERROR_INVALID_PTX, "VMM-CODE-PTX");
    tap_ok(strcmp(log, "error: li") == 0 && (size_t)values[1] == 9 && log[10] == '?', "as far as there is room");
    values[1] = NULL;
    REFUSED(cuModuleLoadDataEx(&none, bad, 2, options, values), ERROR_INVALID_PTX, "VMM-CODE-PTX");
    tap_ok(log[0] == 'e' && !values[1], "no room at all");
    REFUSED(cuModuleLoadData(&none, ".version 8.7\n.target sm_100\n"), ERROR_INVALID_PTX, "VMM-CODE-PTX");
    tap_ok(strstr(heard, "is for sm_100, and the device is sm_90"), "%s", heard);
}

static void test_refused_launches(void)
{
    CUmodule small = NULL;
    CUdeviceptr word = 0;
    void *params[] = {&word};
    OK(cuModuleLoadData(&small, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry three() .reqntid 8, 2, 1 { ret; }\n"));
    CUfunction three = kernel_in(small, "three");
    REFUSED(launch(three, 1, 16, 0, NULL), ERROR_INVALID_VALUE, "VMM-LAUNCH-DIMENSIONS");
    REFUSED(cuLaunchKernel(three, 1, 1, 1, 8, 1, 1, 0, NULL, NULL, NULL), ERROR_INVALID_VALUE, "VMM-LAUNCH-DIMENSIONS");
    REFUSED(cuLaunchKernel(three, 1, 1, 1, 8, 2, 2, 0, NULL, NULL, NULL), ERROR_INVALID_VALUE, "VMM-LAUNCH-DIMENSIONS");
    OK(cuLaunchKernel(three, 1, 1, 1, 8, 2, 1, 0, NULL, NULL, NULL));
    REFUSED(launch(kernel_in(module, "barriers"), 1, 1, 0, params), ERROR_NOT_SUPPORTED, "VMM-LAUNCH-MISSING");
    tap_ok(strstr(heard, "mbarrier.inval.shared.b64 at line "), "it names the instruction: %s", heard);
    OK(cuModuleUnload(small)); /* with work in flight */
    OK(cuCtxSynchronize());
    OK(cuModuleLoadData(&small, ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref t;\n.entry k(.param .u64 a) { ret; }\n"));
    OK(launch(kernel_in(small, "k"), 1, 1, 0, params)); /* which uses no texture */
    OK(cuModuleUnload(small));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100,schedule=late", 1);
    text = device_text();
    begin();
    listen();
    OK(cuModuleLoadData(&module, text));
    test_add(module);
    test_attributes();
    test_variables();
    test_shared();
    test_host_memory();
    test_print();
    test_heap();
    test_graph();
    test_fat_binaries();
    test_log();
    test_refused_launches();
    test_contexts();
    OK(cuModuleUnload(module));
    free(text);
    return tap_done();
}
