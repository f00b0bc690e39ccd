/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - checks the engine's invariants after its calls (checks.h).
 *
 *     each call         what its arguments and outputs name, and the neighbours: ranges at an address and at the end of a size,
 *                       objects by their values; the newest retired range, the thread's stack of contexts
 *     every Nth call    the whole machine: each process, its work queue, each block and its holders, budgets, the backing file
 *
 *     N = 1 + objects of the machine        so a call costs the same on average, however many objects there are
 *
 * The report names the broken invariant and the call after which it was found.
 */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "process.h"

/* Under the machine's exclusive lock, before it is released. */
__attribute__((cold)) void watch_call(struct sim_process *process, const struct vmm_call *call, vmm_result result);
/* Checks only what the call names. Under the machine's lock, shared with other readers or exclusive. */
__attribute__((cold)) void watch_read(struct sim_process *process, const struct vmm_call *call, vmm_result result);

/* Checks the whole machine; NULL, or the first broken invariant. Under the machine's lock. */
const char *watch_machine(struct sim_machine *machine);

#endif
