/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of call_structs.def as C literals in the spelling of either interface. See program_state.h. */
#include <inttypes.h>

#include "program_state.h"

static const char *const types[VMM_SHAPE_COUNT][PROGRAM_APIS] = {
#define CALL_SHAPE(shape, theirs) [VMM_SHAPE_##shape] = {"vmm_" #shape, #theirs},
#include "call_structs.def"
};

/* The fields of all shapes, one after the other. */
static const struct {
    unsigned shape;
    const char *spelled[PROGRAM_APIS];
} members[] = {
#define CALL_SHAPE_FIELD(shape, kind, key, ours, theirs) {VMM_SHAPE_##shape, {#ours, #theirs}},
#include "call_structs.def"
};

static const char *spelled(unsigned shape, size_t field, enum program_api api)
{
    size_t first = 0;
    while (members[first].shape != shape)
        first++;
    return members[first + field].spelled[api];
}

const char *program_shape_type(unsigned shape, enum program_api api)
{
    return types[shape][api];
}

/* {.member = 0}, for an output. */
void program_shape_room(struct text *out, unsigned shape, enum program_api api)
{
    text_add(out, "&(%s){.%s = 0}", types[shape][api], spelled(shape, 0, api));
}

static void add_field(struct program *program, struct script *script, const void *at, unsigned shape, size_t index,
                      struct text out[PROGRAM_APIS])
{
    const struct vmm_param *field = &vmm_shape(shape)->fields[index];
    const uint64_t value = vmm_field_value(at, field);
    const bool array = field->kind == VMM_PARAM_ARRAY;
    const bool mipmapped = array && ((const vmm_array_map_info *)at)->resource_type == VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&out[api], ".%s = ", mipmapped ? "resource.mipmap" : spelled(shape, index, (enum program_api)api));
    if (array) {
        program_object(program, field, mipmapped ? PROGRAM_MIPMAPPED : PROGRAM_ARRAY, value, out);
        return;
    }
    if (field->kind == VMM_PARAM_INT) {
        for (int api = 0; api < PROGRAM_APIS; api++)
            text_add(&out[api], "%d", (int)(int64_t)value);
        return;
    }
    struct text made = {0};
    program_number(program, script, field, value, &made);
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&out[api], "%s", made.data);
    text_free(&made);
}

/* The fields that are not 0; of a union those that are used. */
static void add_structure(struct program *program, struct script *script, const void *at, unsigned shape, struct text out[PROGRAM_APIS])
{
    const struct vmm_shape *of = vmm_shape(shape);
    const char *between = "{";
    for (size_t i = 0; i < of->count; i++) {
        const bool first = *between == '{' && i + 1 == of->count; /* at least one field is written */
        if ((!vmm_field_value(at, &of->fields[i]) || !vmm_field_used(at, of, &of->fields[i])) && !first)
            continue;
        for (int api = 0; api < PROGRAM_APIS; api++)
            text_add(&out[api], "%s", between);
        between = ", ";
        add_field(program, script, at, shape, i, out);
    }
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&out[api], "}");
}

void program_structs(struct program *program, struct script *script, const struct vmm_param *param, struct text out[PROGRAM_APIS])
{
    const struct step *step = &script->step;
    const size_t size = vmm_shape(param->shape)->size;
    const bool list = param->kind == VMM_PARAM_STRUCTS;
    const uint64_t count = list ? vmm_structs_length(&step->call.head, param) : 1;
    const char *at = (const char *)(list ? step->structs : step->structure);
    for (int api = 0; api < PROGRAM_APIS; api++)
        text_add(&out[api], list ? "(%s[]){" : "&(%s)", types[param->shape][api]);
    for (uint64_t i = 0; i < STEP_STRUCTS && (i < count || i == 0); i++) {
        for (int api = 0; list && api < PROGRAM_APIS; api++)
            text_add(&out[api], i ? ", " : "");
        add_structure(program, script, at + i * size, param->shape, out);
    }
    for (int api = 0; list && api < PROGRAM_APIS; api++)
        text_add(&out[api], "}");
}
