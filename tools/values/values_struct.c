/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of call_structs.def, in words and back: {KEY=VALUE ...}. */
#include <inttypes.h>
#include <string.h>

#include "step.h"
#include "values.h"

/* The field with that name; NULL: there is none. */
static const struct vmm_param *field_named(const struct vmm_shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->count; i++)
        if (strcmp(shape->fields[i].name, name) == 0)
            return &shape->fields[i];
    return NULL;
}

static bool field_of(const struct value_env *env, const struct word *word, const struct vmm_shape *shape, void *out,
                     struct words_error *error)
{
    const struct vmm_param *field = word->key ? field_named(shape, word->key) : NULL;
    uint64_t value = 0;
    int number = 0;
    if (!field)
        return value_fail(error, word, 0, "\"%.40s\" is not a field; %s=1 would be one", word->key ? word->key : word->text,
                          shape->fields[0].name);
    if (field->kind == VMM_PARAM_INT ? !value_int(env, word, &number, error) : !value_number(env, word, &value, error))
        return false;
    if (field->kind == VMM_PARAM_INT)
        value = (uint64_t)(int64_t)number;
    else if (field->size < sizeof value && value >> 8 * field->size)
        return value_fail(error, word, 0, "%s has %d bits", field->name, 8 * field->size);
    vmm_field_set(out, field, value);
    return true;
}

bool value_struct(const struct value_env *env, const struct word *word, const struct vmm_shape *shape, void *out,
                  struct words_error *error)
{
    struct words inside;
    if (!value_inside(word, &inside, error))
        return false;
    for (size_t i = 0; i < inside.count; i++)
        if (!field_of(env, &inside.word[i], shape, out, error))
            return false;
    return true;
}

/* In a list the word `next` stands between two structures. */
bool value_structs(const struct value_env *env, const struct word *word, const struct vmm_shape *shape, void *out, size_t max,
                   size_t *count, struct words_error *error)
{
    struct words inside;
    *count = 0;
    if (!value_inside(word, &inside, error))
        return false;
    for (size_t i = 0; i < inside.count; i++) {
        const bool next = !inside.word[i].key && strcmp(inside.word[i].text, "next") == 0;
        if (i == 0 || next) {
            if (*count == max)
                return value_fail(error, word, 0, "more than %zu of them; the script can hold that many", max);
            memset((char *)out + *count * shape->size, 0, shape->size);
            ++*count;
        }
        if (!next && !field_of(env, &inside.word[i], shape, (char *)out + (*count - 1) * shape->size, error))
            return false;
    }
    return true;
}
