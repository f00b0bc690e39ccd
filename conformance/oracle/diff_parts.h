/* SPDX-License-Identifier: Apache-2.0 */
/* diff_parts.h - what the parts of `cuvmm diff` share: its options, an episode, the run on a driver. */
#ifndef CUVMM_DIFF_PARTS_H
#define CUVMM_DIFF_PARTS_H

#include "campaign.h"
#include "lockstep.h"
#include "lockstep_drive.h"
#include "options.h"

struct options {
    struct option_list specs;
    uint64_t seed, calls, episode, flip, mix;
    bool strict, as_driver, counts;
    uint64_t check_every, budget, patience, shrinking;
    const char *script, *replay, *recording, *record, *explained, *transcript, *follow, *shard, *findings, *merge;
    struct campaign *campaign; /* the campaign of which this run is a shard, or which it merges; NULL: a separate run */
    uint64_t *rules; /* how often each rule was the answer, in the order of vmm_rules(); NULL: not counted */
};

struct run {
    const struct options *options;
    char spec[96];
    uint64_t made, succeeded, unit;
    struct lockstep_counts counts;
    char difference[600];
};

struct run diff_run_of(const struct options *options, const char *spec);

/* One episode on a fresh system, of at most calls calls. The seed decides whether it is a wide one (lockstep.h). False when both
 * differ: the difference is shrunk and shown, or, of a shard, noted (diff_found). */
bool diff_episode(struct run *run, uint64_t seed, uint64_t calls);

/* Is the spec driven as a driver is? */
bool diff_is_driven(const struct options *o, const char *spec);

/* The options of a run on a driver, except for the number of calls; named gets the spec, and the report the explained kinds. */
struct drive_options diff_drive_of(const struct options *o, const char *spec, char named[96], struct drive_report *report);

bool diff_read_options(struct options *o, FILE *err, int argc, char **argv);

/* ---- campaigns (diff_campaign.c) ---- */

/* Checks and completes the options of a shard or a merge; of another run they stay. fresh: as they are before any is read. */
bool diff_campaign_begin(struct options *o, int argc, const struct options *fresh, FILE *err);
bool diff_shard(const struct options *o, FILE *err);
void diff_merge(const struct options *o);
void diff_found(const struct run *run, const struct script *script, uint64_t seed, const char *difference);

#endif
