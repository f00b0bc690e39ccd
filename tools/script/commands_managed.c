/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of managed memory. */
#include <string.h>

#include "script_state.h"

static bool take_range(struct script *script, uint64_t *address, uint64_t *size)
{
    return args_number(script, "ADDRESS", address) && args_number(script, "SIZE", size);
}

static bool take_flags(struct script *script, unsigned *flags)
{
    uint64_t value = *flags;
    if (!args_option_number(script, "flags", &value))
        return false;
    *flags = (unsigned)value;
    return true;
}

static bool run_managed(struct script *script)
{
    struct vmm_call_mem_alloc_managed *call = &script_step(script, VMM_CALL_mem_alloc_managed)->call.mem_alloc_managed;
    call->flags = VMM_MEM_ATTACH_GLOBAL;
    return args_number(script, "SIZE", &call->bytesize) && take_flags(script, &call->flags) && script_make(script, NULL);
}

static bool run_prefetch(struct script *script)
{
    struct vmm_call_mem_prefetch_async *call = &script_step(script, VMM_CALL_mem_prefetch_async)->call.mem_prefetch_async;
    bool given;
    return take_range(script, &call->dev_ptr, &call->count) && args_location(script, "LOCATION", &call->location) &&
           take_flags(script, &call->flags) && args_stream(script, &given, &call->stream) && script_make(script, NULL);
}

static bool run_advise(struct script *script)
{
    static const char *const names[] = {NULL,        "read-mostly", "no-read-mostly", "preferred",
                                        "no-preferred", "accessed-by", "no-accessed-by"};
    struct vmm_call_mem_advise *call = &script_step(script, VMM_CALL_mem_advise)->call.mem_advise;
    struct words_error error;
    struct value_env env = script_env(script);
    if (!take_range(script, &call->dev_ptr, &call->count))
        return false;
    const struct word *word = args_next(script, "ADVICE");
    if (!word)
        return false;
    for (int i = 1; i < (int)(sizeof names / sizeof names[0]) && !call->advice; i++)
        if (strcmp(word->text, names[i]) == 0)
            call->advice = i;
    if (!call->advice && !value_int(&env, word, &call->advice, &error))
        return script_wrong_at(script, &error);
    return args_location(script, "LOCATION", &call->location) && script_make(script, NULL);
}

static bool run_advised(struct script *script)
{
    struct vmm_call_mem_range_get_attribute *call =
        &script_step(script, VMM_CALL_mem_range_get_attribute)->call.mem_range_get_attribute;
    call->data_size = sizeof(int);
    if (!take_range(script, &call->dev_ptr, &call->count) || !args_int(script, "ATTRIBUTE", &call->attribute) ||
        !args_option_number(script, "size", &call->data_size))
        return false;
    if (call->data && call->data_size > STEP_RANGE * sizeof(int))
        return script_wrong(script, 1, "an attribute of %llu bytes; the script can hold %zu", (unsigned long long)call->data_size,
                            STEP_RANGE * sizeof(int));
    return script_make(script, NULL);
}

static bool run_attach(struct script *script)
{
    struct vmm_call_stream_attach_mem_async *call =
        &script_step(script, VMM_CALL_stream_attach_mem_async)->call.stream_attach_mem_async;
    bool given;
    call->flags = VMM_MEM_ATTACH_SINGLE;
    return args_number(script, "ADDRESS", &call->dptr) && (!args_more(script) || args_number(script, "SIZE", &call->length)) &&
           take_flags(script, &call->flags) && args_stream(script, &given, &call->stream) && script_make(script, NULL);
}

/* {ADDRESS SIZE ...} */
static bool take_ranges(struct script *script, struct step *step, uint64_t *count)
{
    struct words_error error;
    struct value_env env = script_env(script);
    uint64_t pair[2 * STEP_COPIES];
    size_t made;
    const struct word *word = args_next(script, "{ADDRESS SIZE ...}");
    if (!word)
        return false;
    if (!value_list(&env, word, pair, 2 * STEP_COPIES, &made, &error))
        return script_wrong_at(script, &error);
    if (made % 2)
        return script_wrong(script, word->column, "%zu values; each range has an address and a size", made);
    for (size_t i = 0; i < made / 2; i++) {
        step_batch(step, 0)[i] = pair[2 * i];
        step_batch(step, 1)[i] = pair[2 * i + 1];
    }
    *count = made / 2;
    return true;
}

/* All prefetches go to one location. */
static bool run_prefetch_batch(struct script *script)
{
    const bool discards = strncmp(script->command->name, "discard", 7) == 0;
    struct step *step = script_step(script, discards ? VMM_CALL_mem_discard_and_prefetch_batch_async : VMM_CALL_mem_prefetch_batch_async);
    struct vmm_call_mem_prefetch_batch_async *call = &step->call.mem_prefetch_batch_async; /* the other has the same parameters */
    vmm_mem_location location;
    bool given;
    call->num_prefetch_locs = 1;
    if (!take_ranges(script, step, &call->count) || !args_location(script, "LOCATION", &location) ||
        !args_option_number(script, "flags", &call->flags) || !args_stream(script, &given, &call->stream))
        return false;
    memcpy(step->structs, &location, sizeof location);
    return script_make(script, NULL);
}

static bool run_discard(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_discard_batch_async);
    struct vmm_call_mem_discard_batch_async *call = &step->call.mem_discard_batch_async;
    bool given;
    return take_ranges(script, step, &call->count) && args_option_number(script, "flags", &call->flags) &&
           args_stream(script, &given, &call->stream) && script_make(script, NULL);
}

const struct script_command script_managed_commands[] = {
    {"managed", "SIZE [flags=N] [out=null]", "memory that the host and every device access at the same address; freemem "
                                             "frees it", "cuMemAllocManaged",
     run_managed, false},
    {"prefetch", "ADDRESS SIZE LOCATION [flags=N] [stream=STREAM|none]", "moves managed memory to a location before its "
                                                                         "use there",
     "cuMemPrefetchAsync", run_prefetch, false},
    {"advise", "ADDRESS SIZE ADVICE LOCATION", "advises how managed memory will be used: read-mostly, preferred, "
                                               "accessed-by, or the same with no-",
     "cuMemAdvise", run_advise, false},
    {"advised", "ADDRESS SIZE ATTRIBUTE [size=BYTES] [out=null]", "queries an attribute of a range: 1 read mostly, 2 "
                                                                  "preferred, 3 accessed by, 4 last prefetched to",
     "cuMemRangeGetAttribute", run_advised, false},
    {"attach", "ADDRESS [SIZE] [flags=N] [stream=STREAM|none]", "sets which streams use managed memory; flags: 1 all, 2 "
                                                                "none, 4 this one",
     "cuStreamAttachMemAsync", run_attach, false},
    {"prefetches", "{ADDRESS SIZE ...} LOCATION [flags=N] [stream=STREAM|none]", "several prefetches in one call",
     "cuMemPrefetchBatchAsync",
     run_prefetch_batch, false},
    {"discard", "{ADDRESS SIZE ...} [flags=N] [stream=STREAM|none]", "discards the bytes of managed memory",
     "cuMemDiscardBatchAsync",
     run_discard, false},
    {"discard-prefetches", "{ADDRESS SIZE ...} LOCATION [flags=N] [stream=STREAM|none]", "the same, and prefetches the memory",
     "cuMemDiscardAndPrefetchBatchAsync", run_prefetch_batch, false},
    {0},
};
