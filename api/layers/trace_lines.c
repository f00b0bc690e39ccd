/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_lines.h"

#include <inttypes.h>
#include <stdio.h>

#include "trace.h"
#include "trace_place.h"
#include "trace_self.h"
#include "trace_value.h"

void trace_put_header(struct json *json, const struct vmm_backend *inner, bool own, uint64_t clock, int64_t fork_of)
{
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
    jsonw_open(json, NULL, '{');
    jsonw_int(json, "cuvmm-trace", TRACE_FORMAT);
    jsonw_text(json, "version", version);
    jsonw_open(json, "inner", '[');
    for (; inner; inner = inner->inner)
        jsonw_text(json, NULL, inner->ops->name);
    jsonw_close(json, ']');
    if (own)
        trace_self(json, clock, fork_of);
    jsonw_close(json, '}');
}

void trace_put_footer(struct json *json, uint64_t calls)
{
    jsonw_open(json, NULL, '{');
    jsonw_int(json, "end", 1);
    jsonw_int(json, "calls", (int64_t)calls);
    jsonw_close(json, '}');
}

/* ---- names ---- */

static bool is_descriptor(enum vmm_param_kind kind)
{
    return kind == VMM_PARAM_FD || kind == VMM_PARAM_OUT_FD || kind == VMM_PARAM_IPC_HANDLE || kind == VMM_PARAM_OUT_IPC_HANDLE;
}

static bool name_of(struct names *names, const struct trace_event *event, const struct vmm_param *param, struct name *name)
{
    uint64_t value = 0;
    if (is_descriptor(param->kind)) {
        *name = (struct name){NAME_DESCRIPTOR, event->descriptor, 0, false};
        return event->descriptor != 0;
    }
    return trace_object(event, param, &value) && names_find(names, param->kind, value, name);
}

static void put_names(struct json *json, const struct trace_event *event, struct names *names, bool out)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)event->call->id, &count);
    for (size_t i = 0; i < count; i++) {
        char text[NAME_MAX_TEXT];
        struct name name;
        if (trace_is_out(params[i].kind) != out || !name_of(names, event, &params[i], &name))
            continue;
        name_text(&name, text);
        jsonw_text(json, params[i].name, text);
    }
}

/* Names of what was passed are looked up before the call's effect on names, those of outputs after it. */
static void put_all_names(struct json *json, const struct trace_event *event, struct names *names)
{
    jsonw_open(json, "names", '{');
    put_names(json, event, names, false);
    names_learn(names, event);
    put_names(json, event, names, true);
    if (!json->failed && json->text[json->length - 1] == '{')
        jsonw_drop_empty(json, "names");
    else
        jsonw_close(json, '}');
}

/* ---- details ---- */

char trace_object_letter(vmm_object_kind kind)
{
    static const char letters[] = "?DRMHACSEBPY"; /* indexed by enum vmm_object_kind */
    _Static_assert(sizeof letters == VMM_OBJECT_ARRAY + 2, "a letter for each kind of object");
    return letters[kind];
}

static void put_nearest(struct json *json, const vmm_object *nearest)
{
    char name[24];
    const uint64_t number = nearest->kind == VMM_OBJECT_DEVICE ? nearest->value : nearest->number;
    if (nearest->kind == VMM_OBJECT_NONE)
        return;
    snprintf(name, sizeof name, "%c%" PRIu64, trace_object_letter(nearest->kind), number);
    jsonw_text(json, "nearest", name);
}

static void put_detail(struct json *json, const vmm_detail *detail)
{
    if (detail->severity != VMM_SEVERITY_WARNING && detail->severity != VMM_SEVERITY_ERROR)
        return;
    jsonw_text(json, "severity", detail->severity == VMM_SEVERITY_WARNING ? "warning" : "error");
    if (detail->rule)
        jsonw_text(json, "rule", detail->rule);
    if (detail->argument) {
        jsonw_text(json, "argument", detail->argument);
        jsonw_hex(json, "value", detail->value);
    }
    if (detail->expected)
        jsonw_hex(json, "expected", detail->expected);
    put_nearest(json, &detail->nearest);
    if (detail->note[0])
        jsonw_text(json, "note", detail->note);
}

/* ---- the line ---- */

void trace_put_event(struct json *json, const struct trace_event *event, struct names *names, bool own)
{
    jsonw_open(json, NULL, '{');
    jsonw_int(json, "n", (int64_t)event->call->number);
    jsonw_int(json, "thread", (int64_t)event->thread);
    jsonw_text(json, "call", vmm_call_name((enum vmm_call_id)event->call->id));
    trace_args(json, event);
    put_all_names(json, event, names);
    jsonw_text(json, "result", vmm_result_name(event->result));
    jsonw_int(json, "code", event->result);
    if (event->wrote)
        trace_outs(json, event);
    put_detail(json, event->detail);
    if (own) {
        if (event->shared)
            jsonw_hex(json, "shared", event->shared);
        jsonw_int(json, "time", (int64_t)event->time);
        trace_place_write(json, event);
    }
    jsonw_close(json, '}');
}
