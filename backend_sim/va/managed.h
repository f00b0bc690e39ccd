/* SPDX-License-Identifier: Apache-2.0 */
/* managed.h - managed memory: an allocation that the host and every device access at the same address.
 *
 *     cuMemAllocManaged    A1 [ 2 MiB .......... ]     memory of the host, shown in place where the host window backs it
 *     cuMemAdvise             [ said ][          ]     managed_parts.h
 *
 * The memory does not migrate: the program's advice is stored and returned by queries.
 */
#ifndef SIM_MANAGED_H
#define SIM_MANAGED_H

#include "managed_parts.h"
#include "process.h"

struct sim_managed {
    struct sim_allocation allocation; /* first; with managed */
    struct managed_parts parts;
    bool shown;
};

static inline struct sim_managed *sim_managed_of(const struct sim_allocation *allocation)
{
    return allocation && allocation->managed ? (struct sim_managed *)(uintptr_t)allocation : NULL;
}

/* Its addresses and its size are multiples of this. */
static inline uint64_t sim_managed_unit(const struct sim_process *process)
{
    const uint64_t host = sim_granularity(process, VMM_MEM_LOCATION_TYPE_HOST, 0), va = process->machine->profile.va_granularity;
    return host > va ? host : va;
}

/* Allocates managed memory; the host must have enough memory. NULL, with nothing changed, when addresses or host
 * memory are exhausted. */
struct sim_managed *sim_managed_new(struct sim_process *process, uint64_t size, const struct sim_context *context,
                                    struct sim_origin made);

/* Does this advice require a check of the memory? Other advice is invalid, or has no effect, such as one about a host node. */
bool sim_managed_heeds(const struct sim_process *process, vmm_mem_advice advice, vmm_mem_location location);

/* Can memory be prefetched to locations of this type? The id is not checked. */
bool sim_managed_place(vmm_mem_location location);

/* For sim_allocation_end: hides it from the host, and drops its advice. */
void sim_managed_end(struct sim_process *process, struct sim_managed *managed);

#endif
