/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - what the subcommands share of the command line. */
#ifndef CUVMM_TOOLS_USAGE_H
#define CUVMM_TOOLS_USAGE_H

#include <stdbool.h>
#include <stdio.h>

/* Colours are for a terminal, and for people who did not ask for none (NO_COLOR). */
bool cuvmm_wants_colour(FILE *out);

/* --backend SPEC or --backend=SPEC. Returns how many arguments it took, -1 when SPEC is missing. */
int cuvmm_take_backend(int argc, char **argv, int at, const char **backend);

/* Ends a usage error: names the help to read. Returns 2. */
int cuvmm_usage(FILE *err, const char *name);

#endif
