/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_capture.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static atomic_bool ever; /* whether a stream was ever captured */
static _Thread_local char here;

static uint64_t this_thread(void)
{
    return (uint64_t)(uintptr_t)&here;
}

/* The key of the capture's note. */
static uint64_t key_of(vmm_stream stream)
{
    return stream == VMM_STREAM_PER_THREAD ? this_thread() : (uint64_t)(uintptr_t)stream;
}

CUstreamCaptureStatus abi_capture_status(vmm_stream stream)
{
    if (!atomic_load(&ever))
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return (CUstreamCaptureStatus)abi_note_get(key_of(stream)).capture;
}

/* False when memory is out, which cannot happen for a stream that has a status. */
static bool set_status(vmm_stream stream, CUstreamCaptureStatus status, unsigned mode)
{
    struct abi_note note = abi_note_get(key_of(stream));
    note.capture = (unsigned)status;
    note.capture_mode = mode;
    note.capture_thread = this_thread();
    return abi_note_set(key_of(stream), &note);
}

/* ---- graphs: always empty ---- */

struct graph {
    struct graph *next;
};

static struct graph *graphs;

static struct graph *new_graph(void)
{
    struct graph *graph = heap.malloc(sizeof *graph);
    if (!graph)
        return NULL;
    life_acquire(&lock);
    graph->next = graphs;
    graphs = graph;
    life_release(&lock);
    return graph;
}

/* False when the graph is not there. */
static bool end_graph(const void *graph)
{
    life_acquire(&lock);
    struct graph **link = &graphs, *found;
    while (*link && *link != graph)
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    life_release(&lock);
    heap.free(found);
    return found != NULL;
}

/* ---- active captures ---- */

struct active {
    uint64_t key, thread, id;
    unsigned mode;
    bool invalid; /* a forbidden call has invalidated it */
    struct graph *graph;
    struct active *next;
};

static struct active *actives; /* guarded by the lock */
static uint64_t begun;         /* captures so far; guarded by the lock */
static _Thread_local CUstreamCaptureMode thread_mode; /* at first GLOBAL */

static bool keep_active(vmm_stream stream, unsigned mode, struct graph *graph)
{
    struct active *kept = heap.malloc(sizeof *kept);
    if (!kept)
        return false;
    life_acquire(&lock);
    *kept = (struct active){key_of(stream), this_thread(), ++begun, mode, false, graph, actives};
    actives = kept;
    life_release(&lock);
    /* analysers: memleak is wrong: it is in the list */
    return true;
}

/* Returns the graph of the capture. */
static struct graph *drop_active(vmm_stream stream)
{
    life_acquire(&lock);
    struct active **link = &actives;
    while (*link && (*link)->key != key_of(stream))
        link = &(*link)->next;
    struct active *found = *link;
    if (found)
        *link = found->next;
    life_release(&lock);
    struct graph *graph = found ? found->graph : NULL;
    heap.free(found);
    return graph;
}

struct abi_capture_info abi_capture_info(vmm_stream stream)
{
    struct abi_capture_info info = {abi_capture_status(stream), 0, NULL};
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return info;
    life_acquire(&lock);
    for (const struct active *active = actives; active; active = active->next)
        if (active->key == key_of(stream)) {
            info.id = active->id;
            info.graph = (CUgraph)(void *)active->graph;
        }
    life_release(&lock);
    return info;
}

static CUresult exchange(CUstreamCaptureMode *mode)
{
    static const char name[] = "cuThreadExchangeStreamCaptureMode";
    if (!mode)
        return abi_null(name, "mode");
    if ((unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "mode %d is not a CUstreamCaptureMode", (int)*mode);
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* Does this capture forbid this thread calls that a graph cannot hold? */
static bool forbids(const struct active *active, bool always)
{
    if (always)
        return true;
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (active->thread == this_thread())
        return active->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return active->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

/* Marks one such capture that is not marked yet. *any: whether there is any such capture. */
static bool mark_one(bool always, uint64_t *key, bool *any)
{
    life_acquire(&lock);
    struct active *active = actives;
    for (; active && (active->invalid || !forbids(active, always)); active = active->next)
        *any |= forbids(active, always);
    if (active) {
        active->invalid = *any = true;
        *key = active->key;
    }
    life_release(&lock);
    return active != NULL;
}

/* Invalidates these captures; false when there are none. */
static bool invalidate(bool always)
{
    bool any = false;
    uint64_t key;
    while (mark_one(always, &key, &any)) {
        struct abi_note note = abi_note_get(key);
        note.capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
        abi_note_set(key, &note);
    }
    return any;
}

CUresult abi_capture_forbids(const char *function, bool always)
{
    if (!atomic_load(&ever) || !invalidate(always))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_CAPTURE_FORBIDS, function, "%s: the call has invalidated the capture", always
                      ? "captured work does not run, so there is nothing to wait for"
                      : "a stream is being captured in a mode that forbids this call; CU_STREAM_CAPTURE_MODE_RELAXED allows it");
}

static CUresult invalidated(const char *function)
{
    return abi_refuse(VMM_RULE_CAPTURE_INVALIDATED, function,
                      "a refused call on the stream has invalidated its capture: end it with cuStreamEndCapture");
}

CUresult abi_captured(vmm_stream stream, enum abi_capture_use use, const char *function)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    CUstreamCaptureStatus status = abi_capture_status(stream);
    if (status == CU_STREAM_CAPTURE_STATUS_NONE)
        return CUDA_SUCCESS;
    if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        return invalidated(function);
    struct abi_note note = abi_note_get(key_of(stream));
    note.capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    abi_note_set(key_of(stream), &note);
    if (use == ABI_CAPTURE_ASK)
        return abi_refuse(VMM_RULE_CAPTURE_FORBIDS, function,
                          "a stream does no work while it is captured, so there is nothing to wait for or query");
    if (!atomic_flag_test_and_set(&said))
        abi_say("%s on a stream that is captured: there are no graphs here that could hold it. It answers "
                "CUDA_ERROR_NOT_SUPPORTED (docs/unmodified.md)", function);
    return abi_refuse(VMM_RULE_CAPTURE_WORK, function,
                      "the stream is being captured, and there are no graphs here that could hold the work");
}

/* Only a stream that a call created, or the thread's own default stream, can be captured. */
static CUresult check(const vmm_system *sys, const char *function, vmm_stream stream)
{
    struct abi_query_stream found;
    if (!stream || stream == VMM_STREAM_LEGACY)
        return abi_refuse(VMM_RULE_CAPTURE_DEFAULT, function, "the legacy default stream cannot be captured");
    if (stream != VMM_STREAM_PER_THREAD && !abi_query_stream(sys, (uint64_t)(uintptr_t)stream, &found))
        return abi_refuse(VMM_RULE_STREAM_UNKNOWN, function, "%p is not a stream", (void *)stream);
    return CUDA_SUCCESS;
}

CUresult abi_capture_begin(const vmm_system *sys, vmm_stream stream, CUstreamCaptureMode mode)
{
    static const char name[] = "cuStreamBeginCapture";
    CUresult result = check(sys, name, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "mode %d is not a CUstreamCaptureMode", (int)mode);
    if (abi_capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE)
        return abi_refuse(VMM_RULE_CAPTURE_STATE, name, "the stream is already being captured");
    atomic_store(&ever, true);
    struct graph *graph = new_graph();
    if (!graph || !keep_active(stream, (unsigned)mode, graph)) {
        end_graph(graph);
        return abi_no_memory(name);
    }
    if (set_status(stream, CU_STREAM_CAPTURE_STATUS_ACTIVE, (unsigned)mode))
        return CUDA_SUCCESS;
    end_graph(drop_active(stream));
    return abi_no_memory(name);
}

/* Creates no graph if the caller passes NULL. */
CUresult abi_capture_end(const vmm_system *sys, vmm_stream stream, CUgraph *graph)
{
    static const char name[] = "cuStreamEndCapture";
    bool legacy = !stream || stream == VMM_STREAM_LEGACY;
    CUresult result = legacy ? CUDA_SUCCESS : check(sys, name, stream);
    CUstreamCaptureStatus status = legacy ? CU_STREAM_CAPTURE_STATUS_NONE : abi_capture_status(stream);
    const struct abi_note note = abi_note_get(key_of(stream));
    if (graph)
        *graph = NULL; /* written in any case, as recorded */
    if (result != CUDA_SUCCESS)
        return result;
    if (status == CU_STREAM_CAPTURE_STATUS_NONE)
        return abi_refuse(VMM_RULE_CAPTURE_STATE, name, "the stream is not being captured");
    if (note.capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED && note.capture_thread != this_thread())
        return abi_refuse(VMM_RULE_CAPTURE_THREAD, name,
                          "another thread began the capture, in a mode other than RELAXED");
    bool whole = status != CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    struct graph *made = drop_active(stream);
    set_status(stream, CU_STREAM_CAPTURE_STATUS_NONE, 0);
    if (graph && whole)
        *graph = (CUgraph)(void *)made;
    else
        end_graph(made);
    return whole ? CUDA_SUCCESS
                 : abi_refuse(VMM_RULE_CAPTURE_INVALIDATED, name, "a refused call has invalidated the capture");
}

static CUresult destroy(const void *graph)
{
    if (!end_graph(graph))
        return abi_refuse(VMM_RULE_GRAPH_UNKNOWN, "cuGraphDestroy", "%p is not a graph", graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph)
{
    ABI_INITIALISED(((void)sys, destroy(hGraph)));
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    ABI_INITIALISED(((void)sys, exchange(mode)));
}

void abi_captures_close(void)
{
    while (actives) {
        struct active *next = actives->next;
        heap.free(actives);
        actives = next;
    }
    while (graphs) {
        struct graph *next = graphs->next;
        heap.free(graphs);
        graphs = next;
    }
}
