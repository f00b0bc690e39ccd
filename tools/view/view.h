/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - a trace as a page for a browser: one file that needs no network and no server.
 *
 *     trace.jsonl  ->  timeline (timeline.h)  ->  page.html = tools/view/page.html with page.css, the scripts and the data in it
 *
 * The page draws what there was after any call; what it shows is made of the data alone (view_data writes it), so the page
 * of one trace differs from that of another in nothing else. docs/view.md describes it for its readers.
 */
#ifndef CUVMM_TOOLS_VIEW_H
#define CUVMM_TOOLS_VIEW_H

#include <stdio.h>

#include "layers/json.h"
#include "timeline.h"

/* Writes the page. Returns false when out does not take it. */
bool view_page(FILE *out, const struct timeline *timeline, const char *name);

/* The page's data as one JSON object:
 *
 *   trace, version, backend, complete, complaint    of the trace
 *   calls      columns, an entry a call: n, thread, name (into names), words, answers, result (into results), touched (how
 *              many of the list `touched` are this call's; they stand there call after call)
 *   names, results [[code, name, text], ...]        what columns name by index
 *   kinds      words for the kinds of objects
 *   objects    columns: kind, number, born, died, released, start, size, offset, handle, memory, context, team, place (into
 *              places), exportable; -1 stands for none
 *   places     [[type, id], ...]
 *   changes    columns: call, object, kind (enum timeline_change_kind), place, value
 *   said       of calls that failed or were warned of: call, severity (0 none, 1 warning, 2 error), rule, argument, value,
 *              expected, nearest, object, note, could (rules of that call with that result, where none is named)
 *   rules      what the rule table says of those, by id
 *
 * Numbers are JavaScript's: above 2^53 only multiples of a power of two, which addresses and sizes are, stay exact. */
void view_data(struct json *json, const struct timeline *timeline, const char *name);

/* Reads the file trace and writes the page into the file page; - is standard input, or out. Returns the exit status. */
int view_file(const char *trace, const char *page, FILE *out, FILE *err);

#endif
