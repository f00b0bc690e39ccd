/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of boxes, within a context and between two: checked as rows.h describes, then made row by row. */
#include <string.h>

#include "call_copy.h"
#include "in_flight.h"
#include "launch.h"
#include "rows.h"

/* A copy under way. */
struct job {
    struct rows_copy copy;
    const struct vmm_call *call;
    vmm_stream stream;
    bool waits; /* the call returns when the copy is done */
    struct transfer_rights rights;
};

vmm_result copy_between_hosts(struct sim_process *process, vmm_stream stream, uint64_t dst, uint64_t src, uint64_t size)
{
    struct sim_machine *machine = process->machine;
    vmm_result result = sim_stream_wait(process, stream);
    if (result != VMM_SUCCESS || !machine->bytes)
        return result;
    bool alone = atomic_load_explicit(&machine->alone, memory_order_relaxed);
    sim_machine_unlock(machine);
    memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, size);
    sim_machine_hold_again(machine, alone);
    return VMM_SUCCESS;
}

/* The copy of one row, or of several that are adjacent on both sides, as a call. */
static enum vmm_call_id row_call(const struct job *job, uint64_t dst, uint64_t src, uint64_t size, union vmm_any_call *call)
{
    const uint64_t number = job->call->number;
    if (job->copy.from.host)
        call->memcpy_htod_async = (struct vmm_call_memcpy_htod_async){
            {VMM_CALL_memcpy_htod_async, number}, dst, (const void *)(uintptr_t)src, size, job->stream};
    else if (job->copy.to.host)
        call->memcpy_dtoh_async = (struct vmm_call_memcpy_dtoh_async){
            {VMM_CALL_memcpy_dtoh_async, number}, (void *)(uintptr_t)dst, src, size, job->stream};
    else
        call->memcpy_dtod_async =
            (struct vmm_call_memcpy_dtod_async){{VMM_CALL_memcpy_dtod_async, number}, dst, src, size, job->stream};
    return (enum vmm_call_id)call->head.id;
}

static vmm_result copy_row(struct sim_process *process, const struct job *job, uint64_t layer, uint64_t row, uint64_t size)
{
    const struct rows_side *to = &job->copy.to, *from = &job->copy.from;
    uint64_t dst = to->start + layer * to->layer + row * to->pitch, src = from->start + layer * from->layer + row * from->pitch;
    union vmm_any_call call;
    if (to->host && from->host)
        return copy_between_hosts(process, job->stream, dst, src, size);
    row_call(job, dst, src, size, &call);
    return copy_on_stream(process, &call.head, job->stream, &job->rights, (enum vmm_call_id)job->call->id);
}

/* Issues only the row without access, so that a wait for it reports the fault. A copy to the host waits in either form; no other
 * copy does, as recorded. */
static vmm_result let_fault(struct sim_process *process, struct job *job, const struct rows_side *side, uint64_t layer,
                            uint64_t row)
{
    const struct rows_side *to = &job->copy.to, *from = &job->copy.from;
    uint64_t dst = to->start + layer * to->layer + row * to->pitch, src = from->start + layer * from->layer + row * from->pitch;
    union vmm_any_call call;
    struct sim_context *context;
    if (process->options.strict || !process->machine->bytes) { /* without contents no work is created, so none can fault */
        struct rows_side one = *side;
        one.start += layer * side->layer;
        return rows_refuse_row(&one, row);
    }
    row_call(job, dst, src, job->copy.extent.width, &call);
    vmm_result result = sim_stream_context(process, job->stream, &context);
    if (result != VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: the stream has just been checked */
        return result; /* LCOV_EXCL_LINE: the same */
    struct queue_place place = in_flight_place(process, context, job->stream);
    result = in_flight_issue_copy(process, &place, &call.head, (enum vmm_call_id)job->call->id, job->rights);
    job->waits = to->host;
    return result;
}

/* Rows that are adjacent on both sides are moved as one. */
static vmm_result move_layer(struct sim_process *process, const struct job *job, uint64_t layer)
{
    const uint64_t width = job->copy.extent.width, height = job->copy.extent.height;
    vmm_result result = VMM_SUCCESS;
    if (job->copy.to.pitch == width && job->copy.from.pitch == width && height <= UINT64_MAX / width)
        return copy_row(process, job, layer, 0, width * height);
    for (uint64_t row = 0; row < height && result == VMM_SUCCESS; row++)
        result = copy_row(process, job, layer, row, width);
    return result;
}

static vmm_result move_layers(struct sim_process *process, const struct job *job)
{
    vmm_result result = VMM_SUCCESS;
    for (uint64_t layer = 0; layer < job->copy.extent.depth && result == VMM_SUCCESS; layer++)
        result = move_layer(process, job, layer);
    return result;
}

/* Checks context and stream, as even an empty copy does. */
static vmm_result check_stream(struct sim_process *process, vmm_stream stream, struct sim_context **context)
{
    vmm_result result = sim_stream_context(process, stream, context);
    return result == VMM_SUCCESS ? sim_context_check(process, *context, false) : result;
}

/* An array without memory so far: unless it has some by then, the copy faults when the stream reaches it. */
static bool may_fault(const struct sim_process *process, const struct rows_side *side)
{
    struct translate_run run;
    return side->array && !translate_run(process, side->start, 1, &run);
}

static vmm_result make(struct sim_process *process, struct job *job, const vmm_memcpy3d *asked)
{
    struct rows_copy *copy = &job->copy;
    const int to = job->rights.to, from = job->rights.from;
    uint64_t layer, row;
    vmm_result result = rows_copy_of(process, asked, copy);
    if (result == VMM_SUCCESS)
        result = rows_check_span(process, to, &copy->to, &copy->extent, copy->write);
    if (result == VMM_SUCCESS)
        result = rows_check_span(process, from, &copy->from, &copy->extent, copy->read);
    if (result != VMM_SUCCESS)
        return result;
    if (rows_bad_layer(process, to, &copy->to, &copy->extent, copy->write, &layer, &row))
        return let_fault(process, job, &copy->to, layer, row);
    if (rows_bad_layer(process, from, &copy->from, &copy->extent, copy->read, &layer, &row))
        return let_fault(process, job, &copy->from, layer, row);
    if ((copy->to.array || copy->from.array) && !copy->to.host && !copy->from.host) /* as recorded */
        job->waits = false;
    const struct rows_side *empty = may_fault(process, &copy->to) ? &copy->to : may_fault(process, &copy->from) ? &copy->from : NULL;
    if (empty && in_flight_idle(process->in_flight))
        return let_fault(process, job, empty, 0, 0);
    return move_layers(process, job);
}

/* rights: -1 for a side that names no context. */
static vmm_result copy_box(struct sim_process *process, const struct vmm_call *call, const vmm_memcpy3d *asked, vmm_stream stream,
                           struct transfer_rights rights, bool waits)
{
    struct job job = {.call = call, .stream = stream, .waits = waits, .rights = rights};
    struct sim_context *context = NULL;
    if (!asked) /* as measured, the context of the default stream is checked before the description */
        return !stream && !sim_current(process) ? sim_no_context(process) : vmm_detail_refuse(VMM_RULE_BOX_NULL, 0, 0, NULL);
    sim_machine_lock_to_wait(process->machine);
    vmm_result result = check_stream(process, stream, &context);
    if (result == VMM_SUCCESS && asked->width_in_bytes && asked->height && asked->depth) {
        if (job.rights.to < 0)
            job.rights.to = context->device;
        if (job.rights.from < 0)
            job.rights.from = context->device;
        result = make(process, &job, asked);
    }
    return result == VMM_SUCCESS && job.waits ? sim_stream_wait(process, stream) : result;
}

/* Within a context. */
static vmm_result copy_own_box(struct sim_process *process, const struct vmm_call *call, const vmm_memcpy3d *asked, vmm_stream stream,
                               bool waits)
{
    const struct sim_context *current = sim_current(process);
    const int device = current ? current->device : -1; /* as copy_rights has it */
    return copy_box(process, call, asked, stream, (struct transfer_rights){device, device}, waits);
}

vmm_result copy_box_on_stream(struct sim_process *process, const struct vmm_call *call, const vmm_memcpy3d *asked, vmm_stream stream)
{
    return copy_own_box(process, call, asked, stream, false);
}

vmm_result sim_memcpy_3d(struct sim_process *process, const struct vmm_call_memcpy_3d *call)
{
    return copy_own_box(process, &call->head, call->p_copy, NULL, true);
}

vmm_result sim_memcpy_3d_async(struct sim_process *process, const struct vmm_call_memcpy_3d_async *call)
{
    return copy_own_box(process, &call->head, call->p_copy, call->stream, false);
}

/* ---- between contexts: each side needs the rights of its own context's device ---- */

/* NULL stands for the stream's context or, without a stream, the current one, as measured on two H200; a value that is not a
 * context ends the process on a driver. */
static bool find_side(const struct sim_process *process, vmm_context value, int *device)
{
    void *found = NULL;
    const bool lives = slots_find(&process->contexts, (uint64_t)(uintptr_t)value, &found) == SLOT_LIVE &&
                       !((const struct sim_context *)found)->ended_primary;
    *device = lives ? ((const struct sim_context *)found)->device : -1;
    return lives || !value;
}

static vmm_result copy_between(struct sim_process *process, const struct vmm_call *call, const vmm_memcpy3d_peer *asked,
                               vmm_stream stream, bool waits)
{
    vmm_memcpy3d box;
    if (!asked)
        return vmm_detail_refuse(VMM_RULE_BOX_NULL, 0, 0, NULL);
    if (!sim_current(process) && !stream)
        return sim_no_context(process);
    struct transfer_rights rights;
    bool to = find_side(process, asked->dst_context, &rights.to), from = find_side(process, asked->src_context, &rights.from);
    if (!to || !from) {
        vmm_context wrong = to ? asked->src_context : asked->dst_context;
        vmm_result result = vmm_detail_refuse(VMM_RULE_PEER_CONTEXT, (uint64_t)(uintptr_t)wrong, 0, NULL);
        vmm_detail_argument(to ? "srcContext" : "dstContext");
        return result;
    }
    _Static_assert(sizeof box == sizeof *asked, "the same fields, but contexts for reserved ones");
    memcpy(&box, asked, sizeof box);
    return copy_box(process, call, &box, stream, rights, waits);
}

vmm_result sim_memcpy_3d_peer(struct sim_process *process, const struct vmm_call_memcpy_3d_peer *call)
{
    return copy_between(process, &call->head, call->p_copy, NULL, true);
}

vmm_result sim_memcpy_3d_peer_async(struct sim_process *process, const struct vmm_call_memcpy_3d_peer_async *call)
{
    return copy_between(process, &call->head, call->p_copy, call->stream, false);
}
