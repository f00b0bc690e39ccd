/* SPDX-License-Identifier: Apache-2.0 */
/* campaign.h - random calls that are shared out among processes, machines or ranks of a job: `cuvmm diff --shard` and `--merge`.
 *
 *   episodes     0  1  2  3  4  5  6  7  8 ...         each from a seed of its own, so each can run anywhere
 *   shard 1/3    x        x        x          ->  FOLDER/shard-1-of-3
 *   shard 2/3       x        x        x       ->  FOLDER/shard-2-of-3     ->  merge: the kinds of all, each shrunk once
 *   shard 3/3          x        x        x    ->  FOLDER/shard-3-of-3
 *
 * A shard shrinks nothing. It writes its complete file at the end, so a lost shard has none and can be repeated
 * separately. The file:
 *
 *   cuvmm-shard 1
 *   options <tab> --backend <tab> sim:h100 <tab> --seed <tab> 1 ...             all that decide which calls are made
 *   ran <tab> sim:h100 <tab> 4000                                               random calls, of each spec
 *   found <tab> sim:h100 <tab> 7 <tab> 2 <tab> mem_map: ... <tab> mem_map(...)  spec, seed, times, kind, the first difference
 *   end
 */
#ifndef CUVMM_CAMPAIGN_H
#define CUVMM_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CAMPAIGN_SPECS = 16, CAMPAIGN_OPTIONS = 64, CAMPAIGN_SHARDS = 65536 };

/* A kind of difference: signature names it, without what varies. */
struct campaign_finding {
    char spec[96], signature[200], difference[600];
    uint64_t seed, times; /* of the first episode that showed it; in how many it was seen */
};

struct campaign_ran {
    char spec[96];
    uint64_t calls;
};

struct campaign {
    unsigned shard, of;              /* from 1; of a merged campaign shard is 0 */
    char *text;                      /* the options, as one text that option points into */
    char *option[CAMPAIGN_OPTIONS];
    int options;
    struct campaign_ran ran[CAMPAIGN_SPECS];
    size_t specs;
    struct campaign_finding *finding; /* by spec and kind */
    size_t findings, room;
    unsigned char *there;            /* merged: by number of the shard */
};

/* Reads "3/8", or for "auto" the rank and size that MPI or Slurm gave this process. False, with a message on err that names what was
 * expected. */
bool campaign_place(struct campaign *campaign, const char *text, FILE *err);

/* A name without a tab and a value, to be written; value NULL: it has none. False if there is no room, or the text
 * contains a tab. */
bool campaign_option(struct campaign *campaign, const char *name, const char *value);

/* Counts calls, or a difference. signature "": the difference's text without its numbers. */
void campaign_made(struct campaign *campaign, const char *spec, uint64_t calls);
void campaign_found(struct campaign *campaign, const char *spec, const char *signature, uint64_t seed, uint64_t times,
                    const char *difference);

/* Writes the file of the shard into the folder, whole or not at all. */
bool campaign_write(const struct campaign *campaign, const char *folder, FILE *err);

/* Reads the files of a folder into an empty campaign. False if there are none, one is damaged, or they belong to
 * different campaigns: err has the reason. Shards that are missing are no error: campaign_next_missing names them,
 * from 0 on; 0: no more. */
bool campaign_read(struct campaign *campaign, const char *folder, FILE *err);
unsigned campaign_next_missing(const struct campaign *campaign, unsigned after);

void campaign_free(struct campaign *campaign);

#endif
