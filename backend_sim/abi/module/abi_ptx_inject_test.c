/* SPDX-License-Identifier: Apache-2.0 */
/* PTX when memory is out: OUT_OF_MEMORY, nothing is changed, and the same call then succeeds. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "testing/tried.h"

#include "image_rig.h"
#include "registered.h"
#include "testing/device.h"
#include "testing/managed.h"

static char *text;

static void test_text(void)
{
    CUmodule module = NULL, other = NULL;
    CUfunction f = NULL;
    CUdeviceptr at = 0, total = 0;
    int by = 3;
    void *params[] = {&by}, *out[] = {&at};
    OK(cuMemAlloc(&at, 1 << 16));
    TRIED(cuModuleLoadData(&module, text), CUDA_SUCCESS);
    TRIED(cuModuleLoadData(&other, ".version 8.0\n.target sm_80\n.entry k { ret }\n"), CUDA_ERROR_INVALID_PTX);
    TRIED(cuModuleGetFunction(&f, module, "count"), CUDA_SUCCESS);
    TRIED(launch(f, 1, 1, 0, params), CUDA_SUCCESS); /* which makes the variables */
    OK(cuCtxSynchronize());
    OK(cuModuleGetGlobal(&total, NULL, module, "total"));
    tap_u64(byte_at(total), 1003 & 255, "it ran once, on whole variables");
    TRIED(cuModuleGetFunction(&f, module, "scale"), CUDA_SUCCESS);
    TRIED(launch(f, 1, 8, 0, out), CUDA_SUCCESS);
    OK(cuCtxSynchronize());
    OK(cuModuleUnload(module));
    OK(cuModuleLoadData(&module, text));
    TRIED(cuModuleGetGlobal(&total, NULL, module, "total"), CUDA_SUCCESS);
    tap_u64(byte_at(total), 1000 & 255, "a lookup makes them, too");
    OK(cuModuleUnload(module)); /* none of whose kernels was launched */
    OK(cuMemFree(at));
}

static void test_managed(void)
{
    CUlibrary library = NULL;
    CUmodule module = NULL;
    CUdeviceptr total = 0;
    OK(cuLibraryLoadData(&library, managed_text, NULL, NULL, 0, NULL, NULL, 0));
    TRIED(cuLibraryGetManaged(&total, NULL, library, "total"), CUDA_SUCCESS);
    tap_u64(byte_at(total), 5, "a managed variable of a library has its value");
    TRIED(cuLibraryGetGlobal(&total, NULL, library, "word"), CUDA_SUCCESS);
    OK(cuLibraryUnload(library));
    OK(cuModuleLoadData(&module, managed_text));
    TRIED(cuModuleGetGlobal(&total, NULL, module, "total"), CUDA_SUCCESS);
    tap_u64(byte_at(total), 5, "and one of a module");
    OK(cuModuleUnload(module));
}

static void test_link(void)
{
    static const char twice[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func (.param .b32 r) twice(.param .b32 p) { ret; }\n";
    char log[80] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS};
    void *values[] = {log, (void *)sizeof log, (void *)40}, *image = NULL;
    struct rig_bytes fat = {NULL, 0, 0};
    CUlinkState link = NULL;
    CUmodule module = NULL;
    rig_fatbin(&fat);
    rig_entry(&fat, RIG_PTX, 80, 0, twice, sizeof twice, 0);
    TRIED(cuLinkCreate(3, options, values, &link), CUDA_SUCCESS);
    TRIED(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, strlen(text), "text", 0, NULL, NULL), CUDA_SUCCESS);
    TRIED(cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, fat.at, fat.size, "twice", 0, NULL, NULL), CUDA_SUCCESS);
    TRIED(cuLinkComplete(link, &image, NULL), CUDA_SUCCESS);
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleUnload(module));
    OK(cuLinkDestroy(link));
    free(fat.at);
}

static void test_fat_binary(void)
{
    static const struct rig_kernel kernels[] = {{.name = "count", .param = {4}}};
    struct rig_bytes cubin = {NULL, 0, 0}, packed = {NULL, 0, 0}, fat = {NULL, 0, 0};
    CUmodule module = NULL;
    CUfunction f = NULL;
    int by = 1;
    void *params[] = {&by};
    rig_cubin(&cubin, 90, kernels, 1, NULL, 0);
    rig_lz4(&packed, text, strlen(text));
    rig_fatbin(&fat);
    rig_entry(&fat, RIG_CUBIN, 90, 0, cubin.at, cubin.size, 0);
    rig_entry(&fat, RIG_PTX, 80, RIG_LZ4, packed.at, packed.size, strlen(text));
    TRIED(cuModuleLoadData(&module, fat.at), CUDA_SUCCESS);
    TRIED(cuModuleGetFunction(&f, module, "count"), CUDA_SUCCESS);
    TRIED(launch(f, 1, 1, 0, params), CUDA_SUCCESS);
    OK(cuCtxSynchronize());
    OK(cuModuleUnload(module));
    free(cubin.at), free(packed.at), free(fat.at);
}

/* If memory is exhausted while the kernel runs, the waiting call reports it. */
static void test_run(void)
{
    CUmodule module = NULL;
    CUdeviceptr at = 0;
    uint64_t value = 1;
    unsigned failures = 0;
    CUresult result = CUDA_ERROR_UNKNOWN;
    void *params[] = {&at, &value};
    OK(cuMemAlloc(&at, 1 << 16));
    OK(cuModuleLoadData(&module, text));
    CUfunction f = kernel_in(module, "fill");
    for (unsigned long nth = 1; nth < TRIES; nth++) {
        OK(launch(f, 4, 64, 0, params));
        inject_arm(nth);
        result = cuCtxSynchronize();
        if (!inject_disarm())
            break;
        failures += result == CUDA_ERROR_OUT_OF_MEMORY;
    }
    tap_ok(result == CUDA_SUCCESS && failures > 3, "a kernel runs after %u failures", failures);
    tap_u64(byte_at(at), 1, "and wrote");
    OK(cuMemFree(at));
    OK(cuModuleUnload(module));
}

static void nothing(struct twin_memory *memory, const struct vmm_call_launch *call, void *user)
{
    (void)memory, (void)call, (void)user;
}

/* No further kernel can get a number. */
static void test_numbers(void)
{
    CUmodule module = NULL;
    int by = 1;
    void *params[] = {&by};
    OK(cuModuleLoadData(&module, text));
    while (kernels_register("nothing", nothing, NULL) > 0)
        ;
    IS(launch(kernel_in(module, "count"), 1, 1, 0, params), ERROR_OUT_OF_MEMORY);
    OK(cuModuleUnload(module));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100,schedule=late", 1);
    text = device_text();
    begin();
    test_text();
    test_managed();
    test_link();
    test_fat_binary();
    test_run();
    test_numbers();
    free(text);
    return tap_done();
}
