/* SPDX-License-Identifier: Apache-2.0 */
/* copy_places.h - which memory a node's copy uses: an instance keeps it, as documented and as measured on two H200.
 *
 *     a mapping of device 1's memory with rights for devices 0 and 1    device 1, {0, 1}
 *     memory of the host, nothing                                       none
 *
 * Under the machine's lock.
 */
#ifndef SIM_COPY_PLACES_H
#define SIM_COPY_PLACES_H

#include "graphs.h"
#include "process.h"

/* Notes the memory of both sides of the copy that the work describes. */
void copy_places_note(const struct sim_process *process, struct graph_work *work);

/* Does the side stay on its device, with rights for the same devices? If either is not device memory, they count as the same. */
bool copy_places_same(uint64_t now, uint64_t next);

/* Did the device have rights to both sides when they were noted? A side that is not device memory does not count. */
bool copy_places_had_rights(const struct graph_work *work, int device);

#endif
