/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_capture.h"
#include "abi_capture_parts.h"
#include "abi_parts.h"

#include <stdatomic.h>

#include "heap.h"

static atomic_size_t running; /* captures in progress */
static _Thread_local char here;
static _Thread_local CUstreamCaptureMode thread_mode; /* at first GLOBAL */

static uint64_t this_thread(void)
{
    return (uint64_t)(uintptr_t)&here;
}

uint64_t abi_capture_key(vmm_stream stream)
{
    return stream == VMM_STREAM_PER_THREAD ? this_thread() : (uint64_t)(uintptr_t)stream;
}

bool abi_capture_any(void)
{
    return atomic_load_explicit(&running, memory_order_relaxed) != 0;
}

struct capture_stream *abi_capture_find(vmm_stream stream)
{
    return capture_find(&abi_captures, abi_capture_key(stream));
}

CUstreamCaptureStatus abi_capture_status(vmm_stream stream)
{
    if (!abi_capture_any())
        return CU_STREAM_CAPTURE_STATUS_NONE;
    abi_graphs_lock();
    const struct capture_stream *found = abi_capture_find(stream);
    CUstreamCaptureStatus status = !found                   ? CU_STREAM_CAPTURE_STATUS_NONE
                                   : found->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                                             : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    abi_graphs_unlock();
    return status;
}

/* The values of what the stream has reached, and behind them as many zeros, which are the data of the edges from there; NULL: none,
 * or memory is out. */
static const CUgraphNode *show(struct capture_stream *stream)
{
    if (!stream->reached.count && !stream->shown)
        return NULL;
    CUgraphNode *list = heap.calloc(stream->reached.count + 1, sizeof(CUgraphNode) + sizeof(CUgraphEdgeData));
    for (size_t i = 0; list && i < stream->reached.count; i++)
        list[i] = abi_node_value(stream->reached.node[i]);
    heap.free(stream->shown);
    stream->shown = list;
    return list;
}

struct abi_capture_info abi_capture_info(vmm_stream stream)
{
    struct abi_capture_info info = {.status = abi_capture_status(stream)};
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return info;
    abi_graphs_lock();
    struct capture_stream *found = abi_capture_find(stream);
    if (found) { /* LCOV_EXCL_BR_LINE: unless another thread has just ended it */
        info.id = found->capture->id;
        info.graph = abi_graph_value(found->capture->graph);
        info.nodes = show(found);
        info.edges = info.nodes ? (const CUgraphEdgeData *)(const void *)(info.nodes + found->reached.count) : NULL;
        info.count = info.nodes ? found->reached.count : 0;
    }
    abi_graphs_unlock();
    return info;
}

/* ---- refusals ---- */

CUresult abi_capture_invalidated(const char *function)
{
    return abi_refuse(VMM_RULE_CAPTURE_INVALIDATED, function,
                      "a refused call on the stream has invalidated its capture: end it with cuStreamEndCapture");
}

static CUresult exchange(CUstreamCaptureMode *mode)
{
    static const char name[] = "cuThreadExchangeStreamCaptureMode";
    if (!mode)
        return abi_graph_null(name, "mode");
    CUstreamCaptureMode before = thread_mode; /* any value is accepted, as measured */
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    ABI_INITIALISED(((void)sys, exchange(mode)));
}

/* Does this capture forbid this thread calls that a graph cannot hold? */
static bool forbids(const struct capture *capture, bool always)
{
    if (always)
        return true;
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == this_thread())
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

/* Invalidates these captures; false when there are none. */
static bool invalidate(bool always)
{
    bool any = false;
    abi_graphs_lock();
    for (struct capture *capture = abi_captures.first; capture; capture = capture->next)
        if (forbids(capture, always))
            any = capture->invalid = true;
    abi_graphs_unlock();
    return any;
}

CUresult abi_capture_forbids(const char *function, bool always)
{
    if (!abi_capture_any() || !invalidate(always))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_CAPTURE_FORBIDS, function, "%s: the call has invalidated the capture", always
                      ? "captured work does not run, so there is nothing to wait for"
                      : "a stream is being captured in a mode that forbids this call; CU_STREAM_CAPTURE_MODE_RELAXED allows it");
}

void abi_capture_spoil(vmm_stream stream)
{
    abi_graphs_lock();
    struct capture_stream *found = abi_capture_find(stream);
    if (found) /* LCOV_EXCL_BR_LINE: unless another thread has just ended it */
        found->capture->invalid = true;
    abi_graphs_unlock();
}

CUresult abi_captured(vmm_stream stream, const char *function)
{
    if (abi_capture_status(stream) == CU_STREAM_CAPTURE_STATUS_NONE)
        return abi_capture_implicit(stream, function);
    abi_capture_spoil(stream);
    return abi_refuse(VMM_RULE_CAPTURE_FORBIDS, function,
                      "a stream does no work while it is captured, so there is nothing to wait for or query");
}

/* Finds the captures with a blocking stream, and invalidates them or not; false when there are none. */
static bool find_blocking(bool invalidates)
{
    bool any = false;
    abi_graphs_lock();
    for (struct capture *capture = abi_captures.first; capture; capture = capture->next)
        for (const struct capture_stream *stream = capture->streams; stream; stream = stream->next) {
            any |= stream->blocking;
            capture->invalid |= stream->blocking && invalidates;
        }
    abi_graphs_unlock();
    return any;
}

static CUresult refuse_implicit(vmm_stream stream, const char *function, bool invalidates)
{
    bool legacy = !stream || stream == VMM_STREAM_LEGACY;
    if (!legacy || !abi_capture_any() || !find_blocking(invalidates))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_CAPTURE_IMPLICIT, function, "the legacy default stream waits for a blocking stream that is being "
                      "captured%s", invalidates ? ": the call has invalidated the capture" : "");
}

CUresult abi_capture_implicit(vmm_stream stream, const char *function)
{
    return refuse_implicit(stream, function, true);
}

CUresult abi_capture_implicit_query(vmm_stream stream, const char *function)
{
    return refuse_implicit(stream, function, false);
}

bool abi_capture_enter(vmm_stream stream, struct vmm_entry_point *entry, struct abi_call *call, CUresult *result)
{
    bool captured = abi_capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE;
    *result = captured ? abi_enter_initialised(entry, call) : abi_capture_implicit(stream, entry->name);
    return captured && *result == CUDA_SUCCESS;
}

/* ---- begin ---- */

/* Only a stream that a call created, or the thread's own default stream, can be captured. */
static CUresult check(const vmm_system *sys, const char *function, vmm_stream stream, bool *blocking)
{
    struct abi_query_stream found = {0};
    if (!stream || stream == VMM_STREAM_LEGACY)
        return abi_refuse(VMM_RULE_CAPTURE_DEFAULT, function, "the legacy default stream cannot be captured");
    if (stream != VMM_STREAM_PER_THREAD && !abi_query_stream(sys, (uint64_t)(uintptr_t)stream, &found))
        return abi_refuse(VMM_RULE_STREAM_UNKNOWN, function, "%p is not a stream", (void *)stream);
    *blocking = !(found.flags & VMM_STREAM_NON_BLOCKING);
    return CUDA_SUCCESS;
}

static CUresult check_begin(const vmm_system *sys, const char *function, vmm_stream stream, CUstreamCaptureMode mode,
                            bool *blocking)
{
    CUresult result = check(sys, function, stream, blocking);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return abi_refuse(VMM_RULE_CAPTURE_MODE, function, "mode %d is not a CUstreamCaptureMode", (int)mode);
    if (abi_capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE)
        return abi_refuse(VMM_RULE_CAPTURE_STATE, function, "the stream is already being captured");
    return CUDA_SUCCESS;
}

/* With the lock. */
static bool begin_in(vmm_stream stream, struct graph *graph, struct graph_node *const *nodes, size_t count,
                     CUstreamCaptureMode mode, bool blocking)
{
    struct capture *capture = capture_begin(&abi_captures, abi_capture_key(stream), graph, nodes, count);
    if (!capture)
        return false;
    capture->thread = this_thread();
    capture->mode = (unsigned)mode;
    capture->streams->blocking = blocking;
    atomic_fetch_add(&running, 1);
    return true;
}

CUresult abi_capture_begin(vmm_system *sys, const char *function, vmm_stream stream, CUstreamCaptureMode mode)
{
    bool blocking = false;
    CUresult result = check_begin(sys, function, stream, mode, &blocking);
    if (result == CUDA_SUCCESS)
        result = (CUresult)vmm_memset_d8_async(sys, 0, 0, 0, stream); /* reports a fault */
    if (result != CUDA_SUCCESS)
        return result;
    abi_graphs_lock();
    struct graph *graph = abi_graph_new();
    bool begun = graph && begin_in(stream, graph, NULL, 0, mode, blocking);
    if (graph && !begun)
        abi_graph_end(graph);
    abi_graphs_unlock();
    return begun ? CUDA_SUCCESS : abi_no_memory(function);
}

/* Finds the nodes of a list, all of which must be the graph's. NULL: result says why. */
static struct graph_node **find_nodes(const char *function, const struct graph *graph, const struct abi_nodes *on,
                                      CUresult *result)
{
    struct graph_node **list = heap.malloc((on->count + 1) * sizeof *list);
    *result = list ? CUDA_SUCCESS : abi_no_memory(function);
    for (size_t i = 0; *result == CUDA_SUCCESS && i < on->count; i++) {
        list[i] = abi_node_of(on->node[i]);
        if (!list[i] || list[i]->graph != graph)
            *result = abi_refuse(VMM_RULE_GRAPH_NODE, function, "dependencies[%zu], %p, is not a node of that graph", i,
                                 (void *)on->node[i]);
    }
    if (*result == CUDA_SUCCESS)
        return list;
    heap.free(list);
    return NULL;
}

CUresult abi_capture_begin_into(const vmm_system *sys, vmm_stream stream, CUgraph value, const struct abi_nodes *on,
                                CUstreamCaptureMode mode)
{
    static const char name[] = "cuStreamBeginCaptureToGraph";
    bool blocking = false;
    CUresult result = check_begin(sys, name, stream, mode, &blocking);
    if (result == CUDA_SUCCESS && on->count && !on->node)
        result = abi_graph_null(name, "dependencies");
    if (result != CUDA_SUCCESS)
        return result;
    abi_graphs_lock();
    struct graph *graph = abi_graph_of(value);
    struct graph_node **list = NULL;
    if (!graph)
        result = abi_refuse(VMM_RULE_GRAPH_UNKNOWN, name, "%p is not a graph", (void *)value);
    else if (capture_into(&abi_captures, graph))
        result = abi_refuse(VMM_RULE_CAPTURE_STATE, name, "a stream is being captured into %p already", (void *)value);
    else
        list = find_nodes(name, graph, on, &result);
    if (list && !begin_in(stream, graph, list, on->count, mode, blocking))
        result = abi_no_memory(name);
    else if (list)
        capture_find(&abi_captures, abi_capture_key(stream))->capture->given = true;
    heap.free(list);
    abi_graphs_unlock();
    return result;
}

/* ---- end ---- */

/* What the end of this capture answers. With the lock. */
static CUresult check_end(const char *name, const struct capture_stream *stream)
{
    const struct capture *capture = stream->capture;
    if (!capture->invalid && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != this_thread())
        return abi_refuse(VMM_RULE_CAPTURE_THREAD, name, "another thread began the capture, in a mode other than RELAXED");
    if (capture->origin != stream->key)
        return abi_refuse(VMM_RULE_CAPTURE_UNMATCHED, name, "the stream joined a capture that another stream began");
    return CUDA_SUCCESS;
}

/* Ends the capture; keep: the graph is the program's now. With the lock. */
static void leave(struct capture *capture, bool keep)
{
    struct graph *made = capture->graph;
    capture_end(&abi_captures, capture);
    atomic_fetch_sub(&running, 1);
    if (!keep)
        abi_graph_end(made);
}

static CUresult end(const char *name, struct capture *capture, CUgraph *graph)
{
    CUresult result = CUDA_SUCCESS;
    if (capture->invalid)
        result = abi_refuse(VMM_RULE_CAPTURE_INVALIDATED, name, "a refused call has invalidated the capture");
    else if (!capture_joined(capture))
        result = abi_refuse(VMM_RULE_CAPTURE_UNJOINED, name, "a stream that joined the capture has work that this one does not "
                            "wait for");
    if (result == CUDA_SUCCESS && graph)
        *graph = abi_graph_value(capture->graph);
    leave(capture, result == CUDA_SUCCESS && (graph || capture->given));
    return result;
}

CUresult abi_capture_end(const vmm_system *sys, vmm_stream stream, CUgraph *graph)
{
    static const char name[] = "cuStreamEndCapture";
    bool legacy = !stream || stream == VMM_STREAM_LEGACY, blocking;
    CUresult result = legacy ? CUDA_SUCCESS : check(sys, name, stream, &blocking);
    if (graph)
        *graph = NULL; /* written in any case, as recorded */
    if (result != CUDA_SUCCESS)
        return result;
    abi_graphs_lock();
    struct capture_stream *found = legacy ? NULL : abi_capture_find(stream);
    result = found ? check_end(name, found) : abi_refuse(VMM_RULE_CAPTURE_STATE, name, "the stream is not being captured");
    if (result == CUDA_SUCCESS)
        result = end(name, found->capture, graph);
    else if (result == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)
        found->capture->invalid = true;
    else if (found) /* as measured, a capture that the wrong thread ends is over */
        leave(found->capture, false);
    abi_graphs_unlock();
    return result;
}

/* ---- a stream that ends ---- */

void abi_capture_stream_ends(vmm_stream stream)
{
    if (!abi_capture_any())
        return;
    abi_graphs_lock();
    struct capture_stream *found = abi_capture_find(stream);
    if (found && found->capture->origin == found->key) {
        leave(found->capture, false);
    } else if (found) {
        capture_forget_stream(&abi_captures, found->key);
    }
    abi_graphs_unlock();
}

/* ---- what comes next ---- */

CUresult abi_capture_update(const vmm_system *sys, vmm_stream stream, const struct abi_nodes *on, unsigned flags)
{
    static const char name[] = "cuStreamUpdateCaptureDependencies";
    CUresult result = CUDA_SUCCESS;
    bool blocking;
    if (abi_capture_status(stream) == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        return abi_capture_invalidated(name);
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "flags %u is not a CUstreamUpdateCaptureDependencies_flags", flags);
    if (on->count && !on->node)
        return abi_graph_null(name, "dependencies");
    if (stream && stream != VMM_STREAM_LEGACY) /* that one is never captured */
        result = check(sys, name, stream, &blocking);
    if (result != CUDA_SUCCESS)
        return result;
    abi_graphs_lock();
    struct capture_stream *found = abi_capture_going_on(name, stream, &result);
    struct graph_node **list = found ? find_nodes(name, found->capture->graph, on, &result) : NULL;
    if (list && !(flags ? capture_set : capture_reach)(found, list, on->count))
        result = abi_no_memory(name);
    heap.free(list);
    abi_graphs_unlock();
    return result;
}

/* ---- work ---- */

struct capture_stream *abi_capture_going_on(const char *function, vmm_stream stream, CUresult *result)
{
    struct capture_stream *found = abi_capture_find(stream);
    if (!found)
        *result = abi_refuse(VMM_RULE_CAPTURE_STATE, function, "the stream is not being captured");
    else if (found->capture->invalid)
        *result = abi_capture_invalidated(function);
    else
        return found;
    return NULL;
}

CUresult abi_capture_add(const char *function, vmm_stream stream, const struct abi_work *work)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    struct capture_stream *found = abi_capture_going_on(function, stream, &result);
    struct graph_node *node =
        found ? abi_graph_add(found->capture->graph, found->reached.node, NULL, found->reached.count, work) : NULL;
    if (node && !capture_set(found, &node, 1)) {
        abi_node_end(node);
        node = NULL;
    }
    abi_graphs_unlock();
    return node || result != CUDA_SUCCESS ? result : abi_no_memory(function);
}

CUresult abi_capture_goes_on(const char *function, vmm_stream stream)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    abi_capture_going_on(function, stream, &result);
    abi_graphs_unlock();
    return result;
}

CUresult abi_capture_add_fill(const vmm_system *sys, const char *function, vmm_stream stream,
                              const CUDA_MEMSET_NODE_PARAMS *fill)
{
    struct abi_work work = {.params.type = CU_GRAPH_NODE_TYPE_MEMSET};
    CUresult result = abi_capture_goes_on(function, stream);
    if (result != CUDA_SUCCESS || !fill->width || !fill->height)
        return result;
    if (fill->dst % fill->elementSize)
        return abi_refuse(VMM_RULE_SET_ALIGNMENT, function, "dstDevice, 0x%llx, is no multiple of an element's %u bytes", fill->dst,
                          fill->elementSize);
    if (fill->height > 1 && (fill->pitch < fill->width * fill->elementSize || fill->pitch % fill->elementSize))
        return abi_refuse(VMM_RULE_ROWS_PITCH, function, "dstPitch is %zu: expected a multiple of an element's %u bytes that a row "
                          "fits in", fill->pitch, fill->elementSize);
    work.params.memset = (CUDA_MEMSET_NODE_PARAMS_v2){fill->dst,   fill->pitch,  fill->value, fill->elementSize,
                                                      fill->width, fill->height, (CUcontext)(uintptr_t)abi_query_current(sys)};
    return abi_capture_add(function, stream, &work);
}

CUresult abi_capture_add_copy(const vmm_system *sys, const char *function, vmm_stream stream, const CUDA_MEMCPY3D *copy)
{
    struct abi_work work = {.params.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    work.params.memcpy = (CUDA_MEMCPY_NODE_PARAMS){.copyCtx = (CUcontext)(uintptr_t)abi_query_current(sys), .copyParams = *copy};
    return abi_capture_add(function, stream, &work);
}

CUresult abi_capture_add_host(const char *function, vmm_stream stream, CUhostFn fn, void *data)
{
    if (!fn)
        return abi_refuse(VMM_RULE_HOSTFUNC_NULL, function, "fn is NULL");
    struct abi_work work = {.params.type = CU_GRAPH_NODE_TYPE_HOST};
    work.params.host = (CUDA_HOST_NODE_PARAMS){fn, data};
    return abi_capture_add(function, stream, &work);
}

/* ---- the end of the library ---- */

void abi_captures_close(void)
{
    abi_graphs_close();
    atomic_store(&running, 0);
}
