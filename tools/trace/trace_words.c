/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_words.h"

#include <inttypes.h>
#include <string.h>

#include "step.h"
#include "text.h"
#include "trace.h"
#include "trace_record.h"
#include "trace_value.h"
#include "values.h"

/* ---- names ---- */

static bool is_descriptor(enum vmm_param_kind kind)
{
    return kind == VMM_PARAM_FD || kind == VMM_PARAM_OUT_FD || kind == VMM_PARAM_IPC_HANDLE || kind == VMM_PARAM_OUT_IPC_HANDLE;
}

static struct name name_of(const struct trace_event *event, const struct vmm_param *param, struct names *names)
{
    struct name name = {.kind = NAME_KINDS};
    uint64_t value = 0;
    if (is_descriptor(param->kind))
        return (struct name){event->descriptor ? NAME_DESCRIPTOR : NAME_KINDS, event->descriptor, 0, false};
    if (!trace_object(event, param, &value) || !names_find(names, param->kind, value, &name) || name.ended)
        name.kind = NAME_KINDS;
    return name;
}

void trace_name_params(struct trace_named *named, const struct trace_event *event, struct names *names, bool out)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)event->call->id, &count);
    for (size_t i = 0; i < count; i++)
        if (trace_is_out(params[i].kind) == out)
            named->param[i] = name_of(event, &params[i], names);
}

/* R1+2MiB. */
static void print_name(FILE *out, const struct name *name)
{
    char text[NAME_MAX_TEXT], size[TEXT_SIZE_ROOM];
    const struct name whole = {name->kind, name->number, 0, false};
    name_text(&whole, text);
    fputs(text, out);
    if (name->offset)
        fprintf(out, "+%s", text_size(name->offset, size));
}

/* ---- values ---- */

static void print_word(FILE *out, uint64_t value)
{
    fprintf(out, value ? "0x%" PRIx64 : "0", value);
}

static void print_number(FILE *out, uint64_t value)
{
    if (value <= UINT16_MAX)
        fprintf(out, "%" PRIu64, value);
    else
        print_word(out, value);
}

/* Handle types are a set of bits when memory is created, and a single one when it is exported. */
static const char *handle_type_name(enum vmm_call_id id, int type)
{
    if (id == VMM_CALL_mem_get_handle_for_address_range)
        return type == 1 ? "DMA_BUF_FD" : NULL;
    return type == 1 ? "POSIX_FILE_DESCRIPTOR" : type == 2 ? "WIN32" : type == 4 ? "WIN32_KMT" : type == 8 ? "FABRIC" : NULL;
}

static void print_int(FILE *out, enum vmm_call_id id, const char *param, int value)
{
    const char *name = strcmp(param, "handle_type") == 0 ? handle_type_name(id, value) : step_enumerator_name(id, param, value);
    if (name)
        fputs(name, out);
    else
        fprintf(out, "%d", value);
}

static void print_size(FILE *out, uint64_t size)
{
    char text[TEXT_SIZE_ROOM];
    fputs(text_size(size, text), out);
}

static void print_team(FILE *out, const vmm_multicast_object_prop *team)
{
    char text[TEXT_SIZE_ROOM];
    fprintf(out, "{%u devices, %s}", team->num_devices, text_size(team->size, text));
}

static void print_grant(FILE *out, const vmm_mem_access_desc *desc)
{
    char where[VALUE_ROOM], what[VALUE_ROOM];
    fprintf(out, "%s:%s", value_location_text(desc->location, where),
            desc->flags >= 0 ? value_rights_text((uint64_t)desc->flags, what) : "?");
}

static void print_mem_op(FILE *out, const vmm_stream_batch_mem_op_params *op)
{
    const char *name = value_mem_op_name(op->operation);
    const bool value = vmm_mem_op_has_value(op->operation);
    if (name)
        fputs(name, out);
    else
        fprintf(out, "%d", op->operation);
    if (value) {
        fputs(" ", out);
        print_word(out, op->wait_value.address);
        fputs(" ", out);
        print_word(out, op->wait_value.value64);
    }
    fputs(" ", out);
    print_word(out, value ? op->wait_value.flags : op->memory_barrier.flags);
}

static void print_attribute_name(FILE *out, int attribute)
{
    const char *name = step_attribute_name(attribute);
    if (name)
        fputs(name, out);
    else
        fprintf(out, "%d", attribute);
}

static void print_element(FILE *out, enum vmm_param_kind kind, const void *list, size_t i)
{
    switch (kind) {
    case VMM_PARAM_DESCS: print_grant(out, (const vmm_mem_access_desc *)list + i); break;
    case VMM_PARAM_MEM_OPS: print_mem_op(out, (const vmm_stream_batch_mem_op_params *)list + i); break;
    case VMM_PARAM_ATTRIBUTES: print_attribute_name(out, ((const int *)list)[i]); break;
    case VMM_PARAM_EDGES: print_word(out, vmm_graph_edge_number((const vmm_graph_edge_data *)list + i)); break;
    default: print_word(out, ((const uint64_t *)list)[i]);
    }
}

/* {width=512 height=512}: fields that are not 0, and the used field of a union. */
static void print_shape(FILE *out, const struct vmm_shape *shape, const void *structure)
{
    const char *between = "";
    char where[VALUE_ROOM];
    if (shape == vmm_shape(VMM_SHAPE_mem_location)) {
        fputs(value_location_text(*(const vmm_mem_location *)structure, where), out);
        return;
    }
    fputs("{", out);
    for (size_t i = 0; i < shape->count; i++) {
        const struct vmm_param *field = &shape->fields[i];
        const uint64_t value = vmm_field_value(structure, field);
        if (!value || !vmm_field_used(structure, shape, field))
            continue;
        fprintf(out, "%s%s=", between, field->name);
        if (field->kind == VMM_PARAM_INT)
            fprintf(out, "%d", (int)(int64_t)value);
        else
            print_number(out, value);
        between = " ";
    }
    fputs("}", out);
}

static void print_shapes(FILE *out, const struct vmm_shape *shape, const char *list, uint64_t count)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++) {
        fputs(i ? ", " : "", out);
        print_shape(out, shape, list + i * shape->size);
    }
    fputs("}", out);
}

static void print_list(FILE *out, enum vmm_param_kind kind, const void *list, uint64_t count)
{
    fputs("{", out);
    for (size_t i = 0; i < count && i < TRACE_LIST_MAX; i++) {
        fputs(i ? ", " : "", out);
        print_element(out, kind, list, i);
    }
    fputs("}", out);
}

/* ---- arguments ---- */

static void print_pointed(FILE *out, const struct trace_event *event, const struct vmm_param *param, const void *at)
{
    char where[VALUE_ROOM];
    switch (param->kind) {
    case VMM_PARAM_PROP: step_print_prop(out, at); break;
    case VMM_PARAM_TEAM: print_team(out, at); break;
    case VMM_PARAM_LOCATION: fprintf(out, "{%s}", value_location_text(*(const vmm_mem_location *)at, where)); break;
    case VMM_PARAM_LOCATION_VALUE: fputs(value_location_text(*(const vmm_mem_location *)at, where), out); break;
    case VMM_PARAM_STRUCT: print_shape(out, vmm_shape(param->shape), at); break;
    case VMM_PARAM_STRUCTS: print_shapes(out, vmm_shape(param->shape), at, trace_listed(event->call, param)); break;
    case VMM_PARAM_DESCS:
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
    case VMM_PARAM_NODES:
    case VMM_PARAM_EDGES:
    case VMM_PARAM_ARGS:
    case VMM_PARAM_ATTRIBUTES: print_list(out, param->kind, at, trace_listed(event->call, param)); break;
    case VMM_PARAM_MEM_OPS:
        print_list(out, param->kind, at, trace_listed(event->call, param) > TRACE_LIST_MAX ? 0 : trace_listed(event->call, param));
        break;
    case VMM_PARAM_FD: fputs(trace_is_fabric(event->call) ? "fabric" : event->closed ? "closed" : "fd", out); break;
    case VMM_PARAM_OUT_BYTES:
    case VMM_PARAM_OUT_TEXT:
    case VMM_PARAM_OUT_ATTRIBUTES: fputs(param->name, out); break;
    default: fprintf(out, "%s%s", trace_is_out(param->kind) ? "&" : "", param->name);
    }
}

static void print_param(FILE *out, const struct trace_event *event, const struct vmm_param *param, const struct name *name)
{
    const uint64_t value = vmm_call_scalar(event->call, param);
    if (name->kind != NAME_KINDS) {
        fputs(trace_is_out(param->kind) ? "&" : "", out);
        print_name(out, name);
        return;
    }
    switch (param->kind) {
    case VMM_PARAM_INT: print_int(out, (enum vmm_call_id)event->call->id, param->name, (int)(int64_t)value); break;
    case VMM_PARAM_U32:
    case VMM_PARAM_U64:
    case VMM_PARAM_COUNT: print_number(out, value); break;
    case VMM_PARAM_SIZE:
        /* For 16- and 32-bit fills it counts elements, so a unit of bytes would be misleading. */
        if (strcmp(param->name, "n") == 0)
            fprintf(out, "%" PRIu64, value);
        else
            print_size(out, value);
        break;
    default:
        if (param->kind < VMM_PARAM_PROP)
            print_word(out, value);
        else if (value)
            print_pointed(out, event, param, (const void *)(uintptr_t)value);
        else
            fputs("NULL", out);
    }
}

void trace_print_call(FILE *out, const struct trace_event *event, const struct trace_named *named)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)event->call->id, &count);
    fprintf(out, "%s(", vmm_call_driver_name((enum vmm_call_id)event->call->id));
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        print_param(out, event, &params[i], &named->param[i]);
    }
    fputs(")", out);
}

/* ---- answers ---- */

static uint64_t word_at(const void *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static int int_at(const void *at)
{
    int number;
    memcpy(&number, at, sizeof number);
    return number;
}

/* An attribute's value by its size; NULL if there is none, or one of another size. */
static void print_sized(FILE *out, size_t size, const void *at)
{
    if (size == sizeof(int))
        fprintf(out, "%d", int_at(at));
    else if (size)
        print_word(out, word_at(at));
    else
        fputs("NULL", out);
}

static void print_attributes(FILE *out, const struct vmm_call *call, void *const *data)
{
    const uint64_t count = trace_length(call, "num_attributes");
    const int *attribute = (const int *)(uintptr_t)trace_length(call, "attributes");
    fputs("{", out);
    for (uint64_t i = 0; attribute && i < count && i < TRACE_LIST_MAX; i++) {
        fputs(i ? ", " : "", out);
        print_sized(out, data[i] ? trace_attribute_size(attribute[i]) : 0, data[i]);
    }
    fputs("}", out);
}

static void print_their_list(FILE *out, const struct vmm_call *call, enum vmm_param_kind kind, const void *at)
{
    const uint64_t *length = vmm_list_length(call);
    const void *list;
    memcpy(&list, at, sizeof list);
    print_list(out, kind, list, length && list ? *length : 0);
}

static void print_range(FILE *out, const int *range, uint64_t count)
{
    fputs("{", out);
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        fprintf(out, "%s%d", i ? ", " : "", range[i]);
    fputs("}", out);
}

static size_t attribute_size(const struct trace_event *event, const struct vmm_param *param)
{
    return param->kind == VMM_PARAM_OUT_ATTRIBUTE ? trace_attribute_size((int)trace_length(event->call, "attribute"))
                                                  : vmm_pool_attribute_size((int)trace_length(event->call, "attr"));
}

static void print_answer(FILE *out, const struct trace_event *event, const struct vmm_param *param, const void *at)
{
    char text[VALUE_ROOM];
    switch (param->kind) {
    case VMM_PARAM_OUT_INT:
    case VMM_PARAM_IO_INT: fprintf(out, "%d", int_at(at)); break;
    case VMM_PARAM_OUT_SIZE: print_size(out, word_at(at)); break;
    case VMM_PARAM_OUT_PROP: step_print_prop(out, at); break;
    case VMM_PARAM_OUT_MEMCPY3D: fputs("a box", out); break;
    case VMM_PARAM_OUT_UPDATE: fputs("how it ended", out); break;
    case VMM_PARAM_OUT_FILL_NODE: fputs("a fill", out); break;
    case VMM_PARAM_OUT_HOST_NODE: fputs("host", out); break;
    case VMM_PARAM_OUT_NODES: print_list(out, VMM_PARAM_NODES, at, *vmm_list_length(event->call)); break;
    case VMM_PARAM_OUT_EDGES: print_list(out, VMM_PARAM_EDGES, at, *vmm_list_length(event->call)); break;
    case VMM_PARAM_OUT_NODES_AT: print_their_list(out, event->call, VMM_PARAM_NODES, at); break;
    case VMM_PARAM_OUT_EDGES_AT: print_their_list(out, event->call, VMM_PARAM_EDGES, at); break;
    case VMM_PARAM_OUT_STRUCT: print_shape(out, vmm_shape(param->shape), at); break;
    case VMM_PARAM_OUT_RANGE: print_range(out, at, trace_listed(event->call, param)); break;
    case VMM_PARAM_OUT_TEXT: fprintf(out, "\"%s\"", (const char *)at); break;
    case VMM_PARAM_OUT_ATTRIBUTES: print_attributes(out, event->call, at); break;
    case VMM_PARAM_OUT_ATTRIBUTE:
    case VMM_PARAM_OUT_POOL_VALUE: print_sized(out, attribute_size(event, param), at); break;
    /* access rights: the only call with such an output is cuMemGetAccess */
    case VMM_PARAM_OUT_U64: fputs(value_rights_text(word_at(at), text), out); break;
    case VMM_PARAM_OUT_FD: fputs("a descriptor", out); break;
    case VMM_PARAM_OUT_IPC_HANDLE: fputs("handle", out); break;
    case VMM_PARAM_OUT_POOL_POINTER: fputs("pointer", out); break;
    default: print_word(out, word_at(at));
    }
}

void trace_print_answers(FILE *out, const struct trace_event *event, const struct trace_named *named)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)event->call->id, &count);
    bool any = false;
    for (size_t i = 0; event->wrote && i < count; i++) {
        const void *at = (const void *)(uintptr_t)vmm_call_scalar(event->call, &params[i]);
        if (!trace_is_out(params[i].kind) || !at || event->lacks >> i & 1 || params[i].kind == VMM_PARAM_OUT_BYTES ||
            !trace_writes(event->call, params[i].kind) ||
            (params[i].kind == VMM_PARAM_OUT_ATTRIBUTE && !attribute_size(event, &params[i])))
            continue;
        fprintf(out, "%s%s = ", any ? ", " : "", params[i].name);
        if (named->param[i].kind != NAME_KINDS)
            print_name(out, &named->param[i]);
        else
            print_answer(out, event, &params[i], at);
        any = true;
    }
}
