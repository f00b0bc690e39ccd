/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_ipc.h"

#include <stdio.h>
#include <string.h>

#include "abi_process.h"
#include "call_ipc.h"
#include "in_flight.h"
#include "share_event.h"
#include "sim.h"

/* The state that processes share, locked; NULL with the reason. Another process may take the lock between the wait for it and
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
        sim_machine_await(machine, busy);
    }
    return machine->share;
}

/* ---- memory ---- */

bool abi_ipc_is_open(const vmm_system *sys, const void *bytes)
{
    struct ipc_handle handle;
    if (!ipc_handle_read(bytes, &handle) || handle.kind != IPC_MEMORY)
        return false;
    struct sim_process *process = abi_process_lock(sys);
    const struct share *share = process->machine->share;
    bool open = share && handle.label.machine == share->folder.state->id && ipc_opened(process, &handle);
    abi_process_unlock(process);
    return open;
}

/* ---- events ---- */

enum abi_ipc abi_ipc_event_new(const vmm_system *sys, uint64_t event, unsigned *index, char why[SHARE_WHY])
{
    struct sim_process *process = abi_process_lock(sys);
    struct share_label label;
    void *found = NULL;
    struct share *share = begin(process->machine, why);
    *index = SHARE_EVENTS;
    if (share) {
        slots_find(&process->events, event, &found);
        *index = share_event_new(share, found ? ((const struct sim_event *)found)->context : 0, &label);
        snprintf(why, SHARE_WHY, "%d events are shared, or the system has no random numbers", SHARE_EVENTS);
        share_unlock(share);
    }
    abi_process_unlock(process);
    return *index < SHARE_EVENTS ? ABI_IPC_DONE : ABI_IPC_SYSTEM;
}

static enum abi_ipc open_event(struct sim_machine *machine, const struct ipc_handle *handle, unsigned *index,
                               char why[SHARE_WHY])
{
    struct share *share = machine->share ? begin(machine, why) : NULL;
    if (machine->share && !share)
        return ABI_IPC_SYSTEM;
    enum abi_ipc answer = !share || handle->label.machine != share->folder.state->id ? ABI_IPC_MACHINE
                        : handle->home == share->serial                             ? ABI_IPC_OWN
                                                                                    : ABI_IPC_DONE;
    if (answer == ABI_IPC_DONE) {
        *index = share_event_find(share, &handle->label);
        answer = *index < SHARE_EVENTS ? ABI_IPC_DONE : ABI_IPC_GONE;
    }
    if (share)
        share_unlock(share);
    return answer;
}

enum abi_ipc abi_ipc_event_open(const vmm_system *sys, const void *bytes, unsigned *index, char why[SHARE_WHY])
{
    struct ipc_handle handle;
    why[0] = '\0';
    if (!ipc_handle_read(bytes, &handle) || handle.kind != IPC_EVENT)
        return ABI_IPC_FOREIGN;
    struct sim_process *process = abi_process_lock(sys);
    enum abi_ipc answer = open_event(process->machine, &handle, index, why);
    abi_process_unlock(process);
    return answer;
}

bool abi_ipc_event_name(const vmm_system *sys, unsigned index, void *bytes)
{
    struct sim_process *process = abi_process_lock(sys);
    char why[SHARE_WHY];
    struct ipc_handle handle = {.kind = IPC_EVENT};
    struct share *share = begin(process->machine, why);
    if (share) {
        share_event_label(share, index, &handle.label);
        handle.home = share->serial;
        share_unlock(share);
        ipc_handle_write(bytes, &handle);
    }
    abi_process_unlock(process);
    return share != NULL;
}

void abi_ipc_event_drop(const vmm_system *sys, unsigned index)
{
    struct sim_process *process = abi_process_lock(sys);
    char why[SHARE_WHY];
    struct share *share = begin(process->machine, why);
    if (share) {
        share_event_drop(share, index);
        share_unlock(share);
    }
    abi_process_unlock(process);
}

bool abi_ipc_event_record(const vmm_system *sys, uint64_t event, struct abi_ipc_record *record)
{
    struct sim_process *process = abi_process_lock(sys);
    char why[SHARE_WHY];
    void *found = NULL;
    struct share *share = begin(process->machine, why);
    slots_find(&process->events, event, &found);
    if (share) {
        record->record = share_event_record(share, record->index, &record->before);
        record->mark = found ? ((const struct sim_event *)found)->mark : 0;
        share_unlock(share);
    }
    abi_process_unlock(process);
    return share != NULL;
}

bool abi_ipc_event_complete(const vmm_system *sys, const struct abi_ipc_record *record)
{
    struct sim_process *process = abi_process_lock(sys);
    struct share *share = process->machine->share;
    bool reached = share_event_is_reached(share, record->index, record->before) && in_flight_reached(process, record->mark);
    if (reached)
        share_event_reach(share, record->index, record->record);
    abi_process_unlock(process);
    return reached;
}

bool abi_ipc_event_context(const vmm_system *sys, uint64_t event, uint64_t *context)
{
    struct sim_process *process = abi_process_lock(sys);
    void *found = NULL;
    bool live = slots_find(&process->events, event, &found) == SLOT_LIVE;
    *context = live ? ((const struct sim_event *)found)->context : 0;
    abi_process_unlock(process);
    return live;
}

uint64_t abi_ipc_event_recorded(const vmm_system *sys, unsigned index, bool *here)
{
    return share_event_recorded(abi_process(sys)->machine->share, index, here);
}

bool abi_ipc_event_reached(const vmm_system *sys, unsigned index, uint64_t record)
{
    return share_event_is_reached(abi_process(sys)->machine->share, index, record);
}
