/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in the driver's spelling, with the script's names for values. See step.h. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "step.h"
#include "text.h"
#include "values.h"

void step_print_address(FILE *out, uint64_t address, const struct step_names *names)
{
    const struct symbol *symbol = names->symbols ? symbols_at(names->symbols, address) : NULL;
    char size[TEXT_SIZE_ROOM];
    if (!symbol) {
        if (address == 0)
            fputs("0", out);
        else
            fprintf(out, "0x%" PRIx64, address);
        return;
    }
    fputs(symbol->name, out);
    if (address != symbol->value)
        fprintf(out, "+%s", text_size(address - symbol->value, size));
    if (names->addresses)
        fprintf(out, "=0x%" PRIx64, address);
}

static void print_named(FILE *out, enum symbol_kind kind, uint64_t value, const struct step_names *names)
{
    const struct symbol *symbol = names->symbols && value ? symbols_named(names->symbols, kind, value) : NULL;
    if (symbol)
        fputs(symbol->name, out);
    else if (value == 0)
        fputs(kind == SYMBOL_HANDLE ? "0" : "NULL", out);
    else
        fprintf(out, "0x%" PRIx64, value);
    if (symbol && names->addresses)
        fprintf(out, "=0x%" PRIx64, value);
}

static void print_handle_types(FILE *out, int types)
{
    static const char *const names[] = {"fd", "win32", "kmt", "fabric"};
    const char *between = ", ";
    for (int bit = 0; bit < 4; bit++)
        if (types & 1 << bit) {
            fprintf(out, "%s%s", between, names[bit]);
            between = "|";
        }
    if (types & ~15)
        fprintf(out, "%s0x%x", between, (unsigned)types & ~15U);
}

void step_print_prop(FILE *out, const vmm_mem_allocation_prop *prop)
{
    char where[VALUE_ROOM];
    fprintf(out, "{%s", value_location_text(prop->location, where));
    print_handle_types(out, prop->requested_handle_types);
    if (prop->type != VMM_MEM_ALLOCATION_TYPE_PINNED)
        fprintf(out, ", type=%d", prop->type);
    if (prop->alloc_flags.compression_type)
        fprintf(out, ", compression=%u", prop->alloc_flags.compression_type);
    if (prop->alloc_flags.gpu_direct_rdma_capable)
        fprintf(out, ", rdma=%u", prop->alloc_flags.gpu_direct_rdma_capable);
    if (prop->alloc_flags.usage)
        fprintf(out, ", usage=%u", prop->alloc_flags.usage);
    uint32_t reserved = 0;
    for (int i = 0; i < 4; i++)
        reserved |= (uint32_t)prop->alloc_flags.reserved[i] << 8 * i;
    if (reserved)
        fprintf(out, ", reserved=%" PRIu32, reserved);
    if (prop->win32_handle_meta_data)
        fputs(", meta=1", out);
    fputs("}", out);
}

static void print_pool_props(FILE *out, const vmm_mem_pool_props *props)
{
    char where[VALUE_ROOM], size[TEXT_SIZE_ROOM];
    fprintf(out, "{%s", value_location_text(props->location, where));
    print_handle_types(out, props->handle_types);
    if (props->alloc_type != VMM_MEM_ALLOCATION_TYPE_PINNED)
        fprintf(out, ", type=%d", props->alloc_type);
    if (props->max_size)
        fprintf(out, ", max=%s", text_size(props->max_size, size));
    if (props->usage)
        fprintf(out, ", usage=%u", props->usage);
    if (props->reserved[0])
        fprintf(out, ", reserved=%u", props->reserved[0]);
    fputs("}", out);
}

/* A value of a pool's attribute; attribute is the parameter before it. */
static void print_pool_value(FILE *out, int attribute, uint64_t value)
{
    char size[TEXT_SIZE_ROOM];
    if (vmm_pool_attribute_size(attribute) == 8)
        fputs(text_size(value, size), out);
    else
        fprintf(out, "%d", (int)value);
}

static void print_team(FILE *out, const vmm_multicast_object_prop *team)
{
    char size[TEXT_SIZE_ROOM];
    fprintf(out, "{%u devices, %s", team->num_devices, text_size(team->size, size));
    if (team->handle_types)
        fprintf(out, ", types=%" PRIu64, team->handle_types);
    if (team->flags)
        fprintf(out, ", flags=%" PRIu64, team->flags);
    fputs("}", out);
}

static void print_grants(FILE *out, const struct step *step, const vmm_mem_access_desc *desc, uint64_t count)
{
    char where[VALUE_ROOM], what[VALUE_ROOM];
    (void)step;
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_GRANTS; i++)
        fprintf(out, "%s%s:%s", i ? ", " : "", value_location_text(desc[i].location, where),
                desc[i].flags >= 0 ? value_rights_text((uint64_t)desc[i].flags, what) : "?");
    fputs("}", out);
}

static void print_attributes(FILE *out, const int *attributes, uint64_t count)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_ATTRIBUTES; i++) {
        const char *name = step_attribute_name(attributes[i]);
        if (name)
            fprintf(out, "%s%s", i ? ", " : "", name);
        else
            fprintf(out, "%s%d", i ? ", " : "", attributes[i]);
    }
    fputs("}", out);
}

static void print_enumerator(FILE *out, enum vmm_call_id id, const char *param, int value)
{
    const char *name = step_enumerator_name(id, param, value);
    if (name)
        fputs(name, out);
    else
        fprintf(out, "%d", value);
}

static void print_out(FILE *out, const struct step *step, const struct vmm_param *param, uint64_t pointer)
{
    bool object = param->kind == VMM_PARAM_OUT_ADDRESS || param->kind == VMM_PARAM_OUT_HANDLE ||
                  param->kind == VMM_PARAM_OUT_CONTEXT || param->kind == VMM_PARAM_OUT_STREAM ||
                  param->kind == VMM_PARAM_OUT_EVENT || param->kind == VMM_PARAM_OUT_POOL || param->kind == VMM_PARAM_OUT_ARRAY || param->kind == VMM_PARAM_OUT_GRAPH ||
                  param->kind == VMM_PARAM_OUT_GRAPH_NODE || param->kind == VMM_PARAM_OUT_GRAPH_EXEC ||
                  param->kind == VMM_PARAM_OUT_USER_OBJECT ||
                  param->kind == VMM_PARAM_OUT_FD;
    bool array = param->kind == VMM_PARAM_OUT_TEXT || param->kind == VMM_PARAM_OUT_BYTES ||
                 param->kind == VMM_PARAM_OUT_ATTRIBUTES || param->kind == VMM_PARAM_OUT_NODES || param->kind == VMM_PARAM_OUT_EDGES;
    if (!pointer)
        fputs("NULL", out);
    else if (param->kind == VMM_PARAM_IO_COUNT || param->kind == VMM_PARAM_IO_INT)
        fprintf(out, "&%d", *(const int *)(uintptr_t)pointer); /* either has room for it; no list is as long as that */
    else
        fprintf(out, "%s%s", array ? "" : "&", object && step->bind ? step->bind : param->name);
}

static void print_words(FILE *out, const uint64_t *list, uint64_t count, const struct step_names *names)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_WORDS; i++) {
        fputs(i ? ", " : "", out);
        step_print_address(out, list[i], names);
    }
    fputs("}", out);
}

static void print_mem_op(FILE *out, const vmm_stream_batch_mem_op_params *op, const struct step_names *names)
{
    const char *name = value_mem_op_name(op->operation);
    if (!name) {
        fprintf(out, "%d", op->operation);
    } else if (!vmm_mem_op_has_value(op->operation)) {
        fprintf(out, "%s 0x%x", name, op->memory_barrier.flags);
    } else {
        fprintf(out, "%s ", name);
        step_print_address(out, op->wait_value.address, names);
        fprintf(out, " 0x%" PRIx64 " 0x%x", op->wait_value.value64, op->wait_value.flags);
    }
}

static void print_mem_ops(FILE *out, const vmm_stream_batch_mem_op_params *list, uint64_t count, const struct step_names *names)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_MEM_OPS; i++) {
        fputs(i ? ", " : "", out);
        print_mem_op(out, &list[i], names);
    }
    fputs("}", out);
}

/* Only what is not 0 of a side; a type that is the usual one is left out. */
static void print_side(FILE *out, vmm_memorytype type, uint64_t value, const struct step_names *names)
{
    if (type == VMM_MEMORYTYPE_ARRAY)
        print_named(out, SYMBOL_ARRAY, value, names);
    else
        step_print_address(out, value, names);
}

static void print_box(FILE *out, const vmm_memcpy3d *box, const struct step_names *names)
{
    fputs("{", out);
    print_side(out, box->dst_memory_type, vmm_box_dst(box), names);
    fputs(" from ", out);
    print_side(out, box->src_memory_type, vmm_box_src(box), names);
    fprintf(out, ", %" PRIu64 " x %" PRIu64 " x %" PRIu64, box->width_in_bytes, box->height, box->depth);
    if (box->src_memory_type != VMM_MEMORYTYPE_DEVICE && box->src_memory_type != VMM_MEMORYTYPE_ARRAY)
        fprintf(out, ", src_memory_type=%d", box->src_memory_type);
    if (box->dst_memory_type != VMM_MEMORYTYPE_DEVICE && box->dst_memory_type != VMM_MEMORYTYPE_ARRAY)
        fprintf(out, ", dst_memory_type=%d", box->dst_memory_type);
    for (int i = 0; i < VMM_BOX_SIZES - 3; i++) /* the extent stands before */
        if (*vmm_box_size_at(box, &vmm_box_sizes[i]))
            fprintf(out, ", %s=%zu", vmm_box_sizes[i].name, *vmm_box_size_at(box, &vmm_box_sizes[i]));
    fputs("}", out);
}

/* Addresses by their names; sizes and indices. */
static void print_batch(FILE *out, const uint64_t *list, uint64_t count, bool addresses, const struct step_names *names)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_COPIES; i++) {
        fputs(i ? ", " : "", out);
        if (addresses)
            step_print_address(out, list[i], names);
        else
            fprintf(out, "%" PRIu64, list[i]);
    }
    fputs("}", out);
}

static void print_order(FILE *out, vmm_memcpy_src_access_order order)
{
    static const char *const orders[] = {NULL, "stream", "call", "any"};
    if (order >= VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= VMM_MEMCPY_SRC_ACCESS_ORDER_ANY)
        fputs(orders[order], out);
    else
        fprintf(out, "%d", order);
}

static void print_copy_attributes(FILE *out, const vmm_memcpy_attributes *list, uint64_t count)
{
    char where[VALUE_ROOM];
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_COPIES; i++) {
        fputs(i ? ", " : "", out);
        print_order(out, list[i].src_access_order);
        if (list[i].flags)
            fprintf(out, " flags=0x%x", list[i].flags);
        if (list[i].src_loc_hint.type)
            fprintf(out, " src=%s", value_location_text(list[i].src_loc_hint, where));
        if (list[i].dst_loc_hint.type)
            fprintf(out, " dst=%s", value_location_text(list[i].dst_loc_hint, where));
    }
    fputs("}", out);
}

static void print_operand(FILE *out, const vmm_memcpy3d_operand *operand, const char *which)
{
    if (operand->type != VMM_MEMCPY_OPERAND_TYPE_POINTER)
        fprintf(out, " %s_type=%d", which, operand->type);
    if (operand->op.ptr.row_length)
        fprintf(out, " %s_row=%" PRIu64, which, operand->op.ptr.row_length);
    if (operand->op.ptr.layer_height)
        fprintf(out, " %s_rows=%" PRIu64, which, operand->op.ptr.layer_height);
}

static void print_boxes(FILE *out, const vmm_memcpy3d_batch_op *list, uint64_t count, const struct step_names *names)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_COPIES; i++) {
        const vmm_memcpy3d_batch_op *box = &list[i];
        fputs(i ? "; " : "", out);
        step_print_address(out, box->dst.op.ptr.ptr, names);
        fputs(" from ", out);
        step_print_address(out, box->src.op.ptr.ptr, names);
        fprintf(out, ", %" PRIu64 " x %" PRIu64 " x %" PRIu64, box->extent.width, box->extent.height, box->extent.depth);
        print_operand(out, &box->dst, "dst");
        print_operand(out, &box->src, "src");
        if (box->src_access_order != VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM) {
            fputs(" order=", out);
            print_order(out, box->src_access_order);
        }
        if (box->flags)
            fprintf(out, " flags=0x%x", box->flags);
    }
    fputs("}", out);
}

/* The fields that are not 0; of a union those that are used. */
static void print_struct(FILE *out, const struct vmm_shape *shape, const void *at, const struct step_names *names)
{
    const char *between = "{";
    char where[VALUE_ROOM];
    if (shape == vmm_shape(VMM_SHAPE_mem_location)) {
        fputs(value_location_text(*(const vmm_mem_location *)at, where), out);
        return;
    }
    for (size_t i = 0; i < shape->count; i++) {
        const struct vmm_param *field = &shape->fields[i];
        uint64_t value = vmm_field_value(at, field);
        if (!value || !vmm_field_used(at, shape, field))
            continue;
        fprintf(out, "%s%s=", between, field->name);
        between = " ";
        if (field->kind == VMM_PARAM_ARRAY || field->kind == VMM_PARAM_HANDLE)
            print_named(out, field->kind == VMM_PARAM_ARRAY ? SYMBOL_ARRAY : SYMBOL_HANDLE, value, names);
        else if (field->kind == VMM_PARAM_INT)
            fprintf(out, "%d", (int)(int64_t)value);
        else
            fprintf(out, strstr(field->name, "flags") || strcmp(field->name, "mask") == 0 ? "0x%" PRIx64 : "%" PRIu64, value);
    }
    fputs(*between == '{' ? "{}" : "}", out);
}

static void print_structs(FILE *out, const struct vmm_shape *shape, const void *list, uint64_t count, const struct step_names *names)
{
    for (uint64_t i = 0; i < count && i < STEP_STRUCTS; i++) {
        fputs(i ? ", " : "{", out);
        print_struct(out, shape, (const char *)list + i * shape->size, names);
    }
    fputs(count ? "}" : "{}", out);
}

static void print_nodes(FILE *out, const vmm_graph_node *list, uint64_t count, const struct step_names *names)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_NODES; i++) {
        fputs(i ? ", " : "", out);
        print_named(out, SYMBOL_NODE, (uint64_t)(uintptr_t)list[i], names);
    }
    fputs("}", out);
}

static void print_edges(FILE *out, const vmm_graph_edge_data *list, uint64_t count)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_NODES; i++)
        fprintf(out, "%s0x%" PRIx64, i ? ", " : "", vmm_graph_edge_number(&list[i]));
    fputs("}", out);
}

static void print_fill_node(FILE *out, const vmm_memset_node_params *fill, const struct step_names *names)
{
    fputs("{", out);
    step_print_address(out, fill->dst, names);
    fprintf(out, ", 0x%x, %" PRIu64 " of %u bytes", fill->value, fill->width, fill->element_size);
    if (fill->height != 1)
        fprintf(out, " in %" PRIu64 " rows, pitch %" PRIu64, fill->height, fill->pitch);
    fputs("}", out);
}

static void print_kernel_node(FILE *out, const struct step *step, const struct step_names *names)
{
    const vmm_kernel_node_params *kernel = &step->kernel_node;
    const char *name = vmm_kernel_name(kernel->kernel);
    fputs("{", out);
    if (name)
        fputs(name, out);
    else
        fprintf(out, "%d", kernel->kernel);
    fprintf(out, ", %u, %u, ", kernel->grid_dim, kernel->block_dim);
    if (kernel->args)
        print_words(out, step->words, kernel->count, names);
    else
        fputs("NULL", out);
    fputs("}", out);
}

static void print_pointer(FILE *out, const struct step *step, size_t index, const struct vmm_param *params,
                          const struct step_names *names)
{
    const struct vmm_call *call = &step->call.head;
    uint64_t pointer = vmm_call_scalar(call, &params[index]);
    if (!pointer) {
        fputs("NULL", out);
        return;
    }
    char where[VALUE_ROOM];
    switch (params[index].kind) {
    case VMM_PARAM_PROP: step_print_prop(out, &step->prop); break;
    case VMM_PARAM_TEAM: print_team(out, &step->team); break;
    case VMM_PARAM_POOL_PROPS: print_pool_props(out, &step->pool_props); break;
    case VMM_PARAM_POOL_VALUE:
        fputs("&", out);
        print_pool_value(out, (int)vmm_call_scalar(call, &params[index - 1]), step->pool_value);
        break;
    case VMM_PARAM_POOL_POINTER:
    case VMM_PARAM_IPC_HANDLE: fputs("64 bytes", out); break;
    case VMM_PARAM_LOCATION: fprintf(out, "{%s}", value_location_text(step->location, where)); break;
    case VMM_PARAM_LOCATION_VALUE: {
        vmm_mem_location location;
        memcpy(&location, (const void *)(uintptr_t)pointer, sizeof location);
        fputs(value_location_text(location, where), out);
        break;
    }
    case VMM_PARAM_STRUCT: print_struct(out, vmm_shape(params[index].shape), (const void *)(uintptr_t)pointer, names); break;
    case VMM_PARAM_STRUCTS:
        print_structs(out, vmm_shape(params[index].shape), (const void *)(uintptr_t)pointer, vmm_structs_length(call, &params[index]),
                      names);
        break;
    case VMM_PARAM_DESCS: print_grants(out, step, step->grants, vmm_call_scalar(call, &params[index + 1])); break;
    case VMM_PARAM_ARGS: print_words(out, step->words, vmm_call_scalar(call, &params[index + 1]), names); break;
    case VMM_PARAM_MEM_OPS: print_mem_ops(out, step->mem_ops, vmm_call_scalar(call, &params[index - 1]), names); break;
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER: print_box(out, &step->box, names); break;
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
        print_batch(out, (const uint64_t *)(uintptr_t)pointer, vmm_batch_length(call, &params[index]),
                    params[index].kind == VMM_PARAM_ADDRESSES, names);
        break;
    case VMM_PARAM_COPY_ATTRIBUTES: print_copy_attributes(out, step->copy_attributes, vmm_batch_length(call, &params[index])); break;
    case VMM_PARAM_BOXES: print_boxes(out, step->boxes, vmm_batch_length(call, &params[index]), names); break;
    case VMM_PARAM_NODES: print_nodes(out, step->nodes[index & 1], step_list(step), names); break;
    case VMM_PARAM_EDGES: print_edges(out, step->edges, step_list(step)); break;
    case VMM_PARAM_FILL_NODE: print_fill_node(out, &step->fill_node, names); break;
    case VMM_PARAM_HOST_NODE: fputs(step->host_node.fn ? "{nothing}" : "{NULL}", out); break;
    case VMM_PARAM_KERNEL_NODE: print_kernel_node(out, step, names); break;
    case VMM_PARAM_ATTRIBUTES: print_attributes(out, step->attributes, vmm_call_scalar(call, &params[0])); break;
    default: fputs(params[index].name, out); break;
    }
}

/* By its name; which number one without has that was made here means nothing, nor does that of a fabric handle. */
static void print_descriptor(FILE *out, const struct step *step, uint64_t value, const struct step_names *names)
{
    static const unsigned char no_fabric[VMM_FABRIC_HANDLE_SIZE];
    const struct symbol *symbol = names->symbols ? symbols_named(names->symbols, SYMBOL_DESCRIPTOR, value) : NULL;
    if (symbol)
        fputs(symbol->name, out);
    else if (memcmp(step->fabric, no_fabric, sizeof no_fabric) != 0)
        fputs("64 bytes", out);
    else if (descriptors_have(names->open, value))
        fputs("a descriptor", out);
    else
        fprintf(out, "%" PRId64, (int64_t)value);
}

static void print_param(FILE *out, const struct step *step, const struct vmm_param *params, size_t index,
                        const struct step_names *names)
{
    const struct vmm_param *param = &params[index];
    uint64_t value = vmm_call_scalar(&step->call.head, param);
    char size[TEXT_SIZE_ROOM];
    switch (param->kind) {
    case VMM_PARAM_INT: print_enumerator(out, step->call.head.id, param->name, (int)(int64_t)value); break;
    case VMM_PARAM_U32: fprintf(out, value > 9 && !strstr(param->name, "_dim") ? "0x%" PRIx64 : "%" PRIu64, value); break;
    case VMM_PARAM_U64:
    case VMM_PARAM_COUNT: fprintf(out, "%" PRIu64, value); break;
    case VMM_PARAM_SIZE:
        /* Of a 16- or 32-bit fill it counts elements, so a unit of bytes would mislead. */
        if (strcmp(param->name, "n") == 0 && value != UINT64_MAX)
            fprintf(out, "%" PRIu64, value);
        else
            fputs(text_size(value, size), out);
        break;
    case VMM_PARAM_ADDRESS: step_print_address(out, value, names); break;
    case VMM_PARAM_HANDLE: print_named(out, SYMBOL_HANDLE, value, names); break;
    case VMM_PARAM_CONTEXT: print_named(out, SYMBOL_CONTEXT, value, names); break;
    case VMM_PARAM_STREAM: print_named(out, SYMBOL_STREAM, value, names); break;
    case VMM_PARAM_EVENT: print_named(out, SYMBOL_EVENT, value, names); break;
    case VMM_PARAM_POOL: print_named(out, SYMBOL_POOL, value, names); break;
    case VMM_PARAM_ARRAY: print_named(out, SYMBOL_ARRAY, value, names); break;
    case VMM_PARAM_GRAPH: print_named(out, SYMBOL_GRAPH, value, names); break;
    case VMM_PARAM_GRAPH_NODE: print_named(out, SYMBOL_NODE, value, names); break;
    case VMM_PARAM_GRAPH_EXEC: print_named(out, SYMBOL_EXEC, value, names); break;
    case VMM_PARAM_USER_OBJECT: print_named(out, SYMBOL_OBJECT, value, names); break;
    case VMM_PARAM_FD: print_descriptor(out, step, value, names); break;
    default:
        if (step_is_out(param->kind))
            print_out(out, step, param, value);
        else
            print_pointer(out, step, index, params, names);
        break;
    }
}

void step_print_call(FILE *out, const struct step *step, const struct step_names *names)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call.head.id, &count);
    fprintf(out, "%s(", vmm_call_driver_name(step->call.head.id));
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        print_param(out, step, params, i, names);
    }
    fputs(")", out);
}

/* The types that attributes are written as; see vmm.h beside each attribute. */
static void print_attribute(FILE *out, int attribute, const union step_out *data, const struct step_names *names)
{
    char size[TEXT_SIZE_ROOM];
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_CONTEXT: print_named(out, SYMBOL_CONTEXT, data->u64, names); break;
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER:
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: step_print_address(out, data->u64, names); break;
    case VMM_POINTER_ATTRIBUTE_RANGE_SIZE:
    case VMM_POINTER_ATTRIBUTE_MAPPING_SIZE: fputs(text_size(data->u64, size), out); break;
    case VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL: fprintf(out, "%d", data->i); break;
    case VMM_POINTER_ATTRIBUTE_BUFFER_ID:
    case VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        fputs(data->u64 ? "an id" : "0", out); /* the number itself means nothing and differs between machines */
        break;
    default: fprintf(out, "%" PRIu64, data->u64); break;
    }
}

/* Nodes without a name have values that mean nothing. */
static void print_listed(FILE *out, const vmm_graph_node *list, uint64_t count, const struct step_names *names)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < STEP_NODES; i++) {
        const uint64_t value = (uint64_t)(uintptr_t)list[i];
        fputs(i ? ", " : "", out);
        if (names->symbols && symbols_named(names->symbols, SYMBOL_NODE, value))
            print_named(out, SYMBOL_NODE, value, names);
        else
            fputs("a node", out);
    }
    fputs("}", out);
}

/* Outputs of calls of graphs. Of a stream that is not captured only the status is written. */
static void print_graph_answer(FILE *out, const struct step *step, const struct vmm_param *param, const union step_out *value,
                               const struct step_names *names)
{
    const bool captured = step->call.head.id != VMM_CALL_stream_get_capture_info ||
                          *step->call.stream_get_capture_info.capture_status_out == VMM_STREAM_CAPTURE_STATUS_ACTIVE;
    const uint64_t count = step_written(step);
    const void *room = (const void *)(uintptr_t)vmm_call_scalar(&step->call.head, param);
    if (!captured)
        return;
    fprintf(out, ", %s = ", param->name);
    switch (param->kind) {
    case VMM_PARAM_OUT_NODES: print_listed(out, room, count, names); break;
    case VMM_PARAM_OUT_NODES_AT: print_listed(out, value->nodes, value->nodes ? count : 0, names); break;
    case VMM_PARAM_OUT_EDGES: print_edges(out, room, count); break;
    case VMM_PARAM_OUT_EDGES_AT: print_edges(out, value->edges, value->edges ? count : 0); break;
    case VMM_PARAM_OUT_ID: fputs("an id", out); break;
    case VMM_PARAM_OUT_UPDATE: fprintf(out, "{%d}", step->update.result); break; /* of a success, which names no node */
    case VMM_PARAM_OUT_FILL_NODE: print_fill_node(out, &step->fill_node, names); break;
    default: fputs("{a function}", out); break;
    }
}

static void print_answer(FILE *out, const struct step *step, const struct vmm_param *params, size_t index,
                         const struct step_names *names)
{
    const struct vmm_param *param = &params[index];
    const union step_out *value = &step->out[index];
    char buffer[TEXT_SIZE_ROOM + VALUE_ROOM];
    switch (param->kind) {
    case VMM_PARAM_OUT_INT: fprintf(out, ", %s = %d", param->name, value->i); break;
    case VMM_PARAM_OUT_FD: /* the number means nothing; of a range its end is its length */
        if (step->call.head.id != VMM_CALL_mem_get_handle_for_address_range)
            break;
        fprintf(out, ", %s = a descriptor of %s", param->name,
                text_size((uint64_t)lseek(value->i, 0, SEEK_END), buffer));
        break;
    case VMM_PARAM_OUT_U64: fprintf(out, ", %s = %s", param->name, value_rights_text(value->u64, buffer)); break;
    case VMM_PARAM_OUT_POOL_VALUE:
        fprintf(out, ", %s = ", param->name);
        print_pool_value(out, (int)vmm_call_scalar(&step->call.head, &params[index - 1]), value->u64);
        break;
    case VMM_PARAM_OUT_SIZE:
        if (step->call.head.id != VMM_CALL_stream_get_capture_info) /* which lists them */
            fprintf(out, ", %s = %s", param->name, text_size(value->u64, buffer));
        break;
    case VMM_PARAM_IO_COUNT: fprintf(out, ", %s = %" PRIu64, param->name, value->u64); break;
    case VMM_PARAM_IO_INT: fprintf(out, ", %s = %d", param->name, value->i); break;
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_EDGES:
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT:
    case VMM_PARAM_OUT_ID:
    case VMM_PARAM_OUT_UPDATE:
    case VMM_PARAM_OUT_FILL_NODE:
    case VMM_PARAM_OUT_HOST_NODE: print_graph_answer(out, step, param, value, names); break;
    case VMM_PARAM_OUT_TEXT: fprintf(out, ", %s = \"%s\"", param->name, step->text); break;
    case VMM_PARAM_OUT_PROP:
        fprintf(out, ", %s = ", param->name);
        step_print_prop(out, &step->prop);
        break;
    case VMM_PARAM_OUT_STRUCT:
        fprintf(out, ", %s = ", param->name);
        print_struct(out, vmm_shape(param->shape), step->structure, names);
        break;
    case VMM_PARAM_OUT_RANGE:
        fprintf(out, ", %s =", param->name);
        for (uint64_t i = 0; i < step->call.mem_range_get_attribute.data_size / sizeof(int) && i < STEP_RANGE; i++)
            fprintf(out, " %d", step->range[i]);
        break;
    case VMM_PARAM_OUT_MEMCPY3D:
        fprintf(out, ", %s = ", param->name);
        print_box(out, &step->box, names);
        break;
    case VMM_PARAM_OUT_ADDRESS:
        if (step->call.head.id == VMM_CALL_mem_get_address_range) {
            fprintf(out, ", %s = ", param->name);
            step_print_address(out, value->u64, names);
        }
        break;
    case VMM_PARAM_OUT_POOL:
        if (step->call.head.id != VMM_CALL_mem_pool_create && step->call.head.id != VMM_CALL_mem_pool_import_from_shareable_handle) {
            fprintf(out, ", %s = ", param->name);
            print_named(out, SYMBOL_POOL, value->u64, names);
        }
        break;
    case VMM_PARAM_OUT_CONTEXT:
        if (step->call.head.id == VMM_CALL_ctx_get_current) {
            fprintf(out, ", %s = ", param->name);
            print_named(out, SYMBOL_CONTEXT, value->u64, names);
        }
        break;
    case VMM_PARAM_OUT_ATTRIBUTE:
        fprintf(out, ", %s = ", param->name);
        print_attribute(out, (int)(int64_t)vmm_call_scalar(&step->call.head, &params[index + 1]), value, names);
        break;
    default: break;
    }
}

void step_print_answers(FILE *out, const struct step *step, const struct step_names *names)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call.head.id, &count);
    for (size_t i = 0; i < count; i++)
        if (step_is_out(params[i].kind) && vmm_call_scalar(&step->call.head, &params[i]))
            print_answer(out, step, params, i, names);
    if (step->call.head.id != VMM_CALL_pointer_get_attributes)
        return;
    for (unsigned i = 0; i < step->call.pointer_get_attributes.num_attributes && i < STEP_ATTRIBUTES; i++) {
        const char *name = step_attribute_name(step->attributes[i]);
        fprintf(out, ", %s = ", name ? name : "?");
        print_attribute(out, step->attributes[i], &step->data[i], names);
    }
}
