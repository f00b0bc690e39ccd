/* SPDX-License-Identifier: Apache-2.0 */
/* Captured streams: their work becomes nodes of a graph and does not run.
 *
 *     begin capture on S     S: ACTIVE
 *     fill on S              a node, which depends on what S has reached (capture.h)
 *     wait or query on S     CAPTURE_UNSUPPORTED            S: INVALIDATED
 *     fill on S              CAPTURE_INVALIDATED
 *     end capture on S       CAPTURE_INVALIDATED, no graph  S: NONE
 *
 * A call that is refused because a stream is captured invalidates the capture, with all streams that have joined it. In the modes
 * GLOBAL and THREAD_LOCAL so do vmm_mem_alloc and other calls that no graph could hold. Other calls work as usual, including those
 * of virtual memory management, as measured.
 */
#include "call_capture.h"

#include "graph_alloc.h"
#include "heap.h"
#include "kernels.h"
#include "pools.h"
#include "rows.h"

static _Thread_local char here;
static _Thread_local vmm_stream_capture_mode thread_mode; /* at first GLOBAL */

static uint64_t this_thread(void)
{
    return (uint64_t)(uintptr_t)&here;
}

/* The key of a stream in captures; the default stream of a thread has one for each thread. */
static uint64_t key_of(vmm_stream stream)
{
    return stream == VMM_STREAM_PER_THREAD ? this_thread() : (uint64_t)(uintptr_t)stream;
}

static bool is_legacy(vmm_stream stream)
{
    return !stream || stream == VMM_STREAM_LEGACY;
}

/* Refuses by a rule about the stream, whose value is shown unless it is the default one. */
static vmm_result refuse(enum vmm_rule_id rule, vmm_stream stream, const char *note)
{
    return graph_refuse(rule, is_legacy(stream) || stream == VMM_STREAM_PER_THREAD ? 0 : (uint64_t)(uintptr_t)stream, "%s", note);
}

struct capture_stream *capture_of(const struct sim_process *process, vmm_stream stream)
{
    return capture_find(&process->graphs->captures, key_of(stream));
}

static void watch(const struct sim_process *process)
{
    const struct captures *captures = &process->graphs->captures;
    process->graphs->watched = !process->graphs->shown && (captures->first || captures->events);
}

vmm_stream_capture_status capture_status(const struct sim_process *process, vmm_stream stream)
{
    const struct capture_stream *found = capture_of(process, stream);
    return !found                    ? VMM_STREAM_CAPTURE_STATUS_NONE
           : found->capture->invalid ? VMM_STREAM_CAPTURE_STATUS_INVALIDATED
                                     : VMM_STREAM_CAPTURE_STATUS_ACTIVE;
}

void capture_spoil(const struct sim_process *process, vmm_stream stream)
{
    const struct capture_stream *found = capture_of(process, stream);
    if (found)
        found->capture->invalid = true;
}

/* ---- refusals ---- */

static vmm_result invalidated(vmm_stream stream)
{
    return refuse(VMM_RULE_CAPTURE_INVALIDATED, stream, "end it with cuStreamEndCapture");
}

/* Does this capture forbid this thread calls that a graph cannot hold? */
static bool forbids(const struct capture *capture, bool always)
{
    if (always)
        return true;
    if (thread_mode == VMM_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == this_thread())
        return capture->mode != VMM_STREAM_CAPTURE_MODE_RELAXED;
    return capture->mode == VMM_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == VMM_STREAM_CAPTURE_MODE_GLOBAL;
}

vmm_stream_capture_mode capture_exchange_mode(vmm_stream_capture_mode mode)
{
    vmm_stream_capture_mode before = thread_mode; /* any value is accepted, as measured */
    thread_mode = mode;
    return before;
}

vmm_result capture_forbids(struct sim_process *process, bool always)
{
    bool any = false;
    for (struct capture *capture = process->graphs->captures.first; capture; capture = capture->next)
        if (forbids(capture, always))
            any = capture->invalid = true;
    if (!any)
        return VMM_SUCCESS;
    return graph_refuse(VMM_RULE_CAPTURE_FORBIDS, 0, "%s: the call has invalidated the capture", always
                        ? "captured work does not run, so there is nothing to wait for"
                        : "a stream is being captured in a mode that forbids this call; the mode RELAXED allows it");
}

vmm_result capture_holds_no(const struct sim_process *process, vmm_stream stream, const char *work)
{
    if (!capture_of(process, stream))
        return VMM_SUCCESS;
    return graph_refuse(VMM_RULE_CAPTURE_FORBIDS, key_of(stream), "the stream is captured, and no graph holds a %s", work);
}

vmm_result capture_implicit(const struct sim_process *process, vmm_stream stream, bool asks)
{
    bool any = false;
    if (!is_legacy(stream))
        return VMM_SUCCESS;
    for (struct capture *capture = process->graphs->captures.first; capture; capture = capture->next)
        for (const struct capture_stream *at = capture->streams; at; at = at->next)
            if (at->blocking) {
                any = true;
                capture->invalid |= !asks;
            }
    return any ? refuse(VMM_RULE_CAPTURE_IMPLICIT, stream, asks ? "" : "the call has invalidated the capture") : VMM_SUCCESS;
}

static vmm_result implicit(const struct sim_process *process, vmm_stream stream)
{
    return capture_implicit(process, stream, false);
}

vmm_result capture_goes_on(const struct sim_process *process, vmm_stream stream)
{
    const struct capture_stream *found = capture_of(process, stream);
    if (!found)
        return refuse(VMM_RULE_CAPTURE_STATE, stream, "the stream is not being captured");
    return found->capture->invalid ? invalidated(stream) : VMM_SUCCESS;
}

/* ---- begin ---- */

/* Only a stream that a call created, or the thread's own default stream, can be captured. */
static vmm_result check_stream(const struct sim_process *process, vmm_stream stream, bool *blocking)
{
    struct sim_stream *found = NULL;
    if (is_legacy(stream))
        return refuse(VMM_RULE_CAPTURE_DEFAULT, stream, "the legacy default stream cannot be captured");
    vmm_result result = stream == VMM_STREAM_PER_THREAD ? VMM_SUCCESS : sim_stream_check(process, stream, &found);
    *blocking = !found || !found->non_blocking;
    return result;
}

static vmm_result check_begin(const struct sim_process *process, vmm_stream stream, vmm_stream_capture_mode mode, bool *blocking)
{
    vmm_result result = check_stream(process, stream, blocking);
    if (result != VMM_SUCCESS)
        return result;
    if ((unsigned)mode > VMM_STREAM_CAPTURE_MODE_RELAXED)
        return vmm_detail_refuse(VMM_RULE_CAPTURE_MODE, (uint64_t)(int64_t)mode, 0, NULL);
    if (capture_of(process, stream))
        return refuse(VMM_RULE_CAPTURE_STATE, stream, "the stream is already being captured");
    return VMM_SUCCESS;
}

/* NULL when memory is out. */
static struct capture *begin_in(struct sim_process *process, vmm_stream stream, struct graph *graph, struct graph_node *const *nodes,
                                size_t count)
{
    struct capture *capture = capture_begin(&process->graphs->captures, key_of(stream), graph, nodes, count);
    if (capture)
        capture->thread = this_thread();
    watch(process);
    return capture;
}

vmm_result sim_stream_begin_capture(struct sim_process *process, const struct vmm_call_stream_begin_capture *call)
{
    bool blocking = false;
    struct sim_context *context;
    vmm_result result = check_begin(process, call->stream, call->mode, &blocking);
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
    vmm_result result = check_begin(process, call->stream, call->mode, &blocking);
    if (result == VMM_SUCCESS && call->num_dependencies && !call->dependencies)
        result = graph_null("dependencies");
    struct graph *graph = result == VMM_SUCCESS ? graph_need(process->graphs, call->graph, &result) : NULL;
    if (!graph)
        return result;
    if (graphs_more(graph)->inside) /* not recorded, and a node may end at any time */
        return graph_refuse(VMM_RULE_GRAPH_UNKNOWN, graph->value, "%p belongs to a node, and nothing is captured into it",
                            (void *)call->graph);
    if (capture_into(&process->graphs->captures, graph))
        return graph_refuse(VMM_RULE_CAPTURE_STATE, graph->value, "a stream is being captured into that graph already");
    if (call->num_dependencies > graph->count)
        return graph_refuse_value(VMM_RULE_GRAPH_EDGE, "numDependencies", call->num_dependencies, "the graph has fewer nodes");
    struct graph_node **nodes = heap.malloc((call->num_dependencies + 1) * sizeof *nodes);
    result = nodes ? find_nodes(process, graph, call->dependencies, call->num_dependencies, nodes) : sim_out_of_host_memory();
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

/* ---- end ---- */

/* Ends the capture; keep: the graph is the program's now, or still. */
static void leave(struct sim_process *process, struct capture *capture, bool keep)
{
    struct graph *made = keep ? NULL : capture->graph;
    capture_end(&process->graphs->captures, capture);
    if (made)
        graphs_end(made);
    watch(process);
}

/* Ends the capture of the stream that began it. */
static vmm_result end(struct sim_process *process, struct capture *capture, vmm_graph *graph)
{
    vmm_result result = VMM_SUCCESS;
    const uint64_t value = capture->graph->value, stream = capture->origin;
    if (capture->invalid)
        result = graph_refuse(VMM_RULE_CAPTURE_INVALIDATED, stream, "there is no graph");
    else if (!capture_joined(capture))
        result = graph_refuse(VMM_RULE_CAPTURE_UNJOINED, stream, "a stream that joined the capture has work that this one does not "
                              "wait for");
    else if (graph)
        *graph = (vmm_graph)(uintptr_t)value;
    leave(process, capture, result == VMM_SUCCESS && (graph || capture->given));
    return result;
}

vmm_result sim_stream_end_capture(struct sim_process *process, const struct vmm_call_stream_end_capture *call)
{
    bool blocking = false;
    vmm_result result = is_legacy(call->stream) ? VMM_SUCCESS : check_stream(process, call->stream, &blocking);
    if (call->graph)
        *call->graph = NULL; /* written in any case, as recorded */
    if (result != VMM_SUCCESS)
        return result;
    struct capture_stream *found = is_legacy(call->stream) ? NULL : capture_of(process, call->stream);
    if (!found)
        return refuse(VMM_RULE_CAPTURE_STATE, call->stream, "the stream is not being captured");
    struct capture *capture = found->capture;
    if (!capture->invalid && capture->mode != VMM_STREAM_CAPTURE_MODE_RELAXED && capture->thread != this_thread()) {
        leave(process, capture, false); /* as measured, a capture that the wrong thread ends is over */
        return refuse(VMM_RULE_CAPTURE_THREAD, call->stream,
                            "another thread began the capture, in a mode other than RELAXED");
    }
    if (capture->origin == found->key)
        return end(process, capture, call->graph);
    capture->invalid = true;
    return graph_refuse(VMM_RULE_CAPTURE_UNMATCHED, found->key, "the stream joined a capture that another stream began");
}

/* ---- work as nodes ---- */

static vmm_context current(const struct sim_process *process)
{
    return (vmm_context)(uintptr_t)context_stack_get(&process->current);
}

/* What the stream goes on from once the node is there. False if it cannot: the node has ended. */
static bool go_on(struct capture_stream *stream, struct graph_node *node, vmm_result *result)
{
    if (!node || capture_set(stream, &node, 1))
        return node != NULL;
    graphs_end_node(node);
    *result = sim_out_of_host_memory();
    return false;
}

vmm_result capture_add(const struct sim_process *process, vmm_stream stream, const struct graph_work *work)
{
    struct capture_stream *found = capture_of(process, stream);
    struct graph_node *node = graphs_add(found->capture->graph, found->reached.node, NULL, found->reached.count, work);
    vmm_result result = node ? VMM_SUCCESS : sim_out_of_host_memory();
    go_on(found, node, &result);
    return result;
}

/* Its memory is looked at when the graph is instantiated, as measured. */
vmm_result capture_add_fill(const struct sim_process *process, vmm_stream stream, const vmm_memset_node_params *fill)
{
    if (!fill->width || !fill->height)
        return VMM_SUCCESS;
    if (fill->dst % fill->element_size)
        return vmm_detail_refuse(VMM_RULE_SET_ALIGNMENT, fill->dst, fill->element_size, NULL);
    if (fill->height > 1 && (fill->pitch < fill->width * fill->element_size || fill->pitch % fill->element_size))
        return graph_refuse_value(VMM_RULE_ROWS_PITCH, "dstPitch", fill->pitch, "expected a multiple of an element's size that a row "
                                  "fits in");
    return capture_add(process, stream, &(const struct graph_work){.type = VMM_GRAPH_NODE_TYPE_MEMSET, .context = current(process),
                                                                   .fill = *fill});
}

static vmm_result add_fill(const struct sim_process *process, vmm_stream stream, uint64_t dst, unsigned value, unsigned size,
                           uint64_t count)
{
    return capture_add_fill(process, stream, &(const vmm_memset_node_params){.dst = dst, .value = value, .element_size = size,
                                                                             .width = count, .height = 1});
}

vmm_result capture_add_copy(const struct sim_process *process, vmm_stream stream, const vmm_memcpy3d *copy)
{
    struct sim_context *context;
    const struct graph_work work = {.type = VMM_GRAPH_NODE_TYPE_MEMCPY, .context = current(process), .copy = *copy};
    vmm_result result = sim_stream_context(process, stream, &context);
    if (result != VMM_SUCCESS || !copy->width_in_bytes || !copy->height || !copy->depth)
        return result;
    result = rows_check_copy(process, graph_device(process, work.context), copy, graph_planned_in);
    return result == VMM_SUCCESS ? capture_add(process, stream, &work) : result;
}

static vmm_result add_line(const struct sim_process *process, vmm_stream stream, const union vmm_any_call *call)
{
    vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .height = 1, .depth = 1};
    switch ((enum vmm_call_id)call->head.id) {
    case VMM_CALL_memcpy_htod_async:
        copy.src_memory_type = VMM_MEMORYTYPE_HOST;
        copy.src_host = call->memcpy_htod_async.src;
        copy.dst_device = call->memcpy_htod_async.dst;
        copy.width_in_bytes = call->memcpy_htod_async.byte_count;
        break;
    case VMM_CALL_memcpy_dtoh_async:
        copy.src_device = call->memcpy_dtoh_async.src;
        copy.dst_memory_type = VMM_MEMORYTYPE_HOST;
        copy.dst_host = call->memcpy_dtoh_async.dst;
        copy.width_in_bytes = call->memcpy_dtoh_async.byte_count;
        break;
    default:
        copy.src_device = call->memcpy_dtod_async.src;
        copy.dst_device = call->memcpy_dtod_async.dst;
        copy.width_in_bytes = call->memcpy_dtod_async.byte_count;
    }
    return capture_add_copy(process, stream, &copy);
}

static vmm_result add_kernel(struct sim_process *process, const struct vmm_call_launch *call)
{
    const struct graph_work work = {.type = VMM_GRAPH_NODE_TYPE_KERNEL, .context = current(process), .launch = *call};
    vmm_result result = kernels_check(call);
    if (result == VMM_ERROR_INVALID_VALUE)
        capture_of(process, call->stream)->capture->invalid = true;
    return result == VMM_SUCCESS ? capture_add(process, call->stream, &work) : result;
}

vmm_result capture_add_host(const struct sim_process *process, vmm_stream stream, vmm_host_fn fn, void *data)
{
    const struct graph_work work = {.type = VMM_GRAPH_NODE_TYPE_HOST, .host = {fn, data}};
    vmm_result result = fn ? capture_goes_on(process, stream) : vmm_detail_refuse(VMM_RULE_HOSTFUNC_NULL, 0, 0, NULL);
    return result == VMM_SUCCESS ? capture_add(process, stream, &work) : result;
}

/* Their form is checked now, and their memory at each launch, as measured. */
vmm_result capture_add_mem_op(const struct sim_process *process, vmm_stream stream, const struct vmm_call *call)
{
    struct mem_ops ops;
    struct graph_work work;
    vmm_result result = graph_mem_op_work(process, current(process), call, &ops, &work);
    return result == VMM_SUCCESS ? capture_add(process, stream, &work) : result;
}

static vmm_result add_alloc(struct sim_process *process, vmm_stream stream, vmm_deviceptr *dptr, uint64_t size, vmm_mem_location at)
{
    struct capture_stream *found = capture_of(process, stream);
    const struct graph_ends on = {found->reached.node, NULL, found->reached.count};
    struct graph_work work = {0};
    vmm_result result = VMM_SUCCESS;
    if (at.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return graph_refuse(VMM_RULE_GRAPH_MEMORY_KIND, 0, "the pool is one of the host: memory of graphs is a device's");
    struct graph_node *node =
        graph_add_alloc(process, found->capture->graph, &on, &(const struct graph_allocation){at.id, size, 0}, &work, &result);
    if (go_on(found, node, &result))
        *dptr = graphs_work(node)->memory->at;
    return result;
}

vmm_result capture_add_alloc(struct sim_process *process, vmm_stream stream, vmm_deviceptr *dptr, uint64_t size,
                             const vmm_memory_pool *value)
{
    const struct sim_context *context = sim_current(process);
    struct sim_pool *ended;
    if (!dptr)
        return vmm_detail_refuse(VMM_RULE_POOL_ALLOC_NULL, 0, 0, NULL);
    *dptr = 0;
    if (!value && !context)
        return sim_no_context(process);
    const struct sim_pool *pool = value ? sim_pool_find(process, (uint64_t)(uintptr_t)*value, &ended) : NULL;
    if (value && !pool)
        return vmm_detail_refuse(VMM_RULE_POOL_UNKNOWN, (uint64_t)(uintptr_t)*value, 0, NULL);
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, context ? context->device : 0};
    return size ? add_alloc(process, stream, dptr, size, pool ? pool->props.location : device) : VMM_SUCCESS;
}

vmm_result capture_add_free(const struct sim_process *process, vmm_stream stream, vmm_deviceptr at)
{
    struct capture_stream *found = capture_of(process, stream);
    const struct graph_ends on = {found->reached.node, NULL, found->reached.count};
    struct graph_work work = {0};
    vmm_result result = VMM_SUCCESS;
    if (at)
        go_on(found, graph_add_free(found->capture->graph, &on, at, &work, &result), &result);
    return result;
}

/* An allocation writes 0 where it is refused, whatever the reason, as measured. */
static void clear_output(const union vmm_any_call *call)
{
    vmm_deviceptr *out = call->head.id == VMM_CALL_mem_alloc_async             ? call->mem_alloc_async.dptr
                         : call->head.id == VMM_CALL_mem_alloc_from_pool_async ? call->mem_alloc_from_pool_async.dptr
                                                                               : NULL;
    if (out)
        *out = 0;
}

static vmm_result add_work(struct sim_process *process, vmm_stream stream, const union vmm_any_call *call)
{
#define FILL(name, size) \
    case VMM_CALL_##name: return add_fill(process, stream, call->name.dst, call->name.value, size, call->name.n)
    switch ((enum vmm_call_id)call->head.id) {
    FILL(memset_d8_async, 1);
    FILL(memset_d16_async, 2);
    FILL(memset_d32_async, 4);
    case VMM_CALL_memcpy_htod_async:
    case VMM_CALL_memcpy_dtoh_async:
    case VMM_CALL_memcpy_dtod_async: return add_line(process, stream, call);
    case VMM_CALL_memcpy_3d_async: return capture_add_copy(process, stream, call->memcpy_3d_async.p_copy);
    case VMM_CALL_launch: return add_kernel(process, &call->launch);
    case VMM_CALL_launch_host_func: 
        return capture_add_host(process, stream, call->launch_host_func.fn, call->launch_host_func.user_data);
    case VMM_CALL_mem_alloc_async: return capture_add_alloc(process, stream, call->mem_alloc_async.dptr, call->mem_alloc_async.bytesize, NULL);
    case VMM_CALL_mem_alloc_from_pool_async:
        return capture_add_alloc(process, stream, call->mem_alloc_from_pool_async.dptr, call->mem_alloc_from_pool_async.bytesize,
                              &call->mem_alloc_from_pool_async.pool);
    case VMM_CALL_mem_free_async: return capture_add_free(process, stream, call->mem_free_async.dptr);
    default: return capture_add_mem_op(process, stream, &call->head);
    }
#undef FILL
}

/* ---- events ---- */

/* As a record or wait of a stream that is not captured says it. */
static vmm_result check_event(const struct sim_process *process, vmm_event event)
{
    return event ? graph_event_check(process, event) : vmm_detail_refuse(VMM_RULE_EVENT_NONE, 0, 0, NULL);
}

vmm_result capture_records(const struct sim_process *process, vmm_stream stream, vmm_event event, bool outside)
{
    const struct graph_work work = {.type = VMM_GRAPH_NODE_TYPE_EVENT_RECORD, .event = event};
    const struct capture_stream *found = capture_of(process, stream);
    vmm_result result = capture_goes_on(process, stream);
    if (result == VMM_SUCCESS)
        result = check_event(process, event);
    if (result == VMM_SUCCESS && outside)
        return capture_add(process, stream, &work);
    if (result == VMM_SUCCESS && !capture_record(&process->graphs->captures, found, (uint64_t)(uintptr_t)event))
        result = sim_out_of_host_memory();
    return result;
}

static vmm_result over(vmm_event event)
{
    return graph_refuse(VMM_RULE_CAPTURED_EVENT_OVER, (uint64_t)(uintptr_t)event,
                        "the capture in which the event was recorded has ended or is invalid");
}

static struct capture_event *kept_event(const struct sim_process *process, vmm_event event)
{
    return capture_event_find(&process->graphs->captures, (uint64_t)(uintptr_t)event);
}

/* The stream waits for an event of a capture in progress. */
static vmm_result join(struct sim_process *process, vmm_stream stream, const struct capture_event *event)
{
    struct capture_stream *found = capture_of(process, stream);
    bool blocking = true;
    if (event->capture->invalid)
        return graph_refuse(VMM_RULE_CAPTURE_INVALIDATED, event->key, "the event was recorded in that capture");
    if (found && found->capture != event->capture) {
        found->capture->invalid = event->capture->invalid = true;
        return graph_refuse(VMM_RULE_CAPTURE_MERGE, event->key, "the event was recorded in another capture than the stream's: both "
                            "captures are invalid now");
    }
    if (is_legacy(stream)) {
        event->capture->invalid = true;
        return graph_refuse(VMM_RULE_CAPTURE_IMPLICIT, event->key, "the legacy default stream cannot join the capture in which the "
                            "event was recorded, which is invalid now");
    }
    vmm_result result = check_stream(process, stream, &blocking);
    if (result != VMM_SUCCESS)
        return result;
    if (!capture_wait(&process->graphs->captures, key_of(stream), event))
        return sim_out_of_host_memory();
    if (!found)
        capture_of(process, stream)->blocking = blocking;
    return VMM_SUCCESS;
}

/* A captured stream waits for an event that no capture recorded. */
static vmm_result isolated(struct sim_process *process, vmm_stream stream, vmm_event value)
{
    void *object;
    if (slots_find(&process->events, (uint64_t)(uintptr_t)value, &object) != SLOT_LIVE) {
        capture_of(process, stream)->capture->invalid = true;
        return check_event(process, value);
    }
    if (!((const struct sim_event *)object)->mark)
        return VMM_SUCCESS;
    capture_of(process, stream)->capture->invalid = true;
    return graph_refuse(VMM_RULE_CAPTURE_ISOLATION, (uint64_t)(uintptr_t)value, "the event was recorded in a stream that was not "
                        "captured: the call has invalidated the capture");
}

/* With the flag, the wait itself becomes a node. */
static vmm_result wait_outside(const struct sim_process *process, const struct vmm_call_stream_wait_event *call)
{
    const struct graph_work work = {.type = VMM_GRAPH_NODE_TYPE_WAIT_EVENT, .event = call->event};
    if (call->flags != VMM_EVENT_WAIT_EXTERNAL)
        return vmm_detail_refuse(VMM_RULE_EVENT_WAIT_FLAGS, call->flags, VMM_EVENT_WAIT_EXTERNAL, NULL);
    vmm_result result = check_event(process, call->event);
    return result == VMM_SUCCESS ? capture_add(process, call->stream, &work) : result;
}

bool capture_waits(struct sim_process *process, const struct vmm_call_stream_wait_event *call, vmm_result *result)
{
    const struct capture_event *kept = kept_event(process, call->event);
    struct capture_stream *found = capture_of(process, call->stream);
    if (found && (*result = capture_goes_on(process, call->stream)) != VMM_SUCCESS)
        return true;
    if (call->flags && !found && (!kept || kept->capture))
        return false;
    if (call->flags && found)
        *result = wait_outside(process, call);
    else if (kept && kept->capture)
        *result = join(process, call->stream, kept);
    else if (kept)
        *result = over(call->event);
    else if (found)
        *result = isolated(process, call->stream, call->event);
    if (!call->flags && found && kept && !kept->capture)
        found->capture->invalid = true;
    return found || kept;
}

vmm_result capture_asks_event(const struct sim_process *process, vmm_event event)
{
    struct capture_event *kept = kept_event(process, event);
    if (!kept)
        return VMM_SUCCESS;
    if (!kept->capture || kept->capture->invalid)
        return over(event);
    kept->capture->invalid = true;
    return graph_refuse(VMM_RULE_CAPTURED_EVENT, (uint64_t)(uintptr_t)event, "there is nothing to wait for or query: the call has "
                        "invalidated the capture");
}

/* ---- which calls are a capture's concern ---- */

vmm_result capture_asks_stream(struct sim_process *process, vmm_stream stream)
{
    struct capture_stream *found = capture_of(process, stream);
    if (!found)
        return implicit(process, stream);
    found->capture->invalid = true;
    return graph_refuse(VMM_RULE_CAPTURE_FORBIDS, found->key, "a stream does no work while it is captured, so there is nothing to "
                        "wait for or query");
}

/* A call that issues work; false: it issues it as usual. */
static bool takes_work(struct sim_process *process, const union vmm_any_call *call, vmm_result *result)
{
    size_t count, i = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->head.id, &count);
    while (params[i].kind != VMM_PARAM_STREAM)
        i++;
    const vmm_stream stream = (vmm_stream)(uintptr_t)vmm_call_scalar(&call->head, &params[i]);
    if (!capture_of(process, stream)) {
        *result = implicit(process, stream);
        return *result != VMM_SUCCESS;
    }
    clear_output(call);
    if (call->head.id == VMM_CALL_memcpy_3d_async && !call->memcpy_3d_async.p_copy)
        *result = vmm_detail_refuse(VMM_RULE_BOX_NULL, 0, 0, NULL);
    else
        *result = call->head.id == VMM_CALL_launch_host_func ? VMM_SUCCESS : capture_goes_on(process, stream);
    if (*result == VMM_SUCCESS)
        *result = add_work(process, stream, call);
    return true;
}

static bool is_shared_event(const struct sim_process *process, vmm_event value)
{
    void *object;
    return slots_find(&process->events, (uint64_t)(uintptr_t)value, &object) == SLOT_LIVE && ((const struct sim_event *)object)->shared;
}

static bool takes_record(struct sim_process *process, const struct vmm_call_event_record *call, vmm_result *result)
{
    *result = implicit(process, call->stream);
    if (*result == VMM_SUCCESS && is_shared_event(process, call->event))
        *result = capture_holds_no(process, call->stream, "record of an event that processes share");
    if (*result == VMM_SUCCESS && capture_of(process, call->stream)) {
        *result = capture_records(process, call->stream, call->event, false);
        return true;
    }
    return *result != VMM_SUCCESS;
}

static bool takes_wait(struct sim_process *process, const struct vmm_call_stream_wait_event *call, vmm_result *result)
{
    *result = implicit(process, call->stream);
    if (*result == VMM_SUCCESS && is_shared_event(process, call->event) && capture_of(process, call->stream))
        *result = capture_asks_stream(process, call->stream); /* as a query of the stream */
    return *result != VMM_SUCCESS || capture_waits(process, call, result);
}

/* Of a call that only may be refused: nothing to do in its place. */
static vmm_result check_call(struct sim_process *process, const union vmm_any_call *call)
{
    vmm_result result = VMM_SUCCESS;
    switch ((enum vmm_call_id)call->head.id) {
    case VMM_CALL_stream_query:
    case VMM_CALL_stream_synchronize:
        result = capture_forbids(process, false);
        return result == VMM_SUCCESS ? capture_asks_stream(process, call->stream_query.stream) : result;
    case VMM_CALL_event_query:
    case VMM_CALL_event_synchronize:
        result = capture_forbids(process, false);
        return result == VMM_SUCCESS ? capture_asks_event(process, call->event_query.event) : result;
    case VMM_CALL_graph_launch:
    case VMM_CALL_graph_upload:
    case VMM_CALL_memcpy_3d_peer_async: /* has its stream in the same place */
        return capture_asks_stream(process, call->graph_launch.stream);
    case VMM_CALL_ctx_synchronize: return capture_forbids(process, true);
    case VMM_CALL_mem_alloc: return sim_current(process) ? capture_forbids(process, false) : VMM_SUCCESS;
    case VMM_CALL_mem_free:
    case VMM_CALL_graph_instantiate:
    case VMM_CALL_graph_exec_destroy: return capture_forbids(process, false);
    case VMM_CALL_memcpy_htod:
    case VMM_CALL_memcpy_dtoh:
    case VMM_CALL_memcpy_dtod:
    case VMM_CALL_memset_d8:
    case VMM_CALL_memset_d16:
    case VMM_CALL_memset_d32: return implicit(process, NULL);
    default: return VMM_SUCCESS;
    }
}

static bool issues(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_event_destroy:
    case VMM_CALL_event_synchronize:
    case VMM_CALL_graph_launch: return false;
    case VMM_CALL_memcpy_3d_async: return true;
    default: return vmm_call_has(id, CALL_QUEUES);
    }
}

bool capture_takes(struct sim_process *process, const struct vmm_call *call, vmm_result *result)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    if (call->id == VMM_CALL_event_record)
        return takes_record(process, &any->event_record, result);
    if (call->id == VMM_CALL_stream_wait_event)
        return takes_wait(process, &any->stream_wait_event, result);
    if (issues((enum vmm_call_id)call->id))
        return takes_work(process, any, result);
    *result = check_call(process, any);
    return *result != VMM_SUCCESS;
}

/* ---- what comes next ---- */

/* As measured a node may be listed twice, so the graph does not bound how long the list may be: room is made as nodes are found. */
static vmm_result list_nodes(const struct sim_process *process, const struct graph *graph, const vmm_graph_node *values,
                             uint64_t count, struct graph_node ***nodes)
{
    vmm_result result = VMM_SUCCESS;
    for (uint64_t i = 0, room = 0; i < count && result == VMM_SUCCESS; i++) {
        if (i == room) {
            room = room ? 2 * room : 16;
            struct graph_node **grown = heap.realloc(*nodes, room * sizeof *grown);
            if (!grown)
                return sim_out_of_host_memory();
            *nodes = grown;
        }
        result = find_node(process, graph, values, i, &(*nodes)[i]);
    }
    return result;
}

vmm_result capture_update(const struct sim_process *process, vmm_stream stream, const vmm_graph_node *values, uint64_t count,
                          unsigned flags)
{
    enum { SET = 1 };
    bool blocking = false;
    if (capture_status(process, stream) == VMM_STREAM_CAPTURE_STATUS_INVALIDATED)
        return invalidated(stream);
    if (flags > SET && capture_of(process, stream))
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, "it is 0 or CU_STREAM_SET_CAPTURE_DEPENDENCIES");
    if (count && !values)
        return graph_null("dependencies");
    vmm_result result = is_legacy(stream) ? VMM_SUCCESS : check_stream(process, stream, &blocking); /* that one is never captured */
    if (result == VMM_SUCCESS)
        result = capture_goes_on(process, stream);
    if (result != VMM_SUCCESS)
        return result;
    struct capture_stream *found = capture_of(process, stream);
    struct graph_node **nodes = NULL;
    if (count > UINT32_MAX)
        return graph_refuse_value(VMM_RULE_GRAPH_EDGE, "numDependencies", count, "a graph has fewer nodes");
    result = list_nodes(process, found->capture->graph, values, count, &nodes);
    if (result == VMM_SUCCESS && !(flags ? capture_set : capture_reach)(found, nodes, count))
        result = sim_out_of_host_memory();
    heap.free(nodes);
    return result;
}

vmm_result sim_stream_update_capture_dependencies(struct sim_process *process,
                                                  const struct vmm_call_stream_update_capture_dependencies *call)
{
    return capture_update(process, call->stream, call->dependencies, call->num_dependencies, call->flags);
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
    watch(process);
}

/* A stream that ended with its context; NULL: none. */
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
