/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a batch of copies, in words. */
#include <string.h>

#include "values.h"

static const char *const orders[] = {NULL, "stream", "call", "any"};

static bool order_of(const struct value_env *env, const struct word *word, vmm_memcpy_src_access_order *order,
                     struct words_error *error)
{
    for (size_t i = 1; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(word->text, orders[i]) == 0) {
            *order = (vmm_memcpy_src_access_order)i;
            return true;
        }
    return value_int(env, word, order, error);
}

static bool flags_of(const struct value_env *env, const struct word *word, unsigned *flags, struct words_error *error)
{
    uint64_t value;
    if (!value_number(env, word, &value, error))
        return false;
    *flags = (unsigned)value;
    return value <= UINT32_MAX || value_fail(error, word, 0, "flags have 32 bits");
}

bool value_list(const struct value_env *env, const struct word *word, uint64_t *out, size_t max, size_t *count,
                struct words_error *error)
{
    struct words inside;
    if (!value_inside(word, &inside, error))
        return false;
    if (inside.count > max)
        return value_fail(error, word, 0, "%zu values; at most %zu are possible", inside.count, max);
    for (*count = 0; *count < inside.count; ++*count)
        if (!value_number(env, &inside.word[*count], &out[*count], error))
            return false;
    return true;
}

/* An option of the attributes before it. */
static bool attribute_field(const struct value_env *env, const struct word *word, vmm_memcpy_attributes *last,
                            struct words_error *error)
{
    if (last && strcmp(word->key, "flags") == 0)
        return flags_of(env, word, &last->flags, error);
    if (last && strcmp(word->key, "src") == 0)
        return value_location(env, word, &last->src_loc_hint, error);
    if (last && strcmp(word->key, "dst") == 0)
        return value_location(env, word, &last->dst_loc_hint, error);
    return value_fail(error, word, 0, "\"%.40s\" is not an attribute of copies; {stream flags=1 src=dev0} would be one", word->key);
}

bool value_copy_attributes(const struct value_env *env, const struct word *word, vmm_memcpy_attributes *out, size_t max, size_t *count,
                           struct words_error *error)
{
    struct words inside;
    *count = 0;
    if (!value_inside(word, &inside, error))
        return false;
    for (size_t i = 0; i < inside.count; i++) {
        if (inside.word[i].key) {
            if (!attribute_field(env, &inside.word[i], *count ? &out[*count - 1] : NULL, error))
                return false;
            continue;
        }
        if (*count == max)
            return value_fail(error, word, 0, "more than %zu attributes", max);
        out[*count] = (vmm_memcpy_attributes){0};
        if (!order_of(env, &inside.word[i], &out[(*count)++].src_access_order, error))
            return false;
    }
    return true;
}

/* ---- boxes ---- */

/* A field by its name; NULL when there is none. */
static uint64_t *length_named(vmm_memcpy3d_batch_op *box, const char *name)
{
    return strcmp(name, "dst_row") == 0    ? &box->dst.op.ptr.row_length
           : strcmp(name, "dst_rows") == 0 ? &box->dst.op.ptr.layer_height
           : strcmp(name, "src_row") == 0  ? &box->src.op.ptr.row_length
           : strcmp(name, "src_rows") == 0 ? &box->src.op.ptr.layer_height
                                           : NULL;
}

static bool box_field(const struct value_env *env, const struct word *word, vmm_memcpy3d_batch_op *box, struct words_error *error)
{
    uint64_t *length = length_named(box, word->key);
    uint64_t value;
    if (strcmp(word->key, "order") == 0)
        return order_of(env, word, &box->src_access_order, error);
    if (strcmp(word->key, "flags") == 0)
        return flags_of(env, word, &box->flags, error);
    if (strcmp(word->key, "dst_type") == 0)
        return value_int(env, word, &box->dst.type, error);
    if (strcmp(word->key, "src_type") == 0)
        return value_int(env, word, &box->src.type, error);
    if (!length)
        return value_fail(error, word, 0, "\"%.40s\" is not a field of a box; src_row=128 would be one", word->key);
    if (!value_number(env, word, &value, error))
        return false;
    *length = (size_t)value;
    return true;
}

bool value_boxes(const struct value_env *env, const struct word *word, vmm_memcpy3d_batch_op *out, size_t max, size_t *count,
                 struct words_error *error)
{
    enum { TO, FROM, WIDTH, HEIGHT, DEPTH, PARTS };
    struct words inside;
    uint64_t part[PARTS];
    size_t at = 0;
    *count = 0;
    if (!value_inside(word, &inside, error))
        return false;
    while (at < inside.count) {
        if (*count == max)
            return value_fail(error, word, 0, "more than %zu boxes", max);
        for (size_t i = 0; i < PARTS; i++, at++) {
            if (at == inside.count || inside.word[at].key)
                return value_fail(error, word, 0, "a box is TO FROM WIDTH HEIGHT DEPTH [FIELD=VALUE ...]");
            if (!value_number(env, &inside.word[at], &part[i], error))
                return false;
        }
        vmm_memcpy3d_batch_op *box = &out[(*count)++];
        *box = (vmm_memcpy3d_batch_op){.src = {.type = VMM_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = part[FROM]},
                                       .dst = {.type = VMM_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = part[TO]},
                                       .extent = {part[WIDTH], part[HEIGHT], part[DEPTH]},
                                       .src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM};
        for (; at < inside.count && inside.word[at].key; at++)
            if (!box_field(env, &inside.word[at], box, error))
                return false;
    }
    return true;
}
