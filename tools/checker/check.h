/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - the parts of `cuvmm check`: its options, and its log.
 *
 *     cuvmm check [options] PROGRAM [ARGUMENTS]
 *                 cli/        LD_PRELOAD=FOLDER/libcuvmm-check.so     or what exec_setting_make gives (exec.h)
 *                             and a count that all processes share
 */
#ifndef CUVMM_TOOLS_CHECK_H
#define CUVMM_TOOLS_CHECK_H

#include <stdbool.h>
#include <stdio.h>

/* The exit status where nothing was checked; what env and timeout give when they cannot do their work. */
enum { CHECK_NOTHING = 125 };

struct check_options {
    bool chosen, driver;  /* --backend was given; on the driver, or on the simulator */
    const char *machine;  /* which simulated one, NULL where that is left open */
    int error_exitcode;   /* -1: the program's own status */
    char *log;            /* absolute; NULL: standard error. Freed by the caller */
    bool leaks, quiet;
    char **command;       /* the program and its arguments, ended by NULL */
};

/* Runs the program and reports what was found. Returns the exit status. */
int check_run(struct check_options *options, FILE *err);

/* Sets options->log, absolute, for programs that go to other folders; empties it, for one run is one report. False when that
 * cannot be done, which has been said. */
bool check_log(struct check_options *options, const char *path, FILE *err);

#endif
