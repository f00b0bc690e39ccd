/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - where the lines of a shell come from: a terminal with line editing, or plain input.
 *
 *     terminal, libedit     prompt, history, completion          el_gets
 *     anything else         the prompt and the line are printed  getline
 *
 * Without libedit, or on a terminal that cannot move its cursor, only plain input is available.
 */
#ifndef CUVMM_TOOLS_LINES_H
#define CUVMM_TOOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Completions of the word before the cursor. */
struct lines_words {
    char **word;
    size_t count;
};
void lines_add_word(struct lines_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lines_free_words(struct lines_words *words);

struct lines_options {
    FILE *in, *out;
    const char *prompt;
    bool terminal;       /* input comes from a person at a terminal */
    const char *history; /* file with the lines of earlier sessions, or NULL */
    /* The completions of the last word in the first length bytes of text. */
    void (*complete)(void *user, const char *text, size_t length, struct lines_words *words);
    void *user;
};

struct lines;

struct lines *lines_open(const struct lines_options *options);
void lines_close(struct lines *lines);

/* The next line without its newline, and its length, because a line of a file may contain a NUL;
 * NULL at the end. Valid until the next call. */
char *lines_next(struct lines *lines, size_t *length);

/* Lines with libedit; NULL without it. */
struct lines *lines_edited(const struct lines_options *options);

/* The functions of one kind of input. */
struct lines {
    char *(*next)(struct lines *lines, size_t *length);
    void (*close)(struct lines *lines);
    struct lines_options options;
};

#endif
