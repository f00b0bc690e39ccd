/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - the engine's invariants, checked after its calls (checks.h).
 *
 *     each call         what its arguments and outputs name, and the neighbours: ranges at an address and at the end of a size,
 *                       objects by their values
 *     every Nth call    the whole machine: each process, its queue of work, each block and who holds it, budgets
 *
 *     N = 1 + objects of the machine        so a call costs the same on average, however many objects there are
 *
 * What breaks is named with the call behind which it was found.
 */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "process.h"

/* With the machine's lock, before it is released. */
__attribute__((cold)) void watch_call(struct sim_process *process, const struct vmm_call *call, vmm_result result);
/* Beside other readers, or with the lock: what the call names alone. */
__attribute__((cold)) void watch_read(struct sim_process *process, const struct vmm_call *call, vmm_result result);

/* The whole machine now; NULL, or the first invariant that is broken. With the machine's lock. */
const char *watch_machine(struct sim_machine *machine);

#endif
