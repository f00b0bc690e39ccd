/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_ipc_event.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "abi_capture.h"
#include "abi_ipc.h"
#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"
#include "posix.h"

/* A record of this process that is not known to be complete. */
struct pending {
    struct abi_ipc_record record;
    struct pending *next;
};

/* Held while the machine is asked which records are complete: nobody finds the list empty that another thread is looking through. */
LIFE_LOCK(lock, LIFE_RECORDS, NULL)
static struct pending *pending; /* the oldest first, since a record waits for the one before it */
static atomic_bool any; /* has an event ever been shared? */
static _Atomic(vmm_system *) system_of;
static bool watched; /* the thread below is there */
static atomic_bool stopping; /* streams that wait read it without the lock */
static uint64_t watched_in; /* in this process (life_stamp) */
static pthread_t watcher;

static void nap(void)
{
    const struct timespec moment = {0, 100000};
    nanosleep(&moment, NULL);
}

static uint64_t value_of(CUevent event)
{
    return (uint64_t)(uintptr_t)event;
}

/* ---- records that are complete ---- */

static void add(struct pending *one)
{
    struct pending **end = &pending;
    one->next = NULL;
    life_acquire(&lock);
    while (*end)
        end = &(*end)->next;
    *end = one;
    life_release(&lock);
}

/* Enters what is complete; or, for the end, forgets all. The caller holds the lock. */
static void enter_held(const vmm_system *sys, bool all)
{
    for (struct pending **at = &pending, *one; (one = *at);) {
        if (all || abi_ipc_event_complete(sys, &one->record)) {
            *at = one->next;
            heap.free(one);
        } else {
            at = &one->next;
        }
    }
}

static void enter(const vmm_system *sys)
{
    life_acquire(&lock);
    enter_held(sys, false);
    life_release(&lock);
}

/* Ends when nothing is pending, so that most processes have no such thread most of the time. */
static void *watch(void *user)
{
    const vmm_system *sys = user;
    for (bool more = true; more;) {
        life_acquire(&lock);
        enter_held(sys, false);
        more = watched = pending && !stopping;
        life_release(&lock);
        if (more)
            nap();
    }
    return NULL;
}

/* Without a thread, the process's own calls enter what is complete. */
static void watch_pending(vmm_system *sys)
{
    life_acquire(&lock);
    if (!watched) { /* a child of a fork has no driver, and the end stops threads that no call can start again */
        watched = !posix.pthread_create(&watcher, NULL, watch, sys);
        watched_in = life_stamp();
        if (watched)
            pthread_detach(watcher);
    }
    life_release(&lock);
}

void abi_ipc_events_stop(void)
{
    atomic_store(&stopping, true);
}

void abi_ipc_events_close(void)
{
    bool there = true;
    life_acquire(&lock);
    there = watched && watched_in == life_stamp();
    life_release(&lock);
    while (there) {
        nap();
        life_acquire(&lock);
        there = watched;
        life_release(&lock);
    }
    life_acquire(&lock);
    enter_held(NULL, true);
    life_release(&lock);
}

/* ---- entries of events ---- */

/* The entry's index; false if the event is not shared. */
static bool entry_of(CUevent event, unsigned *index)
{
    if (!atomic_load_explicit(&any, memory_order_relaxed))
        return false;
    struct abi_note note = abi_note_get(value_of(event));
    *index = note.shared - 1;
    return note.shared != 0;
}

bool abi_ipc_event_is(CUevent event)
{
    unsigned index;
    return entry_of(event, &index);
}

CUresult abi_ipc_event_not_captured(CUevent event, vmm_stream stream, const char *function)
{
    if (!abi_ipc_event_is(event) || abi_capture_status(stream) == CU_STREAM_CAPTURE_STATUS_NONE)
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_CAPTURE_FORBIDS, function, "the event is shared by processes, and no graph holds such an event");
}

static bool remember(vmm_system *sys, CUevent event, unsigned index, bool opened)
{
    struct abi_note note = abi_note_get(value_of(event));
    note.flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    note.shared = index + 1;
    note.opened = opened;
    atomic_store(&system_of, sys);
    atomic_store(&any, true);
    return abi_note_set(value_of(event), &note);
}

void abi_ipc_event_ended(const vmm_system *sys, CUevent event)
{
    unsigned index;
    if (entry_of(event, &index))
        abi_ipc_event_drop(sys, index);
}

/* A record of the entry, for the last record of the event. */
static CUresult begin_record(vmm_system *sys, CUevent event, unsigned index)
{
    struct pending *one = heap.malloc(sizeof *one);
    if (!one)
        return abi_no_memory("cuEventRecord");
    one->record.index = index;
    if (!abi_ipc_event_record(sys, value_of(event), &one->record)) {
        heap.free(one);
        return abi_refuse(VMM_RULE_IPC_SYSTEM, "cuEventRecord", "the state that the processes share is out of order");
    }
    add(one);
    enter(sys);
    watch_pending(sys);
    return CUDA_SUCCESS;
}

/* ---- the driver's calls ---- */

/* What a stream waits for: the entry's index in the low bits, the record above. */
enum { INDEX_BITS = 12 };

static void CUDA_CB wait_for_record(void *data)
{
    const uint64_t all = (uint64_t)(uintptr_t)data;
    const vmm_system *sys = atomic_load(&system_of);
    while (!abi_ipc_event_reached(sys, all & ((1u << INDEX_BITS) - 1), all >> INDEX_BITS) && !stopping)
        nap();
}

/* Makes the stream wait for another process's last record; its own are waited for as records of any event. */
static CUresult wait_for_other(vmm_system *sys, vmm_stream stream, unsigned index)
{
    bool here = true;
    uint64_t record = abi_ipc_event_recorded(sys, index, &here);
    if (here || abi_ipc_event_reached(sys, index, record))
        return CUDA_SUCCESS;
    return (CUresult)vmm_launch_host_func(sys, stream, wait_for_record, (void *)(uintptr_t)(record << INDEX_BITS | index));
}

/* Measured: work in the stream of a record goes on when the record before it is complete, also where no other process has the event
 * yet. */
CUresult abi_ipc_event_made(vmm_system *sys, CUevent event, vmm_stream stream)
{
    unsigned index = 0;
    bool shared = entry_of(event, &index), recorded = false, reached = false;
    CUresult result = CUDA_SUCCESS;
    if (abi_query_event(sys, value_of(event), &recorded, &reached) && recorded && !reached)
        result = (CUresult)vmm_stream_wait_event(sys, stream, abi_event(event), 0);
    if (result == CUDA_SUCCESS && shared)
        result = wait_for_other(sys, stream, index);
    if (result == CUDA_SUCCESS)
        result = (CUresult)vmm_event_record(sys, abi_event(event), stream);
    return result == CUDA_SUCCESS && shared ? begin_record(sys, event, index) : result;
}

CUresult abi_ipc_event_query(vmm_system *sys, CUevent event)
{
    unsigned index = 0;
    bool here;
    CUresult result = (CUresult)vmm_event_query(sys, abi_event(event));
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        return result;
    if (!entry_of(event, &index)) /* LCOV_EXCL_BR_LINE: unless another thread has just destroyed it */
        return result;            /* LCOV_EXCL_LINE: the same */
    enter(sys);
    uint64_t record = abi_ipc_event_recorded(sys, index, &here);
    return abi_ipc_event_reached(sys, index, record) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult abi_ipc_event_synchronize(vmm_system *sys, CUevent event)
{
    unsigned index = 0;
    bool here;
    CUresult result = (CUresult)vmm_event_synchronize(sys, abi_event(event));
    if (result != CUDA_SUCCESS)
        return result;
    if (!entry_of(event, &index)) /* LCOV_EXCL_BR_LINE: as above */
        return result;            /* LCOV_EXCL_LINE: the same */
    uint64_t record = abi_ipc_event_recorded(sys, index, &here);
    for (enter(sys); !abi_ipc_event_reached(sys, index, record); enter(sys))
        nap();
    return CUDA_SUCCESS;
}

CUresult abi_ipc_event_wait(vmm_system *sys, vmm_stream stream, CUevent event, unsigned flags)
{
    unsigned index = 0;
    CUresult result = (CUresult)vmm_stream_wait_event(sys, stream, abi_event(event), flags);
    if (result != CUDA_SUCCESS)
        return result;
    if (!entry_of(event, &index)) /* LCOV_EXCL_BR_LINE: as above */
        return result;            /* LCOV_EXCL_LINE: the same */
    return wait_for_other(sys, stream, index);
}

/* ---- handles ---- */

static CUresult refuse(enum abi_ipc answer, const char *function, const char *why)
{
    switch (answer) {
    case ABI_IPC_DONE: return CUDA_SUCCESS;
    case ABI_IPC_FOREIGN:
        return abi_refuse(VMM_RULE_IPC_EVENT_HANDLE, function, "the bytes of the handle are not those of an event, or not as they were made");
    case ABI_IPC_MACHINE: return abi_refuse(VMM_RULE_IPC_MACHINE, function, "the handle names an event of another simulated machine");
    case ABI_IPC_OWN: return abi_refuse(VMM_RULE_IPC_OWN, function, "the event was created by this process");
    case ABI_IPC_GONE: return abi_refuse(VMM_RULE_IPC_EVENT_HANDLE, function, "the context of the event has ended");
    default: return abi_refuse(VMM_RULE_IPC_SYSTEM, function, "%s", why);
    }
}

static CUresult share_event(vmm_system *sys, CUevent event, unsigned *index)
{
    char why[SHARE_WHY];
    bool recorded = false, reached = false;
    if (entry_of(event, index))
        return CUDA_SUCCESS;
    CUresult result = refuse(abi_ipc_event_new(sys, value_of(event), index, why), "cuIpcGetEventHandle", why);
    if (result != CUDA_SUCCESS)
        return result;
    remember(sys, event, *index, false); /* its flags are noted, so that this needs no memory */
    abi_query_event(sys, value_of(event), &recorded, &reached);
    return recorded && !reached ? begin_record(sys, event, *index) : CUDA_SUCCESS;
}

/* Measured: zeros are written where the event is none to share. */
static CUresult refuse_event(CUipcEventHandle *handle, const char *why)
{
    memset(handle, 0, sizeof *handle);
    return abi_refuse(VMM_RULE_IPC_EVENT, "cuIpcGetEventHandle", "%s", why);
}

static CUresult get(vmm_system *sys, CUipcEventHandle *handle, CUevent event)
{
    static const char name[] = "cuIpcGetEventHandle";
    uint64_t current, made_in;
    struct abi_query_context context;
    unsigned index;
    CUresult result = abi_current(sys, name, &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!abi_ipc_event_context(sys, value_of(event), &made_in))
        return abi_refuse(VMM_RULE_EVENT_UNKNOWN, name, "%p is not an event", (void *)event);
    struct abi_note note = abi_note_get(value_of(event));
    if (!(note.flags & CU_EVENT_INTERPROCESS))
        return refuse_event(handle, "the event was created without CU_EVENT_INTERPROCESS");
    if (note.opened)
        return refuse_event(handle, "the event belongs to another process, which opened it here");
    if (made_in != current)
        return abi_refuse(VMM_RULE_EVENT_CONTEXT, name, "the event belongs to another context than the current one");
    result = share_event(sys, event, &index);
    if (result == CUDA_SUCCESS && !abi_ipc_event_name(sys, index, handle))
        result = refuse(ABI_IPC_SYSTEM, name, "the state that the processes share is out of order");
    return result;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    if (!pHandle || !event) /* even before cuInit, as recorded */
        return abi_null("cuIpcGetEventHandle", pHandle ? "event" : "pHandle");
    ABI_INITIALISED(get(sys, pHandle, event));
}

static CUresult open_event(vmm_system *sys, CUevent *event, const CUipcEventHandle *handle)
{
    static const char name[] = "cuIpcOpenEventHandle";
    char why[SHARE_WHY];
    vmm_event made = NULL;
    unsigned index = 0;
    if (!event)
        return abi_null(name, "phEvent");
    CUresult result = (CUresult)vmm_event_create(sys, &made, VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS)
        return result;
    const enum abi_ipc answer = abi_ipc_event_open(sys, handle, &index, why);
    if (answer == ABI_IPC_DONE && remember(sys, (CUevent)(void *)made, index, true)) {
        *event = (CUevent)(void *)made;
        return CUDA_SUCCESS;
    }
    vmm_event_destroy(sys, made); /* before the refusal, whose detail is the last */
    if (answer != ABI_IPC_DONE)
        return refuse(answer, name, why);
    abi_ipc_event_drop(sys, index);
    return abi_no_memory(name);
}

CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    ABI_INITIALISED(open_event(sys, phEvent, &handle));
}
