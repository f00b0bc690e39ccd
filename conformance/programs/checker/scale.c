/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for measuring what the checker costs, and what it makes of very many findings. ci/checker-scale runs them. SCALE in
 * the environment is how much of it: calls, leaks, steps or threads. Each writes its seconds and the largest size of its
 * process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "growing.h"
#include "share.h"

static unsigned long scale(unsigned long usual)
{
    const char *text = getenv("SCALE");
    return text ? strtoul(text, NULL, 10) : usual;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void took(double start)
{
    struct rusage usage;
    double seconds = now() - start;
    getrusage(RUSAGE_SELF, &usage);
    printf("seconds %.4f kilobytes %ld\n", seconds, usage.ru_maxrss);
}

/* What an allocator and its user call all day: 10 calls a round. */
PROGRAM(scale_calls, .group = "scale")
{
    CUstream work = stream_new(CU_STREAM_NON_BLOCKING), side = stream_new(CU_STREAM_NON_BLOCKING);
    CUevent event = event_new();
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = buffer_prop(0);
    size_t unit = buffer_unit();
    CUdeviceptr at, to = buffer_new(unit);
    DO(cuMemAddressReserve(&at, unit, 0, 0, 0));
    double start = now();
    for (unsigned long calls = scale(1000000); calls >= 10; calls -= 10) {
        DO(cuMemCreate(&handle, unit, &prop, 0));
        DO(cuMemMap(at, unit, 0, handle, 0));
        DO(buffer_allow(at, unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        DO(cuMemRelease(handle));
        DO(cuMemsetD32Async(at, 0, 256, work));
        DO(cuEventRecord(event, work));
        DO(cuStreamWaitEvent(side, event, 0));
        DO(cuMemcpyDtoDAsync(to, at, 1024, side));
        DO(cuStreamSynchronize(side));
        DO(cuMemUnmap(at, unit));
    }
    took(start);
    DO(cuMemAddressFree(at, unit));
    DO(cuEventDestroy(event));
    stream_end(work);
    stream_end(side);
    buffer_free(to, unit);
}

/* One call site that never releases: imports of one piece of memory, each with a new handle. */
PROGRAM(scale_leaks, .group = "scale")
{
    CUmemGenericAllocationHandle memory = share_create(), copy;
    int descriptor = share_export(memory);
    double start = now();
    for (unsigned long i = scale(100000); i > 0; i--) {
        /* finding: scale_leaks VMM-LEAK-HANDLE */
        DO(cuMemImportFromShareableHandle(&copy, (void *)(uintptr_t)(unsigned int)descriptor,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        if (!BUG)
            DO(cuMemRelease(copy));
    }
    took(start);
    close(descriptor);
    DO(cuMemRelease(memory));
}

static void mark(const char *text)
{
    static int (*function)(const char *);
    void *found = dlsym(RTLD_DEFAULT, "cuvmm_mark");
    if (!function && found)
        memcpy(&function, &found, sizeof function);
    if (function)
        function(text);
}

/* A step allocates and frees; of 100 steps one forgets a handle. Objects from the beginning remain, and do not grow in number. */
static void step(unsigned long i)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = buffer_prop(0);
    CUdeviceptr page = buffer_new(BYTES);
    DO(cuMemCreate(&handle, buffer_unit(), &prop, 0)); /* finding: scale_growth VMM-LEAK-HANDLE */
    DO(cuMemsetD8(page, (unsigned char)i, BYTES));
    buffer_free(page, BYTES);
    if (!BUG || i % 100 != 99)
        DO(cuMemRelease(handle));
}

PROGRAM(scale_growth, .group = "scale")
{
    CUmemGenericAllocationHandle cache[8];
    CUmemAllocationProp prop = buffer_prop(0);
    for (int i = 0; i < 8; i++)
        DO(cuMemCreate(&cache[i], buffer_unit(), &prop, 0)); /* other: scale_growth */
    double start = now();
    for (unsigned long i = 0; i < scale(5000); i++) {
        if (i % 500 == 0)
            mark("epoch");
        step(i);
    }
    mark("epoch");
    took(start);
}

static CUcontext shared;

static void *work(void *user)
{
    size_t unit = buffer_unit();
    DO(cuCtxSetCurrent(shared));
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < 20; i++) {
        CUdeviceptr page = buffer_new(unit);
        DO(cuMemsetD8Async(page, 1, BYTES, stream));
        DO(cuStreamSynchronize(stream));
        if (BUG)
            TRY(cuMemUnmap(page + unit / 2, unit / 2)); /* finding: scale_threads VMM-UNMAP-PARTIAL */
        buffer_free(page, unit);
    }
    stream_end(stream);
    return user;
}

PROGRAM(scale_threads, .group = "scale")
{
    enum { MOST = 1000 };
    static pthread_t thread[MOST];
    unsigned long count = scale(300) < MOST ? scale(300) : MOST;
    pthread_attr_t small;
    buffer_unit();
    DO(cuCtxGetCurrent(&shared));
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)256 << 10);
    double start = now();
    for (unsigned long i = 0; i < count; i++)
        if (pthread_create(&thread[i], &small, work, NULL))
            exit(4);
    for (unsigned long i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    took(start);
    pthread_attr_destroy(&small);
}

/* Many streams that all wait for one and that one waits for; each uses separate bytes. */
PROGRAM(scale_streams, .group = "scale")
{
    enum { MOST = 1024 };
    static CUstream stream[MOST];
    static CUevent event[MOST];
    unsigned long count = scale(512) < MOST ? scale(512) : MOST;
    CUstream all = stream_new(CU_STREAM_NON_BLOCKING);
    CUevent begun = event_new();
    CUdeviceptr page = buffer_new(MOST * 4096);
    for (unsigned long i = 0; i < count; i++) {
        stream[i] = stream_new(CU_STREAM_NON_BLOCKING);
        event[i] = event_new();
    }
    double start = now();
    for (unsigned int round = 0; round < 20; round++) {
        DO(cuMemsetD32Async(page, round, count * 1024, all));
        DO(cuEventRecord(begun, all));
        for (unsigned long i = 0; i < count; i++) {
            DO(cuStreamWaitEvent(stream[i], begun, 0));
            size_t words = BUG && i % 2 ? 1025 : 1024; /* one word of the neighbour's */
            /* finding: scale_streams VMM-ORDER-STREAMS */
            DO(cuMemsetD32Async(page + i * 4096, (unsigned int)i, words, stream[i]));
            DO(cuEventRecord(event[i], stream[i]));
            DO(cuStreamWaitEvent(all, event[i], 0));
        }
    }
    DO(cuStreamSynchronize(all));
    took(start);
    for (unsigned long i = 0; i < count; i++) {
        stream_end(stream[i]);
        DO(cuEventDestroy(event[i]));
    }
    DO(cuEventDestroy(begun));
    stream_end(all);
    buffer_free(page, MOST * 4096);
}

/* Two streams that hand pages on by events, and a host that never waits. */
PROGRAM(scale_without_waits, .group = "scale")
{
    enum { PAGES = 256 };
    CUstream one = stream_new(CU_STREAM_NON_BLOCKING), two = stream_new(CU_STREAM_NON_BLOCKING);
    CUevent event = event_new();
    CUdeviceptr pages = buffer_new(PAGES * 4096);
    double start = now();
    for (unsigned long i = 0; i < scale(100000); i++) {
        CUdeviceptr page = pages + i * 7 % PAGES * 4096;
        DO(cuMemsetD32Async(page + 4 * (i % 64), 1, 200, one));
        DO(cuEventRecord(event, one));
        DO(cuStreamWaitEvent(two, event, 0));
        DO(cuMemcpyDtoDAsync(page + 2048, page, 1024, two));
        DO(cuEventRecord(event, two));
        DO(cuStreamWaitEvent(one, event, 0));
    }
    took(start);
    DO(cuEventDestroy(event));
    stream_end(one);
    stream_end(two);
    buffer_free(pages, PAGES * 4096);
}
