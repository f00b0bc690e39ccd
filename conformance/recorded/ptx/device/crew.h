/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h - processes that share lists of jobs until the jobs or the time run out.
 *
 *     crew_begin(60)         every process that crew_run() starts ends within 60 seconds of now
 *     crew_run(teams, 2)     team 0: 12 processes take jobs 0, 1, 2 ... of theirs; team 1: 4 processes take jobs of theirs
 *     crew_file("a.tsv")     one file for all of them: what is written between two flushes arrives in one piece
 *
 * A process that dies in a job is replaced, and the job is not asked again: what it wrote before is in the file.
 */
#ifndef PTX_DEVICE_CREW_H
#define PTX_DEVICE_CREW_H

#include <stdio.h>

struct team {
    const char *name;
    unsigned processes, jobs;
    void (*begin)(void);        /* in each process, before its first job */
    void (*job)(unsigned job);
};

enum { CREW_TEAMS = 4, CREW_PROCESSES = 64, CREW_DEATHS = 200 };

void crew_begin(unsigned seconds);

/* Seconds left, at least 1. */
unsigned crew_left(void);

/* The number of jobs that no process took in time, or that a process died in. */
unsigned crew_run(const struct team *teams, unsigned count);

/* A file of the folder PTX_OUT to append to; its path is empty before crew_run() if this process called crew_empty(). */
FILE *crew_file(const char *name);
void crew_empty(const char *name);

/* Runs what(i) in a separate process for at most that many seconds; returns its status from waitpid(). */
int crew_child(void (*what)(size_t i), size_t i, unsigned seconds);

#endif
