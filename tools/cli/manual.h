/* SPDX-License-Identifier: Apache-2.0 */
/* manual.h - the manual page of the command, cuvmm(1), made from the help texts so that it cannot fall behind them.
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

/* A line of text so that roff prints it as it is: a dot at its start is no request, a backslash stays one. */
void manual_text(FILE *out, const char *text);

#endif
