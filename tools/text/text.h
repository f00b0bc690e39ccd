/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - small text helpers of the cuvmm command: growing text, sizes in the script's units, near misses.
 *
 *   8388608 -> "8MiB"    8388607 -> "8388607"    18446744073709551615 -> "max"
 */
#ifndef CUVMM_TOOLS_TEXT_H
#define CUVMM_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Text that grows. Zero it to start; data is NULL or ends with a 0. Memory that cannot be had ends the process with a
 * message: the command has nothing useful to do without it. */
struct text {
    char *data;
    size_t length, room;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_free(struct text *text);

#define TEXT_SIZE_ROOM 32

/* value in the largest unit that divides it, as scripts write it. Returns buffer. */
const char *text_size(uint64_t value, char buffer[TEXT_SIZE_ROOM]);

/* The same for the eye: one decimal is kept where no unit fits, "79.6GiB". Returns buffer. */
const char *text_size_short(uint64_t value, char buffer[TEXT_SIZE_ROOM]);

/* How many single-character edits lead from a to b, capped at limit + 1; letter case counts for nothing. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/* The distance of what was typed from a name that may be meant by it; limit + 1 where it is none. Of a short word half the letters have to
 * be right, in whatever order: "mpa" may be map, "foo" is not pool. */
unsigned text_meant(const char *typed, const char *name, unsigned limit);

/* What stands behind the last slash. */
const char *text_base_name(const char *path);

/* Compares without regard to letter case (ASCII only, whatever the locale). */
bool text_same(const char *a, const char *b);

/* Writes bytes so that a terminal shows them harmlessly: control and non-ASCII bytes become '?'; at most max. */
void text_print_safe(FILE *out, const char *bytes, size_t length, size_t max);

/* The same, added to a text, whole. */
void text_add_safe(struct text *text, const char *bytes);

/* Prints text in lines of at most width columns, breaking at blanks; every line but the first is indented. The first
 * line is taken to begin at column `at`. The escapes of terminal colours take no columns. */
void text_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width);

/* How wide the command's lines may be: COLUMNS_USUAL until it is set, once, before anything is written. */
size_t text_columns(void);
/* The same for lines that programs read, too: SIZE_MAX until text_set_columns, which is called where something limits the width. */
size_t text_columns_of_lines(void);
void text_set_columns(size_t columns);

/* A terminal's escape, "\033[1m" for "1" and back to plain for "0"; "" until text_set_coloured, which is called where a terminal takes
 * colours. codes: "1" bold, "31" red, "32" green, "33" yellow, "36" cyan, "0". */
const char *text_colour(const char *code);
void text_set_coloured(bool coloured);

/* realloc that does not return NULL; see struct text. */
void *text_grow(void *old, size_t size);

#endif
