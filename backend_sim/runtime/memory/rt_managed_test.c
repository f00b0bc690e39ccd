/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: prefetch, advice, attributes of ranges, attaching to streams, and batches; also built as a CUDA 12
 * program, whose first forms take a device. */
#include <unistd.h>

#include "testing/memory_rig.h"

#if CUDART_VERSION >= 13000
#define PREFETCH cudaMemPrefetchAsync
#define ADVISE cudaMemAdvise
#else
#define PREFETCH cudaMemPrefetchAsync_v2
#define ADVISE cudaMemAdvise_v2
#endif

enum { PAGE = 4096, SIZE = 4 * PAGE };

static const struct cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, there = {cudaMemLocationTypeDevice, 1},
                                    host = {cudaMemLocationTypeHost, 0}, nowhere = {cudaMemLocationTypeDevice, 2};
static char *managed, *plain;
static cudaStream_t stream;

/* Of the first page. */
static int attribute(enum cudaMemRangeAttribute which)
{
    int value = 77;
    OK(cudaMemRangeGetAttribute(&value, sizeof value, which, managed, PAGE));
    return value;
}

static void test_prefetch(void)
{
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocation), cudaInvalidDeviceId);
    OK(PREFETCH(managed, SIZE, there, 0, stream));
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocation), 1);
    OK(PREFETCH(managed, PAGE, host, 0, stream));
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocation), cudaCpuDeviceId);
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocationType), cudaMemLocationTypeHost);
    OK(PREFETCH(managed, PAGE, here, 0, NULL));
    OK(cudaDeviceSynchronize());
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocation), 0);
    REFUSED(PREFETCH(managed, PAGE, nowhere, 0, stream), ErrorInvalidDevice);
    REFUSED(PREFETCH(managed, PAGE, here, 1, stream), ErrorInvalidValue);
    REFUSED(PREFETCH(managed, 0, here, 0, stream), ErrorInvalidValue);
    REFUSED(PREFETCH(managed, SIZE + 1, here, 0, stream), ErrorInvalidValue);
    REFUSED(PREFETCH(plain, PAGE, here, 0, stream), ErrorInvalidValue);
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocation), 0);
}

static void test_advice(void)
{
    int accessors[3] = {77, 77, 77};
    OK(ADVISE(managed, PAGE, cudaMemAdviseSetReadMostly, here));
    EQUAL(attribute(cudaMemRangeAttributeReadMostly), 1);
    OK(ADVISE(managed, PAGE, cudaMemAdviseUnsetReadMostly, here));
    EQUAL(attribute(cudaMemRangeAttributeReadMostly), 0);
    OK(ADVISE(managed, PAGE, cudaMemAdviseSetPreferredLocation, there));
    EQUAL(attribute(cudaMemRangeAttributePreferredLocation), 1);
    EQUAL(attribute(cudaMemRangeAttributePreferredLocationType), cudaMemLocationTypeDevice);
    EQUAL(attribute(cudaMemRangeAttributePreferredLocationId), 1);
    OK(ADVISE(managed, PAGE, cudaMemAdviseSetAccessedBy, there));
    OK(cudaMemRangeGetAttribute(accessors, sizeof accessors, cudaMemRangeAttributeAccessedBy, managed, PAGE));
    tap_ok(accessors[0] == 1 && accessors[1] == cudaInvalidDeviceId, "the device that has access, and no other");
    REFUSED(ADVISE(managed, PAGE, (enum cudaMemoryAdvise)0, here), ErrorInvalidValue);
    REFUSED(ADVISE(managed, PAGE, cudaMemAdviseSetPreferredLocation, nowhere), ErrorInvalidValue);
    REFUSED(ADVISE(plain, PAGE, cudaMemAdviseSetReadMostly, here), ErrorInvalidValue);
}

static void test_attributes(void)
{
    int mostly = 77, preferred = 77;
    void *data[] = {&mostly, &preferred};
    size_t sizes[] = {sizeof mostly, sizeof preferred};
    enum cudaMemRangeAttribute asked[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation};
    OK(cudaMemRangeGetAttributes(data, sizes, asked, 2, managed, PAGE));
    tap_ok(mostly == 0 && preferred == 1, "both attributes: %d, %d", mostly, preferred);
    REFUSED(cudaMemRangeGetAttributes(data, sizes, asked, 0, managed, PAGE), ErrorInvalidValue);
    REFUSED(cudaMemRangeGetAttribute(&mostly, 1, cudaMemRangeAttributeReadMostly, managed, PAGE), ErrorInvalidValue);
    REFUSED(cudaMemRangeGetAttribute(&mostly, sizeof mostly, cudaMemRangeAttributeReadMostly, managed, SIZE + 1), ErrorInvalidValue);
    REFUSED(cudaMemRangeGetAttribute(&mostly, sizeof mostly, (enum cudaMemRangeAttribute)0, managed, PAGE), ErrorInvalidValue);
    EQUAL(mostly, 0);
}

static void test_attach(void)
{
    OK(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
    OK(cudaStreamAttachMemAsync(stream, managed, SIZE, cudaMemAttachHost));
    OK(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachGlobal));
    OK(cudaStreamSynchronize(stream));
    REFUSED(cudaStreamAttachMemAsync(stream, managed, 0, 3), ErrorInvalidValue);
    REFUSED(cudaStreamAttachMemAsync(stream, managed, PAGE, cudaMemAttachSingle), ErrorInvalidValue);
    REFUSED(cudaStreamAttachMemAsync(stream, plain, 0, cudaMemAttachGlobal), ErrorInvalidValue);
}

#if CUDART_VERSION >= 13000

static void test_batches(void)
{
    void *list[] = {managed, managed + 2 * PAGE};
    size_t sizes[] = {PAGE, PAGE}, wrong[] = {PAGE, 0}, index = 0;
    struct cudaMemLocation place = there;
    OK(cudaMemPrefetchBatchAsync(list, sizes, 2, &place, &index, 1, 0, stream));
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocation), 1);
    REFUSED(cudaMemPrefetchBatchAsync(list, wrong, 2, &place, &index, 1, 0, stream), ErrorInvalidValue);
    REFUSED(cudaMemPrefetchBatchAsync(list, sizes, 2, &place, &index, 1, 1, stream), ErrorInvalidValue);
    OK(cudaMemDiscardBatchAsync(list, sizes, 2, 0, stream));
    REFUSED(cudaMemDiscardBatchAsync(list, sizes, 2, 1, stream), ErrorInvalidValue);
    REFUSED(cudaMemDiscardBatchAsync(NULL, sizes, 2, 0, stream), ErrorInvalidValue);
    place = here;
    OK(cudaMemDiscardAndPrefetchBatchAsync(list, sizes, 2, &place, &index, 1, 0, stream));
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocation), 0);
    REFUSED(cudaMemDiscardAndPrefetchBatchAsync(list, sizes, 2, NULL, &index, 1, 0, stream), ErrorInvalidValue);
}

static void test_devices(void)
{
}

#else

static void test_batches(void)
{
}

/* The forms that take a device, or -1 for the host. */
static void test_devices(void)
{
    OK(cudaMemPrefetchAsync(managed, SIZE, 1, stream));
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocation), 1);
    OK(cudaMemPrefetchAsync(managed, SIZE, cudaCpuDeviceId, NULL));
    EQUAL(attribute(cudaMemRangeAttributeLastPrefetchLocation), cudaCpuDeviceId);
    REFUSED(cudaMemPrefetchAsync(managed, SIZE, 2, stream), ErrorInvalidDevice);
    REFUSED(cudaMemPrefetchAsync(managed, 0, 0, stream), ErrorInvalidValue);
    OK(cudaMemAdvise(managed, SIZE, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    EQUAL(attribute(cudaMemRangeAttributePreferredLocation), cudaCpuDeviceId);
    OK(cudaMemAdvise(managed, SIZE, cudaMemAdviseUnsetPreferredLocation, 0));
    EQUAL(attribute(cudaMemRangeAttributePreferredLocation), cudaInvalidDeviceId);
    REFUSED(cudaMemAdvise(managed, SIZE, cudaMemAdviseSetAccessedBy, 2), ErrorInvalidDevice);
    REFUSED(cudaMemAdvise(managed, SIZE + 1, cudaMemAdviseSetReadMostly, 0), ErrorInvalidValue);
}

#endif

/* While another stream is captured in global mode, prefetching is possible only on the per-thread default stream. */
static void test_default_stream(void)
{
    cudaStream_t capturing;
    cudaGraph_t graph = NULL;
    OK(cudaStreamCreate(&capturing));
    OK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    OK(PREFETCH(managed, PAGE, here, 0, NULL));
    OK(cudaStreamEndCapture(capturing, &graph));
    OK(cudaGraphDestroy(graph));
#else
    REFUSED(PREFETCH(managed, PAGE, here, 0, NULL), ErrorStreamCaptureImplicit);
    REFUSED(cudaStreamEndCapture(capturing, &graph), ErrorStreamCaptureInvalidated);
#endif
    OK(cudaStreamDestroy(capturing));
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    OK(cudaMallocManaged((void **)&managed, SIZE, cudaMemAttachGlobal));
    OK(cudaMalloc((void **)&plain, SIZE));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    test_prefetch();
    test_advice();
    test_attributes();
    test_attach();
    test_batches();
    test_devices();
    test_default_stream();
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(plain));
    OK(cudaFree(managed));
    return tap_done();
}
