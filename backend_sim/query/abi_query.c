/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_query.h"

#include "abi_process.h"
#include "in_flight.h"
#include "objects.h"
#include "pools.h"
#include "process.h"
#include "translate.h"
#include "sim.h"

const struct sim_profile *abi_query_profile(const vmm_system *sys)
{
    return &abi_process(sys)->machine->profile;
}

int abi_query_place(const vmm_system *sys, int device)
{
    return abi_process(sys)->machine->visible.place[device];
}

void abi_query_uuid(const vmm_system *sys, int device, unsigned char uuid[VISIBLE_UUID])
{
    visible_devices_uuid(&abi_process(sys)->machine->hardware, abi_query_place(sys, device), uuid);
}

uint64_t abi_query_current(const vmm_system *sys)
{
    struct sim_process *process = abi_process_lock(sys);
    uint64_t value = context_stack_get(&process->current);
    abi_process_unlock(process);
    return value;
}

bool abi_query_context(const vmm_system *sys, uint64_t value, struct abi_query_context *context)
{
    struct sim_process *process = abi_process_lock(sys);
    void *object = NULL;
    bool live = slots_find(&process->contexts, value, &object) == SLOT_LIVE;
    const struct sim_context *found = object;
    if (found)
        *context = (struct abi_query_context){.device = found->device, .primary = found->primary,
                                              .alive = live && !found->ended_primary, .id = found->number};
    abi_process_unlock(process);
    return found != NULL;
}

bool abi_query_primary(const vmm_system *sys, int device)
{
    struct sim_process *process = abi_process_lock(sys);
    const struct sim_context *context = process->primary[device];
    bool active = context && process->primary_retains[device] && !context->ended_primary;
    abi_process_unlock(process);
    return active;
}

bool abi_query_inside(const vmm_system *sys)
{
    struct sim_process *process = abi_process_lock(sys);
    bool inside = in_flight_is_inside(process->in_flight) != NULL;
    abi_process_unlock(process);
    return inside;
}

bool abi_query_host_function(const vmm_system *sys)
{
    struct sim_process *process = abi_process_lock(sys);
    bool runs = process->in_flight->inside != NULL && !sim_process_forked(process);
    abi_process_unlock(process);
    return runs;
}

bool abi_query_stream(const vmm_system *sys, uint64_t value, struct abi_query_stream *stream)
{
    struct sim_process *process = abi_process_lock(sys);
    void *object = NULL;
    bool live = slots_find(&process->streams, value, &object) == SLOT_LIVE;
    const struct sim_stream *found = object;
    if (live)
        *stream = (struct abi_query_stream){found->context,
                                            found->non_blocking ? VMM_STREAM_NON_BLOCKING : VMM_STREAM_DEFAULT,
                                            found->number};
    abi_process_unlock(process);
    return live;
}

bool abi_query_event(const vmm_system *sys, uint64_t value, bool *recorded, bool *reached)
{
    struct sim_process *process = abi_process_lock(sys);
    void *object = NULL;
    bool live = slots_find(&process->events, value, &object) == SLOT_LIVE;
    const struct sim_event *found = object;
    if (live) {
        *recorded = found->mark != 0;
        *reached = in_flight_reached(process, found->mark);
    }
    abi_process_unlock(process);
    return live;
}

uint64_t abi_query_event_time(const vmm_system *sys, uint64_t value)
{
    struct sim_process *process = abi_process_lock(sys);
    void *object = NULL;
    bool live = slots_find(&process->events, value, &object) == SLOT_LIVE;
    uint64_t when = live && in_flight_reached(process, ((const struct sim_event *)object)->mark) ? in_flight_time(process, object) : 0;
    abi_process_unlock(process);
    return when;
}

enum abi_query_there abi_query_there(const vmm_system *sys, uint64_t address, uint64_t *left)
{
    struct sim_process *process = abi_process_lock(sys);
    const struct sim_allocation *allocation = sim_allocation_at(process, address);
    enum abi_query_there there = sim_mapping_at(process, address)       ? ABI_QUERY_MAPPED
                           : allocation                           ? ABI_QUERY_ALLOCATED
                           : sim_reservation_at(process, address) ? ABI_QUERY_RESERVED
                                                                  : ABI_QUERY_NOTHING;
    if (there == ABI_QUERY_ALLOCATED)
        *left = allocation->start + allocation->size - address;
    abi_process_unlock(process);
    return there;
}

bool abi_query_device_address(const vmm_system *sys, uint64_t address)
{
    struct sim_process *process = abi_process_lock(sys);
    bool held = (sim_reservation_at(process, address) || sim_allocation_at(process, address)) &&
                !translate_host_pool(process, address);
    abi_process_unlock(process);
    return held;
}

bool abi_query_managed(const vmm_system *sys, uint64_t address)
{
    struct sim_process *process = abi_process_lock(sys);
    const struct sim_allocation *allocation = sim_mapping_at(process, address) ? NULL : sim_allocation_at(process, address);
    const bool managed = allocation && allocation->managed;
    abi_process_unlock(process);
    return managed;
}

vmm_object abi_query_nearest(const vmm_system *sys, uint64_t address)
{
    struct sim_process *process = abi_process_lock(sys);
    vmm_object nearest = sim_object_nearest(process, address);
    abi_process_unlock(process);
    return nearest;
}

/* ---- rows ---- */

static const enum translate_use uses[] = {[ABI_QUERY_TO_HOST] = TRANSLATE_TO_HOST, [ABI_QUERY_READ] = TRANSLATE_READ,
                                          [ABI_QUERY_WRITE] = TRANSLATE_WRITE,
                                      [ABI_QUERY_FROM_HOST] = TRANSLATE_FROM_HOST, [ABI_QUERY_FILL] = TRANSLATE_FILL};

vmm_result abi_query_range(const vmm_system *sys, int device, const char *function, const char *argument, uint64_t address,
                            uint64_t size, enum abi_query_use use)
{
    struct sim_process *process = abi_process_lock(sys);
    vmm_result result = translate_check_pool(process, address, size, argument);
    if (result == VMM_SUCCESS)
        result = translate_check(process, device, address, size, uses[use], argument);
    abi_process_unlock(process);
    if (result != VMM_SUCCESS)
        vmm_detail_here()->function = function;
    return result;
}

bool abi_query_reachable(const vmm_system *sys, vmm_stream stream, uint64_t address, uint64_t size, enum abi_query_use use)
{
    struct sim_process *process = abi_process_lock(sys);
    const vmm_detail before = *vmm_last_detail();
    struct sim_context *context;
    bool good = size <= UINT64_MAX - address && sim_stream_context(process, stream, &context) == VMM_SUCCESS &&
                translate_check(process, context->device, address, size, uses[use], "") == VMM_SUCCESS;
    *vmm_detail_here() = before;
    abi_process_unlock(process);
    return good;
}

vmm_result abi_query_issue(vmm_system *sys, const union vmm_any_call *call, enum vmm_call_id issued_by, vmm_stream stream)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_context *context;
    vmm_result result = sim_stream_context(process, stream, &context);
    if (result == VMM_SUCCESS) {
        struct queue_place place = in_flight_place(process, context, stream);
        result = in_flight_issue(process, &place, &call->head, issued_by);
    }
    abi_process_unlock(process);
    return result;
}

bool abi_query_skips(const vmm_system *sys)
{
    return abi_process(sys)->options.skip_kernels;
}

bool abi_query_strict(const vmm_system *sys)
{
    return abi_process(sys)->options.strict;
}

void abi_query_set_sync(vmm_system *sys, uint64_t address, bool sync)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_allocation *allocation = sim_allocation_at(process, address);
    if (allocation)
        allocation->sync = sync;
    abi_process_unlock(process);
}

uint64_t abi_query_used(const vmm_system *sys, int place)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_machine *machine = process->machine;
    uint64_t all = machine->hardware.device_memory - machine->hardware.device_reserved;
    vmm_mem_location location = sim_machine_local(machine, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, place});
    uint64_t left = sim_machine_free_bytes(machine, location);
    abi_process_unlock(process);
    return all - left;
}

bool abi_query_backed(const vmm_system *sys, uint64_t address, uint64_t size)
{
    return host_window_holds(&abi_process(sys)->window, address, size);
}

bool abi_query_open_peer(vmm_system *sys, int device, int owner, bool open)
{
    struct sim_process *process = abi_process_lock(sys);
    uint32_t bit = UINT32_C(1) << owner;
    bool was = process->peers_opened[device] & bit;
    if (open)
        process->peers_opened[device] |= bit;
    else
        process->peers_opened[device] &= ~bit;
    in_flight_lost_memory(process);
    abi_process_unlock(process);
    return was != open;
}
