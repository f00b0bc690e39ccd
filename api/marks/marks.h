/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - the mark that the program set last, the name of a phase or test, for records of findings.
 *
 *     cuvmm_mark("load")    marks_set        marks_now() -> "load"
 *     a finding                              "mark":"load"
 *     cuvmm_mark("train")                    marks_now() -> "train"
 *
 * Texts are kept for as long as the process lives, each once, so that a record may refer to one at any time. Any thread may call
 * these functions without a lock; all threads share the mark. A forked child begins with its parent's mark.
 */
#ifndef CUVMM_MARKS_H
#define CUVMM_MARKS_H

#include <stddef.h>

enum { MARKS_TEXT = 200, MARKS_MOST = 4096 };

/* Makes it the current mark, cut to MARKS_TEXT bytes at a character's end. Returns the kept text; after MARKS_MOST different
 * texts all others share one that says so. NULL or "" removes the mark and returns NULL. */
const char *marks_set(const char *text);

/* The current mark; NULL if there is none. */
const char *marks_now(void);

/* A phase of the program begins, such as a test: sets the mark, and makes findings that were reported before count as new. */
const char *marks_begin_phase(const char *text);

/* How many phases have begun. */
unsigned marks_phases(void);

#endif
