/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h - the records of a run, collected: groups of findings, processes, and what is reported while the program runs.
 *
 *     stream --record--> collect_record --> groups.h, suppress.h --> text.h: each finding when it first occurs
 *     tally, at the end  collect_finish --> counts                    the rest: leaks, sums, files (report.h)
 */
#ifndef CUVMM_TOOLS_COLLECT_H
#define CUVMM_TOOLS_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "findings.h"
#include "groups.h"
#include "suppress.h"
#include "text_report.h"

/* A process that called the driver. */
struct process {
    uint64_t pid, parent;
    char *program;
    bool ended;
};

/* Numbers of one process, or of all. Suppressed findings count only in `suppressed`. */
struct sum {
    uint64_t findings[FINDING_LEAK + 1], times[FINDING_LEAK + 1]; /* by class: places and occurrences */
    uint64_t leaked;                                             /* bytes of physical memory */
    uint64_t suppressed;                                         /* times */
};

struct run {
    const struct check_options *options;
    const struct findings_tally *tally; /* what no record has */
    size_t again;                       /* the number of rows in tally->again */
    struct groups *groups;
    struct suppressions suppressions;
    struct process *process;
    unsigned processes;
    uint64_t begun, ended, checked, stopped[FINDINGS_OBSTACLES];
    uint64_t unread;      /* records that were malformed, or for which there was no memory */
    struct sum unknown;   /* findings that arrived without a record */
    struct text_reports texts;
    FILE *live;           /* gets each finding as it occurs; NULL: none */
};

bool collect_begin(struct run *run, const struct check_options *options, const struct findings_tally *tally, size_t again, FILE *err);
void collect_record(void *run, const char *text, size_t length);

/* Adds what only the tally contains. No record comes any more. */
void collect_finish(struct run *run);
void collect_free(struct run *run);

/* pid 0: of all processes. */
struct sum collect_sum(const struct run *run, uint64_t pid);

/* As findings_sum, for a sum of groups: "1 error (200 times), 0 hazards, 1 leak (3 times, 6 MiB of memory)". */
enum { COLLECT_TEXT = 300 };
bool collect_text(const struct run *run, const struct sum *sum, char *text, size_t size);

/* The reason why a process was not checked, or NULL. */
const char *collect_reason(const struct run *run);

#endif
