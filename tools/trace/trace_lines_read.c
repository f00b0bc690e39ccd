/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the readable form of a trace into a store. See trace_store.h and trace_parse.h. */
#include "trace_store.h"

#ifndef CUVMM_HAVE_JANSSON

bool trace_lines_read(struct trace_store *store, FILE *in)
{
    (void)in;
    text_add(&store->complaint, "%s: this cuvmm was built without jansson, which reads lines of traces; install its development "
                                "files and build again", store->name);
    return false;
}

#else

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace_parse.h"
#include "trace_value.h"

enum { THREADS = 1 << 20, PLACE_MOST = 1 << 20, FRAMES_MOST = 64 };

/* ---- names ---- */

static bool is_descriptor(enum vmm_param_kind kind)
{
    return kind == VMM_PARAM_FD || kind == VMM_PARAM_OUT_FD || kind == VMM_PARAM_IPC_HANDLE || kind == VMM_PARAM_OUT_IPC_HANDLE;
}

static bool unknown(struct parsing *p, const struct vmm_param *param, const char *text)
{
    return parse_malformed(p, param->name, "%s is named \"%.40s\", but no earlier line made it", param->name, text);
}

/* Only these names cannot be derived from the calls. */
static bool take_descriptor(struct parsing *p, const struct vmm_param *param, const struct name *name, const char *text)
{
    struct trace_event *event = &p->room->event;
    const bool made = trace_is_out(param->kind);
    if (name->kind != NAME_DESCRIPTOR || !name->number || name->number > p->descriptors + (made ? p->line.calls + 1 : 0))
        return unknown(p, param, text);
    event->descriptor = name->number;
    if (name->number > p->descriptors)
        p->descriptors = name->number;
    return true;
}

/* The name of a parameter must be that of its value. */
static bool check_name(struct parsing *p, const struct vmm_param *param, const char *text)
{
    struct name given, known;
    uint64_t value = 0;
    if (!parse_name(text, &given))
        return unknown(p, param, text);
    if (is_descriptor(param->kind))
        return take_descriptor(p, param, &given, text);
    if (!trace_object(&p->room->event, param, &value) || !names_find(&p->names, param->kind, value, &known))
        return unknown(p, param, text);
    if (known.kind == given.kind && known.number == given.number && known.offset == given.offset)
        return true;
    char right[NAME_MAX_TEXT];
    if (given.number > p->names.last[given.kind])
        return unknown(p, param, text);
    name_text(&known, right);
    return parse_malformed(p, param->name, "%s is named \"%.40s\", but earlier lines name it \"%s\"", param->name, text, right);
}

static bool check_names(struct parsing *p, bool out)
{
    for (size_t i = 0; i < p->count; i++) {
        const char *text = json_string_value(json_object_get(p->given, p->params[i].name));
        if (text && trace_is_out(p->params[i].kind) == out && !check_name(p, &p->params[i], text))
            return false;
    }
    return true;
}

/* ---- details ---- */

static bool parse_nearest(struct parsing *p, json_t *json, vmm_object *nearest)
{
    static const char letters[] = "?DRMHACSEBPY"; /* indexed by enum vmm_object_kind */
    const char *text = json_string_value(json), *letter = text && text[0] ? strchr(letters, text[0]) : NULL;
    char *end = NULL;
    const unsigned long long number = letter && text[1] >= '0' && text[1] <= '9' ? strtoull(text + 1, &end, 10) : 0;
    if (!json)
        return true;
    if (!end || *end || letter == letters || (*letter != 'D' && number > UINT32_MAX))
        return parse_malformed(p, "\"nearest\"", "\"nearest\" is not the name of an object, such as \"M3\"");
    *nearest = (vmm_object){.kind = (vmm_object_kind)(letter - letters), .value = number, .number = (uint32_t)number};
    return true;
}

static bool parse_detail(struct parsing *p, json_t *json)
{
    vmm_detail *detail = &p->room->detail;
    const char *severity = json_string_value(json_object_get(json, "severity"));
    json_t *note = json_object_get(json, "note");
    if (!severity)
        return true;
    if (strcmp(severity, "warning") != 0 && strcmp(severity, "error") != 0)
        return parse_malformed(p, "\"severity\"", "severity is \"%.20s\"; error or warning is expected", severity);
    memset(detail, 0, sizeof *detail);
    detail->severity = severity[0] == 'w' ? VMM_SEVERITY_WARNING : VMM_SEVERITY_ERROR;
    detail->rule = parse_text(p, json_object_get(json, "rule"));
    detail->argument = parse_text(p, json_object_get(json, "argument"));
    if (note)
        snprintf(detail->note, sizeof detail->note, "%s", parse_text(p, note) ? parse_text(p, note) : "");
    return (!detail->argument || parse_hex_of(p, json, "value", UINT64_MAX, &detail->value)) &&
           (!json_object_get(json, "expected") || parse_hex_of(p, json, "expected", UINT64_MAX, &detail->expected)) &&
           parse_nearest(p, json_object_get(json, "nearest"), &detail->nearest);
}

/* ---- time and stack ---- */

static bool parse_count(struct parsing *p, json_t *json, const char *key, json_int_t most, json_int_t *value)
{
    json_t *member = json_object_get(json, key);
    *value = json_integer_value(member);
    return !member || (json_is_integer(member) && *value >= 0 && *value <= most) ||
           parse_malformed(p, key, "%s is no number from 0 to %" JSON_INTEGER_FORMAT, key, most);
}

static bool parse_frames(struct parsing *p, json_t *frames)
{
    struct trace_event *event = &p->room->event;
    if (!frames)
        return true;
    if (!json_is_array(frames) || json_array_size(frames) > FRAMES_MOST)
        return parse_malformed(p, "frames", "frames is not a list of at most %d addresses", FRAMES_MOST);
    for (size_t i = 0; i < json_array_size(frames); i++) {
        const char *text = parse_text(p, json_array_get(frames, i));
        if (!text || strlen(text) >= TRACE_FRAME_TEXT)
            return parse_malformed(p, "frames", "a frame is no text, or too long");
        p->room->frame[i] = text;
    }
    event->frames = (uint32_t)json_array_size(frames);
    event->frame = p->room->frame;
    return true;
}

static bool parse_moment(struct parsing *p, json_t *json)
{
    struct trace_event *event = &p->room->event;
    json_int_t time = 0, place = 0;
    json_t *shared = json_object_get(json, "shared");
    if (!p->store->own)
        return true;
    if ((shared && !parse_hex(p, "shared", shared, &event->shared)) || !parse_count(p, json, "time", INT64_MAX, &time) ||
        !parse_count(p, json, "place", PLACE_MOST, &place))
        return false;
    event->time = (uint64_t)time;
    event->place = (uint32_t)place;
    return !place || parse_frames(p, json_object_get(json, "frames"));
}

/* ---- a call ---- */

static bool parse_head(struct parsing *p, json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "call"));
    json_t *thread = json_object_get(json, "thread"), *code = json_object_get(json, "code"), *number = json_object_get(json, "n");
    const enum vmm_call_id id = name ? vmm_call_find(name) : VMM_CALL_COUNT;
    if (id == VMM_CALL_COUNT)
        return parse_malformed(p, "\"call\"", "%s", name ? "\"call\" names no call that is known" : "no \"call\" in this line");
    if (!json_is_integer(thread) || json_integer_value(thread) < 1 || json_integer_value(thread) >= THREADS)
        return parse_malformed(p, "\"thread\"", "no \"thread\" from 1 to %d", THREADS - 1);
    if (!json_is_integer(code) || json_integer_value(code) < 0 || json_integer_value(code) > INT32_MAX)
        return parse_malformed(p, "\"code\"", "no \"code\" in this line, a result's number");
    if (!json_is_integer(number) || json_integer_value(number) < 0)
        return parse_malformed(p, "\"n\"", "no \"n\" in this line, the number of the call");
    p->args = json_object_get(json, "args");
    p->given = json_object_get(json, "names");
    p->out = json_object_get(json, "out");
    if (!json_is_object(p->args))
        return parse_malformed(p, "\"args\"", "no \"args\" object in this line");
    p->params = vmm_call_params(id, &p->count);
    trace_room_begin(p->room, id);
    struct trace_event *event = &p->room->event;
    p->room->call.head.number = (uint64_t)json_integer_value(number);
    event->thread = (uint32_t)json_integer_value(thread);
    event->result = (vmm_result)json_integer_value(code);
    event->wrote = event->result == VMM_SUCCESS || p->out;
    return true;
}

static bool parse_call(struct parsing *p, json_t *json)
{
    if (!parse_head(p, json) || !parse_arguments(p) || (p->room->event.wrote && !parse_outputs(p)) || !parse_detail(p, json) ||
        !parse_moment(p, json) || !check_names(p, false))
        return false;
    names_learn(&p->names, &p->room->event);
    if (!check_names(p, true))
        return false;
    trace_store_add(p->store, &p->room->event);
    p->line.calls++;
    return true;
}

/* ---- the trace ---- */

static bool parse_header(struct parsing *p, json_t *json)
{
    struct trace_store *store = p->store;
    if (!json || !trace_line_header(&p->line, json, &store->complaint))
        return false;
    store->own = json_object_get(json, "process") != NULL;
    store->header = text_grow(NULL, p->line.text.length + 1);
    strcpy(store->header, p->line.text.data);
    return true;
}

static bool parse_line(struct parsing *p, json_t *json)
{
    if (!json_object_get(json, "end"))
        return parse_call(p, json);
    p->store->whole = trace_line_footer(&p->line, json, &p->store->complaint);
    p->store->said = p->line.calls;
    return p->store->whole;
}

static bool parse_lines(struct parsing *p)
{
    struct text *complaint = &p->store->complaint;
    json_t *json = trace_line_next(&p->line, complaint);
    const bool header = parse_header(p, json);
    bool more = header;
    json_decref(json);
    if (!p->line.number)
        return parse_malformed(p, NULL, "empty; a trace begins with a header line");
    while (more && (json = trace_line_next(&p->line, complaint)) != NULL) {
        more = parse_line(p, json);
        json_decref(json);
    }
    if (complaint->length && header && !p->line.whole)
        text_add(complaint, " (an incomplete line: the program was stopped while writing it)");
    return header;
}

bool trace_lines_read(struct trace_store *store, FILE *in)
{
    struct parsing *p = text_grow(NULL, sizeof *p);
    memset(p, 0, sizeof *p);
    p->store = store;
    p->line = (struct trace_line){.in = in, .name = store->name};
    p->room = text_grow(NULL, sizeof *p->room);
    const bool header = parse_lines(p);
    names_free(&p->names);
    trace_line_end(&p->line);
    free(p->room);
    free(p);
    return header;
}

#endif
