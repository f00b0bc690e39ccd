/* SPDX-License-Identifier: Apache-2.0 */
/* rt.h - libcudart over the driver's API: how every entry point reaches the driver and reports errors.
 *
 *     program              libcudart.so.13                                  libcuda.so.1
 *     cudaMalloc(&p, n) -> RT(DRIVER(cuMemAlloc, &p, n))                 -> cuMemAlloc_v2(&p, n)
 *                          a current context; code; the thread's last error
 *
 * The library is a client of libcuda.so.1 alone, loaded by the first call that needs it: the simulator's, or a driver's. A
 * source X.c is part of libcudart.so.12 and of libcudart.so.13; X_forms.c is compiled for each of them, with CUDART_VERSION
 * 12090 and 13000, and holds the entry points whose signature or struct differs between the two. X_per_thread.c compiles a
 * source again for the names whose stream 0 is the thread's own. api/runtime_entries.def lists all symbols.
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

/* Begins a call that needs no context: loads the driver and initialises it. cudaErrorInsufficientDriver when there is none, or an
 * older one than the runtime's major version; else what cuInit answered, which is asked once. cudaErrorCudartUnloading when the
 * process ends and the runtime has released what it held. */
cudaError_t rt_enter(void);
/* The same, and makes sure that the thread has a current context: the one it made current itself by the driver's API, else the
 * primary context of its device (cudaSetDevice, cudaSetValidDevices, else the first). A primary context is retained for the
 * process, until it ends or resets the device. */
cudaError_t rt_enter_context(void);
/* Is the work of a call to be done, once more perhaps? rounds begins as 0. The first time it enters the context, whose error is
 * the result then. Work whose primary context was reset elsewhere has had no effect, and is done again in the new context. */
bool rt_round(int *rounds, cudaError_t *result);
/* Ends a call: an error becomes the thread's last error; cudaErrorNotReady is none. Returns it. */
cudaError_t rt_leave(cudaError_t result);

/* The whole of an entry point, in a current context or without one. work is a cudaError_t, of arguments alone. */
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

/* What the runtime answers where the driver answered code: the same number, which the runtime has a name for. */
cudaError_t rt_code(CUresult code);

/* The driver's function of that name and form, called with the rest; cudaErrorCallRequiresNewerDriver where the driver has none.
 * DRIVER(cuCtxSynchronize, ) without arguments. */
#define DRIVER(name, ...) \
    (rt_driver.to_##name[RT_FORM] ? rt_code(rt_driver.to_##name[RT_FORM](__VA_ARGS__)) : cudaErrorCallRequiresNewerDriver)
/* The same for a function that every driver has (RT_DRIVER_CORE): where rt_enter succeeded, it is there. */
#define DRIVER_CORE(name, ...) rt_code(rt_driver.to_##name[RT_FORM](__VA_ARGS__))
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define RT_FORM 1
#else
#define RT_FORM 0
#endif

/* The device that a call of this thread is for: that of its current context, else the one it set, else 0. */
cudaError_t rt_device(int *device);
/* The primary context of the device, which the process then holds until it ends or resets the device. */
cudaError_t rt_primary_context(int device, CUcontext *context);
/* Makes the device the thread's, and its primary context current. */
cudaError_t rt_set_device(int device);
/* Destroys what the process has on the thread's device; the next call that needs its primary context begins a new one, with the same
 * handle. In a context of the program's own, nothing of the driver's ends. */
cudaError_t rt_reset_device(void);
/* The devices for threads that set none. */
cudaError_t rt_set_valid_devices(const int *device, int count);

/* Writes "cuvmm: libcudart.so.N: " and the text on standard error, in one piece. */
void rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* 12 or 13: which library this is (rt_forms.c). */
int rt_major(void);
/* 12090 or 13000. */
unsigned rt_version(void);

#endif
