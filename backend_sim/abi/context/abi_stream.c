/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and destroying streams and events. abi_ordered.c has the work on streams. */
#include "abi.h"
#include "abi_capture.h"
#include "abi_parts.h"

enum { GREATEST_PRIORITY = -5 };

static CUresult create(vmm_system *sys, CUstream *stream, unsigned flags, int priority)
{
    CUresult result = (CUresult)vmm_stream_create(sys, (vmm_stream *)stream, flags);
    if (result != CUDA_SUCCESS)
        return result;
    struct abi_note note = {.priority = priority > 0                   ? 0
                                        : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
                                                                       : priority};
    if (note.priority)
        abi_note_set((uint64_t)(uintptr_t)*stream, &note);
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    ABI(create(sys, phStream, Flags, 0));
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    ABI(create(sys, phStream, flags, priority));
}

static CUresult destroy(vmm_system *sys, CUstream stream)
{
    CUresult result = (CUresult)vmm_stream_destroy(sys, (vmm_stream)(void *)stream);
    if (result == CUDA_SUCCESS) {
        abi_capture_stream_ends((vmm_stream)(void *)stream);
        abi_note_drop((uint64_t)(uintptr_t)stream);
    }
    return result;
}

CUresult cuStreamDestroy(CUstream hStream)
{
    ABI(destroy(sys, hStream));
}

static CUresult event_create(vmm_system *sys, CUevent *event, unsigned flags)
{
    CUresult result = (CUresult)vmm_event_create(sys, (vmm_event *)event, flags);
    if (result == CUDA_SUCCESS && flags)
        abi_note_set((uint64_t)(uintptr_t)*event, &(struct abi_note){.flags = flags});
    return result;
}

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    ABI(event_create(sys, phEvent, Flags));
}

static CUresult event_destroy(vmm_system *sys, CUevent event)
{
    CUresult result = (CUresult)vmm_event_destroy(sys, abi_event(event));
    if (result == CUDA_SUCCESS) {
        abi_capture_event_ends((uint64_t)(uintptr_t)event);
        abi_note_drop((uint64_t)(uintptr_t)event);
    }
    return result;
}

CUresult cuEventDestroy(CUevent hEvent)
{
    ABI(event_destroy(sys, hEvent));
}

CUresult cuEventQuery(CUevent hEvent)
{
    ABI_NOT_CAPTURED_EVENT(hEvent);
    ABI_NO_CAPTURE();
    ABI(vmm_event_query(sys, abi_event(hEvent)));
}

CUresult cuEventSynchronize(CUevent hEvent)
{
    ABI_NOT_CAPTURED_EVENT(hEvent);
    ABI_NO_CAPTURE();
    ABI(vmm_event_synchronize(sys, abi_event(hEvent)));
}

enum { RESOLUTION = 500 }; /* nanoseconds, as documented: cuda.h 13.0, cuEventElapsedTime */

/* Returns when the stream reached a recorded event with timing, in units of the resolution. */
static CUresult timed(const vmm_system *sys, CUevent event, int64_t *when)
{
    static const char name[] = "cuEventElapsedTime";
    uint64_t value = (uint64_t)(uintptr_t)event;
    bool recorded = false, reached = false;
    struct abi_note note = abi_note_get(value);
    if (!abi_query_event(sys, value, &recorded, &reached))
        return abi_refuse(VMM_RULE_EVENT_UNKNOWN, name, "%p is not an event", (void *)event);
    if (note.flags & CU_EVENT_DISABLE_TIMING)
        return abi_refuse(VMM_RULE_EVENT_ELAPSED, name, "the event was created with CU_EVENT_DISABLE_TIMING");
    if (!recorded)
        return abi_refuse(VMM_RULE_EVENT_ELAPSED, name, "the event was never recorded");
    if (!reached)
        return CUDA_ERROR_NOT_READY;
    *when = (int64_t)(abi_query_event_time(sys, value) / RESOLUTION);
    return CUDA_SUCCESS;
}

/* The time that passed on the host between the streams' reaching the two events; how long the work would take on a device is
 * unknown. */
static CUresult elapsed(const vmm_system *sys, float *milliseconds, CUevent start, CUevent end)
{
    int64_t from = 0, to = 0;
    CUresult result = milliseconds ? timed(sys, start, &from)
                                   : abi_refuse(VMM_RULE_EVENT_ELAPSED, "cuEventElapsedTime", "pMilliseconds is NULL");
    if (result == CUDA_SUCCESS)
        result = timed(sys, end, &to);
    if (result == CUDA_SUCCESS)
        *milliseconds = (float)(to - from) * RESOLUTION / 1e6f;
    return result;
}

CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    ABI_NOT_CAPTURED_EVENT(hStart);
    ABI_NOT_CAPTURED_EVENT(hEnd);
    ABI_INITIALISED(elapsed(sys, pMilliseconds, hStart, hEnd));
}
