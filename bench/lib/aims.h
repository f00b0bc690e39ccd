/* SPDX-License-Identifier: Apache-2.0 */
/* aims.h - the ratios of a run, each beside its value in the last run and beside its aim, and the file that keeps them.
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

/* path: the file of the last run, if there was one, and then of this; NULL: none. False, with a message on stderr, where it is
 * another kind of file. */
bool aims_open(struct aims *aims, const char *path);
/* Keeps the ratios for the next run; false with a message on stderr. */
bool aims_close(const struct aims *aims);

/* Ends a line with the ratio, what it is, and what it was. */
void aims_ratio(struct aims *aims, const char *name, double value, enum aim better, const char *unit);

/* A line for a ratio that has an aim: at least that, or at most. aim 0: none. */
void aims_wanted(struct aims *aims, const char *name, double value, enum aim which, double aim);

#endif
