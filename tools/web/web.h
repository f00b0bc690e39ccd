/* SPDX-License-Identifier: Apache-2.0 */
/* web.h - the C functions that the page in a browser calls: the shell, its picture and output, lessons, exercises, the rule
 * book.
 *
 *     page.js --- web_line("map r 1gran h") ---> shell.h ---> {"output": ..., "steps": 4, ...}
 *             --- web_show(720) ---------------> {"svg": ..., "why": ..., "text": ...}
 *
 * The page computes nothing about memory itself: it shows these results. They are NUL-terminated texts, JSON unless
 * noted otherwise, and valid until the next call of any function here. There is one session at a time; the page and
 * the tests, which also run natively, start it with web_open.
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

/* ---- memory for texts that the page passes ---- */
void *WEB_EXPORT(web_alloc)(size_t size);
void WEB_EXPORT(web_free)(void *memory);

/* ---- the session (web_session.c) ---- */

/* Ends the session and starts a new one on that machine ("sim:h200x2,strict"); "" is sim:h100, without a line in the
 * session. columns: the width of the output. Returns the same as web_line. */
const char *WEB_EXPORT(web_open)(const char *spec, unsigned columns);

/* A line, as it was typed: {"output": with the colours of a terminal, "status": 0 fine, 1 not as the line or a check
 * expects, 2 not a line, "called": it made a call, "why": the call was refused or warned of, "refused": it was refused, and the line did
 * not expect that, "rule": its rule, or "", "lines": of the session, "steps": that undo takes back, "spec": the machine, "ended": it was quit, which
 * leaves the session as it is, "line": the line as the session keeps it, or ""}. */
const char *WEB_EXPORT(web_line)(const char *line);

/* Sets the next line's number in a script, which messages use. Otherwise an invalid line has the number of the line after it. */
void WEB_EXPORT(web_number)(int number);

/* Are two lines equivalent in the session, such as "access r 1gran dev0:rw" and "access r 2MiB dev0:rw" with 2 MiB granules? */
bool WEB_EXPORT(web_same)(const char *line, const char *other);

/* The state after it, for a picture of that width: {"svg", "why": the last call in HTML, "text": the picture in letters,
 * "rule": of the last call, or ""}. */
const char *WEB_EXPORT(web_show)(unsigned width);

/* Completions of the last word of a line: {"from": where in the line they begin, in bytes, "words": [...]}. */
const char *WEB_EXPORT(web_complete)(const char *line);

/* The lines of the session (a text, not JSON): as typed; as a script for `cuvmm run`; as a C program, or '!' and the
 * reason why there is none. */
enum web_form { WEB_TYPED, WEB_SCRIPT, WEB_DRIVER, WEB_VMM };
const char *WEB_EXPORT(web_text)(int form);

/* The machines: [{"name", "about", "devices"}]. */
const char *WEB_EXPORT(web_machines)(void);

/* ---- files of the module: dropped profiles, and files written by `save` ---- */
bool WEB_EXPORT(web_file_put)(const char *name, const void *bytes, size_t size);
/* [{"name", "size"}], in order of creation. */
const char *WEB_EXPORT(web_files)(void);
/* The contents of a file, not JSON; NULL if there is none. The size is that of web_files. */
const char *WEB_EXPORT(web_file)(const char *name);

/* ---- lessons, examples (web_lessons.c) ---- */

/* [{"number", "title", "minutes"}] */
const char *WEB_EXPORT(web_lessons)(void);
/* {"title", "parts": [{"kind": "text"|"question"|"draw"|"command", "text", "choices": [{"text", "answer",
 * "right"}]}], "page": its page in Markdown}; {} if there is no such number. */
const char *WEB_EXPORT(web_lesson)(int number);
/* The output of `cuvmm lesson NUMBER --all`; not JSON. */
const char *WEB_EXPORT(web_lesson_all)(int number);
/* [{"name", "title", "script"}]: the scripts of the demo. */
const char *WEB_EXPORT(web_examples)(void);
/* The output of `cuvmm run` for a script with that name, and its exit status in the last line; not JSON. */
const char *WEB_EXPORT(web_run)(const char *name, const char *script, size_t length);

/* ---- exercises in the form of scripts (web_practice.c) ---- */

/* [{"number", "title"}] */
const char *WEB_EXPORT(web_exercises)(void);
/* {"number", "name", "title", "task": Markdown, "given": lines, "start": lines to begin with, "machines": [...]} */
const char *WEB_EXPORT(web_exercise)(int number);
/* Grades the student's lines: {"points", "of", "output": the grader's output, with terminal colours}. */
const char *WEB_EXPORT(web_grade)(int number, const char *lines);

/* ---- the rule book (web_rules.c) ---- */

/* [{"id", "call", "what", "result", "words": the text to search}] */
const char *WEB_EXPORT(web_rules)(void);
/* A rule's article, as in the rule book's page; HTML. "" if there is none. */
const char *WEB_EXPORT(web_rule)(const char *id);
/* {"broken", "corrected", "machine"}: its scripts, or ""; machine is the text of my.profile, which both need. */
const char *WEB_EXPORT(web_pair)(const char *id);
/* The output of `cuvmm explain` for a rule or a result; not JSON. */
const char *WEB_EXPORT(web_explain)(const char *name);

/* ---- traces (web_trace.c) ---- */

/* The page of `cuvmm view` for a trace among the module's files, as HTML; or '!' and the error. */
const char *WEB_EXPORT(web_trace)(const char *name);

/* ---- for the files of this room ---- */

struct json;
struct text;
/* Stores a result until the next call, and returns it; frees the JSON or the text. */
const char *web_answer(struct json *json);
const char *web_answer_text(struct text *text);

#endif
