/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc_event.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "heap.h"
#include "in_flight.h"
#include "order.h"
#include "launch.h"
#include "posix.h"
#include "share_event.h"

/* The argument of a waiting stream's host function: which record of which entry. */
struct sim_record_wait {
    struct sim_process *process;
    unsigned index;
    uint64_t record;
    atomic_bool done;
    struct sim_record_wait *next;
};

static void nap(void)
{
    const struct timespec moment = {0, 100000};
    nanosleep(&moment, NULL);
}

/* Releases the machine for a moment. */
static void pause_machine(struct sim_machine *machine)
{
    bool alone = atomic_load_explicit(&machine->alone, memory_order_relaxed);
    sim_machine_unlock(machine);
    nap();
    sim_machine_hold_again(machine, alone);
}

/* ---- entries ---- */

/* The shared state, locked; NULL, with the reason, on failure. Another process may take the lock between the wait for it and
 * here, so that one is waited for, too. */
static struct share *begin(struct sim_machine *machine, char why[SHARE_WHY])
{
    if (!sim_machine_share(machine, why))
        return NULL;
    while (!share_lock(machine->share)) {
        snprintf(why, SHARE_WHY, "%s", share_why(machine->share));
        struct share *busy = sim_machine_busy(machine, true);
        if (!busy)
            return NULL;
        sim_machine_lock_to_wait(machine);
        sim_machine_await(machine, busy);
    }
    return machine->share;
}

enum ipc_event_answer ipc_event_new(struct sim_process *process, uint64_t event, unsigned *index, char why[SHARE_WHY])
{
    struct share_label label;
    void *found = NULL;
    struct share *share = begin(process->machine, why);
    *index = SHARE_EVENTS;
    if (!share)
        return IPC_EVENT_SYSTEM;
    slots_find(&process->events, event, &found);
    *index = share_event_new(share, ipc_event_context(process, found ? ((const struct sim_event *)found)->context : 0), &label);
    snprintf(why, SHARE_WHY, "%d events are already shared, or the system provides no random numbers", SHARE_EVENTS);
    share_unlock(share);
    return *index < SHARE_EVENTS ? IPC_EVENT_DONE : IPC_EVENT_SYSTEM;
}

enum ipc_event_answer ipc_event_open(struct sim_process *process, const void *bytes, unsigned *index, char why[SHARE_WHY])
{
    struct sim_machine *machine = process->machine;
    struct ipc_handle handle;
    why[0] = '\0';
    if (!ipc_handle_read(bytes, &handle) || handle.kind != IPC_EVENT)
        return IPC_EVENT_FOREIGN;
    struct share *share = machine->share ? begin(machine, why) : NULL;
    if (machine->share && !share)
        return IPC_EVENT_SYSTEM;
    enum ipc_event_answer answer = !share || handle.label.machine != share->folder.state->id ? IPC_EVENT_MACHINE
        : handle.home == share->serial && handle.process == process->ordinal                 ? IPC_EVENT_OWN
                                                                                             : IPC_EVENT_DONE;
    if (answer == IPC_EVENT_DONE) {
        *index = share_event_find(share, &handle.label);
        answer = *index < SHARE_EVENTS ? IPC_EVENT_DONE : IPC_EVENT_GONE;
    }
    if (share)
        share_unlock(share);
    return answer;
}

bool ipc_event_name(const struct sim_process *process, unsigned index, void *bytes)
{
    char why[SHARE_WHY];
    struct ipc_handle handle = {.kind = IPC_EVENT, .process = process->ordinal};
    struct share *share = begin(process->machine, why);
    if (!share)
        return false;
    share_event_label(share, index, &handle.label);
    handle.home = share->serial;
    share_unlock(share);
    ipc_handle_write(bytes, &handle);
    return true;
}

struct search {
    unsigned index;
    uint64_t record; /* 0: any */
    const struct sim_event *found;
};

static void look(void *user, void *object)
{
    struct search *search = user;
    const struct sim_event *event = object;
    if (event->shared == search->index + 1 && !event->ended.call && (!search->record || event->record == search->record))
        search->found = event;
}

/* A live event of the process for the entry; if the record is not 0, the event that made it. */
static const struct sim_event *event_for(const struct sim_process *process, unsigned index, uint64_t record)
{
    struct search search = {index, record, NULL};
    slots_each(&process->events, look, &search);
    return search.found;
}

/* All systems that share the machine object count as one holder of the entry. */
void ipc_event_drop(const struct sim_process *process, unsigned index)
{
    char why[SHARE_WHY];
    struct share *share = begin(process->machine, why);
    if (!share)
        return;
    const struct sim_process *other = process->machine->processes;
    while (other && !event_for(other, index, 0))
        other = other->machine_next;
    if (!other)
        share_event_drop(share, index);
    share_unlock(share);
}

/* ---- records that are complete ---- */

bool ipc_event_record(const struct sim_process *process, uint64_t event, struct ipc_event_record *record)
{
    char why[SHARE_WHY];
    void *found = NULL;
    struct share *share = begin(process->machine, why);
    if (!share)
        return false;
    slots_find(&process->events, event, &found);
    record->record = share_event_record(share, record->index, &record->before);
    record->mark = found ? ((const struct sim_event *)found)->mark : 0;
    if (found)
        ((struct sim_event *)found)->record = record->record;
    share_unlock(share);
    return true;
}

bool ipc_event_complete(struct sim_process *process, const struct ipc_event_record *record)
{
    struct share *share = process->machine->share;
    bool reached = share_event_is_reached(share, record->index, record->before) && in_flight_reached(process, record->mark);
    if (reached)
        share_event_reach(share, record->index, record->record);
    return reached;
}

/* Enters completed records; or, at the end, forgets all. */
static void enter(struct sim_process *process, bool all)
{
    for (struct ipc_event_record **at = &process->records.first, *one; (one = *at);) {
        if (all || ipc_event_complete(process, one)) {
            *at = one->next;
            heap.free(one);
        } else {
            at = &one->next;
        }
    }
}

/* Ends when nothing is pending, so that most processes have no such thread most of the time. */
static void *watch(void *user)
{
    struct sim_process *process = user;
    struct sim_records *records = &process->records;
    for (bool more = true; more;) {
        sim_machine_lock(process->machine);
        enter(process, false);
        more = records->watched = records->first && !atomic_load(&records->stopping);
        sim_machine_unlock(process->machine);
        if (more)
            nap();
    }
    return NULL;
}

/* Without a thread, the process's own calls enter completed records. Signals go to the program's own threads. */
static void watch_records(struct sim_process *process)
{
    struct sim_records *records = &process->records;
    sigset_t own, before;
    pthread_t thread;
    if (records->watched || !records->first)
        return;
    sim_machine_lock_to_wait(process->machine);
    sigfillset(&own);
    sigdelset(&own, SIGSEGV);
    sigdelset(&own, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &own, &before);
    records->watched = !posix.pthread_create(&thread, NULL, watch, process);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    records->watched_in = life_stamp();
    if (records->watched)
        pthread_detach(thread);
}

void ipc_events_stop(struct sim_process *process)
{
    atomic_store(&process->records.stopping, true);
}

void ipc_events_close(struct sim_process *process)
{
    ipc_events_stop(process);
    while (process->records.watched && process->records.watched_in == life_stamp()) {
        sim_machine_unlock(process->machine);
        nap();
        sim_machine_lock(process->machine);
    }
    enter(process, true);
    for (struct sim_record_wait *wait = process->records.waits, *next; wait; wait = next) {
        next = wait->next;
        heap.free(wait);
    }
    process->records.waits = NULL;
}

/* Does some of the work before a record that another system of this machine object made. */
static void advance(const struct sim_process *process, unsigned index)
{
    for (struct sim_process *other = process->machine->processes; other; other = other->machine_next) {
        uint64_t mark = 0;
        for (const struct ipc_event_record *one = other->records.first; one && other != process; one = one->next)
            if (one->index == index)
                mark = one->mark;
        if (mark)
            in_flight_poll_mark(other, mark);
        enter(other, false);
    }
}

/* ---- calls ---- */

static void wait_for_record(void *user)
{
    struct sim_record_wait *wait = user;
    struct sim_machine *machine = wait->process->machine;
    while (!share_event_is_reached(machine->share, wait->index, wait->record) && !atomic_load(&wait->process->records.stopping)) {
        sim_machine_lock(machine);
        advance(wait->process, wait->index);
        sim_machine_unlock(machine);
        nap();
    }
    atomic_store(&wait->done, true);
}

/* Frees those that are over. */
static void sweep_waits(struct sim_records *records)
{
    for (struct sim_record_wait **at = &records->waits, *one; (one = *at);) {
        if (atomic_load(&one->done)) {
            *at = one->next;
            heap.free(one);
        } else {
            at = &one->next;
        }
    }
}

vmm_result ipc_event_wait(struct sim_process *process, const struct vmm_call *call, const struct queue_place *place, unsigned index)
{
    bool here;
    struct sim_records *records = &process->records;
    if (process->in_flight->order)
        lanes_wait_for_all(&process->in_flight->order->lanes, place); /* another process may have ordered it after any work */
    const uint64_t record = share_event_recorded(process->machine->share, index, &here);
    if (share_event_is_reached(process->machine->share, index, record))
        return VMM_SUCCESS;
    const struct sim_event *own = event_for(process, index, record);
    if (own)
        return in_flight_mark(process, place, call, own->mark, NULL);
    struct sim_record_wait *wait = heap.calloc(1, sizeof *wait);
    if (!wait)
        return sim_out_of_host_memory();
    sweep_waits(records);
    *wait = (struct sim_record_wait){.process = process, .index = index, .record = record, .next = records->waits};
    records->waits = wait;
    struct vmm_call_launch_host_func function = {{VMM_CALL_launch_host_func, call->number}, NULL, wait_for_record, wait};
    vmm_result result = in_flight_issue(process, place, &function.head, (enum vmm_call_id)call->id);
    if (result != VMM_SUCCESS)
        atomic_store(&wait->done, true);
    return result;
}

vmm_result ipc_event_before_record(struct sim_process *process, const struct vmm_call *call, const struct queue_place *place,
                                   const struct sim_event *event)
{
    const unsigned shared = event->shared;
    vmm_result result = VMM_SUCCESS;
    if (event->mark && !in_flight_reached(process, event->mark)) {
        stream_clock_wait(&process->in_flight->clocks, place, &event->seen);
        result = in_flight_mark(process, place, call, event->mark, NULL);
    }
    return result == VMM_SUCCESS && shared ? ipc_event_wait(process, call, place, shared - 1) : result;
}

static vmm_result record_entry(struct sim_process *process, uint64_t event, unsigned index)
{
    struct ipc_event_record *one = heap.malloc(sizeof *one), **end = &process->records.first;
    if (!one)
        return sim_out_of_host_memory();
    *one = (struct ipc_event_record){.index = index};
    if (!ipc_event_record(process, event, one)) {
        heap.free(one);
        vmm_result result = vmm_detail_refuse(VMM_RULE_IPC_SYSTEM, 0, 0, NULL);
        vmm_detail_note("the state that the processes share is damaged");
        return result;
    }
    while (*end)
        end = &(*end)->next;
    *end = one;
    enter(process, false);
    watch_records(process);
    return VMM_SUCCESS;
}

vmm_result ipc_event_recorded(struct sim_process *process, vmm_event event)
{
    void *object;
    const uint64_t value = (uint64_t)(uintptr_t)event;
    if (slots_find(&process->events, value, &object) != SLOT_LIVE || !((const struct sim_event *)object)->shared)
        return VMM_SUCCESS;
    return record_entry(process, value, ((const struct sim_event *)object)->shared - 1);
}

bool ipc_event_query(struct sim_process *process, unsigned index)
{
    bool here;
    const struct share *share = process->machine->share;
    enter(process, false);
    advance(process, index);
    return share_event_is_reached(share, index, share_event_recorded(share, index, &here));
}

void ipc_event_synchronize(struct sim_process *process, unsigned index)
{
    bool here;
    const struct share *share = process->machine->share;
    const uint64_t record = share_event_recorded(share, index, &here);
    for (enter(process, false); !share_event_is_reached(share, index, record); enter(process, false)) {
        advance(process, index);
        pause_machine(process->machine);
    }
}

/* ---- handles ---- */

static vmm_result refuse(enum ipc_event_answer answer, const char *why)
{
    static const struct {
        enum vmm_rule_id rule;
        const char *note;
    } answers[] = {
        [IPC_EVENT_OWN] = {VMM_RULE_IPC_OWN, "the event was created by this process"},
        [IPC_EVENT_FOREIGN] = {VMM_RULE_IPC_EVENT_HANDLE,
                               "the bytes of the handle do not name an event, or were changed"},
        [IPC_EVENT_MACHINE] = {VMM_RULE_IPC_MACHINE, "the handle names an event of another simulated machine"},
        [IPC_EVENT_GONE] = {VMM_RULE_IPC_EVENT_HANDLE, "the context of the event has ended"},
        [IPC_EVENT_SYSTEM] = {VMM_RULE_IPC_SYSTEM, NULL},
    };
    vmm_result result = vmm_detail_refuse(answers[answer].rule, 0, 0, NULL);
    vmm_detail_note("%s", answers[answer].note ? answers[answer].note : why);
    return result;
}

static vmm_result refuse_null(const char *argument)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_IPC_NULL, 0, 0, NULL);
    vmm_detail_argument(argument);
    return result;
}

/* Measured: zeros are written if the event cannot be shared. */
static vmm_result refuse_event(const struct sim_event *event, vmm_ipc_event_handle *handle, const char *why)
{
    memset(handle, 0, sizeof *handle);
    vmm_object nearest = sim_object_event(event);
    vmm_result result = vmm_detail_refuse(VMM_RULE_IPC_EVENT, event->value, 0, &nearest);
    vmm_detail_note("%s", why);
    return result;
}

/* The entry of an event, a new one for its first handle, including its current record. */
static vmm_result give_entry(struct sim_process *process, uint64_t value, unsigned *index)
{
    char why[SHARE_WHY];
    void *object = NULL;
    slots_find(&process->events, value, &object);
    struct sim_event *event = object;
    if (event->shared) {
        *index = event->shared - 1;
        return VMM_SUCCESS;
    }
    enum ipc_event_answer answer = ipc_event_new(process, value, index, why);
    if (answer != IPC_EVENT_DONE)
        return refuse(answer, why);
    event->shared = *index + 1; /* the event's memory outlives it */
    return event->mark && !in_flight_reached(process, event->mark) ? record_entry(process, value, *index) : VMM_SUCCESS;
}

vmm_result sim_ipc_get_event_handle(struct sim_process *process, const struct vmm_call_ipc_get_event_handle *call)
{
    void *object = NULL;
    unsigned index;
    const uint64_t value = (uint64_t)(uintptr_t)call->event;
    if (!call->p_handle || !call->event) /* even before the process initialises, as recorded */
        return refuse_null(call->p_handle ? "event" : "pHandle");
    const struct sim_context *context = sim_current(process);
    if (!context)
        return sim_no_context(process);
    if (slots_find(&process->events, value, &object) != SLOT_LIVE) {
        vmm_object nearest = object ? sim_object_event(object) : (vmm_object){0};
        return vmm_detail_refuse(VMM_RULE_EVENT_UNKNOWN, value, 0, &nearest);
    }
    const struct sim_event *event = object;
    if (!(event->flags & VMM_EVENT_INTERPROCESS))
        return refuse_event(event, call->p_handle, "the event was created without CU_EVENT_INTERPROCESS");
    if (event->opened)
        return refuse_event(event, call->p_handle, "the event belongs to another process, which opened it here");
    if (event->context != context->value) {
        vmm_object nearest = sim_object_event(event);
        return vmm_detail_refuse(VMM_RULE_EVENT_CONTEXT, event->value, 0, &nearest);
    }
    vmm_result result = give_entry(process, value, &index);
    if (result == VMM_SUCCESS && !ipc_event_name(process, index, call->p_handle))
        result = refuse(IPC_EVENT_SYSTEM, "the state that the processes share is damaged");
    return result;
}

vmm_result sim_ipc_open_event_handle(struct sim_process *process, const struct vmm_call_ipc_open_event_handle *call)
{
    char why[SHARE_WHY];
    unsigned index = 0;
    vmm_event made = NULL;
    void *object = NULL;
    if (!call->event)
        return refuse_null("phEvent");
    const struct vmm_call_event_create create = {
        {VMM_CALL_event_create, call->head.number}, &made, VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING};
    vmm_result result = sim_event_create(process, &create);
    if (result != VMM_SUCCESS)
        return result;
    const enum ipc_event_answer answer = ipc_event_open(process, &call->handle, &index, why);
    slots_find(&process->events, (uint64_t)(uintptr_t)made, &object);
    struct sim_event *event = object;
    if (answer != IPC_EVENT_DONE) {
        event->ended = sim_origin(&call->head);
        slots_end(&process->events, event->value);
        return refuse(answer, why);
    }
    event->made = sim_origin(&call->head);
    event->shared = index + 1;
    event->opened = true;
    *call->event = made;
    return VMM_SUCCESS;
}
