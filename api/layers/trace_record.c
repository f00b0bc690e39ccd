/* SPDX-License-Identifier: Apache-2.0 */
/* Records of calls. See trace_record.h. Each call has a function, generated from calls.def. */
#include "trace_record.h"

#include <string.h>

#include "trace_record_put.h"

/* ---- the table of calls ---- */

#define SCHEMA(type, param) " " #param ":" #type
const char *const trace_calls[VMM_CALL_COUNT] = {
#define VMM_CALL(name, ...) #name VMM_EACH(SCHEMA, VMM_PARAMS_##name),
#include "calls.def"
};
#undef SCHEMA

size_t trace_calls_write(char *to)
{
    size_t length = 0;
    for (int id = 0; id < VMM_CALL_COUNT; id++) {
        const size_t part = strlen(trace_calls[id]);
        if (to) {
            memcpy(to + length, trace_calls[id], part);
            to[length + part] = '\n';
        }
        length += part + 1;
    }
    return length;
}

uint64_t trace_listed(const struct vmm_call *call, const struct vmm_param *param)
{
    switch (param->kind) {
    case VMM_PARAM_ATTRIBUTES:
    case VMM_PARAM_OUT_ATTRIBUTES: return trace_length(call, "num_attributes");
    case VMM_PARAM_NODES:
    case VMM_PARAM_EDGES: return trace_length(call, "num_dependencies");
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
    case VMM_PARAM_COPY_ATTRIBUTES:
    case VMM_PARAM_BOXES: return vmm_batch_length(call, param);
    case VMM_PARAM_STRUCTS: return vmm_structs_length(call, param);
    case VMM_PARAM_OUT_RANGE: return trace_length(call, "data_size") / sizeof(int);
    default: return trace_length(call, "count");
    }
}

/* ---- one function a call ---- */

#define VMM_CALL(name, ...)                                                                     \
    static uint64_t *put_##name(uint64_t *at, const struct trace_event *event, unsigned *bits)  \
    {                                                                                           \
        enum { id = VMM_CALL_##name };                                                          \
        const struct vmm_call_##name *call = (const void *)event->call;                         \
        unsigned index = 0, pointers = 0;                                                       \
        (void)call;                                                                             \
        (void)id;                                                                               \
        VMM_EACH(TRACE_ARGUMENT, VMM_PARAMS_##name)                                             \
        VMM_EACH(TRACE_MEMORY, VMM_PARAMS_##name)                                               \
        index = 0;                                                                              \
        if (event->wrote) {                                                                     \
            VMM_EACH(TRACE_OUTPUT, VMM_PARAMS_##name)                                           \
        }                                                                                       \
        (void)index;                                                                            \
        *bits = pointers;                                                                       \
        return at;                                                                              \
    }                                                                                           \
    static size_t room_##name(const struct vmm_call *record)                                    \
    {                                                                                           \
        enum { id = VMM_CALL_##name };                                                          \
        const struct vmm_call_##name *call = (const void *)record;                              \
        size_t room = 0;                                                                        \
        (void)call;                                                                             \
        (void)id;                                                                               \
        VMM_EACH(TRACE_ROOM, VMM_PARAMS_##name)                                                 \
        return room;                                                                            \
    }
#include "calls.def"

static uint64_t *(*const put[VMM_CALL_COUNT])(uint64_t *at, const struct trace_event *event, unsigned *bits) = {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = put_##name,
#include "calls.def"
};

static size_t (*const rooms[VMM_CALL_COUNT])(const struct vmm_call *record) = {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = room_##name,
#include "calls.def"
};

/* ---- the whole record ---- */

static bool has_detail(const struct trace_event *event)
{
    return event->detail->severity == VMM_SEVERITY_WARNING || event->detail->severity == VMM_SEVERITY_ERROR;
}

enum { DETAIL_WORDS = 6, DETAIL_TEXTS = 3 };

/* The texts of a detail; a rule's id and the name of an argument are short. */
static void detail_texts(const vmm_detail *detail, const char *text[DETAIL_TEXTS], size_t length[DETAIL_TEXTS])
{
    text[0] = detail->rule ? detail->rule : "";
    text[1] = detail->argument ? detail->argument : "";
    text[2] = detail->note;
    for (int i = 0; i < DETAIL_TEXTS; i++)
        length[i] = strnlen(text[i], sizeof detail->note);
}

static uint64_t *put_detail(uint64_t *at, const vmm_detail *detail)
{
    const char *text[DETAIL_TEXTS];
    size_t length[DETAIL_TEXTS];
    const bool device = detail->nearest.kind == VMM_OBJECT_DEVICE;
    detail_texts(detail, text, length);
    at[0] = (uint64_t)detail->severity | (uint64_t)(detail->rule != NULL) << 8 | (uint64_t)(detail->argument != NULL) << 9;
    at[1] = detail->value;
    at[2] = detail->expected;
    at[3] = (uint64_t)detail->nearest.kind;
    at[4] = device ? detail->nearest.value : detail->nearest.number;
    at[5] = length[0] | (uint64_t)length[1] << 16 | (uint64_t)length[2] << 32;
    at += DETAIL_WORDS;
    for (int i = 0; i < DETAIL_TEXTS; i++)
        at = put_bytes(at, text[i], length[i]);
    return at;
}

size_t trace_record_room(const struct trace_event *event)
{
    enum { DETAIL_MOST = DETAIL_WORDS + DETAIL_TEXTS * (sizeof event->detail->note / 8 + 1), MOMENT = 5 };
    return TRACE_HEAD_WORDS + MOMENT + rooms[event->call->id](event->call) + (has_detail(event) ? DETAIL_MOST : 0);
}

size_t trace_record_write(uint64_t *record, const struct trace_event *event, bool own)
{
    const bool wide = event->thread >= TRACE_THREAD_FOLLOWS, detail = has_detail(event), shared = own && event->shared;
    uint64_t *at = record + TRACE_HEAD_WORDS;
    unsigned pointers;
    if (wide)
        *at++ = event->thread;
    if (own) {
        at[0] = event->time;
        at[1] = event->place;
        at += 2;
    }
    if (shared)
        *at++ = event->shared;
    if (event->lacks)
        *at++ = event->lacks;
    at = put[event->call->id](at, event, &pointers);
    if (detail)
        at = put_detail(at, event->detail);
    put_head(record, at, event, pointers, detail, shared, wide);
    return (size_t)(at - record);
}

size_t trace_frame_write(uint64_t *record, uint32_t place, uint32_t index, const char *text)
{
    const size_t length = strlen(text);
    record[2] = pack_pair(index, (uint32_t)length);
    const uint64_t *end = put_bytes(record + TRACE_HEAD_WORDS + 1, text, length + 1);
    record[0] = trace_head((size_t)(end - record), TRACE_FRAME, 0, 0);
    record[1] = place;
    return (size_t)(end - record);
}
