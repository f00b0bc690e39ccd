/* SPDX-License-Identifier: Apache-2.0 */
/* Launches and copies to and from symbols, compiled for per-thread default streams: only the order of that stream matters. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "testing/emitted.h"

static char fill, counter;

/* Each call finds the bytes of the previous one without a wait between them. */
static void test_order(void)
{
    unsigned char *at = NULL, bytes[64] = {0};
    uint64_t n = sizeof bytes;
    uint8_t value = 1;
    cudaKernel_t kernel = NULL;
    void *args[] = {&at, &n, &value};
    const cudaLaunchConfig_t config = {.gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}};
    OK(cudaMalloc((void **)&at, sizeof bytes));
    OK(cudaLaunchKernel(&fill, dim(1), dim(1), args, 0, NULL));
    value = 2, n = 32;
    OK(cudaLaunchKernelExC(&config, &fill, args));
    value = 3, n = 16;
    OK(cudaLaunchCooperativeKernel(&fill, dim(1), dim(1), args, 0, NULL));
    value = 4, n = 8;
    OK(__cudaGetKernel(&kernel, &fill));
    OK(__cudaLaunchKernel(kernel, dim(1), dim(1), args, 0, NULL));
    OK(cudaMemcpyToSymbolAsync(&counter, at, 4, 0, cudaMemcpyDeviceToDevice, NULL));
    OK(cudaMemcpyFromSymbol(bytes, &counter, 4, 0, cudaMemcpyDeviceToHost));
    EQUAL(bytes[3], 4);
    OK(cudaMemcpyToSymbol(&counter, at + 8, 4, 0, cudaMemcpyDefault));
    OK(cudaMemcpyFromSymbolAsync(bytes, &counter, 4, 0, cudaMemcpyDeviceToHost, NULL));
    OK(cudaMemcpyAsync(bytes + 4, at, 60, cudaMemcpyDefault, NULL));
    OK(cudaDeviceSynchronize());
    tap_ok(bytes[3] == 3 && bytes[4] == 4 && bytes[12] == 3 && bytes[20] == 2 && bytes[36] == 1, "each launch filled its part");
    REFUSED(cudaLaunchKernel(&fill, (dim3){0, 1, 1}, dim(1), args, 0, NULL), ErrorInvalidValue);
    REFUSED(cudaMemcpyToSymbol(&fill, at, 4, 0, cudaMemcpyDefault), ErrorInvalidSymbol);
    OK(cudaFree(at));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    void **image = __cudaRegisterFatBinary(&fat_binary);
    register_function(image, &fill, "fill_span");
    register_variable(image, &counter, "counter", 4);
    test_order();
    __cudaUnregisterFatBinary(image);
    return tap_done();
}
