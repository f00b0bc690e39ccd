/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - a work item: the call that issued it, with copies of what the call points to, and the code that does it.
 *
 *     issue   vmm_launch(kernel, args)  ->  work_new: the call, args copied     the program may reuse args now
 *     later                                 work_do: rights of now              bytes change, or the device is lost
 */
#ifndef SIM_WORK_H
#define SIM_WORK_H

#include "queue.h"
#include "access_set.h"
#include "order.h"
#include "region.h"
#include "transfer.h"

struct work {
    struct queue_item item; /* first: the queue passes this pointer back */
    union vmm_any_call call;
    void *copied; /* arguments of a launch, bytes of a copy from the host, operations of a batch */
    uint64_t next; /* of memory operations: the first that is not done */
    uint16_t issued_by; /* vmm_reported_call */
    uint32_t stack;     /* call_stack of that call */
    bool known;   /* accesses has been computed */
    struct access_set accesses;
    struct order_work *ordered; /* order_feed.h; NULL: not followed */
    struct free_mark *freed; /* of a mark that stands for frees */
    struct array_binds *binds; /* its mappings to arrays (arrays.h) */
    struct transfer_rights rights; /* of a copy; -1: those of the item's device */
};

/* NULL when out of memory. */
struct work *work_new(const struct vmm_call *call, uint16_t issued_by);
/* The call that issued it. */
vmm_site work_site(const struct work *work);
void work_free(struct work *work);

/* Does the work on the item's device, unless it is a host function; on a fault the process loses the device. Sets *waits if
 * the work is blocked at a wait for a value (mem_op.h): then it is not done yet. False when host memory is exhausted. */
bool work_do(struct sim_process *process, struct work *work, bool *waits);

/* The access set of the work, as far as it is known now. */
const struct access_set *work_accesses(struct work *work, const struct sim_process *process);

#endif
