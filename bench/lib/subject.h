/* SPDX-License-Identifier: Apache-2.0 */
/* subject.h - timed bodies, run in turn, round by round, so that a disturbance of the machine affects all of them
 * alike. The result of each is its median.
 *
 *   round 1   [mmap life][simulator's life][..]      round 2   [mmap life][simulator's life][..]      ...
 */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include <stddef.h>

enum { SUBJECT_ROUNDS = 101 };

struct subject {
    const char *name;
    /* Does that many units of work and returns the seconds that they took. */
    double (*batch)(void *state, unsigned units);
    void *state;
    unsigned units;
    double second[SUBJECT_ROUNDS]; /* a unit */
};

/* Seconds on a monotonic clock; and the calling thread's processor time in seconds, which other users of the machine do
 * not affect. */
double now(void);
double spent(void);

/* Runs each subject once, uncounted, and then rounds (at most SUBJECT_ROUNDS) times in turn. */
void subjects_run(struct subject *subjects, size_t count, unsigned rounds);

/* Nanoseconds of a unit, in the middle of the rounds. */
double subject_median(const struct subject *subject, unsigned rounds);

/* Runs body on that many threads at once, each with its own of the states; returns the seconds from the first start to
 * the last end. */
double threads_run(unsigned threads, void (*body)(void *state, unsigned units), void *const *states, unsigned units);

#endif
