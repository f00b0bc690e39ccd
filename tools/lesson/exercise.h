/* SPDX-License-Identifier: Apache-2.0 */
/* exercise.h - `cuvmm exercise`: the script of that name, with this command's library. */
#ifndef CUVMM_TOOLS_EXERCISE_H
#define CUVMM_TOOLS_EXERCISE_H

#include <stdio.h>

/* Becomes the script; argv is its own. Returns, with the exit status, only where the script cannot be started. */
int exercise_start(char **argv, FILE *out, FILE *err);

#endif
