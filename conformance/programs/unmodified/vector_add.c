/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the driver's API, as it would be written for a GPU: two vectors in memory of virtual memory management, a
 * kernel that adds them, and a look at the sum. It knows nothing of cuvmm.
 *
 *     cc vector_add.c -lcuda && ./a.out
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static void need(CUresult result, const char *call)
{
    const char *name = "no code";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", call, name);
    exit(1);
}

#define NEED(call) need((call), #call)

/* size bytes on device 0 that it may read and write. */
static CUdeviceptr allocate(size_t size, CUmemGenericAllocationHandle *handle)
{
    CUdeviceptr at;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    NEED(cuMemCreate(handle, size, &prop, 0));
    NEED(cuMemAddressReserve(&at, size, 0, 0, 0));
    NEED(cuMemMap(at, size, 0, *handle, 0));
    NEED(cuMemSetAccess(at, size, &access, 1));
    return at;
}

static void give_back(CUdeviceptr at, size_t size, CUmemGenericAllocationHandle handle)
{
    NEED(cuMemUnmap(at, size));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(at, size));
}

enum { N = 1000, THREADS = 128 };

int main(int argc, char **argv)
{
    char name[100];
    static float a[N], b[N], c[N];
    int n = N, wrong = 0;
    size_t size = 0;
    CUcontext context;
    CUmodule module;
    CUfunction add;
    CUdeviceptr x, y, z;
    CUmemGenericAllocationHandle hx, hy, hz;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

    NEED(cuInit(0));
    NEED(cuDeviceGetName(name, sizeof name, 0));
    NEED(cuDevicePrimaryCtxRetain(&context, 0));
    NEED(cuCtxSetCurrent(context));
    NEED(cuModuleLoad(&module, argc > 1 ? argv[1] : "vector_add.fatbin"));
    NEED(cuModuleGetFunction(&add, module, "vectorAdd"));
    NEED(cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    x = allocate(size, &hx);
    y = allocate(size, &hy);
    z = allocate(size, &hz);
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = (float)(N - i);
    }
    NEED(cuMemcpyHtoD(x, a, sizeof a));
    NEED(cuMemcpyHtoD(y, b, sizeof b));
    void *params[] = {&x, &y, &z, &n};
    NEED(cuLaunchKernel(add, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    NEED(cuCtxSynchronize());
    NEED(cuMemcpyDtoH(c, z, sizeof c));
    for (int i = 0; i < N; i++)
        wrong += c[i] < N || c[i] > N;
    printf("%s: %d of %d sums are right\n", name, N - wrong, N);
    give_back(x, size, hx);
    give_back(y, size, hy);
    give_back(z, size, hz);
    NEED(cuModuleUnload(module));
    NEED(cuDevicePrimaryCtxRelease(0));
    return wrong != 0;
}
