/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h - libcuda.so.1 on the simulator: how every entry point reaches the machine and reports errors.
 *
 *     program              libcuda.so.1                         the rest of this project
 *     cuMemMap(p, ...)  -> ABI(vmm_mem_map(sys, p, ...))     -> layers -> simulator
 *                          counts in, forwards, counts out
 *
 * The process has one machine, opened by the first call and closed when the library is unloaded. Its spec (vmm_open) is
 * CUVMM_SIM, otherwise CUVMM_BACKEND if that names the simulator, otherwise sim:h100, wrapped in the layers of CUVMM_LAYERS.
 * Each file has one subject; abi_per_thread.c compiles a file a second time if its entry points exist for two default streams.
 * api/entries.def lists all symbols and which of them are implemented.
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
#include "dispatch.h"
#include "rules.h"
#include "vmm.h"

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes of the driver are 64 bits wide");

/* A call in progress: the machine, and the calling thread's structure, which is looked up once. */
struct abi_call {
    vmm_system *sys;
    struct vmm_thread *thread;
    struct vmm_within *within;
};

/* Begins a call; the first call opens the machine. The machine stays open until abi_leave ends the call. Refused once the
 * library is being unloaded (DEINITIALIZED), inside a kernel of a plugin (NOT_PERMITTED), and when the machine cannot be
 * opened. Objects and reports of the API calls that the entry point makes carry the program's call and one number
 * (program_call.h). */
CUresult abi_enter(struct vmm_entry_point *entry, struct abi_call *call);
void abi_leave(const struct abi_call *call);

/* For an entry point whose API calls do not check for cuInit: NOT_INITIALIZED. */
CUresult abi_enter_initialised(struct vmm_entry_point *entry, struct abi_call *call);
/* The same for an entry point that host functions must not call: NOT_PERMITTED. */
CUresult abi_enter_outside(struct vmm_entry_point *entry, struct abi_call *call);

/* The machine, which is open. */
vmm_system *abi_machine(void);

/* For code that is not a driver call: keeps the machine open if `cuvmm check` watches this process; *sys is NULL before the
 * first call. Returns false if it does not, or in a forked child: then there is nothing to release. */
bool abi_hold_checked(vmm_system **sys);
void abi_unhold(void);

/* Records that cuInit has succeeded in this process. */
void abi_initialised(void);

/* The whole body of an entry point: enters it, does the work, which may use sys and call_, and leaves it. */
#define ABI_BY(enter, work)                                \
    do {                                                   \
        VMM_ENTRY_POINT(entry_);                           \
        struct abi_call call_;                             \
        CUresult result_ = enter(&entry_, &call_);         \
        if (result_ != CUDA_SUCCESS)                       \
            return result_;                                \
        vmm_system *sys = call_.sys;                       \
        (void)sys;                                         \
        result_ = (CUresult)(work);                        \
        abi_leave(&call_);                                 \
        return result_;                                    \
    } while (0)

/* An entry point that makes calls of the API: vmm_mem_map(sys, ...). */
#define ABI(work) ABI_BY(abi_enter, work)

/* The call of the API with that name, directly, for frequent calls: ABI_PART(call_, mem_map, ...) does what
 * vmm_mem_map(sys, ...) does. */
#define ABI_PART(call, name, ...)                                                                                        \
    vmm_dispatch_part((call).sys, (call).thread, (call).within,                                                          \
                      &(struct vmm_call_##name){{VMM_CALL_##name, 0}, __VA_ARGS__}.head, VMM_QUERIES_##name)

/* An entry point that is just such a call. */
#define ABI_ONE(name, ...) ABI(ABI_PART(call_, name, __VA_ARGS__))

/* An entry point that does more than calls of the API: work(sys, ...) does it. */
#define ABI_INITIALISED(work) ABI_BY(abi_enter_outside, work)

/* An entry point that issues work to a stream, which a host function may do. */
#define ABI_WORK(work) ABI_BY(abi_enter_initialised, work)

/* Sets whether a plugin's kernel runs on this thread, which then must not make calls; returns the previous value. */
bool abi_inside_kernel(bool inside);

/* ---- reporting errors ---- */

/* Refuses by a rule and returns its result: function is the driver's function, the text names the values of this call. */
CUresult abi_refuse(enum vmm_rule_id rule, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports what the engine has just refused, from the thread's detail, and returns its result. */
CUresult abi_refused(vmm_result result, const char *function);

/* The same for a host without memory: OUT_OF_MEMORY. */
CUresult abi_no_memory(const char *function);
/* Refuses a call after this library's destructor. Nothing is logged, because the log is already gone. */
CUresult abi_ended(const char *function);

/* The same for one value; the nearest object is the one at the value's address. */
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
CUresult abi_graph_null(const char *function, const char *argument); /* by a call of captures or graphs */

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
