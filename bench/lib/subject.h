/* SPDX-License-Identifier: Apache-2.0 */
/* subject.h - what is timed: bodies that are run in turn, round by round, so that whatever disturbs the machine disturbs
 * all of them alike. What counts of each is the median.
 *
 *   round 1   [mmap life][simulator's life][..]      round 2   [mmap life][simulator's life][..]      ...
 */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include <stddef.h>

enum { SUBJECT_ROUNDS = 101 };

struct subject {
    const char *name;
    /* Makes that many units of its work and returns the seconds that they took. */
    double (*batch)(void *state, unsigned units);
    void *state;
    unsigned units;
    double second[SUBJECT_ROUNDS]; /* a unit */
};

/* Seconds on a clock that only goes forward; and seconds that the calling thread had a processor, which others that use
 * the machine do not add to. */
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
