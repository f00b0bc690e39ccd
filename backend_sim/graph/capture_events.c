/* SPDX-License-Identifier: Apache-2.0 */
/* Records of events in captured streams, and waits for them, which join streams to a capture. */
#include "capture_parts.h"

/* As for a record or wait on a stream that is not being captured. */
static vmm_result check_event(const struct sim_process *process, vmm_graph_node_type type, vmm_event event, struct graph_work *work)
{
    return event ? graph_event_work(process, type, event, work) : vmm_detail_refuse(VMM_RULE_EVENT_NONE, 0, 0, NULL);
}

vmm_result capture_records(const struct sim_process *process, vmm_stream stream, vmm_event event, bool outside)
{
    struct graph_work work;
    const struct capture_stream *found = capture_of(process, stream);
    vmm_result result = capture_goes_on(process, stream);
    if (result == VMM_SUCCESS)
        result = check_event(process, VMM_GRAPH_NODE_TYPE_EVENT_RECORD, event, &work);
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
    if (event->capture->invalid) /* as measured, as if it had ended */
        return over((vmm_event)(uintptr_t)event->key);
    if (found && found->capture != event->capture) {
        found->capture->invalid = event->capture->invalid = true;
        return graph_refuse(VMM_RULE_CAPTURE_MERGE, event->key, "the event was recorded in a capture other than the stream's: "
                            "both captures are now invalid");
    }
    if (capture_is_legacy(stream)) {
        event->capture->invalid = true;
        return graph_refuse(VMM_RULE_CAPTURE_IMPLICIT, event->key, "the legacy default stream cannot join the capture in which "
                            "the event was recorded; that capture is now invalid");
    }
    vmm_result result = capture_check_stream(process, stream, &blocking);
    if (result != VMM_SUCCESS)
        return result;
    if (!capture_wait(&process->graphs->captures, capture_key(stream), event))
        return sim_out_of_host_memory();
    if (!found)
        capture_of(process, stream)->blocking = blocking;
    return VMM_SUCCESS;
}

/* A captured stream waits for an event that no capture recorded. */
static vmm_result isolated(struct sim_process *process, vmm_stream stream, vmm_event value)
{
    void *object;
    struct graph_work unused;
    if (slots_find(&process->events, (uint64_t)(uintptr_t)value, &object) != SLOT_LIVE) {
        capture_of(process, stream)->capture->invalid = true;
        return check_event(process, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, value, &unused);
    }
    if (!((const struct sim_event *)object)->mark)
        return VMM_SUCCESS;
    capture_of(process, stream)->capture->invalid = true;
    return graph_refuse(VMM_RULE_CAPTURE_ISOLATION, (uint64_t)(uintptr_t)value, "the event was recorded in a stream that was "
                        "not being captured: the call has invalidated the capture");
}

static bool is_over(const struct capture_event *kept)
{
    return !kept->capture || kept->capture->invalid;
}

/* With the flag, the wait itself becomes a node, unless the capture in which the event was recorded is over. */
static vmm_result wait_outside(const struct sim_process *process, const struct capture_event *kept,
                               const struct vmm_call_stream_wait_event *call)
{
    struct graph_work work;
    if (call->flags != VMM_EVENT_WAIT_EXTERNAL)
        return vmm_detail_refuse(VMM_RULE_EVENT_WAIT_FLAGS, call->flags, VMM_EVENT_WAIT_EXTERNAL, NULL);
    if (kept && is_over(kept)) {
        capture_of(process, call->stream)->capture->invalid = true;
        return over(call->event);
    }
    vmm_result result = check_event(process, VMM_GRAPH_NODE_TYPE_WAIT_EVENT, call->event, &work);
    return result == VMM_SUCCESS ? capture_add(process, call->stream, &work) : result;
}

bool capture_waits(struct sim_process *process, const struct vmm_call_stream_wait_event *call, vmm_result *result)
{
    const struct capture_event *kept = kept_event(process, call->event);
    struct capture_stream *found = capture_of(process, call->stream);
    if (kept && (*result = capture_check_context(process, call->stream)) != VMM_SUCCESS)
        return true;
    if (found && (*result = capture_goes_on(process, call->stream)) != VMM_SUCCESS)
        return true;
    if (call->flags && !found && (!kept || !is_over(kept)))
        return false;
    if (call->flags && found)
        *result = wait_outside(process, kept, call);
    else if (kept && kept->capture && !call->flags)
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
    if (is_over(kept))
        return over(event);
    kept->capture->invalid = true;
    return graph_refuse(VMM_RULE_CAPTURED_EVENT, (uint64_t)(uintptr_t)event, "there is nothing to wait for or query: the call has "
                        "invalidated the capture");
}
