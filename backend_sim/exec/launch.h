/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - device work as it is done, and devices that a fault took from a process.
 *
 *     work is done      device:  there
 *     it faults                  lost, nobody knows      what it did is kept with the process
 *     a call that waits          lost, told              VMM-FAULT-ACCESS, -COPY, -HOST-COPY: what the work did
 *     any other call             lost                    the same with -STICKY behind: that it is over
 *
 * Every context of the process on the device is broken, and no new one is made. Other processes, and as far as anybody
 * knows other devices, are not disturbed.
 */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include "queue.h"
#include "process.h"

struct work;

/* SUCCESS while the context's device is there, otherwise a refusal; waits: the call is one that finds out. */
vmm_result sim_context_check(struct sim_process *process, const struct sim_context *context, bool waits);

/* The same for a call that does not find out: SUCCESS until another one was told. */
vmm_result sim_context_lost_reported(struct sim_process *process, const struct sim_context *context);

/* The same for a call that makes a context on a device. */
vmm_result sim_device_check(const struct sim_process *process, int device);

/* NOT_PERMITTED: the call is made inside a host function. */
vmm_result sim_refuse_inside(const struct sim_process *process);

/* Waits for what scope covers of the current context, seen from its default stream; and SUCCESS while its device is
 * there. Refused without a context. */
vmm_result sim_wait_current(struct sim_process *process, enum queue_scope scope);

/* Queued work, done now with the rights of now. False when the host's memory is out. */
bool launch_do(struct sim_process *process, struct work *work);
bool copy_do(struct sim_process *process, struct work *work);

/* The access that took a device. */
struct device_loss {
    enum sim_fault_kind kind;
    const struct queue_place *place;
    const struct vmm_call *call; /* that issued the work */
    uint16_t issued_by;          /* vmm_reported_call */
    uint64_t address;
    uint32_t width;
    unsigned use; /* enum twin_use */
    int unbound;  /* of SIM_FAULT_UNBOUND: the device; ~device of another node */
};

void sim_lose_device(struct sim_process *process, const struct device_loss *loss);

#endif
