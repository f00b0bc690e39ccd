/* SPDX-License-Identifier: Apache-2.0 */
/* host_fault.h - reports the signal that the host raises when it accesses a device address without the right to it.
 *
 *   program   *p = 1   ->  SIGSEGV  ->  a report on standard error, and in the thread's vmm_last_detail()
 *                                   ->  the handler that the program set before, or the end of the process, as usual
 *
 * A program has one such handler. It is installed when the first process is watched and removed with the last one; a handler
 * that the program installs later replaces it.
 */
#ifndef SIM_HOST_FAULT_H
#define SIM_HOST_FAULT_H

#include "process.h"

/* Faults at the process's addresses are reported between these two calls. */
void host_fault_watch(struct sim_process *process);
void host_fault_forget(struct sim_process *process);

#endif
