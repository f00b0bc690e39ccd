/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of cuMemMapArrayAsync. The memory is bound in stream order (arrays.h). */
#include "arrays.h"
#include "in_flight.h"
#include "launch.h"
#include "sim.h"

/* An element of the list that is being checked. */
struct element {
    const struct sim_process *process;
    const vmm_array_map_info *info;
    unsigned number;
    int device;              /* of the stream */
    struct sim_array *array;
    uint64_t need;           /* bytes of memory */
    bool wraps;              /* it passes the driver's checks because a sum wraps, and maps nothing */
    struct array_bind bind;
};

#define REFUSE(element, rule, field, value, expected, ...)                                                              \
    (refuse(element, VMM_RULE_##rule, "mapInfoList." field, (uint64_t)(value), (uint64_t)(expected)), vmm_detail_note(__VA_ARGS__), \
     vmm_last_detail()->result)

static void refuse(const struct element *e, enum vmm_rule_id rule, const char *argument, uint64_t value, uint64_t expected)
{
    vmm_object object = e->array ? sim_object_array(e->array) : (vmm_object){0};
    vmm_detail_refuse(rule, value, expected, &object);
    vmm_detail_argument(argument);
}

/* ---- an element's own fields ---- */

static vmm_result check_form(const struct element *e)
{
    const vmm_array_map_info *m = e->info;
    const unsigned n = e->number, own = 1u << e->device;
    if (m->flags || m->reserved[0] || m->reserved[1])
        return REFUSE(e, TILES_FLAGS, "flags", m->flags, 0, "mapInfoList[%u]: flags is 0x%x, reserved 0x%x and 0x%x", n, m->flags,
                      m->reserved[0], m->reserved[1]);
    if (m->device_bit_mask != own)
        return REFUSE(e, TILES_DEVICE, "deviceBitMask", m->device_bit_mask, own, "mapInfoList[%u].deviceBitMask is 0x%x", n, m->device_bit_mask);
    if (m->mem_operation_type != VMM_MEM_OPERATION_TYPE_MAP && m->mem_operation_type != VMM_MEM_OPERATION_TYPE_UNMAP)
        return REFUSE(e, TILES_TYPE, "memOperationType", m->mem_operation_type, 0, "mapInfoList[%u].memOperationType is %d", n, m->mem_operation_type);
    /* as measured */
    if (m->mem_operation_type == VMM_MEM_OPERATION_TYPE_MAP && m->mem_handle_type != VMM_MEM_HANDLE_TYPE_GENERIC)
        return REFUSE(e, TILES_TYPE, "memHandleType", m->mem_handle_type, 0, "mapInfoList[%u].memHandleType is %d", n, m->mem_handle_type);
    if (m->resource_type != VMM_RESOURCE_TYPE_ARRAY && m->resource_type != VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        return REFUSE(e, TILES_TYPE, "resourceType", m->resource_type, 0, "mapInfoList[%u].resourceType is %d", n, m->resource_type);
    return VMM_SUCCESS;
}

static vmm_result check_array(struct element *e)
{
    const uint64_t value = (uint64_t)(uintptr_t)e->info->resource.array;
    const bool mipmapped = e->info->resource_type == VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    const enum slot_state state = sim_array_find(e->process, value, &e->array);
    const struct sim_array *array = e->array;
    if (state == SLOT_LIVE && array->mipmapped == mipmapped && array->whole == array &&
        (sim_array_has(array, VMM_ARRAY3D_SPARSE) || sim_array_has(array, VMM_ARRAY3D_DEFERRED_MAPPING)))
        return VMM_SUCCESS;
    return REFUSE(e, TILES_ARRAY, "resource", value, 0, "mapInfoList[%u].resource is 0x%llx, and resourceType %d", e->number,
                  (unsigned long long)value, e->info->resource_type);
}

/* ---- tiles of a level ---- */

/* One dimension of the box: x, y or z. */
static vmm_result check_side(struct element *e, unsigned side, uint32_t offset, uint32_t extent)
{
    const struct array_layout *layout = &e->array->layout;
    const uint32_t tile = layout->tile[side], size = layout->level[e->bind.level].extent[side], end = offset + extent;
    const char letter = "XYZ"[side];
    if (!extent)
        return REFUSE(e, TILES_RANGE, "subresource.sparseLevel", 0, size, "mapInfoList[%u]: the extent of %c is 0", e->number, letter);
    if (offset % tile)
        return REFUSE(e, TILES_ALIGNMENT, "subresource.sparseLevel", offset, tile, "mapInfoList[%u].offset%c is %u, a tile has %u", e->number, letter, offset, tile);
    if (end > size)
        return REFUSE(e, TILES_RANGE, "subresource.sparseLevel", end, size, "mapInfoList[%u]: from %u on %u in %c, of %u", e->number, offset, extent, letter, size);
    if (extent % tile && end != size)
        return REFUSE(e, TILES_ALIGNMENT, "subresource.sparseLevel", extent, tile, "mapInfoList[%u]: the extent of %c is %u, "
                                                                                   "but a tile has %u", e->number, letter,
                      extent, tile);
    e->wraps |= end < offset;
    e->bind.from[side] = offset / tile;
    e->bind.count[side] = extent / tile + (extent % tile != 0);
    e->need *= e->bind.count[side];
    return VMM_SUCCESS;
}

static vmm_result check_box(struct element *e)
{
    const struct vmm_array_sparse_level *box = &e->info->subresource.sparse_level;
    const struct array_layout *layout = &e->array->layout;
    if (box->level >= layout->tail_first)
        return REFUSE(e, TILES_LEVEL, "subresource.sparseLevel.level", box->level, layout->tail_first, "mapInfoList[%u]: level %u, of %u that have tiles", e->number,
                      box->level, layout->tail_first);
    if (box->layer >= layout->layers)
        return REFUSE(e, TILES_LEVEL, "subresource.sparseLevel.layer", box->layer, layout->layers, "mapInfoList[%u]: layer %u, of %u", e->number, box->layer,
                      layout->layers);
    e->bind.part = ARRAY_BOX;
    e->bind.level = box->level;
    e->bind.layer = box->layer;
    e->need = ARRAY_TILE;
    vmm_result result = check_side(e, 0, box->offset_x, box->extent_width);
    if (result == VMM_SUCCESS)
        result = check_side(e, 1, box->offset_y, box->extent_height);
    return result == VMM_SUCCESS ? check_side(e, 2, box->offset_z, box->extent_depth) : result;
}

/* ---- the mip tail ---- */

static vmm_result check_tail(struct element *e)
{
    const struct vmm_array_miptail *tail = &e->info->subresource.miptail;
    const struct array_layout *layout = &e->array->layout;
    const unsigned layers = layout->single ? 1 : layout->layers;
    const bool whole = !(tail->offset % ARRAY_TILE) && tail->size && !(tail->size % ARRAY_TILE);
    if (!layout->tail || tail->layer >= layers || !whole || tail->size > layout->tail || tail->offset > layout->tail - tail->size)
        return REFUSE(e, TILES_TAIL, "subresource.miptail", tail->offset, layout->tail,
                      "mapInfoList[%u]: layer %u, from 0x%llx on 0x%llx bytes; the tail has 0x%llx, of %u layers", e->number,
                      tail->layer, tail->offset, tail->size, (unsigned long long)layout->tail, layers);
    e->bind.part = ARRAY_TAIL;
    e->bind.layer = tail->layer;
    e->bind.offset = tail->offset;
    e->bind.size = e->need = tail->size;
    return VMM_SUCCESS;
}

static vmm_result check_part(struct element *e)
{
    if (sim_array_has(e->array, VMM_ARRAY3D_DEFERRED_MAPPING)) {
        e->bind.part = ARRAY_ALL;
        e->need = e->array->layout.need;
        return VMM_SUCCESS;
    }
    switch (e->info->subresource_type) {
    case VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL: return check_box(e);
    case VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL: return check_tail(e);
    default:
        return REFUSE(e, TILES_TYPE, "subresourceType", e->info->subresource_type, 0, "mapInfoList[%u].subresourceType is %d", e->number,
                      e->info->subresource_type);
    }
}

/* ---- the memory ---- */

static vmm_result refuse_memory(const struct element *e, enum vmm_rule_id rule, uint64_t expected, const struct sim_handle *handle)
{
    const bool offset = rule == VMM_RULE_TILES_OFFSET || rule == VMM_RULE_TILES_MEMORY;
    vmm_object object = handle ? sim_object_handle(handle) : (vmm_object){0};
    vmm_result result = vmm_detail_refuse(rule, offset ? e->info->offset : e->info->mem_handle.mem_handle, expected, &object);
    vmm_detail_argument(offset ? "mapInfoList.offset" : "mapInfoList.memHandle");
    vmm_detail_note("mapInfoList[%u]: from 0x%llx on 0x%llx bytes of 0x%llx", e->number, e->info->offset,
                    (unsigned long long)e->need, (unsigned long long)e->info->mem_handle.mem_handle);
    return result;
}

static vmm_result check_memory(struct element *e)
{
    const uint64_t offset = e->info->offset, end = offset + e->need;
    void *object = NULL;
    if (e->info->mem_operation_type == VMM_MEM_OPERATION_TYPE_UNMAP)
        return VMM_SUCCESS;
    const bool live = slots_find(&e->process->handles, e->info->mem_handle.mem_handle, &object) == SLOT_LIVE;
    const struct sim_handle *handle = object;
    if (!live || !handle->refs)
        return refuse_memory(e, VMM_RULE_TILES_HANDLE, 0, handle);
    if (!handle->tile_pool)
        return refuse_memory(e, VMM_RULE_TILES_POOL, 0, handle);
    if (offset % ARRAY_TILE)
        return refuse_memory(e, VMM_RULE_TILES_OFFSET, ARRAY_TILE, handle);
    if (end > handle->size)
        return refuse_memory(e, VMM_RULE_TILES_MEMORY, handle->size, handle);
    e->wraps |= end < offset || e->need > handle->size;
    e->bind.block = handle->block;
    e->bind.at = offset;
    return VMM_SUCCESS;
}

static vmm_result check_element(struct element *e)
{
    vmm_result result = check_form(e);
    if (result == VMM_SUCCESS)
        result = check_array(e);
    if (result == VMM_SUCCESS)
        result = check_part(e);
    if (result == VMM_SUCCESS)
        result = check_memory(e);
    if (result != VMM_SUCCESS || !e->wraps)
        return result;
    vmm_object object = sim_object_array(e->array);
    vmm_detail_warn(VMM_RULE_TILES_WRAPS, e->info->offset, 0, &object);
    vmm_detail_argument("mapInfoList");
    vmm_detail_note("mapInfoList[%u]", e->number);
    return result;
}

/* ---- the call ---- */

/* Checks all elements; binds: NULL, or the list to which their maps are added. */
static vmm_result check_list(const struct sim_process *process, const struct vmm_call_mem_map_array_async *call, int device,
                             struct array_binds *binds)
{
    vmm_result result = VMM_SUCCESS;
    for (unsigned i = 0; i < call->count && result == VMM_SUCCESS; i++) {
        struct element e = {.process = process, .info = &call->map_info_list[i], .number = i, .device = device};
        e.bind.array = (uint64_t)(uintptr_t)e.info->resource.array;
        result = check_element(&e);
        if (result == VMM_SUCCESS && !e.wraps && binds)
            array_binds_add(binds, &e.bind);
    }
    return result;
}

static vmm_result refuse_list(const struct vmm_call_mem_map_array_async *call)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_TILES_LIST, 0, 0, NULL);
    vmm_detail_argument(call->map_info_list ? "count" : "mapInfoList");
    return result;
}

static vmm_result check_call(struct sim_process *process, const struct vmm_call_mem_map_array_async *call,
                             struct sim_context **context)
{
    if (!call->map_info_list || !call->count)
        return refuse_list(call);
    vmm_result result = sim_stream_context(process, call->stream, context);
    return result == VMM_SUCCESS ? sim_context_check(process, *context, false) : result;
}

vmm_result sim_mem_map_array_async(struct sim_process *process, const struct vmm_call_mem_map_array_async *call)
{
    struct sim_context *context;
    vmm_result result = check_call(process, call, &context);
    if (result != VMM_SUCCESS)
        return result;
    result = check_list(process, call, context->device, NULL);
    if (result != VMM_SUCCESS || process->check_only)
        return result;
    struct array_binds *binds = array_binds_new(process, call->count);
    if (!binds)
        return sim_out_of_host_memory();
    check_list(process, call, context->device, binds);
    sim_machine_lock_to_wait(process->machine);
    struct queue_place place = in_flight_place(process, context, call->stream);
    return in_flight_issue_binds(process, &place, &call->head, binds);
}
