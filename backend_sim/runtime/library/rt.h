/* SPDX-License-Identifier: Apache-2.0 */
/* rt.h - libcudart over the driver's API: how every entry point reaches the driver and reports errors.
 *
 *     program              libcudart.so.13                                  libcuda.so.1
 *     cudaMalloc(&p, n) -> RT(DRIVER(cuMemAlloc, &p, n))                 -> cuMemAlloc_v2(&p, n)
 *                          a current context; code; the thread's last error
 *
 * The library uses only libcuda.so.1, the simulator's or a driver's, loaded by the first call that needs it. A source X.c is
 * part of libcudart.so.12 and of libcudart.so.13; X_forms.c is compiled for each of them, with CUDART_VERSION
 * 12090 and 13000, and holds the entry points whose signature or struct differs between the two. X_per_thread.c compiles a
 * source again for the names whose stream 0 is the per-thread default stream. api/runtime_entries.def lists all symbols.
 *
 * Source: CUDA Runtime API, version 13.0: 6.1 Device Management, 6.3 Error Handling, 6.33 Interactions with the CUDA Driver API.
 */
#ifndef SIM_RUNTIME_RT_H
#define SIM_RUNTIME_RT_H

#include <stdbool.h>

#pragma GCC visibility push(default)
#include "abi/cuda_runtime_api.h"
#pragma GCC visibility pop

#include "rt_driver.h"

/* Begins a call that needs no context: loads the driver and initialises it. cudaErrorInsufficientDriver if there is none, or
 * an older one than the runtime's major version; else the result of cuInit, which is called once. cudaErrorCudartUnloading
 * when the process is ending and the runtime has released its contexts. */
cudaError_t rt_enter(void);
/* The same, and makes sure that the thread has a current context: the one it made current through the driver's API, else the
 * primary context of its device (cudaSetDevice, cudaSetValidDevices, else the first). The process holds the primary context
 * until it ends or resets the device. */
cudaError_t rt_enter_context(void);
/* Should the work of a call run (again)? rounds is initially 0. The first time it enters the context; if that fails, its
 * error is the result. Work whose primary context was reset elsewhere had no effect and is repeated in the new context. */
bool rt_round(int *rounds, cudaError_t *result);
/* Ends a call: an error becomes the thread's last error; cudaErrorNotReady is not an error. Returns it. */
cudaError_t rt_leave(cudaError_t result);

/* The complete body of an entry point, with or without a current context. work is a cudaError_t expression that uses
 * only the arguments. */
#define RT(work)                             \
    do {                                     \
        int rounds_ = 0;                     \
        cudaError_t result_;                 \
        while (rt_round(&rounds_, &result_)) \
            result_ = (work);                \
        return rt_leave(result_);            \
    } while (0)
#define RT_ANYWHERE(work)                 \
    do {                                  \
        cudaError_t result_ = rt_enter(); \
        if (result_ == cudaSuccess)       \
            result_ = (work);             \
        return rt_leave(result_);         \
    } while (0)

/* The runtime's error for the driver's code: the same number, if the runtime has a name for it. */
cudaError_t rt_code(CUresult code);

/* Calls the driver's function of that name and form with the other arguments; cudaErrorCallRequiresNewerDriver if the
 * driver lacks it. DRIVER(cuCtxSynchronize, ) without arguments. */
#define DRIVER(name, ...) \
    (rt_driver.to_##name[RT_FORM] ? rt_code(rt_driver.to_##name[RT_FORM](__VA_ARGS__)) : cudaErrorCallRequiresNewerDriver)
/* The same for a function that every driver has (RT_DRIVER_CORE): after rt_enter has succeeded, it exists. */
#define DRIVER_CORE(name, ...) rt_code(rt_driver.to_##name[RT_FORM](__VA_ARGS__))
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define RT_FORM 1
#else
#define RT_FORM 0
#endif

/* The device that this thread's calls use: that of its current context, else the one it set, else 0. */
cudaError_t rt_device(int *device);
/* The device's primary context, which the process then holds until it ends or resets the device. */
cudaError_t rt_primary_context(int device, CUcontext *context);
/* Makes the device the thread's, and its primary context current. */
cudaError_t rt_set_device(int device);
/* Destroys everything that the process has on the thread's device; the next call that needs the primary context
 * creates it anew, with the same handle. If the program's own context is current, no driver object is destroyed. */
cudaError_t rt_reset_device(void);
/* The candidate devices for threads that set none. */
cudaError_t rt_set_valid_devices(const int *device, int count);

/* Writes "cuvmm: libcudart.so.N: " and the text to standard error in a single write. */
void rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* 12 or 13: which library this is (rt_forms.c). */
int rt_major(void);
/* 12090 or 13000. */
unsigned rt_version(void);

#endif
