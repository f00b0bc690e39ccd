/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "rule_words.h"
#include "text.h"


const char *explain_class(vmm_rule_class rule_class)
{
    switch (rule_class) {
    case VMM_RULE_ARGUMENT: return "argument";
    case VMM_RULE_STATE: return "state";
    case VMM_RULE_LIFETIME: return "lifetime";
    case VMM_RULE_LIMIT: return "limit";
    case VMM_RULE_HAZARD: return "hazard";
    }
    return "?";
}

const char *explain_origin(vmm_rule_origin origin)
{
    switch (origin) {
    case VMM_ORIGIN_DOCUMENTED: return "documented";
    case VMM_ORIGIN_OBSERVED: return "observed";
    case VMM_ORIGIN_OURS: return "ours";
    }
    return "?";
}

const char *explain_behaviour(vmm_rule_behaviour behaviour)
{
    switch (behaviour) {
    case VMM_DRIVER_UNKNOWN: return "unknown";
    case VMM_DRIVER_REJECTS: return "rejects";
    case VMM_DRIVER_ACCEPTS: return "accepts";
    case VMM_DRIVER_CRASHES: return "crashes";
    case VMM_DRIVER_VARIES: return "varies";
    }
    return "?";
}

static const struct {
    const char *name;
    vmm_result value;
} results[] = {
#define VMM_RESULT(name, number, text) {#name, VMM_##name},
#include "results.def"
};

#define RESULTS (sizeof results / sizeof results[0])

static void field(FILE *out, const char *name, const char *text, const char *otherwise)
{
    const bool fix = strcmp(name, "fix") == 0;
    fprintf(out, "  %s%-12s%s", text_colour(fix ? "32" : "36"), name, text_colour("0"));
    text_wrap(out, text[0] ? text : otherwise, 14, 14, text_columns() - 4);
    fputs("\n", out);
}

static void print_recorded(FILE *out, const char *machine, const char *sentence, bool first)
{
    struct text text = {0};
    text_add(&text, "%s: %s", machine, sentence);
    field(out, first ? "recorded" : "", text.data, "");
    text_free(&text);
}

static void print_indented(FILE *out, const char *lines)
{
    for (const char *end; *lines; lines = end + 1) {
        end = strchr(lines, '\n');
        fprintf(out, "    %.*s\n", (int)(end - lines), lines);
    }
}

static void explain_example_of(FILE *out, const char *rule)
{
    struct rule_example example;
    struct text text = {0}, machine = {0};
    if (!rule_example_find(rule, &example))
        return;
    if (rule_example_part(&example, EXAMPLE_REASON, &text)) {
        fputs("\n", out);
        field(out, "example", "no script can break it:", "");
        print_indented(out, text.data);
    } else if (rule_example_part(&example, EXAMPLE_BOTH, &text)) {
        fputs("\n", out);
        field(out, "example", "'-' breaks the rule, '+' is the fix", "");
        bool own = rule_example_part(&example, EXAMPLE_MACHINE, &machine) != 0;
        if (own) {
            print_indented(out, machine.data);
            field(out, "", "is the machine, in my.profile, and", "");
        }
        print_indented(out, text.data);
        if (own)
            fprintf(out, "  %-12scuvmm explain %s --machine > my.profile\n", "try it", rule);
        fprintf(out, "  %-12scuvmm explain %s --broken | cuvmm run -%s(or --corrected)\n", own ? "" : "try it", rule,
                text_columns() >= COLUMNS_USUAL ? "       " : "\n              ");
    }
    text_free(&text);
    text_free(&machine);
}

static void explain_rule(FILE *out, const vmm_rule *rule)
{
    struct text result = {0};
    rule_words_result(rule, &result);
    fprintf(out, "%s%s%s\n", text_colour("1"), rule->id, text_colour("0"));
    fprintf(out, "  %-12s%s%s%s\n", "call", rule_words_calls(rule->function), rule->argument[0] ? ", argument " : "",
            rule->argument);
    field(out, "result", result.data, "");
    fprintf(out, "  %-12s%s rule, %s; driver 580.159.04: %s\n", "kind", explain_class(rule->rule_class),
            explain_origin(rule->origin), explain_behaviour(rule->driver_580));
    if (rule->needs[0])
        field(out, "needs", rule->needs, "");
    fputs("\n", out);
    field(out, "what", rule->message, "-");
    field(out, "why", rule->explanation, "-");
    field(out, "fix", rule->way_out, "-");
    fputs("\n", out);
    field(out, "documents", rule->documents, "say nothing about it");
    field(out, "observed", rule->observed, "not measured");
    rule_words_each_recorded(out, rule->id, print_recorded);
    explain_example_of(out, rule->id);
    struct text page = {0};
    text_add(&page, "rulebook.html#%s; without a browser docs/rulebook.md", rule->id);
    field(out, "page", page.data, "");
    text_free(&page);
    text_free(&result);
}

static void explain_result(FILE *out, vmm_result result)
{
    size_t count, shown = 0;
    const vmm_rule *rules = vmm_rules(&count);
    struct text heading = {0};
    text_add(&heading, "%s%s%s (%d): %s", text_colour("1"), vmm_result_name(result), text_colour("0"), (int)result, vmm_result_text(result));
    text_wrap(out, heading.data, 0, 4, text_columns());
    fputs("\n", out);
    text_free(&heading);
    for (size_t i = 0; i < count; i++) {
        if (rules[i].result != result)
            continue;
        if (!shown++)
            fputs("\nRules with this result (`cuvmm explain RULE-ID` prints more):\n", out);
        fprintf(out, "  %-36s %s\n", rules[i].id, rules[i].function);
    }
}

static bool find_result(const char *name, vmm_result *result)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    bool numeric = end != name && *end == 0 && name[0] >= '0' && name[0] <= '9';
    if (strlen(name) > 5 && strncmp(name, "CUDA_", 5) == 0)
        name += 5;
    for (size_t i = 0; i < RESULTS; i++) {
        const char *shorter = strncmp(results[i].name, "ERROR_", 6) == 0 ? results[i].name + 6 : results[i].name;
        if (numeric ? number == (unsigned long)results[i].value
                    : text_same(name, results[i].name) || text_same(name, shorter)) {
            *result = results[i].value;
            return true;
        }
    }
    return false;
}

/* Where to look up an unknown name. */
static const char *where_else(const char *name)
{
    if (strncmp(name, "EX-", 3) == 0)
        return "; an exercise's grader explains the rules that are broken, `cuvmm exercise grade`";
    return strncmp(name, "cu", 2) == 0 ? "; `cuvmm rules --call NAME` lists the rules of a call"
                                       : "; `cuvmm rules` lists the rules";
}

static void suggest(FILE *err, const char *name)
{
    size_t count, shown = 0;
    const vmm_rule *rules = vmm_rules(&count);
    unsigned limit = strlen(name) < 8 ? 2 : 5;
    fprintf(err, "cuvmm: \"");
    text_print_safe(err, name, strlen(name), 60);
    fprintf(err, "\" is neither a rule id nor a result's name or number");
    for (unsigned distance = 0; distance <= limit; distance++) {
        for (size_t i = 0; i < count && shown < 4; i++)
            if (text_distance(name, rules[i].id, limit) == distance)
                fprintf(err, "%s%s", shown++ ? ", " : "; near: ", rules[i].id);
        for (size_t i = 0; i < RESULTS && shown < 4; i++)
            if (text_distance(name, results[i].name, limit) == distance ||
                (strncmp(results[i].name, "ERROR_", 6) == 0 &&
                 text_distance(name, results[i].name + 6, limit) == distance))
                fprintf(err, "%s%s", shown++ ? ", " : "; near: ", vmm_result_name(results[i].value));
    }
    fprintf(err, "%s\n", shown ? "" : where_else(name));
}

static const vmm_rule *find_rule(const char *name)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++)
        if (text_same(name, rules[i].id))
            return &rules[i];
    return NULL;
}

bool explain_example(FILE *out, FILE *err, const char *name, enum example_part part)
{
    const vmm_rule *rule = find_rule(name);
    struct rule_example example;
    struct text text = {0};
    vmm_result result;
    if (!rule && find_result(name, &result))
        fprintf(err, "cuvmm: %s is a result, and examples are of rules; `cuvmm explain %s` lists its rules\n",
                vmm_result_name(result), vmm_result_name(result));
    else if (!rule)
        suggest(err, name);
    if (!rule)
        return false;
    bool found = rule_example_find(rule->id, &example) && rule_example_part(&example, part, &text);
    if (found)
        fputs(text.data, out);
    else
        fprintf(err, "cuvmm: %s has no such part of an example; `cuvmm explain %s` shows what it has\n", rule->id, rule->id);
    text_free(&text);
    return found;
}

bool explain(FILE *out, FILE *err, const char *name)
{
    const vmm_rule *rule = find_rule(name);
    vmm_result result;
    if (rule) {
        explain_rule(out, rule);
        return true;
    }
    if (find_result(name, &result)) {
        explain_result(out, result);
        return true;
    }
    suggest(err, name);
    return false;
}
