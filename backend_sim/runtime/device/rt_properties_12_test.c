/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of CUDA 12 that CUDA 13 dropped: both older layouts of cudaDeviceProp, and the cudaThread... names. */
#include <stddef.h>

#include "testing/rt_rig.h"

#define FIELD(name, offset, size)                                                    \
    _Static_assert(offsetof(struct cudaDeviceProp, name) == (offset), #name);        \
    _Static_assert(sizeof(((struct cudaDeviceProp *)0)->name) == (size), #name);
#include "rt_properties12.def"
_Static_assert(sizeof(struct cudaDeviceProp) == 1032, "cudaDeviceProp of 12.9");

static void test_versions(void)
{
    int version = 0;
    OK(cudaRuntimeGetVersion(&version));
    EQUAL(version, 12090);
}

static void test_properties(void)
{
    struct cudaDeviceProp prop;
    int value = 0;
    memset(&prop, 0x77, sizeof prop);
    OK(cudaGetDeviceProperties(&prop, 1));
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 1));
    EQUAL(prop.clockRate, value);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryClockRate, 1));
    EQUAL(prop.memoryClockRate, value);
    EQUAL(prop.major, 9);
    EQUAL(prop.multiProcessorCount, 132);
    EQUAL(prop.clusterLaunch, 1);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrReserved96, 1));
    EQUAL(prop.cooperativeMultiDeviceLaunch, value);
    EQUAL(prop.reserved[0], 0);
    EQUAL(prop.reserved[62], 0);
    REFUSED(cudaGetDeviceProperties(&prop, 2), ErrorInvalidDevice);
    REFUSED(cudaGetDeviceProperties(NULL, 0), ErrorInvalidValue);
}

#undef cudaGetDeviceProperties
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);

/* A program built with CUDA 11 has no room for more. */
static void test_old_properties(void)
{
    struct cudaDeviceProp now, old;
    size_t size = offsetof(struct cudaDeviceProp, hostRegisterSupported);
    OK(cudaGetDeviceProperties_v2(&now, 0));
    memset(&old, 0x77, sizeof old);
    OK(cudaGetDeviceProperties(&old, 0));
    tap_ok(memcmp(&now, &old, size) == 0, "the beginning is the same");
    const unsigned char *rest = (const unsigned char *)&old + size;
    size_t kept = 0;
    while (kept < sizeof old - size && rest[kept] == 0x77)
        kept++;
    EQUAL(kept, sizeof old - size);
    memset(&old, 0x77, sizeof old);
    REFUSED(cudaGetDeviceProperties(&old, -1), ErrorInvalidDevice);
    EQUAL(old.name[0], 0x77);
}

static void test_choice(void)
{
    struct cudaDeviceProp prop;
    int device = -1;
    memset(&prop, 0, sizeof prop);
    prop.clockRate = 1;
    OK(cudaChooseDevice(&device, &prop));
    EQUAL(device, 0);
    REFUSED(cudaChooseDevice(NULL, &prop), ErrorInvalidValue);
    REFUSED(cudaChooseDevice(&device, NULL), ErrorInvalidValue);
}

static void test_threads(void)
{
    size_t size = 0;
    enum cudaFuncCache cache = cudaFuncCachePreferNone;
    double number = 1.5;
    void *p = NULL;
    OK(cudaThreadSetLimit(cudaLimitStackSize, 2048));
    OK(cudaThreadGetLimit(&size, cudaLimitStackSize));
    EQUAL(size, 2048);
    OK(cudaThreadSetCacheConfig(cudaFuncCachePreferL1));
    OK(cudaThreadGetCacheConfig(&cache));
    EQUAL(cache, cudaFuncCachePreferL1);
    OK(cudaThreadSynchronize());
    OK(cudaMalloc(&p, 1));
    OK(cudaThreadExit());
    IS(cudaFree(p), ErrorInvalidValue);
    IS(cudaGetLastError(), ErrorInvalidValue);
    OK(cudaSetDoubleForDevice(&number));
    OK(cudaSetDoubleForHost(&number));
    tap_ok(number == 1.5, "a double is unchanged");
    REFUSED(cudaSetDoubleForDevice(NULL), ErrorInvalidValue);
    REFUSED(cudaSetDoubleForHost(NULL), ErrorInvalidValue);
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    test_versions();
    test_properties();
    test_old_properties();
    test_choice();
    test_threads();
    return tap_done();
}
