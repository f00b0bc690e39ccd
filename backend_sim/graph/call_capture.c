/* SPDX-License-Identifier: Apache-2.0 */
/* Captured streams: their work becomes nodes of a graph and does not run.
 *
 *     begin capture on S     S: ACTIVE
 *     fill on S              a node, which depends on what S has reached (capture.h)
 *     wait or query on S     CAPTURE_UNSUPPORTED            S: INVALIDATED
 *     fill on S              CAPTURE_INVALIDATED
 *     end capture on S       CAPTURE_INVALIDATED, no graph  S: NONE
 *
 * A call that is refused because a stream is captured invalidates the capture, with all streams that have joined it. A wait for
 * all work of a context is refused where a capture has a stream of that context. In the modes
 * GLOBAL and THREAD_LOCAL so do vmm_mem_alloc and other calls that no graph could hold. Other calls work as usual, including
 * those of virtual memory management, as measured.
 */
#include "capture_parts.h"
#include "managed.h"


static _Thread_local char here;
static _Thread_local vmm_stream_capture_mode thread_mode; /* at first GLOBAL */

uint64_t capture_thread(void)
{
    return (uint64_t)(uintptr_t)&here;
}

/* The key of a stream in captures; the per-thread default stream has one for each thread. */
uint64_t capture_key(vmm_stream stream)
{
    return stream == VMM_STREAM_PER_THREAD ? capture_thread() : (uint64_t)(uintptr_t)stream;
}

vmm_result capture_refuse(enum vmm_rule_id rule, vmm_stream stream, const char *note)
{
    return graph_refuse(rule, capture_is_legacy(stream) || stream == VMM_STREAM_PER_THREAD ? 0 : (uint64_t)(uintptr_t)stream, "%s", note);
}

struct capture_stream *capture_of(const struct sim_process *process, vmm_stream stream)
{
    return capture_find(&process->graphs->captures, capture_key(stream));
}

void capture_watch(const struct sim_process *process)
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

vmm_result capture_invalidated(vmm_stream stream)
{
    return capture_refuse(VMM_RULE_CAPTURE_INVALIDATED, stream, "end it with cuStreamEndCapture");
}

/* Does this capture forbid this thread calls that a graph cannot hold? */
static bool forbids(const struct capture *capture)
{
    if (thread_mode == VMM_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == capture_thread())
        return capture->mode != VMM_STREAM_CAPTURE_MODE_RELAXED;
    return capture->mode == VMM_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == VMM_STREAM_CAPTURE_MODE_GLOBAL;
}

vmm_stream_capture_mode capture_exchange_mode(vmm_stream_capture_mode mode)
{
    vmm_stream_capture_mode before = thread_mode; /* any value is accepted, as measured */
    thread_mode = mode;
    return before;
}

/* Does the capture include a stream of the current context? The context of a per-thread default stream is not recorded. */
static bool is_of_current(const struct sim_process *process, const struct capture *capture)
{
    const struct sim_context *current = sim_current(process);
    bool any = false;
    for (const struct capture_stream *at = capture->streams; current && at; at = at->next) {
        void *stream;
        any |= slots_find(&process->streams, at->key, &stream) != SLOT_LIVE || ((const struct sim_stream *)stream)->context == current->value;
    }
    return any;
}

vmm_result capture_forbids(struct sim_process *process, bool always)
{
    bool any = false;
    for (struct capture *capture = process->graphs->captures.first; capture; capture = capture->next)
        if (always ? is_of_current(process, capture) : forbids(capture))
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
    return graph_refuse(VMM_RULE_CAPTURE_FORBIDS, capture_key(stream), "the stream is being captured, and a graph cannot "
                                                                       "contain a %s", work);
}

vmm_result capture_implicit(const struct sim_process *process, vmm_stream stream, bool asks)
{
    bool any = false;
    if (!capture_is_legacy(stream))
        return VMM_SUCCESS;
    for (struct capture *capture = process->graphs->captures.first; capture; capture = capture->next)
        for (const struct capture_stream *at = capture->streams; at; at = at->next)
            if (at->blocking) {
                any = true;
                capture->invalid |= !asks;
            }
    return any ? capture_refuse(VMM_RULE_CAPTURE_IMPLICIT, stream, asks ? "" : "the call has invalidated the capture") : VMM_SUCCESS;
}

static vmm_result implicit(const struct sim_process *process, vmm_stream stream)
{
    return capture_implicit(process, stream, false);
}

vmm_result capture_goes_on(const struct sim_process *process, vmm_stream stream)
{
    const struct capture_stream *found = capture_of(process, stream);
    if (!found)
        return capture_refuse(VMM_RULE_CAPTURE_STATE, stream, "the stream is not being captured");
    return found->capture->invalid ? capture_invalidated(stream) : VMM_SUCCESS;
}

vmm_result capture_check_context(const struct sim_process *process, vmm_stream stream)
{
    return capture_is_legacy(stream) && !sim_current(process) ? sim_no_context(process) : VMM_SUCCESS;
}

vmm_result capture_check_stream(const struct sim_process *process, vmm_stream stream, bool *blocking)
{
    struct sim_stream *found = NULL;
    vmm_result result = capture_check_context(process, stream);
    if (result != VMM_SUCCESS)
        return result;
    if (capture_is_legacy(stream))
        return capture_refuse(VMM_RULE_CAPTURE_DEFAULT, stream, "the legacy default stream cannot be captured");
    result = stream == VMM_STREAM_PER_THREAD ? VMM_SUCCESS : sim_stream_check(process, stream, &found);
    *blocking = !found || !found->non_blocking;
    return result;
}

/* An allocation writes 0 if it is refused, whatever the reason, as measured. */
static void clear_output(const union vmm_any_call *call)
{
    vmm_deviceptr *out = call->head.id == VMM_CALL_mem_alloc_async             ? call->mem_alloc_async.dptr
                         : call->head.id == VMM_CALL_mem_alloc_from_pool_async ? call->mem_alloc_from_pool_async.dptr
                                                                               : NULL;
    if (out)
        *out = 0;
}

/* ---- which calls concern a capture ---- */

vmm_result capture_asks_stream(struct sim_process *process, vmm_stream stream)
{
    struct capture_stream *found = capture_of(process, stream);
    if (!found)
        return implicit(process, stream);
    found->capture->invalid = true;
    return graph_refuse(VMM_RULE_CAPTURE_FORBIDS, found->key, "a stream does no work while it is being captured, so there is "
                                                              "nothing to "
                        "wait for or query");
}

/* A call that issues work; returns false if it does so as usual. */
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
    *result = call->head.id == VMM_CALL_launch_host_func ? VMM_SUCCESS : capture_goes_on(process, stream);
    if (*result == VMM_SUCCESS && call->head.id == VMM_CALL_memcpy_3d_async && !call->memcpy_3d_async.p_copy)
        *result = vmm_detail_refuse(VMM_RULE_BOX_NULL, 0, 0, NULL);
    if (*result == VMM_SUCCESS)
        *result = capture_add_work(process, stream, call);
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
        *result = capture_asks_stream(process, call->stream); /* like a query of the stream */
    return *result != VMM_SUCCESS || capture_waits(process, call, result);
}

/* A wait for a stream, or a query: as measured, for a captured stream this concerns its own capture, for other streams all
 * captures. */
static vmm_result check_stream(struct sim_process *process, vmm_stream stream)
{
    vmm_result result = capture_of(process, stream) ? VMM_SUCCESS : capture_check_context(process, stream);
    if (result == VMM_SUCCESS && !capture_of(process, stream))
        result = capture_forbids(process, false);
    return result == VMM_SUCCESS ? capture_asks_stream(process, stream) : result;
}

/* Work on arrays and managed memory. */
static bool is_unheld(enum vmm_call_id id)
{
    return id == VMM_CALL_mem_map_array_async || id == VMM_CALL_mem_prefetch_async || id == VMM_CALL_stream_attach_mem_async ||
           id == VMM_CALL_mem_prefetch_batch_async || id == VMM_CALL_mem_discard_batch_async ||
           id == VMM_CALL_mem_discard_and_prefetch_batch_async;
}

/* What the arguments alone refuse is no capture's concern, nor is a call without a current context, as recorded. */
static vmm_result forbids_managed(struct sim_process *process, const struct vmm_call_mem_alloc_managed *call)
{
    const bool good = call->dptr && call->bytesize && (call->flags == VMM_MEM_ATTACH_GLOBAL || call->flags == VMM_MEM_ATTACH_HOST) &&
                      sim_current(process);
    vmm_result result = good ? capture_forbids(process, false) : VMM_SUCCESS;
    if (result != VMM_SUCCESS)
        *call->dptr = 0;
    return result;
}

/* For work that a graph cannot hold: on a captured stream it is refused and invalidates the capture, as measured. */
static vmm_result check_unheld(struct sim_process *process, const union vmm_any_call *call)
{
    const struct vmm_call_mem_map_array_async *map = &call->mem_map_array_async;
    vmm_result result;
    switch ((enum vmm_call_id)call->head.id) {
    case VMM_CALL_mem_map_array_async: return map->map_info_list && map->count ? capture_asks_stream(process, map->stream) : VMM_SUCCESS;
    case VMM_CALL_mem_prefetch_async:
        return call->mem_prefetch_async.flags || !sim_managed_place(call->mem_prefetch_async.location)
                   ? VMM_SUCCESS : capture_asks_stream(process, call->mem_prefetch_async.stream);
    case VMM_CALL_mem_prefetch_batch_async:
        return call->mem_prefetch_batch_async.flags ? VMM_SUCCESS : capture_asks_stream(process, call->mem_prefetch_batch_async.stream);
    case VMM_CALL_mem_discard_batch_async:
        return call->mem_discard_batch_async.flags ? VMM_SUCCESS : capture_asks_stream(process, call->mem_discard_batch_async.stream);
    case VMM_CALL_mem_discard_and_prefetch_batch_async:
        return call->mem_discard_and_prefetch_batch_async.flags
                   ? VMM_SUCCESS : capture_asks_stream(process, call->mem_discard_and_prefetch_batch_async.stream);
    default:
        result = capture_asks_stream(process, call->stream_attach_mem_async.stream);
        return result == VMM_SUCCESS ? capture_forbids(process, false) : result;
    }
}

/* For a call that can only be refused: does nothing in its place. */
static vmm_result check_call(struct sim_process *process, const union vmm_any_call *call)
{
    vmm_result result = VMM_SUCCESS;
    switch ((enum vmm_call_id)call->head.id) {
    case VMM_CALL_stream_query:
    case VMM_CALL_stream_synchronize: return check_stream(process, call->stream_query.stream);
    case VMM_CALL_event_query:
    case VMM_CALL_event_synchronize:
        result = capture_forbids(process, false);
        return result == VMM_SUCCESS ? capture_asks_event(process, call->event_query.event) : result;
    case VMM_CALL_graph_launch:
    case VMM_CALL_graph_upload:
    case VMM_CALL_memcpy_3d_peer_async: /* has its stream at the same offset */
        return capture_asks_stream(process, call->graph_launch.stream);
    case VMM_CALL_ctx_synchronize: return sim_current(process) ? capture_forbids(process, true) : VMM_SUCCESS;
    case VMM_CALL_array_3d_create:
    case VMM_CALL_mipmapped_array_create:
    case VMM_CALL_mem_alloc: return sim_current(process) ? capture_forbids(process, false) : VMM_SUCCESS;
    case VMM_CALL_graph_instantiate:
        return graph_known_flags(call->graph_instantiate.flags, false) && sim_current(process) ? capture_forbids(process, false) : VMM_SUCCESS;
    case VMM_CALL_array_destroy: return call->array_destroy.h_array ? capture_forbids(process, false) : VMM_SUCCESS;
    case VMM_CALL_mipmapped_array_destroy:
        return call->mipmapped_array_destroy.h_mipmapped_array ? capture_forbids(process, false) : VMM_SUCCESS;
    case VMM_CALL_mem_alloc_managed: return forbids_managed(process, &call->mem_alloc_managed);
    case VMM_CALL_mem_advise:
        return sim_current(process) && sim_managed_heeds(process, call->mem_advise.advice, call->mem_advise.location)
                   ? capture_forbids(process, false) : VMM_SUCCESS;
    case VMM_CALL_mem_free:
    case VMM_CALL_graph_exec_destroy: return capture_forbids(process, false);
    case VMM_CALL_memcpy_htod:
    case VMM_CALL_memcpy_dtoh:
    case VMM_CALL_memcpy_dtod:
    case VMM_CALL_memset_d8:
    case VMM_CALL_memset_d16:
    case VMM_CALL_memset_d32: return implicit(process, NULL);
    default: return is_unheld((enum vmm_call_id)call->head.id) ? check_unheld(process, call) : VMM_SUCCESS;
    }
}

static bool issues(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_event_destroy:
    case VMM_CALL_event_synchronize:
    case VMM_CALL_graph_launch: return false;
    case VMM_CALL_memcpy_3d_async: return true;
    default: return vmm_call_has(id, CALL_QUEUES) && !is_unheld(id);
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
