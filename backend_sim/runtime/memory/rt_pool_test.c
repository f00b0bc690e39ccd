/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered allocation, and pools. */
#include <unistd.h>

#include "testing/memory_rig.h"

static cudaStream_t stream;
static const struct cudaMemPoolProps plain = {.allocType = cudaMemAllocationTypePinned,
                                              .handleTypes = cudaMemHandleTypePosixFileDescriptor,
                                              .location = {.type = cudaMemLocationTypeDevice, .id = 0}};

static uint64_t of_pool(cudaMemPool_t pool, enum cudaMemPoolAttr attribute)
{
    uint64_t value = 0;
    OK(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static void test_ordered(void)
{
    cudaMemPool_t pool = NULL;
    struct cudaPointerAttributes is;
    char *p = NULL;
    OK(cudaDeviceGetMemPool(&pool, 0));
    OK(cudaMallocAsync((void **)&p, 1000, stream));
    OK(cudaMemsetAsync(p, 5, 1000, stream));
    OK(cudaDeviceSynchronize());
    EQUAL(byte_of(p + 999), 5);
    EQUAL(of_pool(pool, cudaMemPoolAttrUsedMemCurrent), 1000);
    OK(cudaPointerGetAttributes(&is, p));
    EQUAL(is.type, cudaMemoryTypeDevice);
    OK(cudaFreeAsync(p, stream));
    REFUSED(cudaFreeAsync(p, stream), ErrorInvalidValue);
    OK(cudaDeviceSynchronize());
    EQUAL(of_pool(pool, cudaMemPoolAttrUsedMemCurrent), 0);
    OK(cudaMallocAsync((void **)&p, 1, NULL));
    OK(cudaFree(p)); /* needs no stream */
    REFUSED(cudaFree(p), ErrorInvalidValue);
    REFUSED(cudaMallocAsync(NULL, 1, stream), ErrorInvalidValue);
    REFUSED(cudaMallocAsync((void **)&p, SIZE_MAX, stream), ErrorMemoryAllocation);
    OK(cudaFreeAsync(NULL, stream));
    OK(cudaDeviceSynchronize());
}

static void test_pool(void)
{
    cudaMemPool_t pool = NULL;
    struct cudaMemPoolProps wrong = plain;
    uint64_t threshold = UINT64_MAX;
    int on = 0;
    char *p = NULL;
    OK(cudaMemPoolCreate(&pool, &plain));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    EQUAL(of_pool(pool, cudaMemPoolAttrReleaseThreshold), UINT64_MAX);
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &on));
    EQUAL(on, 1);
    OK(cudaMallocFromPoolAsync((void **)&p, RT_G, pool, stream));
    OK(cudaMemcpy(p, "x", 1, cudaMemcpyHostToDevice));
    OK(cudaFreeAsync(p, stream));
    OK(cudaDeviceSynchronize());
    tap_ok(of_pool(pool, cudaMemPoolAttrReservedMemCurrent) > 0, "below its threshold a pool keeps its memory");
    OK(cudaMemPoolTrimTo(pool, 0));
    EQUAL(of_pool(pool, cudaMemPoolAttrReservedMemCurrent), 0);
    REFUSED(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)99, &threshold), ErrorInvalidValue);
    REFUSED(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &threshold), ErrorInvalidValue);
    REFUSED(cudaMallocFromPoolAsync((void **)&p, 1, NULL, stream), ErrorInvalidValue);
    OK(cudaMemPoolDestroy(pool));
    REFUSED(cudaMemPoolDestroy(NULL), ErrorInvalidValue);
    REFUSED(cudaMemPoolCreate(NULL, &plain), ErrorInvalidValue);
    REFUSED(cudaMemPoolCreate(&pool, NULL), ErrorInvalidValue);
    wrong.allocType = cudaMemAllocationTypeInvalid;
    REFUSED(cudaMemPoolCreate(&pool, &wrong), ErrorInvalidValue);
    REFUSED(cudaMemPoolTrimTo(NULL, 0), ErrorInvalidValue);
}

static void test_of_devices(void)
{
    cudaMemPool_t standard = NULL, now = NULL, own = NULL;
    struct cudaMemLocation here = {.type = cudaMemLocationTypeDevice, .id = 0}, host = {.type = cudaMemLocationTypeHost, .id = 0};
    OK(cudaDeviceGetDefaultMemPool(&standard, 0));
    OK(cudaMemPoolCreate(&own, &plain));
    OK(cudaDeviceSetMemPool(0, own));
    OK(cudaDeviceGetMemPool(&now, 0));
    tap_ok(now == own && own != standard, "a device's pool is the one that was set");
    OK(cudaMemGetMemPool(&now, &here, cudaMemAllocationTypePinned));
    tap_ok(now == own, "and it is the location's");
    OK(cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, standard));
    OK(cudaDeviceGetMemPool(&now, 0));
    tap_ok(now == standard, "set by location");
    OK(cudaMemGetDefaultMemPool(&now, &here, cudaMemAllocationTypePinned));
    tap_ok(now == standard, "the default pool of the location");
    OK(cudaMemGetDefaultMemPool(&now, &host, cudaMemAllocationTypePinned));
    tap_ok(now != standard, "the host has a pool, too");
    OK(cudaMemPoolDestroy(own));
    REFUSED(cudaDeviceGetDefaultMemPool(&now, 2), ErrorInvalidDevice);
    REFUSED(cudaDeviceGetMemPool(&now, -1), ErrorInvalidValue);
    REFUSED(cudaDeviceSetMemPool(2, standard), ErrorInvalidValue);
    REFUSED(cudaMemPoolDestroy(standard), ErrorInvalidValue);
    REFUSED(cudaMemGetDefaultMemPool(NULL, &here, cudaMemAllocationTypePinned), ErrorInvalidValue);
    REFUSED(cudaMemGetMemPool(&now, NULL, cudaMemAllocationTypePinned), ErrorInvalidValue);
    REFUSED(cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, NULL), ErrorInvalidValue);
}

static void test_access(void)
{
    cudaMemPool_t pool = NULL;
    enum cudaMemAccessFlags flags = cudaMemAccessFlagsProtRead;
    struct cudaMemLocation other = {.type = cudaMemLocationTypeDevice, .id = 1};
    struct cudaMemAccessDesc desc = {.location = other, .flags = cudaMemAccessFlagsProtReadWrite};
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolGetAccess(&flags, pool, &other));
    EQUAL(flags, cudaMemAccessFlagsProtNone);
    OK(cudaMemPoolSetAccess(pool, &desc, 1));
    OK(cudaMemPoolGetAccess(&flags, pool, &other));
    EQUAL(flags, cudaMemAccessFlagsProtReadWrite);
    desc.location.id = 2;
    tap_ok(cudaMemPoolSetAccess(pool, &desc, 1) != cudaSuccess, "there is no third device");
    (void)cudaGetLastError();
    REFUSED(cudaMemPoolGetAccess(NULL, pool, &other), ErrorInvalidValue);
}

/* In a single process, an imported pool is a different pool with the same memory. */
static void test_share(void)
{
    cudaMemPool_t pool = NULL, imported = NULL, none = NULL;
    struct cudaMemPoolPtrExportData data;
    int fd = -1;
    char *p = NULL, *same = NULL;
    OK(cudaMemPoolCreate(&pool, &plain));
    OK(cudaMallocFromPoolAsync((void **)&p, 4096, pool, stream));
    OK(cudaDeviceSynchronize());
    OK(cudaMemset(p, 0x61, 4096));
    OK(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    OK(cudaMemPoolExportPointer(&data, p));
    OK(cudaMemPoolImportFromShareableHandle(&imported, (void *)(uintptr_t)fd, cudaMemHandleTypePosixFileDescriptor, 0));
    OK(cudaMemPoolImportPointer((void **)&same, imported, &data));
    EQUAL(byte_of(same + 4095), 0x61);
    OK(cudaFree(same));
    OK(cudaFree(p));
    REFUSED(cudaMemPoolExportToShareableHandle(NULL, pool, cudaMemHandleTypePosixFileDescriptor, 0), ErrorInvalidValue);
    REFUSED(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypeWin32, 0), ErrorInvalidValue);
    REFUSED(cudaMemPoolImportFromShareableHandle(&none, (void *)(uintptr_t)9999, cudaMemHandleTypePosixFileDescriptor, 0), ErrorUnknown);
    REFUSED(cudaMemPoolExportPointer(NULL, p), ErrorInvalidValue);
    REFUSED(cudaMemPoolImportPointer(NULL, imported, &data), ErrorInvalidValue);
    close(fd);
    OK(cudaMemPoolDestroy(imported));
    OK(cudaMemPoolDestroy(pool));
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    EQUAL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_ERROR_NOT_INITIALIZED);
    OK(cudaFree(NULL));
    EQUAL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    test_ordered();
    test_pool();
    test_of_devices();
    test_access();
    test_share();
    EQUAL(cuStreamDestroy(stream), CUDA_SUCCESS);
    return tap_done();
}
