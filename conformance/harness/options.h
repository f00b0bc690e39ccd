/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command lines of the harness's programs, as tables over getopt_long.
 *
 *   {"seed", OPTION_NUMBER, &seed, 0, UINT64_MAX}      --seed 7   --seed=7   --se 7
 */
#ifndef CUVMM_OPTIONS_H
#define CUVMM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_NUMBER, /* uint64_t from least to most */
    OPTION_TEXT,   /* const char *, which stays argv's */
    OPTION_LIST    /* struct option_list: may come several times */
};

enum { OPTIONS_MOST = 32, OPTION_LIST_MOST = 16 };

struct option_list {
    const char *at[OPTION_LIST_MOST];
    size_t count;
};

struct option_row {
    const char *name;
    enum option_kind kind;
    void *to;
    uint64_t least, most; /* of numbers */
};

/* False when an argument is wrong: err then names it and what was expected, and the caller must not use the values. At
 * most OPTIONS_MOST rows. */
bool options_read(const struct option_row *rows, size_t count, int argc, char **argv, FILE *err);

/* The number in text, within the bounds; false, with a message on err, where it is not one. */
bool options_number(FILE *err, const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value);

#endif
