/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include "kernels.h"
#include "objects.h"

#define FARTHEST (UINT64_C(1) << 40) /* an argument farther away explains nothing */

/* The nearer of a mapping and an allocation; either may be NULL. If both exist, is_mapping chooses. */
static vmm_object nearer(const struct sim_mapping *m, const struct sim_allocation *a, bool is_mapping)
{
    if (m && (!a || is_mapping))
        return sim_object_mapping(m);
    return a ? sim_object_allocation(a) : (vmm_object){.kind = VMM_OBJECT_NONE};
}

void sim_fault_surroundings(const struct sim_process *process, vmm_fault *fault)
{
    uint64_t at = fault->address;
    const struct sim_mapping *m = addrmap_floor(&process->mappings, at);
    const struct sim_allocation *a = addrmap_floor(&process->allocations, at);
    const struct retired_range *retired = retired_ranges_find(&process->retired, VMM_OBJECT_MAPPING, at);
    bool mapped = sim_mapping_at(process, at) || sim_allocation_at(process, at);
    if (m && at - m->start < m->size) /* the mapping that holds the address does not lie before it */
        m = addrmap_floor(&process->mappings, m->start - 1); /* nothing lies at 0 */
    if (a && at - a->start < a->size)
        a = addrmap_floor(&process->allocations, a->start - 1);
    fault->before = nearer(m, a, m && a && m->start > a->start);
    m = at == UINT64_MAX ? NULL : addrmap_ceil(&process->mappings, at + 1);
    a = at == UINT64_MAX ? NULL : addrmap_ceil(&process->allocations, at + 1);
    fault->after = nearer(m, a, m && a && m->start < a->start);
    fault->past = retired && !mapped ? sim_object_retired(retired) : (vmm_object){.kind = VMM_OBJECT_NONE};
}

void sim_fault_argument(const struct vmm_call_launch *call, vmm_fault *fault)
{
    uint64_t best = FARTHEST;
    fault->argument = NULL;
    for (uint64_t i = 0; i < call->count; i++) {
        const char *name = kernels_address_argument(call->kernel, i);
        if (name && fault->address >= call->args[i] && fault->address - call->args[i] < best) {
            best = fault->offset = fault->address - call->args[i];
            fault->argument = name;
        }
    }
}
