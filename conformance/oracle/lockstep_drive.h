/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_drive.h - random calls on a driver: every difference is counted, each kind shrunk once, and the run goes on.
 *
 * Episodes run in a child process. Where a call ends the process, that is a difference, too, and the next episode has a
 * new child. A recording has a line for each episode:
 *
 *     seed 17 calls 2000 hash 6d0f2a...       results and outputs of the first 2000 calls, as far as nothing differed
 *                                             and reservations went where the model puts them
 */
#ifndef CUVMM_LOCKSTEP_DRIVE_H
#define CUVMM_LOCKSTEP_DRIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lockstep_table.h"

struct drive_options {
    const char *spec;
    uint64_t seed, calls, episode;
    uint64_t check_every;  /* calls between complete looks at the state; 0 for none but the last */
    unsigned patience;     /* seconds that an episode may take */
    unsigned shrinking;    /* seconds that a difference may be shrunk for */
    unsigned budget;       /* seconds after which no episode begins; 0: none */
    FILE *record;          /* NULL for nowhere */
    FILE *transcript;      /* every call with what was told; NULL for nowhere */
};

struct drive_report {
    struct table table;    /* explanations may be in it before */
    uint64_t episodes, made, compared, succeeded, skipped, placed, strayed, recorded;
    uint64_t deaths;       /* children that a call ended */
};

/* Fills report, which must be zero but for the table and shared with children (child_share). */
void drive_run(const struct drive_options *options, struct drive_report *report);

/* Makes the recorded episodes again on spec and compares, until `most` calls were made. Returns how many do not come
 * out the same; *episodes: how many were made, *calls: in all. The first that is different is told in notes. */
uint64_t drive_replay(const char *spec, FILE *recording, uint64_t most, uint64_t *episodes, uint64_t *calls);

/* The file of differences that are explained, where none is named and it is there; NULL where it is not. */
const char *drive_explained(const char *named);

#endif
