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

/* The parameters of each call; one without a name ends the list, for a call may have none. Each call has a function, in which the record's type has a name
 * that the parameters' macro knows. */
#define DESCRIPTOR(type, param) \
    {#param, (enum vmm_param_kind)KIND_##type, (uint16_t)offsetof(record, param), (uint16_t)sizeof(call_##type)},
#define VMM_CALL(name, ...)                                                         \
    static const struct vmm_param *params_##name(size_t *count)                     \
    {                                                                               \
        typedef struct vmm_call_##name record;                                      \
        static const struct vmm_param list[] = {                                    \
            VMM_EACH(DESCRIPTOR, VMM_PARAMS_##name){NULL, VMM_PARAM_INT, 0, 0}};    \
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

uint64_t vmm_call_scalar(const struct vmm_call *call, const struct vmm_param *param)
{
    const unsigned char *at = (const unsigned char *)call + param->offset;
    uint64_t value = 0;
    if (param->kind == VMM_PARAM_IPC_HANDLE) {
        value = (uint64_t)(uintptr_t)at;
    } else if (param->size == 1) {
        value = *at;
    } else if (param->size == 2) {
        uint16_t v;
        memcpy(&v, at, sizeof v);
        value = v;
    } else if (param->size == 4) {
        uint32_t v;
        memcpy(&v, at, sizeof v);
        value = is_signed(param->kind) ? (uint64_t)(int64_t)(int32_t)v : v;
    } else {
        memcpy(&value, at, sizeof value);
    }
    return value;
}

void vmm_call_set_scalar(struct vmm_call *call, const struct vmm_param *param, uint64_t value)
{
    unsigned char *at = (unsigned char *)call + param->offset;
    uint32_t narrow = (uint32_t)value;
    uint16_t narrower = (uint16_t)value;
    if (param->kind == VMM_PARAM_IPC_HANDLE && value)
        memcpy(at, (const void *)(uintptr_t)value, param->size);
    else if (param->kind == VMM_PARAM_IPC_HANDLE)
        memset(at, 0, param->size);
    else if (param->size == 1)
        *at = (unsigned char)value;
    else if (param->size == 2)
        memcpy(at, &narrower, sizeof narrower);
    else if (param->size == 4)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &value, sizeof value);
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
    if (list->kind == VMM_PARAM_BOXES)
        return any->memcpy_3d_batch_async.num_ops; /* the first parameter of both forms */
    const bool of_copies = list->kind == VMM_PARAM_ADDRESSES || strcmp(list->name, "sizes") == 0;
    return of_copies ? any->memcpy_batch_async.count : any->memcpy_batch_async.num_attrs; /* which both forms have first, too */
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
