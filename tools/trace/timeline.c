/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool timeline_alive(const struct timeline_object *object, uint32_t call)
{
    return object->born <= call && call < object->died; /* TIMELINE_NONE is greater than every call */
}

const char *timeline_name(const struct timeline_object *object, char buffer[TIMELINE_NAME])
{
    static const char letters[] = "RMHHBACSED";
    snprintf(buffer, TIMELINE_NAME, "%c%" PRIu32, letters[object->kind], object->number);
    return buffer;
}

const char *timeline_kind_text(enum timeline_kind kind)
{
    static const char *const texts[] = {"reservation", "mapping", "handle",     "multicast object", "bind",
                                        "allocation",  "context", "stream",     "event",            "descriptor"};
    return texts[kind];
}

bool timeline_is_error(const struct timeline_call *call)
{
    return call->severity == VMM_SEVERITY_ERROR ||
           (call->result != VMM_SUCCESS && call->result != VMM_ERROR_NOT_READY);
}

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->calls; i++) {
        struct timeline_call *call = &timeline->call[i];
        free(call->words);
        free(call->answers);
        free(call->rule);
        free(call->argument);
        free(call->nearest);
        free(call->note);
    }
    for (size_t i = 0; i < timeline->places; i++)
        free(timeline->place[i].frames);
    free(timeline->place);
    free(timeline->process.program);
    free(timeline->call);
    free(timeline->object);
    free(timeline->change);
    free(timeline->touched);
    text_free(&timeline->complaint);
    *timeline = (struct timeline){0};
}

#ifndef CUVMM_HAVE_JANSSON

bool timeline_read(struct timeline *timeline, FILE *in, const char *name)
{
    (void)in;
    *timeline = (struct timeline){0};
    text_add(&timeline->complaint, "%s: this cuvmm was built without jansson, which reads traces; install its development "
                                   "files and build again", name);
    return false;
}

#else

#include "timeline_state.h"

static char *copy_of(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(text_grow(NULL, size), text, size);
}

/* A text of the line, or NULL. */
static char *text_of(json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? copy_of(text) : NULL;
}

static char *take_words(struct timeline_reader *r, void (*print)(struct timeline_reader *r))
{
    rewind(r->words);
    print(r);
    fputc(0, r->words);
    fflush(r->words);
    return copy_of(r->words_text);
}

static bool read_detail(struct timeline_reader *r, json_t *json)
{
    struct timeline_call *call = r->call;
    const char *severity = json_string_value(json_object_get(json, "severity"));
    if (!severity)
        return true;
    if (strcmp(severity, "warning") != 0 && strcmp(severity, "error") != 0)
        return trace_line_complain(&r->line, r->complaint, "\"severity\"", "severity is \"%.20s\"; error or warning is expected",
                                   severity);
    call->severity = severity[0] == 'w' ? VMM_SEVERITY_WARNING : VMM_SEVERITY_ERROR;
    call->rule = text_of(json, "rule");
    call->note = text_of(json, "note");
    call->nearest = text_of(json, "nearest");
    call->argument = text_of(json, "argument");
    if (call->argument && !timeline_number(r, json, "value", &call->value))
        return false;
    return !json_object_get(json, "expected") || timeline_number(r, json, "expected", &call->expected);
}

static bool read_head(struct timeline_reader *r, json_t *json)
{
    struct timeline_call *call = r->call;
    const char *name = json_string_value(json_object_get(json, "call"));
    json_t *thread = json_object_get(json, "thread"), *code = json_object_get(json, "code");
    call->id = name ? vmm_call_find(name) : VMM_CALL_COUNT;
    if (call->id == VMM_CALL_COUNT)
        return trace_line_complain(&r->line, r->complaint, "\"call\"", "%s",
                                   name ? "\"call\" names no call that is known" : "no \"call\" in this line");
    if (!json_is_integer(thread) || json_integer_value(thread) < 1 || json_integer_value(thread) >= TIMELINE_THREADS)
        return trace_line_complain(&r->line, r->complaint, "\"thread\"", "no \"thread\" from 1 to %d", TIMELINE_THREADS - 1);
    if (!json_is_integer(code) || json_integer_value(code) < 0 || json_integer_value(code) > INT32_MAX)
        return trace_line_complain(&r->line, r->complaint, "\"code\"", "no result's number as \"code\"");
    call->ordinal = (uint64_t)json_integer_value(json_object_get(json, "n"));
    call->thread = (uint32_t)json_integer_value(thread);
    call->result = (vmm_result)json_integer_value(code);
    call->line = r->line.number;
    r->at = (struct timeline_args){json_object_get(json, "args"), json_object_get(json, "names"),
                                   json_object_get(json, "out"), NULL, 0};
    r->at.params = vmm_call_params(call->id, &r->at.count);
    return json_is_object(r->at.args) ||
           trace_line_complain(&r->line, r->complaint, "\"args\"", "no \"args\" object in this line");
}

/* Names stand for what they named before the call, and for what it made after it. */
static void touch_named(struct timeline_reader *r)
{
    const char *key;
    json_t *name;
    uint64_t offset, address;
    json_object_foreach(r->at.names, key, name)
        timeline_touch(r, timeline_named(r, json_string_value(name), &offset));
    for (size_t i = 0; i < r->at.count; i++)
        if (r->at.params[i].kind == VMM_PARAM_ADDRESS &&
            trace_line_hex(json_string_value(json_object_get(r->at.args, r->at.params[i].name)), &address))
            timeline_touch(r, timeline_ranges_at(r->timeline, &r->ranges[TIMELINE_MAPPING], address));
}

/* A call that failed did nothing, but for rights (see set_access). */
static bool apply(struct timeline_reader *r)
{
    if (r->call->result != VMM_SUCCESS && r->call->id != VMM_CALL_mem_set_access)
        return true;
    return timeline_memory(r) && timeline_addresses(r) && timeline_contexts(r);
}

static void new_call(struct timeline_reader *r)
{
    struct timeline *t = r->timeline;
    if (t->calls == t->call_room) {
        t->call_room = t->call_room ? 2 * t->call_room : 256;
        t->call = text_grow(t->call, t->call_room * sizeof *t->call);
    }
    r->index = (uint32_t)t->calls;
    r->call = &t->call[t->calls++];
    *r->call = (struct timeline_call){.nearest_object = TIMELINE_NONE, .place = TIMELINE_NONE, .first_touched = (uint32_t)t->touches};
}

static bool read_call(struct timeline_reader *r, json_t *json)
{
    uint64_t offset;
    new_call(r);
    if (!read_head(r, json) || !read_detail(r, json) || !timeline_moment(r, json))
        return false;
    r->call->words = take_words(r, timeline_print_call);
    touch_named(r);
    if (!apply(r))
        return false;
    r->call->answers = take_words(r, timeline_print_answers);
    if (r->call->nearest && r->call->nearest[0] != 'D') { /* which is a device there, and a descriptor here */
        r->call->nearest_object = timeline_named(r, r->call->nearest, &offset);
        timeline_touch(r, r->call->nearest_object);
    }
    return true;
}

/* A call whose line turned out to be wrong has had no effect yet. */
static void forget_call(struct timeline_reader *r)
{
    struct timeline *t = r->timeline;
    free(r->call->words);
    free(r->call->rule);
    free(r->call->argument);
    free(r->call->nearest);
    free(r->call->note);
    t->touches = r->call->first_touched;
    t->calls--;
}

static bool read_header(struct timeline_reader *r, json_t *json)
{
    const char *version = json_string_value(json_object_get(json, "version"));
    struct timeline *t = r->timeline;
    if (!trace_line_header(&r->line, json, r->complaint))
        return false;
    snprintf(t->version, sizeof t->version, "%s", version ? version : "");
    snprintf(t->backend, sizeof t->backend, "%s", trace_line_backend(json));
    return timeline_header(r, json);
}

/* False: nothing after this line is read. */
static bool read_line(struct timeline_reader *r, json_t *json)
{
    if (json_object_get(json, "end")) {
        r->timeline->complete = trace_line_footer(&r->line, json, r->complaint);
        return r->timeline->complete;
    }
    if (r->timeline->calls == TIMELINE_NONE - 1)
        return trace_line_complain(&r->line, r->complaint, NULL, "too many calls");
    if (!read_call(r, json)) {
        forget_call(r);
        return false;
    }
    r->line.calls++;
    return true;
}

static bool read_all(struct timeline_reader *r)
{
    json_t *json = trace_line_next(&r->line, r->complaint);
    bool header = json && read_header(r, json), more = header;
    json_decref(json);
    if (!r->line.number)
        trace_line_complain(&r->line, r->complaint, NULL, "empty; a trace begins with a header line");
    while (more && (json = trace_line_next(&r->line, r->complaint)) != NULL) {
        more = read_line(r, json);
        json_decref(json);
    }
    if (r->complaint->length && header)
        text_add(r->complaint, "%s", r->line.whole ? "" : " (half a line: the program was stopped while it was written)");
    return header;
}

bool timeline_read(struct timeline *timeline, FILE *in, const char *name)
{
    struct timeline_reader *r = text_grow(NULL, sizeof *r);
    *timeline = (struct timeline){0};
    memset(r, 0, sizeof *r);
    r->timeline = timeline;
    r->complaint = &timeline->complaint;
    r->line = (struct trace_line){.in = in, .name = name};
    r->words = open_memstream(&r->words_text, &r->words_size);
    bool header = r->words && read_all(r);
    if (!r->words)
        text_add(r->complaint, "%s: out of memory", name);
    else
        fclose(r->words);
    for (int kind = 0; kind < TIMELINE_KINDS; kind++) {
        free(r->ranges[kind].object);
        free(r->numbered[kind].object);
    }
    free(r->holds);
    free(r->place);
    free(r->words_text);
    trace_line_end(&r->line);
    free(r);
    return header;
}

#endif
