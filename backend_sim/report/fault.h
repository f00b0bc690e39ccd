/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - what is known of device work that went where it may not.
 *
 *     [M1 ..........]      x            [M2 .........]      x is the address, or is inside one without the rights
 *        before      |<---->|<--------->|   after
 *                     past: what was mapped at x until some call
 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "process.h"

/* The surroundings of fault->address as they are now: before, after, past. */
void sim_fault_surroundings(const struct sim_process *process, vmm_fault *fault);

/* The argument that the address was most likely reached from: the nearest at or below it. */
void sim_fault_argument(const struct vmm_call_launch *call, vmm_fault *fault);

#endif
