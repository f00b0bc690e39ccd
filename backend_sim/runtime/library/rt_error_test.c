/* SPDX-License-Identifier: Apache-2.0 */
/* Errors after a fault: reading the runtime's last error clears it, but the context keeps the fault, so every call
 * that uses the context returns it again. Calls that need no context still work. */
#include <pthread.h>

#include "testing/rt_rig.h"

static CUfunction fill_span(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    EQUAL(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n.address_size 64\n"), CUDA_SUCCESS);
    EQUAL(cuModuleGetFunction(&function, module, "fill_span"), CUDA_SUCCESS);
    return function;
}

/* Bytes past the end of an allocation. */
static void fault(void)
{
    void *p = NULL;
    OK(cudaMalloc(&p, 4096));
    uint64_t size = (uint64_t)1 << 30;
    uint8_t value = 1;
    void *parameters[] = {&p, &size, &value};
    EQUAL(cuLaunchKernel(fill_span(), 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
}

static void test_fault(void)
{
    void *p = NULL;
    int value = 0;
    fault();
    IS(cudaDeviceSynchronize(), ErrorIllegalAddress);
    IS(cudaPeekAtLastError(), ErrorIllegalAddress);
    IS(cudaGetLastError(), ErrorIllegalAddress);
    IS(cudaGetLastError(), Success); /* nothing was called in between */
    REFUSED(cudaMalloc(&p, 1), ErrorIllegalAddress);
    REFUSED(cudaDeviceSynchronize(), ErrorIllegalAddress);
    REFUSED(cudaMemcpyAsync(&value, &value, 1, cudaMemcpyDefault, NULL), ErrorIllegalAddress);
    OK(cudaGetDevice(&value));
    EQUAL(value, 0);
    OK(cudaGetDeviceCount(&value));
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    IS(cudaGetLastError(), Success);
}

/* The other device's context still works. */
static void test_other_device(void)
{
    void *p = NULL;
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&p, 4096));
    OK(cudaFree(p));
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(0));
    REFUSED(cudaDeviceSynchronize(), ErrorIllegalAddress);
}

/* A reset does not repair the device. */
static void test_reset(void)
{
    void *p = NULL;
    OK(cudaDeviceReset());
    REFUSED(cudaMalloc(&p, 1), ErrorDevicesUnavailable);
    REFUSED(cudaSetDevice(0), ErrorDevicesUnavailable);
}

/* The first valid device that works. */
static void *uses_valid_device(void *unused)
{
    void *p = NULL;
    int device = -1;
    (void)unused;
    OK(cudaMalloc(&p, 1));
    OK(cudaGetDevice(&device));
    EQUAL(device, 1);
    OK(cudaFree(p));
    return NULL;
}

static void test_valid_devices(void)
{
    int list[] = {0, 1};
    pthread_t thread;
    OK(cudaSetValidDevices(list, 2));
    tap_ok(!pthread_create(&thread, NULL, uses_valid_device, NULL), "a thread begins");
    pthread_join(thread, NULL);
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    test_fault();
    test_other_device();
    test_reset();
    test_valid_devices();
    return tap_done();
}
