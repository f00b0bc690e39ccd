/* SPDX-License-Identifier: Apache-2.0 */
/* The data of the page. See view.h. */
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    json_int(json, NULL, value == TIMELINE_NONE ? -1 : (int64_t)value);
}

/* A column of numbers: what get says of each of count things. */
static void column(struct json *json, const char *key, const struct timeline *t, size_t count,
                   uint32_t (*get)(const struct timeline *t, size_t i))
{
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        put(json, get(t, i));
    json_close(json, ']');
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

static void put_results(struct json *json, const struct table *results)
{
    json_open(json, "results", '[');
    for (size_t i = 0; i < results->count; i++) {
        json_open(json, NULL, '[');
        json_int(json, NULL, results->value[i]);
        json_text(json, NULL, vmm_result_name((vmm_result)results->value[i]));
        json_text(json, NULL, vmm_result_text((vmm_result)results->value[i]));
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void put_calls(struct json *json, const struct timeline *t)
{
    struct table results = {0};
    json_open(json, "calls", '{');
    json_open(json, "n", '[');
    for (size_t i = 0; i < t->calls; i++)
        json_int(json, NULL, (int64_t)t->call[i].ordinal);
    json_close(json, ']');
    column(json, "thread", t, t->calls, call_thread);
    column(json, "name", t, t->calls, call_name);
    column(json, "touched", t, t->calls, call_touched);
    json_open(json, "result", '[');
    for (size_t i = 0; i < t->calls; i++)
        json_int(json, NULL, (int64_t)index_of(&results, (int)t->call[i].result));
    json_close(json, ']');
    json_open(json, "words", '[');
    for (size_t i = 0; i < t->calls; i++)
        json_text(json, NULL, t->call[i].words);
    json_close(json, ']');
    json_open(json, "answers", '[');
    for (size_t i = 0; i < t->calls; i++)
        json_text(json, NULL, t->call[i].answers);
    json_close(json, ']');
    json_close(json, '}');
    put_results(json, &results);
    json_open(json, "names", '[');
    for (int id = 0; id < VMM_CALL_COUNT; id++)
        json_text(json, NULL, vmm_call_driver_name((enum vmm_call_id)id));
    json_close(json, ']');
    json_open(json, "touched", '[');
    for (size_t i = 0; i < t->touches; i++)
        put(json, t->touched[i]);
    json_close(json, ']');
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
    json_open(json, key, '[');
    for (size_t i = 0; i < t->objects; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&t->object[i] + offset, sizeof value);
        json_int(json, NULL, value > INT64_MAX ? INT64_MAX : (int64_t)value);
    }
    json_close(json, ']');
}

static void put_objects(struct json *json, const struct timeline *t, struct table *places)
{
    json_open(json, "objects", '{');
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
    json_open(json, "place", '[');
    for (size_t i = 0; i < t->objects; i++)
        json_int(json, NULL, (int64_t)index_of(places, place_key(t->object[i].location)));
    json_close(json, ']');
    json_close(json, '}');
    json_open(json, "kinds", '[');
    for (int kind = 0; kind < TIMELINE_KINDS; kind++)
        json_text(json, NULL, timeline_kind_text((enum timeline_kind)kind));
    json_close(json, ']');
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
    json_open(json, "changes", '{');
    column(json, "call", t, t->changes, change_call);
    column(json, "object", t, t->changes, change_object);
    column(json, "kind", t, t->changes, change_kind);
    column(json, "value", t, t->changes, change_value);
    json_open(json, "place", '[');
    for (size_t i = 0; i < t->changes; i++)
        json_int(json, NULL, (int64_t)index_of(places, place_key(t->change[i].location)));
    json_close(json, ']');
    json_close(json, '}');
    json_open(json, "places", '[');
    for (size_t i = 0; i < places->count; i++) {
        json_open(json, NULL, '[');
        json_int(json, NULL, places->value[i] >> 16);
        json_int(json, NULL, places->value[i] & 0xffff);
        json_close(json, ']');
    }
    json_close(json, ']');
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
    json_open(json, NULL, '{');
    json_int(json, "call", (int64_t)i);
    json_int(json, "severity", timeline_is_error(call) ? 2 : 1);
    if (call->rule)
        json_text(json, "rule", call->rule);
    if (call->argument) {
        json_text(json, "argument", call->argument);
        json_hex(json, "value", call->value);
    }
    if (call->expected)
        json_hex(json, "expected", call->expected);
    if (call->nearest)
        json_text(json, "nearest", call->nearest);
    if (call->nearest_object != TIMELINE_NONE)
        json_int(json, "object", call->nearest_object);
    if (call->note)
        json_text(json, "note", call->note);
    if (!call->rule)
        json_open(json, "could", '[');
    for (size_t rule = 0; rule < count; rule++) {
        bool named = call->rule ? strcmp(call->rule, rules[rule].id) == 0 : could_be(&rules[rule], call);
        used[rule] |= named;
        if (named && !call->rule)
            json_text(json, NULL, rules[rule].id);
    }
    if (!call->rule)
        json_close(json, ']');
    json_close(json, '}');
}

static void put_rule(struct json *json, const vmm_rule *rule)
{
    json_open(json, rule->id, '{');
    json_text(json, "function", rule->function);
    json_text(json, "what", rule->message);
    json_text(json, "why", rule->explanation);
    json_text(json, "fix", rule->way_out);
    json_text(json, "documents", rule->documents);
    json_text(json, "observed", rule->observed);
    json_int(json, "hazard", rule->rule_class == VMM_RULE_HAZARD);
    json_close(json, '}');
}

static void put_all_said(struct json *json, const struct timeline *t)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    bool *used = text_grow(NULL, count * sizeof *used);
    memset(used, 0, count * sizeof *used);
    json_open(json, "said", '[');
    for (size_t i = 0; i < t->calls; i++)
        if (is_said(&t->call[i]))
            put_said(json, t, i, rules, count, used);
    json_close(json, ']');
    json_open(json, "rules", '{');
    for (size_t i = 0; i < count; i++)
        if (used[i])
            put_rule(json, &rules[i]);
    json_close(json, '}');
    free(used);
}

void view_data(struct json *json, const struct timeline *t, const char *name)
{
    struct table places = {0};
    json_open(json, NULL, '{');
    json_text(json, "trace", name);
    json_text(json, "version", t->version);
    json_text(json, "backend", t->backend);
    json_int(json, "complete", t->complete);
    json_text(json, "complaint", t->complaint.length ? t->complaint.data : "");
    put_calls(json, t);
    put_objects(json, t, &places);
    put_changes(json, t, &places);
    put_all_said(json, t);
    json_close(json, '}');
}
