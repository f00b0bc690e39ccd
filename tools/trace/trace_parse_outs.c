/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of a line. See trace_parse.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "trace_parse.h"

#include <string.h>

#include "trace.h"
#include "trace_record.h"
#include "trace_value.h"

static void *pointer_of(const struct parsing *p, const struct vmm_param *param)
{
    return (void *)(uintptr_t)vmm_call_scalar(&p->room->call.head, param);
}

/* The value of an attribute of that size: an integer of 4 bytes, a hex string of 8, or neither. */
static bool parse_sized(struct parsing *p, const char *key, json_t *json, size_t size, void *to)
{
    uint64_t wide;
    if (size == sizeof wide) {
        if (!parse_hex(p, key, json, &wide))
            return false;
        memcpy(to, &wide, sizeof wide);
    } else if (size) {
        const json_int_t number = json_integer_value(json);
        const uint32_t narrow = (uint32_t)(int32_t)number;
        if (!json_is_integer(json) || number < INT32_MIN || number > INT32_MAX)
            return parse_malformed(p, key, "%s is not a 32-bit integer", key);
        memcpy(to, &narrow, sizeof narrow);
    }
    return true;
}

static bool parse_attributes(struct parsing *p, const struct vmm_param *param, json_t *json)
{
    void *const *data = pointer_of(p, param);
    const vmm_pointer_attribute *attribute = (const vmm_pointer_attribute *)(uintptr_t)trace_length(&p->room->call.head, "attributes");
    const uint64_t count = attribute ? trace_length(&p->room->call.head, "num_attributes") : 0;
    if (!parse_list(p, param->name, json, count < TRACE_LIST_MAX ? count : TRACE_LIST_MAX))
        return false;
    for (size_t i = 0; i < json_array_size(json); i++)
        if (data[i] && !parse_sized(p, param->name, json_array_get(json, i), trace_attribute_size(attribute[i]), data[i]))
            return false;
    return true;
}

/* As many ints as the call requested. */
static bool parse_range(struct parsing *p, const struct vmm_param *param, json_t *json)
{
    int *range = pointer_of(p, param);
    const uint64_t count = trace_listed(&p->room->call.head, param);
    if (!parse_list(p, param->name, json, count < TRACE_LIST_MAX ? count : TRACE_LIST_MAX))
        return false;
    for (size_t i = 0; i < json_array_size(json); i++)
        if (!parse_int(p, param->name, json_array_get(json, i), &range[i]))
            return false;
    return true;
}

/* As many as were written, or as a line can have. */
static bool parse_nodes(struct parsing *p, const struct vmm_param *param, json_t *json, bool theirs)
{
    const uint64_t *length = vmm_list_length(&p->room->call.head);
    uint64_t *list = theirs ? trace_room_take(p->room, TRACE_LIST_MAX * sizeof *list) : pointer_of(p, param);
    const size_t count = json_array_size(json);
    if (!json_is_array(json) || count > TRACE_LIST_MAX)
        return parse_malformed(p, param->name, "%s is not a list of at most %d", param->name, TRACE_LIST_MAX);
    if (!list || (count && !length) || (length && (*length < TRACE_LIST_MAX ? *length : TRACE_LIST_MAX) != count))
        return parse_malformed(p, param->name, "%s does not have the length that the call wrote", param->name);
    if (theirs)
        memcpy(pointer_of(p, param), &list, sizeof list);
    return parse_words(p, param->name, json, list, count);
}

static bool parse_string(struct parsing *p, const struct vmm_param *param, json_t *json)
{
    const char *text = parse_text(p, json);
    if (!text)
        return parse_malformed(p, param->name, "%s is not a string", param->name);
    if (strlen(text) > TRACE_TEXT_MAX)
        return parse_malformed(p, param->name, "%s is too long for a trace", param->name);
    strcpy(pointer_of(p, param), text);
    return true;
}

static bool parse_update(struct parsing *p, const struct vmm_param *param, json_t *json)
{
    vmm_graph_exec_update_result_info *update = pointer_of(p, param);
    uint64_t node, from;
    if (!json_is_object(json))
        return parse_malformed(p, param->name, "%s is not the result of an update", param->name);
    if (!parse_int_of(p, json, "result", &update->result) || !parse_hex_of(p, json, "error_node", UINT64_MAX, &node) ||
        !parse_hex_of(p, json, "error_from_node", UINT64_MAX, &from))
        return false;
    update->error_node = (vmm_graph_node)(uintptr_t)node;
    update->error_from_node = (vmm_graph_node)(uintptr_t)from;
    return true;
}

static bool parse_number(struct parsing *p, const struct vmm_param *param, json_t *json)
{
    int number = 0;
    if (!json_is_integer(json))
        return parse_malformed(p, param->name, "%s is not an integer", param->name);
    if (!parse_int(p, param->name, json, &number))
        return false;
    memcpy(pointer_of(p, param), &number, sizeof number);
    return true;
}

/* Does a line have this output, if it was written? */
static bool is_held(const struct parsing *p, const struct vmm_param *param)
{
    const struct vmm_call *call = &p->room->call.head;
    if (param->kind == VMM_PARAM_OUT_ATTRIBUTE)
        return trace_attribute_size((vmm_pointer_attribute)trace_length(call, "attribute")) != 0;
    return trace_writes(call, param->kind);
}

static bool parse_output(struct parsing *p, const struct vmm_param *param, json_t *json)
{
    const struct vmm_call *call = &p->room->call.head;
    void *to = pointer_of(p, param);
    switch (param->kind) {
    case VMM_PARAM_OUT_INT:
    case VMM_PARAM_IO_INT: return parse_number(p, param, json);
    case VMM_PARAM_OUT_FD: /* its name says which one */
    case VMM_PARAM_OUT_IPC_HANDLE:
    case VMM_PARAM_OUT_POOL_POINTER:
    case VMM_PARAM_OUT_HOST_NODE: return true;
    case VMM_PARAM_OUT_POOL_VALUE:
        return parse_sized(p, param->name, json, vmm_pool_attribute_size((vmm_mem_pool_attribute)trace_length(call, "attr")), to);
    case VMM_PARAM_OUT_ATTRIBUTE:
        return parse_sized(p, param->name, json, trace_attribute_size((vmm_pointer_attribute)trace_length(call, "attribute")), to);
    case VMM_PARAM_OUT_ATTRIBUTES: return parse_attributes(p, param, json);
    case VMM_PARAM_OUT_TEXT: return parse_string(p, param, json);
    case VMM_PARAM_OUT_STRUCT: return parse_struct(p, param->name, json, vmm_shape(param->shape), to);
    case VMM_PARAM_OUT_RANGE: return parse_range(p, param, json);
    case VMM_PARAM_OUT_BYTES:
        return p->room->event.device || parse_bytes(p, param->name, json, to, !trace_is_async(call));
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_EDGES: return parse_nodes(p, param, json, false);
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT: return parse_nodes(p, param, json, true);
    case VMM_PARAM_OUT_PROP: return parse_prop(p, param->name, json, to);
    case VMM_PARAM_OUT_MEMCPY3D: return parse_box(p, param->name, json, to);
    case VMM_PARAM_OUT_FILL_NODE: return parse_fill_node(p, param->name, json, to);
    case VMM_PARAM_OUT_UPDATE: return parse_update(p, param, json);
    default: return parse_hex(p, param->name, json, to);
    }
}

/* The lengths of lists come from a later output. */
static bool is_list(const struct vmm_param *param)
{
    return param->kind == VMM_PARAM_OUT_NODES || param->kind == VMM_PARAM_OUT_EDGES || param->kind == VMM_PARAM_OUT_NODES_AT ||
           param->kind == VMM_PARAM_OUT_EDGES_AT;
}

/* Recordings omit results that depend on the machine; bytes at a device address that the arguments do not name are
 * unknown, too. */
static bool is_lacking(const struct parsing *p, const struct vmm_param *param, const json_t *json)
{
    return !json || (param->kind == VMM_PARAM_OUT_BYTES && !p->room->event.device && json_object_get(json, "device"));
}

static bool parse_some(struct parsing *p, bool lists)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct vmm_param *param = &p->params[i];
        json_t *json = json_object_get(p->out, param->name);
        if (!trace_is_out(param->kind) || is_list(param) != lists || !vmm_call_scalar(&p->room->call.head, param) || !is_held(p, param))
            continue;
        if (is_lacking(p, param, json))
            p->room->event.lacks = (uint16_t)(p->room->event.lacks | 1U << i);
        else if (!parse_output(p, param, json))
            return false;
    }
    return true;
}

bool parse_outputs(struct parsing *p)
{
    return parse_some(p, false) && parse_some(p, true);
}

#else
typedef int trace_parse_outs_needs_jansson;
#endif
