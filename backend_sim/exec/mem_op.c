/* SPDX-License-Identifier: Apache-2.0 */
#include "mem_op.h"

#include <stdatomic.h>

#include "in_flight.h"
#include "launch.h"
#include "translate.h"
#include "work.h"

bool mem_op_is(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_stream_write_value32:
    case VMM_CALL_stream_write_value64:
    case VMM_CALL_stream_wait_value32:
    case VMM_CALL_stream_wait_value64:
    case VMM_CALL_stream_batch_mem_op: return true;
    default: return false;
    }
}

static void one_of(struct mem_ops *ops, vmm_stream_batch_mem_op_type operation, uint64_t address, uint64_t value, unsigned flags)
{
    ops->one.wait_value.operation = operation;
    ops->one.wait_value.address = address;
    ops->one.wait_value.value64 = value;
    ops->one.wait_value.flags = flags;
}

void mem_op_list(const struct vmm_call *call, struct mem_ops *ops)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    const struct vmm_call_stream_write_value32 *narrow = &any->stream_write_value32;
    const struct vmm_call_stream_write_value64 *wide = &any->stream_write_value64;
    *ops = (struct mem_ops){.count = 1};
    ops->op = &ops->one;
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_stream_batch_mem_op:
        ops->op = any->stream_batch_mem_op.param_array;
        ops->count = any->stream_batch_mem_op.count;
        break;
    case VMM_CALL_stream_write_value32:
        one_of(ops, VMM_STREAM_MEM_OP_WRITE_VALUE_32, narrow->addr, narrow->value, narrow->flags);
        break;
    case VMM_CALL_stream_wait_value32: /* its parameters are the same */
        one_of(ops, VMM_STREAM_MEM_OP_WAIT_VALUE_32, narrow->addr, narrow->value, narrow->flags);
        break;
    case VMM_CALL_stream_write_value64:
        one_of(ops, VMM_STREAM_MEM_OP_WRITE_VALUE_64, wide->addr, wide->value, wide->flags);
        break;
    default:
        one_of(ops, VMM_STREAM_MEM_OP_WAIT_VALUE_64, wide->addr, wide->value, wide->flags);
        break;
    }
}

bool mem_op_satisfied(const vmm_stream_batch_mem_op_params *wait, uint64_t memory)
{
    const bool wide = mem_op_width(wait->operation) == 8;
    const uint64_t value = wide ? wait->wait_value.value64 : wait->wait_value.value;
    const uint64_t all = wide ? UINT64_MAX : UINT32_MAX, sign = all - all / 2;
    switch (wait->wait_value.flags & 3) {
    case VMM_STREAM_WAIT_VALUE_EQ: return memory == value;
    case VMM_STREAM_WAIT_VALUE_AND: return (memory & value) != 0;
    case VMM_STREAM_WAIT_VALUE_NOR: return (~(memory | value) & all) != 0;
    default: return !((memory - value) & sign);
    }
}

/* ---- memory ---- */

static _Atomic mem_op_host_memory host_memory;

void mem_op_set_host_memory(mem_op_host_memory find)
{
    atomic_store(&host_memory, find);
}

unsigned char *mem_op_find_host(uint64_t address, uint64_t size, bool writes)
{
    mem_op_host_memory find = atomic_load(&host_memory);
    return find ? find(address, size, writes) : NULL;
}

/* Where an operation's value is. */
struct spot {
    unsigned char *bytes;     /* NULL: memory that was never written, zero */
    struct translate_run run; /* without a block: registered memory */
};

/* Returns false if the device has no such access. */
static bool find_spot(const struct sim_process *process, int device, const vmm_stream_batch_mem_op_params *op, struct spot *spot)
{
    const uint64_t address = op->wait_value.address;
    const unsigned width = mem_op_width(op->operation);
    const bool writes = !mem_op_waits(op->operation);
    const unsigned need = writes ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE : VMM_MEM_ACCESS_FLAGS_PROT_READ;
    *spot = (struct spot){.bytes = NULL};
    if (!translate_may(process, device, address, width, width, need, &spot->run)) {
        spot->run.block = NULL;
        spot->bytes = mem_op_find_host(address, width, writes);
        return spot->bytes != NULL;
    }
    uint64_t length = width;
    spot->bytes = block_data_run(&spot->run.block->bytes, spot->run.offset, &length);
    return true;
}

/* A wait's address is a multiple of its width, and so is the address of every mapping. */
static uint64_t value_in(const unsigned char *bytes, unsigned width)
{
    if (!bytes)
        return 0;
    if (width == 8)
        return __atomic_load_n((const uint64_t *)(const void *)bytes, __ATOMIC_ACQUIRE);
    return __atomic_load_n((const uint32_t *)(const void *)bytes, __ATOMIC_ACQUIRE);
}

static void store(unsigned char *bytes, const vmm_stream_batch_mem_op_params *op)
{
    if (mem_op_width(op->operation) == 8)
        __atomic_store_n((uint64_t *)(void *)bytes, op->write_value.value64, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)(void *)bytes, op->write_value.value, __ATOMIC_RELEASE);
}

/* ---- doing them ---- */

static void lose(struct sim_process *process, const struct work *work, const vmm_stream_batch_mem_op_params *op)
{
    sim_lose_device(process, &(struct device_loss){.kind = SIM_FAULT_MEM_OP,
                                                   .place = queue_place_of(&work->item),
                                                   .call = &work->call.head,
                                                   .issued_by = work->issued_by,
                                                   .stack = work->stack,
                                                   .address = op->wait_value.address,
                                                   .width = mem_op_width(op->operation),
                                                   .use = mem_op_waits(op->operation) ? TWIN_READ : TWIN_WRITE});
}

static bool write_value(struct sim_process *process, struct work *work, const vmm_stream_batch_mem_op_params *op,
                        struct spot *spot)
{
    uint64_t length = mem_op_width(op->operation);
    if (spot->run.block) {
        if (!block_data_touch(&spot->run.block->bytes, spot->run.offset, length))
            return false;
        spot->bytes = block_data_run(&spot->run.block->bytes, spot->run.offset, &length);
    }
    if (!spot->run.block || sim_on_host(spot->run.block->prop.location))
        in_flight_host_visible(process, work);
    store(spot->bytes, op);
    return true;
}

enum mem_op_progress mem_op_do(struct sim_process *process, struct work *work)
{
    struct mem_ops ops;
    struct spot spot;
    mem_op_list(&work->call.head, &ops);
    for (; work->next < ops.count; work->next++) {
        const vmm_stream_batch_mem_op_params *op = &ops.op[work->next];
        if (!vmm_mem_op_has_value(op->operation))
            continue; /* the work that a barrier orders is already in order here */
        if (!find_spot(process, queue_place_of(&work->item)->device, op, &spot)) {
            lose(process, work, op);
            return MEM_OP_DONE;
        }
        if (!mem_op_waits(op->operation)) {
            if (!write_value(process, work, op, &spot))
                return MEM_OP_OUT_OF_MEMORY;
        } else if (!mem_op_satisfied(op, value_in(spot.bytes, mem_op_width(op->operation)))) {
            return MEM_OP_WAITS;
        }
    }
    return MEM_OP_DONE;
}

/* The wait at which the work is blocked, and its memory; returns false if the device no longer has access to it. */
static bool find_wait(const struct sim_process *process, const struct work *work, struct mem_ops *ops, struct spot *spot,
                      const vmm_stream_batch_mem_op_params **wait)
{
    mem_op_list(&work->call.head, ops);
    *wait = &ops->op[work->next];
    return find_spot(process, queue_place_of(&work->item)->device, *wait, spot);
}

bool mem_op_may_go_on(struct sim_process *process, const struct work *work)
{
    struct mem_ops ops;
    struct spot spot;
    const vmm_stream_batch_mem_op_params *wait;
    if (process->fault[queue_place_of(&work->item)->device].lost || !find_wait(process, work, &ops, &spot, &wait))
        return true;
    return mem_op_satisfied(wait, value_in(spot.bytes, mem_op_width(wait->operation)));
}

uint64_t mem_op_waits_at(const struct work *work)
{
    struct mem_ops ops;
    mem_op_list(&work->call.head, &ops);
    return ops.op[work->next].wait_value.address;
}

void mem_op_fault(struct sim_process *process, const struct work *work)
{
    struct mem_ops ops;
    mem_op_list(&work->call.head, &ops);
    lose(process, work, &ops.op[work->next]);
}

bool mem_op_has_memory(const struct sim_process *process, const struct work *work)
{
    struct mem_ops ops;
    struct spot spot;
    const vmm_stream_batch_mem_op_params *wait;
    return find_wait(process, work, &ops, &spot, &wait);
}

bool mem_op_is_shared(const struct sim_process *process, const struct work *work)
{
    struct mem_ops ops;
    struct spot spot;
    const vmm_stream_batch_mem_op_params *wait;
    return find_wait(process, work, &ops, &spot, &wait) && spot.run.block && spot.run.block->shared;
}
