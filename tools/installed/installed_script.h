/* SPDX-License-Identifier: Apache-2.0 */
/* installed_script.h - a subcommand that is a script: exercise, record, diff-recordings.
 *
 *     PREFIX/bin/cuvmm record ...  ->  CUVMM_PREFIX=PREFIX PREFIX/share/cuvmm/recording/record ...
 */
#ifndef CUVMM_TOOLS_INSTALLED_SCRIPT_H
#define CUVMM_TOOLS_INSTALLED_SCRIPT_H

#include <stdio.h>

struct installed_script {
    const char *command;  /* "exercise", for messages */
    const char *variable; /* of the environment: another folder for the script */
    const char *folder;   /* "exercises", below share/cuvmm */
    const char *file;     /* "exercise" */
};

/* Becomes the script; argv is its own, its first word included. Returns, with the exit status, only where the script cannot be
 * started. */
int installed_script_start(const struct installed_script *script, char **argv, FILE *out, FILE *err);

#endif
