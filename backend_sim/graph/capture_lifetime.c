/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning, continuing from other nodes, and ending a capture; and its streams and events. */
#include "capture_parts.h"

#include "heap.h"

static vmm_result check_mode(vmm_stream_capture_mode mode)
{
    return (unsigned)mode <= VMM_STREAM_CAPTURE_MODE_RELAXED
               ? VMM_SUCCESS
               : vmm_detail_refuse(VMM_RULE_CAPTURE_MODE, (uint64_t)(int64_t)mode, 0, NULL);
}

static vmm_result check_free(const struct sim_process *process, vmm_stream stream)
{
    return capture_of(process, stream) ? capture_refuse(VMM_RULE_CAPTURE_STATE, stream, "the stream is already being captured")
                                       : VMM_SUCCESS;
}

/* NULL when memory is out. */
static struct capture *begin_in(struct sim_process *process, vmm_stream stream, struct graph *graph, struct graph_node *const *nodes,
                                size_t count)
{
    struct capture *capture = capture_begin(&process->graphs->captures, capture_key(stream), graph, nodes, count);
    if (capture)
        capture->thread = capture_thread();
    capture_watch(process);
    return capture;
}

vmm_result sim_stream_begin_capture(struct sim_process *process, const struct vmm_call_stream_begin_capture *call)
{
    bool blocking = false;
    struct sim_context *context;
    vmm_result result = capture_check_stream(process, call->stream, &blocking);
    if (result == VMM_SUCCESS)
        result = check_mode(call->mode);
    if (result == VMM_SUCCESS)
        result = check_free(process, call->stream);
    if (result == VMM_SUCCESS)
        result = sim_stream_context(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    if (result != VMM_SUCCESS)
        return result;
    struct graph *graph = graphs_make(process->graphs);
    struct capture *capture = graph ? begin_in(process, call->stream, graph, NULL, 0) : NULL;
    if (!capture) {
        if (graph)
            graphs_end(graph);
        return sim_out_of_host_memory();
    }
    capture->mode = (unsigned)call->mode;
    capture->streams->blocking = blocking;
    return VMM_SUCCESS;
}

static vmm_result find_node(const struct sim_process *process, const struct graph *graph, const vmm_graph_node *values, uint64_t i,
                            struct graph_node **node)
{
    /* analysers: clang-analyzer-core.NullDereference is wrong: a list with entries is not NULL, as the callers have checked */
    *node = graphs_find_node(process->graphs, values[i]);
    if (*node && (*node)->graph == graph)
        return VMM_SUCCESS;
    return graph_refuse(VMM_RULE_GRAPH_NODE, (uint64_t)(uintptr_t)values[i], "dependencies[%llu] is not a node of that graph",
                        (unsigned long long)i);
}

static vmm_result find_nodes(const struct sim_process *process, const struct graph *graph,
                             const vmm_graph_node *values, uint64_t count, struct graph_node **nodes)
{
    vmm_result result = VMM_SUCCESS;
    for (uint64_t i = 0; i < count && result == VMM_SUCCESS; i++)
        result = find_node(process, graph, values, i, &nodes[i]);
    return result;
}

vmm_result sim_stream_begin_capture_to_graph(struct sim_process *process,
                                             const struct vmm_call_stream_begin_capture_to_graph *call)
{
    bool blocking = false;
    struct capture *capture = NULL;
    vmm_result result = check_mode(call->mode);
    struct graph *graph = result == VMM_SUCCESS ? graph_need(process->graphs, call->graph, &result) : NULL;
    if (!graph)
        return result;
    result = capture_check_stream(process, call->stream, &blocking); /* as measured, after the graph is checked */
    if (result == VMM_SUCCESS)
        result = check_free(process, call->stream);
    if (result == VMM_SUCCESS && call->num_dependencies && !call->dependencies) /* as measured, after the stream's state */
        result = graph_null("dependencies");
    if (result != VMM_SUCCESS)
        return result;
    if (call->num_dependencies > graph->count)
        return graph_refuse_value(VMM_RULE_GRAPH_EDGE, "numDependencies", call->num_dependencies, "the graph has fewer nodes");
    struct graph_node **nodes = heap.malloc((call->num_dependencies + 1) * sizeof *nodes);
    result = nodes ? find_nodes(process, graph, call->dependencies, call->num_dependencies, nodes) : sim_out_of_host_memory();
    if (result == VMM_SUCCESS)
        result = graph_check_edge_data(call->dependency_data, call->num_dependencies);
    if (result == VMM_SUCCESS && capture_into(&process->graphs->captures, graph)) /* as measured, last */
        result = graph_refuse(VMM_RULE_CAPTURE_STATE, graph->value, "another stream is already being captured into that graph");
    if (result == VMM_SUCCESS && !(capture = begin_in(process, call->stream, graph, nodes, call->num_dependencies)))
        result = sim_out_of_host_memory();
    heap.free(nodes);
    if (!capture)
        return result;
    capture->mode = (unsigned)call->mode;
    capture->streams->blocking = blocking;
    capture->given = true;
    return VMM_SUCCESS;
}

vmm_result sim_stream_is_capturing(struct sim_process *process, const struct vmm_call_stream_is_capturing *call)
{
    struct sim_context *context;
    if (!call->capture_status)
        return graph_null("captureStatus");
    vmm_result result = sim_stream_context(process, call->stream, &context);
    if (result != VMM_SUCCESS)
        return result;
    *call->capture_status = capture_status(process, call->stream);
    return VMM_SUCCESS;
}

/* ---- the end ---- */

bool capture_within(const struct sim_process *process, const struct graph *graph)
{
    for (const struct capture *capture = process->graphs->captures.first; capture; capture = capture->next)
        for (const struct graph *in = capture->graph; in; in = graphs_more(in)->inside ? graphs_more(in)->inside->graph : NULL)
            if (in == graph)
                return true;
    return false;
}

/* Ends the capture; keep: the graph belongs to the program, now or still. A node's graph stays with the node, and a graph
 * stays if a stream is being captured into the graph of one of its nodes. */
static void leave(struct sim_process *process, struct capture *capture, bool keep)
{
    struct graph *made = keep || graphs_more(capture->graph)->inside ? NULL : capture->graph;
    capture_end(&process->graphs->captures, capture);
    if (made && !capture_within(process, made))
        graphs_end(made);
    capture_watch(process);
}

/* As measured what the stream has reached becomes the graph's last leaves, as if a node had followed it for a moment. */
static void reach_last(struct capture_stream *origin)
{
    for (size_t i = 0; i < origin->reached.count; i++)
        graph_last_leaf(origin->reached.node[i]);
}

/* Ends the capture of the stream that began it. */
static vmm_result end(struct sim_process *process, struct capture_stream *found, vmm_graph *graph)
{
    vmm_result result = VMM_SUCCESS;
    struct capture *capture = found->capture;
    const uint64_t value = capture->graph->value, stream = capture->origin;
    if (capture->invalid)
        result = graph_refuse(VMM_RULE_CAPTURE_INVALIDATED, stream, "there is no graph");
    else if (!capture_joined(capture))
        result = graph_refuse(VMM_RULE_CAPTURE_UNJOINED, stream, "a stream that joined the capture has work that this one does not "
                              "wait for");
    else if (graph)
        *graph = (vmm_graph)(uintptr_t)value;
    if (result == VMM_SUCCESS)
        reach_last(found);
    leave(process, capture, result == VMM_SUCCESS && (graph || capture->given));
    return result;
}

vmm_result sim_stream_end_capture(struct sim_process *process, const struct vmm_call_stream_end_capture *call)
{
    bool blocking = false;
    vmm_result result = capture_is_legacy(call->stream) ? capture_check_context(process, call->stream)
                                                        : capture_check_stream(process, call->stream, &blocking);
    if (call->graph)
        *call->graph = NULL; /* written in any case, as recorded */
    if (result != VMM_SUCCESS)
        return result;
    struct capture_stream *found = capture_is_legacy(call->stream) ? NULL : capture_of(process, call->stream);
    if (!found)
        return capture_refuse(VMM_RULE_CAPTURE_STATE, call->stream, "the stream is not being captured");
    struct capture *capture = found->capture;
    if (!capture->invalid && capture->mode != VMM_STREAM_CAPTURE_MODE_RELAXED && capture->thread != capture_thread()) {
        leave(process, capture, false); /* as measured, a capture that the wrong thread ends is over */
        return capture_refuse(VMM_RULE_CAPTURE_THREAD, call->stream,
                            "another thread began the capture, in a mode other than RELAXED");
    }
    if (capture->origin == found->key)
        return end(process, found, call->graph);
    capture->invalid = true;
    return graph_refuse(VMM_RULE_CAPTURE_UNMATCHED, found->key, "the stream joined a capture that another stream began");
}

/* ---- the dependencies of the next work ---- */

/* As measured a node may be listed twice, so the graph does not bound how long the list may be: room is made as nodes are
 * found. */
static vmm_result list_nodes(const struct sim_process *process, const struct graph *graph, const vmm_graph_node *values,
                             uint64_t count, struct graph_node ***nodes)
{
    vmm_result result = VMM_SUCCESS;
    size_t room = 0;
    for (uint64_t i = 0; i < count && result == VMM_SUCCESS; i++) {
        if (i == room) {
            struct graph_node **grown = heap_grow(*nodes, &room, 16, sizeof *grown);
            if (!grown)
                return sim_out_of_host_memory();
            *nodes = grown;
        }
        result = find_node(process, graph, values, i, &(*nodes)[i]);
    }
    return result;
}

vmm_result capture_update(const struct sim_process *process, vmm_stream stream, const vmm_graph_node *values,
                          const vmm_graph_edge_data *data, uint64_t count, unsigned flags)
{
    enum { SET = 1 };
    bool blocking = false;
    if (capture_status(process, stream) == VMM_STREAM_CAPTURE_STATUS_INVALIDATED)
        return capture_invalidated(stream);
    if (flags > SET && capture_of(process, stream))
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, "it is 0 or CU_STREAM_SET_CAPTURE_DEPENDENCIES");
    vmm_result result = capture_is_legacy(stream) ? capture_check_context(process, stream) /* that one is never captured */
                                                  : capture_check_stream(process, stream, &blocking);
    if (result == VMM_SUCCESS)
        result = capture_goes_on(process, stream); /* as measured, before the list is checked */
    if (result == VMM_SUCCESS && count && !values)
        result = graph_null("dependencies");
    if (result != VMM_SUCCESS)
        return result;
    struct capture_stream *found = capture_of(process, stream);
    struct graph_node **nodes = NULL;
    if (count > UINT32_MAX)
        return graph_refuse_value(VMM_RULE_GRAPH_EDGE, "numDependencies", count, "a graph has fewer nodes");
    result = list_nodes(process, found->capture->graph, values, count, &nodes);
    if (result == VMM_SUCCESS)
        result = graph_check_edge_data(data, count);
    if (result == VMM_SUCCESS && flags && found->key == found->capture->origin)
        capture_keep_joined(found->capture);
    if (result == VMM_SUCCESS && !(flags ? capture_set : capture_reach)(found, nodes, count))
        result = sim_out_of_host_memory();
    if (result == VMM_SUCCESS && flags)
        found->worked = false; /* no one needs to wait for what it has now, as measured on an H200 */
    heap.free(nodes);
    return result;
}

vmm_result sim_stream_update_capture_dependencies(struct sim_process *process,
                                                  const struct vmm_call_stream_update_capture_dependencies *call)
{
    return capture_update(process, call->stream, call->dependencies, call->dependency_data, call->num_dependencies, call->flags);
}

/* ---- streams and events that end ---- */

static void end_stream(struct sim_process *process, struct capture_stream *found)
{
    if (found->capture->origin == found->key)
        leave(process, found->capture, false);
    else
        capture_forget_stream(&process->graphs->captures, found->key);
}

void capture_stream_ends(struct sim_process *process, vmm_stream stream)
{
    struct capture_stream *found = capture_of(process, stream);
    if (found)
        end_stream(process, found);
}

void capture_event_ends(const struct sim_process *process, vmm_event event)
{
    capture_event_drop(&process->graphs->captures, (uint64_t)(uintptr_t)event);
    capture_watch(process);
}

/* A stream that ended with its context; NULL if there is none. */
static struct capture_stream *ended_stream(const struct sim_process *process)
{
    void *object;
    for (const struct capture *capture = process->graphs->captures.first; capture; capture = capture->next)
        for (struct capture_stream *stream = capture->streams; stream; stream = stream->next)
            if (slots_find(&process->streams, stream->key, &object) == SLOT_STALE)
                return stream;
    return NULL;
}

void capture_done(struct sim_process *process, const struct vmm_call *call)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    struct capture_stream *ended;
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_stream_destroy:
    case VMM_CALL_ctx_destroy:
    case VMM_CALL_device_primary_ctx_release:
    case VMM_CALL_device_primary_ctx_reset:
        while ((ended = ended_stream(process)))
            end_stream(process, ended);
        break;
    case VMM_CALL_event_record: /* in a stream that is not captured */
    case VMM_CALL_event_destroy:
        capture_event_ends(process, any->event_record.event);
        break;
    default: break;
    }
}
