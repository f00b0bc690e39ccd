/* SPDX-License-Identifier: Apache-2.0 */
/* in_flight_hazards.h - warns when a call takes memory or rights from work that no call has waited for.
 *
 *     call      launch K (writes M)      unmap M
 *     queue     [K]                      [K]        warning VMM-UNMAP-IN-FLIGHT: K is not waited for
 *
 * Call these under the machine's lock, and only while in_flight_any.
 */
#ifndef SIM_IN_FLIGHT_HAZARDS_H
#define SIM_IN_FLIGHT_HAZARDS_H

#include "in_flight.h"

/* A range that contains all addresses that in-flight work uses; first > last: empty. */
struct in_flight_used {
    uint64_t first, last;
};

/* The part of [start, end) that in-flight work uses, so that a caller with many mappings checks only those in that part. It is
 * all of [start, end) while some work is blocked, because its accesses under other rights are unknown. */
struct in_flight_used in_flight_used(struct sim_process *process, uint64_t start, uint64_t end);

static inline bool in_flight_uses(const struct in_flight_used *used, uint64_t start, uint64_t size)
{
    return used->first <= used->last && start <= used->last && (used->first <= start || used->first - start < size);
}

/* Warns about in-flight work that uses a mapping in [start, end), all of which the call unmaps. */
void in_flight_unmapping(struct sim_process *process, uint64_t start, uint64_t end);
/* Warns about in-flight work that uses a part of a multicast object from which the call removes a replica. */
void in_flight_unbinding(struct sim_process *process, const struct sim_handle *object, uint64_t offset, uint64_t size);
/* Warns about in-flight work that needs a right that the grant removes from a mapping. */
void in_flight_granting(struct sim_process *process, const struct sim_mapping *mapping, const vmm_mem_access_desc *desc);

#endif
