/* SPDX-License-Identifier: Apache-2.0 */
/* Programs without a mistake, some of them near one: the checker must report nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

#define RW CU_MEM_ACCESS_FLAGS_PROT_READWRITE

PROGRAM(right_cycle, "", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    for (int i = 0; i < 3; i++) {
        CUdeviceptr at = whole(2 * g);
        DO(cuMemsetD32(at, 7, g / 4));
        drop(at, 2 * g);
    }
}

PROGRAM(right_growing, "", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(4 * g);
    for (size_t i = 0; i < 4; i++) {
        CUmemGenericAllocationHandle handle = create(g);
        DO(cuMemMap(at + i * g, g, 0, handle, 0));
        DO(cuMemRelease(handle));
        allow(at + i * g, g, RW);
        DO(cuMemsetD8(at, (unsigned char)i, (i + 1) * g));
    }
    for (size_t i = 0; i < 4; i++)
        DO(cuMemUnmap(at + i * g, g));
    DO(cuMemAddressFree(at, 4 * g));
}

PROGRAM(right_two_addresses, "", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(2 * g);
    CUmemGenericAllocationHandle handle = create(g);
    DO(cuMemMap(at, g, 0, handle, 0));
    DO(cuMemMap(at + g, g, 0, handle, 0));
    allow(at, 2 * g, RW);
    DO(cuMemsetD8(at, 1, g));
    DO(cuMemUnmap(at, 2 * g));
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, 2 * g));
}

PROGRAM(right_retain, "", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)at));
    DO(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    drop(at, g);
    DO(cuMemRelease(handle));
}

/* Another thread of the process took the address: not a mistake, since the program checks. */
PROGRAM(right_hint, "", SAME, DEVICE)
{
    CUdeviceptr other;
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    DO(cuMemAddressReserve(&other, g, 0, at, 0));
    if (other == at)
        exit(4);
    DO(cuMemAddressFree(other, g));
    DO(cuMemAddressFree(at, g));
}

PROGRAM(right_read_only, "", SAME, DEVICE)
{
    int value;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    allow(at, g, CU_MEM_ACCESS_FLAGS_PROT_READ);
    DO(cuMemcpyDtoH(&value, at, sizeof value));
    drop(at, g);
}

PROGRAM(right_asks_of_host_memory, "", SAME, DEVICE)
{
    int here = 0;
    unsigned type;
    begin();
    cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)&here);
    CUdeviceptr base;
    size_t size;
    cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)&here);
}

PROGRAM(right_asks_of_device_memory, "", SAME, DEVICE)
{
    unsigned type = 0;
    CUdeviceptr base = 0;
    size_t size = 0;
    unsigned long long flags = 0;
    CUmemLocation location;
    memset(&location, 0, sizeof location);
    location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
    DO(cuMemGetAddressRange(&base, &size, at + 5));
    DO(cuMemGetAccess(&flags, &location, at));
    if (base != at || size != g || flags != RW)
        exit(4);
    drop(at, g);
}

PROGRAM(right_too_much, "", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = pinned();
    begin();
    NO(cuMemCreate(&handle, granule() << 24, &prop, 0));
}

PROGRAM(right_ordinary_memory, "", SAME, DEVICE)
{
    CUdeviceptr at;
    char byte = 1;
    unsigned type;
    begin();
    DO(cuMemAlloc(&at, 1000));
    DO(cuMemsetD8(at, 0, 1000));
    DO(cuMemcpyDtoH(&byte, at + 999, 1));
    DO(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
    DO(cuMemFree(at));
}

PROGRAM(right_stream, "", SAME, DEVICE)
{
    CUstream stream;
    char bytes[64] = {0};
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuMemsetD8Async(at, 1, g, stream));
    DO(cuMemcpyDtoHAsync(bytes, at, sizeof bytes, stream));
    DO(cuStreamSynchronize(stream));
    DO(cuStreamDestroy(stream));
    drop(at, g);
}

PROGRAM(right_event, "", SAME, DEVICE)
{
    CUevent event;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuEventCreate(&event, CU_EVENT_DEFAULT));
    DO(cuMemsetD8Async(at, 1, g, NULL));
    DO(cuEventRecord(event, NULL));
    DO(cuEventSynchronize(event));
    DO(cuEventDestroy(event));
    drop(at, g);
}

PROGRAM(right_context_of_its_own, "", SAME, DEVICE)
{
    CUcontext context = NULL, popped = NULL;
    CUresult (*make)(CUcontext *, unsigned, CUdevice) = NULL;
    void *found = NULL;
    DO(cuInit(0));
    DO(cuGetProcAddress("cuCtxCreate", &found, 4000, 0, NULL));
    memcpy(&make, &found, sizeof make);
    DO(make(&context, 0, 0));
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuCtxPopCurrent(&popped));
    DO(cuCtxPushCurrent(popped));
    DO(cuMemsetD8(at, 0, g));
    drop(at, g);
    DO(cuCtxDestroy(context));
}

PROGRAM(right_primary_given_back, "", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    drop(at, g);
    DO(cuDevicePrimaryCtxRelease(0));
}

/* Registered before cuInit, so it runs when the driver has ended, as the CUDA runtime's own handler does. */
static void release_at_exit(void)
{
    CUdeviceptr at;
    printf("released: %d\n", (int)cuDevicePrimaryCtxRelease(0));
    if (cuMemAddressReserve(&at, (size_t)2 << 20, 0, 0, 0) == CUDA_SUCCESS)
        DO(cuMemAddressFree(at, (size_t)2 << 20));
}

PROGRAM(right_release_at_exit, "", SAME, DEVICE)
{
    atexit(release_at_exit);
    begin();
    size_t g = granule();
    drop(whole(g), g);
}

/* So do the destructors of a C++ program's global objects. Memory that they free then is neither a leak nor a mistake. */
static CUdeviceptr held_memory, held_mapping;

static void free_at_exit(void)
{
    const size_t g = (size_t)2 << 20;
    printf("freed: %d\n", (int)cuMemFree(held_memory));
    printf("unmapped: %d\n", (int)cuMemUnmap(held_mapping, g));
    printf("addresses freed: %d\n", (int)cuMemAddressFree(held_mapping, g));
}

PROGRAM(right_free_at_exit, "", SAME, DEVICE)
{
    atexit(free_at_exit);
    begin();
    DO(cuMemAlloc(&held_memory, 1000));
    held_mapping = whole((size_t)2 << 20);
}

PROGRAM(right_export, "", SAME, DEVICE)
{
    int fd = -1;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = pinned();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    begin();
    DO(cuMemCreate(&handle, granule(), &prop, 0));
    DO(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    close(fd);
    DO(cuMemRelease(handle));
}

static void host_function(void *user)
{
    *(int *)user = 1;
}

PROGRAM(right_host_function, "", SAME, DEVICE)
{
    int done = 0;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuMemsetD8Async(at, 1, g, NULL));
    DO(cuLaunchHostFunc(NULL, host_function, &done));
    DO(cuCtxSynchronize());
    if (!done)
        exit(4);
    drop(at, g);
}

/* ---- waiting without a call: an observed result proves the earlier work in its stream ---- */

static void set_flag(void *user)
{
    atomic_store((_Atomic int *)user, 1);
}

static void wait_for_flag(_Atomic int *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

PROGRAM(right_after_host_function, "", SAME, UNASKED)
{
    CUstream stream;
    _Atomic int flag = 0;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuMemsetD8Async(at, 1, g, stream));
    DO(cuLaunchHostFunc(stream, set_flag, &flag));
    wait_for_flag(&flag);
    drop(at, g);
    DO(cuStreamSynchronize(stream)); /* the function may not have returned */
    DO(cuStreamDestroy(stream));
}

PROGRAM(right_after_flag, "", SAME, UNASKED)
{
    CUstream stream;
    void *memory = NULL;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuMemHostAlloc(&memory, sizeof(int), CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, sizeof(int));
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuMemsetD8Async(at, 1, g, stream));
    DO(cuMemsetD32Async((CUdeviceptr)(uintptr_t)memory, 1, 1, stream));
    wait_for_flag(memory);
    drop(at, g);
    DO(cuStreamSynchronize(stream));
    DO(cuStreamDestroy(stream));
    DO(cuMemFreeHost(memory));
}

static void *in_thread(void *user)
{
    CUcontext *context = user;
    DO(cuCtxSetCurrent(*context));
    size_t g = granule();
    for (int i = 0; i < 100; i++) {
        CUdeviceptr at = whole(g);
        DO(cuMemsetD8(at, (unsigned char)i, 64));
        drop(at, g);
    }
    return NULL;
}

PROGRAM(right_threads, "", SAME, DEVICE)
{
    pthread_t threads[4];
    CUcontext context;
    begin();
    DO(cuCtxGetCurrent(&context));
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, in_thread, &context);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* Hundreds of threads at once, each with all that it holds. */
static void *in_one_of_many(void *user)
{
    CUcontext *context = user;
    DO(cuCtxSetCurrent(*context));
    size_t g = granule();
    for (int i = 0; i < 20; i++) {
        CUdeviceptr at = whole(g), memory;
        DO(cuMemAlloc(&memory, 1000));
        DO(cuMemcpyDtoD(memory, at, 1000));
        DO(cuMemsetD8(at, (unsigned char)i, 64));
        DO(cuMemFree(memory));
        drop(at, g);
    }
    return NULL;
}

PROGRAM(right_many_threads, "", SAME, DEVICE)
{
    enum { MANY = 300 };
    pthread_t threads[MANY];
    CUcontext context;
    begin();
    DO(cuCtxGetCurrent(&context));
    for (int i = 0; i < MANY; i++)
        if (pthread_create(&threads[i], NULL, in_one_of_many, &context))
            exit(7);
    for (int i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
}

/* The child makes no driver calls, and does not own what its parent holds. A driver's own exit handlers may act in the
 * child, so not on a device. */
PROGRAM(right_fork, "", SAME, SIM)
{
    int status;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    pid_t child = fork();
    if (child == 0)
        exit(0);
    if (waitpid(child, &status, 0) != child || status)
        exit(5);
    drop(at, g);
}

PROGRAM(right_fork_before_init, "", SAME, DEVICE)
{
    int status;
    pid_t child = fork();
    begin();
    size_t g = granule();
    drop(whole(g), g);
    if (child == 0)
        exit(0);
    if (waitpid(child, &status, 0) != child || status)
        exit(5);
}

PROGRAM(right_dlsym, "", SAME, DEVICE)
{
    size_t (*length)(const char *) = NULL;
    begin();
    void *found = dlsym(RTLD_NEXT, "strlen"), *none = dlsym(RTLD_DEFAULT, "cuNoSuchFunction");
    memcpy(&length, &found, sizeof length);
    if (!length || length("four") != 4 || none)
        exit(4);
    size_t g = granule();
    drop(whole(g), g);
}

/* The driver also answers queries for names that no version has. */
PROGRAM(right_proc_address, "", SAME, DEVICE)
{
    void *found = NULL;
    CUdriverProcAddressQueryResult status;
    begin();
    cuGetProcAddress("cuNoSuchFunction", &found, 12000, 0, &status);
    cuGetProcAddress("cuMemMap", &found, 10000, 0, &status);
    if (found)
        exit(4);
    size_t g = granule();
    drop(whole(g), g);
}
