/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "in_place.h"
#include "script_state.h"

struct script *script_new(const struct script_options *options, const char *name)
{
    struct script *script = text_grow(NULL, sizeof *script);
    memset(script, 0, sizeof *script);
    script->options = *options;
    script->name = text_grow(NULL, strlen(name) + 1);
    strcpy(script->name, name);
    return script;
}

static void worsen(struct script *script, enum script_status status)
{
    if (status > script->worst)
        script->worst = status;
}

enum { SHOWN_WIDTH = 90 };

static void show_line(const struct script *script, size_t from)
{
    fputs("    ", script->options.err);
    text_print_safe(script->options.err, script->text + from, script->length - from, SHOWN_WIDTH);
    fputs("\n", script->options.err);
}

/* The line with a caret under the column, so that no one has to count characters. */
static void point_at(const struct script *script, int column)
{
    size_t at = (size_t)(column > 0 ? column - 1 : 0), from = at > SHOWN_WIDTH - 10 ? at - (SHOWN_WIDTH - 10) : 0;
    if (from >= script->length && script->length)
        from = 0;
    show_line(script, from);
    fprintf(script->options.err, "    %*s^\n", (int)(at - from), "");
}

/* The position of a mistake: for a file as compilers print it, for a typed line in words. column 0: the whole line. */
static void print_place(const struct script *script, int column)
{
    FILE *err = script->options.err;
    if (script->options.interactive)
        fprintf(err, column ? "line %d, column %d: " : "line %d: ", script->line, column);
    else
        fprintf(err, column ? "%s:%d:%d: " : "%s:%d: ", script->name, script->line, column);
}

bool script_wrong(struct script *script, int column, const char *format, ...)
{
    va_list args;
    fflush(script->options.out);
    va_start(args, format);
    vsnprintf(script->mistake.text, sizeof script->mistake.text, format, args);
    va_end(args);
    script->mistake.column = column;
    print_place(script, column);
    va_start(args, format);
    vfprintf(script->options.err, format, args);
    va_end(args);
    fputs("\n", script->options.err);
    point_at(script, column);
    worsen(script, SCRIPT_WRONG);
    return false;
}

bool script_wrong_at(struct script *script, const struct words_error *error)
{
    return script_wrong(script, error->column, "%s", error->text);
}

bool script_failed(struct script *script, const char *format, ...)
{
    va_list args;
    fflush(script->options.out);
    print_place(script, 0);
    va_start(args, format);
    vfprintf(script->options.err, format, args);
    va_end(args);
    fputs("\n", script->options.err);
    if (!script->options.interactive)
        show_line(script, 0);
    worsen(script, SCRIPT_FAILED);
    return false;
}

void script_colour(struct script *script, const char *code)
{
    if (script->options.colour)
        fprintf(script->options.out, "\033[%sm", code);
}

void script_plain(struct script *script)
{
    if (script->options.colour)
        fputs("\033[0m", script->options.out);
}

bool script_open(struct script *script, const char *spec)
{
    vmm_system *sys = NULL;
    vmm_result result = open_in_place(spec, &sys);
    if (result == VMM_SUCCESS) {
        script_close(script);
        free(script->spec);
        script->spec = spec ? strcpy(text_grow(NULL, strlen(spec) + 1), spec) : NULL;
        script->sys = sys;
        return true;
    }
    const char *note = vmm_last_detail()->note;
    return script_wrong(script, 1, "the backend %s%s%s cannot be opened: %s (%s)", spec ? "\"" : "",
                        spec ? spec : "of the environment", spec ? "\"" : "", note[0] ? note : vmm_result_text(result),
                        vmm_result_name(result));
}

vmm_system *script_system(struct script *script)
{
    if (!script->sys)
        script_open(script, script->options.backend);
    return script->sys;
}

/* The line that made a call, for details that name calls by ordinal. */
static void note_call(struct script *script)
{
    if (script->calls == script->call_room) {
        script->call_room = script->call_room ? script->call_room * 2 : 64;
        script->call_line = text_grow(script->call_line, script->call_room * sizeof *script->call_line);
    }
    script->call_line[script->calls++] = script->line;
    script_source_keep(script);
}

vmm_result script_invoke(struct script *script, struct step *step)
{
    vmm_result result = step_invoke(script->sys, step);
    note_call(script);
    return result;
}

static void report_leak(void *user, const vmm_detail *detail)
{
    script_print_detail(user, detail);
}

static void ignore_leak(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

static void report_held(struct script *script)
{
    uint64_t held = vmm_leaks(script->sys, NULL, NULL);
    if (!held || script->options.quiet)
        return;
    script_colour(script, "33");
    fprintf(script->options.out, "\nat the end %s still holds %llu thing%s:\n",
            script->processes ? script->process[script->current].name : "the program", (unsigned long long)held,
            held == 1 ? "" : "s");
    script_plain(script);
    vmm_leaks(script->sys, report_leak, script);
}

static void close_one(struct script *script)
{
    report_held(script);
    vmm_set_report(script->sys, ignore_leak, NULL);
    vmm_close(script->sys);
    script->sys = NULL;
    script->calls = 0;
    script->granule[0] = script->granule[1] = 0;
    symbols_free(&script->symbols);
    free(script->call_line);
    script->call_line = NULL;
    script->call_room = 0;
}

/* Processes end in the reverse order of their creation; the first belongs to the machine. */
void script_close(struct script *script)
{
    if (!script->sys)
        return;
    while (script->processes > 1) {
        script_process_switch(script, script->processes - 1);
        close_one(script);
        script->processes--;
        script->current = 0;
        script_process_switch(script, 0);
    }
    close_one(script);
    script->processes = 0;
    text_free(&script->picture);
}

static void free_kept(struct script *script)
{
    for (size_t i = 0; i < script->kept_count; i++)
        free(script->kept[i]);
    free(script->kept);
    descriptors_clear(&script->open);
    fabrics_clear(&script->fabrics);
    free(script->reported);
}

enum script_status script_finish(struct script *script)
{
    script_close(script);
    enum script_status worst = script->worst;
    step_end(&script->step);
    free_kept(script);
    script_kernels_free(script);
    script_source_free(script);
    free(script->spec);
    free(script->name);
    free(script);
    return worst;
}

static bool is_last(struct script *script, enum script_status status)
{
    return status != SCRIPT_OK && !script->options.keep_going;
}

/* Reads one line of at most room bytes; further bytes are dropped but counted, so that the error can be reported. */
static bool read_line(FILE *in, char *line, size_t room, size_t *length, bool *ended)
{
    size_t n = 0;
    int c = getc(in);
    *ended = false;
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc(in), n++)
        if (n < room)
            line[n] = (char)c;
    *ended = c == EOF;
    if (n > 0 && n <= room && line[n - 1] == '\r')
        n--;
    *length = n;
    return true;
}

enum script_status script_read(struct script *script, FILE *in)
{
    static const size_t room = WORDS_LINE_MAX + 1;
    char *line = text_grow(NULL, room);
    enum script_status status = SCRIPT_OK;
    size_t length;
    bool ended = false;
    while (!ended && !is_last(script, status) && read_line(in, line, room, &length, &ended))
        status = script_line(script, line, length < room ? length : room);
    if (ferror(in)) {
        fflush(script->options.out);
        fprintf(script->options.err, "%s: cannot be read: %s\n", script->name, strerror(errno));
        worsen(script, SCRIPT_WRONG);
    }
    free(line);
    return script->worst;
}
