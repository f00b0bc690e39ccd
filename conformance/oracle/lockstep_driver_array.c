/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_driver_array.c - which calls of arrays and managed memory are made on a driver, and the end of what they made. */
#include "lockstep_parts.h"
#include "model/model_array.h"
#include "model/model_managed.h"

#define GIB ((uint64_t)1 << 30)
#define LARGEST_ARRAY (GIB / 16) /* with memory of its own */
#define LARGEST_SPARSE (4 * GIB)
#define LARGEST_MANAGED (GIB / 16)
#define MOST_ADDRESSES ((uint64_t)1 << 60)

bool driver_knows_array(const struct lockstep *pair, uint64_t value)
{
    const struct model_array *array = model_array_of(&pair->model, (const void *)(uintptr_t)value);
    return !value || (array && !array->ended);
}

bool driver_knows_tiles(struct lockstep *pair, const struct vmm_call_mem_map_array_async *call)
{
    for (unsigned i = 0; call->map_info_list && i < call->count; i++) {
        const vmm_array_map_info *info = &call->map_info_list[i];
        const struct model_memory *memory = model_memory_of(&pair->model, info->mem_handle.mem_handle);
        if (!driver_knows_array(pair, (uint64_t)(uintptr_t)info->resource.array) ||
            (info->mem_handle.mem_handle && (!memory || !memory->references)))
            return false;
    }
    return true;
}

bool driver_modest_array(const struct lockstep *pair, const vmm_array3d_descriptor *asked, unsigned levels, vmm_result predicted)
{
    struct model_shape shape;
    if (predicted != VMM_SUCCESS && predicted != VMM_ERROR_OUT_OF_MEMORY)
        return true;
    const bool own = !(asked->flags & (VMM_ARRAY3D_SPARSE | VMM_ARRAY3D_DEFERRED_MAPPING));
    vmm_array3d_descriptor is = *asked;
    is.width &= UINT32_MAX;
    is.height &= UINT32_MAX;
    is.depth &= UINT32_MAX;
    model_shape_of(&is, levels != 1, levels, &shape);
    return predicted == VMM_SUCCESS ? shape.need <= (own ? LARGEST_ARRAY : LARGEST_SPARSE) : shape.need > 2 * pair->profile.device_memory;
}

bool driver_modest_managed(const struct lockstep *pair, uint64_t size, vmm_result predicted)
{
    uint64_t held = 0;
    for (size_t i = 0; i < pair->model.managed_count; i++)
        held += pair->model.managed[i].size;
    if (predicted != VMM_SUCCESS && predicted != VMM_ERROR_OUT_OF_MEMORY)
        return true;
    return size <= LARGEST_MANAGED ? held + size <= GIB : size >= MOST_ADDRESSES;
}

bool driver_sweep_arrays(const struct lockstep *pair)
{
    const struct model_arrays *all = pair->model.arrays;
    bool clean = true;
    for (size_t i = 0; i < all->count; i++) {
        const struct model_array *array = all->at[i];
        const void *value = (const void *)(uintptr_t)array->value;
        if (!array->ended && array->whole == array)
            clean &= (array->mipmapped ? vmm_mipmapped_array_destroy(pair->sys, (vmm_mipmapped_array)(uintptr_t)value)
                                       : vmm_array_destroy(pair->sys, (vmm_array)(uintptr_t)value)) == VMM_SUCCESS;
    }
    return clean;
}
