/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - a trace as a page for a browser: one file that needs no network and no server.
 *
 *     trace.jsonl  ->  timeline (timeline.h)  ->  page.html = tools/view/page.html with page.css, the scripts and the data in it
 *
 *     t.4711.jsonl t.4712.jsonl ...  ->  one page: the data of each, and what links them (view_links.h)
 *
 * The page draws what there was after any call; what it shows is made of the data alone (view_data writes it), so the page
 * of one trace differs from that of another in nothing else. docs/view.md describes it for its readers.
 */
#ifndef CUVMM_TOOLS_VIEW_H
#define CUVMM_TOOLS_VIEW_H

#include <stdio.h>

#include "json.h"
#include "timeline.h"

/* Several traces, and the names of their files. */
struct view_traces {
    struct timeline *timeline;
    const char **name;
    size_t count;
};

/* Writes the page. Returns false when out does not take it. */
bool view_page(FILE *out, const struct view_traces *traces);

/* Can they be shown together? Each names its process, none twice, and all are of one machine and start of it, whose clock they
 * share. False: why has the reason, with the names of the files. Puts them in the order of their clocks. */
bool view_together(struct view_traces *traces, char *why, size_t size);

/* The data of all of them. Of one trace: what view_data writes. Of several: {"traces":[...],"links":[[from, its call, its object,
 * to, its call, its object, guess], ...],"unmatched":0}. */
void view_data_all(struct json *json, const struct view_traces *traces);

/* The page's data of one trace as one JSON object:
 *
 *   trace, version, backend, complete, complaint    of the trace
 *   process    only where the trace names it: number, parent, fork_of, program, host, started, clock (microseconds)
 *   stacks     ["/opt/app/step+0x17bd\n...", ...]
 *   calls      columns, an entry a call: n, thread, name (into names), words, answers, result (into results), touched (how
 *              many of the list `touched` are this call's; they stand there call after call); with a process also time
 *              (microseconds since its clock) and place (into stacks, -1: none)
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

/* Reads the files and writes the page into the file page; - is standard input, or out. Returns the exit status. */
int view_files(const char *const *trace, size_t count, const char *page, FILE *out, FILE *err);

#endif
