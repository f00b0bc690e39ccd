#include "replay.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuvmm.h"
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
#include "layers/trace.h"

#define LINE_MAX_BYTES (4U << 20)

bool replay_malformed(struct replay *r, const char *key, const char *format, ...)
{
    const char *place = key && r->text ? strstr(r->text, key) : NULL;
    va_list args;
    fflush(r->out);
    fprintf(r->err, "%s:%d:%d: ", r->name, r->line, place ? (int)(place - r->text) + 1 : 1);
    va_start(args, format);
    vfprintf(r->err, format, args);
    va_end(args);
    fputs("\n", r->err);
    return false;
}

/* One line without its newline, in *line; NULL at the end. Lines that no trace has are cut, and then no JSON. */
static char *read_line(FILE *in, struct text *line)
{
    int c = getc(in);
    line->length = 0;
    if (c == EOF)
        return NULL;
    text_add_bytes(line, "", 0);
    for (; c != EOF && c != '\n'; c = getc(in)) {
        char byte = c ? (char)c : '?'; /* a NUL would hide the rest */
        if (line->length < LINE_MAX_BYTES)
            text_add_bytes(line, &byte, 1);
    }
    return line->data;
}

static json_t *parse_line(struct replay *r, const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    r->text = text;
    if (json_is_object(json))
        return json;
    fflush(r->out);
    if (json)
        fprintf(r->err, "%s:%d:1: not a JSON object; every line of a trace is one\n", r->name, r->line);
    else
        fprintf(r->err, "%s:%d:%d: not JSON: %s\n", r->name, r->line, error.column > 0 ? error.column : 1, error.text);
    json_decref(json);
    return NULL;
}

static bool check_header(struct replay *r, json_t *json)
{
    json_t *format = json_object_get(json, "cuvmm-trace");
    if (!format)
        return replay_malformed(r, NULL, "no \"cuvmm-trace\" in the first line; this is not a trace of cuvmm");
    if (!json_is_integer(format) || json_integer_value(format) != TRACE_FORMAT)
        return replay_malformed(r, "\"cuvmm-trace\"", "trace format %lld; this cuvmm reads format %d",
                                json_is_integer(format) ? (long long)json_integer_value(format) : -1LL, TRACE_FORMAT);
    json_t *inner = json_object_get(json, "inner");
    const char *recorded = json_string_value(json_array_get(inner, json_array_size(inner) - 1));
    /* A driver named no rules, so there are none to compare with. */
    r->rules = r->rules && (!recorded || strcmp(recorded, "cuda") != 0);
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
    struct step_names names = {0};
    char text[4096];
    fprintf(r->out, "%s:%d: the replay differs here, after %llu calls that did not\n  ", r->name, r->line,
            (unsigned long long)r->made);
    step_print_call(r->out, &r->step, &names);
    fprintf(r->out, "\n%s", difference->data);
    if (detail->severity != VMM_SEVERITY_NONE) {
        vmm_detail_text(detail, text, sizeof text);
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

/* The last line counts the calls; its absence means that the recording was cut off. */
static int play_footer(struct replay *r, json_t *json, uint64_t lines)
{
    json_t *calls = json_object_get(json, "calls");
    if (!json_is_integer(calls) || (uint64_t)json_integer_value(calls) != lines) {
        replay_malformed(r, "\"calls\"", "the trace says that it holds %lld calls; it holds %llu",
                         json_is_integer(calls) ? (long long)json_integer_value(calls) : -1LL,
                         (unsigned long long)lines);
        return 2;
    }
    return 0;
}

static int play_lines(struct replay *r, FILE *in, struct text *line, bool *footer)
{
    uint64_t calls = 0;
    int status = 0;
    while (status == 0 && read_line(in, line)) {
        r->line++;
        json_t *json = parse_line(r, line->data);
        if (!json)
            return 2;
        if (*footer)
            status = replay_malformed(r, NULL, "a line after the end of the trace") ? 0 : 2;
        else if (r->line == 1)
            status = check_header(r, json) ? 0 : 2;
        else if (json_object_get(json, "end")) {
            *footer = true;
            status = play_footer(r, json, calls);
        } else {
            calls++;
            status = play_call(r, json);
        }
        json_decref(json);
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

static void print_summary(struct replay *r, bool footer)
{
    fprintf(r->out, "%s: %llu calls made again, all with the same answers\n", r->name, (unsigned long long)r->made);
    if (r->skipped)
        fprintf(r->out, "  %llu calls were left out: the trace does not hold the memory that they name\n",
                (unsigned long long)r->skipped);
    if (r->unknown_bytes)
        fprintf(r->out, "  contents were not compared after a copy whose bytes the trace does not hold\n");
    if (!footer)
        fprintf(r->out, "  the trace has no last line: its recording was cut off\n");
}

int replay(FILE *in, const char *name, const char *backend, FILE *out, FILE *err)
{
    struct replay *r = text_grow(NULL, sizeof *r);
    struct text line = {0};
    bool footer = false;
    memset(r, 0, sizeof *r);
    r->out = out;
    r->err = err;
    r->name = name;
    r->foreign = -1;
    int status = 2;
    if (open_in_place_backed(backend, &r->sys) != VMM_SUCCESS) {
        fprintf(err, "cuvmm replay: the backend cannot be opened: %s\n", vmm_last_detail()->note);
    } else {
        r->rules = vmm_visit(r->sys, ignore_object, NULL) == VMM_SUCCESS;
        status = play_lines(r, in, &line, &footer);
        if (status == 0 && r->line == 0) {
            fprintf(err, "%s:1:1: empty; a trace begins with a header line\n", name);
            status = 2;
        }
        if (status == 0)
            print_summary(r, footer);
        vmm_set_report(r->sys, ignore_leak, NULL);
        vmm_close(r->sys);
    }
    step_end(&r->step);
    for (size_t i = 0; i < r->opened; i++)
        close(r->open[i]);
    if (r->foreign >= 0)
        close(r->foreign);
    free(r->open);
    fabrics_clear(&r->fabrics);
    text_free(&line);
    free(r->object);
    free(r);
    return status;
}

#endif

static int open_and_replay(const char *path, const char *backend, FILE *out, FILE *err)
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

int cuvmm_replay(int argc, char **argv, FILE *out, FILE *err)
{
    const char *path = NULL, *backend = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--backend") == 0 && i + 1 < argc) {
            backend = argv[++i];
        } else if (strncmp(argv[i], "--backend=", 10) == 0) {
            backend = argv[i] + 10;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            fprintf(err, "cuvmm replay: %s \"%.60s\"\n",
                    strcmp(argv[i], "--backend") == 0 ? "a SPEC is missing after" : "unknown option", argv[i]);
            return cuvmm_usage(err, "replay");
        } else if (path) {
            fprintf(err, "cuvmm replay: one TRACE at a time; \"%.60s\" is a second\n", argv[i]);
            return cuvmm_usage(err, "replay");
        } else {
            path = argv[i];
        }
    }
    if (path)
        return open_and_replay(path, backend, out, err);
    fprintf(err, "cuvmm replay: which trace? Give a file, or - for standard input\n");
    return cuvmm_usage(err, "replay");
}
