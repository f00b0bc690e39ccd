/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory, and copies of host-pool memory, with the answers of an H100 (conformance/recorded/facts/README.md,
 * "Managed memory"). */
#include "testing/rig.h"

enum { SIZE = 8192, FEW = 64 };

static uint64_t attribute(CUpointer_attribute which, CUdeviceptr at)
{
    uint64_t value = 0;
    OK(cuPointerGetAttribute(&value, which, at));
    return value;
}

static void *host_of(CUdeviceptr at)
{
    return (void *)(uintptr_t)at;
}

static void test_arguments(void)
{
    CUdeviceptr at = 9;
    for (unsigned flags = 0; flags < 10; flags++)
        if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
            at = 9;
            IS(cuMemAllocManaged(&at, SIZE, flags), ERROR_INVALID_VALUE);
            EQUAL(at, 0);
        }
    IS(cuMemAllocManaged(&at, 0, CU_MEM_ATTACH_GLOBAL), ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(NULL, SIZE, CU_MEM_ATTACH_GLOBAL), ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(&at, SIZE_MAX, CU_MEM_ATTACH_GLOBAL), ERROR_OUT_OF_MEMORY);
    IS(cuMemAllocManaged(&at, (size_t)1 << 60, CU_MEM_ATTACH_GLOBAL), ERROR_OUT_OF_MEMORY);
}

static void test_without_context(CUcontext context)
{
    CUdeviceptr at = 9, there = 0;
    OK(cuMemAllocManaged(&there, SIZE, CU_MEM_ATTACH_GLOBAL));
    OK(cuCtxSetCurrent(NULL));
    IS(cuMemAllocManaged(NULL, 0, 99), ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(&at, SIZE, CU_MEM_ATTACH_GLOBAL), ERROR_INVALID_CONTEXT);
    EQUAL(at, 0);
    OK(cuMemFree(there)); /* as recorded */
    OK(cuCtxSetCurrent(context));
    IS(cuMemFree(there), ERROR_INVALID_VALUE);
}

static void test_captures(void)
{
    CUstream stream;
    CUgraph graph = NULL;
    CUdeviceptr at = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    IS(cuMemAllocManaged(&at, SIZE, CU_MEM_ATTACH_GLOBAL), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuStreamEndCapture(stream, &graph), ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemAllocManaged(&at, SIZE, CU_MEM_ATTACH_GLOBAL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuMemFree(at));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

static void test_attributes(CUcontext context, CUdeviceptr at, uint64_t size)
{
    CUdeviceptr base = 9, device = 9;
    size_t length = 9;
    unsigned flags = 9;
    unsigned long long rights = 9;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    uint64_t tokens[2] = {9, 9};
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_CONTEXT, at), (uintptr_t)context);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at), CU_MEMORYTYPE_DEVICE);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, at), 1);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at), 1);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at + size / 2), at + size / 2);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_HOST_POINTER, at + size / 2), at + size / 2);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at), 0);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, at), 0);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at + size / 2), at);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_RANGE_SIZE, at), size);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_MAPPED, at), 1);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at), 0);
    OK(cuPointerGetAttribute(tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, at));
    EQUAL(tokens[0], 0);
    OK(cuMemGetAddressRange(&base, &length, at + size / 2));
    tap_ok(base == at && length == size, "its range is what was asked for");
    OK(cuMemHostGetFlags(&flags, host_of(at)));
    EQUAL(flags, CU_MEMHOSTALLOC_DEVICEMAP);
    OK(cuMemGetAccess(&rights, &here, at));
    EQUAL(rights, 0);
    IS(cuMemHostGetDevicePointer(&device, host_of(at), 0), ERROR_INVALID_VALUE);
    EQUAL(device, 0);
}

static void test_refused(CUdeviceptr at, uint64_t size)
{
    CUmemGenericAllocationHandle handle;
    CUipcMemHandle ipc;
    int fd = -1;
    IS(cuMemRetainAllocationHandle(&handle, host_of(at)), ERROR_INVALID_VALUE);
    IS(cuMemUnmap(at, 2 << 20), ERROR_INVALID_VALUE);
    IS(cuIpcGetMemHandle(&ipc, at), ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(host_of(at), 4096, 0), ERROR_INVALID_VALUE);
    IS(cuMemGetHandleForAddressRange(&fd, at, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0), ERROR_INVALID_VALUE);
    IS(cuMemFree(at + size / 2), ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(host_of(at)), ERROR_INVALID_VALUE);
    IS(cuMemFreeAsync(at, NULL), ERROR_NOT_SUPPORTED);
}

/* Stream memory operations, which are checked after the stream is. */
static void test_mem_ops(CUdeviceptr at, CUdeviceptr plain)
{
    CUstreamBatchMemOpParams two[2] = {{.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, plain, {.value = 5}, 0, 0}},
                                       {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, at, {.value = 5}, 0, 0}}};
    IS(cuStreamWriteValue32(NULL, at, 5, 0), ERROR_INVALID_VALUE);
    IS(cuStreamWriteValue64(NULL, at, 5, 0), ERROR_INVALID_VALUE);
    IS(cuStreamWaitValue32(NULL, at, 0, CU_STREAM_WAIT_VALUE_NOR), ERROR_INVALID_VALUE);
    IS(cuStreamWaitValue64(NULL, at, 0, CU_STREAM_WAIT_VALUE_NOR), ERROR_INVALID_VALUE);
    IS(cuStreamBatchMemOp(NULL, 2, two, 0), ERROR_INVALID_VALUE);
    OK(cuStreamBatchMemOp(NULL, 1, two, 0));
    IS(cuStreamBatchMemOp(NULL, 256, two, 0), ERROR_INVALID_VALUE);
    IS(cuStreamBatchMemOp(NULL, 1, NULL, 0), ERROR_INVALID_VALUE);
    IS(cuStreamWriteValue32((CUstream)(uintptr_t)0x77, at, 5, 0), ERROR_INVALID_HANDLE);
    EQUAL(byte_at(plain), 5);
}

/* The host's bytes are the device's. */
static void test_bytes(CUdeviceptr at, CUdeviceptr plain)
{
    unsigned char mine[FEW];
    volatile unsigned char *here = host_of(at);
    *here = 3;
    OK(cuMemcpyDtoD(plain, at, FEW));
    EQUAL(byte_at(plain), 3);
    OK(cuMemsetD8(at, 4, FEW));
    EQUAL(*here, 4);
    OK(cuMemsetD8(plain, 5, FEW));
    OK(cuMemcpyAsync(at, plain, FEW, NULL));
    OK(cuCtxSynchronize());
    EQUAL(*here, 5);
    memset(mine, 6, sizeof mine);
    OK(cuMemcpyHtoD(at, mine, FEW));
    EQUAL(*here, 6);
    OK(cuMemcpy(plain, at, FEW));
    EQUAL(byte_at(plain), 6);
    OK(cuMemcpyDtoH(host_of(at + FEW), plain, FEW));
    EQUAL(here[FEW], 6);
}

static void test_memory(CUcontext context, uint64_t size, unsigned flags)
{
    CUdeviceptr at = 0, plain = 0;
    OK(cuMemAllocManaged(&at, size, flags));
    OK(cuMemAlloc(&plain, SIZE));
    test_attributes(context, at, size);
    test_refused(at, size);
    test_mem_ops(at, plain);
    test_bytes(at, plain);
    OK(cuMemFree(at));
    IS(cuMemFree(at), ERROR_INVALID_VALUE);
    OK(cuMemFree(plain));
}

/* It ends with its context; memory of other contexts stays. */
static void test_context_ends(CUcontext context)
{
    CUcontext other = NULL;
    CUdeviceptr theirs = 0, ours = 0;
    unsigned managed = 9;
    OK(cuMemAllocManaged(&ours, SIZE, CU_MEM_ATTACH_GLOBAL));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuMemAllocManaged(&theirs, SIZE, CU_MEM_ATTACH_GLOBAL));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxDestroy(other));
    IS(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, theirs), ERROR_INVALID_VALUE);
    IS(cuMemFree(theirs), ERROR_INVALID_VALUE);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, ours), 1);
    OK(cuMemFree(ours));
}

/* ---- pools of the host ---- */

/* The typed calls accept it only as the host side, not as the device side. */
static void test_pool_typed(CUdeviceptr p, CUdeviceptr q, CUdeviceptr device)
{
    unsigned char mine[FEW] = {0};
    IS(cuMemcpyDtoD(q, p, FEW), ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoD(device, p, FEW), ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoDAsync(p, device, FEW, NULL), ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(mine, p, FEW), ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoDAsync(p, mine, FEW, NULL), ERROR_INVALID_VALUE);
    memset(host_of(p), 1, FEW);
    OK(cuMemcpyHtoD(device, host_of(p), FEW));
    EQUAL(byte_at(device + FEW - 1), 1);
    OK(cuMemsetD8(device, 2, FEW));
    OK(cuMemcpyDtoHAsync(host_of(p), device, FEW, NULL));
    OK(cuCtxSynchronize());
    EQUAL(*(volatile unsigned char *)host_of(p), 2);
}

static void test_pool_any(CUdeviceptr p, CUdeviceptr q, CUdeviceptr device)
{
    volatile unsigned char *at = host_of(p);
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = p, .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .dstDevice = q, .WidthInBytes = FEW, .Height = 1, .Depth = 1};
    memset(host_of(q), 3, FEW);
    OK(cuMemcpyAsync(p, q, FEW, NULL));
    OK(cuCtxSynchronize());
    EQUAL(*at, 3);
    OK(cuMemcpy(device, p, FEW));
    EQUAL(byte_at(device), 3);
    OK(cuMemsetD8(device, 4, FEW));
    OK(cuMemcpy(p, device, FEW));
    EQUAL(*at, 4);
    OK(cuMemcpy3D(&box));
    EQUAL(*(volatile unsigned char *)host_of(q), 4);
    box.srcMemoryType = CU_MEMORYTYPE_HOST;
    box.srcHost = host_of(p);
    memset(host_of(p), 5, FEW);
    OK(cuMemcpy3D(&box));
    EQUAL(*(volatile unsigned char *)host_of(q), 5);
    box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    IS(cuMemcpy3D(&box), ERROR_INVALID_VALUE);
}

static void test_pool(CUmemLocationType type)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
    CUmemAccessDesc all = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemoryPool pool = NULL;
    CUdeviceptr p = 0, q = 0, device = 0, base = 0;
    size_t size = 0;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemAllocFromPoolAsync(&p, SIZE, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&q, SIZE, pool, NULL));
    OK(cuMemAlloc(&device, SIZE));
    OK(cuCtxSynchronize());
    IS(cuMemsetD8(p, 7, FEW), ERROR_INVALID_VALUE);
    IS(cuMemGetAddressRange(&base, &size, p), ERROR_NOT_FOUND);
    for (int given = 0; given < 2; given++) {
        test_pool_typed(p, q, device);
        test_pool_any(p, q, device);
        OK(cuMemPoolSetAccess(pool, &all, 1));
    }
    OK(cuMemsetD8(p, 7, FEW));
    EQUAL(*(volatile unsigned char *)host_of(p), 7);
    OK(cuMemGetAddressRange(&base, &size, p));
    tap_ok(base == p && size == SIZE, "with rights its range is known");
    OK(cuMemFree(device));
    OK(cuMemFreeAsync(p, NULL));
    OK(cuMemFreeAsync(q, NULL));
    OK(cuMemPoolDestroy(pool));
}

int main(void)
{
    CUcontext context = begin();
    test_arguments();
    test_without_context(context);
    test_captures();
    test_memory(context, SIZE, CU_MEM_ATTACH_GLOBAL);
    test_memory(context, (2 << 20) + 512, CU_MEM_ATTACH_HOST);
    test_context_ends(context);
    if (getenv("CUVMM_RUN")) /* valgrind leaves too few addresses for a pool that the program can use in place */
        return tap_done();
    test_pool(CU_MEM_LOCATION_TYPE_HOST);
    test_pool(CU_MEM_LOCATION_TYPE_HOST_NUMA);
    return tap_done();
}
