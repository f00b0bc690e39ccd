/* SPDX-License-Identifier: Apache-2.0 */
/* The messages about unordered accesses, and about bytes that nothing wrote. */
#include "objects.h"
#include "order_detail.h"
#include "order_feed.h"
#include "rights.h"

/* A mapping or an allocation that shows the byte of the memory; kind NONE if there is none any more. */
static vmm_object shown_at(const struct sim_process *process, uint64_t memory, uint64_t offset)
{
    for (const struct sim_mapping *m = addrmap_ceil(&process->mappings, 0); m; m = addrmap_ceil(&process->mappings, m->start + 1))
        if (m->handle->block->id == memory && offset - m->offset < m->size)
            return sim_object_mapping(m);
    for (const struct sim_allocation *a = addrmap_ceil(&process->allocations, 0); a;
         a = addrmap_ceil(&process->allocations, a->start + 1))
        if (a->block && a->block->id == memory && !a->pooled)
            return sim_object_allocation(a);
    return (vmm_object){.kind = VMM_OBJECT_NONE};
}

static void warn(const struct sim_process *process, const struct order_found *found)
{
    const vmm_object nearest = shown_at(process, found->range.memory, found->range.first);
    order_warn(found, &nearest);
}

void order_feed_report(struct sim_process *process)
{
    struct order_found found;
    if (vmm_last_detail()->severity == VMM_SEVERITY_NONE && order_take_found(process->in_flight->order, &found))
        warn(process, &found);
}

bool order_feed_take(struct sim_process *process, vmm_detail *detail)
{
    struct order_found found;
    if (!order_take_found(process->in_flight->order, &found))
        return false;
    const vmm_detail before = *vmm_last_detail();
    vmm_detail_clear();
    warn(process, &found);
    *detail = *vmm_last_detail();
    *vmm_detail_here() = before;
    return true;
}
