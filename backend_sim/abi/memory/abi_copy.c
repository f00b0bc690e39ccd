/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of ranges, between any kinds of addresses, and of rows. Compiled for both default streams. */
#include <string.h>

#include "abi.h"
#include "abi_any_copy.h"
#include "abi_capture_copy.h"
#include "abi_registered.h"
#include "abi_rows.h"
#include "abi_sync.h"
#include "heap.h"

static CUresult copy_any_now(vmm_system *sys, CUdeviceptr dst, CUdeviceptr src, size_t size)
{
    CUresult result = abi_copy_any(sys, dst, src, size, ABI_SYNC_STREAM);
    return result == CUDA_SUCCESS ? (CUresult)vmm_stream_synchronize(sys, ABI_SYNC_STREAM) : result;
}

/* Registered memory has a device address that the engine does not know, so the host moves its bytes. */
#define ABI_COPY(dst, src, size, call)                                                                                \
    ABI(abi_is_registered(dst) || abi_is_registered(src) ? copy_any_now(sys, dst, src, size) : (CUresult)(call))
#define ABI_COPY_LATER(dst, src, size, stream, call)                                                                  \
    ABI(abi_is_registered(dst) || abi_is_registered(src) ? abi_copy_any(sys, dst, src, size, abi_stream(stream)) : (CUresult)(call))

static inline CUdeviceptr at(const void *host)
{
    return (CUdeviceptr)(uintptr_t)host;
}

/* ---- between a device and the host, or on devices ---- */

CUresult cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_COPY(dstDevice, at(srcHost), ByteCount, ABI_SYNC(memcpy_htod, dstDevice, srcHost, ByteCount));
}

CUresult cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_COPY(at(dstHost), srcDevice, ByteCount, ABI_SYNC(memcpy_dtoh, dstHost, srcDevice, ByteCount));
}

CUresult cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_COPY(dstDevice, srcDevice, ByteCount, ABI_SYNC(memcpy_dtod, dstDevice, srcDevice, ByteCount));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_line(__func__, captured_, &(struct abi_line){CU_MEMORYTYPE_DEVICE, dstDevice, CU_MEMORYTYPE_HOST, at(srcHost), ByteCount}));
    ABI_COPY_LATER(dstDevice, at(srcHost), ByteCount, hStream,
                   vmm_memcpy_htod_async(sys, dstDevice, srcHost, ByteCount, abi_stream(hStream)));
}

CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_line(__func__, captured_, &(struct abi_line){CU_MEMORYTYPE_HOST, at(dstHost), CU_MEMORYTYPE_DEVICE, srcDevice, ByteCount}));
    ABI_COPY_LATER(at(dstHost), srcDevice, ByteCount, hStream,
                   vmm_memcpy_dtoh_async(sys, dstHost, srcDevice, ByteCount, abi_stream(hStream)));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_line(__func__, captured_, &(struct abi_line){CU_MEMORYTYPE_DEVICE, dstDevice, CU_MEMORYTYPE_DEVICE, srcDevice, ByteCount}));
    ABI_COPY_LATER(dstDevice, srcDevice, ByteCount, hStream,
                   vmm_memcpy_dtod_async(sys, dstDevice, srcDevice, ByteCount, abi_stream(hStream)));
}

/* ---- between any addresses ---- */

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_INITIALISED(copy_any_now(sys, dst, src, ByteCount));
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_line(__func__, captured_,
                                             &(struct abi_line){CU_MEMORYTYPE_UNIFIED, dst, CU_MEMORYTYPE_UNIFIED, src, ByteCount}));
    ABI_WORK(abi_copy_any(sys, dst, src, ByteCount, abi_stream(hStream)));
}

/* ---- between contexts: addresses are the same in all, and each side has the rights of its context's device ---- */

struct end {
    CUdeviceptr address;
    uint64_t context; /* a live one */
    int device;
};

/* 0 stands for the current context, as recorded. */
static bool find_end(const vmm_system *sys, CUcontext value, CUdeviceptr address, struct end *end)
{
    struct abi_query_context context;
    *end = (struct end){address, value ? (uint64_t)(uintptr_t)value : abi_query_current(sys), 0};
    bool lives = end->context && abi_query_context(sys, end->context, &context) && context.alive;
    end->device = lives ? context.device : -1;
    return lives || !value;
}

/* Checks both sides before any byte moves; the destination first. */
static CUresult check_ends(const vmm_system *sys, const struct end *to, const struct end *from, size_t size)
{
    static const char name[] = "cuMemcpyPeer";
    vmm_result result = abi_query_range(sys, to->device, name, "dstDevice", to->address, size, ABI_QUERY_WRITE);
    if (result == VMM_SUCCESS)
        result = abi_query_range(sys, from->device, name, "srcDevice", from->address, size, ABI_QUERY_READ);
    if (result == VMM_SUCCESS)
        return CUDA_SUCCESS;
    const vmm_detail detail = *vmm_last_detail();
    abi_report(NULL, &detail);
    return (CUresult)result;
}

/* One piece: read by one device, written by the other. */
static CUresult move_piece(vmm_system *sys, const struct end *to, const struct end *from, size_t at, void *piece, size_t size)
{
    vmm_result result = vmm_ctx_set_current(sys, (vmm_context)(uintptr_t)from->context);
    if (result == VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: the context lives (find_end) */
        result = vmm_memcpy_dtoh(sys, piece, from->address + at, size);
    if (result == VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: the device has the right (check_ends) */
        result = vmm_ctx_set_current(sys, (vmm_context)(uintptr_t)to->context);
    if (result == VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: the context lives (find_end) */
        result = vmm_memcpy_htod(sys, to->address + at, piece, size);
    return (CUresult)result;
}

/* Runs once the stream gets there, because no single device can do it. */
static CUresult move_between(vmm_system *sys, const struct end *to, const struct end *from, size_t size, vmm_stream stream)
{
    enum { PIECE = 1 << 20 };
    const uint64_t now = abi_query_current(sys);
    CUresult result = (CUresult)vmm_stream_synchronize(sys, stream);
    void *piece = result == CUDA_SUCCESS ? heap.malloc(size < PIECE ? size : PIECE) : NULL;
    if (result == CUDA_SUCCESS && !piece)
        return abi_no_memory("cuMemcpyPeer");
    for (size_t at = 0; at < size && result == CUDA_SUCCESS; at += PIECE)
        result = move_piece(sys, to, from, at, piece, size - at < PIECE ? size - at : PIECE);
    heap.free(piece);
    if (abi_query_current(sys) != now)
        vmm_ctx_set_current(sys, (vmm_context)(uintptr_t)now);
    return result;
}

/* Can the current context's device do the copy alone? */
static bool can_alone(const vmm_system *sys, const struct end *to, const struct end *from, size_t size, vmm_stream stream)
{
    return abi_query_reachable(sys, stream, to->address, size, ABI_QUERY_WRITE) &&
           abi_query_reachable(sys, stream, from->address, size, ABI_QUERY_READ);
}

/* Returns true if the copy was done or refused here, with `result`, because the current context's device cannot do it alone. */
static bool copy_by_both(vmm_system *sys, const struct end *to, const struct end *from, size_t size, vmm_stream stream,
                         CUresult *result)
{
    struct end own; /* with a current context, both ends have a device */
    find_end(sys, NULL, 0, &own);
    if (!size || own.device < 0 || (to->device == own.device && from->device == own.device))
        return false;
    *result = check_ends(sys, to, from, size);
    if (*result == CUDA_SUCCESS && can_alone(sys, to, from, size, stream))
        return false;
    if (*result == CUDA_SUCCESS)
        *result = move_between(sys, to, from, size, stream);
    return true;
}

static CUresult copy_peer(vmm_system *sys, CUdeviceptr dst, CUcontext to_context, CUdeviceptr src, CUcontext from_context,
                          size_t size, vmm_stream stream, bool waits)
{
    struct end to, from;
    CUresult result;
    if (!find_end(sys, to_context, dst, &to) || !find_end(sys, from_context, src, &from))
        return abi_refuse(VMM_RULE_PEER_CONTEXT, "cuMemcpyPeer", "%p or %p is not a live context", (void *)to_context,
                          (void *)from_context);
    if (abi_is_registered(dst) || abi_is_registered(src))
        return waits ? copy_any_now(sys, dst, src, size) : abi_copy_any(sys, dst, src, size, stream);
    if (copy_by_both(sys, &to, &from, size, stream, &result))
        return result;
    return (CUresult)(waits ? ABI_SYNC(memcpy_dtod, dst, src, size) : vmm_memcpy_dtod_async(sys, dst, src, size, stream));
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                      size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_INITIALISED(copy_peer(sys, dstDevice, dstContext, srcDevice, srcContext, ByteCount, ABI_SYNC_STREAM, true));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                           size_t ByteCount, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream);
    ABI_WORK(copy_peer(sys, dstDevice, dstContext, srcDevice, srcContext, ByteCount, abi_stream(hStream), false));
}

/* ---- rows ---- */

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *pCopy)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_INITIALISED(abi_copy_rows(sys, pCopy, ABI_SYNC_STREAM, true));
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *pCopy)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_INITIALISED(abi_copy_rows(sys, pCopy, ABI_SYNC_STREAM, true));
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_rows(__func__, captured_, pCopy));
    ABI_INITIALISED(abi_copy_rows(sys, pCopy, abi_stream(hStream), false));
}
