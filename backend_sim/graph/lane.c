/* SPDX-License-Identifier: Apache-2.0 */
#include "lane.h"

#include "in_flight.h"
#include "objects.h"
#include "order.h"
#include "refusal.h"

#define LANES (UINT64_C(1) << 63) /* no stream has such a value */

uint64_t graph_lane_number(const struct sim_process *process)
{
    return LANES | process->in_flight->queue.issued << 16; /* the launch issues at least a mark for each lane */
}

static vmm_result place_of(struct sim_process *process, const struct graph_lane *lane, struct queue_place *place)
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

vmm_result graph_lane_issue(struct sim_process *process, const union vmm_any_call *call, enum vmm_call_id issued_by, const struct graph_lane *lane)
{
    struct queue_place place;
    vmm_result result = place_of(process, lane, &place);
    return result == VMM_SUCCESS ? in_flight_issue(process, &place, &call->head, issued_by)
                                 : result; /* LCOV_EXCL_BR_LINE: as in place_of */
}

vmm_result graph_lane_wait(struct sim_process *process, uint64_t number, const struct graph_lane *lane, const struct graph_lane *other)
{
    const struct vmm_call_event_record record = {{VMM_CALL_event_record, number}, NULL, other->stream};
    const struct vmm_call_stream_wait_event wait = {{VMM_CALL_stream_wait_event, record.head.number}, lane->stream, NULL, 0};
    struct queue_place from, to;
    vmm_result result = place_of(process, other, &from);
    if (result == VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: as in place_of */
        result = place_of(process, lane, &to);
    if (result == VMM_SUCCESS && process->in_flight->order)
        lanes_pass(&process->in_flight->order->lanes, &from, &to);
    if (result == VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: as in place_of */
        result = in_flight_mark_quietly(process, &from, &record.head, 0);
    if (result == VMM_SUCCESS)
        result = in_flight_mark_quietly(process, &to, &wait.head, process->in_flight->queue.issued);
    if (result == VMM_SUCCESS)
        result = in_flight_marked(process);
    return result;
}
