/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's device and last error, and the primary contexts that the runtime holds for the process. */
#include <pthread.h>
#include <stdlib.h>

#include "rt.h"

enum { DEVICES = 64 };

static _Thread_local struct {
    int device;
    cudaError_t last;
} thread;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the primary contexts; held while the driver makes one */
static CUcontext primary[DEVICES];
static cudaError_t initialised;

/* At exit, while the driver's library is still there: its own handlers are older, so they run later. */
static void release_all(void)
{
    for (int device = 0; device < DEVICES; device++)
        if (primary[device])
            (void)DRIVER(cuDevicePrimaryCtxRelease, device);
}

static void initialise(void)
{
    initialised = rt_driver_load() ? DRIVER(cuInit, 0) : cudaErrorInsufficientDriver;
    if (initialised == cudaSuccess)
        atexit(release_all);
}

cudaError_t rt_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise);
    return initialised;
}

cudaError_t rt_leave(cudaError_t result)
{
    if (result != cudaSuccess)
        thread.last = result;
    return result;
}

cudaError_t rt_primary_context(int device, CUcontext *context)
{
    cudaError_t result = device >= 0 && device < DEVICES ? cudaSuccess : cudaErrorInvalidDevice;
    pthread_mutex_lock(&lock);
    if (result == cudaSuccess && !primary[device])
        result = DRIVER(cuDevicePrimaryCtxRetain, &primary[device], device);
    if (result == cudaSuccess)
        *context = primary[device];
    pthread_mutex_unlock(&lock);
    return result;
}

cudaError_t rt_set_device(int device)
{
    CUcontext context = NULL;
    cudaError_t result = rt_primary_context(device, &context);
    if (result == cudaSuccess)
        result = DRIVER(cuCtxSetCurrent, context);
    if (result == cudaSuccess)
        thread.device = device;
    return result;
}

cudaError_t rt_enter_context(void)
{
    CUcontext current = NULL;
    cudaError_t result = rt_enter();
    if (result == cudaSuccess)
        result = DRIVER(cuCtxGetCurrent, &current);
    return result == cudaSuccess && !current ? rt_set_device(thread.device) : result;
}

cudaError_t rt_device(int *device)
{
    CUcontext current = NULL;
    cudaError_t result = DRIVER(cuCtxGetCurrent, &current);
    if (result == cudaSuccess && current)
        return DRIVER(cuCtxGetDevice, device);
    *device = thread.device;
    return result;
}

cudaError_t rt_reset_device(void)
{
    int device = 0;
    cudaError_t result = rt_device(&device);
    return result == cudaSuccess ? DRIVER(cuDevicePrimaryCtxReset, device) : result;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t last = thread.last;
    thread.last = cudaSuccess;
    return last;
}

cudaError_t cudaPeekAtLastError(void)
{
    return thread.last;
}
