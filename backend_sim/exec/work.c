/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "heap.h"
#include "launch.h"
#include "mem_op.h"
#include "stacks_call.h"

/* Copies size bytes, none for a kernel without arguments; an empty copy or batch is not issued. */
static bool keep(struct work *work, const void *from, uint64_t size)
{
    if (!size)
        return true;
    work->copied = heap.malloc(size);
    if (work->copied)
        memcpy(work->copied, from, size);
    return work->copied != NULL;
}

static bool keep_what_it_points_to(struct work *work)
{
    struct vmm_call_launch *launch = &work->call.launch;
    struct vmm_call_memcpy_htod_async *copy = &work->call.memcpy_htod_async;
    struct vmm_call_stream_batch_mem_op *batch = &work->call.stream_batch_mem_op;
    bool ok = true;
    if (work->call.head.id == VMM_CALL_launch) {
        ok = keep(work, launch->args, launch->count * sizeof *launch->args);
        launch->args = work->copied;
    } else if (work->call.head.id == VMM_CALL_memcpy_htod_async) {
        ok = keep(work, copy->src, copy->byte_count);
        copy->src = work->copied;
    } else if (work->call.head.id == VMM_CALL_stream_batch_mem_op) {
        ok = keep(work, batch->param_array, batch->count * sizeof *batch->param_array);
        batch->param_array = work->copied;
    }
    return ok;
}

struct work *work_new(const struct vmm_call *call, uint16_t issued_by)
{
    struct work *work = heap.calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->issued_by = issued_by;
    work->rights = (struct transfer_rights){-1, -1};
    work->stack = call_stack();
    memcpy(&work->call, call, vmm_call_size((enum vmm_call_id)call->id));
    if (!keep_what_it_points_to(work)) {
        heap.free(work);
        return NULL;
    }
    return work;
}

vmm_site work_site(const struct work *work)
{
    return (vmm_site){vmm_reported_name(work->issued_by), work->call.head.number, work->stack};
}

void work_free(struct work *work)
{
    access_set_clear(&work->accesses);
    order_drop(work->ordered);
    if (work->binds)
        array_binds_free(work->binds);
    heap.free(work->copied);
    heap.free(work);
}

bool work_do(struct sim_process *process, struct work *work, bool *waits)
{
    *waits = false;
    if (mem_op_is((enum vmm_call_id)work->call.head.id)) {
        enum mem_op_progress progress = mem_op_do(process, work);
        *waits = progress == MEM_OP_WAITS;
        return progress != MEM_OP_OUT_OF_MEMORY;
    }
    if (work->binds)
        return array_binds_do(work->binds);
    return work->call.head.id == VMM_CALL_launch ? launch_do(process, work) : copy_do(process, work);
}

const struct access_set *work_accesses(struct work *work, const struct sim_process *process)
{
    if (!work->known || !work->accesses.complete) {
        access_set_clear(&work->accesses);
        work->known = access_set_by(&work->accesses, process, queue_place_of(&work->item), &work->call.head);
    }
    return &work->accesses;
}
