/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations: values that a stream writes to memory, or waits for. */
#include <string.h>

#include "script_state.h"

/* The part common to the commands; the 64-bit call holds every value. */
struct value {
    vmm_stream stream;
    uint64_t address, value, flags;
};

static bool take_value(struct script *script, unsigned bits, struct value *v)
{
    *v = (struct value){.flags = 0};
    if (!args_number(script, "ADDRESS", &v->address) || !args_number(script, "VALUE", &v->value) ||
        !args_stream(script, NULL, &v->stream) || !args_option_number(script, "flags", &v->flags))
        return false;
    if (bits == 32 && v->value > UINT32_MAX)
        return script_wrong(script, 1, "value 0x%llx does not fit into 32 bits", (unsigned long long)v->value);
    return v->flags <= UINT32_MAX || script_wrong(script, 1, "flags have 32 bits");
}

/* A wait's comparison, by the name of its flag. */
static bool take_comparison(struct script *script, uint64_t *flags)
{
    static const char *const names[] = {"geq", "eq", "and", "nor"};
    const struct word *word = args_option(script, "until");
    if (!word)
        return true;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word->text, names[i]) == 0) {
            *flags |= i;
            return true;
        }
    return script_wrong(script, word->column, "\"%.40s\" is not a comparison; use geq, eq, and or nor", word->text);
}

static bool run_write32(struct script *script)
{
    struct value v;
    if (!take_value(script, 32, &v))
        return false;
    struct vmm_call_stream_write_value32 *call = &script_step(script, VMM_CALL_stream_write_value32)->call.stream_write_value32;
    *call = (struct vmm_call_stream_write_value32){call->head, v.stream, v.address, (uint32_t)v.value, (uint32_t)v.flags};
    return script_make(script, NULL);
}

static bool run_write64(struct script *script)
{
    struct value v;
    if (!take_value(script, 64, &v))
        return false;
    struct vmm_call_stream_write_value64 *call = &script_step(script, VMM_CALL_stream_write_value64)->call.stream_write_value64;
    *call = (struct vmm_call_stream_write_value64){call->head, v.stream, v.address, v.value, (uint32_t)v.flags};
    return script_make(script, NULL);
}

static bool run_wait32(struct script *script)
{
    struct value v;
    if (!take_value(script, 32, &v) || !take_comparison(script, &v.flags))
        return false;
    struct vmm_call_stream_wait_value32 *call = &script_step(script, VMM_CALL_stream_wait_value32)->call.stream_wait_value32;
    *call = (struct vmm_call_stream_wait_value32){call->head, v.stream, v.address, (uint32_t)v.value, (uint32_t)v.flags};
    return script_make(script, NULL);
}

static bool run_wait64(struct script *script)
{
    struct value v;
    if (!take_value(script, 64, &v) || !take_comparison(script, &v.flags))
        return false;
    struct vmm_call_stream_wait_value64 *call = &script_step(script, VMM_CALL_stream_wait_value64)->call.stream_wait_value64;
    *call = (struct vmm_call_stream_wait_value64){call->head, v.stream, v.address, v.value, (uint32_t)v.flags};
    return script_make(script, NULL);
}

/* The count is the length of the list, unless count= overrides it. */
static bool run_batch(struct script *script)
{
    struct words_error error;
    struct value_env env = script_env(script);
    uint64_t count, flags = 0;
    vmm_stream stream;
    size_t listed = 0;
    const struct word *word = args_next(script, "{OPERATION ...}");
    struct step *step = script_step(script, VMM_CALL_stream_batch_mem_op);
    if (!word)
        return false;
    if (!value_mem_ops(&env, word, step->mem_ops, STEP_MEM_OPS, &listed, &error))
        return script_wrong_at(script, &error);
    count = listed;
    if (!args_stream(script, NULL, &stream) || !args_option_number(script, "flags", &flags) ||
        !args_option_number(script, "count", &count))
        return false;
    if (flags > UINT32_MAX || count > UINT32_MAX)
        return script_wrong(script, 1, "flags and count have 32 bits");
    struct vmm_call_stream_batch_mem_op *call = &step->call.stream_batch_mem_op;
    *call = (struct vmm_call_stream_batch_mem_op){call->head, stream, (uint32_t)count, step->mem_ops, (uint32_t)flags};
    return script_make(script, NULL);
}

const struct script_command script_mem_op_commands[] = {
    {"write-value32", "ADDRESS VALUE [stream=STREAM|none] [flags=N]", "writes a 4-byte value in stream order",
     "cuStreamWriteValue32", run_write32, false},
    {"write-value64", "ADDRESS VALUE [stream=STREAM|none] [flags=N]", "writes an 8-byte value in stream order",
     "cuStreamWriteValue64", run_write64, false},
    {"wait-value32", "ADDRESS VALUE [until=geq|eq|and|nor] [stream=STREAM|none] [flags=N]",
     "later work of the stream waits until a comparison of 4 bytes is true", "cuStreamWaitValue32", run_wait32, false},
    {"wait-value64", "ADDRESS VALUE [until=geq|eq|and|nor] [stream=STREAM|none] [flags=N]",
     "later work of the stream waits until a comparison of 8 bytes is true", "cuStreamWaitValue64", run_wait64, false},
    {"batch", "{OPERATION ...} [stream=STREAM|none] [flags=N] [count=N]",
     "several of them at once: {write32 r0 5 0 wait64 r0+8 1 1 barrier 0}", "cuStreamBatchMemOp", run_batch, false},
    {0},
};
