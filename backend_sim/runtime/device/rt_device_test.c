/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's device and last error, through the exported functions. */
#include <pthread.h>

#include "testing/rt_rig.h"

static void test_versions(void)
{
    int version = 0;
    OK(cudaDriverGetVersion(&version));
    EQUAL(version, 13000);
    OK(cudaRuntimeGetVersion(&version));
    EQUAL(version, 13000);
    REFUSED(cudaDriverGetVersion(NULL), ErrorInvalidValue);
    REFUSED(cudaRuntimeGetVersion(NULL), ErrorInvalidValue);
}

static void test_device(void)
{
    int count = 0, device = -1;
    OK(cudaGetDeviceCount(&count));
    EQUAL(count, 2);
    OK(cudaGetDevice(&device));
    EQUAL(device, 0);
    OK(cudaSetDevice(1));
    OK(cudaGetDevice(&device));
    EQUAL(device, 1);
    REFUSED(cudaSetDevice(2), ErrorInvalidDevice);
    REFUSED(cudaSetDevice(-1), ErrorInvalidDevice);
    OK(cudaGetDevice(&device));
    EQUAL(device, 1);
    REFUSED(cudaGetDevice(NULL), ErrorInvalidValue);
    REFUSED(cudaGetDeviceCount(NULL), ErrorInvalidValue);
}

static void *other_thread(void *unused)
{
    int device = -1;
    (void)unused;
    OK(cudaGetDevice(&device));
    EQUAL(device, 0);
    IS(cudaPeekAtLastError(), Success);
    return NULL;
}

/* Each thread has a device and a last error of its own. */
static void test_threads(void)
{
    pthread_t thread;
    IS(cudaSetDevice(9), ErrorInvalidDevice);
    tap_ok(!pthread_create(&thread, NULL, other_thread, NULL), "a second thread");
    pthread_join(thread, NULL);
    IS(cudaGetLastError(), ErrorInvalidDevice);
}

/* The primary context is what both APIs share. */
static void test_driver(void)
{
    CUcontext context = NULL, own = NULL;
    CUdevice device = -1;
    OK(cudaSetDevice(1));
    EQUAL(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    EQUAL(cuCtxGetDevice(&device), CUDA_SUCCESS);
    EQUAL(device, 1);
    EQUAL(cuCtxCreate_v2(&own, 0, 0), CUDA_SUCCESS);
    OK(cudaGetDevice(&device));
    EQUAL(device, 0);
    EQUAL(cuCtxDestroy(own), CUDA_SUCCESS);
    OK(cudaGetDevice(&device));
    EQUAL(device, 1);
}

static void test_texts(void)
{
    tap_text(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation", "a code's name");
    tap_text(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory", "a code's text");
    tap_text(cudaGetErrorName((cudaError_t)2000), "unrecognized error code", "no code's name");
    tap_text(cudaGetErrorString((cudaError_t)-1), "unrecognized error code", "no code's text");
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    test_versions();
    test_device();
    test_threads();
    test_driver();
    test_texts();
    return tap_done();
}
