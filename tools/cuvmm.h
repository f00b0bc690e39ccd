/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm.h - the command line, apart from main.c so that tests can call it. */
#ifndef CUVMM_TOOLS_CUVMM_H
#define CUVMM_TOOLS_CUVMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit status: 0 fine, 1 something did not go as the script or trace says, 2 the command or its input is wrong. */
int cuvmm_main(int argc, char **argv, FILE *out, FILE *err);

/* Its subcommands; argv[0] is the subcommand's own name. */
int cuvmm_run(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_shell(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_explain(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_rules(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_profiles(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_replay(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_diff(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_machine(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_view(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_check(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_export(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_lesson(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_exercise(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_completion(int argc, char **argv, FILE *out, FILE *err);
int cuvmm_help(int argc, char **argv, FILE *out, FILE *err);

/* Their names in the order of the table; NULL past the last. */
const char *cuvmm_command(size_t index);

/* The help text of a subcommand, NULL for the whole. */
void cuvmm_print_help(FILE *out, const char *name);

/* Colours only on a terminal, and for people who did not ask for none ($NO_COLOR). */
bool cuvmm_wants_colour(FILE *out);

/* --backend SPEC or --backend=SPEC. Returns how many arguments it took, -1 when SPEC is missing. */
int cuvmm_take_backend(int argc, char **argv, int at, const char **backend);

/* Ends a usage error: says where to read more. Returns 2. */
int cuvmm_usage(FILE *err, const char *name);

/* Colours are for a terminal, and for people who did not ask for none (NO_COLOR). */
bool cuvmm_wants_colour(FILE *out);

/* --backend SPEC or --backend=SPEC. Returns how many arguments it took, -1 when SPEC is missing. */
int cuvmm_take_backend(int argc, char **argv, int at, const char **backend);

#endif
