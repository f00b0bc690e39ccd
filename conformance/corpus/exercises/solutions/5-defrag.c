/* SPDX-License-Identifier: Apache-2.0 */
/* Exercise 5, solved: piece by piece from the lowest address, so that the target is already free. */
#include "defrag.h"

/* Mapped there with its rights, or not mapped. */
static vmm_result map_at(vmm_system *sys, vmm_device device, const struct piece *piece, vmm_deviceptr at)
{
    const vmm_mem_access_desc access = {{VMM_MEM_LOCATION_TYPE_DEVICE, device}, piece->rights};
    vmm_result result = vmm_mem_map(sys, at, piece->size, 0, piece->memory, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_set_access(sys, at, piece->size, &access, 1);
    if (result != VMM_SUCCESS)
        vmm_mem_unmap(sys, at, piece->size);
    return result;
}

/* Old and new addresses may overlap, so the old mapping is removed first; if the new one fails, the old one is restored. */
static vmm_result move(vmm_system *sys, vmm_device device, struct piece *piece, vmm_deviceptr to)
{
    vmm_result result = vmm_mem_unmap(sys, piece->at, piece->size);
    if (result != VMM_SUCCESS)
        return result;
    result = map_at(sys, device, piece, to);
    if (result == VMM_SUCCESS)
        piece->at = to;
    else
        map_at(sys, device, piece, piece->at);
    return result;
}

vmm_result defrag_compact(vmm_system *sys, vmm_device device, vmm_deviceptr start, struct piece *pieces, unsigned count)
{
    vmm_result result = vmm_ctx_synchronize(sys);
    vmm_deviceptr to = start;
    for (unsigned i = 0; i < count && result == VMM_SUCCESS; to += pieces[i++].size)
        if (pieces[i].at != to)
            result = move(sys, device, &pieces[i], to);
    return result;
}
