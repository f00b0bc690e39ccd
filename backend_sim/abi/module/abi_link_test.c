/* SPDX-License-Identifier: Apache-2.0 */
/* The linker of device code: modules of PTX become one image, and what is wrong with them is reported where it is found. */
#include <unistd.h>

#include "testing/rig.h"

#include "image_rig.h"
#include "testing/heard.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static const char kernel[] = HEAD ".extern .func (.param .b32 r) twice(.param .b32 p);\n.extern .global .align 4 .u32 calls;\n"
    ".global .align 4 .u32 own = 100;\n"
    ".visible .entry k(.param .u64 out) { .reg .b32 %r<5>; .reg .b64 %rd<3>; .param .b32 a, b; ld.global.u32 %r1, [own]; st.param.b32 [a], %r1; "
    "call (b), twice, (a); ld.param.b32 %r2, [b]; ld.global.u32 %r3, [calls]; add.u32 %r2, %r2, %r3; ld.param.u64 %rd1, [out]; "
    "st.global.u8 [%rd1], %r2; ret; }\n";
static const char twice[] = HEAD ".visible .global .align 4 .u32 calls = 1;\n.global .align 4 .u32 own = 7;\n"
    ".visible .func (.param .b32 r) twice(.param .b32 p) { .reg .b32 %r<3>; ld.param.b32 %r1, [p]; add.u32 %r2, %r1, %r1; "
    "st.param.b32 [r], %r2; ret; }\n";

static CUresult add(CUlinkState link, CUjitInputType type, const void *data, size_t size, const char *name)
{
    return cuLinkAddData(link, type, (void *)(uintptr_t)data, size, name, 0, NULL, NULL);
}

/* The byte that the kernel of an image writes; 256: it cannot be launched. */
static unsigned run(const void *image)
{
    CUmodule module = NULL;
    CUfunction f = NULL;
    CUdeviceptr out = 0;
    void *params[] = {&out};
    OK(cuMemAlloc(&out, 16));
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&f, module, "k"));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    unsigned byte = byte_at(out);
    OK(cuModuleUnload(module));
    OK(cuMemFree(out));
    return byte;
}

static void test_modules(void)
{
    CUlinkState link = NULL;
    void *image = NULL;
    size_t size = 0;
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(add(link, CU_JIT_INPUT_PTX, kernel, sizeof kernel, "kernel"));
    OK(add(link, CU_JIT_INPUT_LIBRARY, "!<arch>\n", 8, "libcudadevrt.a"));
    OK(add(link, CU_JIT_INPUT_PTX, twice, sizeof twice - 1, NULL)); /* its zero is not counted */
    OK(cuLinkComplete(link, &image, &size));
    EQUAL(run(image), 201);
    EQUAL(size, strlen(image) + 1);
    OK(cuLinkComplete(link, &image, NULL)); /* once more is the same */
    REFUSED(add(link, CU_JIT_INPUT_PTX, twice, sizeof twice, "late"), ERROR_INVALID_VALUE, "VMM-LINK-COMPLETE");
    OK(cuLinkDestroy(link));
}

static void test_images(void)
{
    struct rig_bytes fat = {NULL, 0, 0}, cubin = {NULL, 0, 0};
    static const struct rig_kernel kernels[] = {{.name = "k", .param = {8}}};
    CUlinkState link = NULL;
    void *image = NULL;
    char path[] = "/tmp/cuvmm-link-XXXXXX";
    int file = mkstemp(path);
    rig_fatbin(&fat);
    rig_entry(&fat, RIG_PTX, 80, 0, twice, sizeof twice, 0);
    rig_cubin(&cubin, 90, kernels, 1, NULL, 0);
    tap_ok(file >= 0 && write(file, kernel, sizeof kernel - 1) == sizeof kernel - 1, "a file of PTX");
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddFile(link, CU_JIT_INPUT_PTX, path, 0, NULL, NULL));
    REFUSED(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/tmp/cuvmm-no-such-file", 0, NULL, NULL), ERROR_FILE_NOT_FOUND, "VMM-CODE-FILE");
    REFUSED(add(link, CU_JIT_INPUT_CUBIN, cubin.at, cubin.size, "k.cubin"), ERROR_NOT_SUPPORTED, "VMM-LAUNCH-MISSING");
    tap_ok(strstr(heard, "k.cubin has no PTX") != NULL, "which is named: %s", heard);
    REFUSED(add(link, CU_JIT_INPUT_NVVM, "BC", 3, "k.bc"), ERROR_NOT_SUPPORTED, "VMM-LAUNCH-MISSING");
    OK(add(link, CU_JIT_INPUT_FATBINARY, fat.at, fat.size, "twice.fatbin"));
    OK(cuLinkComplete(link, &image, NULL));
    EQUAL(run(image), 201);
    OK(cuLinkDestroy(link));
    close(file);
    unlink(path);
    free(fat.at), free(cubin.at);
}

/* 4 blocks count, wait for each other, and look at the count. */
static const char waits[] = HEAD ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 s);\n"
    ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f);\n"
    ".visible .entry k(.param .u64 out) .maxnreg 40 { .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p; .param .b32 s, f, e; .param .b64 h;\n"
    "ld.param.u64 %rd1, [out]; atom.global.add.u32 %r1, [%rd1], 1; mov.u32 %r2, 1; st.param.b32 [s], %r2; call (h), cudaCGGetIntrinsicHandle, (s);\n"
    "mov.u32 %r2, 0; st.param.b32 [f], %r2; call (e), cudaCGSynchronize, (h, f); ld.param.b32 %r3, [e]; ld.volatile.global.u32 %r4, [%rd1];\n"
    "mov.u32 %r5, %ctaid.x; mad.wide.u32 %rd2, %r5, 8, %rd1; st.global.u32 [%rd2+8], %r4; st.global.u32 [%rd2+12], %r3; ret; }\n";

static void launch_waits(CUfunction f, bool cooperative, uint32_t words[16])
{
    CUdeviceptr out = 0;
    void *params[] = {&out};
    CUlaunchAttribute attribute[2] = {{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = cooperative}, {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY}};
    const CUlaunchConfig config = {4, 1, 1, 64, 1, 1, 0, NULL, attribute, 2};
    OK(cuMemAlloc(&out, 64));
    OK(cuMemsetD8(out, 0, 64));
    OK(cuLaunchKernelEx(&config, f, params, NULL));
    OK(cuMemcpyDtoH(words, out, 64));
    if (cooperative) {
        OK(cuMemsetD8(out, 0, 64));
        OK(cuLaunchCooperativeKernel(f, 4, 1, 1, 64, 1, 1, 0, NULL, params));
        OK(cuMemcpyDtoH(words, out, 64));
    }
    OK(cuMemFree(out));
}

static void test_runtime(void)
{
    CUjit_option options[] = {CU_JIT_TARGET_FROM_CUCONTEXT, CU_JIT_MAX_REGISTERS};
    void *values[] = {NULL, (void *)7}, *image = NULL;
    uint32_t words[16] = {0};
    int registers = 0;
    CUlinkState link = NULL;
    CUmodule module = NULL;
    CUfunction f = NULL;
    OK(cuLinkCreate(2, options, values, &link));
    OK(add(link, CU_JIT_INPUT_PTX, waits, sizeof waits, "waits"));
    OK(add(link, CU_JIT_INPUT_LIBRARY, "!<arch>\n", 8, "libcudadevrt.a"));
    OK(cuLinkComplete(link, &image, NULL));
    OK(cuLinkComplete(link, &image, NULL));
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&f, module, "k"));
    OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    EQUAL(registers, 7);
    launch_waits(f, true, words);
    tap_ok(words[2] == 256 && words[4] == 256 && words[6] == 256 && words[8] == 256 && !words[3] && !words[9], "all blocks have waited for each other");
    launch_waits(f, false, words);
    tap_ok(words[0] == 256 && words[3] == 1 && words[9] == 1, "which only blocks of a cooperative launch can");
    OK(cuModuleUnload(module));
    OK(cuLinkDestroy(link));
}

static void test_mistakes(void)
{
    char log[200] = "?", info[8] = "?";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log, info, (void *)sizeof info}, *image = NULL;
    static const char bad[] = HEAD ".entry k() { ret }\n", newer[] = ".version 9.9\n.target sm_80\n", larger[] = HEAD ".target sm_120\n",
                      variable[] = HEAD ".extern .global .u32 calls;\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [calls]; st.global.u32 [calls], %r; ret; }\n";
    CUlinkState link = NULL;
    OK(cuLinkCreate(4, options, values, &link));
    REFUSED(add(link, CU_JIT_INPUT_PTX, bad, sizeof bad, "bad"), ERROR_INVALID_PTX, "VMM-CODE-PTX");
    tap_ok(strncmp(log, "error: bad, line 4, column ", 27) == 0 && (size_t)values[1] == strlen(log) && !info[0], "the log: %s", log);
    REFUSED(add(link, CU_JIT_INPUT_PTX, newer, sizeof newer, "newer"), ERROR_UNSUPPORTED_PTX_VERSION, "VMM-CODE-VERSION");
    OK(add(link, CU_JIT_INPUT_PTX, kernel, sizeof kernel, "kernel"));
    tap_ok(!log[0] && !values[1], "a module that is right empties the log");
    REFUSED(cuLinkComplete(link, &image, NULL), ERROR_INVALID_SOURCE, "VMM-LINK-SYMBOL");
    tap_ok(strstr(log, "no module defines it") != NULL && (size_t)values[1] == strlen(log), "what is missing: %s", log);
    OK(add(link, CU_JIT_INPUT_PTX, twice, sizeof twice, "twice"));
    OK(cuLinkComplete(link, &image, NULL));
    tap_ok(image && !values[1] && !info[0], "and then it exists");
    OK(cuLinkDestroy(link));
    OK(cuLinkCreate(4, options, NULL, &link));
    REFUSED(add(link, CU_JIT_INPUT_PTX, larger, sizeof larger, "larger"), ERROR_INVALID_PTX, "VMM-CODE-PTX");
    tap_ok(strstr(heard, "is for sm_120, and the device is sm_90") != NULL, "%s", heard);
    OK(cuLinkComplete(link, &image, NULL)); /* of nothing */
    OK(cuLinkDestroy(link));
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(add(link, CU_JIT_INPUT_PTX, variable, sizeof variable, "variable"));
    REFUSED(cuLinkComplete(link, &image, NULL), ERROR_INVALID_SOURCE, "VMM-LINK-SYMBOL");
    tap_ok(strstr(heard, "calls is used, and no module defines it") != NULL, "%s", heard);
    OK(cuLinkDestroy(link));
}

static void test_handles(void)
{
    CUlinkState link = NULL, other = NULL;
    CUcontext context = NULL;
    void *image = NULL;
    OK(cuLinkCreate(0, NULL, NULL, &other));
    OK(cuLinkCreate(0, NULL, NULL, &link));
    REFUSED(add(link, CU_JIT_INPUT_PTX, NULL, 8, "none"), ERROR_INVALID_VALUE, "VMM-CALL-NULL");
    REFUSED(add(link, CU_JIT_INPUT_PTX, kernel, 0, "none"), ERROR_INVALID_VALUE, "VMM-CALL-NULL");
    REFUSED(cuLinkComplete(link, NULL, NULL), ERROR_INVALID_VALUE, "VMM-CALL-NULL");
    REFUSED(cuLinkCreate(0, NULL, NULL, NULL), ERROR_INVALID_VALUE, "VMM-CALL-NULL");
    OK(cuLinkDestroy(other)); /* which is behind the newer one */
    OK(cuLinkDestroy(link));
    REFUSED(cuLinkDestroy(link), ERROR_INVALID_HANDLE, "VMM-CODE-HANDLE");
    REFUSED(cuLinkComplete(link, &image, NULL), ERROR_INVALID_HANDLE, "VMM-CODE-HANDLE");
    REFUSED(add(link, CU_JIT_INPUT_PTX, kernel, sizeof kernel, "kernel"), ERROR_INVALID_HANDLE, "VMM-CODE-HANDLE");
    REFUSED(cuLinkAddFile(NULL, CU_JIT_INPUT_PTX, "/dev/null", 0, NULL, NULL), ERROR_INVALID_HANDLE, "VMM-CODE-HANDLE");
    OK(cuCtxGetCurrent(&context));
    OK(cuCtxSetCurrent(NULL));
    IS(cuLinkCreate(0, NULL, NULL, &link), ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(context));
    OK(cuLinkCreate(0, NULL, NULL, &link)); /* which the end of the process frees */
}

int main(void)
{
    begin();
    listen();
    test_modules();
    test_images();
    test_runtime();
    test_mistakes();
    test_handles();
    return tap_done();
}
