/* SPDX-License-Identifier: Apache-2.0 */
/* rule_examples.h - for each rule a script that breaks it and its correction, as they stand in conformance/corpus/rulebook.
 *
 *     VMM-MAP-OVERLAP               EXAMPLE_BROKEN            EXAMPLE_CORRECTED
 *         map r 1gran h             map r 1gran h             map r 1gran h
 *     -   map r 1gran h       ->    map r 1gran h             map r+1gran 1gran h
 *     +   map r+1gran 1gran h
 *
 * The files are built into the command, so that `cuvmm explain` has them wherever it runs.
 */
#ifndef CUVMM_TOOLS_RULE_EXAMPLES_H
#define CUVMM_TOOLS_RULE_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

enum example_part {
    EXAMPLE_BROKEN,    /* the script that the rule refuses */
    EXAMPLE_CORRECTED, /* the script that is accepted */
    EXAMPLE_MACHINE,   /* lines of my.profile, which both open; mostly none */
    EXAMPLE_REASON,    /* why no script can break it (the last line names the test); empty for other rules */
    EXAMPLE_NOT_ON,    /* names of machines that cannot run the pair: they lack the feature */
    EXAMPLE_BOTH       /* both scripts in one, each line after ' ', '-' or '+' and a blank */
};

/* The lines of a rule, within the text of all examples. */
struct rule_example {
    const char *lines;
    size_t length;
};

/* Returns false if there is none for this id. */
bool rule_example_find(const char *rule, struct rule_example *example);

/* Appends the part's lines, each with its newline, to text. Returns how many there are. */
size_t rule_example_part(const struct rule_example *example, enum example_part part, struct text *text);

/* Calls `see` with each id that the text has an example for, in order. A line not described in
 * conformance/corpus/rulebook/README.md is passed unchanged, with known false. */
void rule_examples_each(void (*see)(void *user, const char *line, size_t length, bool known), void *user);

#endif
