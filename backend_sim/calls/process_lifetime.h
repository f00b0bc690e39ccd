/* SPDX-License-Identifier: Apache-2.0 */
/* process_lifetime.h - the beginning and the end of a process, where every room has its part.
 *
 *   begin   address space and handles  ->  queue of work  ->  joins the machine  ->  host faults explained
 *   end     host faults forgotten  ->  workers stopped, work dropped  ->  memory released  ->  leaves the machine
 *
 * In a child that was forked in the middle of a call, the end leaves the process as it is: what of it is whole cannot be known.
 */
#ifndef SIM_PROCESS_LIFETIME_H
#define SIM_PROCESS_LIFETIME_H

#include "process.h"

/* A process on machine, which it joins; NULL when memory or thread keys are exhausted. Under the machine's lock. */
struct sim_process *sim_process_new(struct sim_machine *machine, const struct sim_options *options);

/* From now on a host access to an address that the host has no access to is explained, if the options ask for it. Without the
 * machine's lock. */
void sim_process_watch(struct sim_process *process);

/* Releases everything that the process holds and leaves the machine, which ends with its last process. */
void sim_process_free(struct sim_process *process);

#endif
