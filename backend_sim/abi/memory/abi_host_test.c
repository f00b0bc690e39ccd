/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that devices use, with a driver's answers (conformance/recorded/facts, answers): queries about its addresses,
 * registration, and calls that do not accept it. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testing/rig.h"

enum { PAGE = 4096, SIZE = 4 * PAGE };

/* Pages of the program between inaccessible ones. */
static unsigned char *pages(int protection)
{
    int zero = open("/dev/zero", O_RDWR);
    unsigned char *p = mmap(NULL, 3 * SIZE, PROT_NONE, MAP_PRIVATE, zero, 0);
    close(zero);
    mprotect(p + SIZE, SIZE, PROT_READ | PROT_WRITE);
    memset(p + SIZE, 0x5a, SIZE);
    mprotect(p + SIZE, SIZE, protection);
    return p + SIZE;
}

static uint64_t attribute(CUpointer_attribute which, CUdeviceptr at)
{
    uint64_t value = 0;
    OK(cuPointerGetAttribute(&value, which, at));
    return value;
}

/* Works for both kinds: the range is what the program requested, the mapping covers whole pages. */
static void test_questions(CUcontext context, CUdeviceptr start, uint64_t size, uint64_t mapped_from, uint64_t mapped)
{
    uint64_t wide = 7, tokens[2] = {7, 7}, rights = 7;
    CUdeviceptr base = 7;
    size_t length = 7;
    unsigned type = 7;
    CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void *out[] = {&wide, &type};
    CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, nowhere = {CU_MEM_LOCATION_TYPE_DEVICE, 9};
    CUmemGenericAllocationHandle handle;
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_CONTEXT, start), (uint64_t)(uintptr_t)context);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, start), CU_MEMORYTYPE_HOST);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, start), 0);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, start + size - 1), start);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_RANGE_SIZE, start), size);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, start), mapped_from);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, start), mapped);
    tap_ok(attribute(CU_POINTER_ATTRIBUTE_BUFFER_ID, start) != 0, "the range has an id");
    IS(cuPointerGetAttribute(tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, start), ERROR_INVALID_VALUE);
    tap_ok(tokens[0] == 0, "the refused query writes zeros");
    OK(cuPointerGetAttributes(2, list, out, start));
    tap_ok(wide == (uint64_t)(uintptr_t)context && type == CU_MEMORYTYPE_HOST, "the list query returns the same values");
    OK(cuMemGetAddressRange(&base, &length, start + 1));
    tap_ok(base == start && length == size, "the address range is the requested one");
    OK(cuMemGetAddressRange(NULL, &length, start));
    OK(cuMemGetAddressRange(&base, NULL, start));
    OK(cuMemGetAccess((unsigned long long *)&rights, &device, start));
    EQUAL(rights, 0);
    IS(cuMemGetAccess((unsigned long long *)&rights, &nowhere, start), ERROR_INVALID_DEVICE);
    IS(cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)start), ERROR_INVALID_VALUE);
    IS(cuMemHostUnregister((void *)(uintptr_t)(start + 1)), ERROR_INVALID_VALUE);
    int one = 1;
    IS(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_CONTEXT, start), ERROR_INVALID_VALUE);
    OK(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, start));
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, start), 1);
}

static unsigned flags_of(const void *p)
{
    unsigned flags = 99;
    OK(cuMemHostGetFlags(&flags, (void *)(uintptr_t)p));
    return flags;
}

static void test_made(CUcontext context)
{
    void *p = NULL;
    int fd = 7;
    CUmemAccessDesc mine = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    OK(cuMemHostAlloc(&p, 5000, CU_MEMHOSTALLOC_WRITECOMBINED));
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)p;
    EQUAL(flags_of(p), CU_MEMHOSTALLOC_WRITECOMBINED | CU_MEMHOSTALLOC_DEVICEMAP);
    test_questions(context, at, 5000, at, 2 << 20);
    IS(cuMemSetAccess(at, 2 << 20, &mine, 1), ERROR_INVALID_VALUE);
    IS(cuMemUnmap(at, 2 << 20), ERROR_INVALID_VALUE);
    IS(cuMemUnmap(at, 0), ERROR_INVALID_VALUE);
    IS(cuMemGetHandleForAddressRange(&fd, at, PAGE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0), ERROR_INVALID_VALUE);
    EQUAL(fd, -1);
    IS(cuMemHostRegister(p, 100, 0), ERROR_INVALID_VALUE);
    OK(cuMemsetD8(at, 3, 5000));
    EQUAL(byte_at(at + 4999), 3);
    OK(cuMemFreeHost(p));
    IS(cuMemHostGetFlags(&(unsigned){0}, p), ERROR_INVALID_VALUE);
}

static void test_registered(CUcontext context)
{
    unsigned char *p = pages(PROT_READ | PROT_WRITE);
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)p, device;
    OK(cuMemHostRegister(p + 100, 5000, CU_MEMHOSTREGISTER_PORTABLE));
    EQUAL(flags_of(p + 100), CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    test_questions(context, at + 100, 5000, at, 2 * PAGE);
    IS(cuMemHostRegister(p, 101, 0), ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostRegister(p, 100, 0)); /* beside the range, in the same page */
    OK(cuMemHostUnregister(p));
    OK(cuMemHostGetDevicePointer(&device, p + 100, 0));
    EQUAL(device, at + 100);
    OK(cuMemHostUnregister(p + 100));
    IS(cuMemHostUnregister(p + 100), ERROR_HOST_MEMORY_NOT_REGISTERED);
    IS(cuMemHostUnregister(NULL), ERROR_INVALID_VALUE);
}

/* Registered memory is a device address, for its own bytes only. */
static void test_copies(void)
{
    unsigned char *p = pages(PROT_READ | PROT_WRITE), here[8] = {1, 2, 3, 4};
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)p, memory;
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, PAGE));
    OK(cuMemHostRegister(p, SIZE, 0));
    OK(cuMemcpyHtoD(at, here, 4));
    OK(cuMemcpyDtoH(here + 4, at, 4));
    tap_ok(memcmp(here, here + 4, 4) == 0, "the bytes are copied there and back");
    OK(cuMemcpyDtoD(memory, at, 4));
    EQUAL(byte_at(memory + 3), 4);
    OK(cuMemcpyDtoDAsync(at + 4, memory, 4, stream));
    OK(cuMemcpyHtoDAsync(at + 8, here, 4, stream));
    OK(cuMemcpyDtoHAsync(here, at + 8, 4, stream));
    OK(cuStreamSynchronize(stream));
    tap_ok(p[7] == 4 && p[11] == 4, "later, too");
    OK(cuMemcpyPeer(at, NULL, memory, NULL, 4));
    OK(cuMemcpyPeerAsync(at, NULL, memory, NULL, 4, stream));
    IS(cuMemcpyDtoH(here, at + SIZE - 4, 5), ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(at + SIZE - 4, here, 5), ERROR_INVALID_VALUE);
    OK(cuMemsetD8(at, 9, 4));
    OK(cuMemsetD16(at + 4, 0x0102, 2));
    OK(cuMemsetD32Async(at + 8, 0x01020304, 1, stream));
    tap_ok(p[3] == 9 && p[4] == 2 && p[7] == 1 && p[8] == 4 && p[11] == 1, "filled");
    IS(cuMemsetD32(at + 2, 1, 1), ERROR_INVALID_VALUE);
    IS(cuMemsetD32(at, 1, SIZE_MAX / 2), ERROR_INVALID_VALUE);
    IS(cuMemsetD8Async(at, 1, SIZE + 1, stream), ERROR_INVALID_VALUE);
    OK(cuMemHostUnregister(p));
    OK(cuMemFree(memory));
    OK(cuStreamDestroy(stream));
}

static void test_read_only(void)
{
    unsigned char *p = pages(PROT_READ), here[4] = {0};
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)p;
    IS(cuMemHostRegister(p, SIZE, 0), ERROR_INVALID_VALUE);
    OK(cuMemHostRegister(p, SIZE, CU_MEMHOSTREGISTER_READ_ONLY));
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at), CU_MEM_ACCESS_FLAGS_PROT_READ);
    OK(cuMemcpyDtoH(here, at, 4));
    EQUAL(here[3], 0x5a);
    IS(cuMemcpyHtoD(at, here, 4), ERROR_INVALID_VALUE);
    IS(cuMemsetD8(at, 1, 1), ERROR_INVALID_VALUE);
    IS(cuMemsetD2D8(at, 512, 1, 4, 2), ERROR_INVALID_VALUE);
    IS(cuMemsetD2D32Async(at, 512, 1, 4, 2, NULL), ERROR_INVALID_VALUE);
    OK(cuMemsetD2D8(at, 512, 1, 0, 2));
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = here, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = at, .dstPitch = 512, .WidthInBytes = 2, .Height = 2};
    IS(cuMemcpy2D(&rows), ERROR_INVALID_VALUE);
    IS(cuMemcpy2DAsync(&rows, NULL), ERROR_INVALID_VALUE);
    rows.dstMemoryType = CU_MEMORYTYPE_HOST;
    rows.dstHost = p;
    IS(cuMemcpy2DUnaligned(&rows), ERROR_INVALID_VALUE);
    EQUAL(p[0], 0x5a);
    EQUAL(p[512], 0x5a);
    rows = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at, .srcPitch = 512,
                           .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = memset(here, 0, sizeof here),
                           .WidthInBytes = 2, .Height = 2};
    OK(cuMemcpy2D(&rows)); /* read access is enough */
    EQUAL(here[3], 0x5a);
    OK(cuMemHostUnregister(p));
}

/* Memory that no device could use cannot be registered. */
static void test_not_registered(void)
{
    unsigned char *p = pages(PROT_READ | PROT_WRITE);
    CUdeviceptr range;
    IS(cuMemHostRegister(p, SIZE + 1, 0), ERROR_INVALID_VALUE); /* past the end */
    IS(cuMemHostRegister(p - 1, 2, 0), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(pages(PROT_NONE), SIZE, 0), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister((void *)(uintptr_t)0x12345000, PAGE, 0), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister((void *)(uintptr_t)0x7000000000000000, PAGE, 0), ERROR_NOT_SUPPORTED);
    IS(cuMemHostRegister((void *)(uintptr_t)-PAGE, PAGE, 0), ERROR_NOT_SUPPORTED);
    IS(cuMemHostRegister((void *)(uintptr_t)-PAGE, PAGE + 1, 0), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(p, SIZE, CU_MEMHOSTREGISTER_IOMEMORY), ERROR_INVALID_VALUE);
    OK(cuMemAddressReserve(&range, 2 << 20, 0, 0, 0));
    IS(cuMemHostRegister((void *)(uintptr_t)range, PAGE, 0), ERROR_INVALID_VALUE);
    IS(cuMemHostUnregister((void *)(uintptr_t)range), ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemAddressFree(range, 2 << 20));
}

/* Mapped memory counts as such memory if the device has access, but its attributes cannot be set. */
static void test_mapped(void)
{
    enum { G = 2 << 20 };
    CUdeviceptr at, device = 7;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc mine = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    int one = 1;
    OK(cuMemAddressReserve(&at, G, 0, 0, 0));
    OK(cuMemCreate(&handle, G, &prop, 0));
    OK(cuMemMap(at, G, 0, handle, 0));
    IS(cuMemHostGetDevicePointer(&device, (void *)(uintptr_t)(at + 9), 0), ERROR_INVALID_VALUE);
    EQUAL(device, 0);
    IS(cuMemHostGetFlags(&(unsigned){0}, (void *)(uintptr_t)at), ERROR_INVALID_VALUE);
    OK(cuMemSetAccess(at, G, &mine, 1));
    OK(cuMemHostGetDevicePointer(&device, (void *)(uintptr_t)(at + 9), 0));
    EQUAL(device, at); /* the mapping's start */
    EQUAL(flags_of((void *)(uintptr_t)at), 3);
    IS(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at), ERROR_NOT_SUPPORTED);
    IS(cuMemHostUnregister((void *)(uintptr_t)at), ERROR_INVALID_VALUE);
    OK(cuMemUnmap(at, G));
    OK(cuMemRelease(handle));
    IS(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at), ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(at, G));
}

static void test_alloc_sync(void)
{
    CUdeviceptr at;
    int one = 1, none = 0;
    OK(cuMemAlloc(&at, 64));
    OK(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at));
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at), 1);
    OK(cuPointerSetAttribute(&none, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at));
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at), 0);
    OK(cuMemFree(at));
    OK(cuMemFreeHost(NULL));
}

/* Ranges at the end of the address space, or that run past it. */
static void test_ends(void)
{
    void *host = NULL;
    const CUdeviceptr last = UINT64_MAX - 4095;
    OK(cuMemHostAlloc(&host, 4096, 0));
    IS(cuMemUnmap(last, 2 << 20), ERROR_INVALID_VALUE);
    IS(cuMemUnmap((CUdeviceptr)(uintptr_t)host, SIZE_MAX), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister((void *)(uintptr_t)(last - 65536), 4096, 0), ERROR_NOT_SUPPORTED);
    memset(host, 1, 4096);
    OK(cuMemFreeHost(host));
}

int main(void)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    test_made(context);
    test_registered(context);
    test_copies();
    test_read_only();
    test_not_registered();
    test_mapped();
    test_alloc_sync();
    test_ends();
    return tap_done();
}
