/* SPDX-License-Identifier: Apache-2.0 */
/* A trace's call in the driver's spelling, with the trace's names for values, as step_print.c writes one that is made. */
#ifdef CUVMM_HAVE_JANSSON
#include "timeline_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "step.h"
#include "values.h"

static bool hex_of(json_t *json, uint64_t *value)
{
    *value = 0;
    return trace_line_hex(json_string_value(json), value);
}

/* "R1+0x200000" -> R1+2MiB. */
static void print_name(FILE *out, const char *name)
{
    char size[TEXT_SIZE_ROOM];
    const char *plus = strchr(name, '+');
    uint64_t offset;
    if (plus && trace_line_hex(plus + 1, &offset))
        fprintf(out, "%.*s+%s", (int)(plus - name), name, text_size(offset, size));
    else
        fputs(name, out);
}

static void print_value(FILE *out, json_t *json)
{
    if (json_is_integer(json))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
    else if (json_is_string(json))
        fputs(strcmp(json_string_value(json), "0x0") == 0 ? "0" : json_string_value(json), out);
    else
        fputs(json_is_null(json) ? "NULL" : "?", out);
}

static int int_of(json_t *json, const char *key)
{
    return (int)json_integer_value(json_object_get(json, key));
}

static void print_prop(FILE *out, json_t *json)
{
    vmm_mem_allocation_prop prop = {.type = int_of(json, "type"),
                                    .requested_handle_types = int_of(json, "requested_handle_types"),
                                    .location = timeline_location(json_object_get(json, "location"))};
    prop.alloc_flags.compression_type = (unsigned char)int_of(json, "compression_type");
    prop.alloc_flags.gpu_direct_rdma_capable = (unsigned char)int_of(json, "gpu_direct_rdma_capable");
    prop.alloc_flags.usage = (unsigned short)int_of(json, "usage");
    step_print_prop(out, &prop);
}

static void print_team(FILE *out, json_t *json)
{
    char text[TEXT_SIZE_ROOM];
    uint64_t size, devices;
    hex_of(json_object_get(json, "size"), &size);
    hex_of(json_object_get(json, "num_devices"), &devices);
    fprintf(out, "{%" PRIu64 " devices, %s}", devices, text_size(size, text));
}

static void print_grants(FILE *out, json_t *list)
{
    char where[VALUE_ROOM], what[VALUE_ROOM];
    fputs("{", out);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *grant = json_array_get(list, i);
        int flags = int_of(grant, "flags");
        fprintf(out, "%s%s:%s", i ? ", " : "",
                value_location_text(timeline_location(json_object_get(grant, "location")), where),
                flags >= 0 ? value_rights_text((uint64_t)flags, what) : "?");
    }
    fputs("}", out);
}

static void print_mem_ops(FILE *out, json_t *list)
{
    fputs("{", out);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *op = json_array_get(list, i);
        const char *name = value_mem_op_name(int_of(op, "operation"));
        static const char *const fields[] = {"address", "value", "flags"};
        fputs(i ? ", " : "", out);
        if (name)
            fputs(name, out);
        else
            fprintf(out, "%d", int_of(op, "operation"));
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
            if (json_object_get(op, fields[f])) {
                fputs(" ", out);
                print_value(out, json_object_get(op, fields[f]));
            }
    }
    fputs("}", out);
}

static void print_list(FILE *out, json_t *list, bool attributes)
{
    fputs("{", out);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *one = json_array_get(list, i);
        const char *name = attributes ? step_attribute_name((int)json_integer_value(one)) : NULL;
        fputs(i ? ", " : "", out);
        if (name)
            fputs(name, out);
        else
            print_value(out, one);
    }
    fputs("}", out);
}

/* {width=512 height=512} */
static void print_struct(FILE *out, json_t *json)
{
    const char *key, *between = "{";
    json_t *value;
    json_object_foreach (json, key, value) {
        fprintf(out, "%s%s=", between, key);
        print_value(out, value);
        between = " ";
    }
    fputs(*between == '{' ? "{}" : "}", out);
}

static void print_structs(FILE *out, json_t *list)
{
    fputs("{", out);
    for (size_t i = 0; i < json_array_size(list); i++) {
        fputs(i ? " " : "", out);
        print_struct(out, json_array_get(list, i));
    }
    fputs("}", out);
}

static void print_size(FILE *out, json_t *json, bool elements)
{
    char text[TEXT_SIZE_ROOM];
    uint64_t size;
    if (!hex_of(json, &size))
        print_value(out, json);
    else if (elements)
        fprintf(out, "%" PRIu64, size);
    else
        fputs(text_size(size, text), out);
}

/* Kinds of handles are a set of bits where memory is made, and one of them where it is exported. */
static const char *handle_type_name(enum vmm_call_id id, int type)
{
    if (id == VMM_CALL_mem_get_handle_for_address_range)
        return type == 1 ? "DMA_BUF_FD" : NULL;
    return type == 1 ? "POSIX_FILE_DESCRIPTOR" : type == 2 ? "WIN32" : type == 4 ? "WIN32_KMT" : type == 8 ? "FABRIC" : NULL;
}

static void print_int(FILE *out, enum vmm_call_id id, const char *param, json_t *json)
{
    const int value = (int)json_integer_value(json);
    const char *name = strcmp(param, "handle_type") == 0 ? handle_type_name(id, value) : step_enumerator_name(id, param, value);
    if (name)
        fputs(name, out);
    else
        print_value(out, json);
}

static void print_number(FILE *out, json_t *json)
{
    uint64_t value;
    if (hex_of(json, &value) && value <= UINT16_MAX)
        fprintf(out, "%" PRIu64, value);
    else
        print_value(out, json);
}

static void print_param(FILE *out, enum vmm_call_id id, const struct vmm_param *param, json_t *json, const char *name)
{
    char where[VALUE_ROOM];
    if (name) {
        fputs(param->kind >= VMM_PARAM_OUT_INT ? "&" : "", out);
        print_name(out, name);
        return;
    }
    if (!json || json_is_null(json)) {
        print_value(out, json);
        return;
    }
    switch (param->kind) {
    case VMM_PARAM_INT: print_int(out, id, param->name, json); break;
    case VMM_PARAM_U32:
    case VMM_PARAM_U64:
    case VMM_PARAM_COUNT: print_number(out, json); break;
    /* Of a 16- or 32-bit fill it counts elements, so a unit of bytes would mislead. */
    case VMM_PARAM_SIZE: print_size(out, json, strcmp(param->name, "n") == 0); break;
    case VMM_PARAM_PROP: print_prop(out, json); break;
    case VMM_PARAM_TEAM: print_team(out, json); break;
    case VMM_PARAM_LOCATION: fprintf(out, "{%s}", value_location_text(timeline_location(json), where)); break;
    case VMM_PARAM_LOCATION_VALUE: fputs(value_location_text(timeline_location(json), where), out); break;
    case VMM_PARAM_STRUCT: print_struct(out, json); break;
    case VMM_PARAM_STRUCTS: print_structs(out, json); break;
    case VMM_PARAM_DESCS: print_grants(out, json); break;
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
    case VMM_PARAM_NODES:
    case VMM_PARAM_EDGES:
    case VMM_PARAM_ARGS: print_list(out, json, false); break;
    case VMM_PARAM_ATTRIBUTES: print_list(out, json, true); break;
    case VMM_PARAM_MEM_OPS: print_mem_ops(out, json); break;
    case VMM_PARAM_FD: /* "fd" or what else the trace says of it */
    case VMM_PARAM_ADDRESS:
    case VMM_PARAM_HANDLE:
    case VMM_PARAM_CONTEXT:
    case VMM_PARAM_STREAM:
    case VMM_PARAM_ARRAY:
    case VMM_PARAM_GRAPH:
    case VMM_PARAM_GRAPH_NODE:
    case VMM_PARAM_GRAPH_EXEC:
    case VMM_PARAM_USER_OBJECT:
    case VMM_PARAM_EVENT: print_value(out, json); break;
    case VMM_PARAM_OUT_BYTES:
    case VMM_PARAM_OUT_TEXT:
    case VMM_PARAM_OUT_ATTRIBUTES: fputs(param->name, out); break;
    default: fprintf(out, "%s%s", param->kind >= VMM_PARAM_OUT_INT ? "&" : "", param->name);
    }
}

void timeline_print_call(struct timeline_reader *r)
{
    FILE *out = r->words;
    fprintf(out, "%s(", vmm_call_driver_name(r->call->id));
    for (size_t i = 0; i < r->at.count; i++) {
        const struct vmm_param *param = &r->at.params[i];
        fputs(i ? ", " : "", out);
        print_param(out, r->call->id, param, json_object_get(r->at.args, param->name),
                    json_string_value(json_object_get(r->at.names, param->name)));
    }
    fputs(")", out);
}

static void print_answer(FILE *out, const struct timeline_reader *r, const struct vmm_param *param, json_t *json)
{
    char text[VALUE_ROOM];
    uint64_t value;
    const char *name = json_string_value(json_object_get(r->at.names, param->name));
    if (name) {
        print_name(out, name);
        return;
    }
    switch (param->kind) {
    case VMM_PARAM_OUT_SIZE: print_size(out, json, false); break;
    case VMM_PARAM_OUT_PROP: print_prop(out, json); break;
    case VMM_PARAM_OUT_MEMCPY3D: fputs("a box", out); break;
    case VMM_PARAM_OUT_STRUCT: print_struct(out, json); break;
    case VMM_PARAM_OUT_RANGE: print_list(out, json, false); break;
    case VMM_PARAM_OUT_UPDATE: fputs("how it ended", out); break;
    case VMM_PARAM_OUT_FILL_NODE: fputs("a fill", out); break;
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_EDGES:
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT:
    case VMM_PARAM_OUT_TEXT: fprintf(out, "\"%s\"", json_is_string(json) ? json_string_value(json) : "?"); break;
    case VMM_PARAM_OUT_ATTRIBUTES: print_list(out, json, false); break;
    case VMM_PARAM_OUT_U64: /* rights; no other call has one */
        fputs(hex_of(json, &value) ? value_rights_text(value, text) : "?", out);
        break;
    case VMM_PARAM_OUT_FD: fputs("a descriptor", out); break;
    default: print_value(out, json);
    }
}

void timeline_print_answers(struct timeline_reader *r)
{
    bool any = false;
    for (size_t i = 0; i < r->at.count; i++) {
        const struct vmm_param *param = &r->at.params[i];
        json_t *json = json_object_get(r->at.out, param->name);
        if (!json || param->kind == VMM_PARAM_OUT_BYTES)
            continue;
        fprintf(r->words, "%s%s = ", any ? ", " : "", param->name);
        print_answer(r->words, r, param, json);
        any = true;
    }
}

#else
typedef int timeline_words_needs_jansson;
#endif
