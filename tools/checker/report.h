/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what a run found, for other programs: written when the program has ended.
 *
 *     --json=FILE    everything (check-report.schema.json)     --junit=FILE  a test for each finding, failed
 *     --sarif=FILE   SARIF 2.1.0, for code scanning            --github      ::error file=pool.c,line=31::... on standard output
 */
#ifndef CUVMM_TOOLS_REPORT_H
#define CUVMM_TOOLS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "collect.h"
#include "exec_process.h"

struct report {
    const struct run *run;
    const struct exec_ending *end;
    bool checked;
    const char *text; /* the sum, or the reason why nothing was checked */
};

/* The files of a run, opened before it: so that an unwritable file does not lose the run's findings. */
struct report_files {
    FILE *json, *sarif, *junit;
};

/* Returns false, after naming it on err, if one cannot be opened. */
bool report_open(struct report_files *files, const struct check_options *options, FILE *err);

/* Writes and closes all of them. Returns false, after naming it on err, if one could not be written completely. */
bool report_write(struct report_files *files, const struct report *report, FILE *out, FILE *err);
void report_close(struct report_files *files);

/* --live: a finding of that file's list as a line of JSON, written at once. */
void report_finding(const struct group *group, FILE *out);

/* The forms. */
void report_json(const struct report *report, FILE *out);
void report_sarif(const struct report *report, FILE *out);
void report_junit(const struct report *report, FILE *out);
void report_github(const struct report *report, FILE *out);

#endif
