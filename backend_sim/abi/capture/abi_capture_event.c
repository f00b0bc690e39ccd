/* SPDX-License-Identifier: Apache-2.0 */
/* Events in captures: a record stands for what the stream has reached, and a wait takes the stream there. */
#include <stdatomic.h>

#include "abi_capture.h"
#include "abi_capture_parts.h"

static atomic_bool any; /* whether an event was ever recorded in a captured stream */

bool abi_capture_events(void)
{
    return atomic_load_explicit(&any, memory_order_relaxed);
}

static CUresult unknown_event(const char *function, CUevent event)
{
    return abi_refuse(event ? VMM_RULE_EVENT_UNKNOWN : VMM_RULE_EVENT_NONE, function, "%p is not an event", (void *)event);
}

static CUresult over(const char *function)
{
    return abi_refuse(VMM_RULE_CAPTURED_EVENT_OVER, function, "the capture in which the event was recorded has ended or is invalid");
}

/* ---- records ---- */

static CUresult record_outside(const char *function, vmm_stream stream, CUevent event)
{
    struct abi_work work = {.params.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    work.params.eventRecord.event = event;
    return abi_capture_add(function, stream, &work);
}

static CUresult record(const char *function, vmm_stream stream, CUevent event)
{
    CUresult result = CUDA_SUCCESS;
    abi_graphs_lock();
    struct capture_stream *found = abi_capture_going_on(function, stream, &result);
    const uint64_t recorded = (uint64_t)(uintptr_t)event;
    if (found && !capture_record(&abi_captures, found, recorded)) /* LCOV_EXCL_BR_LINE: unless another thread has just ended it */
        result = abi_no_memory(function);
    atomic_store(&any, true);
    abi_graphs_unlock();
    return result;
}

bool abi_capture_record(const vmm_system *sys, const char *function, vmm_stream stream, CUevent event, unsigned flags,
                        CUresult *result)
{
    bool recorded, reached;
    if (abi_capture_status(stream) == CU_STREAM_CAPTURE_STATUS_NONE)
        return false;
    if ((*result = abi_capture_goes_on(function, stream)) != CUDA_SUCCESS)
        return true;
    if (!abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached))
        *result = unknown_event(function, event);
    else if (flags & CU_EVENT_RECORD_EXTERNAL)
        *result = record_outside(function, stream, event);
    else
        *result = record(function, stream, event);
    return true;
}

/* ---- waits ---- */

/* Was the event last recorded in a capture that has ended? */
static bool ended(CUevent event)
{
    abi_graphs_lock();
    const struct capture_event *kept = capture_event_find(&abi_captures, (uint64_t)(uintptr_t)event);
    bool is = kept && !kept->capture;
    abi_graphs_unlock();
    return is;
}

static CUresult wait_outside(const char *function, vmm_stream stream, CUevent event)
{
    struct abi_work work = {.params.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    work.params.eventWait.event = event;
    return abi_capture_add(function, stream, &work);
}

/* The stream waits for an event of a capture in progress. With the lock. */
static CUresult join(const char *function, vmm_stream stream, bool blocking, const struct capture_event *event)
{
    struct capture_stream *found = abi_capture_find(stream);
    if (event->capture->invalid)
        return abi_capture_invalidated(function);
    if (found && found->capture != event->capture) {
        found->capture->invalid = true;
        event->capture->invalid = true;
        return abi_refuse(VMM_RULE_CAPTURE_MERGE, function, "the event was recorded in another capture than the stream's: both "
                          "captures are invalid now");
    }
    if (!stream || stream == VMM_STREAM_LEGACY) {
        event->capture->invalid = true;
        return abi_refuse(VMM_RULE_CAPTURE_IMPLICIT, function, "the legacy default stream cannot join the capture in which the event "
                          "was recorded, which is invalid now");
    }
    if (!capture_wait(&abi_captures, abi_capture_key(stream), event))
        return abi_no_memory(function);
    if (!found)
        abi_capture_find(stream)->blocking = blocking;
    return CUDA_SUCCESS;
}

/* A captured stream waits for an event that no capture recorded. With the lock. */
static CUresult isolated(const char *function, const struct capture_stream *stream, bool recorded)
{
    if (!recorded)
        return CUDA_SUCCESS;
    stream->capture->invalid = true;
    return abi_refuse(VMM_RULE_CAPTURE_ISOLATION, function, "the event was recorded in a stream that was not captured: the call "
                      "has invalidated the capture");
}

static bool wait(const char *function, vmm_stream stream, bool blocking, CUevent event, bool recorded, CUresult *result)
{
    abi_graphs_lock();
    const struct capture_event *kept = capture_event_find(&abi_captures, (uint64_t)(uintptr_t)event);
    const struct capture_stream *found = abi_capture_find(stream);
    if (found && found->capture->invalid) /* LCOV_EXCL_BR_LINE: another thread has invalidated it since abi_capture_wait looked */
        *result = abi_capture_invalidated(function); /* LCOV_EXCL_LINE: the same */
    else if (kept && kept->capture)
        *result = join(function, stream, blocking, kept);
    else if (kept)
        *result = over(function);
    else if (found)
        *result = isolated(function, found, recorded);
    if (found && kept && !kept->capture)
        found->capture->invalid = true;
    abi_graphs_unlock();
    return found || kept;
}

bool abi_capture_wait(const vmm_system *sys, const char *function, vmm_stream stream, CUevent event, unsigned flags,
                      CUresult *result)
{
    bool recorded, reached;
    struct abi_query_stream found = {0};
    if (!abi_capture_any() && !abi_capture_events())
        return false;
    bool captured = abi_capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE;
    if (captured && (*result = abi_capture_goes_on(function, stream)) != CUDA_SUCCESS)
        return true;
    if (!abi_query_event(sys, (uint64_t)(uintptr_t)event, &recorded, &reached)) {
        *result = captured ? unknown_event(function, event) : CUDA_SUCCESS;
        if (captured)
            abi_capture_spoil(stream);
        return captured;
    }
    if (flags) {
        if (!captured && ended(event)) {
            *result = over(function);
            return true;
        }
        if (captured && flags != CU_EVENT_WAIT_EXTERNAL)
            *result = abi_refuse(VMM_RULE_EVENT_WAIT_FLAGS, function, "flags 0x%x are unknown", flags);
        else if (captured)
            *result = wait_outside(function, stream, event);
        return captured;
    }
    if (stream && stream != VMM_STREAM_LEGACY && stream != VMM_STREAM_PER_THREAD)
        abi_query_stream(sys, (uint64_t)(uintptr_t)stream, &found);
    return wait(function, stream, !(found.flags & VMM_STREAM_NON_BLOCKING), event, recorded, result);
}

/* ---- queries, and the ends of events and streams ---- */

CUresult abi_capture_event(const char *function, CUevent event)
{
    if (!abi_capture_any() && !abi_capture_events())
        return CUDA_SUCCESS;
    abi_graphs_lock();
    const struct capture_event *kept = capture_event_find(&abi_captures, (uint64_t)(uintptr_t)event);
    bool valid = kept && kept->capture && !kept->capture->invalid;
    if (valid)
        kept->capture->invalid = true;
    abi_graphs_unlock();
    if (!kept)
        return CUDA_SUCCESS;
    return valid ? abi_refuse(VMM_RULE_CAPTURED_EVENT, function, "the event was recorded in a captured stream, so there is nothing "
                              "to wait for or query: the call has invalidated the capture")
                 : over(function);
}

void abi_capture_event_ends(uint64_t event)
{
    if (!abi_capture_any() && !abi_capture_events())
        return;
    abi_graphs_lock();
    capture_event_drop(&abi_captures, event);
    abi_graphs_unlock();
}
