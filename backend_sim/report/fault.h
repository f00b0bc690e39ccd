/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - the surroundings of a fault: what lies near an address that device work had no right to access.
 *
 *     [M1 ..........]      x            [M2 .........]      x is the address, or is inside one without the rights
 *        before      |<---->|<--------->|   after
 *                     past: what was mapped at x until some call
 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "process.h"

/* Fills in the present surroundings of fault->address: before, after, past. */
void sim_fault_surroundings(const struct sim_process *process, vmm_fault *fault);

/* Fills in the argument from which the kernel most likely computed the address: the nearest one at or below it. */
void sim_fault_argument(const struct vmm_call_launch *call, vmm_fault *fault);

#endif
