/* SPDX-License-Identifier: Apache-2.0 */
/* code_run.h - runs a kernel of vmm_kernel_load as a piece of work of the engine.
 *
 *     ld.global [address of a variable]  ->  the module's variables in this context
 *     ld.global [any other address]      ->  the accessor of the launch: translation, and the device's rights
 */
#ifndef SIM_CODE_RUN_H
#define SIM_CODE_RUN_H

#include "registered.h"

/* Code of a registered kernel; user is its struct code_kernel. */
void code_run(struct twin_memory *memory, const struct vmm_call_launch *call, void *user);

#endif
