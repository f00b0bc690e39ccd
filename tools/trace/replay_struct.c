/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of call_structs.def in a trace: read, and compared with what a call answered. See replay_state.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "replay_state.h"

#include <inttypes.h>
#include <string.h>

static bool load_field(struct replay *r, json_t *json, const struct vmm_param *field, void *at)
{
    uint64_t value = 0;
    if (!json)
        return true; /* 0, or of a union not used */
    if (field->kind == VMM_PARAM_INT) {
        json_int_t number = json_integer_value(json);
        if (!json_is_integer(json) || number < INT32_MIN || number > INT32_MAX)
            return replay_malformed(r, field->name, "%s is not a 32-bit integer", field->name);
        value = (uint64_t)number;
    } else if (!replay_hex(r, field->name, json, &value)) {
        return false;
    }
    if (field->size < sizeof value && field->kind != VMM_PARAM_INT && value >> 8 * field->size)
        return replay_malformed(r, field->name, "%s does not fit into %d bytes", field->name, field->size);
    if (field->kind == VMM_PARAM_ARRAY || field->kind == VMM_PARAM_HANDLE)
        value = replay_translate(r, value);
    vmm_field_set(at, field, value);
    return true;
}

bool replay_struct(struct replay *r, const char *key, json_t *json, const struct vmm_shape *shape, void *at)
{
    memset(at, 0, shape->size);
    if (!json_is_object(json))
        return replay_malformed(r, key, "%s is not an object", key);
    for (size_t i = 0; i < shape->count; i++)
        if (!load_field(r, json_object_get(json, shape->fields[i].name), &shape->fields[i], at))
            return false;
    return true;
}

bool replay_structs(struct replay *r, const char *key, json_t *json, const struct vmm_shape *shape)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_STRUCTS)
        return replay_malformed(r, key, "%s is not a list of at most %d objects", key, STEP_STRUCTS);
    for (size_t i = 0; i < json_array_size(json); i++)
        if (!replay_struct(r, key, json_array_get(json, i), shape, (char *)r->step.structs + i * shape->size))
            return false;
    return true;
}

bool replay_compare_struct(struct replay *r, const struct vmm_param *param, json_t *json, struct text *difference)
{
    const struct vmm_shape *shape = vmm_shape(param->shape);
    uint64_t recorded[STEP_STRUCT_BYTES / 8];
    if (!replay_struct(r, param->name, json, shape, recorded))
        return false;
    for (size_t i = 0; i < shape->count; i++) {
        const struct vmm_param *field = &shape->fields[i];
        uint64_t then = vmm_field_value(recorded, field), now = vmm_field_value(r->step.structure, field);
        if (then != now)
            text_add(difference, "  %-12s recorded 0x%" PRIx64 "\n  %-12s replayed 0x%" PRIx64 "\n", field->name, then, "", now);
    }
    return true;
}

bool replay_compare_range(struct replay *r, const struct vmm_param *param, json_t *json, struct text *difference)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_RANGE)
        return replay_malformed(r, param->name, "%s is not a list of at most %d integers", param->name, STEP_RANGE);
    for (size_t i = 0; i < json_array_size(json); i++) {
        json_t *one = json_array_get(json, i);
        if (!json_is_integer(one))
            return replay_malformed(r, param->name, "%s holds what is not an integer", param->name);
        if (json_integer_value(one) != r->step.range[i])
            text_add(difference, "  %-12s recorded %" JSON_INTEGER_FORMAT "\n  %-12s replayed %d\n", param->name, json_integer_value(one), "",
                     r->step.range[i]);
    }
    return true;
}

#else
typedef int replay_struct_needs_jansson;
#endif
