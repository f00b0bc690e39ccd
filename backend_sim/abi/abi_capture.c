/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_capture.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "abi_parts.h"
#include "lifecycle.h"

static atomic_bool ever; /* was a stream captured at all? */
static _Thread_local char here;

static uint64_t this_thread(void)
{
    return (uint64_t)(uintptr_t)&here;
}

/* Under which its note is kept. */
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

/* False when memory is out; not of a stream that has a status. */
static bool set_status(vmm_stream stream, CUstreamCaptureStatus status, unsigned mode)
{
    struct abi_note note = abi_note_get(key_of(stream));
    note.capture = (unsigned)status;
    note.capture_mode = mode;
    note.capture_thread = this_thread();
    return abi_note_set(key_of(stream), &note);
}

static CUresult invalidated(const char *function)
{
    return abi_refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, function,
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
        return abi_refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                          "nothing is done on a stream while it is captured, so there is nothing to wait or ask for");
    if (!atomic_flag_test_and_set(&said))
        abi_say("%s on a stream that is captured: there are no graphs here that could hold it. It answers "
                "CUDA_ERROR_NOT_SUPPORTED (docs/unmodified.md)", function);
    return abi_refuse(CUDA_ERROR_NOT_SUPPORTED, function, "the stream is captured, and there are no graphs here that "
                      "could hold the work");
}

/* A stream that can be captured: made by a call, or the thread's own. */
static CUresult check(const vmm_system *sys, const char *function, vmm_stream stream)
{
    struct ask_stream found;
    if (!stream || stream == VMM_STREAM_LEGACY)
        return abi_refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function, "the legacy default stream cannot be captured");
    if (stream != VMM_STREAM_PER_THREAD && !ask_stream(sys, (uint64_t)(uintptr_t)stream, &found))
        return abi_refuse(CUDA_ERROR_INVALID_HANDLE, function, "%p is no stream", (void *)stream);
    return CUDA_SUCCESS;
}

CUresult abi_capture_begin(const vmm_system *sys, vmm_stream stream, CUstreamCaptureMode mode)
{
    static const char name[] = "cuStreamBeginCapture";
    CUresult result = check(sys, name, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, name, "mode %d is none of CUstreamCaptureMode", (int)mode);
    if (abi_capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE)
        return abi_refuse(CUDA_ERROR_ILLEGAL_STATE, name, "the stream is captured already");
    atomic_store(&ever, true);
    return set_status(stream, CU_STREAM_CAPTURE_STATUS_ACTIVE, (unsigned)mode) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- graphs: empty ones ---- */

struct graph {
    struct graph *next;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct graph *graphs;

static struct graph *new_graph(void)
{
    struct graph *graph = malloc(sizeof *graph);
    if (!graph)
        return NULL;
    life_take(&lock);
    graph->next = graphs;
    graphs = graph;
    life_give(&lock);
    return graph;
}

CUresult abi_capture_end(const vmm_system *sys, vmm_stream stream, CUgraph *graph)
{
    static const char name[] = "cuStreamEndCapture";
    CUresult result = check(sys, name, stream);
    CUstreamCaptureStatus status = abi_capture_status(stream);
    const struct abi_note note = abi_note_get(key_of(stream));
    if (result != CUDA_SUCCESS)
        return result;
    if (!graph)
        return abi_null(name, "phGraph");
    if (status == CU_STREAM_CAPTURE_STATUS_NONE)
        return abi_refuse(CUDA_ERROR_ILLEGAL_STATE, name, "the stream is not captured");
    if (note.capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED && note.capture_thread != this_thread())
        return abi_refuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, name,
                          "another thread began the capture, and not in mode RELAXED");
    bool whole = status != CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    struct graph *made = whole ? new_graph() : NULL;
    if (whole && !made)
        return CUDA_ERROR_OUT_OF_MEMORY; /* still captured: it can be ended again */
    set_status(stream, CU_STREAM_CAPTURE_STATUS_NONE, 0);
    *graph = (CUgraph)(void *)made;
    return whole ? CUDA_SUCCESS
                 : abi_refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, name, "a refused call has invalidated the capture");
}

static CUresult destroy(const void *graph)
{
    life_take(&lock);
    struct graph **link = &graphs, *found;
    while (*link && *link != graph)
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    life_give(&lock);
    if (!found)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, "cuGraphDestroy", "%p is no graph", graph);
    free(found);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph)
{
    ABI_INITIALISED(((void)sys, destroy(hGraph)));
}

void abi_captures_close(void)
{
    while (graphs) {
        struct graph *next = graphs->next;
        free(graphs);
        graphs = next;
    }
}
