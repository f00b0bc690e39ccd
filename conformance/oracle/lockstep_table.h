/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_table.h - the distinct differences of a run: each kind once, with its count and the shortest script.
 *
 *   signature                                   explained      times  script
 *   mem_map: predicted X [RULE], answered Y     -              14     3 steps      a failure
 *   mem_get_access location 2: ...              a reason       9000   -            known and explained
 *
 * Plain data, so that it can be in memory shared with the child that makes the calls and may die in one.
 */
#ifndef CUVMM_LOCKSTEP_TABLE_H
#define CUVMM_LOCKSTEP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockstep.h"

enum { TABLE_ROWS = 96 };

struct table_row {
    char signature[200];
    char explained[200];   /* "" for a failure */
    char difference[600];  /* of the first one */
    char script[4000];     /* a step a line */
    uint64_t times;
    uint64_t seed;         /* of the episode that showed it first */
};

struct table {
    struct table_row row[TABLE_ROWS];
    size_t count;
    uint64_t lost; /* differences that did not fit */
};

/* Rows "signature<tab>reason" of a file; '#' opens a comment line. False when the file cannot be read, or a line is not
 * such a row: error then names it. */
bool table_explain(struct table *table, const char *path, char *error, size_t size);

/* Makes a kind a known one, unless it has a row. */
void table_known(struct table *table, const char *signature, const char *reason);

/* Counts a difference. Returns its row when its kind is new, so that the caller can add difference and script; else
 * NULL. */
struct table_row *table_count(struct table *table, const char *signature);

void table_script(struct table_row *row, const struct script *script, size_t first, uint64_t unit);

/* Prints the table as TAP notes. Returns how many kinds occurred without an explanation. */
size_t table_show(const struct table *table);

#endif
