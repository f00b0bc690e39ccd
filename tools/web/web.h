/* SPDX-License-Identifier: Apache-2.0 */
/* web.h - what the page in a browser asks of the C code: the shell, its picture and its words, lessons, exercises, the rule book.
 *
 *     page.js --- web_line("map r 1gran h") ---> shell.h ---> {"output": ..., "steps": 4, ...}
 *             --- web_show(720) ---------------> {"svg": ..., "why": ..., "text": ...}
 *
 * The page decides nothing about memory: it shows these answers. They are texts that end with a 0, of JSON where the name does not
 * say otherwise, and valid until the next call of any function here. There is one session at a time; the page and the tests, which
 * run natively, too, begin it with web_open.
 */
#ifndef CUVMM_TOOLS_WEB_H
#define CUVMM_TOOLS_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __wasm__
#define WEB_EXPORT(name) __attribute__((export_name(#name))) name
#else
#define WEB_EXPORT(name) name
#endif

/* ---- memory that the page passes texts in ---- */
void *WEB_EXPORT(web_alloc)(size_t size);
void WEB_EXPORT(web_free)(void *memory);

/* ---- the session (web_session.c) ---- */

/* Ends the session, and begins another one on that machine ("sim:h200x2,strict"); "" is sim:h100, which then is no line of the
 * session. columns: how wide lines of the output are. The answer is that of web_line. */
const char *WEB_EXPORT(web_open)(const char *spec, unsigned columns);

/* A line, as it was typed: {"output": with the colours of a terminal, "status": 0 fine, 1 not as the line or a check
 * expects, 2 not a line, "called": it made a call, "why": the call was refused or warned of, "refused": it was refused, and the line did
 * not expect that, "rule": its rule, or "", "lines": of the session, "steps": that undo takes back, "spec": the machine, "ended": it was quit, which
 * leaves the session as it is, "line": the line as the session keeps it, or ""}. */
const char *WEB_EXPORT(web_line)(const char *line);

/* The next line is number of a script: messages name it so. Otherwise a mistake has the number of the line after it. */
void WEB_EXPORT(web_number)(int number);

/* Do two lines say the same of the session, as "access r 1gran dev0:rw" and "access r 2MiB  dev0:rw" do where a granule is 2 MiB? */
bool WEB_EXPORT(web_same)(const char *line, const char *other);

/* What there is after it, for a picture of that width: {"svg", "why": the last call in HTML, "text": the picture in letters,
 * "rule": of the last call, or ""}. */
const char *WEB_EXPORT(web_show)(unsigned width);

/* Words that the last word of a line can become: {"from": where in the line they begin, in bytes, "words": [...]}. */
const char *WEB_EXPORT(web_complete)(const char *line);

/* The lines of the session (a text, not JSON): as they were typed; as a script for `cuvmm run`; as a C program, or the reason why
 * there is none, behind a '!'. */
enum web_form { WEB_TYPED, WEB_SCRIPT, WEB_DRIVER, WEB_VMM };
const char *WEB_EXPORT(web_text)(int form);

/* The machines: [{"name", "about", "devices"}]. */
const char *WEB_EXPORT(web_machines)(void);

/* ---- files of the module: profiles that were dropped on the page, and what `save` has written ---- */
bool WEB_EXPORT(web_file_put)(const char *name, const void *bytes, size_t size);
/* [{"name", "size"}], in the order of their making. */
const char *WEB_EXPORT(web_files)(void);
/* The contents of a file, not JSON; NULL where there is none. The size is that of web_files. */
const char *WEB_EXPORT(web_file)(const char *name);

/* ---- lessons, examples (web_lessons.c) ---- */

/* [{"number", "title", "minutes"}] */
const char *WEB_EXPORT(web_lessons)(void);
/* {"title", "parts": [{"kind": "text"|"question"|"draw"|"command", "text", "choices": [{"text", "answer", "right"}]}], "page": the
 * page that goes with it, in Markdown}; {} where there is no such number. */
const char *WEB_EXPORT(web_lesson)(int number);
/* What `cuvmm lesson NUMBER --all` prints; not JSON. */
const char *WEB_EXPORT(web_lesson_all)(int number);
/* [{"name", "title", "script"}]: the scripts of the demo. */
const char *WEB_EXPORT(web_examples)(void);
/* What `cuvmm run` prints of a script of that name, and its exit status in a last line; not JSON. */
const char *WEB_EXPORT(web_run)(const char *name, const char *script, size_t length);

/* ---- exercises in the form of scripts (web_practice.c) ---- */

/* [{"number", "title"}] */
const char *WEB_EXPORT(web_exercises)(void);
/* {"number", "name", "title", "task": Markdown, "given": lines, "start": lines to begin with, "machines": [...]} */
const char *WEB_EXPORT(web_exercise)(int number);
/* The grader on the student's lines: {"points", "of", "output": what it says, with the colours of a terminal}. */
const char *WEB_EXPORT(web_grade)(int number, const char *lines);

/* ---- the rule book (web_rules.c) ---- */

/* [{"id", "call", "what", "result", "words": what a search looks through}] */
const char *WEB_EXPORT(web_rules)(void);
/* The article of a rule, as in the rule book's page; HTML. "" where there is none. */
const char *WEB_EXPORT(web_rule)(const char *id);
/* {"broken", "corrected", "machine"}: its scripts, "" where it has none; machine is the text of my.profile, which both need. */
const char *WEB_EXPORT(web_pair)(const char *id);
/* What `cuvmm explain` prints of a rule or a result; not JSON. */
const char *WEB_EXPORT(web_explain)(const char *name);

/* ---- traces (web_trace.c) ---- */

/* The page of `cuvmm view` for a file of the module that is a trace, as HTML; what is wrong with it, behind a '!'. */
const char *WEB_EXPORT(web_trace)(const char *name);

/* ---- for the files of this room ---- */

struct json;
struct text;
/* Keeps an answer until the next call, and returns it; the JSON or the text is freed. */
const char *web_answer(struct json *json);
const char *web_answer_text(struct text *text);

#endif
