/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of cuMemAlloc, and the amount of free memory. */
#include <stdlib.h>

#include "graph_pins.h"
#include "heap.h"
#include "in_flight.h"
#include "launch.h"
#include "order_feed.h"
#include "pools.h"
#include "sim.h"

vmm_result sim_mem_get_info(struct sim_process *process, const struct vmm_call_mem_get_info *call)
{
    const struct sim_context *context = sim_current(process);
    vmm_result result = context ? sim_context_check(process, context, false) : sim_no_context(process);
    if (call->free)
        *call->free = 0; /* measured: the driver writes both outputs although it refuses */
    if (call->total)
        *call->total = 0;
    if (result != VMM_SUCCESS)
        return result;
    vmm_mem_location location = {VMM_MEM_LOCATION_TYPE_DEVICE, context->device};
    if (!sim_machine_begin(process->machine))
        return sim_machine_unreachable(share_why(process->machine->share));
    if (call->free)
        *call->free = sim_machine_room(process->machine, location, UINT64_MAX);
    sim_machine_end(process->machine);
    if (call->total)
        *call->total = process->machine->profile.device_memory;
    return VMM_SUCCESS;
}

static vmm_result allocate(struct sim_process *process, const struct vmm_call_mem_alloc *call,
                           const struct sim_context *context, uint64_t unit)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, context->device}};
    struct sim_allocation *allocation = heap.calloc(1, sizeof *allocation);
    if (!allocation)
        return sim_out_of_host_memory();
    allocation->size = call->bytesize;
    allocation->span = (call->bytesize + unit - 1) / unit * unit;
    allocation->context = context->value;
    allocation->made = sim_origin(&call->head);
    bool entered = sim_allocation_enter(process, allocation, unit);
    allocation->block = entered ? sim_block_new(process->machine, allocation->span, &prop) : NULL;
    if (!allocation->block) {
        if (entered)
            sim_allocation_leave(process, allocation);
        heap.free(allocation);
        return sim_out_of_host_memory();
    }
    allocation->number = sim_process_number(process, VMM_OBJECT_ALLOCATION);
    if (process->in_flight->order)
        order_feed_created(process, allocation->block);
    *call->dptr = allocation->start;
    return VMM_SUCCESS;
}

static vmm_result check_alloc(struct sim_process *process, const struct vmm_call_mem_alloc *call,
                              const struct sim_context *context, uint64_t unit)
{
    vmm_result result = context ? sim_context_check(process, context, false) : sim_no_context(process);
    if (result != VMM_SUCCESS)
        return result;
    if (!call->dptr)
        return vmm_detail_refuse(VMM_RULE_ALLOC_NULL, 0, 0, NULL);
    if (!call->bytesize)
        return vmm_detail_refuse(VMM_RULE_ALLOC_SIZE_ZERO, 0, 0, NULL);
    vmm_mem_location location = {VMM_MEM_LOCATION_TYPE_DEVICE, context->device};
    uint64_t room = call->bytesize < UINT64_MAX - unit ? call->bytesize + unit : UINT64_MAX;
    if (process->graph_memory[context->device]) /* measured: memory that graphs no longer use is available to cuMemAlloc */
        graph_pins_settle(process, process->graph_memory[context->device]);
    uint64_t left = sim_pools_room(process, location, room);
    if (call->bytesize > left || left - call->bytesize < (unit - call->bytesize % unit) % unit) {
        vmm_object nearest = sim_object_device(process, context->device);
        return vmm_detail_refuse(VMM_RULE_ALLOC_MEMORY, call->bytesize, left, &nearest);
    }
    return VMM_SUCCESS;
}

vmm_result sim_mem_alloc(struct sim_process *process, const struct vmm_call_mem_alloc *call)
{
    const struct sim_context *context = sim_current(process);
    uint64_t device_unit = sim_granularity(process, VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    uint64_t va_allocator_unit = process->machine->profile.va_granularity;
    uint64_t unit = device_unit > va_allocator_unit ? device_unit : va_allocator_unit;
    bool reached = sim_machine_begin(process->machine);
    vmm_result result = check_alloc(process, call, context, unit);
    if (result == VMM_SUCCESS)
        result = reached ? allocate(process, call, context, unit)
                         : sim_machine_unreachable(share_why(process->machine->share));
    if (reached)
        sim_machine_end(process->machine);
    if (result != VMM_SUCCESS && call->dptr)
        *call->dptr = 0; /* measured: the driver clears it */
    return result;
}

/* The device whose work may use managed memory: that of its context. */
static int sim_managed_device(const struct sim_process *process, const struct sim_allocation *allocation)
{
    void *context;
    slots_find(&process->contexts, allocation->context, &context);
    return context ? ((const struct sim_context *)context)->device : 0;
}

/* Waits for all work on the device that owns the memory; if that work faulted, the call reports it and keeps the memory. */
static vmm_result free_when_idle(struct sim_process *process, uint64_t start, struct sim_origin ended)
{
    struct sim_allocation *allocation = sim_allocation_at(process, start);
    struct queue_place place = {.device = allocation->managed ? sim_managed_device(process, allocation) : allocation->block->prop.location.id};
    vmm_result result = in_flight_wait(process, &place, QUEUE_DEVICE);
    const struct sim_context *context = sim_current(process);
    if (result == VMM_SUCCESS && context)
        result = sim_context_check(process, context, true);
    allocation = sim_allocation_at(process, start);
    if (result == VMM_SUCCESS && allocation)
        sim_allocation_end(process, allocation, ended);
    return result;
}

vmm_result sim_mem_free(struct sim_process *process, const struct vmm_call_mem_free *call)
{
    const struct sim_context *context = sim_current(process);
    vmm_result result = context ? sim_context_check(process, context, false) : VMM_SUCCESS;
    if (result != VMM_SUCCESS || !call->dptr)
        return result;
    struct sim_allocation *allocation = sim_allocation_at(process, call->dptr);
    if (allocation && allocation->opens) {
        vmm_object opened = sim_object_allocation(allocation);
        return vmm_detail_refuse(VMM_RULE_IPC_FREE, call->dptr, 0, &opened);
    }
    if (allocation && allocation->start == call->dptr && allocation->pooled) {
        sim_piece_free(process, (struct sim_piece *)allocation, sim_origin(&call->head)); /* measured: waits for nothing */
        return VMM_SUCCESS;
    }
    if (allocation && allocation->start == call->dptr)
        return free_when_idle(process, call->dptr, sim_origin(&call->head));
    vmm_object nearest = sim_object_nearest(process, call->dptr);
    bool vmm = sim_reservation_at(process, call->dptr) || sim_mapping_at(process, call->dptr);
    return vmm_detail_refuse(vmm ? VMM_RULE_ALLOC_FREE_VMM : VMM_RULE_ALLOC_FREE_UNKNOWN, call->dptr, 0, &nearest);
}
