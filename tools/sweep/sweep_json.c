/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep as JSON. See sweep_report.h. */
#include "sweep_report.h"

#ifndef CUVMM_HAVE_JANSSON

bool sweep_print_json(const struct sweep_report *report, FILE *out, FILE *err)
{
    (void)report;
    (void)out;
    fprintf(err, "cuvmm exec: this cuvmm was built without jansson, which writes JSON; install its development files and build again\n");
    return false;
}

#else

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

static json_t *number(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Of any bytes: a path need not be UTF-8. */
static json_t *text(const char *bytes)
{
    json_t *string = json_string(bytes);
    if (string)
        return string;
    char *plain = strdup(bytes);
    for (char *at = plain; at && *at; at++)
        *at = (unsigned char)*at < 128 ? *at : '?';
    string = json_string(plain ? plain : "");
    free(plain);
    return string;
}

static json_t *command(const struct sweep_report *report, const struct sweep_call *call)
{
    char *line = NULL;
    size_t size;
    FILE *file = open_memstream(&line, &size);
    if (!file)
        return json_null();
    sweep_print_command(report, call, file);
    fclose(file);
    json_t *string = text(line);
    free(line);
    return string;
}

static json_t *run(const struct sweep_report *report, const struct sweep_call *call)
{
    const struct sweep_outcome *outcome = &call->outcome;
    char fault[200];
    json_t *object = json_object();
    sweep_fault(report->calls, call, report->options->result, fault, sizeof fault);
    json_object_set_new(object, "fault", json_string(fault));
    json_object_set_new(object, "class", json_string(sweep_class_name(outcome->class)));
    if (outcome->signal_number)
        json_object_set_new(object, "signal", json_integer(outcome->signal_number));
    else
        json_object_set_new(object, "status", json_integer(outcome->status));
    json_object_set_new(object, "leaks", number(outcome->leaks));
    json_object_set_new(object, "broken_rules", number(outcome->misuses));
    json_object_set_new(object, "said", json_string(outcome->said));
    json_object_set_new(object, "again", command(report, call));
    return object;
}

static json_t *site_object(const struct sweep_report *report, const struct sweep_site *site)
{
    const struct sites_file *file = report->calls->file;
    const struct sites_call *record = site->call->record;
    char offset[32];
    size_t runs, alike;
    const struct sweep_call *worst = sweep_worst(site, &runs, &alike);
    json_t *object = json_object(), *list = json_array();
    snprintf(offset, sizeof offset, "0x%llx", (unsigned long long)record->offset);
    json_object_set_new(object, "class", json_string(sweep_class_name(worst ? worst->outcome.class : SWEEP_NOT_RUN)));
    json_object_set_new(object, "call", text(file->name[record->function].text));
    json_object_set_new(object, "kind", json_string(vmm_call_name((enum vmm_call_id)record->kind)));
    json_object_set_new(object, "function", text(site->symbol));
    json_object_set_new(object, "module", text(file->name[record->module].text));
    json_object_set_new(object, "offset", json_string(offset));
    json_object_set_new(object, "source", text(site->source));
    json_object_set_new(object, "calls", number(site->count));
    for (size_t i = 0; i < site->count; i++)
        if (site->call[i].outcome.class != SWEEP_NOT_RUN)
            json_array_append_new(list, run(report, &site->call[i]));
    json_object_set_new(object, "runs", list);
    return object;
}

bool sweep_print_json(const struct sweep_report *report, FILE *out, FILE *err)
{
    const struct sweep_calls *calls = report->calls;
    json_t *object = json_object(), *program = json_array(), *sites = json_array(), *sum = json_object();
    for (char **word = report->options->exec.command; *word; word++)
        json_array_append_new(program, text(*word));
    for (size_t i = 0; i < calls->sites; i++)
        json_array_append_new(sites, site_object(report, &calls->site[i]));
    for (int class = SWEEP_NOT_RUN; class < SWEEP_CLASSES; class++)
        json_object_set_new(sum, sweep_class_name((enum sweep_class)class), number(report->sites[class]));
    json_object_set_new(object, "cuvmm-sweep", json_integer(1));
    json_object_set_new(object, "program", program);
    json_object_set_new(object, "calls", number(calls->count));
    json_object_set_new(object, "calls_that_give_back", number(calls->given_back));
    json_object_set_new(object, "calls_not_counted", number(report->lost));
    json_object_set_new(object, "runs", number(report->runs));
    json_object_set_new(object, "sampled", json_boolean(report->sampled));
    json_object_set_new(object, "seed", number(report->options->seed));
    json_object_set_new(object, "differs", json_boolean(report->differs || report->sites[SWEEP_VARIED]));
    json_object_set_new(object, "leaks_without_failure", number(report->leaks));
    json_object_set_new(object, "sum", sum);
    json_object_set_new(object, "sites", sites);
    bool written = json_dumpf(object, out, JSON_INDENT(1)) == 0;
    json_decref(object);
    fputs("\n", out);
    if (!written)
        fputs("cuvmm exec: the report cannot be written\n", err);
    return written;
}

#endif
