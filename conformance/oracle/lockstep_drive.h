/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_drive.h - random calls on a driver: counts every difference, shrinks each kind once, and continues.
 *
 * Episodes run in a child process. A call that ends the process counts as a difference, and the next episode has a new
 * child. A recording has one line for each episode:
 *
 * seed 17 calls 2000 hash 6d0f2a... mix 1 cautious choosy results and outputs of the first 2000 calls, while nothing differed and
 *                                                         reservations had the model's addresses
 *
 * cautious: without what later runs found to vary, or to end the process. choosy: calls that would be left out were drawn again.
 * Lines without them were recorded before.
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
    uint64_t check_every;  /* calls between complete checks of the state; 0: only the last */
    unsigned patience;     /* seconds that a call may take; the beginning of an episode may take a minute */
    unsigned shrinking;    /* seconds that a difference may be shrunk for; 0: none is */
    unsigned budget;       /* seconds after which no episode begins; 0: none */
    unsigned mix;          /* of lockstep.h */
    bool choosy;           /* calls that would be left out are drawn again */
    uint64_t stride;       /* from one episode's seed to the next; 0 is 1 */
    uint64_t episodes;     /* at most so many; 0: as many as have that many calls */
    bool later;            /* nothing is shrunk: the table has the seed of each kind */
    FILE *record;          /* NULL for nowhere */
    FILE *transcript;      /* every call with its answer; NULL for nowhere */
};

struct drive_report {
    struct table table;    /* explanations may be in it before */
    uint64_t episodes, made, compared, succeeded, skipped, unasked, placed, strayed, recorded, adopted;
    uint64_t deaths;       /* children that a call ended */
    struct lockstep_counts counts;
};

/* Fills report, which must be zero except the table and shared with children (child_share). */
void drive_run(const struct drive_options *options, struct drive_report *report);

/* Replays the recorded episodes on spec and compares, up to `most` calls. Returns how many episodes differ; *episodes:
 * the number replayed, *calls: their calls. Notes describe the first difference. */
uint64_t drive_replay(const char *spec, FILE *recording, uint64_t most, uint64_t *episodes, uint64_t *calls);

/* The default file of explained differences; NULL where it does not exist. */
const char *drive_explained(const char *named);

#endif
