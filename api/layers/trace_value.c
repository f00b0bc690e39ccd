/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "trace_value.h"

#include <string.h>
#include <sys/stat.h>

#include "fnv.h"
#include "posix.h"
#include "trace.h"

bool trace_is_out(enum vmm_param_kind kind)
{
    return kind >= VMM_PARAM_OUT_INT;
}

static const void *pointer_of(const struct vmm_call *call, const struct vmm_param *param)
{
    return (const void *)(uintptr_t)vmm_call_scalar(call, param);
}

static const struct vmm_param *param_named(const struct vmm_call *call, const char *name)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(params[i].name, name) == 0)
            return &params[i];
    return NULL;
}

/* The number of elements or bytes in a list, which is another parameter of the call. */
static uint64_t length_in(const struct vmm_call *call, const char *name)
{
    return vmm_call_scalar(call, param_named(call, name));
}

static void write_location(struct json *json, const char *key, const vmm_mem_location *location)
{
    jsonw_open(json, key, '{');
    jsonw_int(json, "type", location->type);
    jsonw_int(json, "id", location->id);
    jsonw_close(json, '}');
}

static void write_prop(struct json *json, const char *key, const vmm_mem_allocation_prop *prop)
{
    jsonw_open(json, key, '{');
    jsonw_int(json, "type", prop->type);
    jsonw_int(json, "requested_handle_types", prop->requested_handle_types);
    write_location(json, "location", &prop->location);
    jsonw_hex(json, "win32_handle_meta_data", (uint64_t)(uintptr_t)prop->win32_handle_meta_data);
    jsonw_int(json, "compression_type", prop->alloc_flags.compression_type);
    jsonw_int(json, "gpu_direct_rdma_capable", prop->alloc_flags.gpu_direct_rdma_capable);
    jsonw_int(json, "usage", prop->alloc_flags.usage);
    jsonw_bytes(json, "reserved", prop->alloc_flags.reserved, sizeof prop->alloc_flags.reserved);
    jsonw_close(json, '}');
}

static void write_pool_props(struct json *json, const char *key, const vmm_mem_pool_props *props)
{
    jsonw_open(json, key, '{');
    jsonw_int(json, "alloc_type", props->alloc_type);
    jsonw_int(json, "handle_types", props->handle_types);
    write_location(json, "location", &props->location);
    jsonw_hex(json, "win32_security_attributes", (uint64_t)(uintptr_t)props->win32_security_attributes);
    jsonw_hex(json, "max_size", props->max_size);
    jsonw_int(json, "usage", props->usage);
    jsonw_bytes(json, "reserved", props->reserved, sizeof props->reserved);
    jsonw_close(json, '}');
}

/* The value of a pool's attribute; nothing for an attribute that does not exist, whose size is unknown. */
static void write_pool_value(struct json *json, const struct vmm_call *call, const struct vmm_param *param, bool known)
{
    vmm_mem_pool_attribute attribute = (vmm_mem_pool_attribute)length_in(call, "attr");
    const void *at = pointer_of(call, param);
    uint64_t wide = 0;
    int narrow = 0;
    size_t size = known ? vmm_pool_attribute_size(attribute) : 0;
    if (size == sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        jsonw_int(json, param->name, narrow);
    } else if (size) {
        memcpy(&wide, at, sizeof wide);
        jsonw_hex(json, param->name, wide);
    } else {
        jsonw_text(json, param->name, "unknown");
    }
}

static void write_team(struct json *json, const char *key, const vmm_multicast_object_prop *prop)
{
    jsonw_open(json, key, '{');
    jsonw_hex(json, "num_devices", prop->num_devices);
    jsonw_hex(json, "size", prop->size);
    jsonw_hex(json, "handle_types", prop->handle_types);
    jsonw_hex(json, "flags", prop->flags);
    jsonw_close(json, '}');
}

static void write_descs(struct json *json, const char *key, const vmm_mem_access_desc *desc, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++) {
        jsonw_open(json, NULL, '{');
        write_location(json, "location", &desc[i].location);
        jsonw_int(json, "flags", desc[i].flags);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void write_mem_ops(struct json *json, const char *key, const vmm_stream_batch_mem_op_params *op, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count; i++) {
        bool value = vmm_mem_op_has_value(op[i].operation);
        jsonw_open(json, NULL, '{');
        jsonw_int(json, "operation", op[i].operation);
        if (value) {
            jsonw_hex(json, "address", op[i].wait_value.address);
            jsonw_hex(json, "value", op[i].wait_value.value64);
        }
        jsonw_hex(json, "flags", value ? op[i].wait_value.flags : op[i].memory_barrier.flags);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

/* Of host memory the address alone. */
static void write_box(struct json *json, const char *key, const vmm_memcpy3d *box, bool peer)
{
    jsonw_open(json, key, '{');
    jsonw_int(json, "src_memory_type", box->src_memory_type);
    jsonw_hex(json, "src", vmm_box_src(box));
    jsonw_int(json, "dst_memory_type", box->dst_memory_type);
    jsonw_hex(json, "dst", vmm_box_dst(box));
    if (peer) {
        jsonw_hex(json, "src_context", (uint64_t)(uintptr_t)box->reserved0);
        jsonw_hex(json, "dst_context", (uint64_t)(uintptr_t)box->reserved1);
    }
    for (int i = 0; i < VMM_BOX_SIZES; i++)
        if (*vmm_box_size_at(box, &vmm_box_sizes[i]))
            jsonw_hex(json, vmm_box_sizes[i].name, *vmm_box_size_at(box, &vmm_box_sizes[i]));
    jsonw_close(json, '}');
}

static void write_copy_attributes(struct json *json, const char *key, const vmm_memcpy_attributes *list, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++) {
        jsonw_open(json, NULL, '{');
        jsonw_int(json, "order", list[i].src_access_order);
        write_location(json, "src", &list[i].src_loc_hint);
        write_location(json, "dst", &list[i].dst_loc_hint);
        jsonw_hex(json, "flags", list[i].flags);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void write_operand(struct json *json, const char *key, const vmm_memcpy3d_operand *operand)
{
    jsonw_open(json, key, '{');
    jsonw_int(json, "type", operand->type);
    jsonw_hex(json, "at", operand->op.ptr.ptr);
    jsonw_hex(json, "row", operand->op.ptr.row_length);
    jsonw_hex(json, "rows", operand->op.ptr.layer_height);
    jsonw_close(json, '}');
}

static void write_boxes(struct json *json, const char *key, const vmm_memcpy3d_batch_op *list, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++) {
        jsonw_open(json, NULL, '{');
        write_operand(json, "dst", &list[i].dst);
        write_operand(json, "src", &list[i].src);
        jsonw_hex(json, "width", list[i].extent.width);
        jsonw_hex(json, "height", list[i].extent.height);
        jsonw_hex(json, "depth", list[i].extent.depth);
        jsonw_int(json, "order", list[i].src_access_order);
        jsonw_hex(json, "flags", list[i].flags);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

/* The fields that are not 0; of a union those that are used. */
static void write_struct(struct json *json, const char *key, const struct vmm_shape *shape, const void *at)
{
    jsonw_open(json, key, '{');
    for (size_t i = 0; i < shape->count; i++) {
        const struct vmm_param *field = &shape->fields[i];
        uint64_t value = vmm_field_value(at, field);
        if (!value || !vmm_field_used(at, shape, field))
            continue;
        if (field->kind == VMM_PARAM_INT)
            jsonw_int(json, field->name, (int64_t)value);
        else
            jsonw_hex(json, field->name, value);
    }
    jsonw_close(json, '}');
}

static void write_structs(struct json *json, const char *key, const struct vmm_shape *shape, const void *list, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        write_struct(json, NULL, shape, (const char *)list + i * shape->size);
    jsonw_close(json, ']');
}

static void write_nodes(struct json *json, const char *key, const vmm_graph_node *node, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        jsonw_hex(json, NULL, (uint64_t)(uintptr_t)node[i]);
    jsonw_close(json, ']');
}

static void write_edges(struct json *json, const char *key, const vmm_graph_edge_data *data, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        jsonw_hex(json, NULL, vmm_graph_edge_number(&data[i]));
    jsonw_close(json, ']');
}

static void write_fill_node(struct json *json, const char *key, const vmm_memset_node_params *fill)
{
    jsonw_open(json, key, '{');
    jsonw_hex(json, "dst", fill->dst);
    jsonw_hex(json, "pitch", fill->pitch);
    jsonw_hex(json, "value", fill->value);
    jsonw_hex(json, "element_size", fill->element_size);
    jsonw_hex(json, "width", fill->width);
    jsonw_hex(json, "height", fill->height);
    jsonw_close(json, '}');
}

static void write_words(struct json *json, const char *key, const uint64_t *args, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        jsonw_hex(json, NULL, args[i]);
    jsonw_close(json, ']');
}

static void write_kernel_node(struct json *json, const char *key, const vmm_kernel_node_params *kernel)
{
    jsonw_open(json, key, '{');
    jsonw_int(json, "kernel", kernel->kernel);
    jsonw_hex(json, "grid_dim", kernel->grid_dim);
    jsonw_hex(json, "block_dim", kernel->block_dim);
    if (kernel->args)
        write_words(json, "args", kernel->args, kernel->count);
    else
        jsonw_null(json, "args");
    jsonw_hex(json, "count", kernel->count);
    jsonw_close(json, '}');
}

static void write_attributes(struct json *json, const char *key, const vmm_pointer_attribute *list, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        jsonw_int(json, NULL, list[i]);
    jsonw_close(json, ']');
}

static void write_bytes(struct json *json, const char *key, const void *bytes, uint64_t length, bool readable, bool device)
{
    jsonw_open(json, key, '{');
    jsonw_hex(json, "length", length);
    if (device)
        jsonw_hex(json, "device", (uint64_t)(uintptr_t)bytes);
    else if (readable && length <= TRACE_BYTES_MAX)
        jsonw_bytes(json, "hex", bytes, (size_t)length);
    else if (readable)
        jsonw_hex(json, "fnv1a64", fnv1a(FNV1A, bytes, length));
    jsonw_close(json, '}');
}

static void write_wanted(struct json *json, const char *key, void *const *data, uint64_t count)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++) {
        if (data[i])
            jsonw_text(json, NULL, "out");
        else
            jsonw_null(json, NULL);
    }
    jsonw_close(json, ']');
}

/* Writes a pointer parameter that is not NULL. */
static void write_pointed(struct json *json, const struct vmm_call *call, const struct vmm_param *param, bool done,
                          bool device)
{
    const void *at = pointer_of(call, param);
    switch (param->kind) {
    case VMM_PARAM_PROP:
        write_prop(json, param->name, at);
        break;
    case VMM_PARAM_TEAM:
        write_team(json, param->name, at);
        break;
    case VMM_PARAM_LOCATION:
    case VMM_PARAM_LOCATION_VALUE:
        write_location(json, param->name, at);
        break;
    case VMM_PARAM_POOL_PROPS:
        write_pool_props(json, param->name, at);
        break;
    case VMM_PARAM_POOL_VALUE:
        write_pool_value(json, call, param, done);
        break;
    case VMM_PARAM_POOL_POINTER:
        jsonw_text(json, param->name, done ? "pointer" : "unknown"); /* its bytes mean something to one machine alone */
        break;
    case VMM_PARAM_IPC_HANDLE:
        jsonw_text(json, param->name, "handle"); /* the same; one that the trace saw has a name */
        break;
    case VMM_PARAM_DESCS:
        write_descs(json, param->name, at, length_in(call, "count"));
        break;
    case VMM_PARAM_ARGS:
        write_words(json, param->name, at, length_in(call, "count"));
        break;
    case VMM_PARAM_MEM_OPS:
        write_mem_ops(json, param->name, at, length_in(call, "count") > TRACE_LIST_MAX ? 0 : length_in(call, "count"));
        break;
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER:
        write_box(json, param->name, at, param->kind == VMM_PARAM_MEMCPY3D_PEER);
        break;
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
        write_words(json, param->name, at, vmm_batch_length(call, param));
        break;
    case VMM_PARAM_COPY_ATTRIBUTES:
        write_copy_attributes(json, param->name, at, vmm_batch_length(call, param));
        break;
    case VMM_PARAM_BOXES:
        write_boxes(json, param->name, at, vmm_batch_length(call, param));
        break;
    case VMM_PARAM_STRUCT:
        write_struct(json, param->name, vmm_shape(param->shape), at);
        break;
    case VMM_PARAM_STRUCTS:
        write_structs(json, param->name, vmm_shape(param->shape), at, vmm_structs_length(call, param));
        break;
    case VMM_PARAM_NODES:
        write_nodes(json, param->name, at, length_in(call, "num_dependencies"));
        break;
    case VMM_PARAM_EDGES:
        write_edges(json, param->name, at, length_in(call, "num_dependencies"));
        break;
    case VMM_PARAM_FILL_NODE:
        write_fill_node(json, param->name, at);
        break;
    case VMM_PARAM_KERNEL_NODE:
        write_kernel_node(json, param->name, at);
        break;
    case VMM_PARAM_ATTRIBUTES:
        write_attributes(json, param->name, at, length_in(call, "num_attributes"));
        break;
    case VMM_PARAM_BYTES:
        write_bytes(json, param->name, at, length_in(call, "byte_count"), done, device);
        break;
    case VMM_PARAM_OUT_BYTES:
        if (device)
            write_bytes(json, param->name, at, length_in(call, "byte_count"), false, true);
        else
            jsonw_text(json, param->name, "out");
        break;
    case VMM_PARAM_OUT_ATTRIBUTES:
        write_wanted(json, param->name, at, length_in(call, "num_attributes"));
        break;
    case VMM_PARAM_FD:
        jsonw_text(json, param->name,
                  trace_is_fabric(call) ? "fabric" : trace_file(vmm_call_scalar(call, param)) ? "fd" : "closed");
        break;
    case VMM_PARAM_FUNCTION:
    case VMM_PARAM_USER_DATA:
    case VMM_PARAM_HOST_NODE:
        jsonw_text(json, param->name, "host"); /* its contents belong to the program */
        break;
    default:
        jsonw_text(json, param->name, "out");
    }
}

uint64_t trace_before(const struct vmm_call *call)
{
    size_t count = 0;
    uint64_t value = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    for (size_t i = 0; i < count; i++)
        if ((params[i].kind == VMM_PARAM_IO_COUNT || params[i].kind == VMM_PARAM_IO_INT) && pointer_of(call, &params[i]))
            memcpy(&value, pointer_of(call, &params[i]), params[i].kind == VMM_PARAM_IO_INT ? sizeof(int) : sizeof value);
    return value;
}

void trace_args(struct json *json, const struct vmm_call *call, bool done, bool device, uint64_t before)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    jsonw_open(json, "args", '{');
    for (size_t i = 0; i < count; i++) {
        uint64_t value = vmm_call_scalar(call, &params[i]);
        if (params[i].kind == VMM_PARAM_INT)
            jsonw_int(json, params[i].name, (int64_t)value);
        else if (params[i].kind < VMM_PARAM_PROP)
            jsonw_hex(json, params[i].name, value);
        else if (!value)
            jsonw_null(json, params[i].name);
        else if (params[i].kind == VMM_PARAM_IO_COUNT)
            jsonw_hex(json, params[i].name, before);
        else if (params[i].kind == VMM_PARAM_IO_INT)
            jsonw_int(json, params[i].name, (int)before);
        else
            write_pointed(json, call, &params[i], done, device);
    }
    jsonw_close(json, '}');
}

/* Writes an attribute's value after a successful call. */
static void write_attribute(struct json *json, const char *key, vmm_pointer_attribute attribute, const void *data)
{
    uint64_t wide = 0;
    int narrow = 0;
    size_t size = data ? vmm_pointer_attribute_size(attribute) : 0;
    if (size == sizeof wide) {
        memcpy(&wide, data, sizeof wide);
        jsonw_hex(json, key, wide);
    } else if (size == sizeof narrow) {
        memcpy(&narrow, data, sizeof narrow);
        jsonw_int(json, key, narrow);
    } else if (!key) {
        jsonw_null(json, NULL);
    }
}

static void write_attribute_list(struct json *json, const struct vmm_call *call, const struct vmm_param *param)
{
    void *const *data = pointer_of(call, param);
    const vmm_pointer_attribute *attribute = pointer_of(call, param_named(call, "attributes"));
    uint64_t count = attribute ? length_in(call, "num_attributes") : 0;
    jsonw_open(json, param->name, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        write_attribute(json, NULL, attribute[i], data[i]);
    jsonw_close(json, ']');
}

static bool is_async(const struct vmm_call *call)
{
    return param_named(call, "stream") != NULL;
}

/* A list that is the system's; without its length it is not read. */
static void write_their_list(struct json *json, const struct vmm_call *call, const struct vmm_param *param)
{
    const uint64_t *length = vmm_list_length(call);
    const void *list;
    memcpy(&list, pointer_of(call, param), sizeof list);
    const uint64_t count = length && list ? *length : 0;
    if (param->kind == VMM_PARAM_OUT_NODES_AT)
        write_nodes(json, param->name, list, count);
    else
        write_edges(json, param->name, list, count);
}

static void write_update(struct json *json, const char *key, const vmm_graph_exec_update_result_info *info)
{
    jsonw_open(json, key, '{');
    jsonw_int(json, "result", info->result);
    jsonw_hex(json, "error_node", (uint64_t)(uintptr_t)info->error_node);
    jsonw_hex(json, "error_from_node", (uint64_t)(uintptr_t)info->error_from_node);
    jsonw_close(json, '}');
}

/* Of a stream that is not captured the status alone is written. */
static bool writes(const struct vmm_call *call, const struct vmm_param *param)
{
    const struct vmm_call_stream_get_capture_info *info = (const struct vmm_call_stream_get_capture_info *)(const void *)call;
    return call->id != VMM_CALL_stream_get_capture_info || param->kind == VMM_PARAM_OUT_INT ||
           *info->capture_status_out == VMM_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* Ints, as many as the caller asked for. */
static void write_range(struct json *json, const char *key, const void *at, uint64_t size)
{
    jsonw_open(json, key, '[');
    for (uint64_t i = 0; i < size / sizeof(int) && i < TRACE_LIST_MAX; i++) {
        int value;
        memcpy(&value, (const char *)at + i * sizeof value, sizeof value);
        jsonw_int(json, NULL, value);
    }
    jsonw_close(json, ']');
}

static void write_out(struct json *json, const struct vmm_call *call, const struct vmm_param *param, bool device)
{
    const void *at = pointer_of(call, param);
    uint64_t wide = 0;
    switch (param->kind) {
    case VMM_PARAM_OUT_INT:
        jsonw_int(json, param->name, *(const int *)at);
        break;
    case VMM_PARAM_OUT_FD:
        jsonw_text(json, param->name, trace_is_fabric(call) ? "fabric" : "fd");
        break;
    case VMM_PARAM_OUT_PROP:
        write_prop(json, param->name, at);
        break;
    case VMM_PARAM_OUT_STRUCT:
        write_struct(json, param->name, vmm_shape(param->shape), at);
        break;
    case VMM_PARAM_OUT_RANGE:
        write_range(json, param->name, at, length_in(call, "data_size"));
        break;
    case VMM_PARAM_OUT_POOL_VALUE:
        write_pool_value(json, call, param, true);
        break;
    case VMM_PARAM_OUT_POOL_POINTER:
        jsonw_text(json, param->name, "pointer");
        break;
    case VMM_PARAM_OUT_MEMCPY3D:
        write_box(json, param->name, at, false);
        break;
    case VMM_PARAM_OUT_IPC_HANDLE:
        jsonw_text(json, param->name, "handle");
        break;
    case VMM_PARAM_OUT_NODES:
        write_nodes(json, param->name, at, *vmm_list_length(call));
        break;
    case VMM_PARAM_OUT_EDGES:
        write_edges(json, param->name, at, *vmm_list_length(call));
        break;
    case VMM_PARAM_IO_INT:
        jsonw_int(json, param->name, *(const int *)at);
        break;
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT:
        write_their_list(json, call, param);
        break;
    case VMM_PARAM_OUT_UPDATE:
        write_update(json, param->name, at);
        break;
    case VMM_PARAM_OUT_FILL_NODE:
        write_fill_node(json, param->name, at);
        break;
    case VMM_PARAM_OUT_HOST_NODE:
        jsonw_text(json, param->name, "host");
        break;
    case VMM_PARAM_OUT_TEXT:
        jsonw_text(json, param->name, at);
        break;
    case VMM_PARAM_OUT_BYTES:
        write_bytes(json, param->name, at, length_in(call, "byte_count"), !is_async(call), device);
        break;
    case VMM_PARAM_OUT_ATTRIBUTE:
        write_attribute(json, param->name, (vmm_pointer_attribute)length_in(call, "attribute"), at);
        break;
    case VMM_PARAM_OUT_ATTRIBUTES:
        write_attribute_list(json, call, param);
        break;
    default: /* 64 bits of any meaning */
        memcpy(&wide, at, sizeof wide);
        jsonw_hex(json, param->name, wide);
    }
}

void trace_outs(struct json *json, const struct vmm_call *call, bool device)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    jsonw_open(json, "out", '{');
    for (size_t i = 0; i < count; i++)
        if (trace_is_out(params[i].kind) && pointer_of(call, &params[i]) && writes(call, &params[i]))
            write_out(json, call, &params[i], device);
    if (!json->failed && json->text[json->length - 1] == '{')
        jsonw_drop_empty(json, "out");
    else
        jsonw_close(json, '}');
}

const void *trace_host_bytes(const struct vmm_call *call)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    for (size_t i = 0; i < count; i++)
        if (params[i].kind == VMM_PARAM_BYTES || params[i].kind == VMM_PARAM_OUT_BYTES)
            return pointer_of(call, &params[i]);
    return NULL;
}

bool trace_is_fabric(const struct vmm_call *call)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    return (call->id == VMM_CALL_mem_export_to_shareable_handle &&
            any->mem_export_to_shareable_handle.handle_type == VMM_MEM_HANDLE_TYPE_FABRIC) ||
           (call->id == VMM_CALL_mem_import_from_shareable_handle &&
            any->mem_import_from_shareable_handle.sh_handle_type == VMM_MEM_HANDLE_TYPE_FABRIC) ||
           (call->id == VMM_CALL_mem_pool_export_to_shareable_handle &&
            any->mem_pool_export_to_shareable_handle.handle_type == VMM_MEM_HANDLE_TYPE_FABRIC) ||
           (call->id == VMM_CALL_mem_pool_import_from_shareable_handle &&
            any->mem_pool_import_from_shareable_handle.handle_type == VMM_MEM_HANDLE_TYPE_FABRIC);
}

uint64_t trace_fabric(const void *bytes)
{
    return fnv1a(FNV1A, bytes, VMM_FABRIC_HANDLE_SIZE) | UINT64_C(1) << 63;
}

uint64_t trace_file(uint64_t value)
{
    struct stat status;
    if (value >> 63 && value >> 31 != UINT64_MAX >> 31) /* not a sign-extended negative int */
        return value;
    if (posix.fstat((int)(uint32_t)value, &status) != 0)
        return 0;
    return fnv1a_word(fnv1a_word(FNV1A, (uint64_t)status.st_dev), (uint64_t)status.st_ino) | 1;
}

/* Writes the imported handle: a descriptor, or a fabric handle if it is known to be one. */
static bool imported(const struct vmm_call *call, const struct vmm_param *param, bool done, uint64_t *value)
{
    *value = vmm_call_scalar(call, param);
    if (!*value || !trace_is_fabric(call))
        return *value != 0;
    if (done)
        *value = trace_fabric(pointer_of(call, param));
    return done;
}

/* Writes the exported descriptor. Its name is known only after the call. */
static bool exported(const struct vmm_call *call, const struct vmm_param *param, bool done, uint64_t *value)
{
    int fd;
    if (!done || (call->id != VMM_CALL_mem_export_to_shareable_handle &&
                  call->id != VMM_CALL_mem_pool_export_to_shareable_handle))
        return false;
    if (trace_is_fabric(call)) {
        *value = trace_fabric(pointer_of(call, param));
        return true;
    }
    memcpy(&fd, pointer_of(call, param), sizeof fd);
    *value = (uint64_t)fd;
    return fd > 0;
}

bool trace_object(const struct vmm_call *call, const struct vmm_param *param, bool done, uint64_t *value)
{
    switch (param->kind) {
    case VMM_PARAM_OUT_FD:
        return exported(call, param, done, value);
    case VMM_PARAM_FD:
        return imported(call, param, done, value);
    case VMM_PARAM_OUT_IPC_HANDLE:
    case VMM_PARAM_IPC_HANDLE:
        if (param->kind == VMM_PARAM_OUT_IPC_HANDLE && !done)
            return false;
        *value = trace_fabric(pointer_of(call, param));
        return true;
    case VMM_PARAM_ADDRESS:
    case VMM_PARAM_HANDLE:
    case VMM_PARAM_CONTEXT:
    case VMM_PARAM_STREAM:
    case VMM_PARAM_EVENT:
    case VMM_PARAM_POOL:
    case VMM_PARAM_ARRAY:
    case VMM_PARAM_GRAPH:
    case VMM_PARAM_GRAPH_NODE:
    case VMM_PARAM_GRAPH_EXEC:
    case VMM_PARAM_USER_OBJECT:
        *value = vmm_call_scalar(call, param);
        return *value != 0;
    case VMM_PARAM_OUT_ADDRESS:
    case VMM_PARAM_OUT_HANDLE:
    case VMM_PARAM_OUT_CONTEXT:
    case VMM_PARAM_OUT_STREAM:
    case VMM_PARAM_OUT_EVENT:
    case VMM_PARAM_OUT_POOL:
    case VMM_PARAM_OUT_ARRAY:
    case VMM_PARAM_OUT_GRAPH:
    case VMM_PARAM_OUT_GRAPH_NODE:
    case VMM_PARAM_OUT_GRAPH_EXEC:
    case VMM_PARAM_OUT_USER_OBJECT:
        if (!done || !pointer_of(call, param) || !writes(call, param))
            return false;
        memcpy(value, pointer_of(call, param), sizeof *value);
        return *value != 0;
    default:
        return false;
    }
}

/* Every descriptor that a driver exports is an opening of one device file. */
static bool is_one_of_many(uint64_t value)
{
    struct stat status;
    return !(value >> 63) && (posix.fstat((int)(uint32_t)value, &status) != 0 || S_ISCHR(status.st_mode));
}

uint64_t trace_shared(const struct vmm_call *call)
{
    size_t count = 0;
    uint64_t value;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    for (size_t i = 0; i < count; i++)
        if ((params[i].kind == VMM_PARAM_FD || params[i].kind == VMM_PARAM_OUT_FD || params[i].kind == VMM_PARAM_IPC_HANDLE ||
             params[i].kind == VMM_PARAM_OUT_IPC_HANDLE) &&
            trace_object(call, &params[i], true, &value))
            return is_one_of_many(value) ? 0 : trace_file(value);
    return 0;
}
