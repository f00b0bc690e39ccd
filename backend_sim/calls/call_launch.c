/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels and host functions in streams. */
#include "sim.h"

#include "alias.h"
#include "in_flight.h"
#include "kernels.h"
#include "launch.h"
#include "pool_use.h"
#include "team_share.h"

vmm_result sim_launch(struct sim_process *process, const struct vmm_call_launch *call)
{
    struct sim_context *context;
    vmm_result result = launch_check(process, call);
    if (result == VMM_SUCCESS)
        result = sim_stream_context(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    const char *why = result == VMM_SUCCESS && kernels_is_multimem(call->kernel) ? team_look_at_all(process->machine) : NULL;
    if (why)
        return sim_machine_unreachable(why);
    if (result != VMM_SUCCESS)
        return result;
    struct queue_place place = in_flight_place(process, context, call->stream);
    alias_warn(process, &place, call);
    for (uint64_t i = 0; process->chunks.count && i < call->count; i++)
        pool_use(process, &place, call->args[i], 1, "args");
    return in_flight_issue(process, &place, &call->head, VMM_CALL_launch);
}

vmm_result sim_launch_host_func(struct sim_process *process, const struct vmm_call_launch_host_func *call)
{
    struct sim_context *context;
    vmm_result result = sim_stream_context(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    if (result != VMM_SUCCESS)
        return result;
    if (!call->fn)
        return vmm_detail_refuse(VMM_RULE_HOSTFUNC_NULL, 0, 0, NULL);
    struct queue_place place = in_flight_place(process, context, call->stream);
    return in_flight_issue(process, &place, &call->head, VMM_CALL_launch_host_func);
}
