/* launch.h - contexts that a kernel broke.
 *
 *     launch            context:  whole
 *     kernel faults               broken, nobody knows      the fault's snapshot is kept with the context
 *     a call that waits           broken, told              VMM-FAULT-ACCESS: what the kernel did
 *     any other call              broken                    VMM-FAULT-STICKY: that it is over
 *     the primary one ended and retained again           whole
 */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include "sim.h"

/* SUCCESS while the context is whole, otherwise a refusal; waits: the call is one that finds out. */
vmm_result sim_context_check(struct sim_context *context, bool waits);

#endif
