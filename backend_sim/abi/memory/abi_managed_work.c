/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered calls on managed memory. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"
#include "abi_managed.h"

#undef cuMemPrefetchAsync
#undef PREFETCH_FORM
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define PREFETCH_FORM(name) name##_ptsz
#else
#define PREFETCH_FORM(name) name
#endif

static vmm_mem_location place_of(CUmemLocation location)
{
    return (vmm_mem_location){(int)location.type, location.id};
}

static bool is_place(CUmemLocation location)
{
    return location.type >= CU_MEM_LOCATION_TYPE_DEVICE && location.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

#pragma GCC visibility push(default)
CUresult PREFETCH_FORM(cuMemPrefetchAsync)(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream);
CUresult PREFETCH_FORM(cuMemPrefetchAsync_v2)(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                              CUstream hStream);
#pragma GCC visibility pop

/* The first version names a device, or the host with -1. */
CUresult PREFETCH_FORM(cuMemPrefetchAsync)(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream);
    ABI(vmm_mem_prefetch_async(sys, devPtr, count, abi_managed_location(dstDevice), 0, abi_stream(hStream)));
}

CUresult PREFETCH_FORM(cuMemPrefetchAsync_v2)(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                              CUstream hStream)
{
    if (!flags && is_place(location)) /* what is refused for its arguments is no capture's concern */
        ABI_NOT_CAPTURED(hStream);
    ABI(vmm_mem_prefetch_async(sys, devPtr, count, place_of(location), flags, abi_stream(hStream)));
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    ABI_NOT_CAPTURED(hStream);
    ABI_NO_CAPTURE();
    ABI(vmm_stream_attach_mem_async(sys, abi_stream(hStream), dptr, length, flags));
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,
                                 size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
    if (!flags)
        ABI_NOT_CAPTURED(hStream);
    ABI(vmm_mem_prefetch_batch_async(sys, (const void *)dptrs, (const void *)sizes, count, (const void *)prefetchLocs,
                                     (const void *)prefetchLocIdxs, numPrefetchLocs, flags, abi_stream(hStream)));
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned long long flags, CUstream hStream)
{
    if (!flags)
        ABI_NOT_CAPTURED(hStream);
    ABI(vmm_mem_discard_batch_async(sys, (const void *)dptrs, (const void *)sizes, count, flags, abi_stream(hStream)));
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,
                                           size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                           CUstream hStream)
{
    if (!flags)
        ABI_NOT_CAPTURED(hStream);
    ABI(vmm_mem_discard_and_prefetch_batch_async(sys, (const void *)dptrs, (const void *)sizes, count,
                                                 (const void *)prefetchLocs, (const void *)prefetchLocIdxs, numPrefetchLocs,
                                                 flags, abi_stream(hStream)));
}
