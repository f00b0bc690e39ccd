/* SPDX-License-Identifier: Apache-2.0 */
/* Images, their kernels and variables when memory is exhausted: OUT_OF_MEMORY, nothing is changed, and the same call then
 * succeeds. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "abi_parts.h"
#include "image_rig.h"
#include "testing/tried.h"

static struct rig_bytes cubin, large;

static void make_images(void)
{
    static const struct rig_kernel kernels[] = {{.name = "alone"}, {.name = "taker", .param = {8}}};
    static const struct rig_variable variables[] = {{"word", 4, "abcd"}, {"zeros", 400, NULL}};
    static char name[700][16];
    static struct rig_kernel many[700];
    rig_cubin(&cubin, 90, kernels, 2, variables, 2);
    for (int i = 0; i < 700; i++) {
        snprintf(name[i], sizeof name[i], "many%d", i);
        many[i] = (struct rig_kernel){.name = name[i]};
    }
    rig_cubin(&large, 90, many, 700, NULL, 0);
}

static void test_lookups(void)
{
    CUmodule module = NULL, other = NULL;
    CUfunction f = NULL, all[2] = {NULL, NULL};
    CUdeviceptr at = 0;
    unsigned count = 0;
    TRIED(cuModuleLoadData(&module, cubin.at), CUDA_SUCCESS);
    TRIED(cuModuleGetFunction(&f, module, "alone"), CUDA_SUCCESS);
    TRIED(cuModuleGetFunction(&f, module, "absent"), CUDA_ERROR_NOT_FOUND);
    TRIED(cuModuleGetGlobal(&at, NULL, module, "word"), CUDA_SUCCESS);
    TRIED(cuModuleGetGlobal(&at, NULL, module, "zeros"), CUDA_SUCCESS);
    OK(cuModuleLoadData(&other, cubin.at));
    TRIED(cuModuleGetFunctionCount(&count, other), CUDA_SUCCESS);
    EQUAL(count, 2);
    TRIED(cuModuleEnumerateFunctions(all, 2, other), CUDA_SUCCESS);
    tap_ok(all[0] && all[1], "both are found");
    OK(cuModuleUnload(other));
    OK(cuModuleLoadData(&other, cubin.at));
    TRIED(cuModuleGetGlobal(&at, NULL, other, "word"), CUDA_SUCCESS); /* which reads the image */
    OK(cuModuleUnload(other));
    OK(cuModuleUnload(module));
}

static void test_files(void)
{
    char path[] = "/tmp/cuvmm-image-XXXXXX";
    CUmodule module = NULL;
    CUresult result = CUDA_SUCCESS;
    int file = mkstemp(path), failures = 0;
    if (file < 0 || write(file, large.at, large.size) != (ssize_t)large.size)
        tap_bail("no file");
    for (unsigned long nth = 1; nth < 20; nth++) {
        inject_arm(nth);
        result = cuModuleLoad(&module, path);
        if (!inject_disarm())
            break;
        failures += result == CUDA_ERROR_OUT_OF_MEMORY || result == CUDA_ERROR_OPERATING_SYSTEM;
    }
    tap_ok(result == CUDA_SUCCESS && failures > 3, "a file is loaded after %d failures", failures);
    OK(cuModuleUnload(module));
    close(file);
    unlink(path);
    IS(cuModuleLoad(&module, "/proc/self/mem"), ERROR_OPERATING_SYSTEM); /* a file that cannot be read */
}

static void test_skipped(void)
{
    CUmodule module = NULL;
    CUfunction f = NULL;
    OK(cuModuleLoadData(&module, cubin.at));
    OK(cuModuleGetFunction(&f, module, "alone"));
    TRIED(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
    OK(cuCtxSynchronize());
    inject_arm(1);
    abi_missing_say(); /* one line, without names */
    tap_text(inject_disarm(), "malloc", "the list of them is allocated");
    OK(cuModuleUnload(module));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100,kernels=skip,schedule=late", 1);
    make_images();
    begin();
    test_lookups();
    test_files();
    test_skipped();
    free(cubin.at), free(large.at);
    return tap_done();
}
