/* SPDX-License-Identifier: Apache-2.0 */
/* The process's shadow: the first call opens it, and at exit it reports what is still held. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "check_order.h"
#include "findings.h"
#include "growth_check.h"
#include "os.h"
#include "os_environment.h"
#include "recorder.h"
#include "system.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static vmm_system *shadow;
static _Atomic(struct follow *) order; /* set after shadow; NULL if order is not tracked */
static struct vmm_backend *recorder; /* around it; NULL: none */
static uint64_t opened_at;         /* the fork depth at that time */
static _Atomic bool going;         /* the process is exiting */
static _Thread_local bool inside;  /* this thread is inside a call: calls made meanwhile come from the driver itself */

static _Thread_local bool foreseen; /* the current call was reported before it was made */

void check_report(void *user, const vmm_detail *detail)
{
    (void)user;
    if (!foreseen || detail->severity != VMM_SEVERITY_ERROR)
        findings_add(detail);
}

void check_foreseen(const vmm_detail *detail)
{
    const vmm_detail reported = *detail;
    findings_add(&reported);
    foreseen = true;
}

/* A layer that the environment requests around the shadow; if it is unavailable, checking goes on without it. */
static struct vmm_backend *wrap(const char *name, vmm_result (*open)(const char *, struct vmm_backend *, struct vmm_backend **),
                                struct vmm_backend *inner)
{
    const char *value = os_environment(name);
    struct vmm_backend *outer = inner;
    if (value && value[0] && open(value, inner, &outer) != VMM_SUCCESS)
        fprintf(stderr, "cuvmm check: %s\n", vmm_last_detail()->note);
    return outer;
}

static void open_shadow(void)
{
    struct vmm_backend *driver, *top;
    vmm_system *made;
    opened_at = os_fork_depth();
    if (!findings_wanted("driver", true) || !(driver = check_backend()))
        return;
    if (vmm_shadow_open("runtime", driver, &top) != VMM_SUCCESS) {
        driver->ops->close(driver);
        return;
    }
    struct vmm_backend *beside = top;
    recorder = wrap("CUVMM_CHECK_RECORDER", vmm_recorder_open, top);
    recorder = recorder == top ? NULL : recorder;
    top = wrap("CUVMM_CHECK_TRACE", vmm_trace_open, recorder ? recorder : top);
    if (vmm_system_wrap(top, &made) != VMM_SUCCESS)
        return;
    vmm_set_report(made, check_report, NULL);
    findings_open();
    shadow = made;
    atomic_store_explicit(&order, check_order_open(beside), memory_order_release);
}

vmm_system *check_enter(enum check_row row)
{
    if (inside || atomic_load_explicit(&going, memory_order_relaxed))
        return NULL;
    inside = true;
    foreseen = false;
    pthread_once(&once, open_shadow);
    if (!shadow || os_fork_depth() != opened_at) {
        inside = false;
        return NULL;
    }
    check_wait_function(check_driver(row));
    return shadow;
}

struct follow *check_order_of(vmm_system **sys)
{
    struct follow *follow = atomic_load_explicit(&order, memory_order_acquire);
    *sys = shadow;
    return follow;
}

struct follow *check_order_enter(void)
{
    struct follow *follow = atomic_load_explicit(&order, memory_order_acquire);
    if (inside || !follow || atomic_load_explicit(&going, memory_order_relaxed) || os_fork_depth() != opened_at)
        return NULL;
    inside = true;
    return follow;
}

void check_order_leave(void)
{
    inside = false;
}

bool check_hold(vmm_system **sys)
{
    if (inside || atomic_load_explicit(&going, memory_order_relaxed) || !findings_wanted("driver", true) ||
        (shadow && os_fork_depth() != opened_at))
        return false;
    inside = true;
    *sys = shadow;
    return true;
}

void check_unhold(void)
{
    inside = false;
}

void check_answered(vmm_result result)
{
    check_wait_answer(result);
}

void check_leave(void)
{
    findings_look(shadow);
    growth_check_call(shadow);
    inside = false;
}

/* A child of a process that used the driver cannot use it and has no shadow. */
void check_alone(enum check_row row, vmm_result result)
{
    if (inside || !shadow || result != VMM_ERROR_NOT_INITIALIZED || os_fork_depth() == opened_at)
        return;
    vmm_detail detail = {.result = result,
                         .severity = VMM_SEVERITY_ERROR,
                         .rule = vmm_rule_row(VMM_RULE_INIT_FORKED)->id,
                         .function = check_name(row)};
    findings_add(&detail);
}

/* Runs after the program's exit handlers and its libraries' destructors, which may still free objects. The shadow stays open
 * for threads that are still running. */
__attribute__((destructor)) static void end(void)
{
    if (!shadow || os_fork_depth() != opened_at)
        return;
    growth_check_end(check_report, NULL);
    vmm_leaks(shadow, check_report, NULL);
    if (recorder)
        recorder_ended(recorder);
    atomic_store(&going, true);
    findings_close();
}
