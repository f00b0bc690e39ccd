/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include <stdbool.h>
#include <string.h>

#include "entries.h"

struct entry {
    const char *name;
    size_t size;
};

static const struct entry entries[VMM_CALL_COUNT] = {
#define VMM_CALL(name, ...) {#name, sizeof(struct vmm_call_##name)},
#include "calls.def"
};

const char *const vmm_call_driver_names[VMM_CALL_COUNT] = {
#define VMM_CALL(name, symbol, form, traits) VMM_ENTRY_NAME(symbol),
#include "calls.def"
};

const uint8_t vmm_call_traits[VMM_CALL_COUNT] = {
#define VMM_CALL(name, symbol, form, traits) traits,
#include "calls.def"
};

#define BOX_SIZE(ours, theirs) {#ours, #theirs, (uint16_t)offsetof(vmm_memcpy3d, ours)}
const struct vmm_box_size vmm_box_sizes[VMM_BOX_SIZES] = {
    BOX_SIZE(src_x_in_bytes, srcXInBytes), BOX_SIZE(src_y, srcY), BOX_SIZE(src_z, srcZ), BOX_SIZE(src_lod, srcLOD),
    BOX_SIZE(src_pitch, srcPitch), BOX_SIZE(src_height, srcHeight), BOX_SIZE(dst_x_in_bytes, dstXInBytes),
    BOX_SIZE(dst_y, dstY), BOX_SIZE(dst_z, dstZ), BOX_SIZE(dst_lod, dstLOD), BOX_SIZE(dst_pitch, dstPitch),
    BOX_SIZE(dst_height, dstHeight), BOX_SIZE(width_in_bytes, WidthInBytes), BOX_SIZE(height, Height), BOX_SIZE(depth, Depth)};

/* The kind of each type of call_types.def. */
enum {
#define CALL_TYPE(name, kind, ours, theirs) KIND_##name = VMM_PARAM_##kind,
#define CALL_POINTER(name, kind, ours, theirs) KIND_##name = VMM_PARAM_##kind,
#include "call_types.def"
};

/* The structure that each type points to. */
enum {
#define CALL_TYPE(name, kind, ours, theirs) SHAPE_##name = VMM_SHAPE_NONE,
#define CALL_POINTER(name, kind, ours, theirs) SHAPE_##name = VMM_SHAPE_NONE,
#define CALL_STRUCT(name, kind, ours, theirs, shape) SHAPE_##name = VMM_SHAPE_##shape,
#include "call_types.def"
};

#define CALL_SHAPE(shape, theirs) static const struct vmm_param fields_##shape[] = {
#define CALL_SHAPE_FIELD(shape, kind, key, ours, theirs) \
    {#key, VMM_PARAM_##kind, (uint16_t)offsetof(vmm_##shape, ours), (uint16_t)sizeof(((vmm_##shape *)0)->ours), VMM_SHAPE_NONE},
#define CALL_SHAPE_END(shape) };
#include "call_structs.def"

static const struct vmm_shape shapes[VMM_SHAPE_COUNT] = {
#define CALL_SHAPE(shape, theirs) \
    [VMM_SHAPE_##shape] = {#shape, sizeof(vmm_##shape), sizeof fields_##shape / sizeof fields_##shape[0], fields_##shape},
#include "call_structs.def"
};

/* The parameters of each call; an entry without a name ends the list, because a call may have no parameters. Each call has
 * a function, in which the record's type has the name that the parameter macros expect. */
#define DESCRIPTOR(type, param) \
    {#param, (enum vmm_param_kind)KIND_##type, (uint16_t)offsetof(record, param), (uint16_t)sizeof(call_##type), \
     (uint8_t)SHAPE_##type},
#define VMM_CALL(name, ...)                                                         \
    static const struct vmm_param *params_##name(size_t *count)                     \
    {                                                                               \
        typedef struct vmm_call_##name record;                                      \
        static const struct vmm_param list[] = {                                    \
            VMM_EACH(DESCRIPTOR, VMM_PARAMS_##name){NULL, VMM_PARAM_INT, 0, 0, 0}}; \
        (void)sizeof(record);                                                       \
        *count = sizeof list / sizeof list[0] - 1;                                  \
        return list;                                                                \
    }
#include "calls.def"

static const struct vmm_param *(*const lists[VMM_CALL_COUNT])(size_t *count) = {
#define VMM_CALL(name, ...) params_##name,
#include "calls.def"
};

const char *vmm_call_name(enum vmm_call_id id)
{
    return entries[id].name;
}

size_t vmm_call_size(enum vmm_call_id id)
{
    return entries[id].size;
}

enum vmm_call_id vmm_call_find(const char *name)
{
    int id = 0;
    while (id < VMM_CALL_COUNT && strcmp(entries[id].name, name) != 0 && strcmp(vmm_call_driver_names[id], name) != 0)
        id++;
    return (enum vmm_call_id)id;
}

const struct vmm_param *vmm_call_params(enum vmm_call_id id, size_t *count)
{
    return lists[id](count);
}

static bool is_signed(enum vmm_param_kind kind)
{
    return kind == VMM_PARAM_INT;
}

uint64_t vmm_field_value(const void *structure, const struct vmm_param *field)
{
    const unsigned char *at = (const unsigned char *)structure + field->offset;
    uint64_t value = 0;
    if (VMM_BY_VALUE(field->kind)) {
        value = (uint64_t)(uintptr_t)at;
    } else if (field->size == 1) {
        value = *at;
    } else if (field->size == 2) {
        uint16_t v;
        memcpy(&v, at, sizeof v);
        value = v;
    } else if (field->size == 4) {
        uint32_t v;
        memcpy(&v, at, sizeof v);
        value = is_signed(field->kind) ? (uint64_t)(int64_t)(int32_t)v : v;
    } else {
        memcpy(&value, at, sizeof value);
    }
    return value;
}

void vmm_field_set(void *structure, const struct vmm_param *field, uint64_t value)
{
    unsigned char *at = (unsigned char *)structure + field->offset;
    uint32_t narrow = (uint32_t)value;
    uint16_t narrower = (uint16_t)value;
    if (VMM_BY_VALUE(field->kind) && value)
        memcpy(at, (const void *)(uintptr_t)value, field->size);
    else if (VMM_BY_VALUE(field->kind))
        memset(at, 0, field->size);
    else if (field->size == 1)
        *at = (unsigned char)value;
    else if (field->size == 2)
        memcpy(at, &narrower, sizeof narrower);
    else if (field->size == 4)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &value, sizeof value);
}

uint64_t vmm_call_scalar(const struct vmm_call *call, const struct vmm_param *param)
{
    return vmm_field_value(call, param);
}

void vmm_call_set_scalar(struct vmm_call *call, const struct vmm_param *param, uint64_t value)
{
    vmm_field_set(call, param, value);
}

const struct vmm_shape *vmm_shape(unsigned id)
{
    return &shapes[id];
}

/* The only union whose fields lie at different offsets: the subject of a mapping of an array. */
bool vmm_field_used(const void *structure, const struct vmm_shape *shape, const struct vmm_param *field)
{
    const vmm_array_map_info *info = structure;
    const size_t level = offsetof(vmm_array_map_info, subresource), end = level + sizeof info->subresource;
    if (shape != &shapes[VMM_SHAPE_array_map_info] || field->offset < level || field->offset >= end)
        return true;
    const bool of_tail = strncmp(field->name, "tail_", 5) == 0;
    return of_tail == (info->subresource_type == VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL);
}

uint64_t vmm_structs_length(const struct vmm_call *call, const struct vmm_param *list)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    if (list->shape == VMM_SHAPE_array_map_info)
        return any->mem_map_array_async.count;
    return any->mem_prefetch_batch_async.num_prefetch_locs; /* and of the same call with a discard */
}

const uint64_t *vmm_list_length(const struct vmm_call *call)
{
    size_t count = 0, i = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    if (call->id == VMM_CALL_stream_get_capture_info)
        return ((const struct vmm_call_stream_get_capture_info *)(const void *)call)->num_dependencies_out;
    while (i < count && params[i].kind != VMM_PARAM_IO_COUNT)
        i++;
    return i < count ? (const uint64_t *)(uintptr_t)vmm_call_scalar(call, &params[i]) : NULL;
}

uint64_t vmm_batch_length(const struct vmm_call *call, const struct vmm_param *list)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    if (call->id == VMM_CALL_device_set_graph_mem_attribute)
        return 1;
    if (call->id == VMM_CALL_mem_discard_batch_async)
        return any->mem_discard_batch_async.count;
    if (call->id == VMM_CALL_mem_prefetch_batch_async || call->id == VMM_CALL_mem_discard_and_prefetch_batch_async)
        return strcmp(list->name, "prefetch_loc_idxs") == 0 ? any->mem_prefetch_batch_async.num_prefetch_locs
                                                            : any->mem_prefetch_batch_async.count; /* both begin alike */
    if (list->kind == VMM_PARAM_BOXES)
        return any->memcpy_3d_batch_async.num_ops; /* the first parameter in both forms */
    const bool of_copies = list->kind == VMM_PARAM_ADDRESSES || strcmp(list->name, "sizes") == 0;
    /* the count is the first parameter in both forms */
    return of_copies ? any->memcpy_batch_async.count : any->memcpy_batch_async.num_attrs;
}

size_t vmm_pointer_attribute_size(vmm_pointer_attribute attribute)
{
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case VMM_POINTER_ATTRIBUTE_IS_MANAGED:
    case VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case VMM_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case VMM_POINTER_ATTRIBUTE_MAPPED:
    case VMM_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return 4;
    case VMM_POINTER_ATTRIBUTE_CONTEXT:
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER:
    case VMM_POINTER_ATTRIBUTE_BUFFER_ID:
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case VMM_POINTER_ATTRIBUTE_RANGE_SIZE:
    case VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case VMM_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return 8;
    case VMM_POINTER_ATTRIBUTE_P2P_TOKENS:
        return 12;
    default:
        return 0;
    }
}

size_t vmm_pool_attribute_size(vmm_mem_pool_attribute attribute)
{
    if (attribute < VMM_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES || attribute > VMM_MEMPOOL_ATTR_USED_MEM_HIGH)
        return 0;
    return attribute < VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD ? 4 : 8;
}
