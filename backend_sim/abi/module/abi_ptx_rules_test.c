/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of kernels that run from PTX (rule_tests.h). A fault takes the device from the process, so each test has its own
 * device. */
#include <unistd.h>

#include "testing/rule_tests.h"

#include "testing/device.h"

static char *text, *profile;

/* A fresh device with the kernels of device.ptx. */
static CUmodule on_fresh_device(void)
{
    static int device = 2;
    CUmodule module = NULL;
    use_device(device++);
    OK(cuModuleLoadData(&module, text));
    return module;
}

static void leave(void)
{
    OK(cuCtxSetCurrent(first));
}

/* Launches only the kernel; the waiting call reports its end, and each later call reports it with the expected text. */
#define FAULTS(name, grid, block, params, code, words)                                           \
    do {                                                                                         \
        CUmodule module_ = on_fresh_device();                                                    \
        CUdeviceptr more_ = 0;                                                                   \
        OK(launch(kernel_in(module_, name), grid, block, 0, params));                            \
        REFUSED(cuCtxSynchronize(), code);                                                       \
        tap_ok(strstr(heard, words) != NULL, "says \"%s\"", words);                              \
        if (!strstr(heard, words))                                                               \
            tap_note("%s", heard);                                                               \
        REFUSED(cuMemAlloc(&more_, 64), code);                                                   \
        leave();                                                                                 \
    } while (0)

static CUdeviceptr word_on(int device)
{
    CUdeviceptr at = 0;
    use_device(device);
    OK(cuMemAlloc(&at, 256));
    OK(cuMemsetD8(at, 0, 256));
    return at;
}

/* The same kernel, used correctly. */
static void runs(const char *name, unsigned grid, unsigned block, void **params)
{
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, text));
    ACCEPTED(launch(kernel_in(module, name), grid, block, 0, params));
    ACCEPTED(cuCtxSynchronize());
    OK(cuModuleUnload(module));
    leave();
}

TEST_BREAKS(CODE_PTX, code_ptx_broken)
{
    CUmodule module = NULL;
    CUlibrary library = NULL;
    REFUSED(cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n.entry k { ret }\n"), ERROR_INVALID_PTX);
    tap_ok(strstr(heard, "line 3, column 16") != NULL, "with its place: %s", heard);
    REFUSED(cuLibraryLoadData(&library, ".version 8.0\n.target sm_999\n", NULL, NULL, 0, NULL, NULL, 0), ERROR_INVALID_PTX);
    tap_ok(!module && !library, "nothing is loaded");
}

TEST_NEAR_MISS(CODE_PTX, code_ptx_kept)
{
    CUmodule module = NULL;
    ACCEPTED(cuModuleLoadData(&module, ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k { ret; }\n"));
    OK(cuModuleUnload(module));
}

#define LINK_HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
static char defines[] = LINK_HEAD ".visible .func f() { ret; }\n", uses[] = LINK_HEAD ".extern .func f();\n.visible .entry k() { call f; ret; }\n";

TEST_BREAKS(LINK_SYMBOL, link_symbol_broken)
{
    CUlinkState link = NULL;
    void *image = NULL;
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, uses, sizeof uses, "uses", 0, NULL, NULL));
    REFUSED(cuLinkComplete(link, &image, NULL), ERROR_INVALID_SOURCE);
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, defines, sizeof defines, "defines", 0, NULL, NULL));
    REFUSED(cuLinkAddData(link, CU_JIT_INPUT_PTX, defines, sizeof defines, "again", 0, NULL, NULL), ERROR_INVALID_SOURCE);
    REFUSED(cuLinkComplete(link, &image, NULL), ERROR_INVALID_SOURCE);
    tap_ok(!image, "nothing is linked");
    OK(cuLinkDestroy(link));
}

static CUlinkState completed(void)
{
    CUlinkState link = NULL;
    void *image = NULL;
    OK(cuLinkCreate(0, NULL, NULL, &link));
    ACCEPTED(cuLinkAddData(link, CU_JIT_INPUT_PTX, uses, sizeof uses, "uses", 0, NULL, NULL));
    ACCEPTED(cuLinkAddData(link, CU_JIT_INPUT_PTX, defines, sizeof defines, "defines", 0, NULL, NULL));
    ACCEPTED(cuLinkComplete(link, &image, NULL));
    return link;
}

TEST_NEAR_MISS(LINK_SYMBOL, link_symbol_kept)
{
    OK(cuLinkDestroy(completed()));
}

TEST_BREAKS(LINK_COMPLETE, link_complete_broken)
{
    CUlinkState link = completed();
    REFUSED(cuLinkAddData(link, CU_JIT_INPUT_PTX, defines, sizeof defines, "late", 0, NULL, NULL), ERROR_INVALID_VALUE);
    OK(cuLinkDestroy(link));
}

TEST_NEAR_MISS(LINK_COMPLETE, link_complete_kept)
{
    CUlinkState link = completed();
    void *image = NULL;
    ACCEPTED(cuLinkComplete(link, &image, NULL)); /* once more is the same */
    OK(cuLinkDestroy(link));
}

TEST_BREAKS(CODE_VERSION, code_version_broken)
{
    CUmodule module = NULL;
    REFUSED(cuModuleLoadData(&module, ".version 9.1\n.target sm_90\n.address_size 64\n"), ERROR_UNSUPPORTED_PTX_VERSION);
    tap_ok(!module && strstr(heard, "version 9.1, but the newest supported version is 9.0") != NULL, "nothing is loaded: %s", heard);
}

TEST_NEAR_MISS(CODE_VERSION, code_version_kept)
{
    CUmodule module = NULL;
    ACCEPTED(cuModuleLoadData(&module, ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() { ret; }\n"));
    OK(cuModuleUnload(module));
    ACCEPTED(cuModuleLoadData(&module, ".version 3.0\n.target sm_30\n.address_size 64\n.entry k() { ret; }\n"));
    OK(cuModuleUnload(module));
}

TEST_BREAKS(FAULT_MISALIGNED, fault_misaligned_broken)
{
    CUdeviceptr at = word_on(2);
    void *params[] = {&at};
    FAULTS("unaligned", 1, 64, params, ERROR_MISALIGNED_ADDRESS,
           ", by thread (0,0,0) and 31 more of block (0,0,0), device.cu:46: the address is not a multiple of 4");
}

TEST_NEAR_MISS(FAULT_MISALIGNED, fault_misaligned_kept)
{
    CUdeviceptr at = word_on(0) + 2;
    void *params[] = {&at};
    runs("unaligned", 1, 32, params);
}

TEST_BREAKS(FAULT_ASSERT, fault_assert_broken)
{
    CUdeviceptr at = word_on(3);
    int wanted = 1;
    void *params[] = {&at, &wanted};
    FAULTS("hold", 1, 1, params, ERROR_ASSERT, "device.cu:51: void hold(const int *, int): Assertion `*word == wanted' failed; thread (0,0,0) of block (0,0,0)");
}

TEST_NEAR_MISS(FAULT_ASSERT, fault_assert_kept)
{
    CUdeviceptr at = word_on(0);
    int wanted = 0;
    void *params[] = {&at, &wanted};
    runs("hold", 1, 1, params);
}

TEST_BREAKS(FAULT_TIMEOUT, fault_timeout_broken)
{
    CUdeviceptr at = word_on(4);
    void *params[] = {&at};
    FAULTS("wait_for", 1, 1, params, ERROR_LAUNCH_TIMEOUT, "it reached the limit of steps without ending");
}

TEST_NEAR_MISS(FAULT_TIMEOUT, fault_timeout_kept)
{
    CUdeviceptr at = word_on(0);
    void *params[] = {&at};
    OK(cuMemsetD8(at, 1, 4));
    runs("wait_for", 1, 1, params);
}

TEST_BREAKS(FAULT_LAUNCH, fault_launch_broken)
{
    int block = 2;
    void *stops[] = {&block};
    FAULTS("stop", 3, 32, stops, ERROR_LAUNCH_FAILED, "it executed trap; thread (3,0,0) of block (2,0,0), device.cu:57");
    static char frees[] = LINK_HEAD ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 a);\n"
                          ".entry twice() { .reg .b64 %d<3>; mov.u64 %d1, 8; call (%d2), malloc, (%d1); call free, (%d2);\ncall free, (%d2);\nret; }\n";
    char *of_device = text;
    text = frees;
    FAULTS("twice", 1, 1, NULL, ERROR_LAUNCH_FAILED, "or a block twice, or wrote past a block; thread (0,0,0) of block (0,0,0), line 7 of the PTX");
    text = of_device;
}

TEST_NEAR_MISS(FAULT_LAUNCH, fault_launch_kept)
{
    int block = 3;
    void *stops[] = {&block};
    runs("stop", 3, 32, stops);
}

TEST_BREAKS(FAULT_SPACE, fault_space_broken)
{
    int far = 1 << 14;
    CUdeviceptr at = 0;
    void *leaves[] = {&at, &far};
    FAULTS("outside", 1, 1, leaves, ERROR_ILLEGAL_ADDRESS, "an access outside of its shared memory");
}

TEST_NEAR_MISS(FAULT_SPACE, fault_space_kept)
{
    int near = 7, rounded = 31; /* of 8 words: a device gives 128 bytes */
    CUdeviceptr at = word_on(0);
    void *stays[] = {&at, &near}, *stays_on[] = {&at, &rounded};
    runs("outside", 1, 1, stays);
    runs("outside", 1, 1, stays_on);
}

/* Not a rule of PTX alone: a memory fault says which thread made the access, and what is at the address. */
static void test_access(void)
{
    CUmodule module = on_fresh_device();
    CUdeviceptr at = 0;
    uint64_t value = 1;
    OK(cuModuleGetGlobal(&at, NULL, module, "total")); /* which lies before the next allocation */
    OK(cuMemAlloc(&at, 1 << 21));
    void *params[] = {&at, &value};
    OK(launch(kernel_in(module, "fill"), (1 << 18) / 256 + 1, 256, 0, params));
    lines = 0;
    IS(cuCtxSynchronize(), ERROR_ILLEGAL_ADDRESS);
    tap_ok(strstr(heard, "VMM-FAULT-ACCESS") && strstr(heard, "fill, launched by call ") && strstr(heard, "writing 8 bytes at 0x") &&
               strstr(heard, ", by thread (0,0,0) and 31 more of block (1024,0,0), device.cu:41: nothing is mapped there"),
           "%s", heard);
    leave();
}

/* An H100 for each fault. */
static void write_profile(void)
{
    char path[] = "/tmp/cuvmm-XXXXXX", spec[80];
    int file = mkstemp(path);
    if (file < 0 || dprintf(file, "base = h100\ndevices = 9\n") < 0)
        tap_bail("no file");
    close(file);
    snprintf(spec, sizeof spec, "sim:%s,schedule=late,kernel_steps=1000000", path);
    setenv("CUVMM_SIM", spec, 1);
    profile = strdup(path);
}

int main(void)
{
    rule_tests_begin();
    write_profile();
    text = device_text();
    first = begin();
    unlink(profile);
    free(profile);
    rule_tests_run();
    test_access();
    free(text);
    return tap_done();
}
