/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - for tests: points that are made in other processes, and printed in order.
 *
 *     jobs_point(&jobs, JOB_SHARES, work, &a, sizeof a, "a")      |  [ a d ]  one process, where jobs.together is set
 *     jobs_point(&jobs, JOB_FAULTS, work, &b, sizeof b, "b")      |  [ c ]    beside each other, jobs.most of them
 *     jobs_point(&jobs, JOB_ALONE, work, &c, sizeof c, "c")       |  [ b ]    after all others
 *     jobs_skip(&jobs, "no reason", "d")                          v
 *     jobs_end(&jobs)                          ok 1 - a, ok 2 - b, ok 3 - c, ok 4 - d # SKIP no reason
 *
 * Initialising and ending a process's driver takes a fifth of a second and hardly runs in parallel: so points that leave the
 * driver usable share a process, each in a new thread without a current context. A point that fails there, or waits for more
 * than two seconds (possibly for work of another point), does not count: it is repeated in a separate process. A fault on an
 * H100 ended copies of other processes, so a point that may fault runs while no other does.
 */
#ifndef CUVMM_JOBS_H
#define CUVMM_JOBS_H

#include <stdbool.h>
#include <stddef.h>

enum job_kind { JOB_SHARES, JOB_ALONE, JOB_FAULTS };

struct job;

struct jobs {
    unsigned most;    /* processes at a time; 0: 1 */
    unsigned seconds; /* after these a signal ends a process of one point; 0: no limit */
    bool together;    /* JOB_SHARES do share; else they are as JOB_ALONE */
    struct job *first, *last, *unprinted;
    size_t count;
};

/* Reads "--jobs N" and "--together" off the front of the arguments; false for a number that is not 1 to 1,000. */
bool jobs_options(struct jobs *jobs, int *argc, char ***argv);

/* The point passes if work returns true; what it prints comes before it. data is copied. */
void jobs_point(struct jobs *jobs, enum job_kind kind, bool (*work)(const void *data), const void *data, size_t size,
                const char *format, ...) __attribute__((format(printf, 6, 7)));
void jobs_skip(struct jobs *jobs, const char *reason, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Makes the points and prints them. The caller has no other children. */
void jobs_end(struct jobs *jobs);

#endif
