/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of an allocation: of cuMemAlloc's memory, or of another process's that was opened. */
#include "process.h"

/* Takes addresses that no mapping covers. A driver has no such overlap, because it takes allocations and reservations from
 * different ranges. */
static bool take(struct sim_process *process, uint64_t size, uint64_t unit, uint64_t *address)
{
    const struct sim_mapping *mapping;
    for (uint64_t from = 0;; from = mapping->start + mapping->size) {
        if (va_allocator_take(&process->va, size, unit, from, address) != VA_ALLOCATOR_TAKEN)
            return false;
        mapping = sim_mapping_in(process, *address, size);
        if (!mapping)
            return true;
        va_allocator_free(&process->va, *address, size);
    }
}

bool sim_allocation_enter(struct sim_process *process, struct sim_allocation *allocation, uint64_t unit)
{
    uint64_t address;
    if (!take(process, allocation->span, unit, &address))
        return false;
    if (!addrmap_insert(&process->allocations, address, allocation)) {
        va_allocator_free(&process->va, address, allocation->span);
        return false;
    }
    allocation->start = address;
    return true;
}

void sim_allocation_leave(struct sim_process *process, const struct sim_allocation *allocation)
{
    addrmap_remove(&process->allocations, allocation->start);
    va_allocator_free(&process->va, allocation->start, allocation->span);
}
