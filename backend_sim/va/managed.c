/* SPDX-License-Identifier: Apache-2.0 */
#include "managed.h"

#include "heap.h"
#include "os.h"

static bool show(const struct sim_process *process, struct sim_managed *managed)
{
    const struct sim_allocation *a = &managed->allocation;
    struct block_data *bytes = &a->block->bytes;
    if (!host_window_holds(&process->window, a->start, a->span))
        return true; /* there is no window, and the host accesses the memory through copies */
    managed->shown = block_data_open(bytes) && os_map_fixed(a->start, a->span, bytes->backing->file, bytes->place, true);
    return managed->shown;
}

struct sim_managed *sim_managed_new(struct sim_process *process, uint64_t size, const struct sim_context *context,
                                    struct sim_origin made)
{
    assert_locked(process->machine);
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}};
    const uint64_t unit = sim_managed_unit(process);
    struct sim_managed *managed = heap.calloc(1, sizeof *managed);
    if (!managed)
        return NULL;
    struct sim_allocation *a = &managed->allocation;
    a->size = size;
    a->span = (size + unit - 1) / unit * unit;
    a->context = context->value;
    a->made = made;
    a->managed = a->sync = true; /* measured: copies of it are synchronous from the start */
    const uint64_t mark = sim_blocks_mark(process->machine);
    const bool entered = sim_allocation_enter(process, a, unit);
    a->block = entered ? sim_block_new(process->machine, a->span, &prop) : NULL;
    if (a->block && show(process, managed)) {
        a->number = sim_process_number(process, VMM_OBJECT_ALLOCATION);
        return managed;
    }
    if (a->block) {
        sim_block_drop(process->machine, a->block);
        sim_blocks_undo(process->machine, mark);
    }
    if (entered)
        sim_allocation_leave(process, a);
    heap.free(managed);
    return NULL;
}

void sim_managed_end(struct sim_process *process, struct sim_managed *managed)
{
    assert_locked(process->machine);
    if (managed->shown) /* the system has a mapping for exactly these addresses, and needs no memory (os.h) */
        os_map_noaccess(managed->allocation.start, managed->allocation.span);
    managed_parts_clear(&managed->parts);
}

bool sim_managed_heeds(const struct sim_process *process, vmm_mem_advice advice, vmm_mem_location location)
{
    if (advice < VMM_MEM_ADVISE_SET_READ_MOSTLY || advice > VMM_MEM_ADVISE_UNSET_ACCESSED_BY)
        return false;
    if (location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return location.type == VMM_MEM_LOCATION_TYPE_HOST;
    const bool names = advice >= VMM_MEM_ADVISE_SET_ACCESSED_BY || advice == VMM_MEM_ADVISE_SET_PREFERRED_LOCATION;
    return !names || sim_device_valid(process, location.id);
}

bool sim_managed_place(vmm_mem_location location)
{
    return location.type >= VMM_MEM_LOCATION_TYPE_DEVICE && location.type <= VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}
