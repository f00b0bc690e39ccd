/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a batch of stream memory operations, in words. */
#include <string.h>

#include "call.h"
#include "values.h"

static const char *const names[] = {NULL, "wait32", "write32", "flush", "wait64", "write64", "barrier"};
enum { NAMES = sizeof names / sizeof *names };

const char *value_mem_op_name(vmm_stream_batch_mem_op_type operation)
{
    return operation > 0 && operation < NAMES ? names[operation] : NULL;
}

static bool value_mem_op_find(const char *name, vmm_stream_batch_mem_op_type *operation)
{
    for (*operation = 1; *operation < NAMES; ++*operation)
        if (strcmp(names[*operation], name) == 0)
            return true;
    return false;
}

/* The words of one list, and how many of them were read. */
struct reading {
    const struct value_env *env;
    const struct word *list;
    const struct words *inside;
    size_t next;
    struct words_error *error;
};

static bool number(struct reading *r, const char *what, uint64_t *out)
{
    if (r->next == r->inside->count)
        return value_fail(r->error, r->list, 0, "the list ends where the last operation's %s is expected", what);
    return value_number(r->env, &r->inside->word[r->next++], out, r->error);
}

static bool flags_of(struct reading *r, unsigned *flags)
{
    uint64_t value;
    if (!number(r, "flags", &value))
        return false;
    *flags = (unsigned)value;
    return value <= UINT32_MAX || value_fail(r->error, &r->inside->word[r->next - 1], 0, "flags have 32 bits");
}

static bool operation_of(struct reading *r, vmm_stream_batch_mem_op_params *op)
{
    const struct word *word = &r->inside->word[r->next++];
    memset(op, 0, sizeof *op);
    if (!value_mem_op_find(word->text, &op->operation))
        return value_int(r->env, word, &op->operation, r->error);
    if (!vmm_mem_op_has_value(op->operation))
        return flags_of(r, &op->memory_barrier.flags);
    return number(r, "address", &op->wait_value.address) && number(r, "value", &op->wait_value.value64) &&
           flags_of(r, &op->wait_value.flags);
}

bool value_mem_ops(const struct value_env *env, const struct word *word, vmm_stream_batch_mem_op_params *out, size_t max,
                   size_t *count, struct words_error *error)
{
    struct words inside;
    if (!value_inside(word, &inside, error))
        return false;
    struct reading r = {env, word, &inside, 0, error};
    for (*count = 0; r.next < inside.count; ++*count)
        if (*count == max)
            return value_fail(error, &inside.word[r.next], 0, "%zu operations are possible, not more", max);
        else if (!operation_of(&r, &out[*count]))
            return false;
    return true;
}
