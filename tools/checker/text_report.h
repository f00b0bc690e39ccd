/* SPDX-License-Identifier: Apache-2.0 */
/* text_report.h - findings as text: each when it first occurs, leaks and repeats at the end.
 *
 *     --log-file=check.txt, or none     one text for all processes        [4711] error VMM-MAP-OVERLAP: cuMemMap (call 11) -> ...
 *     --log-file=check.%p               one for each, with its own sum    check.4711
 *
 * A rule's explanation is written once in a text.
 */
#ifndef CUVMM_TOOLS_TEXT_REPORT_H
#define CUVMM_TOOLS_TEXT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "check.h"
#include "groups.h"

struct text_report {
    uint64_t pid;     /* 0: of all processes */
    FILE *to;         /* NULL: its own file, which is opened for each text */
    bool *explained;  /* by the number of the rule */
    bool begun;       /* its file was emptied */
    uint64_t noted;   /* of the last note */
};

struct text_reports {
    const struct check_options *options;
    struct text_report *report;
    unsigned count;
    unsigned width;
    bool coloured;
    FILE *common; /* where the sum goes */
};

/* Opens the log. */
bool texts_begin(struct text_reports *texts, const struct check_options *options, FILE *err);
void texts_free(struct text_reports *texts);

/* A finding of that share occurred for the first time; fresh: also the first of its group. */
void texts_finding(struct text_reports *texts, const struct group *group, const struct share *share, bool fresh);

/* A note about a process for the user; the same note about several processes is written once. */
void texts_note(struct text_reports *texts, uint64_t pid, const char *note);

struct run;
/* The rest, when the program has ended. */
void texts_finish(struct text_reports *texts, const struct run *run);

/* Writes a line to the common text: "cuvmm check: ...". */
void texts_line(struct text_reports *texts, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
