/* SPDX-License-Identifier: Apache-2.0 */
#include "growth_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "growth.h"
#include "marks.h"
#include "os_environment.h"

enum { OFF, AT_MARKS, OWN };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct growth *growth;
static _Atomic int mode = -1; /* -1: the environment has not been read yet */

static void begin(void)
{
    const char *wanted = os_environment("CUVMM_CHECK_GROWTH");
    long steps = wanted ? strtol(wanted, NULL, 10) : 0;
    int chosen = !wanted || !wanted[0] ? AT_MARKS : strcmp(wanted, "no") == 0 ? OFF : OWN;
    if (chosen != OFF)
        growth = growth_new(steps >= 2 && steps <= 1000 ? (unsigned)steps : GROWTH_STEPS);
    atomic_store(&mode, growth ? chosen : OFF);
}

static int mode_now(void)
{
    int now = atomic_load_explicit(&mode, memory_order_acquire);
    if (now >= 0)
        return now;
    pthread_once(&once, begin);
    return atomic_load(&mode);
}

void growth_check_mark(vmm_system *sys, const char *text, vmm_report_fn report, void *user)
{
    const char *mark = marks_set(text);
    if (mark && sys && mode_now() != OFF)
        growth_mark(growth, sys, mark, report, user);
}

void growth_check_call(vmm_system *sys)
{
    if (mode_now() == OWN)
        growth_call(growth, sys);
}

void growth_check_end(vmm_report_fn report, void *user)
{
    if (mode_now() == OWN)
        growth_end(growth, report, user);
}
