/* SPDX-License-Identifier: Apache-2.0 */
/* host_fault.h - the host touched a device address that it may not touch: the system's signal, with an explanation.
 *
 *   program   *p = 1   ->  SIGSEGV  ->  explained on standard error, and as the thread's vmm_last_detail()
 *                                   ->  the program's own handler of before, or the end of the process, as ever
 *
 * There is one such handler in a program, put in place when the first process is watched and taken away with the last;
 * a handler that the program sets later replaces it.
 */
#ifndef SIM_HOST_FAULT_H
#define SIM_HOST_FAULT_H

#include "process.h"

/* From now on, until forgotten, the process's addresses are explained. */
void host_fault_watch(struct sim_process *process);
void host_fault_forget(struct sim_process *process);

#endif
