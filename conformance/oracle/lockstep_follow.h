/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_follow.h - a transcript of random calls on a driver, made again on a simulator.
 *
 *     transcript    310   mem_unmap ptr=r80 size=4G    SUCCESS            a driver's answer
 *     follow        the same step, by the same names   INVALID_VALUE      differs: one line is printed
 *
 * A recording (lockstep_drive.h) says that an answer differs; this says which, and what a change of the model makes of all others.
 */
#ifndef CUVMM_LOCKSTEP_FOLLOW_H
#define CUVMM_LOCKSTEP_FOLLOW_H

#include <stdint.h>
#include <stdio.h>

struct follow_report {
    uint64_t episodes, calls; /* compared */
    uint64_t left_out;        /* on one of both sides */
    uint64_t different;
    uint64_t own;             /* so often what is free differed by memory of the driver's own */
};

/* Makes the calls on spec, treated as a driver. Writes a line for each call to log, unless NULL: a separate
 * transcript. Ends the program where a line is not one of a transcript. */
void follow_transcript(const char *spec, FILE *transcript, FILE *log, struct follow_report *report);

#endif
