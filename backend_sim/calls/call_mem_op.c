/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations: the checks at the call. exec/mem_op.h does them in the stream's turn.
 *
 *     batch      count, flags, list                            then its entries in order, each:
 *     operation  known -> flags -> supported -> alignment -> memory there -> any access -> (warning) access to write
 */
#include "mem_op_check.h"

#include "in_flight.h"
#include "launch.h"
#include "mem_op.h"
#include "sim.h"
#include "translate.h"

enum { BATCH_MAX = 255 };

/* CU_DEVICE_ATTRIBUTE_ */
enum { CAN_FLUSH_REMOTE_WRITES = 98, CAN_USE_64_BIT = 122, CAN_USE_NOR = 123 };

/* One operation of a call. */
struct entry {
    const vmm_stream_batch_mem_op_params *op;
    uint64_t index;
    bool batch; /* of a list */
};

/* Names the argument at fault: that of a single operation, or the list and the entry in it. */
static vmm_result at(const struct entry *e, const char *argument, vmm_result result)
{
    vmm_detail_argument(e->batch ? "paramArray" : argument);
    if (e->batch)
        vmm_detail_note("entry %llu of the list has this %s", (unsigned long long)e->index, argument);
    return result;
}

static bool flushes(const vmm_stream_batch_mem_op_params *op)
{
    return op->operation == VMM_STREAM_MEM_OP_FLUSH_REMOTE_WRITES ||
           (mem_op_waits(op->operation) && (op->wait_value.flags & VMM_STREAM_WAIT_VALUE_FLUSH));
}

/* The flags that the operation accepts are 0 to most, for a wait with FLUSH or without it. */
static vmm_result check_flags(const struct entry *e)
{
    const vmm_stream_batch_mem_op_params *op = e->op;
    unsigned flags, most;
    if (op->operation == VMM_STREAM_MEM_OP_FLUSH_REMOTE_WRITES)
        return VMM_SUCCESS; /* refused or accepted whatever they are, as measured */
    if (mem_op_waits(op->operation)) {
        flags = op->wait_value.flags & ~(unsigned)VMM_STREAM_WAIT_VALUE_FLUSH;
        most = VMM_STREAM_WAIT_VALUE_NOR;
    } else if (op->operation == VMM_STREAM_MEM_OP_BARRIER) {
        flags = op->memory_barrier.flags;
        most = VMM_STREAM_MEMORY_BARRIER_TYPE_GPU;
    } else {
        flags = op->write_value.flags;
        most = VMM_STREAM_WRITE_VALUE_DEFAULT;
    }
    return flags <= most ? VMM_SUCCESS : at(e, "flags", vmm_detail_refuse(VMM_RULE_MEMOP_FLAGS, flags, 0, NULL));
}

/* Refuses operations that the device lacks according to the machine's profile; flushes also if the profile is silent. */
static vmm_result check_supported(const struct sim_profile *profile, const struct entry *e)
{
    const bool nor = mem_op_waits(e->op->operation) && (e->op->wait_value.flags & 3) == VMM_STREAM_WAIT_VALUE_NOR;
    const int attribute = flushes(e->op)                        ? CAN_FLUSH_REMOTE_WRITES
                          : mem_op_width(e->op->operation) == 8 ? CAN_USE_64_BIT
                                                                : CAN_USE_NOR;
    int value = attribute != CAN_FLUSH_REMOTE_WRITES;
    if (attribute == CAN_USE_NOR && !nor)
        return VMM_SUCCESS;
    sim_profile_attribute(profile, attribute, &value);
    if (value && nor)
        sim_profile_attribute(profile, CAN_USE_NOR, &value);
    return value ? VMM_SUCCESS
                 : at(e, "flags", vmm_detail_refuse(VMM_RULE_MEMOP_UNSUPPORTED, (uint64_t)e->op->operation, 0, NULL));
}

/* The checks that do not need the machine. */
static vmm_result check_form(const struct sim_profile *profile, const struct entry *e)
{
    const unsigned width = mem_op_width(e->op->operation);
    if (e->op->operation < VMM_STREAM_MEM_OP_WAIT_VALUE_32 || e->op->operation > VMM_STREAM_MEM_OP_BARRIER)
        return at(e, "operation", vmm_detail_refuse(VMM_RULE_MEMOP_OPERATION, (uint64_t)(int64_t)e->op->operation, 0, NULL));
    vmm_result result = check_flags(e);
    if (result == VMM_SUCCESS)
        result = check_supported(profile, e);
    if (result == VMM_SUCCESS && width && e->op->wait_value.address % width)
        result = at(e, "addr", vmm_detail_refuse(VMM_RULE_MEMOP_ALIGNMENT, e->op->wait_value.address, width, NULL));
    return result;
}

static vmm_result check_memory(const struct sim_process *process, int device, const struct entry *e)
{
    const uint64_t address = e->op->wait_value.address;
    const unsigned width = mem_op_width(e->op->operation);
    const bool writes = !mem_op_waits(e->op->operation);
    struct translate_run run;
    bool mapped = width && translate_run(process, address, width, &run);
    if (!width || (!mapped && mem_op_find_host(address, width, false)))
        return VMM_SUCCESS;
    vmm_object nearest = sim_object_nearest(process, address);
    const bool placed = mapped && !sim_mapping_at(process, address), pooled = placed && sim_chunk_at(process, address);
    const struct sim_allocation *allocation = placed ? sim_allocation_at(process, address) : NULL;
    if (!mapped || pooled || run.block->team || (allocation && allocation->managed))
        return at(e, "addr", vmm_detail_refuse(VMM_RULE_MEMOP_ADDRESS, address, 0, &nearest));
    const unsigned rights = translate_rights(process, device, address);
    if (rights == VMM_MEM_ACCESS_FLAGS_PROT_NONE)
        return at(e, "addr", vmm_detail_refuse(VMM_RULE_MEMOP_NO_ACCESS, address, 0, &nearest));
    if (!writes || rights == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return VMM_SUCCESS;
    bool pass = sim_warn_or_refuse(process, VMM_RULE_MEMOP_READ_ONLY, address, 0, &nearest);
    return at(e, "addr", pass ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE);
}

static vmm_result check_batch(const struct vmm_call_stream_batch_mem_op *call)
{
    if (call->count > BATCH_MAX)
        return vmm_detail_refuse(VMM_RULE_MEMOP_COUNT, call->count, BATCH_MAX, NULL);
    if (call->flags)
        return vmm_detail_refuse(VMM_RULE_MEMOP_BATCH_FLAGS, call->flags, 0, NULL);
    if (call->count && !call->param_array)
        return vmm_detail_refuse(VMM_RULE_MEMOP_NULL, 0, 0, NULL);
    return VMM_SUCCESS;
}

vmm_result sim_mem_op_check_form(const struct sim_profile *profile, const struct vmm_call *call)
{
    const bool batch = call->id == VMM_CALL_stream_batch_mem_op;
    vmm_result result = batch ? check_batch((const void *)call) : VMM_SUCCESS;
    struct mem_ops ops;
    mem_op_list(call, &ops);
    for (uint64_t i = 0; i < ops.count && result == VMM_SUCCESS; i++)
        result = check_form(profile, &(struct entry){&ops.op[i], i, batch});
    return result;
}

vmm_result sim_mem_op_check(const struct sim_process *process, int device, const struct vmm_call *call)
{
    vmm_result result = sim_mem_op_check_form(&process->machine->profile, call);
    struct mem_ops ops;
    mem_op_list(call, &ops);
    for (uint64_t i = 0; i < ops.count && result == VMM_SUCCESS; i++)
        result = check_memory(process, device,
                              &(struct entry){&ops.op[i], i, call->id == VMM_CALL_stream_batch_mem_op});
    return result;
}

static vmm_result issue(struct sim_process *process, const struct vmm_call *call, vmm_stream stream)
{
    struct mem_ops ops;
    struct sim_context *context;
    const bool by_default = !stream || stream == VMM_STREAM_LEGACY;
    if (by_default && in_flight_is_inside(process->in_flight))
        return sim_refuse_inside(process); /* measured: for work on a default stream only */
    vmm_result result = sim_stream_context(process, stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    mem_op_list(call, &ops);
    if (result == VMM_SUCCESS)
        result = sim_mem_op_check(process, context->device, call);
    if (result != VMM_SUCCESS || !ops.count)
        return result;
    struct queue_place place = in_flight_place(process, context, stream);
    return in_flight_issue(process, &place, call, (enum vmm_call_id)call->id);
}

#define MEM_OP(name)                                                                       \
    vmm_result sim_##name(struct sim_process *process, const struct vmm_call_##name *call) \
    {                                                                                      \
        return issue(process, &call->head, call->stream);                                  \
    }

MEM_OP(stream_write_value32)
MEM_OP(stream_write_value64)
MEM_OP(stream_wait_value32)
MEM_OP(stream_wait_value64)
MEM_OP(stream_batch_mem_op)
