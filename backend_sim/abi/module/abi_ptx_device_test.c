/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of PTX that wait for the host, and multimem instructions, while memory of the host is registered: schedule=device. */
#include "testing/device.h"
#include "testing/heard.h"

/* The host ends the kernel's loop by a store, without a call. */
static void test_wait(CUmodule module)
{
    int *word = calloc(1024, sizeof *word);
    CUdeviceptr at = 0;
    OK(cuMemHostRegister(word, 4096, 0));
    OK(cuMemHostGetDevicePointer(&at, word, 0));
    void *params[] = {&at};
    OK(launch(kernel_in(module, "wait_for"), 1, 32, 0, params));
    IS(cuStreamQuery(NULL), ERROR_NOT_READY);
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    OK(cuCtxSynchronize());
    OK(cuMemHostUnregister(word));
    free(word);
}

/* An ordinary address: the engine is queried for its replicas and has none. */
static void test_multimem(void)
{
    static const char text[] = ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry all(.param .u64 at)\n{\n"
                               ".reg .b64 %rd<2>;\nld.param.u64 %rd1, [at];\nmultimem.st.global.u32 [%rd1], 1;\nret;\n}\n";
    CUmodule module = NULL;
    CUdeviceptr at = 0;
    void *host = calloc(1, 4096), *params[] = {&at};
    OK(cuMemHostRegister(host, 4096, 0));
    OK(cuMemAlloc(&at, 4096));
    OK(cuModuleLoadData(&module, text));
    OK(launch(kernel_in(module, "all"), 1, 1, 0, params));
    REFUSED(cuCtxSynchronize(), ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-MULTIMEM");
    tap_ok(strstr(heard, "by thread (0,0,0) of block (0,0,0), line 8 of the PTX") != NULL, "%s", heard);
    free(host);
}

int main(void)
{
    CUmodule module = NULL;
    setenv("CUVMM_SIM", "sim:h100,schedule=device", 1);
    char *text = device_text();
    begin();
    listen();
    OK(cuModuleLoadData(&module, text));
    free(text);
    test_wait(module);
    test_multimem();
    return tap_done();
}
