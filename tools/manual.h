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

#endif
