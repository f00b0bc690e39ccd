/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS; before any header */
#include "findings_record.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "findings_stream.h"
#include "marks.h"
#include "os_thread.h"
#include "posix.h"
#include "stacks.h"

/* What a record may contain. */
struct limits {
    size_t text; /* bytes of a text */
    unsigned frames; /* of a stack */
    bool others;
};

enum { LABEL = 12, TEXTS = 32 << 10 }; /* "  what      " before each text of a detail, and room for all of them */

/* Too much for the stack of a signal's handler. */
struct scratch {
    struct stacks_frame frames[STACKS_MOST];
    char texts[TEXTS];
};

const char *findings_class_name(enum finding class)
{
    static const char *const names[] = {[FINDING_NOTHING] = "nothing",
                                        [FINDING_NOTE] = "note",
                                        [FINDING_ERROR] = "error",
                                        [FINDING_HAZARD] = "hazard",
                                        [FINDING_LEAK] = "leak"};
    return names[class];
}

static void text_or_null(struct json *out, const char *key, const char *value, size_t most)
{
    char copy[256];
    if (!value) {
        jsonw_null(out, key);
    } else if (strlen(value) <= most) {
        jsonw_text(out, key, value);
    } else {
        snprintf(copy, sizeof copy, "%.*s", (int)most, value);
        jsonw_text(out, key, copy);
    }
}

/* ---- the texts of a detail ---- */

/* What the parent knows about the rule. */
static bool is_of_the_rule(const char *label)
{
    return strncmp(label, "why ", 4) == 0 || strncmp(label, "fix ", 4) == 0 || strncmp(label, "more ", 5) == 0;
}

/* ["what","part of the range is already mapped"]; changes the line. */
static void write_line(struct json *out, char *line, size_t most)
{
    size_t label = LABEL;
    char *text = line + LABEL;
    while (line[label - 1] == ' ') /* ends at line[2], which is none (begins) */
        label--;
    line[label] = '\0';
    jsonw_open(out, NULL, '[');
    jsonw_text(out, NULL, line + 2);
    text_or_null(out, NULL, text, most);
    jsonw_close(out, ']');
}

/* Does a text begin here? Otherwise the line continues the one before it. */
static bool begins(const char *line)
{
    return strlen(line) > LABEL && strncmp(line, "  ", 2) == 0 && line[2] != ' ' && line[LABEL - 1] == ' ';
}

/* The lines behind the first. */
static void write_texts(struct json *out, char *text, size_t most)
{
    char *line = strchr(text, '\n');
    jsonw_open(out, "text", '[');
    while (line && line[1]) {
        char *next = strchr(line + 1, '\n');
        while (next && next[1] && !begins(next + 1)) {
            *next = ' ';
            next = strchr(next, '\n');
        }
        if (next)
            *next = '\0';
        if (begins(line + 1) && !is_of_the_rule(line + 3))
            write_line(out, line + 1, most);
        line = next;
    }
    jsonw_close(out, ']');
}

/* ---- places ---- */

static void write_frame(struct json *out, const struct stacks_frame *frame, size_t most)
{
    jsonw_open(out, NULL, '{');
    if (frame->python) {
        text_or_null(out, "python", frame->python, most);
        jsonw_int(out, "line", frame->line);
        text_or_null(out, "function", frame->function, most);
    } else {
        text_or_null(out, "module", frame->module, most);
        text_or_null(out, "build", frame->build, most);
        jsonw_int(out, "offset", (int64_t)frame->offset);
    }
    jsonw_close(out, '}');
}

/* frames is room for STACKS_MOST. */
static void write_stack(struct json *out, uint32_t stack, const struct limits *limits, struct stacks_frame *frames)
{
    unsigned count = stacks_frames(stack, frames, limits->frames);
    jsonw_open(out, "stack", '[');
    for (unsigned i = 0; i < count; i++)
        write_frame(out, &frames[i], limits->text);
    jsonw_close(out, ']');
}

static void write_other(struct json *out, const char *role, const vmm_site *site, const struct limits *limits,
                        struct stacks_frame *frames)
{
    if (!site->call)
        return;
    jsonw_open(out, NULL, '{');
    jsonw_text(out, "role", role);
    text_or_null(out, "function", site->function, limits->text);
    jsonw_int(out, "call", (int64_t)site->call);
    write_stack(out, site->stack, limits, frames);
    jsonw_close(out, '}');
}

/* Other calls that the finding involves. */
static void write_others(struct json *out, const vmm_detail *detail, const struct findings_place *place,
                         const struct limits *limits, struct stacks_frame *frames)
{
    const vmm_object *object = &detail->nearest;
    jsonw_open(out, "others", '[');
    if (limits->others && object->kind != VMM_OBJECT_NONE) {
        write_other(out, "made by", &(vmm_site){object->created_by, object->created, object->created_stack}, limits, frames);
        write_other(out, "retained", &(vmm_site){object->retained_by, object->retained, object->retained_stack}, limits, frames);
        write_other(out, "ended by", &(vmm_site){object->ended_by, object->ended, object->ended_stack}, limits, frames);
    }
    if (limits->others && detail->order && detail->order->first.issued.function)
        write_other(out, "first", &detail->order->first.issued, limits, frames);
    if (limits->others && place->noticed.call)
        write_other(out, "noticed", &place->noticed, limits, frames);
    if (limits->others && detail->issued.call)
        write_other(out, "issued by", &detail->issued, limits, frames);
    else if (limits->others && detail->fault)
        write_other(out, "issued by", &(vmm_site){NULL, detail->fault->launch, detail->fault->launch_stack}, limits, frames);
    jsonw_close(out, ']');
}

static void write_object(struct json *out, const vmm_object *object)
{
    static const char *const kinds[] = {[VMM_OBJECT_DEVICE] = "device",
                                        [VMM_OBJECT_RESERVATION] = "reservation",
                                        [VMM_OBJECT_MAPPING] = "mapping",
                                        [VMM_OBJECT_HANDLE] = "handle",
                                        [VMM_OBJECT_ALLOCATION] = "allocation",
                                        [VMM_OBJECT_CONTEXT] = "context",
                                        [VMM_OBJECT_STREAM] = "stream",
                                        [VMM_OBJECT_EVENT] = "event",
                                        [VMM_OBJECT_BIND] = "bind",
                                        [VMM_OBJECT_POOL] = "pool",
                                        [VMM_OBJECT_ARRAY] = "array"};
    if (object->kind == VMM_OBJECT_NONE || (size_t)object->kind >= sizeof kinds / sizeof kinds[0])
        return;
    jsonw_open(out, "object", '{');
    jsonw_text(out, "kind", kinds[object->kind]);
    jsonw_int(out, "number", object->number);
    jsonw_hex(out, "start", object->start);
    jsonw_int(out, "size", (int64_t)object->size);
    jsonw_int(out, "device", object->location.id);
    jsonw_close(out, '}');
}

/* ---- a finding ---- */

static void write_finding(struct json *out, const vmm_detail *detail, enum finding class, const struct findings_place *place,
                          const struct limits *limits, struct scratch *scratch)
{
    jsonw_text(out, "class", findings_class_name(class));
    text_or_null(out, "rule", detail->rule, limits->text);
    jsonw_int(out, "result", detail->severity == VMM_SEVERITY_ERROR ? (int64_t)detail->result : 0);
    text_or_null(out, "function", place->call.function, limits->text);
    jsonw_int(out, "call", (int64_t)place->call.call);
    text_or_null(out, "argument", detail->argument, limits->text);
    jsonw_hex(out, "value", detail->value);
    vmm_detail_text(detail, scratch->texts, TEXTS);
    write_texts(out, scratch->texts, limits->text);
    text_or_null(out, "mark", class == FINDING_LEAK ? NULL : marks_now(), limits->text); /* it was made in another phase */
    if (marks_phases())
        jsonw_int(out, "phase", marks_phases());
    jsonw_int(out, "thread", (int64_t)os_thread_number());
    jsonw_hex(out, "print", place->print);
    write_stack(out, place->call.stack, limits, scratch->frames);
    write_others(out, detail, place, limits, scratch->frames);
    write_object(out, &detail->nearest);
}

bool record_finding(const vmm_detail *detail, enum finding class, const struct findings_place *place)
{
    static const struct limits whole = {SIZE_MAX, STACKS_MOST, true}, cut = {200, 8, false};
    struct json out;
    if (!record_begin(&out, "finding"))
        return false;
    struct scratch *scratch = posix.mmap(NULL, sizeof *scratch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    enum record_fate fate = RECORD_UNREAD;
    if (scratch != MAP_FAILED) {
        write_finding(&out, detail, class, place, &whole, scratch);
        fate = record_send(&out);
    }
    if (fate == RECORD_TOO_LONG) {
        record_again(&out, "finding");
        write_finding(&out, detail, class, place, &cut, scratch);
        jsonw_bool(&out, "cut", true);
        fate = record_send(&out);
    }
    if (scratch != MAP_FAILED)
        posix.munmap(scratch, sizeof *scratch);
    record_end(&out);
    return fate == RECORD_SENT;
}

/* ---- a process ---- */

static bool send_and_end(struct json *out)
{
    bool sent = record_send(out) == RECORD_SENT;
    record_end(out);
    return sent;
}

bool record_started(void)
{
    char program[1024];
    struct json out;
    if (!record_begin(&out, "begin"))
        return false;
    ssize_t length = posix.readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    jsonw_int(&out, "parent", getppid());
    jsonw_text(&out, "program", program);
    return send_and_end(&out);
}

bool record_checked(void)
{
    struct json out;
    return record_begin(&out, "checked") && send_and_end(&out);
}

bool record_stopped(enum findings_obstacle obstacle)
{
    static const char *const names[] = {[FINDINGS_NO_MACHINE] = "no machine", [FINDINGS_RUNTIME] = "runtime"};
    struct json out;
    if (!record_begin(&out, "stopped"))
        return false;
    jsonw_text(&out, "obstacle", names[obstacle]);
    return send_and_end(&out);
}

bool record_ended(void)
{
    const char *note = stacks_note();
    struct json out;
    if (!record_begin(&out, "end"))
        return false;
    if (note)
        jsonw_text(&out, "note", note);
    return send_and_end(&out);
}
