/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h - libcuda.so.1 on the simulator: how every entry point gets to the machine, and how it says what is wrong.
 *
 *     program              libcuda.so.1                         the rest of this project
 *     cuMemMap(p, ...)  -> ABI(vmm_mem_map(sys, p, ...))     -> layers -> simulator
 *                          counted in, sent on, counted out
 *
 * One machine for the process, opened by its first call and closed when the library goes: the spec (vmm_open) in
 * CUVMM_SIM, else CUVMM_BACKEND where that names the simulator, else sim:h100, in the layers of CUVMM_LAYERS. Files are named by subject; a file whose entry points exist for two default streams is compiled a
 * second time by abi_per_thread.c. api/entries.def lists all symbols and which of them do something.
 *
 * Needs no header of the toolkit: api/abi/cuda.h declares what is exported.
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

/* Counts a call in, opens the machine first where this is the first one. A call may go on until abi_leave; the machine
 * is not closed under it. Refused once the library is going (DEINITIALIZED), inside a kernel of a plugin
 * (NOT_PERMITTED), and where the machine does not open. */
CUresult abi_enter_as(const char *function, vmm_system **sys);
void abi_leave(void);
/* What the entry point's calls of the API make and say is told as the program's call, under one number (program_call.h). */
#define abi_enter(sys) abi_enter_as(__func__, (sys))

/* The same for an entry point that asks no call of the API whether cuInit was called: NOT_INITIALIZED. */
CUresult abi_enter_initialised_as(const char *function, vmm_system **sys);
#define abi_enter_initialised(sys) abi_enter_initialised_as(__func__, (sys))
/* The same for one that host functions may not call: NOT_PERMITTED. function is who asks. */
CUresult abi_enter_outside(vmm_system **sys, const char *function);

/* cuInit succeeded in this process. */
void abi_initialised(void);

/* The whole of an entry point: one call of the API. */
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

/* The same for one that is more than that: work(sys, ...) does it. */
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

/* The same for one that puts work into a stream, which a host function may do. */
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

/* A kernel of a plugin runs on this thread, which must make no calls: returns what was said before. */
bool abi_inside_kernel(bool inside);

/* ---- saying what is wrong ---- */

/* Refuses in this library's own name: function is the driver's, the rest says what and the fix. Returns result. */
CUresult abi_refuse(CUresult result, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same by a rule, which says what and the fix; the nearest object is that at the value's address. */
CUresult abi_refuse_by(const vmm_system *sys, enum vmm_rule_id rule, const char *function, uint64_t value);

/* A refusal, warning or leak of the API: told on standard error with CUVMM_EXPLAIN=1, and to the log. */
void abi_report(void *user, const vmm_detail *detail);

/* A line on standard error whatever the environment says: for limits of this library, not of the program. */
void abi_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line for cuLogs*. */
void abi_log(CUlogLevel level, const char *text);

/* ---- what several parts ask ---- */

/* The calling thread's context, alive: INVALID_CONTEXT or CONTEXT_IS_DESTROYED without one. function is who asks. */
CUresult abi_current(const vmm_system *sys, const char *function, uint64_t *value, struct abi_query_context *context);

/* A device ordinal of this machine: INVALID_DEVICE. */
CUresult abi_device(const vmm_system *sys, const char *function, CUdevice device);

/* What a pointer that must not be NULL is called: INVALID_VALUE. */
CUresult abi_null(const char *function, const char *argument);

/* The thread's stack of contexts (abi_stack.c). */
CUresult abi_stack_set(vmm_system *sys, CUcontext context);
CUresult abi_stack_destroy(vmm_system *sys, CUcontext context);
void abi_stack_created(void);

/* Are they flags that a context can have? INVALID_VALUE. */
CUresult abi_context_flags(const char *function, unsigned flags);

/* Flags that the device's primary context was given. */
unsigned abi_primary_flags(int device);
void abi_primary_set_flags(int device, unsigned flags);

/* Contexts whose values are the same type of thing on both sides. */
static inline vmm_context abi_context(CUcontext context)
{
    return (vmm_context)(void *)context;
}

static inline vmm_event abi_event(CUevent event)
{
    return (vmm_event)(void *)event;
}

/* A stream as it was passed: in the forms with the thread's own default stream, 0 is that. */
static inline vmm_stream abi_stream(CUstream stream)
{
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    if (!stream)
        return VMM_STREAM_PER_THREAD;
#endif
    return (vmm_stream)(void *)stream;
}

#endif
