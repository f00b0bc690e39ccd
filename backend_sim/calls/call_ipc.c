/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of cuMemAlloc for other processes: see call_ipc.h. */
#include "call_ipc.h"

#include "heap.h"
#include "in_flight.h"
#include "launch.h"

static vmm_result refuse_null(const char *argument)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_IPC_NULL, 0, 0, NULL);
    vmm_detail_argument(argument);
    return result;
}

static vmm_result refuse(enum vmm_rule_id rule, const char *why)
{
    vmm_result result = vmm_detail_refuse(rule, 0, 0, NULL);
    vmm_detail_note("%s", why);
    return result;
}

static vmm_result refuse_at(const struct sim_process *process, enum vmm_rule_id rule, uint64_t address)
{
    vmm_object nearest = sim_object_nearest(process, address);
    return vmm_detail_refuse(rule, address, 0, &nearest);
}

/* ---- name ---- */

static vmm_result name(const struct sim_process *process, const struct sim_allocation *allocation, const struct sim_context *context,
                       void *bytes)
{
    struct sim_machine *machine = process->machine;
    struct ipc_handle handle = {.kind = IPC_MEMORY, .size = allocation->size, .process = process->ordinal,
                                .context = context->number};
    char why[SHARE_WHY];
    if (!sim_machine_share(machine, why))
        return refuse(VMM_RULE_IPC_SYSTEM, why);
    if (!sim_machine_begin(machine))
        return refuse(VMM_RULE_IPC_SYSTEM, share_why(machine->share));
    const char *wrong = share_name_any(machine->share, machine, allocation->block, &handle.label);
    handle.home = machine->share->serial;
    sim_machine_end(machine);
    if (wrong)
        return refuse(VMM_RULE_IPC_SYSTEM, wrong);
    ipc_handle_write(bytes, &handle);
    return VMM_SUCCESS;
}

vmm_result sim_ipc_get_mem_handle(struct sim_process *process, const struct vmm_call_ipc_get_mem_handle *call)
{
    if (!call->p_handle)
        return refuse_null("pHandle");
    if (!call->dptr) /* even before the process initialises, as recorded */
        return vmm_detail_refuse(VMM_RULE_IPC_ADDRESS, 0, 0, NULL);
    const struct sim_context *context = sim_current(process);
    if (!context)
        return sim_no_context(process);
    const struct sim_allocation *allocation = sim_allocation_at(process, call->dptr);
    if (!allocation || allocation->pooled || allocation->managed)
        return refuse_at(process, VMM_RULE_IPC_ADDRESS, call->dptr);
    if (allocation->opens)
        return refuse_at(process, VMM_RULE_IPC_OPENED, call->dptr);
    return name(process, allocation, context, call->p_handle);
}

/* ---- open ---- */

struct sim_allocation *ipc_opened(const struct sim_process *process, const struct ipc_handle *handle)
{
    const struct sim_context *context = sim_current(process);
    const int device = context ? context->device : -1;
    struct sim_allocation *allocation = addrmap_ceil(&process->allocations, 0);
    while (allocation && !(allocation->opens && allocation->opened_for == device &&
                           allocation->block->shared == handle->label.number))
        allocation = addrmap_ceil(&process->allocations, allocation->start + 1);
    return allocation;
}

static vmm_result open_again(const struct sim_context *context, struct sim_allocation *allocation, uint64_t *address)
{
    if (allocation->context != context->value)
        return vmm_detail_refuse(VMM_RULE_IPC_CONTEXT, 0, 0, NULL);
    allocation->opens++;
    *address = allocation->start;
    return VMM_SUCCESS;
}

/* Gives the block addresses; the allocation takes over the caller's hold. */
static vmm_result attach(struct sim_process *process, struct sim_block *block, uint64_t size,
                         const struct vmm_call_ipc_open_mem_handle *call)
{
    const struct sim_context *context = sim_current(process);
    struct sim_allocation *allocation = heap.calloc(1, sizeof *allocation);
    uint64_t unit = process->machine->profile.va_granularity;
    if (allocation) {
        allocation->size = size && size <= block->size ? size : block->size; /* the bytes of a handle may be forged */
        allocation->span = (block->size + unit - 1) / unit * unit;
        allocation->context = context->value;
        allocation->made = sim_origin(&call->head);
        allocation->opens = 1;
        allocation->opened_for = context->device;
    }
    if (!allocation || !sim_allocation_enter(process, allocation, unit)) {
        heap.free(allocation);
        sim_block_drop(process->machine, block);
        return sim_out_of_host_memory();
    }
    allocation->block = block;
    allocation->number = sim_process_number(process, VMM_OBJECT_ALLOCATION);
    *call->pdptr = allocation->start;
    return VMM_SUCCESS;
}

/* The system that made the handle, one of those that share this machine object; NULL when it is closed. */
static const struct sim_process *maker_here(const struct sim_machine *machine, const struct ipc_handle *handle)
{
    const struct sim_process *maker = machine->processes;
    while (maker && maker->ordinal != handle->process)
        maker = maker->machine_next;
    return maker;
}

/* Does the process still own the memory with that number? */
static bool has_own(const struct sim_process *process, uint64_t number)
{
    const struct sim_allocation *allocation = addrmap_ceil(&process->allocations, 0);
    while (allocation && !(!allocation->opens && allocation->block->shared == number))
        allocation = addrmap_ceil(&process->allocations, allocation->start + 1);
    return allocation != NULL;
}

/* Finds the block, with a holder of this process. */
static vmm_result find_block(struct share *share, struct sim_machine *machine, const struct ipc_handle *handle,
                             struct sim_block **block)
{
    const bool here = handle->home == share->serial;
    const struct sim_process *maker = here ? maker_here(machine, handle) : NULL;
    char why[SHARE_WHY];
    share_tidy(share); /* an owner that has ended holds nothing */
    if (here ? !maker : !share_home_lives(share->folder.state, handle->home))
        return vmm_detail_refuse(VMM_RULE_IPC_ENDED, 0, 0, NULL);
    if (maker && !has_own(maker, handle->label.number))
        return vmm_detail_refuse(VMM_RULE_IPC_GONE, 0, 0, NULL);
    switch (share_import_from(share, machine, &handle->label, handle->home, block, why)) {
    case SHARE_FOUND: return VMM_SUCCESS;
    case SHARE_UNKNOWN: return vmm_detail_refuse(VMM_RULE_IPC_GONE, 0, 0, NULL);
    default: return refuse(VMM_RULE_IPC_SYSTEM, why);
    }
}

/* Opens it again, or finds its block. */
static vmm_result open_shared(struct sim_process *process, struct share *share, const struct ipc_handle *handle,
                              uint64_t *address, struct sim_block **block)
{
    if (handle->label.machine != share->folder.state->id)
        return vmm_detail_refuse(VMM_RULE_IPC_MACHINE, 0, 0, NULL);
    if (handle->home == share->serial && handle->process == process->ordinal)
        return refuse(VMM_RULE_IPC_OWN, "the memory was allocated by this process");
    struct sim_allocation *again = ipc_opened(process, handle);
    return again ? open_again(sim_current(process), again, address) : find_block(share, process->machine, handle, block);
}

static vmm_result open_handle(struct sim_process *process, const struct vmm_call_ipc_open_mem_handle *call,
                              const struct ipc_handle *handle)
{
    struct sim_machine *machine = process->machine;
    struct sim_block *block = NULL;
    const uint64_t blocks = machine->blocks;
    if (!machine->share)
        return vmm_detail_refuse(VMM_RULE_IPC_MACHINE, 0, 0, NULL);
    if (!sim_machine_begin(machine))
        return refuse(VMM_RULE_IPC_SYSTEM, share_why(machine->share));
    vmm_result result = open_shared(process, machine->share, handle, call->pdptr, &block);
    sim_machine_end(machine);
    if (block && (result = attach(process, block, handle->size, call)) != VMM_SUCCESS)
        machine->blocks = blocks; /* the block's former id is assigned to the next one */
    return result;
}

vmm_result sim_ipc_open_mem_handle(struct sim_process *process, const struct vmm_call_ipc_open_mem_handle *call)
{
    struct ipc_handle handle;
    if (!call->pdptr)
        return refuse_null("pdptr");
    if (!ipc_flags_ok(call->flags)) /* even before the process initialises, as recorded */
        return vmm_detail_refuse(VMM_RULE_IPC_FLAGS, call->flags, VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, NULL);
    if (!sim_current(process))
        return sim_no_context(process);
    if (!ipc_handle_read(&call->handle, &handle) || handle.kind != IPC_MEMORY)
        return refuse(VMM_RULE_IPC_HANDLE, "the bytes of the handle do not name memory, or were changed");
    return open_handle(process, call, &handle);
}

/* ---- close ---- */

/* The wait releases the lock, so that another thread may close or end it meanwhile. */
static vmm_result close_last(struct sim_process *process, const struct sim_allocation *allocation,
                             const struct vmm_call_ipc_close_mem_handle *call)
{
    struct queue_place place = {.device = allocation->block->prop.location.id};
    vmm_result result = in_flight_wait(process, &place, QUEUE_DEVICE);
    const struct sim_context *context = sim_current(process);
    if (result == VMM_SUCCESS && context)
        result = sim_context_check(process, context, true); /* as for cuMemFree, memory is kept then */
    struct sim_allocation *now = result == VMM_SUCCESS ? sim_allocation_at(process, call->dptr) : NULL;
    if (now && now->opens)
        sim_allocation_end(process, now, sim_origin(&call->head));
    return result;
}

vmm_result sim_ipc_close_mem_handle(struct sim_process *process, const struct vmm_call_ipc_close_mem_handle *call)
{
    if (!sim_current(process))
        return sim_no_context(process);
    struct sim_allocation *allocation = sim_allocation_at(process, call->dptr);
    if (!allocation || !allocation->opens || allocation->start != call->dptr)
        return refuse_at(process, VMM_RULE_IPC_CLOSE, call->dptr);
    if (allocation->opens == 1)
        return close_last(process, allocation, call);
    allocation->opens--;
    return VMM_SUCCESS;
}
