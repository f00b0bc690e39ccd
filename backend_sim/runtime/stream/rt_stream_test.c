/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and callbacks of the runtime. */
#include <pthread.h>
#include <unistd.h>

#include "testing/rt_rig.h"

static cudaStream_t new_stream(void)
{
    cudaStream_t stream = NULL;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static void test_created(void)
{
    cudaStream_t plain = NULL, fast = NULL, made = new_stream();
    unsigned flags = 9;
    int priority = 9, device = 9;
    unsigned long long one = 0, two = 0;
    OK(cudaStreamCreate(&plain));
    OK(cudaStreamCreateWithPriority(&fast, cudaStreamNonBlocking, -100));
    OK(cudaStreamGetFlags(plain, &flags));
    EQUAL(flags, cudaStreamDefault);
    OK(cudaStreamGetFlags(made, &flags));
    EQUAL(flags, cudaStreamNonBlocking);
    OK(cudaStreamGetPriority(fast, &priority));
    EQUAL(priority, -5);
    OK(cudaStreamGetPriority(plain, &priority));
    EQUAL(priority, 0);
    OK(cudaStreamGetDevice(fast, &device));
    EQUAL(device, 0);
    OK(cudaStreamGetId(plain, &one));
    OK(cudaStreamGetId(fast, &two));
    tap_ok(one != two, "streams have different ids");
    OK(cudaStreamDestroy(plain));
    OK(cudaStreamDestroy(fast));
    OK(cudaStreamDestroy(made));
    REFUSED(cudaStreamDestroy(made), ErrorInvalidResourceHandle);
}

static void test_wrong(void)
{
    cudaStream_t none = (cudaStream_t)(uintptr_t)0x1234, stream = new_stream();
    unsigned flags = 9;
    int value = 9;
    unsigned long long id = 9;
    REFUSED(cudaStreamCreate(NULL), ErrorInvalidValue);
    REFUSED(cudaStreamCreateWithFlags(NULL, 0), ErrorInvalidValue);
    REFUSED(cudaStreamCreateWithFlags(&none, 2), ErrorInvalidValue);
    REFUSED(cudaStreamCreateWithPriority(&none, 2, 0), ErrorInvalidValue);
    EQUAL((uintptr_t)none, 0x1234);
    REFUSED(cudaStreamGetFlags(none, &flags), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamGetPriority(none, &value), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamGetId(none, &id), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamGetDevice(none, &value), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamQuery(none), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamSynchronize(none), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamDestroy(NULL), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamGetFlags(stream, NULL), ErrorInvalidValue);
    EQUAL(flags, 9);
    EQUAL(value, 9);
    EQUAL(id, 9);
    OK(cudaStreamDestroy(stream));
}

static void add_one(void *number)
{
    *(int *)number += 1;
}

/* Both handles denote default streams; 0 is the same as the first. */
static void test_special(void)
{
    unsigned long long legacy = 0, zero = 0, own = 0;
    unsigned flags = 9;
    int count = 0;
    OK(cudaStreamGetId(cudaStreamLegacy, &legacy));
    OK(cudaStreamGetId(NULL, &zero));
    OK(cudaStreamGetId(cudaStreamPerThread, &own));
    EQUAL(zero, legacy);
    tap_ok(own != legacy, "the thread's default stream is another one");
    OK(cudaStreamGetFlags(cudaStreamPerThread, &flags));
    EQUAL(flags, cudaStreamDefault);
    OK(cudaLaunchHostFunc(cudaStreamPerThread, add_one, &count));
    IS(cudaStreamQuery(cudaStreamPerThread), ErrorNotReady);
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    EQUAL(count, 1);
    OK(cudaLaunchHostFunc(cudaStreamLegacy, add_one, &count));
    OK(cudaStreamSynchronize(NULL));
    EQUAL(count, 2);
    IS(cudaGetLastError(), Success);
}

/* Unfinished work is reported as a result, not as the last error. */
static void test_not_ready(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event = NULL;
    int count = 0;
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaEventQuery(event));
    OK(cudaStreamQuery(stream));
    OK(cudaLaunchHostFunc(stream, add_one, &count));
    OK(cudaEventRecord(event, stream));
    NOT_READY(cudaStreamQuery(stream));
    OK(cudaEventSynchronize(event));
    EQUAL(count, 1);
    OK(cudaEventQuery(event));
    OK(cudaLaunchHostFunc(stream, add_one, &count));
    OK(cudaEventRecord(event, stream));
    NOT_READY(cudaEventQuery(event));
    OK(cudaStreamSynchronize(stream));
    EQUAL(count, 2);
    OK(cudaStreamQuery(stream));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
}

static void test_events(void)
{
    cudaStream_t first = new_stream(), second = new_stream();
    cudaEvent_t start = NULL, end = NULL, none = (cudaEvent_t)(uintptr_t)0x1234;
    float ms = -1;
    int count = 0;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    OK(cudaEventRecord(start, first));
    OK(cudaLaunchHostFunc(first, add_one, &count));
    OK(cudaEventRecordWithFlags(end, first, cudaEventRecordDefault));
    NOT_READY(cudaEventElapsedTime(&ms, start, end));
    OK(cudaStreamWaitEvent(second, end, cudaEventWaitDefault));
    OK(cudaStreamSynchronize(second));
    EQUAL(count, 1);
    OK(cudaEventElapsedTime(&ms, start, end));
    tap_ok(ms >= 0, "%.3f ms passed", (double)ms);
    REFUSED(cudaEventCreate(NULL), ErrorInvalidValue);
    REFUSED(cudaEventCreateWithFlags(&none, 0x100), ErrorInvalidValue);
    REFUSED(cudaEventCreateWithFlags(&none, cudaEventInterprocess), ErrorInvalidValue);
    REFUSED(cudaEventRecord(none, first), ErrorInvalidResourceHandle);
    REFUSED(cudaEventRecordWithFlags(end, first, 2), ErrorInvalidValue);
    REFUSED(cudaEventRecordWithFlags(end, first, cudaEventRecordExternal), ErrorIllegalState);
    REFUSED(cudaEventQuery(none), ErrorInvalidResourceHandle);
    REFUSED(cudaEventSynchronize(none), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamWaitEvent(second, none, 0), ErrorInvalidResourceHandle);
    REFUSED(cudaStreamWaitEvent(second, end, 2), ErrorInvalidValue);
    REFUSED(cudaEventElapsedTime(&ms, start, none), ErrorInvalidResourceHandle);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    REFUSED(cudaEventDestroy(end), ErrorInvalidResourceHandle);
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
}

enum { MANY = 65537 };

static void test_many_events(void)
{
    cudaEvent_t *events = calloc(MANY, sizeof *events);
    unsigned wrong = 0;
    for (int i = 0; i < MANY; i++)
        wrong += cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming) != cudaSuccess;
    for (int i = 0; i < MANY; i++)
        wrong += cudaEventQuery(events[i]) != cudaSuccess;
    for (int i = 0; i < MANY; i++)
        wrong += cudaEventDestroy(events[i]) != cudaSuccess;
    EQUAL(wrong, 0);
    free(events);
}

struct seen {
    int calls;
    cudaStream_t stream;
    cudaError_t status, inside;
};

static void call_back(cudaStream_t stream, cudaError_t status, void *user)
{
    struct seen *seen = user;
    *seen = (struct seen){.calls = seen->calls + 1, .stream = stream, .status = status, .inside = cudaStreamSynchronize(stream)};
}

/* Three of them, called in a different order than they were added. */
static void test_callbacks(void)
{
    cudaStream_t one = new_stream(), two = new_stream(), three = new_stream();
    struct seen seen[3] = {{.calls = 0}};
    OK(cudaStreamAddCallback(one, call_back, &seen[0], 0));
    OK(cudaStreamAddCallback(two, call_back, &seen[1], 0));
    OK(cudaStreamAddCallback(three, call_back, &seen[2], 0));
    REFUSED(cudaStreamAddCallback(one, NULL, &seen[0], 0), ErrorInvalidValue);
    REFUSED(cudaStreamAddCallback(one, call_back, &seen[0], 1), ErrorInvalidValue);
    OK(cudaStreamSynchronize(two));
    tap_ok(!seen[0].calls && seen[1].calls == 1 && !seen[2].calls, "one stream's callback");
    OK(cudaStreamSynchronize(one));
    OK(cudaStreamSynchronize(three));
    for (int i = 0; i < 3; i++)
        EQUAL(seen[i].calls, 1);
    tap_ok(seen[0].stream == one && seen[1].stream == two && seen[2].stream == three, "each has its stream");
    IS(seen[1].status, Success);
    IS(seen[1].inside, ErrorNotPermitted);
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    OK(cudaStreamDestroy(three));
    REFUSED(cudaStreamAddCallback(one, call_back, &seen[0], 0), ErrorInvalidResourceHandle);
    REFUSED(cudaLaunchHostFunc(one, add_one, &seen[0]), ErrorInvalidResourceHandle);
    REFUSED(cudaLaunchHostFunc(NULL, NULL, &seen[0]), ErrorInvalidValue);
}

static void test_devices(void)
{
    cudaStream_t there = NULL;
    cudaEvent_t event = NULL;
    int device = 9;
    OK(cudaSetDevice(1));
    there = new_stream();
    OK(cudaSetDevice(0));
    OK(cudaEventCreate(&event));
    OK(cudaStreamGetDevice(there, &device));
    EQUAL(device, 1);
    OK(cudaStreamGetDevice(NULL, &device));
    EQUAL(device, 0);
    REFUSED(cudaEventRecord(event, there), ErrorInvalidResourceHandle);
    OK(cudaEventRecord(event, NULL));
    OK(cudaStreamWaitEvent(there, event, 0));
    OK(cudaStreamSynchronize(there));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(there));
}

/* An event's handle is for other processes; this one has the event itself. */
static void test_shared(void)
{
    cudaIpcEventHandle_t handle, again;
    cudaEvent_t event = NULL, plain = NULL, opened = NULL;
    OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaEventCreate(&plain));
    OK(cudaIpcGetEventHandle(&handle, event));
    OK(cudaIpcGetEventHandle(&again, event));
    EQUAL(memcmp(&handle, &again, sizeof handle), 0);
    REFUSED(cudaIpcGetEventHandle(&again, plain), ErrorInvalidResourceHandle);
    REFUSED(cudaIpcGetEventHandle(NULL, event), ErrorInvalidValue);
    REFUSED(cudaIpcOpenEventHandle(&opened, handle), ErrorDeviceUninitialized);
    REFUSED(cudaIpcOpenEventHandle(NULL, handle), ErrorInvalidValue);
    tap_ok(!opened, "nothing was opened");
    OK(cudaEventDestroy(event));
    OK(cudaEventDestroy(plain));
}

/* The last test: the context is lost, and every later call returns that error. */
static void test_fault(void)
{
    enum { SIZE = 2 << 20 };
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr at = 0;
    cudaStream_t stream = new_stream();
    cudaEvent_t event = NULL;
    struct seen seen = {.calls = 0};
    void *from = NULL;
    OK(cudaEventCreate(&event));
    OK(cudaMalloc(&from, 64));
    EQUAL(cuMemCreate(&handle, SIZE, &prop, 0), CUDA_SUCCESS);
    EQUAL(cuMemAddressReserve(&at, SIZE, 0, 0, 0), CUDA_SUCCESS);
    EQUAL(cuMemMap(at, SIZE, 0, handle, 0), CUDA_SUCCESS);
    EQUAL(cuMemSetAccess(at, SIZE, &access, 1), CUDA_SUCCESS);
    OK(cudaMemcpyAsync((void *)(uintptr_t)at, from, 64, cudaMemcpyDeviceToDevice, stream));
    OK(cudaStreamAddCallback(stream, call_back, &seen, 0));
    EQUAL(cuMemUnmap(at, SIZE), CUDA_SUCCESS);
    REFUSED(cudaStreamSynchronize(stream), ErrorIllegalAddress);
    tap_ok(!seen.calls || seen.status == cudaErrorIllegalAddress, "no callback after the fault gets success");
    REFUSED(cudaStreamQuery(stream), ErrorIllegalAddress);
    REFUSED(cudaEventRecord(event, stream), ErrorIllegalAddress);
    REFUSED(cudaEventQuery(event), ErrorIllegalAddress);
    REFUSED(cudaStreamCreate(&stream), ErrorIllegalAddress);
}

static struct seen left_behind;

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2,schedule=late", 1); /* work that no call waits for is not done */
    alarm(60);
    test_created();
    test_wrong();
    test_special();
    test_not_ready();
    test_events();
    test_many_events();
    test_callbacks();
    test_devices();
    test_shared();
    OK(cudaSetDevice(1));
    OK(cudaStreamAddCallback(NULL, call_back, &left_behind, 0)); /* no call waits for it */
    OK(cudaSetDevice(0));
    test_fault();
    return tap_done();
}
