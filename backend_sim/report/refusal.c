/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

#include "detail.h"
#include "objects.h"

bool sim_warn_or_refuse(const struct sim_process *process, enum vmm_rule_id rule, uint64_t value, uint64_t expected,
                        const vmm_object *nearest)
{
    if (process->options.strict && vmm_rule_row(rule)->rule_class != VMM_RULE_HAZARD) {
        vmm_detail_refuse(rule, value, expected, nearest);
        return false;
    }
    vmm_detail_warn(rule, value, expected, nearest);
    return true;
}

vmm_result sim_no_context(const struct sim_process *process)
{
    void *context;
    uint64_t value = context_stack_get(&process->current);
    if (!value)
        return vmm_detail_refuse(VMM_RULE_CTX_CURRENT, 0, 0, NULL);
    slots_find(&process->contexts, value, &context);
    vmm_object nearest = context ? sim_object_context(context) : (vmm_object){0};
    return vmm_detail_refuse(VMM_RULE_CTX_DESTROYED, value, 0, &nearest);
}

vmm_result sim_out_of_host_memory(void)
{
    return vmm_detail_refuse(VMM_RULE_SYSTEM_HOST_MEMORY, 0, 0, NULL);
}

vmm_result sim_host_refuse(void)
{
    vmm_result result = sim_out_of_host_memory();
    vmm_detail_note("the system has no memory or no mapping left (vm.max_map_count) to show this memory to the host");
    return result;
}

vmm_result sim_machine_unreachable(const char *why)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_SHARE_STATE, 0, 0, NULL);
    vmm_detail_note("%s", why);
    return result;
}

vmm_result sim_stream_check(const struct sim_process *process, vmm_stream value, struct sim_stream **stream)
{
    void *object;
    uint64_t number = (uint64_t)(uintptr_t)value;
    *stream = NULL;
    if (!value || value == VMM_STREAM_LEGACY || value == VMM_STREAM_PER_THREAD)
        return sim_current(process) ? VMM_SUCCESS : sim_no_context(process);
    if (slots_find(&process->streams, number, &object) == SLOT_LIVE) {
        *stream = object;
        return VMM_SUCCESS;
    }
    vmm_object nearest = object ? sim_object_stream(object) : (vmm_object){0};
    return vmm_detail_refuse(VMM_RULE_STREAM_UNKNOWN, number, 0, &nearest);
}

vmm_result sim_stream_context(const struct sim_process *process, vmm_stream value, struct sim_context **context)
{
    struct sim_stream *stream;
    void *object = NULL;
    vmm_result result = sim_stream_check(process, value, &stream);
    if (result != VMM_SUCCESS)
        return result;
    if (stream)
        slots_find(&process->contexts, stream->context, &object);
    *context = stream ? object : sim_current(process);
    return VMM_SUCCESS;
}
