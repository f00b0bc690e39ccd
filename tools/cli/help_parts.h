/* SPDX-License-Identifier: Apache-2.0 */
/* help_parts.h - a help text taken apart, line by line: what the manual page and the shells' completion are made of, so
 * that a command is described once, in help.c.
 *
 *   cuvmm diff [--seed N]           HELP_USAGE
 *                                   HELP_BLANK
 *   Makes random calls.             HELP_TEXT
 *     --seed N   the first seed;    HELP_ITEM   label "--seed N", text "the first seed;"
 *                a number           HELP_MORE   text "a number"
 *   Examples:                       HELP_HEADING
 *     cuvmm diff --seed 7           HELP_EXAMPLE
 */
#ifndef CUVMM_TOOLS_HELP_PARTS_H
#define CUVMM_TOOLS_HELP_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* The help text of a command, the general one for NULL; NULL where there is none of that name (help.c). */
const char *help_text(const char *command);

/* A part of a text; not ended by a 0. */
struct span {
    const char *at;
    size_t length;
};

enum help_kind { HELP_USAGE, HELP_BLANK, HELP_TEXT, HELP_ITEM, HELP_MORE, HELP_HEADING, HELP_EXAMPLE };

struct help_line {
    enum help_kind kind;
    struct span label; /* of an item */
    struct span text;  /* without what it is indented by */
};

struct help_reader {
    const char *at;             /* the text, to begin with; the rest is zeroed */
    bool described, examples; /* the usage is over; between examples */
};

/* The next line. False at the end. */
bool help_next(struct help_reader *reader, struct help_line *line);

/* An option as it stands in a usage or at the head of an item: "--seed N", "--leaks=no|yes", "--quiet". */
struct help_option {
    struct span name;  /* "--seed" */
    struct span value; /* "N", "no|yes"; empty where it takes none */
    bool joined;       /* the value comes behind a "=" */
    struct span about; /* the first line of what its item says; empty in a usage */
};

/* The next option in text from *at on, which moves behind it: in "[--seed N] [--quiet]" one, then the other, then none. */
bool help_option_next(struct span text, size_t *at, struct help_option *option);

/* Is span this very text? */
bool span_is(struct span span, const char *text);

#endif
