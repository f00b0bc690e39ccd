/* SPDX-License-Identifier: Apache-2.0 */
/* abi_ptx_run.h - runs a kernel of PTX as a piece of work.
 *
 *     kernel: ld.global.u32 ... [at]  ->  registered host memory, or the launch's device through the simulated translation
 *             it ends early           ->  twin_memory.ended: why, by which thread, at which line
 */
#ifndef SIM_ABI_PTX_RUN_H
#define SIM_ABI_PTX_RUN_H

#include "registered.h"

/* Code of a registered kernel; user is its struct abi_ptx_kernel. */
void abi_ptx_run(struct twin_memory *memory, const struct vmm_call_launch *call, void *user);

#endif
