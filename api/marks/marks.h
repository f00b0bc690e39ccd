/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - the mark that the program set last: the name of a phase or a test, for records of findings.
 *
 *     cuvmm_mark("load")    marks_set        marks_now() -> "load"
 *     a finding                              "mark":"load"
 *     cuvmm_mark("train")                    marks_now() -> "train"
 *
 * Texts are kept for as long as the process lives, each once, so that a record may refer to one at any time. Any thread, no lock;
 * threads have the mark in common. A forked child begins with its parent's.
 */
#ifndef CUVMM_MARKS_H
#define CUVMM_MARKS_H

#include <stddef.h>

enum { MARKS_TEXT = 200, MARKS_MOST = 4096 };

/* Makes it the current mark, cut to MARKS_TEXT bytes at a character's end. Returns the text that is kept: of more than MARKS_MOST
 * different ones, all others share one that states this. NULL or "": from now on there is no mark; returns NULL. */
const char *marks_set(const char *text);

/* The current mark; NULL where there is none. */
const char *marks_now(void);

/* A phase of the program begins, such as a test: the mark is set, and what was found before is found anew. */
const char *marks_begin_phase(const char *text);

/* How many phases have begun. */
unsigned marks_phases(void);

#endif
