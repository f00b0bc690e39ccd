/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - a sweep of failures: which of a program's driver calls may fail, and what comes of it.
 *
 *     run 1, 2            nothing fails    calls and their places are counted: 3 sites, 12 calls
 *     run 3               mem_create:1     exit 0, nothing held               recovered
 *     run 4               mem_map:1        exit 0, one handle held            leaked
 *     run 5               mem_map:2        signal 11                          crashed
 *     ...
 *     a line for each site, with the worst that happened and the command that shows it again
 */
#ifndef CUVMM_TOOLS_SWEEP_H
#define CUVMM_TOOLS_SWEEP_H

#include <stdint.h>

#include "exec.h"

/* From best to worst. */
enum sweep_class {
    SWEEP_NOT_RUN,
    SWEEP_RECOVERED,  /* exit 0, or the status that is as good */
    SWEEP_VARIED,     /* another call failed than was meant: the program took another way than when it was counted */
    SWEEP_LEAKED,     /* the same, but more is held at the end than without a failure */
    SWEEP_MISUSED,    /* the same, but later calls break rules that they did not break without it */
    SWEEP_WRONG_EXIT,
    SWEEP_CRASHED,    /* a signal ended it */
    SWEEP_HUNG,       /* it did not end in time */
    SWEEP_CLASSES
};

const char *sweep_class_name(enum sweep_class class);

struct sweep_options {
    struct exec_options exec; /* its fault is not used */
    const char *call;         /* calls of that kind alone; NULL: all that take or change something */
    const char *result;       /* what they fail with; NULL: the layer's own choice */
    unsigned jobs;            /* runs at a time */
    double timeout;           /* seconds of a run; 0: ten times what it takes without a failure, and 5 */
    uint64_t most, seed;      /* runs, and how they are chosen where there are more calls */
    int accept;               /* an exit status that is as good as 0 */
    bool json;
};

/* Returns the exit status: 0 where all was recovered, 1 otherwise; 125 where nothing could be tried, which has been said. */
int sweep(const struct sweep_options *options, FILE *out, FILE *err);

#endif
