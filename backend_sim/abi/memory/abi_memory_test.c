/* SPDX-License-Identifier: Apache-2.0 */
/* Memory through libcuda.so.1: the life of a mapping, allocations, all forms of copies and fills, host memory. */
#include <pthread.h>
#include <stdatomic.h>

#include "testing/rig.h"

enum { G = 2 << 20 };

static CUdeviceptr mapped(CUmemGenericAllocationHandle *handle)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at = 0;
    OK(cuMemCreate(handle, G, &prop, 0));
    OK(cuMemAddressReserve(&at, 2 * G, 0, 0, 0));
    OK(cuMemMap(at, G, 0, *handle, 0));
    OK(cuMemSetAccess(at, G, &desc, 1));
    return at;
}

static void test_life(void)
{
    size_t granularity = 0, size = 0;
    unsigned long long flags = 0;
    CUdeviceptr at, base = 0;
    CUmemGenericAllocationHandle handle = 0, again = 0;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    OK(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EQUAL(granularity, G);
    at = mapped(&handle);
    OK(cuMemsetD8(at, 7, G));
    EQUAL(byte_at(at + G - 1), 7);
    IS(cuMemsetD8(at + G, 7, 1), ERROR_INVALID_VALUE);
    OK(cuMemGetAccess(&flags, &prop.location, at));
    EQUAL(flags, 3);
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(at + 5)));
    tap_ok(again == handle, "retaining returns the same handle");
    OK(cuMemRelease(again));
    OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    OK(cuMemGetAddressRange(&base, &size, at + 100));
    tap_ok(base == at && size == G, "the address range is the mapping");
    IS(cuMemMap(at, G, 0, handle, 0), ERROR_INVALID_VALUE);
    IS(cuMemRelease(0xdead0), ERROR_INVALID_VALUE);
    OK(cuMemUnmap(at, G));
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(at, 2 * G));
}

static void test_fills(CUdeviceptr at)
{
    uint32_t words[4] = {0};
    OK(cuMemsetD8(at, 0, 4096));
    OK(cuMemsetD16(at, 0x1234, 2));
    OK(cuMemsetD32(at + 4, 0x55667788, 2));
    OK(cuMemcpyDtoH(words, at, sizeof words));
    tap_ok(words[0] == 0x12341234 && words[2] == 0x55667788 && words[3] == 0, "fills of every element width");
    OK(cuMemsetD2D8(at + 512, 64, 9, 3, 4));
    tap_ok(byte_at(at + 512 + 3 * 64 + 2) == 9 && byte_at(at + 512 + 3) == 0 && byte_at(at + 512 + 4 * 64) == 0,
           "a fill of four rows of three bytes");
    IS(cuMemsetD2D8(at + 512, 2, 9, 3, 4), ERROR_INVALID_VALUE);
    OK(cuMemsetD2D16Async(at + 1024, 32, 0xabab, 5, 2, NULL));
    OK(cuMemsetD2D32Async(at + 2048, 32, 0x01010101, 2, 2, NULL));
    OK(cuCtxSynchronize());
    tap_ok(byte_at(at + 1024 + 32 + 9) == 0xab && byte_at(at + 2048 + 39) == 1, "fills of rows of wider elements");
    OK(cuMemsetD2D16(at, 32, 1, 5, 2));
    OK(cuMemsetD2D32(at, 32, 1, 5, 2));
    OK(cuMemsetD2D8Async(at, 32, 1, 5, 2, NULL));
    OK(cuMemsetD8Async(at, 3, 5, NULL));
    OK(cuMemsetD16Async(at, 3, 5, NULL));
    OK(cuMemsetD32Async(at, 3, 5, NULL));
    OK(cuStreamSynchronize(NULL));
}

static void test_any_copies(CUdeviceptr at)
{
    char text[32] = "from here to there", back[32] = "";
    CUdeviceptr here = (CUdeviceptr)(uintptr_t)text, there = (CUdeviceptr)(uintptr_t)back;
    OK(cuMemcpy(at, here, sizeof text));
    OK(cuMemcpy(at + 4096, at, sizeof text));
    OK(cuMemcpy(there, at + 4096, sizeof text));
    tap_text(back, text, "cuMemcpy determines the direction from the addresses");
    memset(back, 0, sizeof back);
    OK(cuMemcpyAsync(there, here, sizeof text, NULL));
    tap_text(back, text, "cuMemcpy also copies within the host");
    IS(cuMemcpy(at, 0, 16), ERROR_INVALID_VALUE);
    IS(cuMemcpy(16, here, 16), ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoDAsync(at, text, 4, NULL));
    OK(cuMemcpyDtoDAsync(at + 64, at, 4, NULL));
    OK(cuMemcpyDtoHAsync(back, at + 64, 4, NULL));
    OK(cuMemcpyDtoD(at + 128, at, 4));
}

static void test_rows(CUdeviceptr at)
{
    char from[4][8] = {"abcdefg", "hijklmn", "opqrstu", "vwxyz01"}, to[3][4] = {{0}};
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = from, .srcPitch = 8, .srcXInBytes = 1, .srcY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = at, .dstPitch = 256, .WidthInBytes = 3,
                          .Height = 3};
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = at, .srcPitch = 256,
                          .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = to, .dstPitch = 4, .WidthInBytes = 3, .Height = 3};
    OK(cuMemcpy2D(&copy));
    OK(cuMemcpy2DUnaligned(&back));
    tap_ok(!memcmp(to[0], "ijk", 4) && !memcmp(to[1], "pqr", 4) && !memcmp(to[2], "wxy", 4),
           "a rectangle of rows is copied there and back");
    OK(cuMemcpy2DAsync(&copy, NULL));
    copy.srcPitch = 3;
    IS(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    copy.srcPitch = 8;
    copy.srcXInBytes = SIZE_MAX - 1; /* the end of the row wraps around to a small number */
    IS(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    copy.srcXInBytes = 0;
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    IS(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    copy.srcMemoryType = (CUmemorytype)9;
    IS(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    IS(cuMemcpy2D(NULL), ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize());
}

/* Rows, the last of which lie outside the memory: refused, and the earlier rows stay unchanged. */
static void test_rows_past_the_end(void)
{
    enum { SPAN = 2 << 20 };
    static char from[2][16] = {"aaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbb"};
    CUdeviceptr p = 0, last;
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemAddressReserve(&p, 2 * SPAN, 0, 0, 0));
    OK(cuMemCreate(&handle, SPAN, &prop, 0));
    OK(cuMemMap(p, SPAN, 0, handle, 0));
    OK(cuMemSetAccess(p, SPAN, &desc, 1));
    OK(cuMemsetD8(p, 0x11, SPAN));
    last = p + SPAN - 16;
    IS(cuMemsetD2D8(last, 32, 0x22, 16, 2), ERROR_INVALID_VALUE);
    EQUAL(byte_at(last), 0x11);
    IS(cuMemcpy2D(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = from, .srcPitch = 16,
                                   .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = last, .dstPitch = 32,
                                   .WidthInBytes = 16, .Height = 2}), ERROR_INVALID_VALUE);
    EQUAL(byte_at(last), 0x11);
    OK(cuMemUnmap(p, SPAN));
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(p, 2 * SPAN));
}

static void test_allocations(CUcontext context)
{
    CUdeviceptr none = 0;
    CUdeviceptr at = 0;
    size_t pitch = 0, before = 0, after = 0, total = 0;
    OK(cuMemGetInfo(&before, &total));
    OK(cuMemAllocPitch(&at, &pitch, 1000, 100, 4));
    tap_ok(pitch >= 1000 && pitch % 512 == 0, "rows are %zu bytes apart", pitch);
    OK(cuMemGetInfo(&after, NULL));
    tap_ok(after < before, "an allocation reduces the free memory");
    IS(cuMemAllocPitch(&none, &pitch, 1000, 100, 3), ERROR_INVALID_VALUE);
    IS(cuMemAllocPitch(&none, &pitch, 0, 100, 4), ERROR_INVALID_VALUE);
    IS(cuMemAllocPitch(&none, &pitch, 1 << 20, (size_t)1 << 50, 4), ERROR_OUT_OF_MEMORY);
    IS(cuMemAllocPitch(NULL, &pitch, 1, 1, 4), ERROR_INVALID_VALUE);
    test_fills(at);
    test_any_copies(at);
    test_rows(at);
    OK(cuMemcpyPeer(at + 8192, context, at, context, 64));
    OK(cuMemcpyPeerAsync(at + 8192, context, at, context, 64, NULL));
    OK(cuMemcpyPeer(at + 8192, context, at, NULL, 64)); /* the current context */
    OK(cuMemFree(at));
    IS(cuMemFree(at), ERROR_INVALID_VALUE);
}

static void test_host_memory(void)
{
    void *p = NULL;
    unsigned flags = 9, type = 0;
    CUdeviceptr device = 0;
    OK(cuMemHostAlloc(&p, 5000, CU_MEMHOSTALLOC_PORTABLE));
    memset(p, 4, 5000);
    OK(cuMemHostGetDevicePointer(&device, p, 0));
    EQUAL(device, (uintptr_t)p);
    OK(cuMemsetD8(device, 6, 100));
    OK(cuCtxSynchronize());
    tap_ok(((unsigned char *)p)[99] == 6 && ((unsigned char *)p)[100] == 4, "a device writes where the host reads");
    OK(cuMemHostGetFlags(&flags, p));
    EQUAL(flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
    EQUAL(type, CU_MEMORYTYPE_HOST);
    OK(cuMemFreeHost(p));
    IS(cuMemFreeHost(p), ERROR_INVALID_VALUE);
    OK(cuMemAllocHost(&p, 100));
    OK(cuMemFreeHost(p));
    OK(cuMemAllocHost(&p, 0)); /* size 0 and a NULL address */
    IS(cuMemHostAlloc(&p, 10, 0x100), ERROR_INVALID_VALUE);
    IS(cuMemHostAlloc(&p, SIZE_MAX, 0), ERROR_OUT_OF_MEMORY);
    IS(cuMemHostGetFlags(&flags, &flags), ERROR_INVALID_VALUE);
}

static void test_registered(void)
{
    static char memory[10000];
    unsigned type = 0;
    CUdeviceptr device = 0;
    OK(cuMemHostRegister(memory, sizeof memory, 0));
    IS(cuMemHostRegister(memory + 9999, 10, 0), ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostGetDevicePointer(&device, memory + 8, 0));
    EQUAL(device, (uintptr_t)memory + 8);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
    EQUAL(type, CU_MEMORYTYPE_HOST);
    OK(cuMemHostUnregister(memory));
    IS(cuMemHostUnregister(memory), ERROR_HOST_MEMORY_NOT_REGISTERED);
    IS(cuMemHostRegister(NULL, 10, 0), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(memory, 0, 0), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(memory, 10, 0x100), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(memory, 10, CU_MEMHOSTREGISTER_IOMEMORY), ERROR_INVALID_VALUE);
    IS(cuMemHostGetDevicePointer(&device, memory, 0), ERROR_INVALID_VALUE);
}

static atomic_int holders, twice;
static char raced[64];

static void *register_and_give_back(void *context)
{
    cuCtxSetCurrent(context);
    for (int i = 0; i < 3000; i++)
        if (cuMemHostRegister(raced, sizeof raced, 0) == CUDA_SUCCESS) {
            twice += atomic_fetch_add(&holders, 1) != 0;
            atomic_fetch_sub(&holders, 1);
            cuMemHostUnregister(raced);
        }
    return NULL;
}

/* Several threads register the same memory: one succeeds at a time. */
static void test_registered_at_once(CUcontext context)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, register_and_give_back, context);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    EQUAL(twice, 0);
}

static void test_pointers(void)
{
    CUdeviceptr at = 0;
    int one = 1, ordinal = -1;
    unsigned type = 0;
    CUpointer_attribute asked[2] = {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void *found[2] = {&ordinal, &type};
    OK(cuMemAlloc(&at, 64));
    OK(cuPointerGetAttributes(2, asked, found, at));
    tap_ok(ordinal == 0 && type == CU_MEMORYTYPE_DEVICE, "the pointer belongs to device 0");
    OK(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at));
    IS(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_CONTEXT, at), ERROR_INVALID_VALUE);
    IS(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 4096), ERROR_INVALID_VALUE);
    OK(cuMemFree(at));
}

int main(void)
{
    void *p;
    IS(cuMemAllocHost(&p, 100), ERROR_NOT_INITIALIZED);
    OK(cuInit(0));
    IS(cuMemAllocHost(&p, 100), ERROR_INVALID_CONTEXT);
    CUcontext context = begin();
    test_life();
    test_allocations(context);
    test_host_memory();
    test_registered();
    test_registered_at_once(context);
    test_rows_past_the_end();
    test_pointers();
    OK(cuDevicePrimaryCtxRelease(0));
    return tap_done();
}
