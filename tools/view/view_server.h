/* SPDX-License-Identifier: Apache-2.0 */
/* view_server.h - the page of a trace that is too large for a page, served to a browser of this machine.
 *
 *     cuvmm view run.vtrace --serve          http://127.0.0.1:40123/6f1c.../
 *
 *     browser   GET /6f1c.../                          the page, with its first window
 *               GET /6f1c.../window?trace=0&first=N    view_data_window
 *               GET /6f1c.../object?trace=0&object=N&near=CALL
 *               GET /6f1c.../search?trace=0&q=TEXT
 *
 * Only this machine can reach it, and only what knows the number in the address gets an answer: another user of the machine, or a
 * page of the web that guesses ports, does not. It answers GET alone, changes nothing and reads no file. (A library for this, such as
 * libmicrohttpd, brings a dozen others along, which every start of the command would load.)
 */
#ifndef CUVMM_TOOLS_VIEW_SERVER_H
#define CUVMM_TOOLS_VIEW_SERVER_H

#include "view.h"

enum { VIEW_SERVED = 4096 }; /* calls of a window, as in trace.js */

/* Serves until the process is ended, once it listens it writes the address on out. Returns the exit status where it cannot. */
int view_serve(struct view_pages *pages, uint16_t port, FILE *out, FILE *err);

/* Answers one request, which is text up to and with the empty line: with head and body, on out. host: what the request has to name
 * as its host, "127.0.0.1:40123"; key: the number in the address. */
void view_answer(struct view_pages *pages, const char *request, const char *host, const char *key, FILE *out);

/* The answers, as JSON:
 *   object   all: how many calls have to do with it; call, words, severity: columns of those around the call near
 *   search   found: [{"object": index} or {"call": index, "words": ...}, ...]; objects: columns, as of a window; looked: of how
 *            many calls the words were looked through */
void view_data_object(struct json *json, const struct timeline *t, uint32_t object, uint32_t near);
void view_data_search(struct json *json, struct view_trace *trace, const char *query);

#endif
