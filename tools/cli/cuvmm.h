/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm.h - the command line, apart from main.c so that tests can call it. */
#ifndef CUVMM_TOOLS_CUVMM_H
#define CUVMM_TOOLS_CUVMM_H

#include <stddef.h>
#include <stdio.h>

/* Exit status: 0 fine, 1 something did not go as the script or trace says, 2 the command or its input is wrong. */
int cuvmm_main(int argc, char **argv, FILE *out, FILE *err);

/* The subcommands of this room; argv[0] is the subcommand's own name. The others are declared where their work is. */
int cuvmm_run(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_explain(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_rules(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_profiles(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_diff(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_completion(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_help(int argc, char **argv, FILE *out, FILE *err);

/* Their names in the order of the table; NULL past the last. */
const char *cuvmm_command(size_t index);

/* The help text of a subcommand, NULL for the whole. */
void cuvmm_print_help(FILE *out, const char *name);

#endif
