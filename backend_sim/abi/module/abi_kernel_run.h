/* SPDX-License-Identifier: Apache-2.0 */
/* abi_kernel_run.h - runs a plugin's kernel: gives it the engine's memory access through the plugin interface.
 *
 *     plugin: vmm_load_f32(k, at)  ->  registered host memory, or the launch's device through the simulated translation
 *             access refused       ->  the kernel ends there (longjmp); the device is lost
 */
#ifndef SIM_ABI_KERNEL_RUN_H
#define SIM_ABI_KERNEL_RUN_H

#include "registered.h"

/* Code of a registered kernel; user is its struct abi_kernel. */
void abi_kernel_run(struct twin_memory *memory, const struct vmm_call_launch *call, void *user);

#endif
