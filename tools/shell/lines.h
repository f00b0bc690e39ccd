/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - where the lines of a shell come from: a terminal with line editing, or plain input.
 *
 *     terminal, libedit     prompt, history, completion          el_gets
 *     anything else         the prompt and the line are printed  getline
 *
 * Built without libedit, or on a terminal that cannot move its cursor, there is the plain form alone.
 */
#ifndef CUVMM_TOOLS_LINES_H
#define CUVMM_TOOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What could be typed in place of the word before the cursor. */
struct lines_words {
    char **word;
    size_t count;
};
void lines_add_word(struct lines_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lines_free_words(struct lines_words *words);

struct lines_options {
    FILE *in, *out;
    const char *prompt;
    bool terminal;       /* a person sits there */
    const char *history; /* file of what was typed before, or NULL */
    /* The words that can follow the first length bytes of text, each in place of its last word. */
    void (*complete)(void *user, const char *text, size_t length, struct lines_words *words);
    void *user;
};

struct lines;

struct lines *lines_open(const struct lines_options *options);
void lines_close(struct lines *lines);

/* The next line without its newline, and its length, for a line of a file may hold a 0; NULL at the end. Valid until the next
 * call. */
char *lines_next(struct lines *lines, size_t *length);

/* Lines with libedit; NULL without it. */
struct lines *lines_edited(const struct lines_options *options);

/* What a kind fills in. */
struct lines {
    char *(*next)(struct lines *lines, size_t *length);
    void (*close)(struct lines *lines);
    struct lines_options options;
};

#endif
