/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

#include <stdatomic.h>

#include "system.h"

struct wanted {
    uint64_t after, upto, count;
    vmm_report_fn report;
    void *user;
};

uint64_t held_calls(const vmm_system *sys)
{
    return sys ? atomic_load(&sys->calls.given) : 0;
}

static void look(void *user, const vmm_detail *detail)
{
    struct wanted *wanted = user;
    uint64_t created = detail->nearest.created;
    if (detail->severity != VMM_SEVERITY_LEAK || created <= wanted->after || created > wanted->upto)
        return;
    wanted->count++;
    wanted->report(wanted->user, detail);
}

uint64_t held_report(vmm_system *sys, uint64_t after, uint64_t upto, vmm_report_fn report, void *user)
{
    struct wanted wanted = {after, upto, 0, report, user};
    vmm_leaks(sys, look, &wanted);
    return wanted.count;
}
