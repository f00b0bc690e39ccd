/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's device and last error, and the primary contexts that the runtime holds for the process.
 *
 * A primary context that is destroyed and retained again keeps its handle, so a thread's current context is valid
 * again once it is retained: a call that finds a current primary context without holding it retains it. That happens
 * in all threads after cudaDeviceReset, and if the program made the context current through the driver's API. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "posix.h"
#include "rt.h"

enum { DEVICES = 64, UNSET = -1 };

static _Thread_local struct {
    int device;         /* the device that it set, plus one; 0: none yet */
    int primary_of;     /* the device of `primary` */
    CUcontext primary;  /* a primary context known to be current */
    CUcontext foreign;  /* a context of the program known to be current */
    cudaError_t last;
} thread;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the primary contexts; held while the driver creates one */
static CUcontext primary[DEVICES];                       /* remains after the context is destroyed */
static atomic_bool held[DEVICES];
static atomic_int entered = UNSET; /* the result of rt_enter */
static pid_t process;
static struct {
    int device[DEVICES];
    int count;
} valid; /* cudaSetValidDevices; under the lock */

static void lock_contexts(void)
{
    pthread_mutex_lock(&lock);
}

static void unlock_contexts(void)
{
    posix.pthread_mutex_unlock(&lock);
}

/* At exit, while the driver is still usable: its handlers were registered earlier, so they run later. Later code
 * finds the runtime closed. A forked child holds nothing. */
static void release_all(void)
{
    atomic_store(&entered, cudaErrorCudartUnloading);
    for (int device = 0; device < DEVICES && process == getpid(); device++)
        if (atomic_load(&held[device]))
            (void)DRIVER_CORE(cuDevicePrimaryCtxRelease, device);
}

/* Like the toolkit's: checks the driver's version first, then calls cuInit once. */
static cudaError_t start(void)
{
    int version = 0;
    if (!rt_driver_load() || DRIVER_CORE(cuDriverGetVersion, &version) != cudaSuccess || version < rt_major() * 1000)
        return cudaErrorInsufficientDriver;
    return DRIVER_CORE(cuInit, 0);
}

static void initialise(void)
{
    cudaError_t result = start();
    process = getpid();
    if (result == cudaSuccess) {
        atexit(release_all);
        pthread_atfork(lock_contexts, unlock_contexts, unlock_contexts);
    }
    atomic_store(&entered, (int)result);
}

cudaError_t rt_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int result = atomic_load_explicit(&entered, memory_order_acquire);
    if (result == UNSET) {
        pthread_once(&once, initialise);
        result = atomic_load(&entered);
    }
    return (cudaError_t)result;
}

cudaError_t rt_leave(cudaError_t result)
{
    if (result != cudaSuccess && result != cudaErrorNotReady)
        thread.last = result;
    return result;
}

/* The handle is written on success. If an earlier fault prevents its creation, the toolkit's library reports an
 * unavailable device. */
static cudaError_t retain(int device)
{
    cudaError_t result = DRIVER_CORE(cuDevicePrimaryCtxRetain, &primary[device], device);
    return result >= cudaErrorIllegalAddress && result <= cudaErrorLaunchFailure ? cudaErrorDevicesUnavailable : result;
}

/* Holds the primary context of the device until the process ends or resets it. */
static cudaError_t hold(int device)
{
    cudaError_t result = cudaSuccess;
    if ((unsigned)device >= DEVICES)
        return cudaErrorInvalidDevice;
    if (atomic_load_explicit(&held[device], memory_order_acquire))
        return cudaSuccess;
    lock_contexts();
    if (!atomic_load(&held[device])) {
        result = retain(device);
        atomic_store(&held[device], result == cudaSuccess);
    }
    unlock_contexts();
    return result;
}

static bool is_active(int device)
{
    unsigned flags;
    int active = 0;
    return DRIVER_CORE(cuDevicePrimaryCtxGetState, device, &flags, &active) == cudaSuccess && active;
}

cudaError_t rt_primary_context(int device, CUcontext *context)
{
    cudaError_t result = hold(device);
    if (result == cudaSuccess && !is_active(device)) { /* it was reset elsewhere */
        atomic_store(&held[device], false);
        result = hold(device);
    }
    if (result == cudaSuccess)
        *context = primary[device];
    return result;
}

cudaError_t rt_set_device(int device)
{
    CUcontext context = NULL;
    cudaError_t result = rt_primary_context(device, &context);
    if (result == cudaSuccess)
        result = DRIVER_CORE(cuCtxSetCurrent, context);
    if (result != cudaSuccess)
        return result;
    thread.device = device + 1;
    thread.primary_of = device;
    thread.primary = context;
    return result;
}

/* The device of a thread without a current context: the one it set, else one of the valid devices, else the first. */
static int wanted_device(int nth)
{
    if (thread.device)
        return nth ? UNSET : thread.device - 1;
    lock_contexts();
    int device = nth < valid.count ? valid.device[nth] : nth ? UNSET : 0;
    unlock_contexts();
    return device;
}

/* Of the valid devices, the first that works. */
static cudaError_t bind(void)
{
    cudaError_t result = rt_set_device(wanted_device(0));
    for (int nth = 1; result != cudaSuccess && wanted_device(nth) != UNSET; nth++)
        result = rt_set_device(wanted_device(nth));
    return result;
}

/* Is the current context the device's primary one? If so, the runtime holds it afterwards. Either its handle is
 * known, or it is active and retaining it returns its handle. Returns the error if retaining a known one fails. */
static cudaError_t adopt(int device, CUcontext context, bool *is_primary)
{
    cudaError_t result = cudaSuccess;
    lock_contexts();
    bool known = primary[device] == context;
    if (!atomic_load(&held[device]) && (primary[device] ? known : is_active(device))) {
        result = retain(device);
        if (result == cudaSuccess)
            atomic_store(&held[device], primary[device] == context);
        if (result == cudaSuccess && primary[device] != context)
            (void)DRIVER_CORE(cuDevicePrimaryCtxRelease, device);
    }
    *is_primary = primary[device] == context && atomic_load(&held[device]);
    unlock_contexts();
    return known ? result : cudaSuccess;
}

/* Examines a current context that is new to the thread. */
static cudaError_t recognise(CUcontext context)
{
    int device = 0;
    bool is_primary = false;
    cudaError_t result = DRIVER_CORE(cuCtxGetDevice, &device);
    if (result == cudaSuccess && device < DEVICES)
        result = adopt(device, context, &is_primary);
    if (result != cudaSuccess)
        return result;
    if (is_primary) {
        thread.primary = context;
        thread.primary_of = device;
    } else {
        thread.foreign = context;
    }
    return cudaSuccess;
}

cudaError_t rt_enter_context(void)
{
    CUcontext current = NULL;
    cudaError_t result = rt_enter();
    if (result == cudaSuccess)
        result = DRIVER_CORE(cuCtxGetCurrent, &current);
    if (result != cudaSuccess)
        return result;
    if (!current)
        return bind();
    if (current == thread.foreign ||
        (current == thread.primary && atomic_load_explicit(&held[thread.primary_of], memory_order_acquire)))
        return cudaSuccess;
    return recognise(current);
}

/* Recreates the thread's current context, a primary one that was reset through the driver's API. False for any other. */
static bool revive(void)
{
    CUcontext current = NULL, again;
    return DRIVER_CORE(cuCtxGetCurrent, &current) == cudaSuccess && current == thread.primary && !is_active(thread.primary_of) &&
           rt_primary_context(thread.primary_of, &again) == cudaSuccess;
}

bool rt_round(int *rounds, cudaError_t *result)
{
    if (++*rounds == 1)
        return (*result = rt_enter_context()) == cudaSuccess;
    return *rounds == 2 && *result == cudaErrorContextIsDestroyed && revive();
}

cudaError_t rt_device(int *device)
{
    CUcontext current = NULL;
    cudaError_t result = DRIVER_CORE(cuCtxGetCurrent, &current);
    if (result == cudaSuccess && current)
        return DRIVER_CORE(cuCtxGetDevice, device);
    if (result == cudaSuccess)
        *device = wanted_device(0);
    return result;
}

/* The driver has dropped all references to the context. */
static cudaError_t reset(int device)
{
    lock_contexts();
    cudaError_t result = DRIVER_CORE(cuDevicePrimaryCtxReset, device);
    if (result == cudaSuccess)
        atomic_store(&held[device], false);
    unlock_contexts();
    return result;
}

/* The runtime keeps no state for the program's own contexts, so there is nothing to clean up. */
cudaError_t rt_reset_device(void)
{
    CUcontext current = NULL;
    cudaError_t result = DRIVER_CORE(cuCtxGetCurrent, &current);
    if (result == cudaSuccess && current)
        result = rt_enter_context();
    if (result == cudaSuccess && (!current || current != thread.foreign))
        result = reset(current ? thread.primary_of : wanted_device(0));
    return result;
}

static cudaError_t check_valid(const int *device, int count)
{
    int devices = 0;
    cudaError_t result = DRIVER_CORE(cuDeviceGetCount, &devices);
    if (result == cudaSuccess && (count < 0 || count > devices || count > DEVICES || (count && !device)))
        return cudaErrorInvalidValue;
    for (int i = 0; result == cudaSuccess && i < count; i++)
        if (device[i] < 0 || device[i] >= devices)
            return cudaErrorInvalidDevice;
    return result;
}

cudaError_t rt_set_valid_devices(const int *device, int count)
{
    cudaError_t result = check_valid(device, count);
    if (result != cudaSuccess)
        return result;
    lock_contexts();
    for (int i = 0; i < count; i++)
        valid.device[i] = device[i];
    valid.count = count;
    unlock_contexts();
    return cudaSuccess;
}

/* If the runtime cannot start, every call returns the reason, and so do these. */
static cudaError_t last_error(bool forget)
{
    cudaError_t result = rt_enter();
    if (result != cudaSuccess)
        return result;
    result = thread.last;
    if (forget)
        thread.last = cudaSuccess;
    return result;
}

cudaError_t cudaGetLastError(void)
{
    return last_error(true);
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error(false);
}
