/* SPDX-License-Identifier: Apache-2.0 */
/* The mode of a thread and the modes of captures: which of them forbid cuMemAlloc. */
#include <pthread.h>

#include "testing/rig.h"

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

/* What a thread does: it exchanges its mode, allocates and frees. */
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
    OK(cuStreamDestroy(stream));
    return tap_done();
}
