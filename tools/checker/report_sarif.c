/* SPDX-License-Identifier: Apache-2.0 */
/* --sarif: SARIF 2.1.0 (OASIS), as code scanning accepts it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "report.h"
#include "vmm.h"

#define SARIF_SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

static const char *level_of(enum finding class)
{
    return class == FINDING_ERROR ? "error" : class == FINDING_NOTE ? "note" : "warning";
}

/* "message":{"text":TEXT} */
static void write_message(struct json *json, const char *key, const char *text)
{
    jsonw_open(json, key, '{');
    jsonw_utf8(json, "text", text);
    jsonw_close(json, '}');
}

/* ---- places ---- */

/* A path as a URI reference: with characters that a URI does not allow as %XX. */
static void uri_of(const char *path, char *uri, size_t size)
{
    size_t length = 0;
    if (path[0] == '/')
        length = (size_t)snprintf(uri, size, "file://");
    for (; *path && length + 4 < size; path++) {
        if (isalnum((unsigned char)*path) || strchr("/-._~+@", *path))
            uri[length++] = *path;
        else
            length += (size_t)snprintf(uri + length, size - length, "%%%02X", (unsigned char)*path);
    }
    uri[length] = '\0';
}

static void write_physical(struct json *json, const struct place *place)
{
    char uri[3 * 4096];
    const char *root = getenv("GITHUB_WORKSPACE");
    char here[4096];
    const char *folder = root && root[0] ? root : getcwd(here, sizeof here) ? here : "";
    uri_of(place_below(place->file, folder), uri, sizeof uri);
    jsonw_open(json, "physicalLocation", '{');
    jsonw_open(json, "artifactLocation", '{');
    jsonw_utf8(json, "uri", uri);
    jsonw_close(json, '}');
    if (place->line) {
        jsonw_open(json, "region", '{');
        jsonw_int(json, "startLine", place->line);
        jsonw_close(json, '}');
    }
    jsonw_close(json, '}');
}

static void write_place(struct json *json, const char *key, const struct place *place)
{
    jsonw_open(json, key, '{');
    if (place->file[0])
        write_physical(json, place);
    jsonw_open(json, "logicalLocations", '[');
    jsonw_open(json, NULL, '{');
    jsonw_utf8(json, "fullyQualifiedName", place->function[0] ? place->function : "?");
    jsonw_text(json, "kind", "function");
    jsonw_close(json, '}');
    jsonw_close(json, ']');
    jsonw_close(json, '}');
}

static void write_stack(struct json *json, const char *message, const struct places *places)
{
    if (!places->count)
        return;
    jsonw_open(json, NULL, '{');
    write_message(json, "message", message);
    jsonw_open(json, "frames", '[');
    for (unsigned i = 0; i < places->count; i++) {
        const struct place *place = &places->place[i];
        jsonw_open(json, NULL, '{');
        write_place(json, "location", place);
        if (place->module[0])
            jsonw_utf8(json, "module", place->module);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
    jsonw_close(json, '}');
}

/* ---- rules ---- */

/* The rules that the results name, each once; their number is the index that results use. */
struct rules {
    const vmm_rule *first;
    int *index; /* by the rule's index in the table; -1: none */
    int count;
};

static bool rules_begin(struct rules *rules)
{
    size_t all;
    rules->first = vmm_rules(&all);
    rules->count = 0;
    rules->index = malloc(all * sizeof *rules->index);
    for (size_t i = 0; rules->index && i < all; i++)
        rules->index[i] = -1;
    return rules->index != NULL;
}

static void write_rules(struct json *json, const struct run *run, struct rules *rules)
{
    jsonw_open(json, "rules", '[');
    for (unsigned i = 0; i < groups_count(run->groups); i++) {
        const vmm_rule *row = groups_at(run->groups, i)->row;
        if (!row || rules->index[row - rules->first] >= 0)
            continue;
        rules->index[row - rules->first] = rules->count++;
        jsonw_open(json, NULL, '{');
        jsonw_utf8(json, "id", row->id);
        write_message(json, "shortDescription", row->message);
        write_message(json, "fullDescription", row->explanation);
        write_message(json, "help", row->way_out);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

/* ---- results ---- */

static void write_result_places(struct json *json, const struct group *group)
{
    const struct place *source = places_source(&group->places);
    jsonw_open(json, "locations", '[');
    if (source || group->places.count)
        write_place(json, NULL, source ? source : &group->places.place[0]);
    jsonw_close(json, ']');
    jsonw_open(json, "stacks", '[');
    write_stack(json, group->class == FINDING_LEAK ? "made by" : "called by", &group->places);
    for (unsigned i = 0; i < group->others; i++)
        write_stack(json, group->other[i].role, &group->other[i].places);
    jsonw_close(json, ']');
}

static void write_result(struct json *json, const struct group *group, const struct rules *rules)
{
    char text[1200], print[20];
    const char *here = group_text(group, "here");
    snprintf(text, sizeof text, "%.200s: %.400s%s%.500s", group->function, group_what(group), here[0] ? "; " : "", here);
    snprintf(print, sizeof print, "%016llx", (unsigned long long)group->key);
    jsonw_open(json, NULL, '{');
    if (group->rule[0])
        jsonw_utf8(json, "ruleId", group->rule);
    if (group->row)
        jsonw_int(json, "ruleIndex", rules->index[group->row - rules->first]);
    jsonw_text(json, "level", level_of(group->class));
    jsonw_text(json, "kind", "fail");
    write_message(json, "message", text);
    write_result_places(json, group);
    jsonw_int(json, "occurrenceCount", (int64_t)group->times);
    jsonw_open(json, "partialFingerprints", '{');
    jsonw_text(json, "cuvmm/v1", print);
    jsonw_close(json, '}');
    jsonw_open(json, "suppressions", '[');
    if (group->suppressed) {
        jsonw_open(json, NULL, '{');
        jsonw_text(json, "kind", "external");
        jsonw_utf8(json, "justification", group->suppressed->name);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
    jsonw_close(json, '}');
}

static void write_tool(struct json *json, const struct run *run, struct rules *rules)
{
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
    jsonw_open(json, "tool", '{');
    jsonw_open(json, "driver", '{');
    jsonw_text(json, "name", "cuvmm check");
    jsonw_text(json, "version", version);
    jsonw_text(json, "semanticVersion", version);
    write_rules(json, run, rules);
    jsonw_close(json, '}');
    jsonw_close(json, '}');
}

static void write_invocation(struct json *json, const struct report *report)
{
    jsonw_open(json, "invocations", '[');
    jsonw_open(json, NULL, '{');
    jsonw_open(json, "arguments", '[');
    for (char **word = report->run->options->command; *word; word++)
        jsonw_utf8(json, NULL, *word);
    jsonw_close(json, ']');
    jsonw_bool(json, "executionSuccessful", report->checked);
    jsonw_int(json, "exitCode", report->end->status);
    if (report->end->signal_number)
        jsonw_int(json, "exitSignalNumber", report->end->signal_number);
    jsonw_open(json, "toolExecutionNotifications", '[');
    jsonw_open(json, NULL, '{');
    jsonw_text(json, "level", report->checked ? "note" : "error");
    write_message(json, "message", report->text);
    jsonw_close(json, '}');
    jsonw_close(json, ']');
    jsonw_close(json, '}');
    jsonw_close(json, ']');
}

void report_sarif(const struct report *report, FILE *out)
{
    const struct run *run = report->run;
    struct json json = {0};
    struct rules rules;
    if (!rules_begin(&rules))
        return;
    jsonw_open(&json, NULL, '{');
    jsonw_text(&json, "$schema", SARIF_SCHEMA);
    jsonw_text(&json, "version", "2.1.0");
    jsonw_open(&json, "runs", '[');
    jsonw_open(&json, NULL, '{');
    write_tool(&json, run, &rules);
    write_invocation(&json, report);
    jsonw_text(&json, "columnKind", "utf16CodeUnits");
    jsonw_open(&json, "results", '[');
    for (unsigned i = 0; i < groups_count(run->groups); i++)
        write_result(&json, groups_at(run->groups, i), &rules);
    jsonw_close(&json, ']');
    jsonw_close(&json, '}');
    jsonw_close(&json, ']');
    jsonw_close(&json, '}');
    jsonw_newline(&json);
    if (!json.failed)
        fwrite(json.text, 1, json.length, out);
    jsonw_free(&json);
    free(rules.index);
}
