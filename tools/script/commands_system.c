/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about the backend, devices, contexts and streams. */
#include <string.h>

#include "script_state.h"
#include "spec_trust.h"

/* Users choose what they name on the command line; a script may come from anywhere. */
static bool is_trusted(struct script *script, const struct word *word)
{
    struct text does = {0};
    bool needs = !script->options.trusted && spec_needs_trust(word->text, &does);
    if (needs)
        script_wrong(script, word->column,
                     "this %s: pass --trust if the script may do that, or choose another machine with --backend SPEC",
                     does.data);
    text_free(&does);
    return !needs;
}

static bool run_backend(struct script *script)
{
    const struct word *word = args_next(script, "SPEC");
    if (!word || !args_done(script))
        return false;
    if (script->options.backend) {
        if (!script->options.quiet)
            fprintf(script->options.out, "  --backend %s is used instead\n", script->options.backend);
        return true;
    }
    return is_trusted(script, word) && script_open(script, word->text);
}

static bool run_init(struct script *script)
{
    int flags = 0;
    struct step *step = script_step(script, VMM_CALL_init);
    if (args_more(script) && !args_int(script, "FLAGS", &flags))
        return false;
    step->call.init.flags = (unsigned)flags;
    return script_make(script, NULL);
}

/* dev0 and dev-1, or a bare number: an ordinal as the driver takes it. */
static bool take_device(struct script *script, int *out)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, "the device");
    vmm_mem_location location;
    if (!word)
        return false;
    if (strncmp(word->text, "dev", 3) != 0)
        return value_int(&env, word, out, &error) || script_wrong_at(script, &error);
    if (!value_location(&env, word, &location, &error))
        return script_wrong_at(script, &error);
    *out = location.id;
    return true;
}

static bool run_version(struct script *script)
{
    script_step(script, VMM_CALL_driver_get_version);
    return script_make(script, NULL);
}

static bool run_devices(struct script *script)
{
    script_step(script, VMM_CALL_device_get_count);
    return script_make(script, NULL);
}

static bool run_device(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_device_get);
    return take_device(script, &step->call.device_get.ordinal) && script_make(script, NULL);
}

static bool run_name(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_device_get_name);
    int length = STEP_TEXT;
    if (!take_device(script, &step->call.device_get_name.dev) || !args_option_int(script, "length", &length))
        return false;
    if (length > STEP_TEXT)
        return script_wrong(script, 1, "length=%d; the script has room for %d", length, STEP_TEXT);
    step->call.device_get_name.len = length;
    return script_make(script, NULL);
}

static bool run_attribute(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_device_get_attribute);
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, "ATTRIBUTE");
    int *attribute = &step->call.device_get_attribute.attrib;
    if (!word)
        return false;
    if (!step_device_attribute_find(word->text, attribute) && !value_int(&env, word, attribute, &error))
        return script_wrong(script, word->column,
                            "\"%.60s\" is not the name of a known device attribute; the number in cuda.h works, too",
                            word->text);
    return take_device(script, &step->call.device_get_attribute.dev) && script_make(script, NULL);
}

static bool run_total(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_device_total_mem);
    return take_device(script, &step->call.device_total_mem.dev) && script_make(script, NULL);
}

static bool run_peer(struct script *script)
{
    struct vmm_call_device_can_access_peer *call =
        &script_step(script, VMM_CALL_device_can_access_peer)->call.device_can_access_peer;
    return take_device(script, &call->dev) && take_device(script, &call->peer_dev) && script_make(script, NULL);
}

static bool run_context(struct script *script)
{
    struct vmm_call_ctx_create *call = &script_step(script, VMM_CALL_ctx_create)->call.ctx_create;
    uint64_t flags = 0;
    if (!take_device(script, &call->dev) || !args_option_number(script, "flags", &flags))
        return false;
    call->flags = (unsigned)flags;
    return script_make(script, NULL);
}

static bool run_primary(struct script *script)
{
    const struct script_command *command = script->command;
    bool release = strcmp(command->name, "primary-release") == 0, reset = strcmp(command->name, "primary-reset") == 0;
    struct step *step = script_step(script, release ? VMM_CALL_device_primary_ctx_release
                                            : reset ? VMM_CALL_device_primary_ctx_reset
                                                    : VMM_CALL_device_primary_ctx_retain);
    int *device = release ? &step->call.device_primary_ctx_release.dev
                  : reset ? &step->call.device_primary_ctx_reset.dev
                          : &step->call.device_primary_ctx_retain.dev;
    return take_device(script, device) && script_make(script, NULL);
}

static bool run_use(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_ctx_set_current);
    void *context;
    if (!args_object(script, "CONTEXT", &context))
        return false;
    step->call.ctx_set_current.ctx = context;
    return script_make(script, NULL);
}

static bool run_current(struct script *script)
{
    script_step(script, strcmp(script->command->name, "current") == 0 ? VMM_CALL_ctx_get_current
                                                                      : VMM_CALL_ctx_get_device);
    return script_make(script, NULL);
}

/* Commands that take a stream or an event take the value for an event if it is one of the script's. */
static bool is_named(const struct script *script, enum symbol_kind kind, const void *object)
{
    return symbols_named(&script->symbols, kind, (uint64_t)(uintptr_t)object) != NULL;
}

static bool run_destroy(struct script *script)
{
    void *object;
    if (!args_object(script, "CONTEXT, STREAM, EVENT, POOL, ARRAY, GRAPH, NODE or INSTANCE", &object))
        return false;
    static const struct {
        enum symbol_kind kind;
        enum vmm_call_id call;
    } ends[] = {{SYMBOL_STREAM, VMM_CALL_stream_destroy}, {SYMBOL_EVENT, VMM_CALL_event_destroy},
                {SYMBOL_POOL, VMM_CALL_mem_pool_destroy}, {SYMBOL_GRAPH, VMM_CALL_graph_destroy},
                {SYMBOL_NODE, VMM_CALL_graph_destroy_node}, {SYMBOL_EXEC, VMM_CALL_graph_exec_destroy}};
    enum vmm_call_id id = VMM_CALL_ctx_destroy;
    const struct symbol *array = symbols_named(&script->symbols, SYMBOL_ARRAY, (uint64_t)(uintptr_t)object);
    if (array)
        id = array->size ? VMM_CALL_mipmapped_array_destroy : VMM_CALL_array_destroy;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && id == VMM_CALL_ctx_destroy; i++)
        if (is_named(script, ends[i].kind, object))
            id = ends[i].call;
    script_step(script, id)->call.ctx_destroy.ctx = object; /* each has a single parameter */
    return script_make(script, NULL);
}

static bool run_stream(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_stream_create);
    uint64_t flags = VMM_STREAM_DEFAULT;
    if (!args_option_number(script, "flags", &flags))
        return false;
    step->call.stream_create.flags = (unsigned)flags;
    return script_make(script, NULL);
}

static bool run_sync(struct script *script)
{
    void *stream;
    if (!args_more(script)) {
        script_step(script, VMM_CALL_ctx_synchronize);
        return script_make(script, NULL);
    }
    if (!args_object(script, "STREAM or EVENT", &stream))
        return false;
    if (is_named(script, SYMBOL_EVENT, stream))
        script_step(script, VMM_CALL_event_synchronize)->call.event_synchronize.event = stream;
    else
        script_step(script, VMM_CALL_stream_synchronize)->call.stream_synchronize.stream = stream;
    return script_make(script, NULL);
}

static bool run_ready(struct script *script)
{
    void *stream;
    if (!args_object(script, "STREAM or EVENT", &stream))
        return false;
    if (is_named(script, SYMBOL_EVENT, stream))
        script_step(script, VMM_CALL_event_query)->call.event_query.event = stream;
    else
        script_step(script, VMM_CALL_stream_query)->call.stream_query.stream = stream;
    return script_make(script, NULL);
}

static bool run_event(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_event_create);
    uint64_t flags = VMM_EVENT_DEFAULT;
    if (!args_option_number(script, "flags", &flags))
        return false;
    step->call.event_create.flags = (unsigned)flags;
    return script_make(script, NULL);
}

static bool run_record(struct script *script)
{
    void *event, *stream = NULL;
    if (!args_object(script, "EVENT", &event) || (args_more(script) && !args_object(script, "STREAM", &stream)))
        return false;
    struct vmm_call_event_record *call = &script_step(script, VMM_CALL_event_record)->call.event_record;
    call->event = event;
    call->stream = stream;
    return script_make(script, NULL);
}

static bool run_wait(struct script *script)
{
    void *event, *stream;
    uint64_t flags = VMM_EVENT_WAIT_DEFAULT;
    if (!args_object(script, "STREAM", &stream) || !args_object(script, "EVENT", &event) ||
        !args_option_number(script, "flags", &flags))
        return false;
    struct vmm_call_stream_wait_event *call = &script_step(script, VMM_CALL_stream_wait_event)->call.stream_wait_event;
    call->stream = stream;
    call->event = event;
    call->flags = (unsigned)flags;
    return script_make(script, NULL);
}

const struct script_command script_system_commands[] = {
    {"backend", "SPEC", "starts over on another machine: sim:h200x2, sim:odd,strict, ...", "", run_backend, false},
    {"process", "NAME", "continues as another process of the machine; main is the first", "", script_run_process, false},
    {"init", "[FLAGS]", "initialises the driver; nothing else works before it", "cuInit", run_init, false},
    {"version", "", "queries the newest CUDA version that the driver supports", "cuDriverGetVersion", run_version, false},
    {"devices", "", "queries the number of devices", "cuDeviceGetCount", run_devices, false},
    {"device", "DEVICE", "the device with an ordinal", "cuDeviceGet", run_device, false},
    {"name", "DEVICE [length=N]", "the device's name", "cuDeviceGetName", run_name, false},
    {"attribute", "ATTRIBUTE DEVICE", "queries an attribute of a device", "cuDeviceGetAttribute", run_attribute, false},
    {"total", "DEVICE", "queries a device's memory in bytes", "cuDeviceTotalMem", run_total, false},
    {"peer", "DEVICE DEVICE", "queries whether the first device can access memory of the second", "cuDeviceCanAccessPeer",
     run_peer,
     false},
    {"context", "DEVICE [flags=N]", "creates a context and makes it current", "cuCtxCreate", run_context, false},
    {"primary", "DEVICE", "retains a device's primary context", "cuDevicePrimaryCtxRetain", run_primary, false},
    {"primary-release", "DEVICE", "releases a device's primary context", "cuDevicePrimaryCtxRelease", run_primary, false},
    {"primary-reset", "DEVICE", "destroys what the primary context holds", "cuDevicePrimaryCtxReset", run_primary,
     false},
    {"use", "CONTEXT|none", "makes a context current", "cuCtxSetCurrent", run_use, false},
    {"current", "", "the current context", "cuCtxGetCurrent", run_current, false},
    {"current-device", "", "the current context's device", "cuCtxGetDevice", run_current, false},
    {"destroy", "CONTEXT|STREAM|EVENT|POOL|ARRAY|GRAPH|NODE|INSTANCE",
     "destroys a context, stream, event, memory pool, array, graph, node or instance",
     "cuCtxDestroy, cuStreamDestroy, cuEventDestroy, cuMemPoolDestroy, cuGraphDestroy, cuGraphDestroyNode, cuGraphExecDestroy",
     run_destroy, false},
    {"stream", "[flags=N]", "creates a stream in the current context", "cuStreamCreate", run_stream, false},
    {"sync", "[STREAM|EVENT]", "waits for all work, for that of a stream, or for an event",
     "cuCtxSynchronize, cuStreamSynchronize, cuEventSynchronize", run_sync, false},
    {"ready", "STREAM|EVENT", "queries whether the work of a stream or event is done", "cuStreamQuery, cuEventQuery",
     run_ready, false},
    {"event", "[flags=N]", "creates an event in the current context", "cuEventCreate", run_event, false},
    {"record", "EVENT [STREAM|none]", "records the event: it stands for the stream's work up to here", "cuEventRecord",
     run_record,
     false},
    {"wait", "STREAM|none EVENT [flags=N]", "orders the stream's later work after the event's", "cuStreamWaitEvent",
     run_wait, false},
    {0},
};
