/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - one piece of device work: the call that issued it, with copies of what it points to, and how it is done.
 *
 *     issue   vmm_launch(kernel, args)  ->  work_new: the call, args copied     the program may reuse args now
 *     later                                 work_do: rights of now              bytes change, or the device is lost
 */
#ifndef SIM_WORK_H
#define SIM_WORK_H

#include "queue.h"
#include "access_set.h"

struct work {
    struct queue_item item; /* first: the queue hands this back */
    union vmm_any_call call;
    void *copied; /* arguments of a launch, bytes of a copy from the host */
    uint16_t issued_by; /* vmm_reported_call */
    bool asked;   /* touched was found */
    struct access_set touched;
};

/* NULL when memory is out. */
struct work *work_new(const struct vmm_call *call, uint16_t issued_by);
void work_free(struct work *work);

/* Does it, unless it is a host function, on the item's device; a fault takes that from the process. False when the host's
 * memory is out. */
bool work_do(struct sim_process *process, struct work *work);

/* What it touches, as far as it is known now. */
const struct access_set *work_touched(struct work *work, const struct sim_process *process);

#endif
