/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a trace. See trace_line.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "trace_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/trace.h"

#define LINE_MAX_BYTES (4U << 20)

/* Overlong lines, which no trace has, are cut and are then not JSON. False at the end of the file. */
static bool read_text(struct trace_line *line)
{
    int c = getc(line->in);
    line->text.length = 0;
    if (c == EOF)
        return false;
    text_add_bytes(&line->text, "", 0);
    for (; c != EOF && c != '\n'; c = getc(line->in)) {
        char byte = c ? (char)c : '?'; /* a NUL would hide the rest */
        if (line->text.length < LINE_MAX_BYTES)
            text_add_bytes(&line->text, &byte, 1);
    }
    line->whole = c == '\n';
    line->number++;
    return true;
}

/* The line itself, as far as it fits, with a mark under the column. */
static void show(const struct trace_line *line, int column, struct text *complaint)
{
    enum { WIDTH = 90, BEFORE = 40 };
    size_t at = column > 0 ? (size_t)column - 1 : 0;
    if (at >= line->text.length)
        return;
    char part[WIDTH + 1];
    size_t from = at > BEFORE ? at - BEFORE : 0;
    snprintf(part, sizeof part, "%s", line->text.data + from);
    text_add(complaint, "\n    ");
    text_add_safe(complaint, part);
    text_add(complaint, "\n    %*s^", (int)(at - from), "");
}

bool trace_line_complain(const struct trace_line *line, struct text *complaint, const char *key, const char *format, ...)
{
    const char *place = key && line->text.data ? strstr(line->text.data, key) : NULL;
    char words[400];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    const int column = place ? (int)(place - line->text.data) + 1 : 1;
    text_add(complaint, "%s:%d:%d: ", line->name, line->number ? line->number : 1, column);
    text_add_safe(complaint, words);
    show(line, column, complaint);
    return false;
}

json_t *trace_line_next(struct trace_line *line, struct text *complaint)
{
    json_error_t error;
    if (!read_text(line))
        return NULL;
    json_t *json = json_loads(line->text.data, JSON_REJECT_DUPLICATES, &error);
    if (!json) {
        const int column = error.column > 0 ? error.column : 1;
        text_add(complaint, "%s:%d:%d: not JSON: ", line->name, line->number, column);
        text_add_safe(complaint, error.text);
        show(line, column, complaint);
    } else if (!json_is_object(json))
        trace_line_complain(line, complaint, NULL, "not a JSON object; every line of a trace is one");
    else if (line->footer)
        trace_line_complain(line, complaint, NULL, "a line after the end of the trace");
    else
        return json;
    json_decref(json);
    return NULL;
}

void trace_line_end(struct trace_line *line)
{
    text_free(&line->text);
}

bool trace_line_header(const struct trace_line *line, json_t *json, struct text *complaint)
{
    json_t *format = json_object_get(json, "cuvmm-trace");
    if (!format)
        return trace_line_complain(line, complaint, NULL,
                                   "no \"cuvmm-trace\" in the first line; this is not a trace of cuvmm");
    if (!json_is_integer(format) || json_integer_value(format) != TRACE_FORMAT)
        return trace_line_complain(line, complaint, "\"cuvmm-trace\"", "trace format %lld; this cuvmm reads format %d",
                                   json_is_integer(format) ? (long long)json_integer_value(format) : -1LL, TRACE_FORMAT);
    return true;
}

/* The last line has the number of calls; without it the recording was interrupted. */
bool trace_line_footer(struct trace_line *line, json_t *json, struct text *complaint)
{
    json_t *calls = json_object_get(json, "calls");
    line->footer = true;
    if (json_is_integer(calls) && (uint64_t)json_integer_value(calls) == line->calls)
        return true;
    return trace_line_complain(line, complaint, "\"calls\"", "the trace claims to have %lld calls, but has %llu",
                               json_is_integer(calls) ? (long long)json_integer_value(calls) : -1LL,
                               (unsigned long long)line->calls);
}

const char *trace_line_backend(json_t *header)
{
    json_t *inner = json_object_get(header, "inner");
    size_t count = json_array_size(inner);
    const char *last = count ? json_string_value(json_array_get(inner, count - 1)) : NULL;
    return last ? last : "";
}

bool trace_line_hex(const char *text, uint64_t *value)
{
    char *end = NULL;
    if (!text || text[0] != '0' || text[1] != 'x' || strlen(text) > 18 || !text[2] || strchr("-+ \t", text[2]))
        return false;
    *value = strtoull(text + 2, &end, 16);
    return *end == 0;
}

#else
typedef int trace_line_needs_jansson;
#endif
