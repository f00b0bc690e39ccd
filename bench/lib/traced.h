/* SPDX-License-Identifier: Apache-2.0 */
/* traced.h - records lives as a trace, and replays it. */
#ifndef BENCH_TRACED_H
#define BENCH_TRACED_H

#include <stdbool.h>
#include <stdio.h>

enum { TRACED_CALLS = 7 }; /* a life */

struct traced {
    char folder[40], path[64];
    const char *spec;
    FILE *silent;
};

/* Records that many lives; binary: in the form for long traces. False, with a message on standard error, if traces cannot be
 * written or read. */
bool traced_open(struct traced *traced, const char *spec, unsigned lives, bool binary);
void traced_close(struct traced *traced);

/* Replays the whole trace, regardless of units; returns the time it took. */
double traced_replays(void *state, unsigned units);

#endif
