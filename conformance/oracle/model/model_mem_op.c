/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations. Between two calls every stream is idle, except at most one that waits for a value:
 *
 *     stream 1   [wait A == 5]<- blocked: [write B = 1][write C = 2]     what comes after it is queued
 *     stream 2   [write A = 5] -> the queue is done, up to the next wait for a value that is not there
 *
 * Not predicted (lost): a wait on a second stream while one waits, and anything that depends on the order of streams. */
#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

enum { CAN_FLUSH_REMOTE_WRITES = 98, BATCH_MOST = 255 };

/* The value in memory. False when the model does not keep all of its bytes. */
static bool known_value(struct model *m, uint64_t address, unsigned width, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < width; i++) {
        int byte = model_byte(m, address + i);
        if (byte < 0)
            return false;
        *value |= (uint64_t)byte << 8 * i;
    }
    return true;
}

/* Is the wait over as things are? A difference counts as a number with a sign. */
static bool is_over(const struct model_op *op, uint64_t memory)
{
    uint64_t difference = memory - op->value;
    switch (op->flags) {
    case VMM_STREAM_WAIT_VALUE_GEQ: return op->width == 4 ? (int32_t)(uint32_t)difference >= 0 : (int64_t)difference >= 0;
    case VMM_STREAM_WAIT_VALUE_EQ: return memory == op->value;
    case VMM_STREAM_WAIT_VALUE_AND: return memory & op->value;
    default: return op->width == 4 ? (uint32_t) ~(memory | op->value) : ~(memory | op->value);
    }
}

/* The highest flags of each operation, and whether it needs a flush of remote writes. */
static bool flags_allowed(const struct model *m, const struct model_op *op, int operation, struct model_answer *a)
{
    const unsigned flush = VMM_STREAM_WAIT_VALUE_FLUSH;
    const unsigned most = op->waits ? VMM_STREAM_WAIT_VALUE_NOR : operation == VMM_STREAM_MEM_OP_BARRIER ? 1 : 0;
    const bool flushes = operation == VMM_STREAM_MEM_OP_FLUSH_REMOTE_WRITES || (op->waits && op->flags & flush);
    if (operation != VMM_STREAM_MEM_OP_FLUSH_REMOTE_WRITES && (op->waits ? op->flags & ~flush : op->flags) > most)
        return model_refuse(a, INVALID, "VMM-MEMOP-FLAGS");
    if (flushes && !model_attribute(m, CAN_FLUSH_REMOTE_WRITES))
        return model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-MEMOP-UNSUPPORTED");
    return true;
}

static bool form_allowed(const struct model *m, const struct model_op *op, int operation, struct model_answer *a)
{
    if (operation < VMM_STREAM_MEM_OP_WAIT_VALUE_32 || operation > VMM_STREAM_MEM_OP_BARRIER)
        return model_refuse(a, INVALID, "VMM-MEMOP-OPERATION");
    if (!flags_allowed(m, op, operation, a))
        return false;
    return !op->width || op->address % op->width == 0 || model_refuse(a, INVALID, "VMM-MEMOP-ALIGNMENT");
}

static bool memory_allowed(struct model *m, const struct model_op *op, int device, struct model_answer *a)
{
    if (!op->width)
        return true;
    const struct model_mapping *mapping = model_mapping_at(m, op->address);
    if (!mapping)
        return model_refuse(a, INVALID, "VMM-MEMOP-ADDRESS");
    const int rights = model_device_rights(mapping, device);
    if (!rights)
        return model_refuse(a, INVALID, "VMM-MEMOP-NO-ACCESS");
    bool loses = !op->waits && rights != VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    a->loses |= loses;
    return !loses || model_breach(m, a, "VMM-MEMOP-READ-ONLY");
}

/* ---- what will happen ---- */

/* May another write make this wait end, and may this device make that write? */
static bool can_end(struct model *m, const struct model_op *op, int device)
{
    const uint64_t all = op->width == 4 ? UINT32_MAX : UINT64_MAX;
    if (op->flags == VMM_STREAM_WAIT_VALUE_AND && !(op->value & all))
        return false;
    if (op->flags == VMM_STREAM_WAIT_VALUE_NOR && (op->value & all) == all)
        return false;
    return model_device_rights(model_mapping_at(m, op->address), device) == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

static bool aliased(struct model *m, uint64_t address)
{
    return model_mappings_of(m, model_mapping_at(m, address)->handle) > 1;
}

/* The value before ops[at], after the ones before it. */
static bool value_before(struct model *m, const struct model_op *ops, size_t at, uint64_t *value)
{
    const struct model_op *op = &ops[at];
    if (!known_value(m, op->address, op->width, value))
        return false;
    for (size_t i = 0; i < at; i++)
        for (unsigned b = 0; ops[i].width && !ops[i].waits && b < op->width; b++) {
            uint64_t from = op->address + b - ops[i].address;
            if (aliased(m, op->address))
                return false;
            if (from < ops[i].width)
                *value = (*value & ~(UINT64_C(255) << 8 * b)) | (ops[i].value >> 8 * from & 255) << 8 * b;
        }
    return true;
}

/* Does the order of streams decide what the operations do, or may they wait for ever? */
static bool unsure(struct model *m, const struct model_op *ops, size_t count, int lane)
{
    const bool named = m->lane[lane].stream != 0, behind = m->blocked == lane;
    size_t writes = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        writes += ops[i].width && !ops[i].waits;
        if (!ops[i].width || !ops[i].waits)
            continue;
        if (behind)
            return true;
        if (!value_before(m, ops, i, &value))
            return true;
        if (is_over(&ops[i], value))
            continue;
        if (m->blocked >= 0 || !named || !can_end(m, &ops[i], m->lane[lane].device))
            return true;
        for (size_t k = i + 1; k < count; k++) /* what follows waits as well, and is decided later */
            if (ops[k].waits)
                return true;
        return false;
    }
    return (m->blocked >= 0 && !behind && writes > 1) || (behind && m->queued + count > MODEL_QUEUE);
}

/* ---- doing them ---- */

static void write_op(struct model *m, const struct model_op *op)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < op->width; i++)
        bytes[i] = (uint8_t)(op->value >> 8 * i);
    model_write(m, op->address, op->width, bytes, op->width);
}

/* Executes operations up to a wait for a missing value. Returns how many. */
static size_t do_ops(struct model *m, const struct model_op *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        if (ops[i].width && ops[i].waits && (!known_value(m, ops[i].address, ops[i].width, &value) || !is_over(&ops[i], value)))
            return i;
        if (ops[i].width && !ops[i].waits)
            write_op(m, &ops[i]);
    }
    return count;
}

void model_progress(struct model *model)
{
    if (model->blocked < 0)
        return;
    size_t done = do_ops(model, model->queue, model->queued);
    model->queued -= done;
    for (size_t i = 0; i < model->queued; i++)
        model->queue[i] = model->queue[i + done];
    if (!model->queued)
        model->blocked = -1;
}

static void issue(struct model *m, const struct model_op *ops, size_t count, int lane)
{
    size_t done = m->blocked == lane ? 0 : do_ops(m, ops, count);
    if (done < count)
        m->blocked = lane;
    for (size_t i = done; i < count; i++)
        m->queue[m->queued++] = ops[i];
}

bool model_call_waits(const struct model *model, enum vmm_call_id call)
{
    switch (call) {
    case VMM_CALL_stream_write_value32:
    case VMM_CALL_stream_write_value64:
    case VMM_CALL_stream_wait_value32:
    case VMM_CALL_stream_wait_value64:
    case VMM_CALL_stream_batch_mem_op:
    case VMM_CALL_stream_query:
    case VMM_CALL_init:
    case VMM_CALL_device_get_count:
    case VMM_CALL_device_get:
    case VMM_CALL_device_get_attribute:
    case VMM_CALL_device_total_mem:
    case VMM_CALL_device_can_access_peer:
    case VMM_CALL_mem_get_access:
    case VMM_CALL_pointer_get_attribute:
    case VMM_CALL_pointer_get_attributes:
    case VMM_CALL_mem_get_address_range:
    case VMM_CALL_mem_get_info:
    case VMM_CALL_mem_get_allocation_granularity:
    case VMM_CALL_mem_get_allocation_properties_from_handle:
    case VMM_CALL_mem_retain_allocation_handle:
    case VMM_CALL_ctx_set_current:
    case VMM_CALL_ctx_get_current:
    case VMM_CALL_ctx_get_device:
    case VMM_CALL_memcpy_htod:
    case VMM_CALL_memcpy_dtoh:
    case VMM_CALL_memset_d8:
    case VMM_CALL_memset_d16:
    case VMM_CALL_memset_d32: return false;
    default: return model->blocked >= 0;
    }
}

/* ---- the calls ---- */

static void predict(struct model *m, vmm_stream stream, const vmm_stream_batch_mem_op_params *list, size_t count,
                    struct model_answer *a)
{
    struct model_op ops[MODEL_QUEUE];
    const int lane = model_lane_of(m, (uint64_t)(uintptr_t)stream, a);
    for (size_t i = 0; lane >= 0 && i < count; i++) {
        const vmm_stream_batch_mem_op_params *from = &list[i];
        const int operation = from->operation;
        const bool wide = operation == VMM_STREAM_MEM_OP_WAIT_VALUE_64 || operation == VMM_STREAM_MEM_OP_WRITE_VALUE_64;
        const bool valued = vmm_mem_op_has_value(operation);
        ops[i] = (struct model_op){valued ? from->wait_value.address : 0,
                                   wide ? from->wait_value.value64 : from->wait_value.value, !valued ? 0 : wide ? 8 : 4,
                                   valued ? from->wait_value.flags : from->memory_barrier.flags,
                                   operation == VMM_STREAM_MEM_OP_WAIT_VALUE_32 || operation == VMM_STREAM_MEM_OP_WAIT_VALUE_64};
        if (!form_allowed(m, &ops[i], operation, a))
            return;
    }
    for (size_t i = 0; lane >= 0 && i < count; i++)
        if (!memory_allowed(m, &ops[i], m->lane[lane].device, a))
            return;
    if (lane < 0 || !a->foreseen)
        return;
    a->waits = unsure(m, ops, count, lane);
    a->loses |= a->waits;
    if (model_succeeded(a))
        issue(m, ops, count, lane);
}

static void predict_one(struct model *m, vmm_stream stream, int operation, uint64_t address, uint64_t value, unsigned flags,
                        struct model_answer *a)
{
    vmm_stream_batch_mem_op_params op = {.pad = {0}};
    op.wait_value.operation = operation;
    op.wait_value.address = address;
    op.wait_value.value64 = value;
    op.wait_value.flags = flags;
    predict(m, stream, &op, 1, a);
}

#define ONE(call, operation)                                                              \
    MODEL_ON(call)                                                                        \
    {                                                                                     \
        predict_one(m, c->stream, operation, c->addr, c->value, c->flags, a);             \
    }

ONE(stream_write_value32, VMM_STREAM_MEM_OP_WRITE_VALUE_32)
ONE(stream_write_value64, VMM_STREAM_MEM_OP_WRITE_VALUE_64)
ONE(stream_wait_value32, VMM_STREAM_MEM_OP_WAIT_VALUE_32)
ONE(stream_wait_value64, VMM_STREAM_MEM_OP_WAIT_VALUE_64)

MODEL_ON(stream_batch_mem_op)
{
    const int lane = model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a);
    const char *rule = c->count > BATCH_MOST               ? "VMM-MEMOP-COUNT"
                       : c->flags                          ? "VMM-MEMOP-BATCH-FLAGS"
                       : c->count && !c->param_array       ? "VMM-MEMOP-NULL"
                                                           : NULL;
    if (lane < 0)
        return;
    if (rule)
        model_refuse(a, INVALID, rule);
    else if (c->count > MODEL_QUEUE)
        a->foreseen = false;
    else
        predict(m, c->stream, c->param_array, c->count, a);
}
