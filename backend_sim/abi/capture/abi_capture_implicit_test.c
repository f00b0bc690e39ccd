/* SPDX-License-Identifier: Apache-2.0 */
/* Each copy, fill, memory operation, allocation and call with an event while a stream is captured: the stream takes it, or the
 * legacy default stream refuses it, because that one waits for blocking streams, or the call works as usual. */
#include "testing/rig.h"

static CUdeviceptr at, spare;
static CUmemoryPool pool;
static CUevent event;
static CUcontext context;
static unsigned char bytes[64];

#define HOST ((CUdeviceptr)(uintptr_t)bytes)

static const CUDA_MEMCPY2D *rows(void)
{
    static CUDA_MEMCPY2D copy;
    copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at + 64, .srcPitch = 8,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = at, .dstPitch = 8, .WidthInBytes = 8, .Height = 8};
    return &copy;
}

static const CUDA_MEMCPY3D *box(void)
{
    static CUDA_MEMCPY3D copy;
    copy = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at + 64, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = at, .WidthInBytes = 64, .Height = 1, .Depth = 1};
    return &copy;
}

static CUstreamBatchMemOpParams *batch(void)
{
    static CUstreamBatchMemOpParams op;
    op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = at;
    op.writeValue.value = 0x22222222;
    return &op;
}

static void nothing(void *user)
{
    (void)user;
}

static void nothing_back(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    (void)status;
    (void)user;
}

/* A call without a stream ignores it. */
#define CALL(name, call)                   \
    static CUresult name(CUstream stream)  \
    {                                      \
        (void)stream;                      \
        return call;                       \
    }

CALL(fill, cuMemsetD8(at, 0x22, 64))
CALL(fill_halves, cuMemsetD16(at, 0x2222, 32))
CALL(fill_words, cuMemsetD32(at, 0x22222222, 16))
CALL(fill_rows, cuMemsetD2D8(at, 8, 0x22, 8, 8))
CALL(fill_rows_of_halves, cuMemsetD2D16(at, 8, 0x2222, 4, 8))
CALL(fill_rows_of_words, cuMemsetD2D32(at, 8, 0x22222222, 2, 8))
CALL(copy_in, cuMemcpyHtoD(at, bytes, 64))
CALL(copy_out, cuMemcpyDtoH(bytes, at, 64))
CALL(copy, cuMemcpyDtoD(at, at + 64, 64))
CALL(copy_any, cuMemcpy(at, HOST, 64))
CALL(copy_peer, cuMemcpyPeer(at, context, at + 64, context, 64))
CALL(copy_rows, cuMemcpy2D(rows()))
CALL(copy_rows_unaligned, cuMemcpy2DUnaligned(rows()))
CALL(fill_later, cuMemsetD8Async(at, 0x22, 64, stream))
CALL(fill_halves_later, cuMemsetD16Async(at, 0x2222, 32, stream))
CALL(fill_words_later, cuMemsetD32Async(at, 0x22222222, 16, stream))
CALL(fill_rows_later, cuMemsetD2D8Async(at, 8, 0x22, 8, 8, stream))
CALL(fill_rows_of_halves_later, cuMemsetD2D16Async(at, 8, 0x2222, 4, 8, stream))
CALL(fill_rows_of_words_later, cuMemsetD2D32Async(at, 8, 0x22222222, 2, 8, stream))
CALL(copy_in_later, cuMemcpyHtoDAsync(at, bytes, 64, stream))
CALL(copy_out_later, cuMemcpyDtoHAsync(bytes, at, 64, stream))
CALL(copy_later, cuMemcpyDtoDAsync(at, at + 64, 64, stream))
CALL(copy_any_later, cuMemcpyAsync(at, HOST, 64, stream))
CALL(copy_peer_later, cuMemcpyPeerAsync(at, context, at + 64, context, 64, stream))
CALL(copy_rows_later, cuMemcpy2DAsync(rows(), stream))
CALL(copy_box_later, cuMemcpy3DAsync(box(), stream))
CALL(write_word, cuStreamWriteValue32(stream, at, 0x22222222, 0))
CALL(write_pair, cuStreamWriteValue64(stream, at, 0x22, 0))
CALL(wait_word, cuStreamWaitValue32(stream, at, 0, CU_STREAM_WAIT_VALUE_GEQ))
CALL(wait_pair, cuStreamWaitValue64(stream, at, 0, CU_STREAM_WAIT_VALUE_GEQ))
CALL(write_batch, cuStreamBatchMemOp(stream, 1, batch(), 0))
CALL(record, cuEventRecord(event, stream))
CALL(record_with_flags, cuEventRecordWithFlags(event, stream, 0))
CALL(wait_event, cuStreamWaitEvent(stream, event, 0))
CALL(call_host, cuLaunchHostFunc(stream, nothing, NULL))
CALL(call_back, cuStreamAddCallback(stream, nothing_back, NULL, 0))

/* Allocations are freed, even in a capture. */
static CUresult allocate(CUstream stream)
{
    CUdeviceptr made = 0;
    CUresult result = cuMemAllocAsync(&made, 64, stream);
    return result == CUDA_SUCCESS ? cuMemFreeAsync(made, stream) : result;
}

static CUresult allocate_from(CUstream stream)
{
    CUdeviceptr made = 0;
    CUresult result = cuMemAllocFromPoolAsync(&made, 64, pool, stream);
    return result == CUDA_SUCCESS ? cuMemFreeAsync(made, stream) : result;
}

static CUresult free_later(CUstream stream)
{
    CUresult result = cuMemFreeAsync(spare, stream);
    spare = result == CUDA_SUCCESS ? 0 : spare;
    return result;
}

/* What the call does: whether it works on the stream that it names or at once, whether its work can be a node, and the byte at
 * `at` afterwards. */
static const struct way {
    const char *name;
    CUresult (*call)(CUstream stream);
    bool later, node;
    unsigned byte;
} ways[] = {
#define NOW(name, byte) {#name, name, false, false, byte}
#define LATER(name, node, byte) {#name, name, true, node, byte}
    NOW(fill, 0x22), NOW(fill_halves, 0x22), NOW(fill_words, 0x22), NOW(fill_rows, 0x22), NOW(fill_rows_of_halves, 0x22),
    NOW(fill_rows_of_words, 0x22), NOW(copy_in, 0x55), NOW(copy_out, 0x11), NOW(copy, 0x44), NOW(copy_any, 0x55),
    NOW(copy_peer, 0x44), NOW(copy_rows, 0x44), NOW(copy_rows_unaligned, 0x44),
    LATER(fill_later, true, 0x22), LATER(fill_halves_later, true, 0x22), LATER(fill_words_later, true, 0x22),
    LATER(fill_rows_later, true, 0x22), LATER(fill_rows_of_halves_later, true, 0x22), LATER(fill_rows_of_words_later, true, 0x22),
    LATER(copy_in_later, true, 0x55), LATER(copy_out_later, true, 0x11), LATER(copy_later, true, 0x44),
    LATER(copy_any_later, true, 0x55), LATER(copy_peer_later, false, 0x44), LATER(copy_rows_later, true, 0x44),
    LATER(copy_box_later, true, 0x44),
    LATER(write_word, true, 0x22), LATER(write_pair, true, 0x22), LATER(wait_word, true, 0x11), LATER(wait_pair, true, 0x11),
    LATER(write_batch, true, 0x22), LATER(allocate, true, 0x11), LATER(allocate_from, true, 0x11), LATER(free_later, false, 0x11),
    LATER(record, true, 0x11), LATER(record_with_flags, true, 0x11), LATER(wait_event, false, 0x11),
    LATER(call_host, true, 0x11), LATER(call_back, false, 0x11)};

enum { WAYS = sizeof ways / sizeof ways[0] };

/* The stream used by a call that names none. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
enum { OWN = true };
#else
enum { OWN = false };
#endif

static void prepare(void)
{
    memset(bytes, 0x55, sizeof bytes);
    OK(cuMemsetD8(at, 0x11, 64));
    OK(cuMemsetD8(at + 64, 0x44, 64));
    OK(cuEventRecord(event, NULL));
    if (!spare)
        OK(cuMemAllocAsync(&spare, 64, NULL));
    OK(cuCtxSynchronize());
}

/* Makes the call on `on` while the other stream is being captured. */
static void during(const struct way *way, CUstream captured, CUstream on, CUresult answer)
{
    const bool refused = answer != CUDA_SUCCESS, taken = captured == on;
    CUgraph graph = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    prepare();
    OK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUresult code = way->call(on);
    tap_ok(code == answer, "%s is %s, not %s", way->name, code_name(answer), code_name(code));
    OK(cuStreamIsCapturing(captured, &status));
    EQUAL(status, refused ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE);
    if (refused)
        IS(cuStreamEndCapture(captured, &graph), ERROR_STREAM_CAPTURE_INVALIDATED);
    else
        OK(cuStreamEndCapture(captured, &graph));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(at), refused || taken ? 0x11 : way->byte);
    if (graph)
        OK(cuGraphDestroy(graph));
}

int main(void)
{
    CUstream blocking = NULL, quiet = NULL;
    for (int i = 0; i < WAYS; i++)
        tap_ok(ways[i].call(NULL) == CUDA_ERROR_NOT_INITIALIZED, "%s before cuInit", ways[i].name);
    context = begin();
    OK(cuMemAlloc(&at, 128));
    OK(cuEventCreate(&event, 0));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&quiet, CU_STREAM_NON_BLOCKING));
    for (const struct way *way = ways; way < ways + WAYS; way++) {
        during(way, blocking, CU_STREAM_LEGACY, way->later || !OWN ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS);
        during(way, quiet, CU_STREAM_LEGACY, CUDA_SUCCESS);
        if (way->later)
            during(way, blocking, CU_STREAM_PER_THREAD, CUDA_SUCCESS);
        if (way->node)
            during(way, quiet, quiet, CUDA_SUCCESS);
    }
    OK(cuStreamDestroy(quiet));
    OK(cuStreamDestroy(blocking));
    OK(cuEventDestroy(event));
    OK(cuMemFree(at));
    OK(cuMemFree(spare));
    OK(cuDevicePrimaryCtxRelease(0));
    return tap_done();
}
