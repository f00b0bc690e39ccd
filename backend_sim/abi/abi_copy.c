/* SPDX-License-Identifier: Apache-2.0 */
/* Copies: of ranges, between addresses of any kind, and of rows. Compiled for both default streams. */
#include <string.h>

#include "abi.h"
#include "abi_capture.h"
#include "abi_rows.h"
#include "abi_sync.h"

CUresult cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    ABI(ABI_SYNC(memcpy_htod, dstDevice, srcHost, ByteCount));
}

CUresult cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    ABI(ABI_SYNC(memcpy_dtoh, dstHost, srcDevice, ByteCount));
}

CUresult cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    ABI(ABI_SYNC(memcpy_dtod, dstDevice, srcDevice, ByteCount));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI(vmm_memcpy_htod_async(sys, dstDevice, srcHost, ByteCount, abi_stream(hStream)));
}

CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI(vmm_memcpy_dtoh_async(sys, dstHost, srcDevice, ByteCount, abi_stream(hStream)));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI(vmm_memcpy_dtod_async(sys, dstDevice, srcDevice, ByteCount, abi_stream(hStream)));
}

/* ---- addresses of any kind ---- */

/* Between two places of the host, once the stream is that far. */
static CUresult copy_host(vmm_system *sys, CUdeviceptr dst, CUdeviceptr src, size_t size, vmm_stream stream)
{
    enum { FIRST_PAGE = 4096 };
    if (size && (dst < FIRST_PAGE || src < FIRST_PAGE))
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, "cuMemcpy", "from 0x%llx to 0x%llx: one is no address", src, dst);
    CUresult result = (CUresult)vmm_stream_synchronize(sys, stream);
    if (result == CUDA_SUCCESS)
        memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, size);
    return result;
}

/* What the machine deals out is a device address, all else the host's. */
static CUresult copy_any(vmm_system *sys, CUdeviceptr dst, CUdeviceptr src, size_t size, vmm_stream stream)
{
    bool to = ask_device_address(sys, dst), from = ask_device_address(sys, src);
    if (to && from)
        return (CUresult)vmm_memcpy_dtod_async(sys, dst, src, size, stream);
    if (to)
        return (CUresult)vmm_memcpy_htod_async(sys, dst, (const void *)(uintptr_t)src, size, stream);
    if (from)
        return (CUresult)vmm_memcpy_dtoh_async(sys, (void *)(uintptr_t)dst, src, size, stream);
    return copy_host(sys, dst, src, size, stream);
}

static CUresult copy_any_now(vmm_system *sys, CUdeviceptr dst, CUdeviceptr src, size_t size)
{
    CUresult result = copy_any(sys, dst, src, size, ABI_SYNC_STREAM);
    return result == CUDA_SUCCESS ? (CUresult)vmm_stream_synchronize(sys, ABI_SYNC_STREAM) : result;
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    ABI_INITIALISED(copy_any_now(sys, dst, src, ByteCount));
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_WORK(copy_any(sys, dst, src, ByteCount, abi_stream(hStream)));
}

/* ---- between contexts: addresses are the same in all ---- */

static CUresult check_contexts(const vmm_system *sys, CUcontext dst, CUcontext src)
{
    struct ask_context context;
    if (ask_context(sys, (uint64_t)(uintptr_t)dst, &context) && context.alive &&
        ask_context(sys, (uint64_t)(uintptr_t)src, &context) && context.alive)
        return CUDA_SUCCESS;
    return abi_refuse(CUDA_ERROR_INVALID_CONTEXT, "cuMemcpyPeer", "%p or %p is no context that lives", (void *)dst,
                      (void *)src);
}

static CUresult copy_peer(vmm_system *sys, CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size)
{
    CUresult result = check_contexts(sys, to, from);
    return result == CUDA_SUCCESS ? (CUresult)ABI_SYNC(memcpy_dtod, dst, src, size) : result;
}

static CUresult copy_peer_later(vmm_system *sys, CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                                size_t size, vmm_stream stream)
{
    CUresult result = check_contexts(sys, to, from);
    return result == CUDA_SUCCESS ? (CUresult)vmm_memcpy_dtod_async(sys, dst, src, size, stream) : result;
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                      size_t ByteCount)
{
    ABI_INITIALISED(copy_peer(sys, dstDevice, dstContext, srcDevice, srcContext, ByteCount));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                           size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_WORK(copy_peer_later(sys, dstDevice, dstContext, srcDevice, srcContext, ByteCount, abi_stream(hStream)));
}

/* ---- rows ---- */

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *pCopy)
{
    ABI_INITIALISED(abi_copy_rows(sys, pCopy, ABI_SYNC_STREAM, true));
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *pCopy)
{
    ABI_INITIALISED(abi_copy_rows(sys, pCopy, ABI_SYNC_STREAM, true));
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_INITIALISED(abi_copy_rows(sys, pCopy, abi_stream(hStream), false));
}
