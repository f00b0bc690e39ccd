/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a box, in words. */
#include <string.h>

#include "call.h"
#include "values.h"

static const char *const types[] = {NULL, "host", "device", "array", "unified"};

static bool type_of(const struct value_env *env, const struct word *word, vmm_memorytype *type, struct words_error *error)
{
    for (size_t i = 1; i < sizeof types / sizeof *types; i++)
        if (strcmp(word->text, types[i]) == 0) {
            *type = (vmm_memorytype)i;
            return true;
        }
    return value_int(env, word, type, error);
}

/* A size by its name; NULL when there is none. */
static size_t *size_named(const vmm_memcpy3d *box, const char *name)
{
    for (int i = 0; i < VMM_BOX_SIZES; i++)
        if (strcmp(vmm_box_sizes[i].name, name) == 0)
            return vmm_box_size_at(box, &vmm_box_sizes[i]);
    return NULL;
}

/* NAME=VALUE; contexts stand where a copy within one has nothing. */
static bool field_of(const struct value_env *env, const struct word *word, vmm_memcpy3d *box, struct words_error *error)
{
    size_t *size = word->key ? size_named(box, word->key) : NULL;
    bool to = word->key && strcmp(word->key, "dst_context") == 0;
    uint64_t value;
    if (word->key && strcmp(word->key, "src_memory_type") == 0)
        return type_of(env, word, &box->src_memory_type, error);
    if (word->key && strcmp(word->key, "dst_memory_type") == 0)
        return type_of(env, word, &box->dst_memory_type, error);
    if (!size && !to && !(word->key && strcmp(word->key, "src_context") == 0))
        return value_fail(error, word, 0, "\"%.40s\" is not a field of a copy; src_pitch=128 would be one",
                          word->key ? word->key : word->text);
    if (!value_number(env, word, &value, error))
        return false;
    if (size)
        *size = (size_t)value;
    else /* analysers: clang-analyzer-core.NullDereference is wrong: the box is the caller's */
        *(to ? &box->reserved1 : &box->reserved0) = (void *)(uintptr_t)value;
    return true;
}

/* What an array's name stands for is an array; all else is memory of a device. */
static vmm_memorytype memory_of(const struct value_env *env, const struct word *word)
{
    const struct symbol *symbol = symbols_find(env->symbols, word->text, strlen(word->text));
    return symbol && symbol->kind == SYMBOL_ARRAY ? VMM_MEMORYTYPE_ARRAY : VMM_MEMORYTYPE_DEVICE;
}

bool value_box(const struct value_env *env, const struct word *word, vmm_memcpy3d *out, struct words_error *error)
{
    static const char *const what[] = {"destination", "source", "width", "height", "depth"};
    enum { FIRST = sizeof what / sizeof *what };
    struct words inside;
    uint64_t value[FIRST];
    if (!value_inside(word, &inside, error))
        return false;
    for (size_t i = 0; i < FIRST; i++)
        if (i == inside.count)
            return value_fail(error, word, 0, "the list ends where the %s is expected", what[i]);
        else if (!value_number(env, &inside.word[i], &value[i], error))
            return false;
    *out = (vmm_memcpy3d){.src_memory_type = memory_of(env, &inside.word[1]), .dst_memory_type = memory_of(env, &inside.word[0]),
                          .width_in_bytes = value[2], .height = value[3], .depth = value[4]};
    for (size_t i = FIRST; i < inside.count; i++)
        if (!field_of(env, &inside.word[i], out, error))
            return false;
    out->dst_host = (void *)(uintptr_t)value[0];
    out->src_host = (const void *)(uintptr_t)value[1];
    out->dst_array = (vmm_array)(uintptr_t)value[0];
    out->src_array = (vmm_array)(uintptr_t)value[1];
    out->dst_device = value[0];
    out->src_device = value[1];
    return true;
}
