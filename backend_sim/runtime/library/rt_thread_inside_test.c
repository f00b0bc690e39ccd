/* SPDX-License-Identifier: Apache-2.0 */
/* A driver without an essential function, and one whose queries fail. */
#include "testing/core_driver.h"
#include "testing/rt_rig.h"

static struct rt_driver has;

static void test_core(void)
{
    unsigned missed = 0, functions = 0;
    tap_ok(rt_driver_load(), "a driver");
#define RT_DRIVER(name)
#define RT_DRIVER_CORE(name)                \
    functions++;                            \
    rt_driver.to_##name[0] = NULL;          \
    missed += !rt_driver_load();            \
    rt_driver = has;
#include "rt_driver.def"
    tap_ok(functions >= 10, "%u functions are every driver's", functions);
    EQUAL(missed, functions);
    rt_driver.to_cuMemAllocAsync[0] = NULL;
    tap_ok(rt_driver_load(), "without any other it is a driver still");
    rt_driver = has;
}

static CUresult CUDAAPI no_number(int *number)
{
    (void)number;
    return CUDA_ERROR_NOT_PERMITTED;
}

static CUresult CUDAAPI no_context(CUcontext *context)
{
    (void)context;
    return CUDA_ERROR_NOT_PERMITTED;
}

static CUresult CUDAAPI no_reset(CUdevice device)
{
    (void)device;
    return CUDA_ERROR_NOT_PERMITTED;
}

static void test_failing_queries(void)
{
    int first = 0;
    int device = 7;
    void *memory = NULL;
    CUcontext own = NULL;
    rt_driver.to_cuCtxGetCurrent[0] = no_context;
    REFUSED(cudaGetDevice(&device), ErrorNotPermitted);
    REFUSED(cudaDeviceReset(), ErrorNotPermitted);
    REFUSED(cudaMalloc(&memory, 1), ErrorNotPermitted);
    tap_ok(device == 7 && !memory, "nothing is written");
    rt_driver = has;
    rt_driver.to_cuDeviceGetCount[0] = no_number;
    REFUSED(cudaSetValidDevices(&first, 1), ErrorNotPermitted);
    rt_driver = has;
    EQUAL(cuCtxCreate(&own, NULL, 0, 0), CUDA_SUCCESS);
    rt_driver.to_cuCtxGetDevice[0] = no_number;
    REFUSED(cudaMalloc(&memory, 1), ErrorNotPermitted);
    REFUSED(cudaDeviceReset(), ErrorNotPermitted);
    rt_driver = has;
    OK(cudaMalloc(&memory, 1));
    OK(cudaFree(memory));
    EQUAL(cuCtxDestroy(own), CUDA_SUCCESS);
}

/* The runtime still holds whatever a reset did not destroy. */
static void test_failing_reset(void)
{
    unsigned flags;
    int active = 0;
    OK(cudaSetDevice(0));
    rt_driver.to_cuDevicePrimaryCtxReset[0] = no_reset;
    REFUSED(cudaDeviceReset(), ErrorNotPermitted);
    rt_driver = has;
    EQUAL(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    EQUAL(active, 1);
    OK(cudaDeviceReset());
    EQUAL(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    EQUAL(active, 0);
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    OK(cudaFree(NULL)); /* there is a context */
    has = rt_driver;
    test_core();
    test_failing_queries();
    test_failing_reset();
    return tap_done();
}
