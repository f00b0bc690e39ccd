/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_lane.h"

#include "abi_process.h"
#include "in_flight.h"
#include "sim.h"

#define LANES (UINT64_C(1) << 63) /* no stream has such a value */

uint64_t abi_lane_number(const vmm_system *sys)
{
    struct sim_process *process = abi_process_lock(sys);
    uint64_t number = LANES | process->in_flight->queue.issued << 16; /* the launch issues a mark for each lane, at least */
    abi_process_unlock(process);
    return number;
}

static vmm_result place_of(struct sim_process *process, const struct abi_lane *lane, struct queue_place *place)
{
    struct sim_context *context;
    void *object;
    vmm_result result = sim_stream_context(process, lane->stream, &context);
    if (result != VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: unless another thread has just destroyed the stream */
        return result;         /* LCOV_EXCL_LINE: the same */
    if (!lane->branch) {
        *place = in_flight_place(process, context, lane->stream);
        return VMM_SUCCESS;
    }
    if (slots_find(&process->contexts, lane->context, &object) == SLOT_LIVE) /* LCOV_EXCL_BR_LINE: as above */
        context = object;
    *place = (struct queue_place){.context = context->value, .stream = lane->branch, .device = context->device,
                                  .kind = QUEUE_NON_BLOCKING};
    return VMM_SUCCESS;
}

vmm_result abi_lane_issue(vmm_system *sys, const union vmm_any_call *call, enum vmm_call_id issued_by, const struct abi_lane *lane)
{
    struct sim_process *process = abi_process_lock(sys);
    struct queue_place place;
    vmm_result result = place_of(process, lane, &place);
    if (result == VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: as in place_of */
        result = in_flight_issue(process, &place, &call->head, issued_by);
    abi_process_unlock(process);
    return result;
}

vmm_result abi_lane_wait(vmm_system *sys, const struct abi_lane *lane, const struct abi_lane *other)
{
    struct sim_process *process = abi_process_lock(sys);
    const struct vmm_call_event_record record = {{VMM_CALL_event_record, (uint32_t)vmm_last_detail()->call}, NULL, other->stream};
    const struct vmm_call_stream_wait_event wait = {{VMM_CALL_stream_wait_event, record.head.number}, lane->stream, NULL, 0};
    struct queue_place from, to;
    vmm_result result = place_of(process, other, &from);
    if (result == VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: as in place_of */
        result = place_of(process, lane, &to);
    if (result == VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: as in place_of */
        result = in_flight_mark_quietly(process, &from, &record.head, 0);
    if (result == VMM_SUCCESS)
        result = in_flight_mark_quietly(process, &to, &wait.head, process->in_flight->queue.issued);
    if (result == VMM_SUCCESS)
        result = in_flight_marked(process);
    abi_process_unlock(process);
    return result;
}
