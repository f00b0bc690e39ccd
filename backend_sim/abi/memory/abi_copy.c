/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of ranges, between any kinds of addresses, and of rows. Compiled for both default streams. */
#include <string.h>

#include "abi.h"
#include "abi_capture.h"
#include "abi_registered.h"
#include "abi_rows.h"
#include "abi_sync.h"

/* Copies between two host ranges, at the call's turn in the stream. */
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

/* An address that the machine has assigned is a device address; any other belongs to the host. */
static CUresult copy_any(vmm_system *sys, CUdeviceptr dst, CUdeviceptr src, size_t size, vmm_stream stream)
{
    bool to = abi_query_device_address(sys, dst), from = abi_query_device_address(sys, src);
    CUresult result = abi_registered_check("cuMemcpy", dst, size, true);
    if (result == CUDA_SUCCESS)
        result = abi_registered_check("cuMemcpy", src, size, false);
    if (result != CUDA_SUCCESS)
        return result;
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

/* Registered memory has a device address that the engine does not know, so the host moves its bytes. */
#define ABI_COPY(dst, src, size, call)                                                                                \
    ABI(abi_is_registered(dst) || abi_is_registered(src) ? copy_any_now(sys, dst, src, size) : (CUresult)(call))
#define ABI_COPY_LATER(dst, src, size, stream, call)                                                                  \
    ABI(abi_is_registered(dst) || abi_is_registered(src) ? copy_any(sys, dst, src, size, abi_stream(stream)) : (CUresult)(call))

static inline CUdeviceptr at(const void *host)
{
    return (CUdeviceptr)(uintptr_t)host;
}

/* ---- between a device and the host, or on devices ---- */

CUresult cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    ABI_COPY(dstDevice, at(srcHost), ByteCount, ABI_SYNC(memcpy_htod, dstDevice, srcHost, ByteCount));
}

CUresult cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    ABI_COPY(at(dstHost), srcDevice, ByteCount, ABI_SYNC(memcpy_dtoh, dstHost, srcDevice, ByteCount));
}

CUresult cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    ABI_COPY(dstDevice, srcDevice, ByteCount, ABI_SYNC(memcpy_dtod, dstDevice, srcDevice, ByteCount));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_COPY_LATER(dstDevice, at(srcHost), ByteCount, hStream,
                   vmm_memcpy_htod_async(sys, dstDevice, srcHost, ByteCount, abi_stream(hStream)));
}

CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_COPY_LATER(at(dstHost), srcDevice, ByteCount, hStream,
                   vmm_memcpy_dtoh_async(sys, dstHost, srcDevice, ByteCount, abi_stream(hStream)));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_COPY_LATER(dstDevice, srcDevice, ByteCount, hStream,
                   vmm_memcpy_dtod_async(sys, dstDevice, srcDevice, ByteCount, abi_stream(hStream)));
}

/* ---- between any addresses ---- */

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    ABI_INITIALISED(copy_any_now(sys, dst, src, ByteCount));
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_WORK(copy_any(sys, dst, src, ByteCount, abi_stream(hStream)));
}

/* ---- between contexts: all share one address space ---- */

/* 0 stands for the current context, as recorded. */
static bool is_context(const vmm_system *sys, CUcontext value)
{
    struct abi_query_context context;
    return !value || (abi_query_context(sys, (uint64_t)(uintptr_t)value, &context) && context.alive);
}

static CUresult check_contexts(const vmm_system *sys, CUcontext dst, CUcontext src)
{
    if (is_context(sys, dst) && is_context(sys, src))
        return CUDA_SUCCESS;
    return abi_refuse(CUDA_ERROR_INVALID_CONTEXT, "cuMemcpyPeer", "%p or %p is no context that lives", (void *)dst,
                      (void *)src);
}

static CUresult copy_peer(vmm_system *sys, CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size)
{
    CUresult result = check_contexts(sys, to, from);
    if (result != CUDA_SUCCESS)
        return result;
    return abi_is_registered(dst) || abi_is_registered(src) ? copy_any_now(sys, dst, src, size)
                                                    : (CUresult)ABI_SYNC(memcpy_dtod, dst, src, size);
}

static CUresult copy_peer_later(vmm_system *sys, CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                                size_t size, vmm_stream stream)
{
    CUresult result = check_contexts(sys, to, from);
    if (result != CUDA_SUCCESS)
        return result;
    return abi_is_registered(dst) || abi_is_registered(src) ? copy_any(sys, dst, src, size, stream)
                                                    : (CUresult)vmm_memcpy_dtod_async(sys, dst, src, size, stream);
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
