/* SPDX-License-Identifier: Apache-2.0 */
/* Captured streams, graphs and their instances. */
#include <string.h>

#include "script_state.h"

/* ---- captures ---- */

/* By its name, or a number. */
static bool take_mode(struct script *script, vmm_stream_capture_mode *mode)
{
    static const char *const names[] = {"global", "thread", "relaxed"};
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_option(script, "mode");
    if (!word)
        return true;
    for (*mode = 0; *mode < 3; ++*mode)
        if (strcmp(word->text, names[*mode]) == 0)
            return true;
    return value_int(&env, word, mode, &error) || script_wrong_at(script, &error);
}

static bool run_capture(struct script *script)
{
    struct vmm_call_stream_begin_capture *call = &script_step(script, VMM_CALL_stream_begin_capture)->call.stream_begin_capture;
    void *stream;
    if (!args_object(script, "STREAM|none", &stream) || !take_mode(script, &call->mode))
        return false;
    call->stream = stream;
    return script_make(script, NULL);
}

static bool run_end_capture(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_stream_end_capture);
    void *stream;
    if (!args_object(script, "STREAM|none", &stream))
        return false;
    step->call.stream_end_capture.stream = stream;
    return script_make(script, NULL);
}

static bool run_capturing(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_stream_is_capturing);
    void *stream;
    if (!args_object(script, "STREAM|none", &stream))
        return false;
    step->call.stream_is_capturing.stream = stream;
    return script_make(script, NULL);
}

/* ---- graphs ---- */

static bool run_graph(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_graph_create);
    uint64_t flags = 0;
    if (!args_option_number(script, "flags", &flags))
        return false;
    step->call.graph_create.flags = (unsigned)flags;
    return script_make(script, NULL);
}

static bool run_clone(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_graph_clone);
    void *graph;
    if (!args_object(script, "GRAPH", &graph))
        return false;
    step->call.graph_clone.original_graph = graph;
    return script_make(script, NULL);
}

/* ---- nodes ---- */

/* The graph; the arguments of the kind of node follow. */
static bool take_graph(struct script *script, vmm_graph *graph)
{
    void *object;
    bool ok = args_object(script, "GRAPH", &object);
    *graph = object;
    return ok;
}

/* after={NODE ...}: the node's dependencies. */
static bool take_after(struct script *script, const vmm_graph_node **list, uint64_t *count)
{
    struct words_error error;
    struct value_env env = script_env(script);
    size_t listed = 0;
    const struct word *word = args_option(script, "after");
    if (!word)
        *list = NULL;
    else if (!value_nodes(&env, word, step_nodes(&script->step, 0), STEP_NODES, &listed, &error))
        return script_wrong_at(script, &error);
    *count = listed;
    return true;
}

static bool run_empty(struct script *script)
{
    struct vmm_call_graph_add_empty_node *call = &script_step(script, VMM_CALL_graph_add_empty_node)->call.graph_add_empty_node;
    return take_graph(script, &call->graph) && take_after(script, &call->dependencies, &call->num_dependencies) &&
           script_make(script, NULL);
}

/* As the command fill, in elements of 1, 2 or 4 bytes. */
static bool run_add_fill(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_graph_add_memset_node);
    struct vmm_call_graph_add_memset_node *call = &step->call.graph_add_memset_node;
    vmm_memset_node_params *fill = &step->fill_node;
    uint64_t size, value, element = 1, pitch = 0, height = 1, context = 0;
    if (!take_graph(script, &call->graph) || !args_number(script, "ADDRESS", &fill->dst) || !args_number(script, "SIZE", &size) ||
        !args_number(script, "VALUE", &value) || !args_option_number(script, "element", &element) ||
        !args_option_number(script, "pitch", &pitch) || !args_option_number(script, "height", &height) ||
        !args_option_number(script, "context", &context) ||
        !take_after(script, &call->dependencies, &call->num_dependencies))
        return false;
    if (value > UINT32_MAX || element > UINT32_MAX)
        return script_wrong(script, 1, "a value and the size of an element have 32 bits");
    if (element && size % element)
        return script_wrong(script, 1, "%llu bytes are no whole number of elements of %llu", (unsigned long long)size,
                            (unsigned long long)element);
    fill->value = (unsigned)value;
    fill->element_size = (unsigned)element;
    fill->width = element ? size / element : size;
    fill->pitch = pitch;
    fill->height = height;
    call->ctx = (vmm_context)(uintptr_t)context;
    return script_make(script, NULL);
}

/* As the command copybox. */
static bool run_add_copy(struct script *script)
{
    struct words_error error;
    struct value_env env = script_env(script);
    struct step *step = script_step(script, VMM_CALL_graph_add_memcpy_node);
    struct vmm_call_graph_add_memcpy_node *call = &step->call.graph_add_memcpy_node;
    const struct word *word;
    uint64_t context = 0;
    if (!take_graph(script, &call->graph) || !(word = args_next(script, "{TO FROM WIDTH HEIGHT DEPTH ...}")))
        return false;
    if (strcmp(word->text, "null") == 0)
        call->copy_params = NULL;
    else if (!value_box(&env, word, &step->box, &error))
        return script_wrong_at(script, &error);
    if (!args_option_number(script, "context", &context) || !take_after(script, &call->dependencies, &call->num_dependencies))
        return false;
    call->ctx = (vmm_context)(uintptr_t)context;
    return script_make(script, NULL);
}

static bool run_add_host(struct script *script)
{
    struct vmm_call_graph_add_host_node *call = &script_step(script, VMM_CALL_graph_add_host_node)->call.graph_add_host_node;
    return take_graph(script, &call->graph) && take_after(script, &call->dependencies, &call->num_dependencies) &&
           script_make(script, NULL);
}

static bool run_add_kernel(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_graph_add_kernel_node);
    struct vmm_call_graph_add_kernel_node *call = &step->call.graph_add_kernel_node;
    struct words_error error;
    struct value_env env = script_env(script);
    if (!take_graph(script, &call->graph))
        return false;
    const struct word *word = args_next(script, "{KERNEL ...}");
    if (!word)
        return false;
    if (!value_kernel_node(&env, word, &step->kernel_node, step->words, STEP_WORDS, &error))
        return script_wrong_at(script, &error);
    return take_after(script, &call->dependencies, &call->num_dependencies) && script_make(script, NULL);
}

static bool run_add_graph(struct script *script)
{
    struct vmm_call_graph_add_child_graph_node *call =
        &script_step(script, VMM_CALL_graph_add_child_graph_node)->call.graph_add_child_graph_node;
    return take_graph(script, &call->graph) && take_graph(script, &call->child_graph) &&
           take_after(script, &call->dependencies, &call->num_dependencies) && script_make(script, NULL);
}

static bool run_add_record(struct script *script)
{
    struct vmm_call_graph_add_event_record_node *call =
        &script_step(script, VMM_CALL_graph_add_event_record_node)->call.graph_add_event_record_node;
    void *event;
    if (!take_graph(script, &call->graph) || !args_object(script, "EVENT", &event))
        return false;
    call->event = event;
    return take_after(script, &call->dependencies, &call->num_dependencies) && script_make(script, NULL);
}

static bool run_add_wait(struct script *script)
{
    struct vmm_call_graph_add_event_wait_node *call =
        &script_step(script, VMM_CALL_graph_add_event_wait_node)->call.graph_add_event_wait_node;
    void *event;
    if (!take_graph(script, &call->graph) || !args_object(script, "EVENT", &event))
        return false;
    call->event = event;
    return take_after(script, &call->dependencies, &call->num_dependencies) && script_make(script, NULL);
}

/* One dependency; both calls have the same parameters. */
static bool run_depend(struct script *script)
{
    const bool adds = script->command->name[0] == 'd';
    struct step *step = script_step(script, adds ? VMM_CALL_graph_add_dependencies : VMM_CALL_graph_remove_dependencies);
    struct vmm_call_graph_add_dependencies *call = &step->call.graph_add_dependencies;
    void *from, *to;
    if (!take_graph(script, &call->graph) || !args_object(script, "FROM-NODE", &from) || !args_object(script, "TO-NODE", &to))
        return false;
    step_nodes(step, 1)[0] = from;
    step_nodes(step, 2)[0] = to;
    call->edge_data = NULL;
    call->num_dependencies = 1;
    return script_make(script, NULL);
}

/* ---- instances ---- */

static bool run_instantiate(struct script *script)
{
    struct vmm_call_graph_instantiate *call = &script_step(script, VMM_CALL_graph_instantiate)->call.graph_instantiate;
    return take_graph(script, &call->graph) && args_option_number(script, "flags", &call->flags) && script_make(script, NULL);
}

static bool run_launch_graph(struct script *script)
{
    struct vmm_call_graph_launch *call = &script_step(script, VMM_CALL_graph_launch)->call.graph_launch;
    void *exec;
    if (!args_object(script, "INSTANCE", &exec) || !args_stream(script, NULL, &call->stream))
        return false;
    call->graph_exec = exec;
    return script_make(script, NULL);
}

const struct script_command script_graph_commands[] = {
    {"capture", "STREAM|none [mode=global|thread|relaxed]", "begins the capture of a stream: its work becomes nodes of a graph",
     "cuStreamBeginCapture", run_capture, false},
    {"end-capture", "STREAM|none [out=null]", "ends a stream's capture; names the graph", "cuStreamEndCapture",
     run_end_capture, false},
    {"capturing", "STREAM|none [out=null]", "queries whether a stream is being captured: 0 no, 1 yes, 2 invalidated",
     "cuStreamIsCapturing",
     run_capturing, false},
    {"graph", "[flags=N] [out=null]", "creates an empty graph and names it", "cuGraphCreate", run_graph, false},
    {"clone", "GRAPH [out=null]", "copies a graph and names the copy", "cuGraphClone", run_clone, false},
    {"add-empty", "GRAPH [after={NODE ...}] [out=null]", "adds an empty node and names it", "cuGraphAddEmptyNode",
     run_empty, false},
    {"add-fill", "GRAPH ADDRESS SIZE VALUE [element=N] [pitch=N] [height=N] [context=CONTEXT] [after={NODE ...}] [out=null]",
     "adds a fill as a node and names it. For mapped memory it needs a context", "cuGraphAddMemsetNode", run_add_fill, false},
    {"add-copy", "GRAPH {TO FROM WIDTH HEIGHT DEPTH [FIELD=VALUE ...]}|null [context=CONTEXT] [after={NODE ...}] [out=null]",
     "adds a copy as by copybox as a node and names it", "cuGraphAddMemcpyNode", run_add_copy, false},
    {"add-host", "GRAPH [after={NODE ...}] [out=null]", "adds a host function without effect as a node and names it",
     "cuGraphAddHostNode", run_add_host, false},
    {"add-kernel", "GRAPH {KERNEL ...} [after={NODE ...}] [out=null]",
     "a kernel, its grid, block and arguments as a node: {fill 1 32 r0 64KiB 1}; names it", "cuGraphAddKernelNode",
     run_add_kernel, false},
    {"add-graph", "GRAPH CHILD [after={NODE ...}] [out=null]", "adds a copy of another graph as a node and names it",
     "cuGraphAddChildGraphNode", run_add_graph, false},
    {"add-record", "GRAPH EVENT [after={NODE ...}] [out=null]", "adds the record of an event as a node and names it",
     "cuGraphAddEventRecordNode", run_add_record, false},
    {"add-wait", "GRAPH EVENT [after={NODE ...}] [out=null]", "adds a wait for an event as a node and names it",
     "cuGraphAddEventWaitNode",
     run_add_wait, false},
    {"depend", "GRAPH FROM-NODE TO-NODE", "makes the second node depend on the first", "cuGraphAddDependencies",
     run_depend, false},
    {"cut", "GRAPH FROM-NODE TO-NODE", "removes the second node's dependency on the first", "cuGraphRemoveDependencies",
     run_depend, false},
    {"instantiate", "GRAPH [flags=N] [out=null]", "instantiates a graph for launches and names the instance",
     "cuGraphInstantiateWithFlags",
     run_instantiate, false},
    {"launch-graph", "INSTANCE [stream=STREAM|none]", "launches an instance: issues its nodes' work to a stream", "cuGraphLaunch",
     run_launch_graph, false},
    {0},
};
