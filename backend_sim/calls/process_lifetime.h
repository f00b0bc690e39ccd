/* SPDX-License-Identifier: Apache-2.0 */
/* process_lifetime.h - creates and destroys a process, in which every room of the engine takes part.
 *
 *   begin   address space and handles  ->  queue of work  ->  joins the machine  ->  host faults explained
 *   end     host faults forgotten  ->  workers stopped, work dropped  ->  memory released  ->  leaves the machine
 *
 * In a child that was forked in the middle of a call, the end leaves the process as it is, because its state may be inconsistent.
 */
#ifndef SIM_PROCESS_LIFETIME_H
#define SIM_PROCESS_LIFETIME_H

#include "process.h"

/* Creates a process, which joins machine; NULL if memory or thread keys are exhausted. Under the machine's lock. */
struct sim_process *sim_process_new(struct sim_machine *machine, const struct sim_options *options);

/* Starts explaining faults of the host at the process's addresses, if the options enable it. Call without the machine's lock. */
void sim_process_watch(struct sim_process *process);

/* Releases everything that the process holds and leaves the machine, which ends with its last process. */
void sim_process_free(struct sim_process *process);

#endif
