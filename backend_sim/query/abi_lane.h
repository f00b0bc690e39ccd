/* SPDX-License-Identifier: Apache-2.0 */
/* abi_lane.h - work of one launch beside other work of it: lanes of the queue (queue.h) that no stream of the program has.
 *
 *     stream S    mark 1    fill             mark 3, needs 2
 *     lane L      after 1   copy    mark 2
 */
#ifndef SIM_ABI_LANE_H
#define SIM_ABI_LANE_H

#include <stdbool.h>

#include "call.h"
#include "vmm.h"

/* Where work goes: to the stream of the launch, or to a lane of its own, as work of that context. */
struct abi_lane {
    vmm_stream stream;
    uint64_t context;
    uint64_t branch; /* 0: the stream */
};

/* A number for the first lane of a launch; it and the ones that follow are no stream's and no other launch's. */
uint64_t abi_lane_number(const vmm_system *sys);

/* As abi_query_issue. */
vmm_result abi_lane_issue(vmm_system *sys, const union vmm_any_call *call, enum vmm_call_id issued_by, const struct abi_lane *lane);

/* Makes lane wait for everything that was issued to other so far, but not for what comes later. */
vmm_result abi_lane_wait(vmm_system *sys, const struct abi_lane *lane, const struct abi_lane *other);

#endif
