/* SPDX-License-Identifier: Apache-2.0 */
#include "order_feed.h"

#include <string.h>

#include "heap.h"
#include "kernels.h"
#include "mem_op.h"
#include "objects.h"
#include "program_call.h"
#include "rows.h"
#include "stacks_call.h"
#include "translate.h"
#include "work.h"

enum { HOST_ADDRESSES = 0 /* the number of the host's own memory */ };

/* In a copy or fill larger than a value, no byte is known to be written last. */
enum { VALUE_BYTES = 8 };

void order_feed_open(struct in_flight *in_flight, const struct sim_options *options)
{
    if (!options->order && !options->unwritten)
        return;
    in_flight->order = order_open();
    in_flight->order_of_streams = options->order;
    if (in_flight->order && options->unwritten && (in_flight->written = heap.malloc(sizeof *in_flight->written)))
        written_open(in_flight->written);
}

void order_feed_close(struct in_flight *in_flight)
{
    order_close(in_flight->order);
    if (in_flight->written)
        written_close(in_flight->written);
    heap.free(in_flight->written);
    in_flight->order = NULL;
    in_flight->written = NULL;
}

/* ---- names ---- */

static struct order_name name_at(const struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                                 uint16_t issued_by)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    struct order_name name = {.what = vmm_reported_name(issued_by), .call = call->number, .value = place->stream, .stack = call_stack(),
                              .per_thread = place->thread != 0, .graph = place->stream >> 63};
    void *object;
    if (slots_find(&process->streams, place->stream, &object) == SLOT_LIVE)
        name.stream = ((const struct sim_stream *)object)->number;
    if (call->id == VMM_CALL_launch)
        name.kernel = vmm_kernel_name(any->launch.kernel);
    return name;
}

/* ---- accesses of copies and fills ---- */

/* A range of addresses that some work accesses. */
struct stretch {
    uint64_t address, size;
    enum order_use use;
};

static void note_host(struct order *order, struct order_work *work, const struct stretch *s)
{
    if (s->size && rows_is_registered(s->address))
        order_note(order, work, s->use, &(struct accesses_range){HOST_ADDRESSES, s->address, s->address + (s->size - 1)});
}

static void note(const struct sim_process *process, struct order_work *work, const struct stretch *s)
{
    struct order *order = process->in_flight->order;
    uint64_t address = s->address, left = s->size;
    struct translate_run run;
    if (!process->in_flight->order_of_streams || arrays_have(address)) /* it is not known yet which memory a tile will have */
        return;
    for (; left && translate_run(process, address, left, &run); address += run.length, left -= run.length)
        if (!run.block->team)
            order_note(order, work, s->use, &(struct accesses_range){run.block->id, run.offset, run.offset + (run.length - 1)});
    note_host(order, work, &(struct stretch){address, left, s->use});
}

static void note_copy(const struct sim_process *process, struct order_work *work, uint64_t dst, uint64_t src, uint64_t size)
{
    note(process, work, &(struct stretch){src, size, ORDER_READ});
    note(process, work, &(struct stretch){dst, size, ORDER_WRITE});
}

static uint64_t host(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

static void note_transfer(const struct sim_process *process, struct order_work *work, const struct transfer *t)
{
    if (t->size > UINT64_MAX - t->dst || t->size > UINT64_MAX - t->src)
        return;
    switch (t->direction) { /* LCOV_EXCL_BR_LINE: all directions are listed */
    case FROM_HOST: note_copy(process, work, t->dst, host(t->from), t->size); break;
    case TO_HOST: note_copy(process, work, host(t->to), t->src, t->size); break;
    case BETWEEN: note_copy(process, work, t->dst, t->src, t->size); break;
    case FILL: note(process, work, &(struct stretch){t->dst, t->size, ORDER_WRITE}); break;
    }
}

/* ---- memory operations ---- */

struct wait_for {
    const vmm_stream_batch_mem_op_params *op;
};

static bool satisfies(void *user, uint64_t value)
{
    return mem_op_satisfied(((const struct wait_for *)user)->op, value);
}

/* The block of a value that only devices write; NULL: the host may write it as well. */
static const struct sim_block *block_of(const struct sim_process *process, const vmm_stream_batch_mem_op_params *op, uint64_t *offset)
{
    struct translate_run run;
    if (!translate_run(process, op->wait_value.address, mem_op_width(op->operation), &run) || sim_on_host(run.block->prop.location) ||
        run.block->shared)
        return NULL;
    *offset = run.offset;
    return run.block;
}

static uint64_t value_of(const vmm_stream_batch_mem_op_params *op)
{
    return mem_op_width(op->operation) == 8 ? op->write_value.value64 : op->write_value.value;
}

/* A wait orders the place, a write is work of its own: in a batch each is handled in turn. Returns the work of the last write. */
static struct order_work *issue_mem_ops(const struct sim_process *process, const struct queue_place *place,
                                        const struct vmm_call *call, const struct order_name *name)
{
    struct order *order = process->in_flight->order;
    struct order_work *last = NULL;
    struct mem_ops ops;
    mem_op_list(call, &ops);
    for (uint64_t i = 0; i < ops.count; i++) {
        uint64_t offset = 0;
        const vmm_stream_batch_mem_op_params *op = &ops.op[i];
        const struct sim_block *block = mem_op_width(op->operation) ? block_of(process, op, &offset) : NULL;
        if (mem_op_waits(op->operation) && block) {
            order_wait_flag(order, place, block->id, offset, satisfies, &(struct wait_for){op});
        } else if (mem_op_waits(op->operation)) {
            lanes_wait_for_unknown(&order->lanes, place);
        } else if (mem_op_width(op->operation)) {
            order_drop(last);
            last = order_issue(order, place, name);
            if (block)
                order_write_flag(order, last, block->id, offset, value_of(op));
        }
    }
    return last;
}

/* ---- work ---- */

static void note_call(const struct sim_process *process, struct order_work *work, const union vmm_any_call *call)
{
    switch ((enum vmm_call_id)call->head.id) {
    case VMM_CALL_launch:
        order_runs(process->in_flight->order, work);
        break;
    case VMM_CALL_memcpy_htod_async:
        note_copy(process, work, call->memcpy_htod_async.dst, host(call->memcpy_htod_async.src), call->memcpy_htod_async.byte_count);
        break;
    case VMM_CALL_memcpy_dtoh_async:
        note_copy(process, work, host(call->memcpy_dtoh_async.dst), call->memcpy_dtoh_async.src, call->memcpy_dtoh_async.byte_count);
        break;
    case VMM_CALL_memcpy_dtod_async:
        note_copy(process, work, call->memcpy_dtod_async.dst, call->memcpy_dtod_async.src, call->memcpy_dtod_async.byte_count);
        break;
    case VMM_CALL_memset_d8_async:
        note(process, work, &(struct stretch){call->memset_d8_async.dst, call->memset_d8_async.n, ORDER_WRITE});
        break;
    case VMM_CALL_memset_d16_async:
        note(process, work, &(struct stretch){call->memset_d16_async.dst, 2 * call->memset_d16_async.n, ORDER_WRITE});
        break;
    case VMM_CALL_memset_d32_async:
        note(process, work, &(struct stretch){call->memset_d32_async.dst, 4 * call->memset_d32_async.n, ORDER_WRITE});
        break;
    default: /* a host function shows no accesses */
        break;
    }
}

void order_feed_issue(struct sim_process *process, const struct queue_place *place, struct work *work, const union vmm_any_call *call)
{
    struct order *order = process->in_flight->order;
    const struct order_name name = name_at(process, place, &call->head, work->issued_by);
    if (order_ended(order))
        return;
    if (mem_op_is((enum vmm_call_id)call->head.id)) {
        work->ordered = issue_mem_ops(process, place, &call->head, &name);
        return;
    }
    work->ordered = order_issue(order, place, &name);
    if (work->ordered)
        note_call(process, work->ordered, call);
}

/* Does the host wait for the transfer? The documentation guarantees it for copies from and to pageable memory, for copies with a
 * host side without Async in their names, and for fills of pinned memory. */
static bool host_waits(const struct sim_process *process, const struct transfer *t, bool pinned)
{
    if (t->direction == FROM_HOST || t->direction == TO_HOST)
        return !pinned;
    return translate_host(process, t->dst, t->size) || (t->direction == BETWEEN && translate_host(process, t->src, t->size));
}

/* A copy that the host makes itself, as its name says. A copy between contexts may be done by such copies. */
static bool is_of_host(const struct vmm_call *call, const struct order_name *name)
{
    return (call->id == VMM_CALL_memcpy_htod || call->id == VMM_CALL_memcpy_dtoh) && !strstr(name->what, "Async");
}

void order_feed_now(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                    const struct transfer *t, bool pinned)
{
    struct order *order = process->in_flight->order;
    struct order_name name = name_at(process, place, call, vmm_reported_call(call->id));
    if (!t->size || order_ended(order))
        return;
    name.host = is_of_host(call, &name);
    struct order_work *work = order_issue(order, place, &name);
    if (!work)
        return;
    note_transfer(process, work, t);
    if (host_waits(process, t, pinned) || (t->direction == TO_HOST && t->size <= VALUE_BYTES))
        order_seen(order, work, true);
    order_drop(work);
}

static enum order_use use_of(enum twin_use use)
{
    return use == TWIN_READ ? ORDER_READ : use == TWIN_WRITE ? ORDER_WRITE : ORDER_ADD;
}

static void check_written(const struct sim_process *process, const struct order_name *name, const struct translate_run *run)
{
    uint64_t at;
    if (process->host_sees) /* the host may have written it in place */
        return;
    if (written_gap(process->in_flight->written, run->block->id, run->offset, run->offset + (run->length - 1), &at))
        order_add_unwritten(process->in_flight->order, name,
                            &(struct accesses_range){run->block->id, at, run->offset + (run->length - 1)});
}

void order_feed_access(struct sim_process *process, struct work *work, const struct translate_run *run, enum twin_use use)
{
    const struct in_flight *in_flight = process->in_flight;
    const struct accesses_range range = {run->block->id, run->offset, run->offset + (run->length - 1)};
    if (!work->ordered || order_ended(in_flight->order))
        return;
    if (in_flight->order_of_streams)
        order_note(in_flight->order, work->ordered, use_of(use), &range);
    if (in_flight->written && use != TWIN_WRITE)
        check_written(process, &work->ordered->name, run);
    if (in_flight->written && use != TWIN_READ)
        written_note(in_flight->written, range.memory, range.first, range.last);
}

void order_feed_done(struct in_flight *in_flight, struct work *work)
{
    order_done(in_flight->order, work->ordered);
}

/* Does seeing some of what the work wrote prove that it is done? */
static bool shows_itself(const union vmm_any_call *call)
{
    switch ((enum vmm_call_id)call->head.id) {
    case VMM_CALL_memcpy_htod_async: return call->memcpy_htod_async.byte_count <= VALUE_BYTES;
    case VMM_CALL_memcpy_dtod_async: return call->memcpy_dtod_async.byte_count <= VALUE_BYTES;
    case VMM_CALL_memset_d8_async: return call->memset_d8_async.n <= VALUE_BYTES;
    case VMM_CALL_memset_d16_async: return 2 * call->memset_d16_async.n <= VALUE_BYTES;
    case VMM_CALL_memset_d32_async: return 4 * call->memset_d32_async.n <= VALUE_BYTES;
    default: return true;
    }
}

void order_feed_seen(struct sim_process *process, struct work *work, bool turn)
{
    if (work->ordered && (turn || shows_itself(&work->call)))
        order_seen(process->in_flight->order, work->ordered, !turn);
}

/* ---- bytes that nothing wrote ---- */

static void moves_between(const struct sim_process *process, const struct transfer *t)
{
    struct written *written = process->in_flight->written;
    uint64_t at = 0;
    struct translate_run to, from;
    while (at < t->size && translate_run(process, t->dst + at, t->size - at, &to) &&
           translate_run(process, t->src + at, to.length, &from)) {
        written_copy(written, to.block->id, to.offset, from.block->id, from.offset, from.length);
        at += from.length;
    }
}

void order_feed_moves(struct sim_process *process, const struct work *work, const struct vmm_call *call, const struct transfer *t)
{
    struct written *written = process->in_flight->written;
    const bool reads = t->direction == TO_HOST || (t->direction == BETWEEN && translate_host(process, t->dst, 1));
    const uint64_t start = reads ? t->src : t->dst;
    struct translate_run run;
    if (!written || order_ended(process->in_flight->order) || t->size > UINT64_MAX - start)
        return;
    for (uint64_t at = 0; (reads || t->direction != BETWEEN) && at < t->size && translate_run(process, start + at, t->size - at, &run);
         at += run.length)
        if (reads) {
            const struct queue_place place = {.context = 0};
            const struct order_name name = work && work->ordered ? work->ordered->name
                                                                 : name_at(process, &place, call, vmm_reported_call(call->id));
            check_written(process, &name, &run);
        } else {
            written_note(written, run.block->id, run.offset, run.offset + (run.length - 1));
        }
    if (t->direction == BETWEEN)
        moves_between(process, t);
}

/* Memory that the host may write in place counts as written. */
void order_feed_created(struct sim_process *process, const struct sim_block *block)
{
    if (process->in_flight->written && !sim_on_host(block->prop.location))
        written_begin(process->in_flight->written, block->id, block->size);
}

void order_feed_shared(struct sim_process *process, const struct sim_block *block)
{
    if (process->in_flight->written)
        written_end(process->in_flight->written, block->id);
}

void order_feed_renew(struct sim_process *process, uint64_t address, uint64_t size)
{
    struct translate_run run;
    for (; size && translate_run(process, address, size, &run); address += run.length, size -= run.length)
        order_forget(process->in_flight->order,
                     &(struct accesses_range){run.block->id, run.offset, run.offset + (run.length - 1)});
}
