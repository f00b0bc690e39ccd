/* SPDX-License-Identifier: Apache-2.0 */
/* The process's machine: opened by the first call, closed when the library goes. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi.h"
#include "abi_parts.h"
#include "single_thread.h"
#include "findings.h"
#include "lifecycle.h"
#include "os.h"
#include "os_environment.h"
#include "thread.h"

enum { HOST_FUNCTION_MS = 500 };

static _Atomic unsigned inside; /* calls that are under way */

/* A forked child has none of the threads whose calls they are. */
static void count_anew(struct life_lock *lock, bool whole)
{
    (void)lock, (void)whole;
    atomic_store(&inside, 0);
}

LIFE_LOCK(opening, LIFE_OPENING, count_anew)
static _Atomic bool settled; /* open, or never to be; guards what follows from then on, the mutex until then */
static bool begun;
static vmm_system *machine;
static _Atomic(vmm_system *) ready; /* the same while calls may go there: open, and not going */
static vmm_result open_result;
static uint64_t opened_at; /* how many forks deep */

static _Atomic bool going;           /* the library is being unloaded, or the process ends */
static _Atomic uint64_t initialised; /* 1 + how many forks deep the process was at cuInit; 0: not yet */
static bool checking;                /* cuvmm check wants to know; as settled */

/* The simulator's own part of a spec. */
static const char *backend_of(const char *text)
{
    const char *last = strrchr(text, '|');
    return last ? last + 1 + strspn(last + 1, " ") : text;
}

/* Which machine this is. CUVMM_BACKEND may be meant for libcuvmm in the same process, whose driver this library then is. */
static const char *spec(void)
{
    const char *own = os_environment("CUVMM_SIM"), *shared = os_environment("CUVMM_BACKEND");
    if (own && own[0])
        return own;
    return shared && strncmp(backend_of(shared), "sim", 3) == 0 ? shared : "sim:h100";
}

/* Programs that were written for a device may wait for it without a call: for a flag that a host function sets, or memory
 * that a kernel writes. So work goes on unasked unless the spec says when it is to be done. And the devices are those of
 * CUDA_VISIBLE_DEVICES, which the API alone does not look at, unless the spec has a list of its own. */
static void whole_spec(char *text, size_t size)
{
    const char *given = spec(), *backend = backend_of(given);
    const char *profile = strchr(backend, ':') ? "" : ":h100";
    const char *schedule = strstr(backend, "schedule=") ? "" : ",schedule=device";
    const char *visible = strstr(backend, "visible=") ? "" : ",visible=env";
    if ((size_t)snprintf(text, size, "%s%s%s%s", given, profile, schedule, visible) >= size)
        snprintf(text, size, "%s", given); /* refused by name: no path is so long */
}

static void open_machine(void)
{
    char text[4096];
    bool first = !begun;
    begun = true;
    opened_at = os_fork_depth(); /* counts from here */
    checking = findings_wanted("simulator", false);
    if (first && checking)
        findings_open();
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

/* What the system does not give now it may give to the next call; a spec that is wrong stays so. */
static vmm_result open_once(void)
{
    int cancel = life_no_cancel();
    life_acquire(&opening);
    if (!atomic_load(&settled)) { /* LCOV_EXCL_BR_LINE: unless another thread was quicker, just now */
        open_machine();
        atomic_store(&settled, open_result != VMM_ERROR_OUT_OF_MEMORY && open_result != VMM_ERROR_OPERATING_SYSTEM);
        atomic_store(&ready, open_result == VMM_SUCCESS ? machine : NULL);
    }
    vmm_result result = open_result;
    life_release(&opening);
    life_may_cancel(cancel);
    return result;
}

/* A counter that only this thread changes needs no bus lock. */
static void count(int by)
{
    if (VMM_SINGLE_THREAD)
        atomic_store_explicit(&inside, atomic_load_explicit(&inside, memory_order_relaxed) + (unsigned)by, memory_order_relaxed);
    else
        atomic_fetch_add(&inside, (unsigned)by);
}

/* The way of the first call, and of those for which there is no machine; apart, so that all others save no registers for it. */
__attribute__((noinline)) static CUresult open_or_refuse(vmm_system **sys)
{
    if (atomic_load(&going))             /* LCOV_EXCL_BR_LINE: for threads that go on while the process ends, and are not counted */
        return CUDA_ERROR_DEINITIALIZED; /* LCOV_EXCL_LINE: the same */
    vmm_result result = atomic_load(&settled) ? open_result : open_once();
    *sys = machine;
    return (CUresult)result;
}

CUresult abi_enter_as(const char *function, vmm_system **sys)
{
    struct vmm_thread *thread = vmm_this_thread();
    if (thread->in_kernel)
        return abi_refuse(CUDA_ERROR_NOT_PERMITTED, "a call in a kernel",
                          "the code of a kernel makes no calls of the driver, on a device or in a plugin");
    count(1);
    *sys = atomic_load(&ready);
    CUresult result = *sys ? CUDA_SUCCESS : open_or_refuse(sys);
    if (result == CUDA_SUCCESS)
        vmm_within_begin(&thread->within, function);
    else
        count(-1);
    return result;
}

void abi_leave(void)
{
    vmm_within_end(&vmm_this_thread()->within);
    if (checking && os_fork_depth() == opened_at)
        findings_look(machine);
    count(-1);
}

void abi_initialised(void)
{
    atomic_store(&initialised, 1 + os_fork_depth());
}

CUresult abi_enter_initialised_as(const char *function, vmm_system **sys)
{
    CUresult result = abi_enter_as(function, sys);
    if (result != CUDA_SUCCESS || initialised == 1 + os_fork_depth())
        return result;
    abi_leave();
    return CUDA_ERROR_NOT_INITIALIZED;
}

CUresult abi_enter_outside(vmm_system **sys, const char *function)
{
    CUresult result = abi_enter_initialised_as(function, sys);
    if (result != CUDA_SUCCESS || !abi_query_inside(*sys))
        return result;
    abi_leave();
    return abi_refuse(CUDA_ERROR_NOT_PERMITTED, function,
                      "the call is made inside a host function, where the driver permits none but those that put work into "
                      "streams");
}

bool abi_inside_kernel(bool now)
{
    struct vmm_thread *thread = vmm_this_thread();
    bool before = thread->in_kernel;
    thread->in_kernel = now;
    return before;
}

/* A host function may wait for what never comes: the end of the process does not wait for it long. */
static bool host_functions_end(void)
{
    const struct timespec moment = {0, 1000000};
    for (int waited = 0; waited < HOST_FUNCTION_MS && abi_query_host_function(machine); waited++)
        nanosleep(&moment, NULL);
    return !abi_query_host_function(machine);
}

/* Threads that are in a call, and host functions that do not return, keep the machine; then it goes with the process. */
__attribute__((destructor)) static void close_machine(void)
{
    atomic_store(&going, true);
    atomic_store(&ready, NULL);
    if (atomic_load(&inside) || !machine || !host_functions_end())
        return;
    bool child = os_fork_depth() != opened_at; /* what is held is the parent's, which will tell */
    if (child)
        vmm_set_report(machine, NULL, NULL);
    vmm_close(machine);
    machine = NULL;
    if (!child && checking)
        findings_close();
    abi_plugins_close();
    abi_code_close();
    abi_host_close();
    abi_callbacks_close();
    abi_logs_close();
    abi_captures_close();
    abi_notes_close();
}
