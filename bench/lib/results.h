/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - the figures of a run as a file, and those of the last run's file.
 *
 *   file        name <tab> value <tab> more          a line each; whether more is better, or less
 *   shown       life, 1 thousand live      27.10 of it in one life of mmap, was 8.02
 *
 * The file keeps ratios only: seconds of another machine, or of a busier hour, cannot be compared.
 */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

enum { RESULTS_MOST = 128, RESULT_NAME = 64 };

/* Which direction is better: at least the aim, or at most. */
enum aim { AIM_LEAST, AIM_MOST };

struct result {
    char name[RESULT_NAME];
    double value;
    enum aim better;
};

struct results {
    struct result result[RESULTS_MOST];
    unsigned count;
};

/* Reads what a run wrote; empty if the file does not exist yet. Returns false, with a message on err, if it is
 * another kind of file. */
bool results_read(struct results *results, const char *path, FILE *err);
/* Writes the file whole or not at all; false with a message on err. */
bool results_write(const struct results *results, const char *path, FILE *err);

/* Room for RESULTS_MOST; the value of that name, NULL if there is none. */
void results_add(struct results *results, const char *name, double value, enum aim better);
const double *results_find(const struct results *results, const char *name);

#endif
