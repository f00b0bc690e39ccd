/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of graphs, and what they hold, in words. */
#include <string.h>

#include "values.h"

bool value_nodes(const struct value_env *env, const struct word *word, vmm_graph_node *out, size_t max, size_t *count,
                 struct words_error *error)
{
    struct words inside;
    uint64_t value;
    if (!value_inside(word, &inside, error))
        return false;
    if (inside.count > max)
        return value_fail(error, word, 0, "%zu nodes; at most %zu are possible", inside.count, max);
    for (*count = 0; *count < inside.count; ++*count) {
        if (!value_number(env, &inside.word[*count], &value, error))
            return false;
        out[*count] = (vmm_graph_node)(uintptr_t)value;
    }
    return true;
}

bool value_fill_node(const struct value_env *env, const struct word *word, vmm_memset_node_params *out, struct words_error *error)
{
    enum { ADDRESS, VALUE, BYTES, ELEMENT, PARTS };
    uint64_t part[PARTS] = {0, 0, 0, 1}, pitch = 0, height = 1;
    struct words inside;
    size_t parts = 0;
    if (!value_inside(word, &inside, error))
        return false;
    for (size_t i = 0; i < inside.count; i++) {
        const struct word *one = &inside.word[i];
        uint64_t *to = !one->key ? (parts < PARTS ? &part[parts] : NULL)
                       : strcmp(one->key, "pitch") == 0  ? &pitch
                       : strcmp(one->key, "height") == 0 ? &height
                                                         : NULL;
        if (!to)
            return value_fail(error, one, 0, "a fill is {ADDRESS VALUE BYTES [ELEMENT] [pitch=N] [height=N]}");
        if (!value_number(env, one, to, error))
            return false;
        parts += !one->key;
    }
    if (parts < ELEMENT)
        return value_fail(error, word, 0, "a fill has an address, a value and bytes");
    if (part[VALUE] > UINT32_MAX || part[ELEMENT] > UINT32_MAX)
        return value_fail(error, word, 0, "the value and the size of an element have 32 bits");
    if (part[ELEMENT] && part[BYTES] % part[ELEMENT])
        return value_fail(error, word, 0, "%llu bytes are no whole number of elements of %llu", (unsigned long long)part[BYTES],
                          (unsigned long long)part[ELEMENT]);
    *out = (vmm_memset_node_params){part[ADDRESS], pitch, (unsigned)part[VALUE], (unsigned)part[ELEMENT],
                                    part[ELEMENT] ? part[BYTES] / part[ELEMENT] : part[BYTES], height};
    return true;
}

/* A kernel of this library by name, or a number. */
static bool kernel_of(const struct value_env *env, const struct word *word, vmm_kernel *kernel, struct words_error *error)
{
    for (*kernel = 0; *kernel < vmm_kernel_count(); ++*kernel)
        if (strcmp(word->text, vmm_kernel_name(*kernel)) == 0)
            return true;
    return value_int(env, word, kernel, error);
}

bool value_kernel_node(const struct value_env *env, const struct word *word, vmm_kernel_node_params *out, uint64_t *args,
                       size_t max, struct words_error *error)
{
    struct words inside;
    uint64_t grid, block;
    if (!value_inside(word, &inside, error))
        return false;
    if (inside.count < 3 || inside.count - 3 > max)
        return value_fail(error, word, 0, "a kernel has a name, a grid, a block and at most %zu arguments", max);
    if (!kernel_of(env, &inside.word[0], &out->kernel, error) || !value_number(env, &inside.word[1], &grid, error) ||
        !value_number(env, &inside.word[2], &block, error))
        return false;
    if (grid > UINT32_MAX || block > UINT32_MAX)
        return value_fail(error, word, 0, "grid and block have 32 bits");
    out->grid_dim = (unsigned)grid;
    out->block_dim = (unsigned)block;
    out->args = args;
    for (out->count = 0; out->count < inside.count - 3; out->count++)
        if (!value_number(env, &inside.word[out->count + 3], &args[out->count], error))
            return false;
    return true;
}
