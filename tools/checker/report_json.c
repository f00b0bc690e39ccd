/* SPDX-License-Identifier: Apache-2.0 */
/* --json: everything that is known about a run, according to check-report.schema.json. */
#include "findings_record.h"
#include "json.h"
#include "report.h"
#include "vmm.h"

static void write_places(struct json *json, const char *key, const struct places *places)
{
    jsonw_open(json, key, '[');
    for (unsigned i = 0; i < places->count; i++) {
        const struct place *place = &places->place[i];
        jsonw_open(json, NULL, '{');
        jsonw_text(json, "language", place->python ? "python" : "native");
        jsonw_utf8(json, "function", place->function);
        if (place->file[0])
            jsonw_utf8(json, "file", place->file);
        if (place->file[0] && place->line)
            jsonw_int(json, "line", place->line);
        if (place->module[0])
            jsonw_utf8(json, "module", place->module);
        if (!place->python)
            jsonw_hex(json, "offset", place->offset);
        if (place->inlined)
            jsonw_bool(json, "inlined", true);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void write_texts(struct json *json, const struct group *group)
{
    const struct json_doc *doc = &group->doc;
    const struct json_node *list = json_doc_member(doc, doc->node, "text", JSON_LIST), *pair = NULL;
    jsonw_open(json, "text", '[');
    while (list && (pair = json_doc_next(doc, list, pair))) {
        const struct json_node *label = json_doc_next(doc, pair, NULL), *text = label ? json_doc_next(doc, pair, label) : NULL;
        if (!text)
            continue;
        jsonw_open(json, NULL, '{');
        jsonw_utf8(json, "label", label->text);
        jsonw_utf8(json, "text", text->text);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void write_others(struct json *json, const struct group *group)
{
    jsonw_open(json, "others", '[');
    for (unsigned i = 0; i < group->others; i++) {
        const struct other *other = &group->other[i];
        jsonw_open(json, NULL, '{');
        jsonw_utf8(json, "role", other->role);
        if (other->function[0])
            jsonw_utf8(json, "function", other->function);
        jsonw_int(json, "call", (int64_t)other->call);
        write_places(json, "stack", &other->places);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void write_shares(struct json *json, const struct group *group)
{
    jsonw_open(json, "processes", '[');
    for (unsigned i = 0; i < group->shares; i++) {
        jsonw_open(json, NULL, '{');
        jsonw_int(json, "pid", (int64_t)group->share[i].pid);
        jsonw_int(json, "times", (int64_t)group->share[i].times);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void write_phases(struct json *json, const struct group *group)
{
    if (group->phases == 0 || (group->phases == 1 && !group->phase[0].mark[0]))
        return;
    jsonw_open(json, "phases", '[');
    for (unsigned i = 0; i < group->phases; i++) {
        jsonw_open(json, NULL, '{');
        jsonw_utf8(json, "mark", group->phase[i].mark);
        jsonw_int(json, "times", (int64_t)group->phase[i].times);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void write_rule(struct json *json, const struct group *group)
{
    if (group->rule[0])
        jsonw_utf8(json, "rule", group->rule);
    jsonw_utf8(json, "what", group_what(group));
    if (!group->row)
        return;
    jsonw_utf8(json, "why", group->row->explanation);
    jsonw_utf8(json, "fix", group->row->way_out);
}

static void write_group(struct json *json, const struct group *group)
{
    jsonw_open(json, NULL, '{');
    jsonw_text(json, "class", findings_class_name(group->class));
    write_rule(json, group);
    jsonw_utf8(json, "function", group->function);
    jsonw_int(json, "call", (int64_t)group->call);
    if (group->result)
        jsonw_utf8(json, "result", vmm_result_name((vmm_result)group->result));
    if (group->argument[0]) {
        jsonw_utf8(json, "argument", group->argument);
        jsonw_hex(json, "value", group->value);
    }
    write_texts(json, group);
    write_phases(json, group);
    jsonw_int(json, "times", (int64_t)group->times);
    if (group->class == FINDING_LEAK) {
        jsonw_utf8(json, "object", group->kind);
        jsonw_int(json, "bytes", (int64_t)group->bytes);
    }
    jsonw_int(json, "thread", (int64_t)group->thread);
    write_shares(json, group);
    write_places(json, "stack", &group->places);
    write_others(json, group);
    if (group->cut)
        jsonw_bool(json, "cut", true);
    if (group->suppressed)
        jsonw_utf8(json, "suppressed", group->suppressed->name);
    jsonw_close(json, '}');
}

void report_finding(const struct group *group, FILE *out)
{
    struct json json = {0};
    write_group(&json, group);
    jsonw_newline(&json);
    if (!json.failed)
        fwrite(json.text, 1, json.length, out);
    fflush(out);
    jsonw_free(&json);
}

static void write_sum(struct json *json, const struct run *run)
{
    static const struct {
        enum finding class;
        const char *name;
    } classes[] = {{FINDING_ERROR, "errors"}, {FINDING_HAZARD, "hazards"}, {FINDING_LEAK, "leaks"}, {FINDING_NOTE, "notes"}};
    struct sum sum = collect_sum(run, 0);
    jsonw_open(json, "sum", '{');
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        jsonw_open(json, classes[i].name, '{');
        jsonw_int(json, "findings", (int64_t)sum.findings[classes[i].class]);
        jsonw_int(json, "times", (int64_t)sum.times[classes[i].class]);
        if (classes[i].class == FINDING_LEAK)
            jsonw_int(json, "bytes", (int64_t)sum.leaked);
        jsonw_close(json, '}');
    }
    jsonw_int(json, "suppressed", (int64_t)sum.suppressed);
    jsonw_close(json, '}');
}

static void write_processes(struct json *json, const struct run *run)
{
    jsonw_open(json, "processes", '[');
    for (unsigned i = 0; i < run->processes; i++) {
        const struct process *process = &run->process[i];
        jsonw_open(json, NULL, '{');
        jsonw_int(json, "pid", (int64_t)process->pid);
        jsonw_int(json, "parent", (int64_t)process->parent);
        jsonw_utf8(json, "program", process->program ? process->program : "");
        jsonw_bool(json, "ended", process->ended);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void write_suppressions(struct json *json, const struct run *run)
{
    jsonw_open(json, "suppressions", '[');
    for (unsigned i = 0; i < run->suppressions.count; i++) {
        const struct suppression *item = &run->suppressions.item[i];
        jsonw_open(json, NULL, '{');
        jsonw_utf8(json, "name", item->name);
        jsonw_utf8(json, "file", item->file);
        jsonw_int(json, "line", item->line);
        jsonw_int(json, "used", (int64_t)item->used);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void write_run(struct json *json, const struct report *report)
{
    const struct check_options *options = report->run->options;
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
    jsonw_int(json, "version", 1);
    jsonw_text(json, "tool", "cuvmm check");
    jsonw_text(json, "toolVersion", version);
    jsonw_open(json, "command", '[');
    for (char **word = options->command; *word; word++)
        jsonw_utf8(json, NULL, *word);
    jsonw_close(json, ']');
    jsonw_text(json, "backend", options->driver ? "driver" : "simulator");
    jsonw_bool(json, "checked", report->checked);
    jsonw_utf8(json, "summary", report->text);
    jsonw_int(json, "status", report->end->status);
    if (report->end->signal_number)
        jsonw_int(json, "signal", report->end->signal_number);
}

void report_json(const struct report *report, FILE *out)
{
    const struct run *run = report->run;
    struct json json = {0};
    jsonw_open(&json, NULL, '{');
    write_run(&json, report);
    write_sum(&json, run);
    write_processes(&json, run);
    jsonw_open(&json, "findings", '[');
    for (unsigned i = 0; i < groups_count(run->groups); i++)
        write_group(&json, groups_at(run->groups, i));
    jsonw_close(&json, ']');
    write_suppressions(&json, run);
    jsonw_close(&json, '}');
    jsonw_newline(&json);
    /* an incomplete text is not JSON: write nothing instead */
    if (!json.failed)
        fwrite(json.text, 1, json.length, out);
    jsonw_free(&json);
}
