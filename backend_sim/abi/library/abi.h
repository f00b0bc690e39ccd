/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h - libcuda.so.1 on the simulator: how every entry point reaches the machine and reports errors.
 *
 *     program              libcuda.so.1                         the rest of this project
 *     cuMemMap(p, ...)  -> ABI(vmm_mem_map(sys, p, ...))     -> layers -> simulator
 *                          counts in, forwards, counts out
 *
 * The process has one machine, opened by the first call and closed when the library is unloaded. Its spec (vmm_open) is
 * CUVMM_SIM, else CUVMM_BACKEND if that names the simulator, else sim:h100, in the layers of CUVMM_LAYERS. Each file has one
 * subject; abi_per_thread.c compiles a file a second time if its entry points exist for two default streams. api/entries.def
 * lists all symbols and which of them are implemented.
 *
 * No header of the CUDA toolkit is needed: api/abi/cuda.h declares the exported functions.
 */
#ifndef SIM_ABI_H
#define SIM_ABI_H

#include <stdbool.h>

#pragma GCC visibility push(default)
#include "abi/cuda.h"
#pragma GCC visibility pop

#include "abi_query.h"
#include "rules.h"
#include "vmm.h"

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes of the driver are 64 bits wide");

/* Begins a call; the first call opens the machine. The machine stays open until abi_leave ends the call. Refused while the
 * library is being unloaded (DEINITIALIZED), inside a kernel of a plugin (NOT_PERMITTED), and when the machine cannot be
 * opened. */
CUresult abi_enter_as(const char *function, vmm_system **sys);
void abi_leave(void);
/* Objects and reports of the API calls that the entry point makes carry the program's call and one number (program_call.h). */
#define abi_enter(sys) abi_enter_as(__func__, (sys))

/* For an entry point whose API calls do not check for cuInit: NOT_INITIALIZED. */
CUresult abi_enter_initialised_as(const char *function, vmm_system **sys);
#define abi_enter_initialised(sys) abi_enter_initialised_as(__func__, (sys))
/* For an entry point that host functions must not call: NOT_PERMITTED. function is the entry point's name. */
CUresult abi_enter_outside(vmm_system **sys, const char *function);

/* Records that cuInit has succeeded in this process. */
void abi_initialised(void);

/* The whole body of an entry point that makes one call of the API. */
#define ABI(call)                             \
    do {                                      \
        vmm_system *sys;                      \
        CUresult result_ = abi_enter(&sys);   \
        if (result_ != CUDA_SUCCESS)          \
            return result_;                   \
        result_ = (CUresult)(call);           \
        abi_leave();                          \
        return result_;                       \
    } while (0)

/* For an entry point that makes several calls: work(sys, ...) makes them. */
#define ABI_INITIALISED(call)                                 \
    do {                                                      \
        vmm_system *sys;                                      \
        CUresult result_ = abi_enter_outside(&sys, __func__); \
        if (result_ != CUDA_SUCCESS)                          \
            return result_;                                   \
        result_ = (call);                                     \
        abi_leave();                                          \
        return result_;                                       \
    } while (0)

/* For an entry point that issues work to a stream, which a host function may do. */
#define ABI_WORK(call)                                  \
    do {                                                \
        vmm_system *sys;                                \
        CUresult result_ = abi_enter_initialised(&sys); \
        if (result_ != CUDA_SUCCESS)                    \
            return result_;                             \
        result_ = (call);                               \
        abi_leave();                                    \
        return result_;                                 \
    } while (0)

/* Sets whether a plugin's kernel runs on this thread, which then must not make calls; returns the previous value. */
bool abi_inside_kernel(bool inside);

/* ---- reporting errors ---- */

/* Refuses without a rule: function is the driver's function, the text states the problem and the fix. Returns result. */
CUresult abi_refuse(CUresult result, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Refuses by a rule, whose text states the problem and the fix; the nearest object is the one at the value's address. */
CUresult abi_refuse_by(const vmm_system *sys, enum vmm_rule_id rule, const char *function, uint64_t value);

/* Reports a refusal, warning or leak of the API to the log, and on standard error with CUVMM_EXPLAIN=1. */
void abi_report(void *user, const vmm_detail *detail);

/* Writes a line on standard error regardless of the environment: for limits of this library, not mistakes of the program. */
void abi_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Adds a line to the log of cuLogs*. */
void abi_log(CUlogLevel level, const char *text);

/* ---- checks shared by several parts ---- */

/* The calling thread's live context: INVALID_CONTEXT or CONTEXT_IS_DESTROYED without one. function is the entry point's name. */
CUresult abi_current(const vmm_system *sys, const char *function, uint64_t *value, struct abi_query_context *context);

/* Checks a device ordinal of this machine: INVALID_DEVICE. */
CUresult abi_device(const vmm_system *sys, const char *function, CUdevice device);

/* Refuses a NULL pointer, passed for argument: INVALID_VALUE. */
CUresult abi_null(const char *function, const char *argument);

/* The thread's stack of contexts (abi_stack.c). */
CUresult abi_stack_set(vmm_system *sys, CUcontext context);
CUresult abi_stack_destroy(vmm_system *sys, CUcontext context);
void abi_stack_created(void);

/* Checks the flags of a context: INVALID_VALUE. */
CUresult abi_context_flags(const char *function, unsigned flags);

/* The flags of the device's primary context. */
unsigned abi_primary_flags(int device);
void abi_primary_set_flags(int device, unsigned flags);

/* A context has the same value in both APIs. */
static inline vmm_context abi_context(CUcontext context)
{
    return (vmm_context)(void *)context;
}

static inline vmm_event abi_event(CUevent event)
{
    return (vmm_event)(void *)event;
}

/* The stream that the program passed: in the per-thread forms, 0 is the thread's own default stream. */
static inline vmm_stream abi_stream(CUstream stream)
{
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    if (!stream)
        return VMM_STREAM_PER_THREAD;
#endif
    return (vmm_stream)(void *)stream;
}

#endif
