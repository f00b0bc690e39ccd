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
#include "view_links.h"
#include "view_window.h"

/* Several traces, and the names of their files. */
struct view_traces {
    struct timeline *timeline;
    const char **name;
    size_t count;
};

enum { VIEW_PAGE_MOST = 500000 }; /* calls; a page of more is too large for a browser */

/* What is made of them. */
struct view_pages {
    struct view_trace *trace;
    size_t count;
    struct view_links links;
    uint32_t first, most;      /* the calls of each that are in the page: from first on, at most most */
    bool live;                 /* the page is served, and asks for more */
};
void view_pages_of(struct view_pages *pages, const struct view_traces *traces, uint32_t first, uint32_t most, bool live);
void view_pages_free(struct view_pages *pages);

/* Writes the page. Returns false when out does not take it. */
bool view_page(FILE *out, const struct view_pages *pages);

/* Can they be shown together? Each names its process, none twice, and all are of one machine and start of it, whose clock they
 * share. False: why has the reason, with the names of the files. Puts them in the order of their clocks. */
bool view_together(struct view_traces *traces, char *why, size_t size);

/* The data of the page as one JSON object:
 *
 *   traces     of each trace: what view_data_trace writes, with its first window. Or without one: see `live`
 *   links      [[from, its call, its time, its object's name and size, to, its call, its time, its object's name, guess], ...]
 *   unmatched  imports of which no trace has the export
 *   live       true where the page is served, and asks for windows, objects and searches (view_server.h) */
void view_data_all(struct json *json, const struct view_pages *pages);

/* Of one trace, as an object:
 *
 *   trace, version, backend, complete, complaint    of the trace
 *   process    only where the trace names it: number, parent, fork_of, program, host, started, clock (microseconds)
 *   calls, objects    how many it has
 *   end        microseconds since its clock of the last call
 *   names, kinds    what columns name by index
 *   results    [[code, name, text], ...]: what codes mean
 *   grantees   places that are ever given rights
 *   strip      most: bytes of memory; used: the most of them in each of equal parts of the calls
 *   said       call, severity (1 warning, 2 refused): columns, an entry for each call that failed or was warned of
 *   problems   of the first of those, as `said` of a window
 *   rules      what the rule table says of rules that problems name, by id
 *   window     view_data_window; in a page that is served only of the first trace */
void view_data_trace(struct json *json, struct view_trace *trace, bool window, uint32_t first, uint32_t most);

/* The calls of a window and what they need (view_window.h), as an object:
 *
 *   first      index of its first call
 *   calls      columns, an entry a call: n, thread, name (into names), words, answers, result (its code), touched (how
 *              many of the list `touched` are this call's; they stand there call after call); with a process also time
 *              (microseconds since its clock) and place (into stacks, -1: none)
 *   stacks     {"7": "/opt/app/step+0x17bd\n...", ...}: those of these calls
 *   objects    columns: id (its index among all), kind, number, born, by (the call's name, into names), died, ended (likewise),
 *              released, start, size, offset, handle, memory, context, team, place (type << 16 | id), exportable; -1 stands for none
 *   changes    columns: object, call, kind (enum timeline_change_kind), place, value; of an object in the order of calls
 *   said       of its calls that failed or were warned of: call, severity, rule, argument, value, expected, nearest, object, note,
 *              could (rules of that call with that result, where none is named)
 *   rules      what the rule table says of those, by id
 *
 * Numbers are JavaScript's: above 2^53 only multiples of a power of two, which addresses and sizes are, stay exact. */
void view_data_window(struct json *json, struct view_trace *trace, uint32_t first, uint32_t most);

/* What the command is asked for. */
struct view_request {
    const char *const *trace;  /* files; - is standard input */
    size_t count;
    const char *page;          /* the file for the page, - is out; NULL: it is served (view_server.h) */
    const char *calls;         /* "1000-2000": only these, counted from 1; NULL: all */
    uint16_t port;             /* to serve it at; 0: any that is free */
};

/* Reads the files and writes the page, or serves it. Returns the exit status. */
int view_files(const struct view_request *request, FILE *out, FILE *err);

#endif
