/* SPDX-License-Identifier: Apache-2.0 */
/* The mode of a thread and the modes of captures: which of them forbid cuMemAlloc; and what else is forbidden. */
#include <pthread.h>

#include "testing/rig.h"

#undef cuStreamBatchMemOp_ptsz
#undef cuStreamWriteValue32_ptsz
CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned count, CUstreamBatchMemOpParams *list, unsigned flags);
CUresult cuStreamWriteValue32_ptsz(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags);

#define GLOBAL CU_STREAM_CAPTURE_MODE_GLOBAL
#define LOCAL CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static CUstreamCaptureMode exchange(CUstreamCaptureMode mode)
{
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    return mode;
}

static void test_exchange(void)
{
    CUstreamCaptureMode wrong = (CUstreamCaptureMode)3;
    EQUAL(exchange(LOCAL), GLOBAL);
    EQUAL(exchange(RELAXED), LOCAL);
    OK(cuThreadExchangeStreamCaptureMode(&wrong)); /* as recorded */
    EQUAL(wrong, RELAXED);
    IS(cuThreadExchangeStreamCaptureMode(NULL), ERROR_INVALID_VALUE);
    EQUAL(exchange(GLOBAL), 3);
}

/* The thread's work: it exchanges its mode, allocates and frees. */
struct caller {
    CUcontext context;
    CUstreamCaptureMode mode;
    CUresult result;
};

static void *allocate(void *user)
{
    struct caller *caller = user;
    CUdeviceptr p = 0;
    cuCtxSetCurrent(caller->context);
    cuThreadExchangeStreamCaptureMode(&caller->mode);
    caller->result = cuMemAlloc(&p, 64);
    if (caller->result == CUDA_SUCCESS)
        cuMemFree(p);
    cuThreadExchangeStreamCaptureMode(&caller->mode);
    return NULL;
}

static CUresult allocated(CUcontext context, CUstreamCaptureMode mode, bool elsewhere)
{
    struct caller caller = {context, mode, CUDA_SUCCESS};
    pthread_t thread;
    if (!elsewhere) {
        allocate(&caller);
        return caller.result;
    }
    pthread_create(&thread, NULL, allocate, &caller);
    pthread_join(thread, NULL);
    return caller.result;
}

/* A capture in a mode, and a call by a thread in a mode. */
static void test_forbidden(CUcontext context, CUstream stream, CUstreamCaptureMode capture, CUstreamCaptureMode mode,
                           bool elsewhere, bool forbidden)
{
    CUgraph graph = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    OK(cuStreamBeginCapture(stream, capture));
    EQUAL(allocated(context, mode, elsewhere), forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS);
    OK(cuStreamIsCapturing(stream, &status));
    EQUAL(status, forbidden ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EQUAL(cuStreamEndCapture(stream, &graph), forbidden ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
    if (graph)
        OK(cuGraphDestroy(graph));
}

/* ---- what a capture forbids ---- */

static CUstream other_stream;
static CUdeviceptr at = 7;
static CUmemoryPool pool = (CUmemoryPool)8;

static CUresult set_pool(void)
{
    CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return cuMemSetMemPool(&place, CU_MEM_ALLOCATION_TYPE_PINNED, pool);
}

static CUresult import_pool(void)
{
    return cuMemPoolImportFromShareableHandle(&pool, NULL, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

static CUresult export_pointer(void)
{
    CUmemPoolPtrExportData data;
    return cuMemPoolExportPointer(&data, at);
}

static CUresult allocate_later(void)
{
    CUresult result = cuMemAllocAsync(&at, 64, other_stream);
    EQUAL(at, 0); /* measured: written */
    at = 7;
    return result;
}

static CUresult allocate_later_from(void)
{
    CUresult result = cuMemAllocFromPoolAsync(&at, 64, pool, other_stream);
    EQUAL(at, 0);
    at = 7;
    return result;
}

static CUresult allocate_nowhere(void)
{
    return cuMemAllocAsync(NULL, 64, other_stream);
}

static CUresult allocate_nowhere_from(void)
{
    return cuMemAllocFromPoolAsync(NULL, 64, pool, other_stream);
}

static CUresult free_elsewhere(void)
{
    return cuMemFreeAsync(at, other_stream);
}

static CUresult batch_per_thread(void)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    return cuStreamBatchMemOp_ptsz(other_stream, 1, &op, 0);
}

static CUresult write_per_thread(void)
{
    return cuStreamWriteValue32_ptsz(other_stream, at, 1, 0);
}

static CUresult (*const forbidden_calls[])(void) = {
    set_pool,         import_pool,           export_pointer, allocate_later,   allocate_later_from,
    allocate_nowhere, allocate_nowhere_from, free_elsewhere, batch_per_thread, write_per_thread,
};

/* They are refused before their arguments are checked, and change nothing. */
static void test_calls(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    for (size_t i = 0; i < sizeof forbidden_calls / sizeof forbidden_calls[0]; i++) {
        CUgraph graph = NULL;
        OK(cuStreamBeginCapture(stream, GLOBAL));
        EQUAL(forbidden_calls[i](), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        OK(cuStreamIsCapturing(stream, &status));
        EQUAL(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        IS(cuStreamEndCapture(stream, &graph), ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    EQUAL((uintptr_t)pool, 8);
}

/* On the captured stream itself, for calls that a graph cannot hold. */
static void test_taken(CUstream stream)
{
    CUstream before = other_stream;
    CUgraph graph = NULL;
    other_stream = stream;
    for (int i = 0; i < 2; i++) {
        OK(cuStreamBeginCapture(stream, RELAXED));
        EQUAL(i ? batch_per_thread() : write_per_thread(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        IS(cuStreamEndCapture(stream, &graph), ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    other_stream = before;
}

int main(void)
{
    CUcontext context = begin();
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    test_exchange();
    for (int capture = GLOBAL; capture <= RELAXED; capture++)
        for (int mode = GLOBAL; mode <= RELAXED; mode++) {
            test_forbidden(context, stream, (CUstreamCaptureMode)capture, (CUstreamCaptureMode)mode, false,
                           mode != RELAXED && capture != RELAXED);
            test_forbidden(context, stream, (CUstreamCaptureMode)capture, (CUstreamCaptureMode)mode, true,
                           mode == GLOBAL && capture == GLOBAL);
        }
    OK(cuStreamCreate(&other_stream, CU_STREAM_NON_BLOCKING));
    test_calls(stream);
    test_taken(stream);
    OK(cuStreamDestroy(other_stream));
    OK(cuStreamDestroy(stream));
    return tap_done();
}
