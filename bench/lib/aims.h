/* SPDX-License-Identifier: Apache-2.0 */
/* aims.h - the ratios of a run, each next to its value in the last run and its aim, and the file that keeps them.
 *
 *   wanted
 *     1 million live to 1 thousand      0.99 (at most 1.5: reached), was 1.02
 */
#ifndef BENCH_AIMS_H
#define BENCH_AIMS_H

#include "results.h"

struct aims {
    struct results now, before;
    const char *path; /* NULL: nothing is kept */
};

/* path: the file with the last run's ratios, which this run then overwrites; NULL for none. Returns false, with a message
 * on stderr, if it is another kind of file. */
bool aims_open(struct aims *aims, const char *path);
/* Keeps the ratios for the next run; returns false, with a message on stderr, on failure. */
bool aims_close(const struct aims *aims);

/* Ends a line with the ratio's name, its value, and its previous value. */
void aims_ratio(struct aims *aims, const char *name, double value, enum aim better, const char *unit);

/* A line for a ratio that has an aim: at least that, or at most. aim 0: none. */
void aims_wanted(struct aims *aims, const char *name, double value, enum aim which, double aim);

#endif
