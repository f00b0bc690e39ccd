/* SPDX-License-Identifier: Apache-2.0 */
/* trace_line.h - the lines of a trace (api/layers/trace.h), one after the other, as JSON. Needs jansson.
 *
 *     {"cuvmm-trace":1,...}          trace_line_header: a known format?
 *     {"n":1,"thread":1,...}         one call
 *     {"end":1,"calls":1}            trace_line_footer: the right number of calls?
 *
 * The replayer and the timeline read traces through it, so that both refuse the same lines with the same message.
 */
#ifndef CUVMM_TOOLS_TRACE_LINE_H
#define CUVMM_TOOLS_TRACE_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text.h"

/* Where the reader is. Zero it, set in and name, end it with trace_line_end. */
struct trace_line {
    FILE *in;
    const char *name;  /* of the trace, for messages */
    int number;        /* of the last line read, from 1 */
    uint64_t calls;    /* call lines so far, counted by the reader */
    bool footer;       /* the final line was read: anything after it is an error */
    bool whole;        /* the last line read ended in a newline */
    struct text text;  /* that line */
};

/* The next line as an object, which the caller frees. NULL: *complaint is empty at the end of the file; otherwise it has
 * the error, as "NAME:LINE:COLUMN: ...". */
json_t *trace_line_next(struct trace_line *line, struct text *complaint);
void trace_line_end(struct trace_line *line);

/* Adds "NAME:LINE:COLUMN: ..." to *complaint; the column is that of key in the line, or 1 if key is NULL. Returns false. */
bool trace_line_complain(const struct trace_line *line, struct text *complaint, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Checks the first line and the last. */
bool trace_line_header(const struct trace_line *line, json_t *json, struct text *complaint);
bool trace_line_footer(struct trace_line *line, json_t *json, struct text *complaint);

/* The innermost backend that recorded it: "sim", "cuda"; "" if the header does not name it. Valid as long as json. */
const char *trace_line_backend(json_t *header);

/* "0x200000" -> 2097152. False if text is NULL or not a hexadecimal string of a trace. */
bool trace_line_hex(const char *text, uint64_t *value);

#endif
