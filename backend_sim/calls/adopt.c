/* SPDX-License-Identifier: Apache-2.0 */
#include "adopt.h"

#include "heap.h"
#include "sim.h"
#include "translate.h"

static struct sim_process *lock(struct vmm_backend *sim)
{
    struct sim_process *process = (struct sim_process *)sim;
    sim_machine_lock(process->machine);
    return process;
}

static void unlock(struct sim_process *process)
{
    sim_machine_unlock(process->machine);
}

/* ---- memory ---- */

static bool on_host(enum sim_adopted kind)
{
    return kind == SIM_ADOPTED_HOST;
}

/* A block without contents that counts in no budget: the other backend knows how much memory is left. */
static struct sim_block *foreign_block(struct sim_process *process, uint64_t size, const vmm_mem_allocation_prop *prop)
{
    vmm_mem_allocation_prop nowhere = *prop;
    nowhere.location.type = VMM_MEM_LOCATION_TYPE_INVALID;
    struct sim_block *block = sim_block_new(process->machine, size, &nowhere);
    if (!block)
        return NULL;
    block->foreign = true;
    block->prop = *prop;
    return block;
}

static vmm_mem_allocation_prop prop_of(enum sim_adopted kind, int device)
{
    const vmm_mem_location_type type = on_host(kind) ? VMM_MEM_LOCATION_TYPE_HOST_NUMA : VMM_MEM_LOCATION_TYPE_DEVICE;
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, on_host(kind) ? 0 : device}};
}

/* What was adopted there before. Memory freed by a call that was not observed has no entry in the list of ended objects. */
static void evict(struct sim_process *process, uint64_t start, uint64_t size)
{
    struct sim_allocation *a = addrmap_floor(&process->adopted, start);
    if (!a || a->start + a->size <= start)
        a = addrmap_ceil(&process->adopted, start);
    while (a && a->start < start + size) {
        uint64_t next = a->start + 1;
        sim_allocation_end(process, a, (struct sim_origin){0, 0, 0});
        a = addrmap_ceil(&process->adopted, next);
    }
}

static bool place(struct sim_process *process, const struct sim_adopted_memory *memory)
{
    const vmm_mem_allocation_prop prop = prop_of(memory->kind, memory->device);
    struct sim_allocation *a = heap.calloc(1, sizeof *a);
    if (!a)
        return false;
    *a = (struct sim_allocation){.start = memory->start, .size = memory->size, .span = memory->size, .context = memory->context,
                                 .made = memory->made, .number = memory->number,
                                 .opens = memory->opens, .opened_for = memory->device, .adopted = (uint8_t)memory->kind};
    a->block = foreign_block(process, memory->size, &prop);
    if (a->block && addrmap_insert(&process->adopted, a->start, a))
        return true;
    if (a->block)
        sim_block_drop(process->machine, a->block);
    heap.free(a);
    return false;
}

static struct sim_allocation *starts_at(const struct sim_process *process, uint64_t start)
{
    struct sim_allocation *a = addrmap_floor(&process->adopted, start);
    return a && a->start == start ? a : NULL;
}

bool sim_adopt_memory(struct vmm_backend *sim, const struct vmm_call *call, uint64_t start, uint64_t size, enum sim_adopted kind)
{
    if (!start || !size || size > UINT64_MAX - start || start % (UINT64_C(1) << SIM_ADOPTED_SHIFT))
        return false;
    struct sim_process *process = lock(sim);
    struct sim_allocation *there = starts_at(process, start);
    bool again = kind == SIM_ADOPTED_OPENED && there && there->adopted == kind && there->size == size;
    bool placed = again;
    if (again) {
        there->opens++;
    } else {
        const struct sim_context *context = sim_current(process);
        const struct sim_adopted_memory memory = {
            start, size, context && kind != SIM_ADOPTED_ORDERED ? context->value : 0, sim_origin(call),
            sim_process_number(process, VMM_OBJECT_ALLOCATION), kind == SIM_ADOPTED_OPENED, kind, context ? context->device : 0};
        evict(process, start, size);
        placed = place(process, &memory);
    }
    unlock(process);
    return placed;
}

static vmm_result refuse(const struct sim_process *process, const struct vmm_call *call, uint64_t start)
{
    const struct sim_allocation *a = sim_allocation_at(process, start);
    vmm_object nearest = sim_object_nearest(process, start);
    bool vmm = sim_reservation_at(process, start) || sim_mapping_at(process, start);
    enum vmm_rule_id rule = vmm ? VMM_RULE_ALLOC_FREE_VMM : VMM_RULE_ALLOC_FREE_UNKNOWN;
    if (call->id == VMM_CALL_ipc_close_mem_handle)
        rule = VMM_RULE_IPC_CLOSE;
    else if (call->id == VMM_CALL_mem_free_async)
        rule = a && a->start == start && a->adopted == SIM_ADOPTED_DEVICE ? VMM_RULE_POOL_FREE_ORDINARY : VMM_RULE_POOL_FREE_UNKNOWN;
    else if (a && a->start == start && a->adopted == SIM_ADOPTED_OPENED)
        rule = VMM_RULE_IPC_FREE;
    return vmm_detail_refuse(rule, start, 0, &nearest);
}

vmm_result sim_end_memory(struct vmm_backend *sim, const struct vmm_call *call, uint64_t start, unsigned kinds,
                          struct sim_adopted_memory *was)
{
    struct sim_process *process = lock(sim);
    struct sim_allocation *a = starts_at(process, start);
    vmm_result result = VMM_SUCCESS;
    *was = (struct sim_adopted_memory){0};
    if (!a || !(kinds >> a->adopted & 1)) {
        result = refuse(process, call, start);
    } else {
        *was = (struct sim_adopted_memory){a->start, a->size, a->context, a->made, a->number, a->opens,
                                           (enum sim_adopted)a->adopted, a->block->prop.location.id};
        if (a->opens > 1)
            a->opens--;
        else
            sim_allocation_end(process, a, sim_origin(call));
    }
    unlock(process);
    return result;
}

void sim_keep_memory(struct vmm_backend *sim, const struct sim_adopted_memory *was)
{
    struct sim_process *process = lock(sim);
    struct sim_allocation *there = starts_at(process, was->start);
    if (was->kind && there && there->number == was->number)
        there->opens = was->opens;
    else if (was->kind && !there)
        place(process, was);
    unlock(process);
}

enum sim_adopted sim_adopted_at(struct vmm_backend *sim, uint64_t address, vmm_object *object)
{
    struct sim_process *process = lock(sim);
    const struct sim_allocation *a = process->adopted.count ? addrmap_floor(&process->adopted, address) : NULL;
    enum sim_adopted kind = a && address - a->start < a->size ? (enum sim_adopted)a->adopted : SIM_ADOPTED_NONE;
    if (kind && object)
        *object = sim_object_allocation(a);
    unlock(process);
    return kind;
}

bool sim_bytes_at(struct vmm_backend *sim, uint64_t address, uint64_t size, struct sim_bytes *bytes)
{
    struct translate_run run;
    struct sim_process *process = lock(sim);
    const struct sim_allocation *a = process->adopted.count ? addrmap_floor(&process->adopted, address) : NULL;
    const bool is = translate_run(process, address, size, &run) && !run.block->team;
    if (is)
        *bytes = (struct sim_bytes){run.block->id, run.offset, run.length, sim_on_host(run.block->prop.location),
                                    a && a->block == run.block && a->adopted == SIM_ADOPTED_MANAGED};
    unlock(process);
    return is;
}

/* ---- handles ---- */

enum { HIDDEN_DEVICE = -2 }; /* the driver's value for a device that is not visible to the process */

/* The device after the visible ones stands for all hidden devices. */
static vmm_mem_allocation_prop seen_here(const struct sim_process *process, const vmm_mem_allocation_prop *theirs)
{
    vmm_mem_allocation_prop prop = *theirs;
    const int devices = process->machine->profile.devices;
    if (prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE && prop.location.id == HIDDEN_DEVICE && devices < VMM_MAX_DEVICES)
        prop.location.id = devices;
    return prop;
}

static bool is_here(const struct sim_process *process, vmm_mem_location location)
{
    const int devices = process->machine->profile.devices;
    if (location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return location.id >= 0 && location.id <= devices && location.id < VMM_MAX_DEVICES;
    return location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA && location.id >= 0 && location.id < sim_host_nodes(process);
}

uint64_t sim_adopt_handle(struct vmm_backend *sim, const struct vmm_call *call, uint64_t size, const vmm_mem_allocation_prop *prop,
                          bool imported)
{
    struct sim_process *process = lock(sim);
    const vmm_mem_allocation_prop here = seen_here(process, prop);
    struct sim_handle *handle = is_here(process, here.location) ? sim_handle_ready(process) : NULL;
    struct sim_block *block = handle ? foreign_block(process, size, &here) : NULL;
    uint64_t value = 0;
    if (block) {
        sim_handle_begin(process, handle, block, sim_origin(call));
        handle->imported = imported;
        handle->unsized = !size;
        value = handle->value;
    } else {
        sim_handle_drop(process, handle);
    }
    unlock(process);
    return value;
}

/* ---- objects that are no longer tracked ---- */

void sim_forget_mappings(struct vmm_backend *sim, const struct vmm_call *call, uint64_t *start, uint64_t *size)
{
    struct sim_process *process = lock(sim);
    uint64_t end = *size > UINT64_MAX - *start ? UINT64_MAX : *start + *size;
    struct sim_mapping *mapping;
    while ((mapping = sim_mapping_in(process, *start, end - *start)) != NULL) {
        if (mapping->start < *start)
            *start = mapping->start;
        if (mapping->start + mapping->size > end)
            end = mapping->start + mapping->size;
        sim_mapping_end(process, mapping, sim_origin(call));
    }
    *size = end - *start;
    unlock(process);
}

bool sim_forget_reservation(struct vmm_backend *sim, const struct vmm_call *call, uint64_t address, uint64_t *start, uint64_t *size)
{
    struct sim_process *process = lock(sim);
    struct sim_reservation *reservation = sim_reservation_at(process, address);
    bool there = reservation != NULL;
    if (there) {
        struct sim_mapping *mapping;
        *start = reservation->start;
        *size = reservation->size;
        while ((mapping = sim_mapping_in(process, *start, *size)) != NULL)
            sim_mapping_end(process, mapping, sim_origin(call));
        sim_reservation_end(process, reservation, sim_origin(call));
    }
    unlock(process);
    return there;
}

void sim_check_only(struct vmm_backend *sim, bool only)
{
    struct sim_process *process = lock(sim);
    process->check_only = only;
    unlock(process);
}

void sim_hold_handle(struct vmm_backend *sim, uint64_t value)
{
    struct sim_process *process = lock(sim);
    void *handle;
    if (slots_find(&process->handles, value, &handle) == SLOT_LIVE)
        ((struct sim_handle *)handle)->refs++;
    unlock(process);
}

bool sim_is_unsized(struct vmm_backend *sim, uint64_t value)
{
    struct sim_process *process = lock(sim);
    void *handle;
    bool is = slots_find(&process->handles, value, &handle) == SLOT_LIVE && ((struct sim_handle *)handle)->unsized;
    unlock(process);
    return is;
}

bool sim_is_memory(struct vmm_backend *sim, uint64_t address)
{
    struct sim_process *process = lock(sim);
    bool is = sim_mapping_at(process, address) || sim_allocation_at(process, address);
    unlock(process);
    return is;
}
