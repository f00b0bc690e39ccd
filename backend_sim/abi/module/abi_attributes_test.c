/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of kernels, which each device has for itself, and of the functions made of them; occupancy of clusters. */
#include <stdlib.h>

#include "testing/rig.h"

enum { SHARED = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, NON_PORTABLE = CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED };

static int of_function(CUfunction f)
{
    int value = 7;
    OK(cuFuncGetAttribute(&value, (CUfunction_attribute)SHARED, f));
    return value;
}

static int of_kernel(CUkernel kernel, CUdevice device)
{
    int value = 7;
    OK(cuKernelGetAttribute(&value, (CUfunction_attribute)SHARED, kernel, device));
    return value;
}

static void set_kernel(CUkernel kernel, CUdevice device, int value)
{
    OK(cuKernelSetAttribute((CUfunction_attribute)SHARED, value, kernel, device));
}

static void test_attributes(CUlibrary library)
{
    CUkernel kernel = NULL;
    CUfunction f = NULL, again = NULL;
    CUmodule module = NULL, its = NULL;
    CUlibrary of = NULL;
    CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_UNLOADED;
    int value = 7;
    OK(cuLibraryGetKernel(&kernel, library, "nothing"));
    OK(cuKernelGetFunction(&f, kernel));
    tap_ok((void *)f != (void *)kernel, "a kernel and its function are two handles");
    set_kernel(kernel, 0, 1024);
    set_kernel(kernel, 1, 2048);
    EQUAL(of_kernel(kernel, 0), 1024);
    EQUAL(of_kernel(kernel, 1), 2048);
    EQUAL(of_function(f), 1024); /* as of the kernel, until it is set */
    OK(cuFuncSetAttribute(f, (CUfunction_attribute)SHARED, 3072));
    set_kernel(kernel, 0, 4096);
    set_kernel(kernel, 0, 5120);
    EQUAL(of_function(f), 3072);
    EQUAL(of_kernel(kernel, 0), 5120);
    IS(cuFuncGetAttribute(&value, (CUfunction_attribute)SHARED, (CUfunction)kernel), ERROR_INVALID_HANDLE);
    IS(cuFuncSetAttribute((CUfunction)kernel, (CUfunction_attribute)SHARED, 1), ERROR_INVALID_HANDLE);
    IS(cuKernelGetAttribute(&value, (CUfunction_attribute)SHARED, (CUkernel)f, 0), ERROR_INVALID_HANDLE);
    IS(cuKernelSetAttribute((CUfunction_attribute)SHARED, 1, (CUkernel)f, 0), ERROR_INVALID_HANDLE);
    IS(cuKernelSetAttribute((CUfunction_attribute)SHARED, 1, kernel, 2), ERROR_INVALID_DEVICE);
    IS(cuKernelGetAttribute(NULL, (CUfunction_attribute)SHARED, kernel, 2), ERROR_INVALID_VALUE);
    IS(cuKernelGetFunction(&again, (CUkernel)f), ERROR_INVALID_HANDLE);
    IS(cuFuncLoad((CUfunction)kernel), ERROR_INVALID_HANDLE);
    IS(cuFuncLoad(NULL), ERROR_INVALID_HANDLE);
    IS(cuFuncIsLoaded(&state, (CUfunction)kernel), ERROR_INVALID_HANDLE);
    IS(cuFuncIsLoaded(NULL, f), ERROR_INVALID_VALUE);
    IS(cuFuncIsLoaded(&state, NULL), ERROR_INVALID_HANDLE);
    OK(cuFuncLoad(f));
    OK(cuFuncIsLoaded(&state, f));
    EQUAL(state, CU_FUNCTION_LOADING_STATE_LOADED);
    OK(cuLibraryGetModule(&module, library));
    OK(cuFuncGetModule(&its, f));
    EQUAL((uintptr_t)its, (uintptr_t)module);
    OK(cuModuleGetFunction(&again, module, "nothing"));
    EQUAL((uintptr_t)again, (uintptr_t)f);
    OK(cuKernelGetLibrary(&of, kernel));
    EQUAL((uintptr_t)of, (uintptr_t)library);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static int clusters_of(CUfunction f, unsigned x, unsigned threads)
{
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {x, 1, 1}};
    const CUlaunchConfig config = {.gridDimX = 144, .gridDimY = 1, .gridDimZ = 1, .blockDimX = threads, .blockDimY = 1,
                                   .blockDimZ = 1, .attrs = &cluster, .numAttrs = x != 0};
    int clusters = 77;
    OK(cuOccupancyMaxActiveClusters(&clusters, f, &config));
    return clusters;
}

static CUresult asked(CUfunction f, CUlaunchConfig config)
{
    int clusters = 77;
    CUresult result = cuOccupancyMaxActiveClusters(&clusters, f, &config);
    EQUAL(cuOccupancyMaxPotentialClusterSize(&clusters, f, &config), result);
    return result;
}

/* None of the dimensions is 0, and those of a grid have limits. */
static void test_dimensions(CUfunction f, CUlaunchConfig good)
{
    static const size_t grid[] = {offsetof(CUlaunchConfig, gridDimX), offsetof(CUlaunchConfig, gridDimY),
                                  offsetof(CUlaunchConfig, gridDimZ)};
    static const size_t block[] = {offsetof(CUlaunchConfig, blockDimX), offsetof(CUlaunchConfig, blockDimY),
                                   offsetof(CUlaunchConfig, blockDimZ)};
    static const unsigned most[] = {0x7fffffff, 65535, 65535};
    for (int i = 0; i < 3; i++) {
        const unsigned bad[] = {0, most[i] + 1, 0}, *value = bad;
        const size_t where[] = {grid[i], grid[i], block[i]};
        for (int k = 0; k < 3; k++, value++) {
            CUlaunchConfig config = good;
            memcpy((char *)&config + where[k], value, sizeof *value);
            EQUAL(asked(f, config), CUDA_ERROR_INVALID_VALUE);
        }
        CUlaunchConfig config = good;
        memcpy((char *)&config + grid[i], &most[i], sizeof most[i]);
        EQUAL(asked(f, config), CUDA_SUCCESS);
    }
}

/* As recorded on both kinds of machine. */
static void test_clusters(CUfunction f)
{
    CUlaunchAttribute policy = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, .value.priority = 3};
    const CUlaunchConfig good = {.gridDimX = 144, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 64, .blockDimY = 1, .blockDimZ = 1};
    CUlaunchConfig config = good;
    int size = 0;
    OK(cuFuncSetAttribute(f, (CUfunction_attribute)NON_PORTABLE, 1));
    EQUAL(clusters_of(f, 0, 64), 0);
    EQUAL(clusters_of(f, 2, 256), 528);
    EQUAL(clusters_of(f, 3, 1024), 79);
    EQUAL(clusters_of(f, 16, 1024), 14);
    EQUAL(clusters_of(f, 18, 256), 16);
    EQUAL(clusters_of(f, 144, 64), 0); /* more than the number of multiprocessors */
    EQUAL(clusters_of(f, 2, 1025), 0);
    OK(cuOccupancyMaxPotentialClusterSize(&size, f, &config));
    EQUAL(size, 16);
    config.blockDimX = 1025;
    OK(cuOccupancyMaxPotentialClusterSize(&size, f, &config));
    EQUAL(size, 0);
    config = good;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1U << 30; /* threads beyond all numbers */
    OK(cuOccupancyMaxPotentialClusterSize(&size, f, &config));
    EQUAL(size, 0);
    test_dimensions(f, good);
    config = good;
    config.attrs = &policy;
    config.numAttrs = 1;
    EQUAL(asked(f, config), CUDA_ERROR_INVALID_VALUE);
    policy.value.priority = 1;
    EQUAL(asked(f, config), CUDA_SUCCESS);
    IS(cuOccupancyMaxActiveClusters(NULL, f, &good), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxActiveClusters(&size, NULL, &good), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxActiveClusters(&size, f, NULL), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxPotentialClusterSize(NULL, f, &good), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxPotentialClusterSize(&size, NULL, &good), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxPotentialClusterSize(&size, f, NULL), ERROR_INVALID_VALUE);
    IS(cuOccupancyMaxActiveClusters(&size, (CUfunction)&size, &good), ERROR_INVALID_HANDLE);
}

int main(void)
{
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    begin();
    CUlibrary library = NULL;
    CUmodule module = NULL;
    CUfunction f = NULL;
    OK(cuLibraryLoadData(&library, "any image", NULL, NULL, 0, NULL, NULL, 0));
    test_attributes(library);
    OK(cuLibraryUnload(library));
    OK(cuModuleLoadData(&module, "any image"));
    OK(cuModuleGetFunction(&f, module, "nothing"));
    test_clusters(f);
    OK(cuModuleUnload(module));
    return tap_done();
}
