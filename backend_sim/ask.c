/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include "flight.h"
#include "objects.h"
#include "process.h"
#include "sim.h"
#include "system.h"

static struct sim_process *process_of(const vmm_system *sys)
{
    struct vmm_backend *backend = sys->top;
    while (backend->inner)
        backend = backend->inner;
    return (struct sim_process *)backend;
}

static struct sim_process *lock(const vmm_system *sys)
{
    struct sim_process *process = process_of(sys);
    sim_machine_lock(process->machine);
    return process;
}

static void unlock(struct sim_process *process)
{
    sim_machine_unlock(process->machine);
}

const struct sim_profile *ask_profile(const vmm_system *sys)
{
    return &process_of(sys)->machine->profile;
}

uint64_t ask_current(const vmm_system *sys)
{
    struct sim_process *process = lock(sys);
    uint64_t value = current_get(&process->current);
    unlock(process);
    return value;
}

bool ask_context(const vmm_system *sys, uint64_t value, struct ask_context *context)
{
    struct sim_process *process = lock(sys);
    void *object = NULL;
    bool live = slots_find(&process->contexts, value, &object) == SLOT_LIVE;
    const struct sim_context *found = object;
    if (found)
        *context = (struct ask_context){.device = found->device, .primary = found->primary,
                                        .alive = live && !found->ended_primary, .id = found->number};
    unlock(process);
    return found != NULL;
}

bool ask_primary(const vmm_system *sys, int device)
{
    struct sim_process *process = lock(sys);
    const struct sim_context *context = process->primary[device];
    bool active = context && process->primary_retains[device] && !context->ended_primary;
    unlock(process);
    return active;
}

bool ask_inside(const vmm_system *sys)
{
    struct sim_process *process = lock(sys);
    bool inside = flight_is_inside(&process->flight) != NULL;
    unlock(process);
    return inside;
}

bool ask_host_function(const vmm_system *sys)
{
    struct sim_process *process = lock(sys);
    bool runs = process->flight.inside != NULL && !sim_process_forked(process);
    unlock(process);
    return runs;
}

bool ask_stream(const vmm_system *sys, uint64_t value, struct ask_stream *stream)
{
    struct sim_process *process = lock(sys);
    void *object = NULL;
    bool live = slots_find(&process->streams, value, &object) == SLOT_LIVE;
    const struct sim_stream *found = object;
    if (live)
        *stream = (struct ask_stream){found->context,
                                      found->non_blocking ? VMM_STREAM_NON_BLOCKING : VMM_STREAM_DEFAULT,
                                      found->number};
    unlock(process);
    return live;
}

bool ask_event(const vmm_system *sys, uint64_t value, bool *recorded, bool *reached)
{
    struct sim_process *process = lock(sys);
    void *object = NULL;
    bool live = slots_find(&process->events, value, &object) == SLOT_LIVE;
    const struct sim_event *found = object;
    if (live) {
        *recorded = found->mark != 0;
        *reached = flight_reached(process, found->mark);
    }
    unlock(process);
    return live;
}

bool ask_device_address(const vmm_system *sys, uint64_t address)
{
    struct sim_process *process = lock(sys);
    bool held = sim_reservation_at(process, address) || sim_mapping_at(process, address) ||
                sim_allocation_at(process, address);
    unlock(process);
    return held;
}

vmm_object ask_nearest(const vmm_system *sys, uint64_t address)
{
    struct sim_process *process = lock(sys);
    vmm_object nearest = sim_object_nearest(process, address);
    unlock(process);
    return nearest;
}

bool ask_backed(const vmm_system *sys, uint64_t address, uint64_t size)
{
    return arena_holds(&process_of(sys)->arena, address, size);
}

bool ask_open_peer(vmm_system *sys, int device, int owner, bool open)
{
    struct sim_process *process = lock(sys);
    uint32_t bit = UINT32_C(1) << owner;
    bool was = process->peers_opened[device] & bit;
    if (open)
        process->peers_opened[device] |= bit;
    else
        process->peers_opened[device] &= ~bit;
    unlock(process);
    return was != open;
}
