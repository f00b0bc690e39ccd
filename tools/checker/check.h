/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - `cuvmm check`: its options, and a run.
 *
 *     cuvmm check [options] PROGRAM [ARGUMENTS]
 *                 cli/        LD_PRELOAD=FOLDER/libcuvmm-check.so     or what exec_setting_make gives (exec.h)
 *                             CUVMM_CHECK_STREAM (stream.h)           records come while it runs: collect.h, text_report.h
 *                             CUVMM_CHECK_TALLY                       counts that need no record
 *                                                                     then report.h: --json, --sarif, --junit, --github
 */
#ifndef CUVMM_TOOLS_CHECK_H
#define CUVMM_TOOLS_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "check_watch.h"

/* The exit status if nothing was checked; the same as that of env and timeout when they fail themselves. */
enum { CHECK_NOTHING = 125 };

enum check_stacks { CHECK_STACKS_SHORT, CHECK_STACKS_NONE, CHECK_STACKS_FULL };

struct check_options {
    bool chosen, driver;  /* --backend was given; on the driver, or on the simulator */
    const char *machine;  /* which simulated machine; NULL if unspecified */
    int error_exitcode;   /* -1: the program's own status */
    char *log;            /* absolute; NULL: standard error. Freed by the caller */
    bool log_by_process;  /* it is a pattern (check_log.h) */
    bool leaks, all_leaks, quiet, gen_suppressions, github;
    enum check_stacks stacks;
    const char *json, *sarif, *junit; /* files; NULL: none */
    const char *live;     /* a file that gets findings as they occur, for another program that reports them; NULL: none */
    const char *fault;    /* which call of the simulator fails (exec.h); NULL: none */
    const char *const *suppression;   /* files */
    unsigned suppression_count;
    bool order, unwritten; /* track the order of accesses, and which bytes were written */
    struct check_watch watch; /* growth, traces and the last calls */
    char **command;       /* the program and its arguments, ended by NULL */
};

/* Runs the program and reports what was found. Returns the exit status. */
int check_run(struct check_options *options, FILE *err);

#endif
