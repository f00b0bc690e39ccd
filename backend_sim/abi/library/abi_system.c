/* SPDX-License-Identifier: Apache-2.0 */
/* The process's machine: opened by the first call, closed when the library is unloaded. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi.h"
#include "abi_parts.h"
#include "abi_process.h"
#include "single_thread.h"
#include "findings.h"
#include "growth_check.h"
#include "stacks.h"
#include "ipc_event.h"
#include "lifecycle.h"
#include "os.h"
#include "os_environment.h"
#include "sim_open.h"
#include "stacks.h"
#include "thread.h"

enum { HOST_FUNCTION_MS = 500 };

static _Atomic unsigned inside; /* calls in progress */

/* A forked child has none of the threads that made these calls. */
static void count_anew(struct life_lock *lock, bool whole)
{
    (void)lock, (void)whole;
    atomic_store(&inside, 0);
}

LIFE_LOCK(opening, LIFE_OPENING, count_anew)
/* open, or failed permanently; from then on it guards the following variables, before that the mutex does */
static _Atomic bool settled;
static bool begun;
static vmm_system *machine;
static _Atomic(vmm_system *) ready; /* NULL while calls must not use it: not open yet, or being unloaded */
static vmm_result open_result;
static uint64_t opened_at; /* the fork depth at that time */

static _Atomic bool going;           /* the library is being unloaded, or the process is exiting */
static _Atomic uint64_t initialised; /* 1 + the fork depth at cuInit; 0: not initialised */
static bool checking;                /* cuvmm check collects findings; guarded like settled */

static bool is_set(const char *name, const char *value)
{
    const char *set = os_environment(name);
    return set && strcmp(set, value) == 0;
}

/* Programs written for a device may wait without a call: for a flag that a host function sets, or memory that a kernel writes.
 * Therefore work proceeds on its own unless the spec sets a schedule. The devices are those of CUDA_VISIBLE_DEVICES, which
 * the plain API ignores, unless the spec has its own list. A checked program is also checked for the order of its accesses. */
static void whole_spec(char *text, size_t size)
{
    const char *given = sim_spec_of_environment(), *backend = sim_spec_backend(given);
    const char *profile = strchr(backend, ':') ? "" : ":h100";
    const char *schedule = strstr(backend, "schedule=") ? "" : ",schedule=device";
    const char *visible = strstr(backend, "visible=") ? "" : ",visible=env";
    const char *order = !checking || strstr(backend, "order=") || is_set("CUVMM_CHECK_ORDER", "no") ? "" : ",order=report";
    const char *unwritten = checking && is_set("CUVMM_CHECK_UNWRITTEN", "yes") ? ",unwritten=report" : "";
    if ((size_t)snprintf(text, size, "%s%s%s%s%s%s", given, profile, schedule, visible, order, unwritten) >= size)
        snprintf(text, size, "%s", given); /* refused by name: no path is that long */
}

static void open_machine(void)
{
    char text[4096];
    bool first = !begun;
    begun = true;
    opened_at = os_fork_depth(); /* calls count from here */
    checking = findings_wanted("simulator", false);
    if (first && checking)
        findings_open();
    if (!checking)
        stacks_set(STACKS_NONE); /* below the checker, which handles them itself */
    whole_spec(text, sizeof text);
    open_result = vmm_open(text, &machine);
    if (open_result == VMM_SUCCESS) {
        vmm_set_report(machine, abi_report, NULL);
        return;
    }
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    if (first && checking)
        findings_stopped(FINDINGS_NO_MACHINE);
    if (first)
        abi_say("CUVMM_SIM, CUVMM_BACKEND or CUVMM_LAYERS cannot be used, so there is no machine:\n%s", text);
}

/* A refusal by the system may be temporary; a wrong spec is permanent. */
static vmm_result open_once(void)
{
    int cancel = life_no_cancel();
    life_acquire(&opening);
    if (!atomic_load(&settled)) { /* LCOV_EXCL_BR_LINE: unless another thread has just opened it */
        open_machine();
        atomic_store(&settled, open_result != VMM_ERROR_OUT_OF_MEMORY && open_result != VMM_ERROR_OPERATING_SYSTEM);
        atomic_store(&ready, open_result == VMM_SUCCESS ? machine : NULL);
    }
    vmm_result result = open_result;
    life_release(&opening);
    life_may_cancel(cancel);
    return result;
}

/* A counter that only this thread changes needs no atomic read-modify-write. */
static void count(int by)
{
    if (VMM_SINGLE_THREAD)
        atomic_store_explicit(&inside, atomic_load_explicit(&inside, memory_order_relaxed) + (unsigned)by, memory_order_relaxed);
    else
        atomic_fetch_add(&inside, (unsigned)by);
}

vmm_system *abi_machine(void)
{
    return machine;
}

static CUresult open_or_refuse(const char *function, vmm_system **sys)
{
    if (atomic_load(&going))
        return abi_ended(function);
    vmm_result result = atomic_load(&settled) ? open_result : open_once();
    *sys = machine;
    return (CUresult)result;
}

/* The record of errors belongs to the call that runs the kernel, which would report it once more. */
__attribute__((noinline)) static CUresult refuse_in_kernel(const char *function)
{
    struct vmm_thread *thread = vmm_this_thread();
    vmm_detail outer = thread->detail;
    CUresult result = abi_refuse(VMM_RULE_KERNEL_CALL, function, "it was called by a plugin's kernel");
    thread->detail = outer;
    return result;
}

/* The slow path of the first call, and of calls without a machine; a separate function, so that the fast path saves no registers
 * for it. */
__attribute__((noinline)) static CUresult enter_first(struct vmm_entry_point *entry, struct abi_call *call)
{
    CUresult result = open_or_refuse(entry->name, &call->sys);
    if (result == CUDA_SUCCESS)
        call->within = vmm_within_begin(&call->thread->within, entry);
    else
        count(-1);
    return result;
}

CUresult abi_enter(struct vmm_entry_point *entry, struct abi_call *call)
{
    struct vmm_thread *thread = call->thread = vmm_this_thread();
    if (thread->in_kernel)
        return refuse_in_kernel(entry->name);
    count(1);
    call->sys = atomic_load(&ready);
    if (!call->sys)
        return enter_first(entry, call);
    call->within = vmm_within_begin(&thread->within, entry);
    return CUDA_SUCCESS;
}

void abi_leave(const struct abi_call *call)
{
    vmm_within_end(&call->thread->within);
    if (checking && os_fork_depth() == opened_at) {
        findings_look(machine);
        growth_check_call(machine);
    }
    count(-1);
}

void abi_initialised(void)
{
    atomic_store(&initialised, 1 + os_fork_depth());
}

CUresult abi_enter_initialised(struct vmm_entry_point *entry, struct abi_call *call)
{
    CUresult result = abi_enter(entry, call);
    if (result != CUDA_SUCCESS || initialised == 1 + os_fork_depth())
        return result;
    abi_leave(call);
    return abi_refuse(initialised ? VMM_RULE_INIT_FORKED : VMM_RULE_INIT_REQUIRED, entry->name, "%s",
                      initialised ? "cuInit succeeded in the parent process" : "cuInit has not succeeded in this process");
}

CUresult abi_enter_outside(struct vmm_entry_point *entry, struct abi_call *call)
{
    CUresult result = abi_enter_initialised(entry, call);
    if (result != CUDA_SUCCESS || !abi_query_inside(call->sys))
        return result;
    abi_leave(call);
    return abi_refuse(VMM_RULE_HOSTFUNC_CALL, entry->name,
                      "the call is made inside a host function, where the driver permits only calls that issue work to streams");
}

/* For libnvidia-ml.so.1 (nvml_machine.h), which must not open anything: the bytes in use on a device of the machine, by its
 * index. Returns false if this process has no machine, or if a kernel calls, because the lock is held while it runs. */
__attribute__((visibility("default"))) bool cuvmmDeviceUsed(int place, uint64_t *bytes);
bool cuvmmDeviceUsed(int place, uint64_t *bytes)
{
    bool there = initialised == 1 + os_fork_depth() && !vmm_this_thread()->in_kernel;
    count(1);
    const vmm_system *sys = there ? atomic_load(&ready) : NULL;
    if (sys)
        *bytes = abi_query_used(sys, place);
    count(-1);
    return sys != NULL;
}

bool abi_hold_checked(vmm_system **sys)
{
    bool open = atomic_load(&settled);
    if (vmm_this_thread()->in_kernel || atomic_load(&going) || (open && os_fork_depth() != opened_at) ||
        !(open ? checking : findings_wanted("simulator", false)))
        return false;
    count(1);
    *sys = atomic_load(&ready);
    return true;
}

void abi_unhold(void)
{
    count(-1);
}

bool abi_inside_kernel(bool now)
{
    struct vmm_thread *thread = vmm_this_thread();
    bool before = thread->in_kernel;
    thread->in_kernel = now;
    return before;
}

/* A host function may wait forever, so the end of the process does not wait long for it. */
static bool host_functions_end(void)
{
    const struct timespec moment = {0, 1000000};
    for (int waited = 0; waited < HOST_FUNCTION_MS && abi_query_host_function(machine); waited++)
        nanosleep(&moment, NULL);
    return !abi_query_host_function(machine);
}

/* Threads inside a call, and host functions that do not return, keep the machine open until the process ends. */
__attribute__((destructor)) static void close_machine(void)
{
    atomic_store(&going, true);
    atomic_store(&ready, NULL);
    if (atomic_load(&inside) || !machine) {
        abi_missing_say();
        return;
    }
    ipc_events_stop(abi_process(machine)); /* a stream that waits for another process's record is a host function that waits */
    if (!host_functions_end()) {
        abi_missing_say();
        return;
    }
    bool child = os_fork_depth() != opened_at; /* the objects belong to the parent, which will report them */
    if (!child && checking)
        growth_check_end(abi_report, NULL);
    if (child)
        vmm_set_report(machine, NULL, NULL);
    else
        abi_code_end(machine);
    vmm_close(machine);
    machine = NULL;
    abi_missing_say();
    if (!child && checking)
        findings_close();
    abi_code_close(); /* functions refer to kernels of plugins */
    abi_plugins_close();
    abi_missing_close();
    abi_links_close();
    abi_ptx_close();
    abi_variable_memory_close();
    abi_host_close();
    abi_callbacks_close();
    abi_logs_close();
    abi_notes_close();
}
