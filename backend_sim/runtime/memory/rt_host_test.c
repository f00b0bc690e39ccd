/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that devices can access. */
#include <unistd.h>

#include "testing/memory_rig.h"

static void *const NOWHERE = (void *)0x77;

static void test_alloc(void)
{
    char *p = NULL;
    void *none = NOWHERE, *there = NULL;
    unsigned flags = 99;
    OK(cudaMallocHost((void **)&p, 4096));
    memset(p, 3, 4096);
    EQUAL(byte_of(p + 4095), 3);
    OK(cudaMemset(p, 4, 4096));
    OK(cudaDeviceSynchronize());
    EQUAL(p[4095], 4);
    OK(cudaHostGetFlags(&flags, p));
    EQUAL(flags, cudaHostAllocMapped);
    OK(cudaHostGetDevicePointer(&there, p + 5, 0));
    tap_ok(there == p + 5, "a device has it at the same address");
    REFUSED(cudaHostUnregister(p), ErrorInvalidValue);
    REFUSED(cudaFreeHost(p + 1), ErrorInvalidValue);
    OK(cudaFreeHost(p));
    REFUSED(cudaFreeHost(p), ErrorInvalidValue);
    OK(cudaFreeHost(NULL));
    OK(cudaMallocHost(&none, 0));
    tap_ok(!none, "a request for nothing gives NULL");
    REFUSED(cudaMallocHost(NULL, 1), ErrorInvalidValue);
    REFUSED(cudaMallocHost(NULL, 0), ErrorInvalidValue);
    REFUSED(cudaMallocHost(&none, SIZE_MAX), ErrorMemoryAllocation);
}

static void test_flags(void)
{
    const unsigned all = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    void *p = NOWHERE;
    unsigned flags = 0;
    OK(cudaHostAlloc(&p, 1, all));
    OK(cudaHostGetFlags(&flags, p));
    EQUAL(flags, all);
    REFUSED(cudaHostGetFlags(NULL, p), ErrorInvalidValue);
    OK(cudaFreeHost(p));
    REFUSED(cudaHostGetFlags(&flags, p), ErrorInvalidValue);
    REFUSED(cudaHostGetFlags(&flags, NULL), ErrorInvalidValue);
    OK(cudaHostAlloc(&p, 0, cudaHostAllocMapped));
    tap_ok(!p, "a request for nothing gives NULL");
    REFUSED(cudaHostAlloc(&p, 1, 8), ErrorInvalidValue);
    REFUSED(cudaHostAlloc(NULL, 1, 0), ErrorInvalidValue);
}

static void test_register(void)
{
    static char bytes[3 * 4096];
    char *p = bytes + 4096 - ((uintptr_t)bytes & 4095);
    void *there = NULL;
    unsigned flags = 0;
    struct cudaPointerAttributes is;
    OK(cudaHostRegister(p, 4096, cudaHostRegisterMapped));
    OK(cudaPointerGetAttributes(&is, p));
    EQUAL(is.type, cudaMemoryTypeHost);
    OK(cudaHostGetDevicePointer(&there, p, 0));
    tap_ok(there == p, "a device has it at the same address");
    OK(cudaHostGetFlags(&flags, p));
    EQUAL(flags, cudaHostRegisterMapped);
    REFUSED(cudaHostRegister(p, 4096, 0), ErrorHostMemoryAlreadyRegistered);
    REFUSED(cudaFreeHost(p), ErrorInvalidValue);
    REFUSED(cudaHostUnregister(p + 1), ErrorInvalidValue);
    REFUSED(cudaHostGetDevicePointer(NULL, p, 0), ErrorInvalidValue);
    REFUSED(cudaHostGetDevicePointer(&there, p, 1), ErrorInvalidValue);
    OK(cudaHostUnregister(p));
    REFUSED(cudaHostUnregister(p), ErrorHostMemoryNotRegistered);
    REFUSED(cudaHostUnregister(NULL), ErrorInvalidValue);
    REFUSED(cudaHostGetDevicePointer(&there, p, 0), ErrorInvalidValue);
    REFUSED(cudaHostRegister(NULL, 4096, 0), ErrorInvalidValue);
    REFUSED(cudaHostRegister(p, 0, 0), ErrorInvalidValue);
    REFUSED(cudaHostRegister(p, 4096, 64), ErrorInvalidValue);
    OK(cudaPointerGetAttributes(&is, p));
    EQUAL(is.type, cudaMemoryTypeUnregistered);
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_SIM", "sim:h100", 1);
    test_alloc();
    test_flags();
    test_register();
    return tap_done();
}
