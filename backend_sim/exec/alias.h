/* SPDX-License-Identifier: Apache-2.0 */
/* alias.h - a kernel that writes memory through one address and uses the same bytes through another.
 *
 *     mappings   [M1 of H1]        [M2 of H1]        one memory, two addresses
 *     kernel       w w w              r              a byte of M1 that is written is read at M2: undefined in one launch
 *
 * Without a fence between them a device may answer the second from what it had before (guide, virtual aliasing support).
 * The same goes for a multicast address and an ordinary one of a replica. From one launch to a later one of the same
 * stream it is defined. What a kernel uses is found by dry runs of its twin (access_set.h), byte by byte; of memory that
 * is mapped once nothing is kept.
 */
#ifndef SIM_ALIAS_H
#define SIM_ALIAS_H

#include "process.h"

/* Warns by VMM-LAUNCH-ALIAS of a launch whose arguments are in order. */
void alias_warn(const struct sim_process *process, int device, const struct vmm_call_launch *call);

#endif
