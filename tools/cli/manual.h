/* SPDX-License-Identifier: Apache-2.0 */
/* manual.h - the manual page of the command, cuvmm(1), generated from the help texts, so that it cannot get out of date.
 *
 *   "  --draw   draws after every step\n"  ->  .TP
 *                                              \fB\-\-draw\fR
 *                                              draws after every step
 */
#ifndef CUVMM_TOOLS_MANUAL_H
#define CUVMM_TOOLS_MANUAL_H

#include <stdio.h>

/* The page in the man macros of roff. */
void manual(FILE *out);

/* A line of text, escaped so that roff prints it verbatim: a leading dot is not a request, and a backslash stays a backslash. */
void manual_text(FILE *out, const char *text);

#endif
