/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm.h - the command line, apart from main.c so that tests can call it. */
#ifndef CUVMM_TOOLS_CUVMM_H
#define CUVMM_TOOLS_CUVMM_H

#include <stdio.h>

/* Exit status: 0 fine, 1 something did not go as the script or trace says, 2 the command or its input is wrong. */
int cuvmm_main(int argc, char **argv, FILE *out, FILE *err);

/* The message about an unknown command. Returns 2. */
int cuvmm_unknown(FILE *err, const char *name);

#endif
