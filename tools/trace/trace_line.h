/* SPDX-License-Identifier: Apache-2.0 */
/* trace_line.h - the lines of a trace (api/layers/trace.h), one after the other, as JSON. Needs jansson.
 *
 *     {"cuvmm-trace":1,...}          trace_line_header: a format that is known?
 *     {"n":1,"thread":1,...}         one call
 *     {"end":1,"calls":1}            trace_line_footer: as many calls as it says?
 *
 * The replayer and the timeline read traces through it, so that both refuse the same lines with the same words.
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
    int number;        /* of the line that was read last, from 1 */
    uint64_t calls;    /* call lines so far, counted by the reader */
    bool footer;       /* the last line was read: whatever follows is wrong */
    bool whole;        /* the line that was read last ended in a newline */
    struct text text;  /* that line */
};

/* The next line as an object, which is the caller's to let go. NULL: *complaint stays empty at the end of the file, and
 * says otherwise what is wrong, as "NAME:LINE:COLUMN: ...". */
json_t *trace_line_next(struct trace_line *line, struct text *complaint);
void trace_line_end(struct trace_line *line);

/* Adds "NAME:LINE:COLUMN: ..." to *complaint; the column is that of key in the line, 1 where key is NULL. Returns false. */
bool trace_line_complain(const struct trace_line *line, struct text *complaint, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Checks the first line and the last. */
bool trace_line_header(const struct trace_line *line, json_t *json, struct text *complaint);
bool trace_line_footer(struct trace_line *line, json_t *json, struct text *complaint);

/* The backend that recorded it, the innermost: "sim", "cuda"; "" where the header does not name it. Valid as long as json. */
const char *trace_line_backend(json_t *header);

/* "0x200000" -> 2097152. False when text is NULL or no hexadecimal string of a trace. */
bool trace_line_hex(const char *text, uint64_t *value);

#endif
