/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of an allocation: cuMemAlloc memory, or memory opened from another process. */
#include "process.h"

bool sim_allocation_enter(struct sim_process *process, struct sim_allocation *allocation, uint64_t unit)
{
    uint64_t address;
    if (!sim_take_addresses(process, allocation->span, unit, &address))
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
