/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - concurrent work of one launch: lanes of the queue (queue.h) that no stream of the program has.
 *
 *     stream S    mark 1    fill             mark 3, needs 2
 *     lane L      after 1   copy    mark 2
 *
 * Under the machine's lock.
 */
#ifndef SIM_LANE_H
#define SIM_LANE_H

#include "call.h"
#include "process.h"

/* Where work goes: to the stream of the launch, or to its own lane, as work of that context. */
struct graph_lane {
    vmm_stream stream;
    uint64_t context;
    uint64_t branch; /* 0: the stream */
};

/* A number for the first lane of a launch; it and the following numbers belong to no stream and no other launch. */
uint64_t graph_lane_number(const struct sim_process *process);

/* Queues the work of a call without checking it. Messages about a fault name the call issued_by. */
vmm_result graph_lane_issue(struct sim_process *process, const union vmm_any_call *call, enum vmm_call_id issued_by, const struct graph_lane *lane);

/* number: of the launch. Makes lane wait for everything that was issued to other so far, but not for what comes later. */
vmm_result graph_lane_wait(struct sim_process *process, uint64_t number, const struct graph_lane *lane, const struct graph_lane *other);

#endif
