/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a device's graphs hold. A capture forbids none of these calls, and they need no context, as measured. */
#include "call_graph.h"
#include "graph_pins.h"

static vmm_result check_device(const struct sim_process *process, vmm_device device)
{
    const int devices = process->machine->profile.devices;
    return device >= 0 && device < devices ? VMM_SUCCESS
                                           : vmm_detail_refuse(VMM_RULE_DEVICE_ID, (uint64_t)(int64_t)device, (uint64_t)devices, NULL);
}

vmm_result sim_device_get_graph_mem_attribute(struct sim_process *process,
                                              const struct vmm_call_device_get_graph_mem_attribute *call)
{
    vmm_result result = check_device(process, call->device); /* which is checked first, as measured */
    if (result == VMM_SUCCESS && !call->value)
        result = graph_null("value");
    if (result != VMM_SUCCESS)
        return result;
    if (call->attr < VMM_GRAPH_MEM_ATTR_USED_MEM_CURRENT || call->attr > VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return graph_refuse(VMM_RULE_GRAPH_MEMORY_ATTRIBUTE, (uint64_t)(int64_t)call->attr, "%d is not an attribute", call->attr);
    const struct sim_graph_memory *memory = process->graph_memory[call->device];
    *call->value = !memory                                                  ? 0
                   : call->attr == VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH     ? memory->used_high
                   : call->attr == VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH ? memory->pool->memory.reserved_high
                                                                        : memory->pool->memory.reserved;
    return VMM_SUCCESS;
}

vmm_result sim_device_set_graph_mem_attribute(struct sim_process *process,
                                              const struct vmm_call_device_set_graph_mem_attribute *call)
{
    const bool used = call->attr == VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    vmm_result result = call->value ? check_device(process, call->device) : graph_null("value");
    if (result != VMM_SUCCESS)
        return result;
    if (!used && call->attr != VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return graph_refuse(VMM_RULE_GRAPH_MEMORY_ATTRIBUTE, (uint64_t)(int64_t)call->attr, "%d cannot be set; only the "
                                                                                            "high-water marks can",
                            call->attr);
    if (*call->value)
        return graph_refuse_value(VMM_RULE_GRAPH_MEMORY_ATTRIBUTE, "value", *call->value, "a high-water mark can only be set "
                                                                                          "to 0");
    struct sim_graph_memory *memory = process->graph_memory[call->device];
    if (memory)
        *(used ? &memory->used_high : &memory->pool->memory.reserved_high) = memory->pool->memory.reserved;
    return VMM_SUCCESS;
}

vmm_result sim_device_graph_mem_trim(struct sim_process *process, const struct vmm_call_device_graph_mem_trim *call)
{
    vmm_result result = check_device(process, call->device);
    struct sim_graph_memory *memory = result == VMM_SUCCESS ? process->graph_memory[call->device] : NULL;
    if (!memory)
        return result;
    graph_pins_settle(process, memory);
    sim_pool_trim(process, memory->pool, 0);
    return VMM_SUCCESS;
}
