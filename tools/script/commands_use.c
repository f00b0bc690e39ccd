/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that use memory and ask about addresses: fills, copies, queries. */
#include <stdlib.h>
#include <string.h>

#include "script_state.h"

struct fill {
    uint64_t address, size, value;
    bool async;
    vmm_stream stream;
};

static void fill_step(struct script *script, const struct fill *f, unsigned bits)
{
    uint64_t n = f->size / (bits / 8);
    union vmm_any_call *call;
#define FILL(width, type) \
    case width: \
        call = &script_step(script, f->async ? VMM_CALL_memset_d##width##_async : VMM_CALL_memset_d##width)->call; \
        if (f->async) { \
            call->memset_d##width##_async.dst = f->address; \
            call->memset_d##width##_async.value = (type)f->value; \
            call->memset_d##width##_async.n = n; \
            call->memset_d##width##_async.stream = f->stream; \
        } else { \
            call->memset_d##width.dst = f->address; \
            call->memset_d##width.value = (type)f->value; \
            call->memset_d##width.n = n; \
        } \
        break;
    switch (bits) {
        FILL(8, unsigned char)
        FILL(16, unsigned short)
        FILL(32, unsigned int)
    default: break;
    }
#undef FILL
}

static bool run_fill(struct script *script)
{
    struct fill f = {0};
    unsigned bits = script->command->name[4] ? (unsigned)atoi(script->command->name + 4) : 8;
    if (!args_number(script, "ADDRESS", &f.address) || !args_number(script, "SIZE", &f.size) ||
        !args_number(script, "VALUE", &f.value) || !args_stream(script, &f.async, &f.stream))
        return false;
    if (f.value >> bits)
        return script_wrong(script, 1, "value 0x%llx does not fit into %u bits", (unsigned long long)f.value, bits);
    if (f.size % (bits / 8))
        return script_wrong(script, 1, "%llu bytes cannot be filled with values of %u bits; SIZE is a multiple of %u",
                            (unsigned long long)f.size, bits, bits / 8);
    fill_step(script, &f, bits);
    return script_make(script, NULL);
}

static bool run_write(struct script *script)
{
    struct words_error error;
    struct value_env env = script_env(script);
    uint64_t address, size;
    bool async;
    vmm_stream stream;
    if (!args_number(script, "ADDRESS", &address))
        return false;
    const struct word *word = args_next(script, "BYTES");
    unsigned char *bytes = NULL;
    if (!word || !args_stream(script, &async, &stream))
        return false;
    if (!value_bytes(&env, word, &bytes, &size, &error))
        return script_wrong_at(script, &error);
    struct step *step = script_step(script, async ? VMM_CALL_memcpy_htod_async : VMM_CALL_memcpy_htod);
    step->bytes = bytes;
    if (async)
        step->call.memcpy_htod_async = (struct vmm_call_memcpy_htod_async){step->call.head, address, bytes, size, stream};
    else
        step->call.memcpy_htod = (struct vmm_call_memcpy_htod){step->call.head, address, bytes, size};
    return script_make(script, NULL);
}

static void print_bytes(FILE *out, const unsigned char *bytes, uint64_t size)
{
    enum { SHOWN = 16 };
    uint64_t n = size < SHOWN ? size : SHOWN;
    char text[TEXT_SIZE_ROOM];
    fputs("  bytes", out);
    for (uint64_t i = 0; i < n; i++)
        fprintf(out, " %02x", bytes[i]);
    fputs("  \"", out);
    for (uint64_t i = 0; i < n; i++)
        fputc(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '.', out);
    fputs("\"", out);
    if (size > n)
        fprintf(out, " and %s more", text_size(size - n, text));
    fputs("\n", out);
}

static bool run_read(struct script *script)
{
    uint64_t address, size;
    bool async, answered;
    vmm_stream stream;
    if (!args_number(script, "ADDRESS", &address) || !args_number(script, "SIZE", &size) ||
        !args_stream(script, &async, &stream))
        return false;
    if (size > VALUE_BYTES_MAX)
        return script_wrong(script, 1, "%llu bytes; a script reads at most 64MiB at a time", (unsigned long long)size);
    struct step *step = script_step(script, async ? VMM_CALL_memcpy_dtoh_async : VMM_CALL_memcpy_dtoh);
    step->bytes = text_grow(NULL, (size_t)size);
    memset(step->bytes, 0, (size_t)size);
    if (async)
        step->call.memcpy_dtoh_async =
            (struct vmm_call_memcpy_dtoh_async){step->call.head, step->bytes, address, size, stream};
    else
        step->call.memcpy_dtoh = (struct vmm_call_memcpy_dtoh){step->call.head, step->bytes, address, size};
    bool ok = script_make(script, &answered);
    if (!answered)
        return ok;
    if (async) { /* the copy may still be in flight; its bytes are valid only after a wait */
        struct step wait;
        step_begin(&wait, VMM_CALL_stream_synchronize);
        wait.call.stream_synchronize.stream = stream;
        script_invoke(script, &wait);
    }
    if (!script->options.quiet)
        print_bytes(script->options.out, step->bytes, size);
    return ok;
}

static bool run_copy(struct script *script)
{
    uint64_t dst, src, size;
    bool async;
    vmm_stream stream;
    if (!args_number(script, "TO", &dst) || !args_number(script, "FROM", &src) ||
        !args_number(script, "SIZE", &size) || !args_stream(script, &async, &stream))
        return false;
    struct step *step = script_step(script, async ? VMM_CALL_memcpy_dtod_async : VMM_CALL_memcpy_dtod);
    if (async)
        step->call.memcpy_dtod_async = (struct vmm_call_memcpy_dtod_async){step->call.head, dst, src, size, stream};
    else
        step->call.memcpy_dtod = (struct vmm_call_memcpy_dtod){step->call.head, dst, src, size};
    return script_make(script, NULL);
}

static bool take_attribute(struct script *script, int *out)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, "ATTRIBUTE");
    if (!word)
        return false;
    return step_attribute_find(word->text, out) || value_int(&env, word, out, &error) ||
           script_wrong(script, word->column,
                        "\"%.60s\" is not a pointer attribute; use MAPPING_SIZE, RANGE_SIZE, ACCESS_FLAGS ... or the "
                        "number in cuda.h", word->text);
}

static bool run_query(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_pointer_get_attribute);
    struct vmm_call_pointer_get_attribute *call = &step->call.pointer_get_attribute;
    return args_number(script, "ADDRESS", &call->ptr) && take_attribute(script, &call->attribute) &&
           script_make(script, NULL);
}

static bool run_query_all(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_pointer_get_attributes);
    struct vmm_call_pointer_get_attributes *call = &step->call.pointer_get_attributes;
    unsigned count = 0;
    if (!args_number(script, "ADDRESS", &call->ptr))
        return false;
    for (; args_more(script); count++) {
        if (count == STEP_ATTRIBUTES)
            return script_wrong(script, 1, "more than %d attributes in one call", STEP_ATTRIBUTES);
        if (!take_attribute(script, &step->attributes[count]))
            return false;
    }
    call->num_attributes = count;
    return script_make(script, NULL);
}

static bool run_range(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_get_address_range);
    return args_number(script, "ADDRESS", &step->call.mem_get_address_range.dptr) && script_make(script, NULL);
}

static bool run_dmabuf(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_get_handle_for_address_range);
    struct vmm_call_mem_get_handle_for_address_range *call = &step->call.mem_get_handle_for_address_range;
    call->handle_type = VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
    return args_number(script, "ADDRESS", &call->dptr) && args_number(script, "SIZE", &call->size) &&
           args_option_number(script, "flags", &call->flags) && script_make(script, NULL);
}

/* peer=yes makes it the call between two contexts. */
static bool run_copy_box(struct script *script)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, "{TO FROM WIDTH HEIGHT DEPTH ...}");
    const struct word *peer = args_option(script, "peer");
    bool async, null = word && strcmp(word->text, "null") == 0;
    vmm_stream stream;
    vmm_memcpy3d box;
    if (!word || !args_stream(script, &async, &stream))
        return false;
    if (peer && strcmp(peer->text, "yes") != 0)
        return script_wrong(script, peer->column, "\"%.40s\" after peer=; only yes can be said", peer->text);
    if (!null && !value_box(&env, word, &box, &error))
        return script_wrong_at(script, &error);
    struct step *step = script_step(script, peer ? (async ? VMM_CALL_memcpy_3d_peer_async : VMM_CALL_memcpy_3d_peer)
                                                 : (async ? VMM_CALL_memcpy_3d_async : VMM_CALL_memcpy_3d));
    if (null)
        step->call.memcpy_3d.p_copy = NULL; /* the first parameter of all four */
    else
        step->box = box;
    if (async)
        step->call.memcpy_3d_async.stream = stream; /* and the second of those two */
    return script_make(script, NULL);
}

/* attrs= and at=: the attributes, and the first copy of each; without at= all copies have the same ones. */
static bool run_copy_batch(struct script *script)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, "{TO FROM BYTES ...}"), *attrs = args_option(script, "attrs"),
                      *at = args_option(script, "at");
    struct step *step = script_step(script, VMM_CALL_memcpy_batch_async);
    struct vmm_call_memcpy_batch_async *call = &step->call.memcpy_batch_async;
    uint64_t part[3 * STEP_COPIES];
    size_t parts, attributes = 1, firsts = 1;
    bool given;
    step->copy_attributes[0].src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    if (!word || !args_stream(script, &given, &call->stream))
        return false;
    if (!value_list(&env, word, part, 3 * STEP_COPIES, &parts, &error) ||
        (attrs && !value_copy_attributes(&env, attrs, step->copy_attributes, STEP_COPIES, &attributes, &error)) ||
        (at && !value_list(&env, at, step_batch(step, 5), STEP_COPIES, &firsts, &error)))
        return script_wrong_at(script, &error);
    if (parts % 3 || firsts != attributes)
        return script_wrong(script, word->column, parts % 3 ? "a copy of a batch is TO FROM BYTES"
                                                            : "at= names the first copy of each of the attrs=");
    for (size_t i = 0; i < parts; i++)
        step_batch(step, i % 3)[i / 3] = part[i];
    call->count = parts / 3;
    call->num_attrs = attributes;
    return script_make(script, NULL);
}

static bool run_copy_boxes(struct script *script)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, "{TO FROM WIDTH HEIGHT DEPTH ...}");
    struct step *step = script_step(script, VMM_CALL_memcpy_3d_batch_async);
    struct vmm_call_memcpy_3d_batch_async *call = &step->call.memcpy_3d_batch_async;
    size_t boxes;
    bool given;
    if (!word || !args_stream(script, &given, &call->stream) || !args_option_number(script, "flags", &call->flags))
        return false;
    if (!value_boxes(&env, word, step->boxes, STEP_COPIES, &boxes, &error))
        return script_wrong_at(script, &error);
    call->num_ops = boxes;
    return script_make(script, NULL);
}

const struct script_command script_use_commands[] = {
    {"fill", "ADDRESS SIZE VALUE [stream=STREAM|none]", "sets every byte; SIZE in bytes", "cuMemsetD8", run_fill, false},
    {"fill16", "ADDRESS SIZE VALUE [stream=STREAM|none]", "sets 16-bit values; SIZE in bytes", "cuMemsetD16", run_fill,
     false},
    {"fill32", "ADDRESS SIZE VALUE [stream=STREAM|none]", "sets 32-bit values; SIZE in bytes", "cuMemsetD32", run_fill,
     false},
    {"write", "ADDRESS BYTES [stream=STREAM|none]", "copies bytes from the host to an address", "cuMemcpyHtoD",
     run_write, false},
    {"read", "ADDRESS SIZE [stream=STREAM|none]", "copies bytes to the host and shows the first of them",
     "cuMemcpyDtoH", run_read, false},
    {"copy", "TO FROM SIZE [stream=STREAM|none]", "copies between two addresses", "cuMemcpyDtoD", run_copy, false},
    {"copybox", "{TO FROM WIDTH HEIGHT DEPTH [FIELD=VALUE ...]}|null [peer=yes] [stream=STREAM|none]",
     "copies a box (rows in layers); the fields are those of vmm_memcpy3d, such as src_pitch", "cuMemcpy3D, cuMemcpy3DPeer",
     run_copy_box, false},
    {"copybatch", "{TO FROM BYTES ...} [attrs={ORDER ...} at={FIRST ...}] [stream=STREAM|none]",
     "copies ranges in one call; an order is stream, call or any", "cuMemcpyBatchAsync", run_copy_batch, false},
    {"copyboxes", "{TO FROM WIDTH HEIGHT DEPTH [FIELD=VALUE ...] ...} [flags=N] [stream=STREAM|none]",
     "copies boxes in one call; fields are src_row, src_rows, dst_row, dst_rows, order", "cuMemcpy3DBatchAsync",
     run_copy_boxes, false},
    {"query", "ADDRESS ATTRIBUTE [out=null]", "queries an attribute of an address", "cuPointerGetAttribute", run_query, false},
    {"query-all", "ADDRESS ATTRIBUTE ... [out=null]", "queries several attributes in one call", "cuPointerGetAttributes",
     run_query_all,
     false},
    {"range", "ADDRESS", "queries base and size of the mapping or allocation at an address", "cuMemGetAddressRange", run_range,
     false},
    {"dmabuf", "ADDRESS SIZE [flags=N] [out=null]", "a dma-buf of an address range, for other devices; names its descriptor",
     "cuMemGetHandleForAddressRange", run_dmabuf, false},
    {0},
};
