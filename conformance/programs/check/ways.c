/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which programs find the driver's functions, each with the same mistake; and the surroundings of calls:
 * threads, children, crashes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

typedef CUresult (*map_fn)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);

static void map_twice_by(map_fn map)
{
    size_t g = granule();
    CUdeviceptr at = whole(g);
    CUmemGenericAllocationHandle handle = create(g);
    if (!map)
        exit(4);
    NO(map(at, g, 0, handle, 0));
    DO(cuMemRelease(handle));
    drop(at, g);
}

static map_fn as_map(void *symbol)
{
    map_fn map;
    memcpy(&map, &symbol, sizeof map);
    return map;
}

PROGRAM(by_dlopen, "VMM-MAP-OVERLAP", SAME, DEVICE)
{
    begin();
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    map_twice_by(library ? as_map(dlsym(library, "cuMemMap")) : NULL);
}

PROGRAM(by_dlsym_next, "VMM-MAP-OVERLAP", SAME, DEVICE)
{
    begin();
    map_twice_by(as_map(dlsym(RTLD_NEXT, "cuMemMap")));
}

PROGRAM(by_dlsym_default, "VMM-MAP-OVERLAP", SAME, DEVICE)
{
    begin();
    map_twice_by(as_map(dlsym(RTLD_DEFAULT, "cuMemMap")));
}

PROGRAM(by_proc_address, "VMM-MAP-OVERLAP", SAME, DEVICE)
{
    void *found = NULL;
    CUdriverProcAddressQueryResult status;
    begin();
    DO(cuGetProcAddress("cuMemMap", &found, 12000, 0, &status));
    map_twice_by(as_map(found));
}

/* cuGetProcAddress itself by dlsym, as the runtime library does. */
PROGRAM(by_proc_address_by_dlsym, "VMM-MAP-OVERLAP", SAME, DEVICE)
{
    CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) = NULL;
    void *found = NULL;
    begin();
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
    memcpy(&get, &symbol, sizeof get);
    if (!get)
        exit(4);
    DO(get("cuMemMap", &found, 12000, 0, NULL));
    map_twice_by(as_map(found));
}

/* The form whose stream 0 is the thread's own. */
PROGRAM(by_proc_address_per_thread, "VMM-COPY-NO-WRITE", SAME, DEVICE)
{
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t) = NULL;
    void *found = NULL;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    allow(at, g, CU_MEM_ACCESS_FLAGS_PROT_READ);
    DO(cuGetProcAddress("cuMemsetD8", &found, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
    memcpy(&fill, &found, sizeof fill);
    NO(fill(at, 1, g));
    drop(at, g);
}

static void *in_thread(void *user)
{
    CUcontext *context = user;
    DO(cuCtxSetCurrent(*context));
    for (int i = 0; i < 50; i++)
        map_twice_by(cuMemMap);
    return NULL;
}

PROGRAM(in_threads, "VMM-MAP-OVERLAP", SAME, DEVICE)
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

PROGRAM(in_child, "VMM-INIT-FORKED", SAME, DEVICE)
{
    int status;
    begin();
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr at;
        _exit(cuMemAddressReserve(&at, 2 << 20, 0, 0, 0) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 5);
    }
    if (waitpid(child, &status, 0) != child || status)
        exit(5);
}

/* The child is another program, which the checker follows. */
PROGRAM(in_exec, "VMM-MAP-OVERLAP", SAME, DEVICE)
{
    int status;
    begin();
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "check", "map_twice", (char *)NULL);
        _exit(6);
    }
    if (waitpid(child, &status, 0) != child || status)
        exit(6);
}

/* Findings are reported although the process dies; its leaks are not. */
PROGRAM(then_crashes, "VMM-MAP-OVERLAP", SAME, DEVICE)
{
    begin();
    map_twice_by(cuMemMap);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

/* The child exits cleanly with its parent's descriptors open, and the parent does not: one process whose leaks are unknown. */
PROGRAM(then_crashes_alone, "", SAME, SIM)
{
    int status;
    begin();
    whole(granule());
    pid_t child = fork();
    if (child == 0)
        exit(0);
    if (waitpid(child, &status, 0) != child || status)
        exit(5);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}
