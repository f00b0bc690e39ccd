/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about physical memory: its granularity, its handles, ordinary allocations, free memory. */
#include <string.h>

#include "script_state.h"

/* LOCATION and the options of its properties, or prop=null. */
static bool take_prop(struct script *script, vmm_mem_allocation_prop *prop, bool *null)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *none = args_option(script, "prop");
    *null = none != NULL;
    if (none)
        return strcmp(none->text, "null") == 0 ||
               script_wrong(script, none->column, "\"%.40s\" after prop=; only null can be said", none->text);
    if (!args_location(script, "the location", &prop->location))
        return false;
    for (size_t i = 0; i < script->words.count; i++) {
        struct word *word = &script->words.word[i];
        bool known = false;
        if (!word->key || word->used)
            continue;
        if (!value_prop_option(&env, word, prop, &known, &error))
            return script_wrong_at(script, &error);
        word->used = known;
    }
    return true;
}

static bool run_granularity(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_get_allocation_granularity);
    struct words_error error;
    struct value_env env = script_env(script);
    int *option = &step->call.mem_get_allocation_granularity.option;
    bool null;
    const struct word *word = args_option(script, "option");
    if (word && strcmp(word->text, "recommended") == 0)
        *option = VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED;
    else if (word && strcmp(word->text, "minimum") != 0 && !value_int(&env, word, option, &error))
        return script_wrong_at(script, &error);
    if (!take_prop(script, &step->prop, &null))
        return false;
    if (null)
        step->call.mem_get_allocation_granularity.prop = NULL;
    return script_make(script, NULL);
}

static bool run_create(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_create);
    struct vmm_call_mem_create *call = &step->call.mem_create;
    bool null;
    if (!args_number(script, "SIZE", &call->size) || !take_prop(script, &step->prop, &null) ||
        !args_option_number(script, "flags", &call->flags))
        return false;
    if (null)
        call->prop = NULL;
    return script_make(script, NULL);
}

static bool run_release(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_release);
    return args_number(script, "HANDLE", &step->call.mem_release.handle) && script_make(script, NULL);
}

static bool run_retain(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_retain_allocation_handle);
    return args_number(script, "ADDRESS", &step->call.mem_retain_allocation_handle.addr) && script_make(script, NULL);
}

static bool run_properties(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_get_allocation_properties_from_handle);
    return args_number(script, "HANDLE", &step->call.mem_get_allocation_properties_from_handle.handle) &&
           script_make(script, NULL);
}

static bool run_export(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_export_to_shareable_handle);
    struct vmm_call_mem_export_to_shareable_handle *call = &step->call.mem_export_to_shareable_handle;
    return args_number(script, "HANDLE", &call->handle) && args_handle_type(script, &call->handle_type) &&
           args_option_number(script, "flags", &call->flags) && script_make(script, NULL);
}

static bool run_import(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_import_from_shareable_handle);
    struct vmm_call_mem_import_from_shareable_handle *call = &step->call.mem_import_from_shareable_handle;
    uint64_t descriptor = 0;
    if (!args_number(script, "DESCRIPTOR", &descriptor) || !args_handle_type(script, &call->sh_handle_type))
        return false;
    call->os_handle = (void *)(uintptr_t)descriptor;
    fabrics_find(&script->fabrics, descriptor, step->fabric);
    return script_make(script, NULL);
}

/* Not a driver call: the descriptor belongs to the program. */
static bool run_close(struct script *script)
{
    const struct word *word = args_next(script, "DESCRIPTOR");
    struct symbol *symbol = word ? symbols_find(&script->symbols, word->text, strlen(word->text)) : NULL;
    if (!word)
        return false;
    if (!symbol || symbol->kind != SYMBOL_DESCRIPTOR || symbol->ended)
        return script_wrong(script, word->column, "\"%.40s\" is not an open descriptor of this process", word->text);
    if (!args_done(script))
        return false;
    descriptors_close(&script->open, symbol->value);
    symbol->ended = true;
    return true;
}

/* With a stream it is the Async call; with pool=NAME the one that allocates from a pool. */
static bool take_order(struct script *script, bool *async, vmm_stream *stream, uint64_t *pool)
{
    *pool = 0;
    return args_stream(script, async, stream) && args_option_number(script, "pool", pool);
}

static bool run_alloc(struct script *script)
{
    uint64_t size, value;
    bool async;
    vmm_stream stream;
    if (!args_number(script, "SIZE", &size) || !take_order(script, &async, &stream, &value))
        return false;
    vmm_memory_pool pool = (vmm_memory_pool)(uintptr_t)value;
    if (pool) {
        struct vmm_call_mem_alloc_from_pool_async *call =
            &script_step(script, VMM_CALL_mem_alloc_from_pool_async)->call.mem_alloc_from_pool_async;
        call->bytesize = size;
        call->pool = pool;
        call->stream = stream;
    } else if (async) {
        struct vmm_call_mem_alloc_async *call = &script_step(script, VMM_CALL_mem_alloc_async)->call.mem_alloc_async;
        call->bytesize = size;
        call->stream = stream;
    } else {
        script_step(script, VMM_CALL_mem_alloc)->call.mem_alloc.bytesize = size;
    }
    return script_make(script, NULL);
}

static bool run_freemem(struct script *script)
{
    uint64_t address, pool;
    bool async;
    vmm_stream stream;
    if (!args_number(script, "ADDRESS", &address) || !take_order(script, &async, &stream, &pool))
        return false;
    if (async) {
        struct vmm_call_mem_free_async *call = &script_step(script, VMM_CALL_mem_free_async)->call.mem_free_async;
        call->dptr = address;
        call->stream = stream;
    } else {
        script_step(script, VMM_CALL_mem_free)->call.mem_free.dptr = address;
    }
    return script_make(script, NULL);
}

static bool run_ipc_get(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_ipc_get_mem_handle);
    return args_number(script, "ADDRESS", &step->call.ipc_get_mem_handle.dptr) && script_make(script, NULL);
}

static bool run_ipc_open(struct script *script)
{
    uint64_t number, flags = VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    if (!args_number(script, "HANDLE", &number) || !args_option_number(script, "flags", &flags))
        return false;
    if (flags > UINT32_MAX)
        return script_wrong(script, 1, "flags have 32 bits");
    struct step *step = script_step(script, VMM_CALL_ipc_open_mem_handle);
    fabrics_find(&script->fabrics, number, step->fabric);
    memcpy(&step->call.ipc_open_mem_handle.handle, step->fabric, sizeof step->fabric);
    step->call.ipc_open_mem_handle.flags = (unsigned)flags;
    return script_make(script, NULL);
}

static bool run_ipc_event_get(struct script *script)
{
    uint64_t event;
    if (!args_number(script, "EVENT", &event))
        return false;
    script_step(script, VMM_CALL_ipc_get_event_handle)->call.ipc_get_event_handle.event = (vmm_event)(uintptr_t)event;
    return script_make(script, NULL);
}

static bool run_ipc_event_open(struct script *script)
{
    uint64_t number;
    if (!args_number(script, "HANDLE", &number))
        return false;
    struct step *step = script_step(script, VMM_CALL_ipc_open_event_handle);
    fabrics_find(&script->fabrics, number, step->fabric);
    memcpy(&step->call.ipc_open_event_handle.handle, step->fabric, sizeof step->fabric);
    return script_make(script, NULL);
}

static bool run_ipc_close(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_ipc_close_mem_handle);
    return args_number(script, "ADDRESS", &step->call.ipc_close_mem_handle.dptr) && script_make(script, NULL);
}

static bool run_meminfo(struct script *script)
{
    script_step(script, VMM_CALL_mem_get_info);
    return script_make(script, NULL);
}

#define MEMORY "[handle=TYPES] [compression=N] [rdma=N] [usage=N] [type=N] [reserved=N] [meta=N]"

const struct script_command script_memory_commands[] = {
    {"granularity", "LOCATION [option=minimum|recommended|N] " MEMORY " [prop=null] [out=null]",
     "queries the granularity of such memory", "cuMemGetAllocationGranularity", run_granularity, false},
    {"create", "SIZE LOCATION " MEMORY " [flags=N] [prop=null] [out=null]",
     "creates physical memory without an address; names its handle", "cuMemCreate", run_create, false},
    {"release", "HANDLE", "releases one reference to the memory", "cuMemRelease", run_release, false},
    {"retain", "ADDRESS [out=null]", "retains the memory that is mapped at an address; names its handle",
     "cuMemRetainAllocationHandle", run_retain, false},
    {"properties", "HANDLE [out=null]", "queries the properties of a handle's memory", "cuMemGetAllocationPropertiesFromHandle",
     run_properties, false},
    {"export", "HANDLE [type=TYPE] [flags=N] [out=null]",
     "exports memory to other processes; names a descriptor, or a fabric handle (type=fabric)",
     "cuMemExportToShareableHandle", run_export, false},
    {"import", "DESCRIPTOR [type=TYPE] [out=null]", "imports memory that this or another process exported; names a handle",
     "cuMemImportFromShareableHandle", run_import, false},
    {"close", "DESCRIPTOR", "closes the descriptor of an export", "", run_close, false},
    {"alloc", "SIZE [stream=NAME|none] [pool=POOL] [out=null]",
     "ordinary memory, mapped and accessible at once; with a stream, in stream order from a pool",
     "cuMemAlloc, cuMemAllocAsync, cuMemAllocFromPoolAsync", run_alloc, false},
    {"freemem", "ADDRESS [stream=NAME|none]", "frees memory of alloc; with a stream, in stream order", "cuMemFree, "
        "cuMemFreeAsync",
     run_freemem, false},
    {"ipcget", "ADDRESS [out=null]", "an IPC handle of memory of alloc, for another process; names its 64 bytes",
     "cuIpcGetMemHandle",
     run_ipc_get, false},
    {"ipceventget", "EVENT [out=null]", "an IPC handle of an event, for another process; names its 64 bytes",
     "cuIpcGetEventHandle",
     run_ipc_event_get, false},
    {"ipceventopen", "HANDLE [out=null]", "opens an IPC handle of an event; names an event", "cuIpcOpenEventHandle",
     run_ipc_event_open, false},
    {"ipcopen", "HANDLE [flags=N] [out=null]", "opens another process's IPC handle of memory; names its addresses",
     "cuIpcOpenMemHandle",
     run_ipc_open, false},
    {"ipcclose", "ADDRESS", "closes what one openmem opened", "cuIpcCloseMemHandle", run_ipc_close, false},
    {"meminfo", "", "free bytes of the current context's device; NAME.total: all bytes", "cuMemGetInfo", run_meminfo,
     false},
    {0},
};
