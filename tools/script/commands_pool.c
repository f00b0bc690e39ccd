/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of memory pools. Their memory is allocated with alloc stream=NAME (commands_memory.c). */
#include <string.h>

#include "script_state.h"

static bool take_pool(struct script *script, vmm_memory_pool *pool)
{
    uint64_t value = 0;
    if (!args_number(script, "POOL", &value))
        return false;
    *pool = (vmm_memory_pool)(uintptr_t)value;
    return true;
}

static bool take_device(struct script *script, vmm_device *device)
{
    vmm_mem_location location;
    if (!args_location(script, "DEVICE", &location))
        return false;
    *device = location.id;
    return true;
}

static bool take_attribute(struct script *script, vmm_mem_pool_attribute *attribute)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, "POOL-ATTRIBUTE");
    return word && (step_pool_attribute_find(word->text, attribute) || value_int(&env, word, attribute, &error) ||
                    script_wrong_at(script, &error));
}

static bool run_pool(struct script *script)
{
    vmm_mem_pool_props *props = &script_step(script, VMM_CALL_mem_pool_create)->pool_props;
    struct words_error error;
    struct value_env env = script_env(script);
    struct word *types;
    uint64_t max = 0, usage = 0, reserved = 0;
    if (!args_location(script, "LOCATION", &props->location))
        return false;
    types = args_option(script, "handle");
    if (types && !value_handle_types(&env, types, &props->handle_types, &error))
        return script_wrong_at(script, &error);
    if (!args_option_number(script, "max", &max) || !args_option_number(script, "usage", &usage) ||
        !args_option_int(script, "type", &props->alloc_type) || !args_option_number(script, "reserved", &reserved))
        return false;
    props->max_size = max;
    props->usage = (unsigned short)usage;
    props->reserved[0] = (unsigned char)reserved;
    return script_make(script, NULL);
}

static bool run_default_pool(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_device_get_default_mem_pool);
    return take_device(script, &step->call.device_get_default_mem_pool.dev) && script_make(script, NULL);
}

static bool run_current_pool(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_device_get_mem_pool);
    return take_device(script, &step->call.device_get_mem_pool.dev) && script_make(script, NULL);
}

static bool run_use_pool(struct script *script)
{
    struct vmm_call_device_set_mem_pool *call = &script_step(script, VMM_CALL_device_set_mem_pool)->call.device_set_mem_pool;
    return take_device(script, &call->dev) && take_pool(script, &call->pool) && script_make(script, NULL);
}

static bool run_get(struct script *script)
{
    struct vmm_call_mem_pool_get_attribute *call =
        &script_step(script, VMM_CALL_mem_pool_get_attribute)->call.mem_pool_get_attribute;
    return take_pool(script, &call->pool) && take_attribute(script, &call->attr) && script_make(script, NULL);
}

static bool run_set(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_pool_set_attribute);
    struct vmm_call_mem_pool_set_attribute *call = &step->call.mem_pool_set_attribute;
    return take_pool(script, &call->pool) && take_attribute(script, &call->attr) &&
           args_number(script, "VALUE", &step->pool_value) && script_make(script, NULL);
}

static bool run_trim(struct script *script)
{
    struct vmm_call_mem_pool_trim_to *call = &script_step(script, VMM_CALL_mem_pool_trim_to)->call.mem_pool_trim_to;
    return take_pool(script, &call->pool) && (!args_more(script) || args_number(script, "SIZE", &call->min_bytes_to_keep)) &&
           script_make(script, NULL);
}

/* Any number of grants in one call. */
static bool run_grant(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_pool_set_access);
    struct vmm_call_mem_pool_set_access *call = &step->call.mem_pool_set_access;
    struct words_error error;
    struct value_env env = script_env(script);
    if (!take_pool(script, &call->pool))
        return false;
    for (; args_more(script) && call->count < STEP_GRANTS; call->count++)
        if (!value_grant(&env, args_next(script, "GRANT"), &step->grants[call->count], &error))
            return script_wrong_at(script, &error);
    return script_make(script, NULL);
}

static bool run_access(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_pool_get_access);
    return take_pool(script, &step->call.mem_pool_get_access.mem_pool) && args_location(script, "LOCATION", &step->location) &&
           script_make(script, NULL);
}

/* ---- pools and other processes ---- */

static bool run_export(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_pool_export_to_shareable_handle);
    struct vmm_call_mem_pool_export_to_shareable_handle *call = &step->call.mem_pool_export_to_shareable_handle;
    return take_pool(script, &call->pool) && args_handle_type(script, &call->handle_type) &&
           args_option_number(script, "flags", &call->flags) && script_make(script, NULL);
}

static bool run_import(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_pool_import_from_shareable_handle);
    struct vmm_call_mem_pool_import_from_shareable_handle *call = &step->call.mem_pool_import_from_shareable_handle;
    uint64_t descriptor = 0;
    if (!args_number(script, "DESCRIPTOR", &descriptor) || !args_handle_type(script, &call->handle_type) ||
        !args_option_number(script, "flags", &call->flags))
        return false;
    call->handle = (void *)(uintptr_t)descriptor;
    fabrics_find(&script->fabrics, descriptor, step->fabric);
    return script_make(script, NULL);
}

static bool run_export_pointer(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_pool_export_pointer);
    return args_number(script, "ADDRESS", &step->call.mem_pool_export_pointer.ptr) && script_make(script, NULL);
}

static bool run_import_pointer(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_pool_import_pointer);
    uint64_t data = 0;
    if (!take_pool(script, &step->call.mem_pool_import_pointer.pool) || !args_number(script, "DATA", &data))
        return false;
    fabrics_find(&script->fabrics, data, step->fabric);
    return script_make(script, NULL);
}

const struct script_command script_pool_commands[] = {
    {"pool", "LOCATION [handle=TYPES] [max=SIZE] [usage=N] [type=N] [reserved=N] [out=null]", "creates a memory pool and "
        "names it",
     "cuMemPoolCreate", run_pool, false},
    {"defaultpool", "DEVICE [out=null]", "names the device's default memory pool", "cuDeviceGetDefaultMemPool", run_default_pool,
     false},
    {"currentpool", "DEVICE [out=null]", "names the pool from which alloc takes the device's memory", "cuDeviceGetMemPool",
     run_current_pool, false},
    {"usepool", "DEVICE POOL", "makes a pool the device's current one", "cuDeviceSetMemPool", run_use_pool, false},
    {"poolget", "POOL POOL-ATTRIBUTE [out=null]", "queries an attribute of a pool, for example USED_MEM_CURRENT",
     "cuMemPoolGetAttribute", run_get,
     false},
    {"poolset", "POOL POOL-ATTRIBUTE VALUE", "sets an attribute of a pool", "cuMemPoolSetAttribute", run_set, false},
    {"trim", "POOL [SIZE]", "frees a pool's unused memory down to a size", "cuMemPoolTrimTo", run_trim, false},
    {"poolgrant", "POOL LOCATION:RIGHTS ...", "sets the rights of devices to a pool's memory", "cuMemPoolSetAccess",
     run_grant, false},
    {"poolaccess", "POOL LOCATION [out=null]", "queries the rights of a device to a pool's memory", "cuMemPoolGetAccess",
     run_access, false},
    {"poolexport", "POOL [type=TYPE] [flags=N] [out=null]", "exports a pool to other processes; names a descriptor, or a "
                                                            "fabric handle (type=fabric)",
     "cuMemPoolExportToShareableHandle", run_export, false},
    {"poolimport", "DESCRIPTOR [type=TYPE] [flags=N] [out=null]", "imports a pool that this or another process exported, "
                                                                  "and names it",
     "cuMemPoolImportFromShareableHandle", run_import, false},
    {"pointerexport", "ADDRESS [out=null]", "exports an allocation of an exported pool; names its 64 bytes",
     "cuMemPoolExportPointer",
     run_export_pointer, false},
    {"pointerimport", "POOL DATA [out=null]", "imports an exported allocation into an imported pool, and names it",
     "cuMemPoolImportPointer",
     run_import_pointer, false},
    {0},
};
