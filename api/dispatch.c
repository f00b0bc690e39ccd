/* SPDX-License-Identifier: Apache-2.0 */
/* Every public entry point: packs the parameters into a record, numbers it, passes it to the outermost backend, and reports. */
#include "dispatch.h"

vmm_result vmm_tell(vmm_system *sys, vmm_result result)
{
    vmm_report_fn report;
    void *user;
    life_acquire(&sys->lock);
    report = sys->report;
    user = sys->user;
    life_release(&sys->lock);
    if (!report)
        return result;
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
    return result;
}

static uint64_t number_of(vmm_system *sys, struct vmm_thread *thread, bool queries)
{
    if (ordinal_is_next(&thread->ordinals))
        return ordinal_draw(&sys->calls, 1);
    return queries ? ordinal_of_question(&sys->calls, &thread->ordinals) : ordinal_of_change(&sys->calls, &thread->ordinals);
}

/* A part of the program's call is reported as that call; its parts share one number and, if the stack was captured before the
 * first of them, one stack. */
vmm_result vmm_dispatch(vmm_system *sys, struct vmm_thread *thread, struct vmm_call *call, bool queries)
{
    struct vmm_within *within = vmm_within_now(&thread->within);
    uint64_t number = within ? within->number : 0;
    const uint32_t stack = number ? thread->stack : 0; /* of the program's call, if already known */
    if (!number)
        number = number_of(sys, thread, queries);
    if (within)
        within->number = number;
    call->number = number;
    vmm_detail_begin_in(&thread->detail, vmm_reported_name(vmm_reported_in(within, call->id)), number);
    thread->stack = stack;
    vmm_result result = vmm_backend_call(sys->top, call);
    thread->stack = stack;
    return thread->detail.severity == VMM_SEVERITY_NONE ? result : vmm_tell(sys, result);
}

static vmm_result dispatch(vmm_system *sys, struct vmm_call *call, bool queries)
{
    struct vmm_thread *thread = vmm_this_thread();
    if (thread->within.depth)
        return vmm_dispatch_part(sys, thread, vmm_within_now(&thread->within), call, queries);
    if (!vmm_is_short(thread))
        return vmm_dispatch(sys, thread, call, queries);
    return vmm_dispatch_short(sys, thread, call, call->id, ordinal_draw(&sys->calls, 1));
}

void vmm_set_report(vmm_system *sys, vmm_report_fn report, void *user)
{
    life_acquire(&sys->lock);
    sys->report = report;
    sys->user = user;
    life_release(&sys->lock);
}

#define VMM_CALL(name, symbol, form, traits)                                                                \
    vmm_result vmm_##name(vmm_system *sys VMM_EACH(VMM_AND_TYPED, VMM_PARAMS_##name))                       \
    {                                                                                                       \
        struct vmm_call_##name call = {{VMM_CALL_##name, 0} VMM_EACH(VMM_AND_NAMED, VMM_PARAMS_##name)};    \
        return dispatch(sys, &call.head, VMM_QUERIES_##name);                                                \
    }
#include "calls.def"
