/* SPDX-License-Identifier: Apache-2.0 */
/* What was said of calls: details, and the rules that they name. See view.h. */
#include <stdlib.h>
#include <string.h>

#include "view_columns.h"

/* Could the rule be why the call was refused? Not one that the driver lets pass. */
static bool could_be(const vmm_rule *rule, const struct timeline_call *call)
{
    return rule->result == call->result && rule->driver_580 != VMM_DRIVER_ACCEPTS &&
           strcmp(rule->function, vmm_call_driver_name(call->id)) == 0;
}

/* By rule: is it named, or may it be meant? used has an entry a rule. */
static void put_one(struct json *json, const struct timeline *t, uint32_t i, const vmm_rule *rules, size_t count, bool *used)
{
    const struct timeline_call *call = timeline_call(t, i);
    jsonw_open(json, NULL, '{');
    jsonw_int(json, "call", i);
    jsonw_int(json, "severity", timeline_is_error(t, i) ? 2 : 1);
    jsonw_int(json, "name", (int64_t)call->id);
    jsonw_int(json, "result", (int64_t)call->result);
    if (call->rule)
        jsonw_text(json, "rule", call->rule);
    if (call->argument) {
        jsonw_text(json, "argument", call->argument);
        jsonw_hex(json, "value", call->value);
    }
    if (call->expected)
        jsonw_hex(json, "expected", call->expected);
    if (call->nearest[0])
        jsonw_text(json, "nearest", call->nearest);
    if (call->nearest_object != TIMELINE_NONE)
        jsonw_int(json, "object", call->nearest_object);
    if (call->note[0])
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

size_t said_from(const struct timeline *t, uint32_t call)
{
    size_t low = 0, high = t->all_said;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->said[middle] < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void put_said(struct json *json, const struct timeline *t, size_t from, size_t to, const char *key)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    bool *used = text_grow(NULL, count * sizeof *used);
    memset(used, 0, count * sizeof *used);
    jsonw_open(json, key, '[');
    for (size_t i = from; i < to; i++)
        put_one(json, t, t->said[i], rules, count, used);
    jsonw_close(json, ']');
    jsonw_open(json, "rules", '{');
    for (size_t i = 0; i < count; i++)
        if (used[i])
            put_rule(json, &rules[i]);
    jsonw_close(json, '}');
    free(used);
}
