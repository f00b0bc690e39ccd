/* SPDX-License-Identifier: Apache-2.0 */
/* The process's shadow: the first call opens it, and at exit it reports what is still held. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "findings.h"
#include "os.h"
#include "system.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static vmm_system *shadow;
static uint64_t opened_at;         /* the fork depth at that time */
static _Atomic bool going;         /* the process is exiting */
static _Thread_local bool inside;  /* this thread is in a call: calls that the driver makes meanwhile are its own */

static _Thread_local bool foreseen; /* the current call was reported before it was made */

static void tell(void *user, const vmm_detail *detail)
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

static void open_shadow(void)
{
    struct vmm_backend *driver, *top;
    vmm_system *made;
    opened_at = os_fork_depth();
    if (!findings_wanted("driver", true) || !(driver = check_backend()))
        return;
    if (vmm_shadow_open("", driver, &top) != VMM_SUCCESS) {
        driver->ops->close(driver);
        return;
    }
    if (vmm_system_wrap(top, &made) != VMM_SUCCESS)
        return;
    vmm_set_report(made, tell, NULL);
    findings_open();
    shadow = made;
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

void check_answered(vmm_result result)
{
    check_wait_answer(result);
}

void check_leave(void)
{
    findings_look(shadow);
    inside = false;
}

/* The child of a process that used the driver cannot use it, and has no shadow. */
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

/* Runs after the program's exit handlers and its libraries' destructors, which may still free objects. The shadow stays open for
 * threads that still run. */
__attribute__((destructor)) static void end(void)
{
    if (!shadow || os_fork_depth() != opened_at)
        return;
    vmm_leaks(shadow, tell, NULL);
    atomic_store(&going, true);
    findings_close();
}
