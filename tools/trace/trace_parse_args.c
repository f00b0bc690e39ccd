/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a line. See trace_parse.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "trace_parse.h"

#include <inttypes.h>
#include <string.h>

#include "trace.h"
#include "trace_record.h"
#include "trace_value.h"

static json_t *json_of(const struct parsing *p, const struct vmm_param *param)
{
    return json_object_get(p->args, param->name);
}

static void set(struct parsing *p, const struct vmm_param *param, uint64_t value)
{
    vmm_call_set_scalar(&p->room->call.head, param, value);
}

/* Room for the memory that the parameter points to. */
static void *point(struct parsing *p, const struct vmm_param *param, size_t size)
{
    void *memory = trace_room_take(p->room, size);
    if (!memory) {
        parse_malformed(p, param->name, "%s exceeds the maximum size in a trace", param->name);
        return NULL;
    }
    set(p, param, (uint64_t)(uintptr_t)memory);
    return memory;
}

/* ---- numbers, and whether there is memory ---- */

static bool parse_scalar(struct parsing *p, const struct vmm_param *param)
{
    uint64_t value = 0;
    int number = 0;
    if (param->kind == VMM_PARAM_INT) {
        if (!parse_int(p, param->name, json_of(p, param), &number))
            return false;
        value = (uint64_t)(int64_t)number;
    } else if (!parse_hex(p, param->name, json_of(p, param), &value)) {
        return false;
    }
    if (param->size < 8 && param->kind != VMM_PARAM_INT && value >> (8 * param->size))
        return parse_malformed(p, param->name, "%s does not fit into %d bytes", param->name, param->size);
    set(p, param, value);
    return true;
}

static bool parse_descriptor(struct parsing *p, const struct vmm_param *param)
{
    const char *kind = json_string_value(json_of(p, param));
    if (!kind || (strcmp(kind, "fd") != 0 && strcmp(kind, "closed") != 0 && strcmp(kind, "fabric") != 0))
        return parse_malformed(p, param->name, "%s is not \"fd\", \"closed\" or \"fabric\"", param->name);
    p->room->event.closed = kind[0] == 'c';
    return true;
}

static bool parse_before(struct parsing *p, const struct vmm_param *param)
{
    int before = 0;
    if (param->kind == VMM_PARAM_IO_COUNT)
        return parse_hex(p, param->name, json_of(p, param), &p->room->event.before);
    if (!parse_int(p, param->name, json_of(p, param), &before))
        return false;
    p->room->event.before = (uint32_t)before;
    return true;
}

static bool parse_location_value(struct parsing *p, const struct vmm_param *param)
{
    vmm_mem_location location;
    if (!parse_location(p, param->name, json_of(p, param), &location))
        return false;
    set(p, param, (uint64_t)(uintptr_t)&location);
    return true;
}

static bool parse_argument(struct parsing *p, const struct vmm_param *param)
{
    json_t *json = json_of(p, param);
    if (!json)
        return parse_malformed(p, "\"args\"", "the argument \"%s\" is missing", param->name);
    if (param->kind < VMM_PARAM_PROP)
        return parse_scalar(p, param);
    if (param->kind == VMM_PARAM_LOCATION_VALUE)
        return parse_location_value(p, param);
    if (json_is_null(json) || param->kind == VMM_PARAM_IPC_HANDLE)
        return true;
    set(p, param, 1);
    p->room->event.device |= (param->kind == VMM_PARAM_BYTES || param->kind == VMM_PARAM_OUT_BYTES) &&
                             json_object_get(json, "device");
    if (param->kind == VMM_PARAM_FD)
        return parse_descriptor(p, param);
    return (param->kind != VMM_PARAM_IO_COUNT && param->kind != VMM_PARAM_IO_INT) || parse_before(p, param);
}

/* ---- memory ---- */

/* At most as many as a line can have. */
static size_t listed(const struct parsing *p, const struct vmm_param *param)
{
    const uint64_t count = trace_listed(&p->room->call.head, param);
    if (count <= TRACE_LIST_MAX)
        return (size_t)count;
    return param->kind == VMM_PARAM_MEM_OPS ? 0 : TRACE_LIST_MAX;
}

static bool parse_desc(struct parsing *p, const char *key, json_t *json, vmm_mem_access_desc *desc)
{
    if (!json_is_object(json))
        return parse_malformed(p, key, "a grant in %s is not an object", key);
    return parse_location(p, "location", json_object_get(json, "location"), &desc->location) &&
           parse_int_of(p, json, "flags", &desc->flags);
}

static bool parse_mem_op(struct parsing *p, const char *key, json_t *json, vmm_stream_batch_mem_op_params *op)
{
    uint64_t flags;
    if (!json_is_object(json))
        return parse_malformed(p, key, "an operation in %s is not an object", key);
    if (!parse_int_of(p, json, "operation", &op->operation) || !parse_hex_of(p, json, "flags", UINT32_MAX, &flags))
        return false;
    if (!vmm_mem_op_has_value(op->operation)) {
        op->memory_barrier.flags = (unsigned)flags;
        return true;
    }
    op->wait_value.flags = (unsigned)flags;
    return parse_hex_of(p, json, "address", UINT64_MAX, &op->wait_value.address) &&
           parse_hex_of(p, json, "value", UINT64_MAX, &op->wait_value.value64);
}

static bool parse_copy_attributes(struct parsing *p, const char *key, json_t *json, vmm_memcpy_attributes *attributes)
{
    uint64_t flags;
    (void)key;
    if (!parse_int_of(p, json, "order", &attributes->src_access_order) || !parse_hex_of(p, json, "flags", UINT32_MAX, &flags))
        return false;
    attributes->flags = (unsigned)flags;
    return parse_location(p, "src", json_object_get(json, "src"), &attributes->src_loc_hint) &&
           parse_location(p, "dst", json_object_get(json, "dst"), &attributes->dst_loc_hint);
}

static bool parse_operand(struct parsing *p, json_t *json, vmm_memcpy3d_operand *operand)
{
    uint64_t at, row, rows;
    if (!parse_int_of(p, json, "type", &operand->type) || !parse_hex_of(p, json, "at", UINT64_MAX, &at) ||
        !parse_hex_of(p, json, "row", UINT64_MAX, &row) || !parse_hex_of(p, json, "rows", UINT64_MAX, &rows))
        return false;
    operand->op.ptr.ptr = at;
    operand->op.ptr.row_length = (size_t)row;
    operand->op.ptr.layer_height = (size_t)rows;
    return operand->type != VMM_MEMCPY_OPERAND_TYPE_ARRAY || parse_hex_of(p, json, "z", UINT64_MAX, &operand->op.array.z);
}

static bool parse_box_op(struct parsing *p, const char *key, json_t *json, vmm_memcpy3d_batch_op *op)
{
    uint64_t width, height, depth, flags;
    (void)key;
    if (!parse_operand(p, json_object_get(json, "dst"), &op->dst) || !parse_operand(p, json_object_get(json, "src"), &op->src) ||
        !parse_hex_of(p, json, "width", UINT64_MAX, &width) || !parse_hex_of(p, json, "height", UINT64_MAX, &height) ||
        !parse_hex_of(p, json, "depth", UINT64_MAX, &depth) || !parse_int_of(p, json, "order", &op->src_access_order) ||
        !parse_hex_of(p, json, "flags", UINT32_MAX, &flags))
        return false;
    op->extent = (struct vmm_extent3d){(size_t)width, (size_t)height, (size_t)depth};
    op->flags = (unsigned)flags;
    return true;
}

static bool parse_edge(struct parsing *p, const char *key, json_t *json, vmm_graph_edge_data *edge)
{
    uint64_t number;
    if (!parse_hex(p, key, json, &number))
        return false;
    memcpy(edge, &number, sizeof *edge);
    return true;
}

static bool parse_attribute(struct parsing *p, const char *key, json_t *json, vmm_pointer_attribute *attribute)
{
    return parse_int(p, key, json, attribute);
}

static bool parse_word(struct parsing *p, const char *key, json_t *json, uint64_t *word)
{
    return parse_hex(p, key, json, word);
}

/* A list whose elements are read by one function. */
#define LIST(type, element)                                                                               \
    static bool parse_##type##_list(struct parsing *p, const struct vmm_param *param)                     \
    {                                                                                                     \
        const size_t count = listed(p, param);                                                            \
        type *list = point(p, param, count * sizeof *list);                                               \
        if (!list || !parse_list(p, param->name, json_of(p, param), count))                               \
            return false;                                                                                 \
        for (size_t i = 0; i < count; i++)                                                                \
            if (!element(p, param->name, json_array_get(json_of(p, param), i), &list[i]))                 \
                return false;                                                                             \
        return true;                                                                                      \
    }
LIST(vmm_mem_access_desc, parse_desc)
LIST(vmm_stream_batch_mem_op_params, parse_mem_op)
LIST(vmm_memcpy_attributes, parse_copy_attributes)
LIST(vmm_memcpy3d_batch_op, parse_box_op)
LIST(vmm_graph_edge_data, parse_edge)
LIST(vmm_pointer_attribute, parse_attribute)
LIST(uint64_t, parse_word)

/* A structure that is read by one function. */
#define STRUCTURE(type, read)                                                                             \
    static bool parse_##type(struct parsing *p, const struct vmm_param *param)                            \
    {                                                                                                     \
        type *one = point(p, param, sizeof *one);                                                         \
        return one && read(p, param->name, json_of(p, param), one);                                       \
    }
STRUCTURE(vmm_mem_allocation_prop, parse_prop)
STRUCTURE(vmm_multicast_object_prop, parse_team)
STRUCTURE(vmm_mem_location, parse_location)
STRUCTURE(vmm_mem_pool_props, parse_pool_props)
STRUCTURE(vmm_memcpy3d, parse_box)
STRUCTURE(vmm_memset_node_params, parse_fill_node)

static bool parse_one_shape(struct parsing *p, const struct vmm_param *param)
{
    const struct vmm_shape *shape = vmm_shape(param->shape);
    void *one = point(p, param, shape->size);
    return one && parse_struct(p, param->name, json_of(p, param), shape, one);
}

static bool parse_shapes(struct parsing *p, const struct vmm_param *param)
{
    const struct vmm_shape *shape = vmm_shape(param->shape);
    const size_t count = listed(p, param);
    char *list = point(p, param, count * shape->size);
    if (!list || !parse_list(p, param->name, json_of(p, param), count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!parse_struct(p, param->name, json_array_get(json_of(p, param), i), shape, list + i * shape->size))
            return false;
    return true;
}

static bool parse_kernel_node(struct parsing *p, const struct vmm_param *param)
{
    vmm_kernel_node_params *kernel = point(p, param, sizeof *kernel);
    json_t *json = json_of(p, param), *list = json_object_get(json, "args");
    uint64_t grid, block;
    if (!kernel || !parse_int_of(p, json, "kernel", &kernel->kernel) || !parse_hex_of(p, json, "grid_dim", UINT32_MAX, &grid) ||
        !parse_hex_of(p, json, "block_dim", UINT32_MAX, &block) || !parse_hex_of(p, json, "count", UINT64_MAX, &kernel->count))
        return false;
    kernel->grid_dim = (unsigned)grid;
    kernel->block_dim = (unsigned)block;
    if (json_is_null(list))
        return true;
    const size_t count = kernel->count < TRACE_LIST_MAX ? (size_t)kernel->count : TRACE_LIST_MAX;
    uint64_t *args = trace_room_take(p->room, count * sizeof *args);
    kernel->args = args;
    return args && parse_list(p, "args", list, count) && parse_words(p, "args", list, args, count);
}

/* A device address passed as a host address. */
static bool parse_device(struct parsing *p, const struct vmm_param *param)
{
    uint64_t address;
    if (!parse_bytes(p, param->name, json_of(p, param), NULL, false) ||
        !parse_hex_of(p, json_of(p, param), "device", UINT64_MAX, &address))
        return false;
    set(p, param, address);
    return true;
}

static bool parse_host_bytes(struct parsing *p, const struct vmm_param *param)
{
    if (p->room->event.device)
        return parse_device(p, param);
    unsigned char *bytes = point(p, param, TRACE_BYTES_MAX);
    return bytes && parse_bytes(p, param->name, json_of(p, param), bytes, trace_event_done(&p->room->event));
}

static bool parse_pool_value(struct parsing *p, const struct vmm_param *param)
{
    uint64_t *value = point(p, param, sizeof *value);
    int narrow = 0;
    json_t *json = json_of(p, param);
    const char *text = json_string_value(json);
    if (!value || (text && strcmp(text, "unknown") == 0))
        return value != NULL;
    if (!json_is_integer(json))
        return parse_hex(p, param->name, json, value);
    if (!parse_int(p, param->name, json, &narrow))
        return false;
    memcpy(value, &narrow, sizeof narrow);
    return true;
}

/* The elements with room for a result: "out", or null. */
static bool parse_wanted(struct parsing *p, const struct vmm_param *param)
{
    const size_t count = listed(p, param);
    void **data = point(p, param, count * sizeof *data);
    if (!data || !parse_list(p, param->name, json_of(p, param), count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!json_is_null(json_array_get(json_of(p, param), i)))
            data[i] = trace_room_take(p->room, VMM_POINTER_ATTRIBUTE_MAX_SIZE);
    return true;
}

static bool parse_memory(struct parsing *p, const struct vmm_param *param)
{
    switch (param->kind) {
    case VMM_PARAM_PROP: return parse_vmm_mem_allocation_prop(p, param);
    case VMM_PARAM_TEAM: return parse_vmm_multicast_object_prop(p, param);
    case VMM_PARAM_LOCATION: return parse_vmm_mem_location(p, param);
    case VMM_PARAM_POOL_PROPS: return parse_vmm_mem_pool_props(p, param);
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER: return parse_vmm_memcpy3d(p, param);
    case VMM_PARAM_FILL_NODE: return parse_vmm_memset_node_params(p, param);
    case VMM_PARAM_KERNEL_NODE: return parse_kernel_node(p, param);
    case VMM_PARAM_DESCS: return parse_vmm_mem_access_desc_list(p, param);
    case VMM_PARAM_MEM_OPS: return parse_vmm_stream_batch_mem_op_params_list(p, param);
    case VMM_PARAM_COPY_ATTRIBUTES: return parse_vmm_memcpy_attributes_list(p, param);
    case VMM_PARAM_BOXES: return parse_vmm_memcpy3d_batch_op_list(p, param);
    case VMM_PARAM_EDGES: return parse_vmm_graph_edge_data_list(p, param);
    case VMM_PARAM_ATTRIBUTES: return parse_vmm_pointer_attribute_list(p, param);
    case VMM_PARAM_ARGS:
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
    case VMM_PARAM_NODES: return parse_uint64_t_list(p, param);
    case VMM_PARAM_STRUCT: return parse_one_shape(p, param);
    case VMM_PARAM_STRUCTS: return parse_shapes(p, param);
    case VMM_PARAM_BYTES: return parse_host_bytes(p, param);
    case VMM_PARAM_OUT_BYTES: return !p->room->event.device || parse_device(p, param);
    case VMM_PARAM_OUT_ATTRIBUTES: return parse_wanted(p, param);
    case VMM_PARAM_POOL_VALUE: return parse_pool_value(p, param);
    case VMM_PARAM_POOL_POINTER:
    case VMM_PARAM_HOST_NODE: return point(p, param, VMM_FABRIC_HANDLE_SIZE) != NULL;
    default: return true;
    }
}

bool parse_arguments(struct parsing *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (!parse_argument(p, &p->params[i]))
            return false;
    for (size_t i = 0; i < p->count; i++) {
        const struct vmm_param *param = &p->params[i];
        if (param->kind < VMM_PARAM_PROP || VMM_BY_VALUE(param->kind) || json_is_null(json_of(p, param)))
            continue;
        if (trace_is_out(param->kind) && !trace_room_output(p->room, param))
            return parse_malformed(p, param->name, "the line has more than a trace can hold");
        if (!parse_memory(p, param))
            return false;
    }
    return true;
}

#else
typedef int trace_parse_args_needs_jansson;
#endif
