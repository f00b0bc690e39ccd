/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - does device work, and tracks the devices that a process lost to a fault.
 *
 *     work is done      device:  there
 *     it faults                  lost, unreported        the process keeps a record of the fault
 *     a call that waits          lost, reported          VMM-FAULT-ACCESS, -COPY, -HOST-COPY: what the work did
 *     any other call             lost                    the same with suffix -STICKY: the device is lost
 *
 * Every context of the process on the device is broken, and no new one can be created. Other processes are not affected, nor,
 * as far as is known, other devices.
 */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include "queue.h"
#include "process.h"

struct work;

/* SUCCESS while the context's device is not lost, otherwise a refusal; waits: the call reports the fault. */
vmm_result sim_context_check(struct sim_process *process, const struct sim_context *context, bool waits);

/* The same for a call that does not report the fault: SUCCESS until another call has reported it. */
vmm_result sim_context_lost_reported(struct sim_process *process, const struct sim_context *context);

/* The same for a call that creates a context on a device. */
vmm_result sim_device_check(const struct sim_process *process, int device);

/* Returns NOT_PERMITTED: the call is made inside a host function. */
vmm_result sim_refuse_inside(const struct sim_process *process);

/* May the machine launch it? The refusals common to all backends (kernels_check), and unsupported code. */
vmm_result launch_check(const struct sim_process *process, const struct vmm_call_launch *call);

/* Waits for the work that scope covers in the current context, seen from its default stream. SUCCESS while its device is not
 * lost; a refusal without a context. promised: the wait is documented. */
vmm_result sim_wait_current(struct sim_process *process, enum queue_scope scope, bool promised);

/* These do queued work with the current rights. Return false when host memory is exhausted. */
bool launch_do(struct sim_process *process, struct work *work);
bool copy_do(struct sim_process *process, struct work *work);

/* The access by which a process lost a device. */
struct device_loss {
    enum sim_fault_kind kind;
    const struct queue_place *place;
    const struct vmm_call *call; /* that issued the work */
    uint16_t issued_by;          /* vmm_reported_call */
    uint32_t stack;              /* call_stack of that call */
    uint64_t address;
    uint32_t width;
    unsigned use; /* enum twin_use */
    int unbound;  /* for SIM_FAULT_UNBOUND: the device; ~device if on another node */
};

void sim_lose_device(struct sim_process *process, const struct device_loss *loss);

#endif
