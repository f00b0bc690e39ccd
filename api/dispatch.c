/* SPDX-License-Identifier: Apache-2.0 */
/* Every public entry point: packs the parameters into a record, numbers it, passes it to the outermost backend, and reports. */
#include "system.h"
#include "thread.h"

static void tell(vmm_system *sys)
{
    vmm_report_fn report;
    void *user;
    life_take(&sys->lock);
    report = sys->report;
    user = sys->user;
    life_give(&sys->lock);
    if (!report)
        return;
    /* Copied, because the function may make calls, which overwrite the thread's record. */
    vmm_detail detail = *vmm_last_detail();
    vmm_fault fault;
    int cancel = life_no_cancel(); /* the function may take locks of the program */
    if (detail.fault) {
        fault = *detail.fault;
        detail.fault = &fault;
    }
    report(user, &detail);
    life_may_cancel(cancel);
    *vmm_detail_here() = detail;
    if (detail.fault)
        vmm_detail_fault(&fault);
}

static inline uint64_t number_of(vmm_system *sys, struct vmm_thread *thread, bool queries)
{
    return queries ? ordinal_of_question(&sys->calls, &thread->ordinals) : ordinal_of_change(&sys->calls, &thread->ordinals);
}

/* A part of the program's call is reported as that call; all its parts share one number. */
static inline void begin_part(vmm_system *sys, struct vmm_thread *thread, struct vmm_call *call, bool queries,
                              struct vmm_within *within)
{
    if (!within->number)
        within->number = number_of(sys, thread, queries);
    call->number = within->number;
    vmm_detail_begin_in(&thread->detail, call)->function = vmm_reported_name(vmm_reported_in(within, call->id));
}

static vmm_result dispatch(vmm_system *sys, struct vmm_call *call, bool queries)
{
    struct vmm_thread *thread = vmm_this_thread();
    struct vmm_within *within = vmm_within_now(&thread->within);
    if (within) {
        begin_part(sys, thread, call, queries, within);
    } else {
        call->number = number_of(sys, thread, queries);
        vmm_detail_begin_in(&thread->detail, call);
    }
    vmm_result result = vmm_backend_call(sys->top, call);
    if (thread->detail.severity != VMM_SEVERITY_NONE)
        tell(sys);
    return result;
}

void vmm_set_report(vmm_system *sys, vmm_report_fn report, void *user)
{
    life_take(&sys->lock);
    sys->report = report;
    sys->user = user;
    life_give(&sys->lock);
}

#define VMM_CALL(name, symbol, form, traits)                                                                \
    vmm_result vmm_##name(vmm_system *sys VMM_EACH(VMM_AND_TYPED, VMM_PARAMS_##name))                       \
    {                                                                                                       \
        struct vmm_call_##name call = {{VMM_CALL_##name, 0} VMM_EACH(VMM_AND_NAMED, VMM_PARAMS_##name)};    \
        return dispatch(sys, &call.head, ((traits) & CALL_QUERIES) != 0);                                   \
    }
#include "calls.def"
