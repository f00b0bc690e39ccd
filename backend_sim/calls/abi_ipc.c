/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_ipc.h"

#include <stdio.h>
#include <string.h>

#include "abi_process.h"
#include "heap.h"
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

/* ---- name ---- */

static enum abi_ipc find(const struct sim_process *process, uint64_t address, struct sim_allocation **allocation)
{
    *allocation = sim_allocation_at(process, address);
    return !*allocation || (*allocation)->pooled ? ABI_IPC_NO_ALLOCATION : (*allocation)->opens ? ABI_IPC_OPENED : ABI_IPC_DONE;
}

static enum abi_ipc name(struct share *share, const struct sim_process *process, const struct sim_allocation *allocation,
                         void *bytes, char why[SHARE_WHY])
{
    const struct sim_context *context = sim_current(process);
    struct ipc_handle handle = {.kind = IPC_MEMORY, .size = allocation->size, .context = context ? context->number : 0};
    const char *wrong = share_name_any(share, process->machine, allocation->block, &handle.label);
    handle.home = share->serial;
    if (wrong) {
        snprintf(why, SHARE_WHY, "%s", wrong);
        return ABI_IPC_SYSTEM;
    }
    ipc_handle_write(bytes, &handle);
    return ABI_IPC_DONE;
}

enum abi_ipc abi_ipc_name(const vmm_system *sys, uint64_t address, void *bytes, char why[SHARE_WHY])
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_allocation *allocation;
    enum abi_ipc answer = find(process, address, &allocation);
    struct share *share = answer == ABI_IPC_DONE ? begin(process->machine, why) : NULL;
    if (share) {
        answer = find(process, address, &allocation); /* begin may have released the machine's lock */
        if (answer == ABI_IPC_DONE) /* LCOV_EXCL_BR_LINE: another thread has just ended it */
            answer = name(share, process, allocation, bytes, why);
        share_unlock(share);
    } else if (answer == ABI_IPC_DONE) {
        answer = ABI_IPC_SYSTEM;
    }
    abi_process_unlock(process);
    return answer;
}

/* ---- open ---- */

/* What this process has open of that number on a device. It may be opened again even where its owner has ended it, as measured. */
static struct sim_allocation *opened(const struct sim_process *process, uint64_t number)
{
    const struct sim_context *context = sim_current(process);
    const int device = context ? context->device : -1;
    struct sim_allocation *allocation = addrmap_ceil(&process->allocations, 0);
    while (allocation && !(allocation->opens && allocation->opened_for == device && allocation->block->shared == number))
        allocation = addrmap_ceil(&process->allocations, allocation->start + 1);
    return allocation;
}

static enum abi_ipc open_again(const struct sim_process *process, struct sim_allocation *allocation, bool once, uint64_t *address)
{
    if (once)
        return ABI_IPC_ALREADY;
    if (allocation->context != sim_current(process)->value) /* there is one: its device is the allocation's */
        return ABI_IPC_CONTEXT;
    allocation->opens++;
    *address = allocation->start;
    return ABI_IPC_DONE;
}

/* Gives the block addresses; the allocation takes over the caller's hold. */
static enum abi_ipc begin_allocation(struct sim_process *process, struct sim_block *block, uint64_t size, uint64_t number,
                                     uint64_t *address)
{
    const struct sim_context *context = sim_current(process);
    struct sim_allocation *allocation = heap.calloc(1, sizeof *allocation);
    uint64_t unit = process->machine->profile.va_granularity;
    if (!context || !allocation) {
        heap.free(allocation);
        return context ? ABI_IPC_HOST_MEMORY : ABI_IPC_CONTEXT;
    }
    allocation->size = size && size <= block->size ? size : block->size; /* the bytes of a handle are anybody's */
    allocation->span = (block->size + unit - 1) / unit * unit;
    allocation->context = context->value;
    allocation->made = (struct sim_origin){number, vmm_reported_call(VMM_CALL_mem_alloc)};
    allocation->opens = 1;
    allocation->opened_for = context->device;
    if (!sim_allocation_enter(process, allocation, unit)) {
        heap.free(allocation);
        return ABI_IPC_HOST_MEMORY;
    }
    allocation->block = block;
    allocation->number = sim_process_number(process, VMM_OBJECT_ALLOCATION);
    *address = allocation->start;
    return ABI_IPC_DONE;
}

static enum abi_ipc attach(struct sim_process *process, struct sim_block *block, uint64_t size, uint64_t number,
                           uint64_t *address)
{
    enum abi_ipc answer = begin_allocation(process, block, size, number, address);
    if (answer != ABI_IPC_DONE)
        sim_block_drop(process->machine, block);
    return answer;
}

/* Finds the block, with a holder of this process. */
static enum abi_ipc find_block(struct share *share, struct sim_machine *machine, const struct ipc_handle *handle,
                               struct sim_block **block, char why[SHARE_WHY])
{
    share_tidy(share); /* an owner that has ended holds nothing */
    if (!share_home_lives(share->folder.state, handle->home))
        return ABI_IPC_ENDED;
    enum share_found found = share_import_from(share, machine, &handle->label, handle->home, block, why);
    return found == SHARE_FOUND ? ABI_IPC_DONE : found == SHARE_UNKNOWN ? ABI_IPC_GONE : ABI_IPC_SYSTEM;
}

static enum abi_ipc open_handle(struct sim_process *process, const struct ipc_handle *handle, bool once, uint64_t number,
                                uint64_t *address, char why[SHARE_WHY])
{
    struct sim_machine *machine = process->machine;
    struct sim_block *block;
    struct share *share = machine->share ? begin(machine, why) : NULL;
    if (machine->share && !share)
        return ABI_IPC_SYSTEM;
    struct sim_allocation *again = opened(process, handle->label.number);
    enum abi_ipc answer = !share || handle->label.machine != share->folder.state->id ? ABI_IPC_MACHINE
                        : handle->home == share->serial                             ? ABI_IPC_OWN
                        : again ? open_again(process, again, once, address)
                                : find_block(share, machine, handle, &block, why);
    if (share)
        share_unlock(share);
    return answer == ABI_IPC_DONE && !again ? attach(process, block, handle->size, number, address) : answer;
}

enum abi_ipc abi_ipc_open(vmm_system *sys, const void *bytes, bool once, uint64_t number, uint64_t *address,
                          char why[SHARE_WHY])
{
    struct ipc_handle handle;
    why[0] = '\0';
    if (!ipc_handle_read(bytes, &handle) || handle.kind != IPC_MEMORY)
        return ABI_IPC_FOREIGN;
    struct sim_process *process = abi_process_lock(sys);
    enum abi_ipc answer = open_handle(process, &handle, once, number, address, why);
    abi_process_unlock(process);
    return answer;
}

/* ---- close ---- */

/* Has the current context's device faulted? As for cuMemFree, memory is kept then. */
static bool is_lost(const struct sim_process *process)
{
    const struct sim_context *context = sim_current(process);
    return context && process->fault[context->device].lost;
}

/* The wait releases the lock, so that another thread may close or end it meanwhile. */
static enum abi_ipc close_last(struct sim_process *process, uint64_t start, uint64_t number)
{
    struct sim_allocation *allocation = sim_allocation_at(process, start);
    struct queue_place place = {.device = allocation->block->prop.location.id};
    if (in_flight_wait(process, &place, QUEUE_DEVICE) != VMM_SUCCESS || is_lost(process))
        return ABI_IPC_LOST;
    allocation = sim_allocation_at(process, start);
    if (allocation && allocation->opens)
        sim_allocation_end(process, allocation, (struct sim_origin){number, vmm_reported_call(VMM_CALL_mem_free)});
    return ABI_IPC_DONE;
}

enum abi_ipc abi_ipc_close(vmm_system *sys, uint64_t address, uint64_t number)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_allocation *allocation = sim_allocation_at(process, address);
    enum abi_ipc answer = !allocation                  ? ABI_IPC_NO_ALLOCATION
                        : !allocation->opens           ? ABI_IPC_OWN
                        : allocation->start != address ? ABI_IPC_INSIDE
                                                       : ABI_IPC_DONE;
    if (answer == ABI_IPC_DONE && allocation->opens > 1)
        allocation->opens--;
    else if (answer == ABI_IPC_DONE)
        answer = close_last(process, address, number);
    abi_process_unlock(process);
    return answer;
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
