/* SPDX-License-Identifier: Apache-2.0 */
/* libcudart.so.12: code registered for it runs the same way. */
#include "testing/emitted.h"

static char stub;

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    unsigned char *at = NULL, bytes[64] = {0};
    uint64_t n = sizeof bytes;
    uint8_t value = 9;
    void *args[] = {&at, &n, &value};
    void **image = __cudaRegisterFatBinary(&fat_binary);
    struct cudaFuncAttributes attributes;
    register_function(image, &stub, "fill_span");
    OK(cudaMalloc((void **)&at, sizeof bytes));
    OK(cudaLaunchKernel(&stub, dim(1), dim(1), args, 0, NULL));
    OK(cudaMemcpyAsync(bytes, at, sizeof bytes, cudaMemcpyDefault, NULL));
    OK(cudaDeviceSynchronize());
    EQUAL(bytes[63], 9);
    OK(cudaFuncGetAttributes(&attributes, &stub));
    EQUAL(attributes.maxThreadsPerBlock, 1024);
    __cudaUnregisterFatBinary(image);
    REFUSED(cudaLaunchKernel(&stub, dim(1), dim(1), args, 0, NULL), ErrorInvalidResourceHandle);
    return tap_done();
}
