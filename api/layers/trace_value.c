/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_value.h"

#include <string.h>

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

uint64_t trace_length(const struct vmm_call *call, const char *name)
{
    return vmm_call_scalar(call, param_named(call, name));
}

size_t trace_attribute_size(vmm_pointer_attribute attribute)
{
    const size_t size = vmm_pointer_attribute_size(attribute);
    return size == sizeof(int) || size == sizeof(uint64_t) ? size : 0;
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
    vmm_mem_pool_attribute attribute = (vmm_mem_pool_attribute)trace_length(call, "attr");
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

/* Only the address, for host memory. */
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
    if (operand->type == VMM_MEMCPY_OPERAND_TYPE_ARRAY)
        jsonw_hex(json, "z", operand->op.array.z);
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

/* The fields that are not 0; of a union only those in use. */
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

static void write_bytes(struct json *json, const char *key, const void *bytes, const struct trace_event *event, bool there)
{
    const uint64_t length = trace_length(event->call, "byte_count");
    jsonw_open(json, key, '{');
    jsonw_hex(json, "length", length);
    if (event->device)
        jsonw_hex(json, "device", (uint64_t)(uintptr_t)bytes);
    else if (there && length <= TRACE_BYTES_MAX)
        jsonw_bytes(json, "hex", bytes, (size_t)length);
    else if (there)
        jsonw_hex(json, "fnv1a64", event->hash);
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
static void write_pointed(struct json *json, const struct trace_event *event, const struct vmm_param *param)
{
    const struct vmm_call *call = event->call;
    const bool done = trace_event_done(event);
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
        jsonw_text(json, param->name, done ? "pointer" : "unknown"); /* its bytes mean something on one machine only */
        break;
    case VMM_PARAM_IPC_HANDLE:
        jsonw_text(json, param->name, "handle"); /* the same; a handle that the trace has seen has a name */
        break;
    case VMM_PARAM_DESCS:
        write_descs(json, param->name, at, trace_length(call, "count"));
        break;
    case VMM_PARAM_ARGS:
        write_words(json, param->name, at, trace_length(call, "count"));
        break;
    case VMM_PARAM_MEM_OPS:
        write_mem_ops(json, param->name, at, trace_length(call, "count") > TRACE_LIST_MAX ? 0 : trace_length(call, "count"));
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
        write_nodes(json, param->name, at, trace_length(call, "num_dependencies"));
        break;
    case VMM_PARAM_EDGES:
        write_edges(json, param->name, at, trace_length(call, "num_dependencies"));
        break;
    case VMM_PARAM_FILL_NODE:
        write_fill_node(json, param->name, at);
        break;
    case VMM_PARAM_KERNEL_NODE:
        write_kernel_node(json, param->name, at);
        break;
    case VMM_PARAM_ATTRIBUTES:
        write_attributes(json, param->name, at, trace_length(call, "num_attributes"));
        break;
    case VMM_PARAM_BYTES:
        write_bytes(json, param->name, at, event, done);
        break;
    case VMM_PARAM_OUT_BYTES:
        if (event->device)
            write_bytes(json, param->name, at, event, false);
        else
            jsonw_text(json, param->name, "out");
        break;
    case VMM_PARAM_OUT_ATTRIBUTES:
        write_wanted(json, param->name, at, trace_length(call, "num_attributes"));
        break;
    case VMM_PARAM_FD:
        jsonw_text(json, param->name, trace_is_fabric(call) ? "fabric" : event->closed ? "closed" : "fd");
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

void trace_args(struct json *json, const struct trace_event *event)
{
    const struct vmm_call *call = event->call;
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
            jsonw_hex(json, params[i].name, event->before);
        else if (params[i].kind == VMM_PARAM_IO_INT)
            jsonw_int(json, params[i].name, (int)event->before);
        else
            write_pointed(json, event, &params[i]);
    }
    jsonw_close(json, '}');
}

/* Writes an attribute's value after a successful call. */
static void write_attribute(struct json *json, const char *key, vmm_pointer_attribute attribute, const void *data)
{
    uint64_t wide = 0;
    int narrow = 0;
    size_t size = data ? trace_attribute_size(attribute) : 0;
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
    uint64_t count = attribute ? trace_length(call, "num_attributes") : 0;
    jsonw_open(json, param->name, '[');
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        write_attribute(json, NULL, attribute[i], data[i]);
    jsonw_close(json, ']');
}

bool trace_is_async(const struct vmm_call *call)
{
    return param_named(call, "stream") != NULL;
}

/* A list that the system owns; without its length it is not read. */
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

bool trace_writes(const struct vmm_call *call, enum vmm_param_kind kind)
{
    const struct vmm_call_stream_get_capture_info *info = (const struct vmm_call_stream_get_capture_info *)(const void *)call;
    return call->id != VMM_CALL_stream_get_capture_info || kind == VMM_PARAM_OUT_INT ||
           (info->capture_status_out && *info->capture_status_out == VMM_STREAM_CAPTURE_STATUS_ACTIVE);
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

static void write_out(struct json *json, const struct trace_event *event, const struct vmm_param *param)
{
    const struct vmm_call *call = event->call;
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
        write_range(json, param->name, at, trace_length(call, "data_size"));
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
        write_bytes(json, param->name, at, event, !trace_is_async(call));
        break;
    case VMM_PARAM_OUT_ATTRIBUTE:
        write_attribute(json, param->name, (vmm_pointer_attribute)trace_length(call, "attribute"), at);
        break;
    case VMM_PARAM_OUT_ATTRIBUTES:
        write_attribute_list(json, call, param);
        break;
    default: /* 64 bits of any meaning */
        memcpy(&wide, at, sizeof wide);
        jsonw_hex(json, param->name, wide);
    }
}

void trace_outs(struct json *json, const struct trace_event *event)
{
    const struct vmm_call *call = event->call;
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    jsonw_open(json, "out", '{');
    for (size_t i = 0; i < count; i++)
        if (trace_is_out(params[i].kind) && pointer_of(call, &params[i]) && !(event->lacks >> i & 1) && trace_writes(call, params[i].kind))
            write_out(json, event, &params[i]);
    if (!json->failed && json->text[json->length - 1] == '{')
        jsonw_drop_empty(json, "out");
    else
        jsonw_close(json, '}');
}

const void *trace_host_bytes(const struct vmm_call *call)
{
    size_t count = 0;
    const struct vmm_param *param = vmm_call_params((enum vmm_call_id)call->id, &count);
    while (param->kind != VMM_PARAM_BYTES && param->kind != VMM_PARAM_OUT_BYTES)
        param++;
    return pointer_of(call, param);
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

bool trace_object(const struct trace_event *event, const struct vmm_param *param, uint64_t *value)
{
    const struct vmm_call *call = event->call;
    switch (param->kind) {
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
        if (!trace_event_done(event) || !pointer_of(call, param) || !trace_writes(call, param->kind))
            return false;
        memcpy(value, pointer_of(call, param), sizeof *value);
        return *value != 0;
    default:
        return false;
    }
}
