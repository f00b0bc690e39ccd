/* SPDX-License-Identifier: Apache-2.0 */
/* The data of the page. See view.h. */
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view_links.h"

/* Words that many entries share, each once, in order of their first appearance; few enough to be looked through. */
struct table {
    int value[512];
    size_t count;
};

static size_t index_of(struct table *table, int value)
{
    size_t at = 0;
    while (at < table->count && table->value[at] != value)
        at++;
    if (at == table->count && table->count < sizeof table->value / sizeof table->value[0])
        table->value[table->count++] = value;
    return at;
}

/* One number of a list; TIMELINE_NONE is -1. */
static void put(struct json *json, uint32_t value)
{
    jsonw_int(json, NULL, value == TIMELINE_NONE ? -1 : (int64_t)value);
}

/* A column of numbers: what get says of each of count things. */
static void column(struct json *json, const char *key, const struct timeline *t, size_t count,
                   uint32_t (*get)(const struct timeline *t, size_t i))
{
    jsonw_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        put(json, get(t, i));
    jsonw_close(json, ']');
}

/* ---- calls ---- */

static uint32_t call_thread(const struct timeline *t, size_t i)
{
    return t->call[i].thread;
}

static uint32_t call_touched(const struct timeline *t, size_t i)
{
    return t->call[i].touched;
}

static uint32_t call_name(const struct timeline *t, size_t i)
{
    return (uint32_t)t->call[i].id;
}

static uint32_t call_place(const struct timeline *t, size_t i)
{
    return t->call[i].place;
}

/* As exact as the page needs, and exact as a number of JavaScript for 285 years. */
static void put_microseconds(struct json *json, uint64_t nanoseconds)
{
    jsonw_int(json, NULL, (int64_t)(nanoseconds / 1000));
}

static void put_process(struct json *json, const struct timeline *t)
{
    const struct timeline_process *process = &t->process;
    if (!process->known)
        return;
    jsonw_open(json, "process", '{');
    jsonw_int(json, "number", process->number);
    jsonw_int(json, "parent", process->parent);
    jsonw_int(json, "fork_of", process->fork_of);
    jsonw_text(json, "program", process->program);
    jsonw_text(json, "host", process->host);
    jsonw_text(json, "started", process->started);
    jsonw_int(json, "clock", (int64_t)(process->clock / 1000));
    jsonw_close(json, '}');
    jsonw_open(json, "stacks", '[');
    for (size_t i = 0; i < t->places; i++)
        jsonw_text(json, NULL, t->place[i].frames ? t->place[i].frames : "");
    jsonw_close(json, ']');
}

static void put_results(struct json *json, const struct table *results)
{
    jsonw_open(json, "results", '[');
    for (size_t i = 0; i < results->count; i++) {
        jsonw_open(json, NULL, '[');
        jsonw_int(json, NULL, results->value[i]);
        jsonw_text(json, NULL, vmm_result_name((vmm_result)results->value[i]));
        jsonw_text(json, NULL, vmm_result_text((vmm_result)results->value[i]));
        jsonw_close(json, ']');
    }
    jsonw_close(json, ']');
}

static void put_calls(struct json *json, const struct timeline *t)
{
    struct table results = {0};
    jsonw_open(json, "calls", '{');
    jsonw_open(json, "n", '[');
    for (size_t i = 0; i < t->calls; i++)
        jsonw_int(json, NULL, (int64_t)t->call[i].ordinal);
    jsonw_close(json, ']');
    column(json, "thread", t, t->calls, call_thread);
    column(json, "name", t, t->calls, call_name);
    column(json, "touched", t, t->calls, call_touched);
    jsonw_open(json, "result", '[');
    for (size_t i = 0; i < t->calls; i++)
        jsonw_int(json, NULL, (int64_t)index_of(&results, (int)t->call[i].result));
    jsonw_close(json, ']');
    jsonw_open(json, "words", '[');
    for (size_t i = 0; i < t->calls; i++)
        jsonw_text(json, NULL, t->call[i].words);
    jsonw_close(json, ']');
    jsonw_open(json, "answers", '[');
    for (size_t i = 0; i < t->calls; i++)
        jsonw_text(json, NULL, t->call[i].answers);
    jsonw_close(json, ']');
    if (t->process.known) {
        jsonw_open(json, "time", '[');
        for (size_t i = 0; i < t->calls; i++)
            put_microseconds(json, t->call[i].time);
        jsonw_close(json, ']');
        column(json, "place", t, t->calls, call_place);
    }
    jsonw_close(json, '}');
    put_results(json, &results);
    jsonw_open(json, "names", '[');
    for (int id = 0; id < VMM_CALL_COUNT; id++)
        jsonw_text(json, NULL, vmm_call_driver_name((enum vmm_call_id)id));
    jsonw_close(json, ']');
    jsonw_open(json, "touched", '[');
    for (size_t i = 0; i < t->touches; i++)
        put(json, t->touched[i]);
    jsonw_close(json, ']');
}

/* ---- objects ---- */

#define OBJECT_COLUMN(field) \
    static uint32_t object_##field(const struct timeline *t, size_t i) { return (uint32_t)t->object[i].field; }
OBJECT_COLUMN(kind)
OBJECT_COLUMN(number)
OBJECT_COLUMN(born)
OBJECT_COLUMN(died)
OBJECT_COLUMN(released)
OBJECT_COLUMN(handle)
OBJECT_COLUMN(memory)
OBJECT_COLUMN(context)
OBJECT_COLUMN(team)
OBJECT_COLUMN(exportable)
#undef OBJECT_COLUMN

/* The driver's values are small, so that both fit into one number. */
static int place_key(vmm_mem_location location)
{
    return (location.type & 0xff) << 16 | (location.id & 0xffff);
}

static void put_sizes(struct json *json, const char *key, const struct timeline *t, size_t offset)
{
    jsonw_open(json, key, '[');
    for (size_t i = 0; i < t->objects; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&t->object[i] + offset, sizeof value);
        jsonw_int(json, NULL, value > INT64_MAX ? INT64_MAX : (int64_t)value);
    }
    jsonw_close(json, ']');
}

static void put_objects(struct json *json, const struct timeline *t, struct table *places)
{
    jsonw_open(json, "objects", '{');
    column(json, "kind", t, t->objects, object_kind);
    column(json, "number", t, t->objects, object_number);
    column(json, "born", t, t->objects, object_born);
    column(json, "died", t, t->objects, object_died);
    column(json, "released", t, t->objects, object_released);
    column(json, "handle", t, t->objects, object_handle);
    column(json, "memory", t, t->objects, object_memory);
    column(json, "context", t, t->objects, object_context);
    column(json, "team", t, t->objects, object_team);
    column(json, "exportable", t, t->objects, object_exportable);
    put_sizes(json, "start", t, offsetof(struct timeline_object, start));
    put_sizes(json, "size", t, offsetof(struct timeline_object, size));
    put_sizes(json, "offset", t, offsetof(struct timeline_object, offset));
    jsonw_open(json, "place", '[');
    for (size_t i = 0; i < t->objects; i++)
        jsonw_int(json, NULL, (int64_t)index_of(places, place_key(t->object[i].location)));
    jsonw_close(json, ']');
    jsonw_close(json, '}');
    jsonw_open(json, "kinds", '[');
    for (int kind = 0; kind < TIMELINE_KINDS; kind++)
        jsonw_text(json, NULL, timeline_kind_text((enum timeline_kind)kind));
    jsonw_close(json, ']');
}

static uint32_t change_call(const struct timeline *t, size_t i)
{
    return t->change[i].call;
}

static uint32_t change_object(const struct timeline *t, size_t i)
{
    return t->change[i].object;
}

static uint32_t change_kind(const struct timeline *t, size_t i)
{
    return (uint32_t)t->change[i].kind;
}

static uint32_t change_value(const struct timeline *t, size_t i)
{
    return t->change[i].value;
}

static void put_changes(struct json *json, const struct timeline *t, struct table *places)
{
    jsonw_open(json, "changes", '{');
    column(json, "call", t, t->changes, change_call);
    column(json, "object", t, t->changes, change_object);
    column(json, "kind", t, t->changes, change_kind);
    column(json, "value", t, t->changes, change_value);
    jsonw_open(json, "place", '[');
    for (size_t i = 0; i < t->changes; i++)
        jsonw_int(json, NULL, (int64_t)index_of(places, place_key(t->change[i].location)));
    jsonw_close(json, ']');
    jsonw_close(json, '}');
    jsonw_open(json, "places", '[');
    for (size_t i = 0; i < places->count; i++) {
        jsonw_open(json, NULL, '[');
        jsonw_int(json, NULL, places->value[i] >> 16);
        jsonw_int(json, NULL, places->value[i] & 0xffff);
        jsonw_close(json, ']');
    }
    jsonw_close(json, ']');
}

/* ---- what was said ---- */

static bool is_said(const struct timeline_call *call)
{
    return call->severity != VMM_SEVERITY_NONE || timeline_is_error(call);
}

/* Could the rule be why the call was refused? Not one that the driver lets pass. */
static bool could_be(const vmm_rule *rule, const struct timeline_call *call)
{
    return rule->result == call->result && rule->driver_580 != VMM_DRIVER_ACCEPTS &&
           strcmp(rule->function, vmm_call_driver_name(call->id)) == 0;
}

/* By rule: is it named, or may it be meant? used has an entry a rule. */
static void put_said(struct json *json, const struct timeline *t, size_t i, const vmm_rule *rules, size_t count, bool *used)
{
    const struct timeline_call *call = &t->call[i];
    jsonw_open(json, NULL, '{');
    jsonw_int(json, "call", (int64_t)i);
    jsonw_int(json, "severity", timeline_is_error(call) ? 2 : 1);
    if (call->rule)
        jsonw_text(json, "rule", call->rule);
    if (call->argument) {
        jsonw_text(json, "argument", call->argument);
        jsonw_hex(json, "value", call->value);
    }
    if (call->expected)
        jsonw_hex(json, "expected", call->expected);
    if (call->nearest)
        jsonw_text(json, "nearest", call->nearest);
    if (call->nearest_object != TIMELINE_NONE)
        jsonw_int(json, "object", call->nearest_object);
    if (call->note)
        jsonw_text(json, "note", call->note);
    if (!call->rule)
        jsonw_open(json, "could", '[');
    for (size_t rule = 0; rule < count; rule++) {
        bool named = call->rule ? strcmp(call->rule, rules[rule].id) == 0 : could_be(&rules[rule], call);
        used[rule] |= named;
        if (named && !call->rule)
            jsonw_text(json, NULL, rules[rule].id);
    }
    if (!call->rule)
        jsonw_close(json, ']');
    jsonw_close(json, '}');
}

static void put_rule(struct json *json, const vmm_rule *rule)
{
    jsonw_open(json, rule->id, '{');
    jsonw_text(json, "function", rule->function);
    jsonw_text(json, "what", rule->message);
    jsonw_text(json, "why", rule->explanation);
    jsonw_text(json, "fix", rule->way_out);
    jsonw_text(json, "documents", rule->documents);
    jsonw_text(json, "observed", rule->observed);
    jsonw_int(json, "hazard", rule->rule_class == VMM_RULE_HAZARD);
    jsonw_close(json, '}');
}

static void put_all_said(struct json *json, const struct timeline *t)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    bool *used = text_grow(NULL, count * sizeof *used);
    memset(used, 0, count * sizeof *used);
    jsonw_open(json, "said", '[');
    for (size_t i = 0; i < t->calls; i++)
        if (is_said(&t->call[i]))
            put_said(json, t, i, rules, count, used);
    jsonw_close(json, ']');
    jsonw_open(json, "rules", '{');
    for (size_t i = 0; i < count; i++)
        if (used[i])
            put_rule(json, &rules[i]);
    jsonw_close(json, '}');
    free(used);
}

void view_data(struct json *json, const struct timeline *t, const char *name)
{
    struct table places = {0};
    jsonw_open(json, NULL, '{');
    jsonw_text(json, "trace", name);
    jsonw_text(json, "version", t->version);
    jsonw_text(json, "backend", t->backend);
    jsonw_int(json, "complete", t->complete);
    jsonw_text(json, "complaint", t->complaint.length ? t->complaint.data : "");
    put_process(json, t);
    put_calls(json, t);
    put_objects(json, t, &places);
    put_changes(json, t, &places);
    put_all_said(json, t);
    jsonw_close(json, '}');
}

static void put_link(struct json *json, const struct view_link *link)
{
    jsonw_open(json, NULL, '[');
    put(json, link->from);
    put(json, link->from_call);
    put(json, link->from_object);
    put(json, link->to);
    put(json, link->to_call);
    put(json, link->to_object);
    jsonw_int(json, NULL, link->guess);
    jsonw_close(json, ']');
}

void view_data_all(struct json *json, const struct view_traces *traces)
{
    struct view_links links;
    if (traces->count == 1) {
        view_data(json, &traces->timeline[0], traces->name[0]);
        return;
    }
    view_links_find(traces->timeline, traces->count, &links);
    jsonw_open(json, NULL, '{');
    jsonw_open(json, "traces", '[');
    for (size_t i = 0; i < traces->count; i++)
        view_data(json, &traces->timeline[i], traces->name[i]);
    jsonw_close(json, ']');
    jsonw_open(json, "links", '[');
    for (size_t i = 0; i < links.count; i++)
        put_link(json, &links.link[i]);
    jsonw_close(json, ']');
    jsonw_int(json, "unmatched", (int64_t)links.unmatched);
    jsonw_close(json, '}');
    view_links_free(&links);
}
