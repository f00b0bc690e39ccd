/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary memory: of cuMemAlloc and related calls, of the host, of pools; and copies between all of them. */
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

/* ---- mistakes ---- */

PROGRAM(free_twice, "VMM-ALLOC-FREE-UNKNOWN", SAME, DEVICE)
{
    CUdeviceptr at;
    begin();
    DO(cuMemAlloc(&at, 4096));
    DO(cuMemFree(at));
    NO(cuMemFree(at));
}

PROGRAM(free_inside, "VMM-ALLOC-FREE-UNKNOWN", SAME, DEVICE)
{
    CUdeviceptr at;
    begin();
    DO(cuMemAlloc(&at, 1 << 20));
    NO(cuMemFree(at + 4096));
    DO(cuMemFree(at));
}

PROGRAM(free_mapping, "VMM-ALLOC-FREE-VMM", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    NO(cuMemFree(at));
    drop(at, g);
}

PROGRAM(free_ordered_twice, "VMM-POOL-FREE-UNKNOWN", SAME, DEVICE)
{
    CUdeviceptr at;
    begin();
    DO(cuMemAllocAsync(&at, 4096, NULL));
    DO(cuMemFreeAsync(at, NULL));
    NO(cuMemFreeAsync(at, NULL));
    DO(cuCtxSynchronize());
}

PROGRAM(leaks_memory, "VMM-LEAK-ALLOCATION", SAME, DEVICE)
{
    CUdeviceptr at;
    begin();
    DO(cuMemAlloc(&at, 1000));
}

PROGRAM(leaks_rows, "VMM-LEAK-ALLOCATION", SAME, DEVICE)
{
    CUdeviceptr at;
    size_t pitch;
    begin();
    DO(cuMemAllocPitch(&at, &pitch, 1000, 10, 4));
}

PROGRAM(leaks_ordered, "VMM-LEAK-ALLOCATION", SAME, DEVICE)
{
    CUdeviceptr at;
    begin();
    DO(cuMemAllocAsync(&at, 4096, NULL));
    DO(cuCtxSynchronize());
}

/* Whether it is refused depends on the addresses after the allocation; it is a mistake either way. */
PROGRAM(copy_past_the_end, "VMM-COPY-RUNS-PAST", SAME, DEVICE)
{
    static char bytes[8 << 20];
    CUdeviceptr at;
    begin();
    DO(cuMemAlloc(&at, 2 << 20));
    cuMemcpyDtoH(bytes, at, sizeof bytes);
    DO(cuMemFree(at));
}

PROGRAM(copy_without_direction, "VMM-COPY-NO-WRITE", SAME, DEVICE)
{
    int value = 1;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    allow(at, g, CU_MEM_ACCESS_FLAGS_PROT_READ);
    NO(cuMemcpy(at, (CUdeviceptr)(uintptr_t)&value, sizeof value));
    drop(at, g);
}

PROGRAM(copy_of_rows, "VMM-COPY-NO-WRITE", SAME, DEVICE)
{
    static char bytes[64 * 64];
    CUDA_MEMCPY2D rows;
    memset(&rows, 0, sizeof rows);
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    allow(at, g, CU_MEM_ACCESS_FLAGS_PROT_READ);
    rows.srcMemoryType = CU_MEMORYTYPE_HOST;
    rows.srcHost = bytes;
    rows.srcPitch = 64;
    rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    rows.dstDevice = at;
    rows.dstPitch = 64;
    rows.WidthInBytes = 64;
    rows.Height = 64;
    NO(cuMemcpy2D(&rows));
    drop(at, g);
}

/* A child of a process that used the driver; its parent's allocations are not its leaks. */
PROGRAM(memory_in_child, "VMM-INIT-FORKED", SAME, SIM)
{
    int status;
    CUdeviceptr at, other;
    void *host = NULL;
    begin();
    DO(cuMemAlloc(&at, 1000));
    pid_t child = fork();
    if (child == 0) {
        NO(cuMemAlloc(&other, 1000));
        NO(cuMemHostAlloc(&host, 1000, 0));
        NO(cuMemFree(at));
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status)
        exit(5);
    DO(cuMemFree(at));
}

/* ---- correct ---- */

static void copy_around(CUdeviceptr device, void *host, size_t size)
{
    static char plain[4096];
    const CUdeviceptr pinned = (CUdeviceptr)(uintptr_t)host, own = (CUdeviceptr)(uintptr_t)plain;
    DO(cuMemcpyHtoD(device, host, size));
    DO(cuMemcpyHtoD(device, plain, size));
    DO(cuMemcpyDtoH(host, device, size));
    DO(cuMemcpy(device, pinned, size));
    DO(cuMemcpy(pinned, device, size));
    DO(cuMemcpy(own, device, size));
    DO(cuMemcpy(device, own, size));
    DO(cuMemcpy(own, pinned, size));
    DO(cuMemcpyAsync(device, pinned, size, NULL));
    DO(cuCtxSynchronize());
}

PROGRAM(right_any_copy, "", SAME, DEVICE)
{
    CUdeviceptr at;
    void *host = NULL;
    begin();
    size_t g = granule();
    CUdeviceptr mapped = whole(g);
    DO(cuMemAlloc(&at, 4000));
    DO(cuMemHostAlloc(&host, 4000, 0));
    copy_around(at, host, 4000);
    copy_around(mapped, host, 4000);
    DO(cuMemcpyDtoD(at, mapped, 4000));
    DO(cuMemcpy(mapped, at, 4000));
    DO(cuMemFreeHost(host));
    DO(cuMemFree(at));
    drop(mapped, g);
}

PROGRAM(right_rows, "", SAME, DEVICE)
{
    static char bytes[100 * 30];
    CUDA_MEMCPY2D rows;
    CUdeviceptr at;
    size_t pitch = 0;
    memset(&rows, 0, sizeof rows);
    begin();
    DO(cuMemAllocPitch(&at, &pitch, 100, 30, 4));
    rows.srcMemoryType = CU_MEMORYTYPE_HOST;
    rows.srcHost = bytes;
    rows.srcPitch = 100;
    rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    rows.dstDevice = at;
    rows.dstPitch = pitch;
    rows.WidthInBytes = 100;
    rows.Height = 30;
    DO(cuMemcpy2D(&rows));
    DO(cuMemcpy2DAsync(&rows, NULL));
    DO(cuCtxSynchronize());
    DO(cuMemFree(at));
}

PROGRAM(right_every_kind, "", SAME, DEVICE)
{
    CUdeviceptr device, managed, ordered, rows;
    void *host = NULL, *other = NULL;
    size_t pitch;
    begin();
    for (int i = 0; i < 3; i++) {
        DO(cuMemAlloc(&device, 1000));
        DO(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
        DO(cuMemAllocAsync(&ordered, 1000, NULL));
        DO(cuMemAllocPitch(&rows, &pitch, 100, 10, 4));
        DO(cuMemAllocHost(&host, 1000));
        DO(cuMemHostAlloc(&other, 1000, CU_MEMHOSTALLOC_PORTABLE));
        DO(cuMemsetD8(device, 1, 1000));
        DO(cuMemsetD8Async(ordered, 1, 1000, NULL));
        DO(cuMemFree(rows));
        DO(cuMemFreeHost(other));
        DO(cuMemFreeHost(host));
        DO(cuMemFreeAsync(ordered, NULL));
        DO(cuCtxSynchronize());
        DO(cuMemFree(managed));
        DO(cuMemFree(device));
    }
}

/* cuMemFree takes memory of a pool, too. */
PROGRAM(right_ordered_freed_at_once, "", SAME, DEVICE)
{
    CUdeviceptr at;
    begin();
    DO(cuMemAllocAsync(&at, 1 << 20, NULL));
    DO(cuCtxSynchronize());
    DO(cuMemFree(at));
}

/* A context takes its memory with it. */
PROGRAM(right_context_frees, "", SAME, DEVICE)
{
    CUcontext context = NULL;
    CUresult (*make)(CUcontext *, unsigned, CUdevice) = NULL;
    void *found = NULL;
    CUdeviceptr at;
    DO(cuInit(0));
    DO(cuGetProcAddress("cuCtxCreate", &found, 4000, 0, NULL));
    memcpy(&make, &found, sizeof make);
    DO(make(&context, 0, 0));
    DO(cuMemAlloc(&at, 1000));
    DO(cuCtxDestroy(context));
}

PROGRAM(right_primary_frees, "", SAME, DEVICE)
{
    CUdeviceptr at;
    begin();
    DO(cuMemAlloc(&at, 1000));
    DO(cuDevicePrimaryCtxReset(0));
    DO(cuDevicePrimaryCtxRelease(0));
}

/* Memory of a captured stream is the graph's: its launches allocate and free it. */
PROGRAM(right_captured_memory, "", SAME, DEVICE)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr at;
    begin();
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    DO(cuMemAllocAsync(&at, 1 << 20, stream));
    DO(cuMemsetD8Async(at, 1, 1 << 20, stream));
    DO(cuMemFreeAsync(at, stream));
    DO(cuStreamEndCapture(stream, &graph));
    DO(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        DO(cuGraphLaunch(exec, stream));
    DO(cuStreamSynchronize(stream));
    DO(cuGraphExecDestroy(exec));
    DO(cuGraphDestroy(graph));
    DO(cuStreamDestroy(stream));
}

/* The driver gives freed addresses to the next that asks, which may be another thread. */
static void *allocate_and_free(void *user)
{
    CUcontext *context = user;
    DO(cuCtxSetCurrent(*context));
    for (int i = 0; i < 200; i++) {
        CUdeviceptr at;
        void *host = NULL;
        DO(cuMemAlloc(&at, (size_t)1000 + (size_t)i));
        DO(cuMemsetD8(at, 1, 1000));
        DO(cuMemHostAlloc(&host, 1000, 0));
        DO(cuMemFreeHost(host));
        DO(cuMemFree(at));
    }
    return NULL;
}

PROGRAM(right_memory_of_threads, "", SAME, DEVICE)
{
    pthread_t threads[16];
    CUcontext context;
    begin();
    DO(cuCtxGetCurrent(&context));
    for (int i = 0; i < 16; i++)
        pthread_create(&threads[i], NULL, allocate_and_free, &context);
    for (int i = 0; i < 16; i++)
        pthread_join(threads[i], NULL);
}
