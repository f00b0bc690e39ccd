/* SPDX-License-Identifier: Apache-2.0 */
/* alias.h - warns about a kernel that writes memory through one address and uses the same bytes through another.
 *
 *     mappings   [M1 of H1]        [M2 of H1]        one memory, two addresses
 *     kernel       w w w              r              a byte of M1 that is written is read at M2: undefined in one launch
 *
 * Without a fence between the two accesses a device may answer the second with old data (guide, virtual aliasing support).
 * The same holds for a multicast address and an ordinary address of a replica. Between a launch and a later launch in the same
 * stream the result is defined. Dry runs find what a kernel uses (dry_run.h), byte by byte; nothing is recorded
 * for memory that is mapped once. A PTX kernel that executes an alias fence draws no warning.
 */
#ifndef SIM_ALIAS_H
#define SIM_ALIAS_H

#include "process.h"
#include "queue.h"

/* Warns with VMM-LAUNCH-ALIAS. The arguments of the launch have been checked. */
void alias_warn(const struct sim_process *process, const struct queue_place *place, const struct vmm_call_launch *call);

#endif
