/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "in_place.h"
#include "text.h"

#ifndef CUVMM_HAVE_JANSSON

int replay(FILE *in, const char *name, const char *backend, FILE *out, FILE *err)
{
    (void)in;
    (void)name;
    (void)backend;
    (void)out;
    fprintf(err, "cuvmm replay: this cuvmm was built without jansson, which reads traces; install its development "
                 "files and build again\n");
    return 2;
}

#else

#include "replay_state.h"

static bool print_complaint(struct replay *r, struct text *complaint)
{
    fflush(r->out);
    fprintf(r->err, "%s\n", complaint->data);
    text_free(complaint);
    return false;
}

bool replay_malformed(struct replay *r, const char *key, const char *format, ...)
{
    struct text complaint = {0};
    char words[400];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    trace_line_complain(&r->line, &complaint, key, "%s", words);
    return print_complaint(r, &complaint);
}

static bool check_header(struct replay *r, json_t *json)
{
    struct text complaint = {0};
    if (!trace_line_header(&r->line, json, &complaint))
        return print_complaint(r, &complaint);
    /* A driver named no rules, so there are none to compare with. */
    r->rules = r->rules && strcmp(trace_line_backend(json), "cuda") != 0;
    return true;
}

/* A trace holds the calls of several threads, each with its own current context; one thread plays them all. */
static bool enter_thread(struct replay *r, json_t *json)
{
    json_t *thread = json_object_get(json, "thread");
    int64_t number = json_is_integer(thread) ? (int64_t)json_integer_value(thread) : -1;
    if (number < 1 || number >= REPLAY_THREADS)
        return replay_malformed(r, "\"thread\"", "no \"thread\" from 1 to %d", REPLAY_THREADS - 1);
    if (r->thread && r->thread != number)
        vmm_ctx_set_current(r->sys, r->current[number]);
    r->thread = number;
    return true;
}

static void leave_thread(struct replay *r)
{
    vmm_context current;
    if (vmm_ctx_get_current(r->sys, &current) == VMM_SUCCESS)
        r->current[r->thread] = current;
}

static void print_difference(struct replay *r, const struct text *difference, const vmm_detail *detail)
{
    struct step_names names = {.open = &r->open};
    char text[4096];
    fprintf(r->out, "%s:%d: the replay differs here, after %llu calls that did not\n  ", r->line.name, r->line.number,
            (unsigned long long)r->made);
    step_print_call(r->out, &r->step, &names);
    fprintf(r->out, "\n%s", difference->data);
    if (detail->severity != VMM_SEVERITY_NONE) {
        vmm_detail_text(detail, text, sizeof text);
        columns_fold(text, sizeof text, (unsigned)text_columns());
        fputs(text, r->out);
    }
}

/* 0, 1 or 2 as replay(). */
static int play_call(struct replay *r, json_t *json)
{
    struct text difference = {0};
    bool skip = false;
    if (!enter_thread(r, json) || !replay_load(r, json, &skip))
        return 2;
    if (skip) {
        r->skipped++;
        return 0;
    }
    step_invoke(r->sys, &r->step);
    vmm_detail detail = *vmm_last_detail();
    leave_thread(r);
    /* Compared with the detail that was set by the call, not by the bookkeeping after it. */
    r->step.detail_rule = detail.severity == VMM_SEVERITY_NONE ? NULL : detail.rule;
    bool ok = replay_compare(r, json, &difference);
    int status = !ok ? 2 : difference.length ? 1 : 0;
    if (status == 1)
        print_difference(r, &difference, &detail);
    r->made += status == 0;
    text_free(&difference);
    step_end(&r->step);
    return status;
}

/* What the line is and what comes of it: 0, 1 or 2 as replay(). */
static int play_line(struct replay *r, json_t *json)
{
    struct text complaint = {0};
    if (r->line.number == 1)
        return check_header(r, json) ? 0 : 2;
    if (json_object_get(json, "end"))
        return trace_line_footer(&r->line, json, &complaint) || print_complaint(r, &complaint) ? 0 : 2;
    r->line.calls++;
    return play_call(r, json);
}

static int play_lines(struct replay *r)
{
    struct text complaint = {0};
    int status = 0;
    json_t *json = NULL;
    while (status == 0 && (json = trace_line_next(&r->line, &complaint)) != NULL) {
        status = play_line(r, json);
        json_decref(json);
    }
    if (complaint.length && !print_complaint(r, &complaint))
        return 2;
    if (status == 0 && !r->line.number) {
        replay_malformed(r, NULL, "empty; a trace begins with a header line");
        return 2;
    }
    return status;
}

static void ignore_object(void *user, const vmm_object *object)
{
    (void)user;
    (void)object;
}

static void ignore_leak(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

static void print_summary(struct replay *r)
{
    fprintf(r->out, "%s: %llu calls made again, all with the same answers\n", r->line.name, (unsigned long long)r->made);
    if (r->skipped)
        fprintf(r->out, "  %llu calls were left out: the trace does not hold the memory that they name\n",
                (unsigned long long)r->skipped);
    if (r->unknown_bytes)
        fprintf(r->out, "  contents were not compared after a copy whose bytes the trace does not hold\n");
    if (!r->line.footer)
        fprintf(r->out, "  the trace has no last line: its recording was cut off\n");
}

int replay(FILE *in, const char *name, const char *backend, FILE *out, FILE *err)
{
    struct replay *r = text_grow(NULL, sizeof *r);
    memset(r, 0, sizeof *r);
    r->out = out;
    r->err = err;
    r->line = (struct trace_line){.in = in, .name = name};
    r->foreign = -1;
    int status = 2;
    if (open_in_place_backed(backend, &r->sys) != VMM_SUCCESS) {
        fprintf(err, "cuvmm replay: the backend cannot be opened: %s\n", vmm_last_detail()->note);
    } else {
        r->rules = vmm_visit(r->sys, ignore_object, NULL) == VMM_SUCCESS;
        status = play_lines(r);
        if (status == 0)
            print_summary(r);
        vmm_set_report(r->sys, ignore_leak, NULL);
        vmm_close(r->sys);
    }
    step_end(&r->step);
    descriptors_clear(&r->open);
    fabrics_clear(&r->fabrics);
    replay_room_end(&r->room);
    trace_line_end(&r->line);
    free(r->object);
    free(r);
    return status;
}

#endif

int replay_file(const char *path, const char *backend, FILE *out, FILE *err)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (!in) {
        fprintf(err, "cuvmm replay: %s: %s\n", path, strerror(errno));
        return 2;
    }
    /* Layers of the environment would wrap the replay too; tracing it into the very file that it reads is never
     * meant. */
    unsetenv("CUVMM_LAYERS");
    int status = replay(in, standard ? "standard input" : text_base_name(path), backend, out, err);
    if (!standard)
        fclose(in);
    return status;
}
