/* launch.h - devices that a kernel's fault took from a process.
 *
 *     launch            device:  there
 *     kernel faults              lost, nobody knows      what it did is kept with the process
 *     a call that waits          lost, told              VMM-FAULT-ACCESS: what the kernel did
 *     any other call             lost                    VMM-FAULT-STICKY: that it is over
 *
 * Every context of the process on the device is broken, and no new one is made. Other processes, and as far as anybody
 * knows other devices, are not disturbed.
 */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include "sim.h"

/* SUCCESS while the context's device is there, otherwise a refusal; waits: the call is one that finds out. */
vmm_result sim_context_check(struct sim_process *process, const struct sim_context *context, bool waits);

/* The same for a call that makes a context on a device. */
vmm_result sim_device_check(const struct sim_process *process, int device);

#endif
