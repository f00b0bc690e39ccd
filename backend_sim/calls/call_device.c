/* SPDX-License-Identifier: Apache-2.0 */
/* cuInit and device queries. */
#include <stdlib.h>
#include <string.h>

#include "os_environment.h"
#include "sim.h"

static vmm_result refuse_device(const struct sim_process *process, const char *argument, int device)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_DEVICE_ID, (uint64_t)(int64_t)device,
                                          (uint64_t)process->machine->profile.devices, NULL);
    vmm_detail_argument(argument);
    vmm_detail_note("this machine has %d device%s: ordinals start at 0", process->machine->profile.devices,
                    process->machine->profile.devices == 1 ? "" : "s");
    return result;
}

static vmm_result refuse_null(const char *argument)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_DEVICE_NULL, 0, 0, NULL);
    vmm_detail_argument(argument);
    return result;
}

static vmm_result refuse_list(enum vmm_rule_id rule, const char *list)
{
    vmm_result result = vmm_detail_refuse(rule, 0, 0, NULL);
    vmm_detail_note(VISIBLE_VARIABLE " is \"%.60s\"", list);
    return result;
}

/* Chooses the visible devices by the environment variable, in the program's first cuInit; after a refusal the next cuInit
 * chooses. Measured. */
static vmm_result look_at_environment(struct sim_process *process, const char *list)
{
    struct sim_machine *machine = process->machine;
    struct visible_devices visible;
    if (machine->chosen || strcmp(process->options.visible, VISIBLE_ENVIRONMENT) != 0)
        return VMM_SUCCESS;
    vmm_result result = visible_devices_read(&visible, list, &machine->hardware);
    if (result == VMM_ERROR_INVALID_DEVICE)
        return refuse_list(VMM_RULE_INIT_VISIBLE_TWICE, list);
    sim_machine_see(machine, &visible);
    return VMM_SUCCESS;
}

static vmm_result check_visible(struct sim_process *process)
{
    const char *list = os_environment(VISIBLE_VARIABLE);
    vmm_result result = look_at_environment(process, list);
    if (result != VMM_SUCCESS || process->machine->profile.devices)
        return result;
    result = vmm_detail_refuse(VMM_RULE_INIT_VISIBLE, 0, 0, NULL);
    vmm_detail_note("visible=%.20s hides all devices: " VISIBLE_VARIABLE " is \"%.40s\", expected ordinals below %d "
                    "or UUIDs as in GPU-8932f937",
                    process->options.visible, list ? list : "", process->machine->hardware.devices);
    return result;
}

vmm_result sim_init(struct sim_process *process, const struct vmm_call_init *call)
{
    if (call->flags)
        return vmm_detail_refuse(VMM_RULE_INIT_FLAGS, call->flags, 0, NULL);
    if (sim_process_forked(process))
        return vmm_detail_refuse(VMM_RULE_INIT_FORKED, 0, 0, NULL);
    if (sim_machine_torn(process->machine)) {
        vmm_result torn = vmm_detail_refuse(VMM_RULE_INIT_FORKED, 0, 0, NULL);
        vmm_detail_note(SIM_TORN);
        return torn;
    }
    vmm_result result = check_visible(process);
    if (result != VMM_SUCCESS)
        return result;
    process->machine->chosen = true;
    const char *wrong = process->machine->share ? share_join(process->machine->share) : NULL;
    if (wrong)
        return sim_machine_unreachable(wrong);
    process->initialised = life_stamp();
    return VMM_SUCCESS;
}

vmm_result sim_driver_get_version(struct sim_process *process, const struct vmm_call_driver_get_version *call)
{
    if (!call->driver_version)
        return refuse_null("driverVersion");
    *call->driver_version = process->machine->profile.driver_version;
    return VMM_SUCCESS;
}

vmm_result sim_device_get_count(struct sim_process *process, const struct vmm_call_device_get_count *call)
{
    if (!call->count)
        return refuse_null("count");
    *call->count = process->machine->profile.devices;
    return VMM_SUCCESS;
}

vmm_result sim_device_get(struct sim_process *process, const struct vmm_call_device_get *call)
{
    if (!call->device)
        return refuse_null("device");
    if (!sim_device_valid(process, call->ordinal))
        return refuse_device(process, "ordinal", call->ordinal);
    *call->device = call->ordinal;
    return VMM_SUCCESS;
}

vmm_result sim_device_get_name(struct sim_process *process, const struct vmm_call_device_get_name *call)
{
    if (!call->name)
        return refuse_null("name");
    if (!sim_device_valid(process, call->dev))
        return refuse_device(process, "dev", call->dev);
    if (!call->len)
        return vmm_detail_refuse(VMM_RULE_DEVICE_NAME_LENGTH, 0, 0, NULL);
    const char *name = process->machine->profile.device_name;
    size_t room = call->len < 0 ? strlen(name) + 1 : (size_t)call->len;
    memset(call->name, 0, room); /* measured: the driver writes the whole buffer */
    memcpy(call->name, name, strlen(name) < room ? strlen(name) : room - 1);
    return VMM_SUCCESS;
}

vmm_result sim_device_get_attribute(struct sim_process *process, const struct vmm_call_device_get_attribute *call)
{
    int value;
    if (!call->pi)
        return refuse_null("pi");
    if (!sim_device_valid(process, call->dev))
        return refuse_device(process, "dev", call->dev);
    if (!sim_profile_attribute(&process->machine->profile, call->attrib, &value)) {
        vmm_result result =
            vmm_detail_refuse(VMM_RULE_DEVICE_ATTRIBUTE, (uint64_t)(int64_t)call->attrib, 0, NULL);
        vmm_detail_note("profile %s does not list attribute %d", process->machine->profile.name, call->attrib);
        return result;
    }
    *call->pi = value;
    return VMM_SUCCESS;
}

vmm_result sim_device_total_mem(struct sim_process *process, const struct vmm_call_device_total_mem *call)
{
    if (!call->bytes)
        return refuse_null("bytes");
    *call->bytes = 0; /* measured: the driver writes the output even for a bad device */
    if (!sim_device_valid(process, call->dev))
        return refuse_device(process, "dev", call->dev);
    *call->bytes = process->machine->profile.device_memory;
    return VMM_SUCCESS;
}

vmm_result sim_device_can_access_peer(struct sim_process *process, const struct vmm_call_device_can_access_peer *call)
{
    if (!call->can_access_peer)
        return refuse_null("canAccessPeer");
    if (!sim_device_valid(process, call->dev))
        return refuse_device(process, "dev", call->dev);
    if (!sim_device_valid(process, call->peer_dev))
        return refuse_device(process, "peerDev", call->peer_dev);
    *call->can_access_peer =
        call->dev != call->peer_dev && (process->machine->profile.peers[call->dev] >> call->peer_dev & 1);
    return VMM_SUCCESS;
}
