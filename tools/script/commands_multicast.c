/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about multicast objects: the object, its team, the memory bound to it. */
#include <string.h>

#include "script_state.h"

static bool take_device(struct script *script, int *out)
{
    vmm_mem_location location = {0};
    if (!args_location(script, "DEVICE", &location))
        return false;
    *out = location.id;
    return true;
}

/* DEVICES and the options of the object's properties, or prop=null after it. */
static bool take_team(struct script *script, vmm_multicast_object_prop *team, bool *null)
{
    struct words_error error;
    struct value_env env = script_env(script);
    uint64_t devices = 0;
    int types = 0;
    const struct word *none = args_option(script, "prop"), *handle = args_option(script, "handle");
    *null = none != NULL;
    if (none && strcmp(none->text, "null") != 0)
        return script_wrong(script, none->column, "\"%.40s\" after prop=; only null can be said", none->text);
    if (handle && !value_handle_types(&env, handle, &types, &error))
        return script_wrong_at(script, &error);
    if (!args_number(script, "DEVICES", &devices) || !args_option_number(script, "flags", &team->flags))
        return false;
    team->num_devices = (unsigned)devices;
    team->handle_types = (unsigned)types;
    return true;
}

static bool run_unit(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_multicast_get_granularity);
    struct words_error error;
    struct value_env env = script_env(script);
    int *option = &step->call.multicast_get_granularity.option;
    bool null;
    const struct word *word = args_option(script, "option");
    if (word && strcmp(word->text, "recommended") == 0)
        *option = VMM_MULTICAST_GRANULARITY_RECOMMENDED;
    else if (word && strcmp(word->text, "minimum") != 0 && !value_int(&env, word, option, &error))
        return script_wrong_at(script, &error);
    if (!take_team(script, &step->team, &null))
        return false;
    if (null)
        step->call.multicast_get_granularity.prop = NULL;
    return script_make(script, NULL);
}

static bool run_multicast(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_multicast_create);
    bool null;
    if (!take_team(script, &step->team, &null) || !args_number(script, "SIZE", &step->team.size))
        return false;
    if (null)
        step->call.multicast_create.prop = NULL;
    return script_make(script, NULL);
}

static bool run_add(struct script *script)
{
    struct vmm_call_multicast_add_device *call =
        &script_step(script, VMM_CALL_multicast_add_device)->call.multicast_add_device;
    return args_number(script, "OBJECT", &call->mc_handle) && take_device(script, &call->dev) &&
           script_make(script, NULL);
}

static bool run_bind(struct script *script)
{
    struct vmm_call_multicast_bind_mem *call =
        &script_step(script, VMM_CALL_multicast_bind_mem)->call.multicast_bind_mem;
    return args_number(script, "OBJECT", &call->mc_handle) && args_number(script, "OFFSET", &call->mc_offset) &&
           args_number(script, "SIZE", &call->size) && args_number(script, "HANDLE", &call->mem_handle) &&
           args_option_number(script, "offset", &call->mem_offset) &&
           args_option_number(script, "flags", &call->flags) && script_make(script, NULL);
}

static bool run_bind_address(struct script *script)
{
    struct vmm_call_multicast_bind_addr *call =
        &script_step(script, VMM_CALL_multicast_bind_addr)->call.multicast_bind_addr;
    return args_number(script, "OBJECT", &call->mc_handle) && args_number(script, "OFFSET", &call->mc_offset) &&
           args_number(script, "SIZE", &call->size) && args_number(script, "ADDRESS", &call->memptr) &&
           args_option_number(script, "flags", &call->flags) && script_make(script, NULL);
}

static bool run_unbind(struct script *script)
{
    struct vmm_call_multicast_unbind *call = &script_step(script, VMM_CALL_multicast_unbind)->call.multicast_unbind;
    return args_number(script, "OBJECT", &call->mc_handle) && take_device(script, &call->dev) &&
           args_number(script, "OFFSET", &call->mc_offset) && args_number(script, "SIZE", &call->size) &&
           script_make(script, NULL);
}

const struct script_command script_multicast_commands[] = {
    {"multicast-unit", "DEVICES [option=minimum|recommended|N] [handle=TYPES] [flags=N] [prop=null] [out=null]",
     "queries the granularity of multicast objects", "cuMulticastGetGranularity", run_unit, false},
    {"multicast", "DEVICES SIZE [handle=TYPES] [flags=N] [prop=null] [out=null]",
     "creates a multicast object for that many devices; names its handle", "cuMulticastCreate", run_multicast, false},
    {"add", "OBJECT DEVICE", "adds a device to the object's team", "cuMulticastAddDevice", run_add, false},
    {"bind", "OBJECT OFFSET SIZE HANDLE [offset=SIZE] [flags=N]", "binds memory of a device to a part of the object",
     "cuMulticastBindMem", run_bind, false},
    {"bindaddress", "OBJECT OFFSET SIZE ADDRESS [flags=N]", "the same with memory that is mapped at an address",
     "cuMulticastBindAddr", run_bind_address, false},
    {"unbind", "OBJECT DEVICE OFFSET SIZE", "unbinds a device's memory", "cuMulticastUnbind", run_unbind, false},
    {0},
};
