/* SPDX-License-Identifier: Apache-2.0 */
/* Peer access between contexts through libcuda.so.1. */
#include "testing/rig.h"

enum { SIZE = 4 << 20 };

/* Memory of device 1 that only device 1 can write, or read, and its address. */
static CUdeviceptr map_for_second(CUmemAccess_flags rights)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
    CUmemAccessDesc desc = {.location = prop.location, .flags = rights};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr at = 0;
    OK(cuMemCreate(&handle, SIZE, &prop, 0));
    OK(cuMemAddressReserve(&at, SIZE, 0, 0, 0));
    OK(cuMemMap(at, SIZE, 0, handle, 0));
    OK(cuMemSetAccess(at, SIZE, &desc, 1));
    OK(cuMemRelease(handle));
    return at;
}

static void unmap(CUdeviceptr at)
{
    OK(cuMemUnmap(at, SIZE));
    OK(cuMemAddressFree(at, SIZE));
}

/* Each side has the rights of its context's device, whatever context is current (answers, X01.rw_owners and X11.rw). */
static void test_copies(CUcontext first, CUcontext second, CUstream stream)
{
    CUdeviceptr own = 0, theirs = map_for_second(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr read = map_for_second(CU_MEM_ACCESS_FLAGS_PROT_READ);
    CUcontext now = NULL;
    size_t size = SIZE - 5;
    OK(cuMemAlloc(&own, SIZE));
    OK(cuMemsetD8(own, 7, SIZE));
    OK(cuMemcpyPeer(theirs + 3, second, own, first, size)); /* in pieces, the last one short */
    OK(cuMemsetD8(own, 0, SIZE));
    OK(cuMemcpyPeer(own + 1, first, theirs + 3, second, size));
    tap_ok(byte_at(own) == 0 && byte_at(own + 1) == 7 && byte_at(own + size) == 7 && byte_at(own + size + 1) == 0,
           "all bytes went there and back, and no others");
    IS(cuMemcpyPeer(own, first, theirs, first, 4), ERROR_INVALID_VALUE);
    IS(cuMemcpyPeer(theirs, first, own, first, 4), ERROR_INVALID_VALUE);
    IS(cuMemcpyPeer(theirs, NULL, own, second, 4), ERROR_INVALID_VALUE);
    IS(cuMemcpyPeer(read, second, own, first, 4), ERROR_INVALID_VALUE);
    OK(cuMemcpyPeer(own, first, read, second, 4));
    OK(cuMemcpyPeer(own, first, theirs, first, 0)); /* with 0 bytes no address is checked */
    OK(cuMemsetD8Async(own, 9, 64, stream));
    OK(cuMemcpyPeerAsync(theirs, second, own, first, 64, stream));
    OK(cuMemcpyPeerAsync(own + 64, first, theirs, second, 64, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(byte_at(own + 127), 9);
    OK(cuMemcpyPeer(own, second, own + 64, first, 4)); /* cuMemAlloc memory: the current device copies alone */
    OK(cuCtxGetCurrent(&now));
    tap_ok(now == first, "the current context stays");
    OK(cuCtxSetCurrent(NULL));
    IS(cuMemcpyPeer(theirs, second, own, first, 4), ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(second)); /* whose device has no access to memory that the other one has access to */
    IS(cuMemcpyPeer(theirs, first, own, second, 4), ERROR_INVALID_VALUE);
    OK(cuCtxSetCurrent(first));
    unmap(theirs);
    unmap(read);
    OK(cuMemFree(own));
}

int main(void)
{
    CUstream stream;
    CUcontext first, second;
    CUdeviceptr at = 0;
    CUmodule module;
    CUfunction fill;
    uint64_t n = 100;
    uint8_t value = 3;
    unsigned rights = 9;
    void *params[] = {&at, &n, &value};
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    setenv("CUVMM_LAYERS", "fault=device_can_access_peer:1", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    IS(cuCtxEnablePeerAccess(second, 0), ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(second));
    OK(cuMemAlloc(&at, 4096));
    OK(cuMemsetD8(at, 0, 4096));
    OK(cuCtxSetCurrent(first));
    IS(cuCtxDisablePeerAccess(second), ERROR_PEER_ACCESS_NOT_ENABLED);
    IS(cuCtxEnablePeerAccess(second, 0), ERROR_OUT_OF_MEMORY); /* the first query whether it can fails */
    IS(cuCtxDisablePeerAccess(second), ERROR_PEER_ACCESS_NOT_ENABLED);
    IS(cuCtxEnablePeerAccess(first, 0), ERROR_PEER_ACCESS_UNSUPPORTED);
    IS(cuCtxEnablePeerAccess(second, 1), ERROR_INVALID_VALUE);
    IS(cuCtxEnablePeerAccess((CUcontext)&n, 0), ERROR_INVALID_CONTEXT);
    IS(cuMemsetD8(at, 1, 1), ERROR_INVALID_VALUE);
    OK(cuCtxEnablePeerAccess(second, 0));
    IS(cuCtxEnablePeerAccess(second, 0), ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuPointerGetAttribute(&rights, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at));
    EQUAL(rights, 3);
    OK(cuMemsetD8(at, 1, 1));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    test_copies(first, second, stream);
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&fill, module, "fill_span"));
    OK(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(at + 99), 3);
    OK(cuCtxDisablePeerAccess(second));
    OK(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    IS(cuCtxSynchronize(), ERROR_ILLEGAL_ADDRESS);
    return tap_done();
}
