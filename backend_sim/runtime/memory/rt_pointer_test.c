/* SPDX-License-Identifier: Apache-2.0 */
/* Pointer attributes for each kind of memory; also built as a CUDA 12 program, whose struct is shorter. */
#include <sys/mman.h>
#include <unistd.h>

#include "testing/memory_rig.h"

static struct cudaPointerAttributes asked(const void *pointer)
{
    struct {
        struct cudaPointerAttributes is;
        unsigned char after[64];
    } out;
    unsigned char wrong = 0;
    memset(&out, 0xa5, sizeof out);
    OK(cudaPointerGetAttributes(&out.is, pointer));
    for (size_t i = 0; i < sizeof out.after; i++)
        wrong |= out.after[i] ^ 0xa5;
#if CUDART_VERSION >= 13000
    for (size_t i = 0; i < sizeof out.is.reserved / sizeof *out.is.reserved; i++)
        wrong |= out.is.reserved[i] != 0;
#endif
    EQUAL(wrong, 0);
    return out.is;
}

static bool is(const void *pointer, enum cudaMemoryType type, int device, const void *on_device, const void *on_host)
{
    struct cudaPointerAttributes it = asked(pointer);
    if (it.type == type && it.device == device && it.devicePointer == on_device && it.hostPointer == on_host)
        return true;
    tap_note("type %d, device %d, %p, %p of %p", it.type, it.device, it.devicePointer, it.hostPointer, pointer);
    return false;
}

static void test_allocations(void)
{
    char *p = NULL, *host = NULL, *managed = NULL;
    OK(cudaMalloc((void **)&p, 4096));
    OK(cudaMallocHost((void **)&host, 4096));
    OK(cudaMallocManaged((void **)&managed, 4096, cudaMemAttachGlobal));
    tap_ok(is(p, cudaMemoryTypeDevice, 0, p, NULL), "memory of a device");
    tap_ok(is(p + 4095, cudaMemoryTypeDevice, 0, p + 4095, NULL), "its last byte");
    tap_ok(is(host + 1, cudaMemoryTypeHost, 0, host + 1, host + 1), "memory of the host");
    tap_ok(is(managed, cudaMemoryTypeManaged, 0, managed, managed), "managed memory");
    OK(cudaFree(p));
    tap_ok(is(p, cudaMemoryTypeUnregistered, -2, NULL, p), "memory that is gone");
    OK(cudaFreeHost(host));
    OK(cudaFree(managed));
    OK(cudaSetDevice(1));
    OK(cudaMalloc((void **)&p, 1));
    OK(cudaSetDevice(0));
    tap_ok(asked(p).device == 1 && asked(p).type == cudaMemoryTypeDevice, "memory of the other device");
    OK(cudaFree(p));
}

static void test_others(void)
{
    static char bytes[8192];
    char *page = bytes + 4096 - ((uintptr_t)bytes & 4095);
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr reserved = 0;
    int local = 0;
    tap_ok(is(&local, cudaMemoryTypeUnregistered, -2, NULL, &local), "memory of the program");
    tap_ok(is(NULL, cudaMemoryTypeUnregistered, -2, NULL, NULL), "NULL");
    OK(cudaHostRegister(page, 4096, cudaHostRegisterDefault));
    tap_ok(is(page + 4095, cudaMemoryTypeHost, 0, page + 4095, page + 4095), "registered memory");
    tap_ok(is(page + 4096, cudaMemoryTypeUnregistered, -2, NULL, page + 4096), "the byte after it");
    OK(cudaHostUnregister(page));
    char *at = mapped(0, RT_G, &handle);
    tap_ok(is(at + RT_G - 1, cudaMemoryTypeDevice, 0, at + RT_G - 1, NULL), "memory of cuMemMap");
    CUmemAccessDesc none = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    EQUAL(cuMemSetAccess((CUdeviceptr)(uintptr_t)at, RT_G, &none, 1), CUDA_SUCCESS);
    tap_ok(is(at, cudaMemoryTypeDevice, 0, NULL, NULL), "memory of cuMemMap that the device may not access");
    unmapped(at, RT_G, handle);
    EQUAL(cuMemAddressReserve(&reserved, RT_G, 0, 0, 0), CUDA_SUCCESS);
    tap_ok(asked((void *)(uintptr_t)reserved).type == cudaMemoryTypeUnregistered, "addresses without memory");
    EQUAL(cuMemAddressFree(reserved, RT_G), CUDA_SUCCESS);
    REFUSED(cudaPointerGetAttributes(NULL, &local), ErrorInvalidValue);
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    test_allocations();
    test_others();
    return tap_done();
}
